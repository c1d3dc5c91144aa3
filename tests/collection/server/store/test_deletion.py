"""Erasure: what a person reported is in no table and no file any more, and cannot come back."""

import random
import secrets
import sqlite3
import threading

import pytest
import sqlalchemy as sa
from simulated_studies import STORES, make_study, simulated, store_place, two_rounds

from privet.collection.operator.export.answer_files import read_answers, read_erasures, write_answers
from privet.collection.server.store import store as stores
from privet.collection.server.store.database import METADATA
from privet.collection.server.store.deletion import Erasure, Erasures
from privet.collection.server.store.insertion import Insertion
from privet.collection.server.store.store import Outcome, Store, StudyClosed, engine_for


def rows_about(store, node):
    """Every row of every table with a place for a person that is about this one, but for the tombstone."""
    with store._engine.connect() as connection:
        return [
            (table.name, row)
            for table in METADATA.sorted_tables
            if "node" in table.c and table.name != "erased"
            for row in connection.execute(sa.select(table).where(table.c.node == node))
            if row[0] == store._number
        ]


def test_nothing_is_left_but_a_tombstone(store):
    store.insert([1, 2], [b"one", b"two"])
    store.insert([1], [b"another"])  # recorded as a conflict
    assert rows_about(store, 1)
    assert store.forget(1, "operator", now=125)
    assert (rows_about(store, 1), store.get(2), store.conflicts()) == ([], b"two", 0)
    assert store.erasures() == [Erasure(1, 120, "operator")]
    assert not store.forget(1, "participant", now=500)  # the first erasure stays as it was
    assert store.erasures() == [Erasure(1, 120, "operator")]


def test_an_erased_report_is_not_taken_again_and_others_beside_it_are(store):
    store.insert([1], [b"one"])
    store.forget(1, "participant")
    store.forget(3, "participant")  # who never reported can say no, too
    outcomes = store.insert([3, 2, 1, 4, 2], [b"x", b"two", b"one", b"four", b"two"])
    expected = [Outcome.ERASED, Outcome.STORED, Outcome.ERASED, Outcome.STORED, Outcome.REPEATED]
    assert outcomes == expected
    assert store.bodies([1, 2, 3, 4]) == {2: b"two", 4: b"four"}
    assert store.insert([1], [b"one"]) == [Outcome.ERASED]
    assert store.erased([1, 2, 3, 4]) == {1, 3}


def test_many_at_once_are_asked_about(store):
    for node in (0, 999, 1800, 2499):
        store.forget(node, "operator")
    outcomes = store.insert(range(2500), [b"body"] * 2500)
    assert [node for node, outcome in enumerate(outcomes) if outcome is Outcome.ERASED] == [0, 999, 1800, 2499]


def test_studies_of_one_store_do_not_erase_each_other_s_reports(store):
    other = Store(store._engine, make_study())
    for each in (store, other):
        each.insert([1], [b"one"])
    store.forget(1, "operator")
    assert (store.get(1), other.get(1), other.erasures()) == (None, b"one", [])


@pytest.mark.parametrize("kind", STORES)
def test_an_erasure_is_one_of_all_rounds(kind, tmp_path):
    rounds = two_rounds()
    first, second = (Store.open(store_place(kind, tmp_path), study) for study in rounds)
    first.insert([1, 2, 3], [b"one", b"two", b"three"])
    second.insert([1, 2], [b"first", b"second"])
    second.insert([1], [b"different"])
    assert first.forget(1, "participant")
    assert (rows_about(first, 1), rows_about(second, 1)) == ([], [])
    assert not second.forget(1, "operator")
    assert second.erasures() == first.erasures() != []
    assert second.forget(3, "operator")  # who answered the first round only
    assert first.bodies([1, 2, 3]) == {2: b"two"}
    assert second.insert([1, 3, 4], [b"x"] * 3) == [Outcome.ERASED, Outcome.ERASED, Outcome.STORED]
    first.add_model({"name": "early", "erasures": 1})
    assert [model["erasures_since"] for model in second.models()] == [1]
    for opened in (first, second):
        opened.dispose()


def in_background(work):
    """A started thread and the list that its result goes to."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    return thread, found


def test_an_erasure_waits_for_a_report_that_is_being_inserted(store, monkeypatch):
    """The report has passed the look for a tombstone, and is inserted after the erasure began."""
    original, started = Insertion.of, []

    def slowly(insertion, nodes, bodies):
        started.append(in_background(lambda: store.forget(1, "participant")))
        started[0][0].join(0.5)  # it cannot end before this transaction does
        return original(insertion, nodes, bodies)

    monkeypatch.setattr(stores.Insertion, "of", slowly)
    assert store.insert([1], [b"one"]) == [Outcome.STORED]
    thread, found = started[0]
    thread.join()
    assert (found, store.get(1), store.count()) == ([True], None, 0)


def test_a_report_waits_for_an_erasure_that_is_not_committed_yet(store, monkeypatch):
    original, started = Erasures.erase, []

    def slowly(self, *arguments):
        done = original(self, *arguments)
        started.append(in_background(lambda: store.insert([1], [b"one"])))
        started[0][0].join(0.5)
        return done

    monkeypatch.setattr(Erasures, "erase", slowly)
    store.forget(1, "participant")
    thread, found = started[0]
    thread.join()
    assert (found, store.get(1)) == ([[Outcome.ERASED]], None)


@pytest.mark.parametrize("kind", STORES)
def test_two_collectors_and_many_erasures_at_once(kind, tmp_path):
    study, place = make_study(), store_place(kind, tmp_path)
    first, second = (Store.open(place, study) for _ in range(2))
    order = random.Random(0).sample(range(100), 100)
    gone = [node for node in order if node % 2]
    working = [
        in_background(lambda: [first.insert([node], [b"%03d" % node]) for node in range(100)]),
        in_background(lambda: [second.insert([node], [b"%03d" % node]) for node in order]),
        in_background(lambda: [second.forget(node, "participant") for node in gone]),
    ]
    for thread, _ in working:
        thread.join()
    assert sorted(first.bodies(range(100))) == [node for node in range(100) if not node % 2]
    assert first.erased(range(100)) == set(gone)
    for opened in (first, second):
        opened.dispose()


def test_the_bytes_are_in_no_file(tmp_path, study):
    """People answer in any order, so pages were split and have stale copies in their free space."""
    rng = random.Random(1)
    bodies = {node: rng.randbytes(12) for node in rng.sample(range(5000), 5000)}
    nodes = list(bodies)
    store = Store.open(tmp_path / "reports.sqlite", study)
    for start in range(0, 5000, 100):
        some = nodes[start : start + 100]
        store.insert(some, [bodies[node] for node in some])
    gone = rng.sample(nodes, 600)
    stayed = next(node for node in nodes if node not in gone)
    for node in gone:
        store.forget(node, "operator")
    assert store.remove_traces()
    found = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [node for node in gone if bodies[node][:8] in found or bodies[node][-8:] in found] == []
    assert bodies[stayed] in found
    store.dispose()


def test_the_row_itself_is_overwritten_at_once(tmp_path, study):
    store = Store.open(tmp_path / "reports.sqlite", study)
    store.insert([1, 2, 3], [b"a body that is easy to find", b"two", b"three"])
    store.forget(1, "participant")
    with sqlite3.connect(tmp_path / "reports.sqlite") as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert all(b"easy to find" not in path.read_bytes() for path in tmp_path.iterdir())
    other.close()
    store.dispose()


def test_what_a_reader_is_in_the_way_of_is_removed_later(tmp_path, study):
    store = Store.open(tmp_path / "reports.sqlite", study)
    sa.event.listen(store._engine, "checkout", lambda raw, *_: raw.execute("PRAGMA busy_timeout=50"))
    store.insert([1], [b"a body that is easy to find"])
    with sqlite3.connect(tmp_path / "reports.sqlite", isolation_level=None) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM reports").fetchone() == (1,)
        store.forget(1, "operator")
        assert not store.remove_traces()
        reader.execute("COMMIT")
    reader.close()
    assert store.remove_traces()
    assert all(b"easy to find" not in path.read_bytes() for path in tmp_path.iterdir())
    store.dispose()


@pytest.fixture
def apart(tmp_path):
    """A store in PostgreSQL whose tables no other test uses."""
    place, schema = store_place("postgresql", tmp_path), f"apart_{secrets.token_hex(4)}"
    whole = engine_for(place)
    with whole.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    store = Store.open(f"{place}?options=-csearch_path%3D{schema}", make_study())
    yield store
    store.dispose()
    with whole.begin() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    whole.dispose()


@pytest.mark.journey
def test_the_space_is_free_for_others(apart):
    """PostgreSQL puts the next row where the erased one was, because it was vacuumed."""
    store = apart
    store.insert([1, 2, 3], [b"one", b"two", b"three"])
    store.forget(2, "operator")
    assert store.remove_traces()
    store.insert([4], [b"four"])
    with store._engine.connect() as connection:
        assert connection.execute(sa.text("SELECT node FROM reports ORDER BY ctid")).scalars().all() == [1, 4, 3]


@pytest.mark.journey
def test_an_export_under_way_keeps_erased_rows_which_are_removed_later(apart):
    """VACUUM leaves what an open transaction could still read, and says nothing."""
    apart.insert([1, 2, 3], [b"one", b"two", b"three"])
    with apart.snapshot() as connection:
        connection.execute(sa.text("SELECT count(*) FROM reports")).scalar()
        apart.forget(2, "participant")
        assert not apart.remove_traces()
    assert apart.remove_traces()
    apart.insert([4], [b"four"])
    with apart._engine.connect() as connection:
        assert connection.execute(sa.text("SELECT node FROM reports ORDER BY ctid")).scalars().all() == [1, 4, 3]


@pytest.mark.journey
@pytest.mark.parametrize("work", ["erase", "close"])
def test_whoever_waits_to_be_alone_is_not_overtaken(apart, work):
    """Reports of many collectors overlap without end: one that comes later must not go ahead of an erasure."""
    early = apart._engine.connect()
    transaction = early.begin()
    Erasures(early, apart.study.chain).lock(alone=False)  # a report that is being stored
    alone, _ = in_background({"erase": lambda: apart.forget(1, "participant"), "close": apart.close}[work])
    alone.join(0.5)
    late, found = in_background(lambda: attempt(lambda: apart.insert([1], [b"one"])))
    late.join(0.5)
    transaction.rollback()
    early.close()
    alone.join()
    late.join()
    assert found == [[Outcome.ERASED] if work == "erase" else StudyClosed]


def attempt(work):
    """What some work returns, or the kind of its refusal."""
    try:
        return work()
    except StudyClosed as error:
        return type(error)


def test_exports_made_later_have_the_count_and_not_the_report(store, study, tmp_path):
    answers = simulated(study, 0, count=20)
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    gone = int(answers.users[3])
    store.forget(gone, "operator")
    write_answers(tmp_path / "reports.parquet", study, store.answers(), erasures=len(store.erasures()))
    known, found = read_answers(tmp_path / "reports.parquet")
    assert read_erasures(tmp_path / "reports.parquet") == 1
    assert (known.id, len(found.users), gone in found.users) == (study.id, 19, False)
