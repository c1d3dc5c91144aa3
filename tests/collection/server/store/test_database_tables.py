"""The tables: what a store has a place for, and what it has none for."""

from privet.collection.server.store.database import CONFLICTS, METADATA, REPORTS


def test_there_is_no_place_for_an_address_or_for_the_second_of_an_arrival():
    places = {f"{table.name}.{column.name}" for table in METADATA.sorted_tables for column in table.columns}
    assert {place.partition(".")[2] for place in places} == {
        *("number", "id", "manifest", "closed", "study", "node", "minute", "body", "count", "digest"),
        *("reason", "serial", "document", "chain", "by", "reports", "conflicts", "content"),
        *("seen", "settled"),  # of the collectors' clock
        *("round", "since", "renewed", "problem"),  # of the operator's computation of a round, not of a report
    }
    assert [column.name for column in REPORTS.columns] == ["study", "node", "minute", "body"]


def test_a_node_has_one_report_in_a_study():
    assert [column.name for column in REPORTS.primary_key] == ["study", "node"]


def test_a_refused_report_leaves_no_hash_that_could_be_guessed():
    assert [column.name for column in CONFLICTS.columns] == ["study", "node", "count", "minute"]
