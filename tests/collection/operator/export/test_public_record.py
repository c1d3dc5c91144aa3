"""The public record of a study and its erasures: how many, and not who."""

from simulated_studies import two_rounds

from privet.collection.operator.export.public_record import open_record, write_record
from privet.collection.operator.folder import StudyFolder
from privet.collection.server.store.store import Store


def test_an_erased_person_is_in_no_record_made_later_but_counted(tmp_path):
    first, second = two_rounds()
    store = StudyFolder.create(tmp_path / "study", first).store()
    later = store.at(second)
    for each in (store, later):
        each.insert([1, 2, 3], [b"a body of one", b"a body of two", b"a body of three"])
    store.forget(2, "participant", now=120)
    assert write_record(tmp_path / "study", tmp_path / "record") == 4
    assert b"a body of two" not in (tmp_path / "record").read_bytes()
    record = open_record(tmp_path / "record")
    assert [(each.node < 0, each.minute, each.by) for each in record.erasures()] == [(True, 0, "participant")]
    assert record.at(second).reports()[0] == [1, 3]
    for each in (store, record):
        each.dispose()


def test_a_withdrawal_while_the_record_is_written_is_in_it(tmp_path, monkeypatch):
    first, _ = two_rounds()
    store = StudyFolder.create(tmp_path / "study", first).store()
    store.insert([1, 2, 3], [b"a body of one", b"a body of two", b"a body of three"])
    read, withdrawing = Store.reports, [2]

    def reports(self):
        for node in withdrawing:
            withdrawing.remove(node)
            store.forget(node, "participant")
        return read(self)

    monkeypatch.setattr(Store, "reports", reports)
    assert write_record(tmp_path / "study", tmp_path / "record") == 2
    record = open_record(tmp_path / "record")
    assert (len(record.erasures()), record.reports()[0]) == (1, [1, 3])
    for each in (store, record):
        each.dispose()
