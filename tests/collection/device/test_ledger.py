"""The device's memory: nothing is lost, and nothing is spent twice, wherever it crashes."""

import math
import multiprocessing
import os
import sqlite3
import stat

import pytest
from made_rounds import first_round, friends, friends_again, later_round, resemblance
from patience import PATIENCE
from simulated_studies import make_study, two_rounds

from privet.collection.device.charges import Refusal
from privet.collection.device.ledger import Ledger, NoRefund, OtherNode, OverLimit, Withdrawal, default_path
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import DEFAULT_LIMIT
from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter


def test_a_report_is_made_once(tmp_path, study):
    ledger = Ledger(tmp_path / "ledger")
    made = []

    def make():
        made.append(1)
        return b"body"

    assert [ledger.reserve(Chain((study,)), 5, make) for _ in range(3)] == [b"body"] * 3
    assert Ledger(tmp_path / "ledger").reserve(Chain((study,)), 5, make) == b"body"
    assert len(made) == 1
    assert ledger.spent == study.price.epsilon == 2.0


def test_the_limit_holds_over_all_studies():
    ledger = Ledger(":memory:")
    assert ledger.limit == DEFAULT_LIMIT
    ledger.limit = 5.0
    for _ in range(2):
        ledger.reserve(Chain((make_study(),)), 5, lambda: b"")
    with pytest.raises(OverLimit, match="costs an epsilon of 2, and 1 is left of your lifetime limit 5"):
        ledger.reserve(Chain((make_study(),)), 5, lambda: pytest.fail("a report was made above the limit"))
    assert ledger.spent == 4.0
    assert len(ledger.entries()) == 2


def test_a_limit_is_not_passed_by_rounding():
    ledger = Ledger(":memory:")
    ledger.limit = 0.3
    for _ in range(2):
        ledger.reserve(
            Chain((make_study(features={"mechanism": "multi-bit", "epsilon": 0.1}, labels=None),)), 5, lambda: b""
        )
    third = make_study(features={"mechanism": "multi-bit", "epsilon": 0.1}, labels=None)
    with pytest.raises(OverLimit):  # three times the double 0.1 is more than the double 0.3
        ledger.reserve(Chain((third,)), 5, lambda: b"")


def test_a_failure_while_making_costs_nothing(study):
    ledger = Ledger(":memory:")
    with pytest.raises(RuntimeError):
        ledger.reserve(Chain((study,)), 5, lambda: (_ for _ in ()).throw(RuntimeError))
    assert ledger.spent == 0
    assert ledger.reserve(Chain((study,)), 5, lambda: b"later") == b"later"


def crash_at(point, path, manifest):
    """A process that dies at a chosen statement of the ledger's; it returns by dying."""
    from privet.collection.study.manifest import Study

    ledger = Ledger(path)
    statements = 0

    def count(_):
        nonlocal statements
        statements += 1
        if statements == point:
            os._exit(9)

    ledger._database.set_trace_callback(count)

    def make():
        count("")
        return b"made by %d" % point

    ledger.reserve(Chain((Study.from_bytes(manifest),)), 5, make)
    count("")
    os._exit(0)


def test_wherever_it_crashes_it_goes_on(tmp_path, study):
    context = multiprocessing.get_context("fork")
    survived = 0
    for point in range(1, 40):
        path = tmp_path / f"ledger{point}"
        Ledger(path).close()
        process = context.Process(target=crash_at, args=(point, path, study.canonical()))
        process.start()
        process.join()
        ledger = Ledger(path)
        before = ledger.report(study, 5)
        assert ledger.spent == (0.0 if before is None else study.price.epsilon)
        body = ledger.reserve(Chain((study,)), 5, lambda: b"made again")
        assert body == (b"made again" if before is None else b"made by %d" % point)
        assert ledger.spent == study.price.epsilon
        if process.exitcode == 0:
            survived = point
            break
    assert survived > 5, "the points of a crash are those of the transaction"


def race(path, manifest, queue):
    from privet.collection.study.manifest import Study

    queue.put(Ledger(path).reserve(Chain((Study.from_bytes(manifest),)), 5, lambda: os.urandom(8)))


def test_processes_at_once_get_the_same_report(tmp_path, study):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    arguments = (tmp_path / "ledger", study.canonical(), queue)
    processes = [context.Process(target=race, args=arguments) for _ in range(6)]
    for process in processes:
        process.start()
    bodies = {queue.get(timeout=PATIENCE) for _ in processes}
    for process in processes:
        process.join()
    assert len(bodies) == 1
    assert Ledger(tmp_path / "ledger").spent == study.price.epsilon


def test_it_is_its_owner_s_alone(tmp_path):
    Ledger(tmp_path / "deep" / "ledger").close()
    assert stat.S_IMODE((tmp_path / "deep" / "ledger").stat().st_mode) == 0o600


def test_it_lives_with_the_owner_s_data(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "privet" / "ledger.sqlite"


def test_what_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "text").write_text("x" * 100)
    with pytest.raises(InvalidData, match="SQLite"):
        Ledger(tmp_path / "text")
    with pytest.raises(InvalidParameter, match="at least 0"):
        Ledger(":memory:").limit = -1.0
    with pytest.raises(InvalidParameter, match="at least 0"):
        Ledger(":memory:").limit = float("nan")


def test_acknowledged_reports_are_known(study):
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((study,)), 5, lambda: b"")
    assert ledger.entries()[0].sent is None
    ledger.acknowledge(study.id)
    assert ledger.entries()[0].sent is not None
    ledger.close()
    with pytest.raises(InvalidData, match="SQLite"):
        ledger.entries()


def test_deltas_have_a_lifetime_limit_of_their_own():
    ledger = Ledger(":memory:")
    for _ in range(9):
        gaussian = {"mechanism": "analytic-gaussian", "epsilon": 0.1, "delta": 1e-4}
        ledger.reserve(Chain((make_study(features=gaussian, labels=None),)), 5, lambda: b"")
    ledger.reserve(Chain((make_study(features={**gaussian, "delta": 9e-5}, labels=None),)), 5, lambda: b"")
    with pytest.raises(OverLimit, match=r"costs a delta of 0\.0001, and 1e-05 is left"):
        ledger.reserve(Chain((make_study(features=gaussian, labels=None),)), 5, lambda: b"")
    assert ledger.spent == pytest.approx(1.0)


def test_another_node_is_refused_inside_the_transaction(study):
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((study,)), 5, lambda: b"")
    with pytest.raises(OtherNode, match="as node 5"):
        ledger.reserve(Chain((study,)), 6, lambda: pytest.fail("a second report was made"))


@pytest.mark.parametrize("amount", ["-1000.0", "9e999", "'text'", "x'00'"])
def test_budgets_that_somebody_changed_are_not_believed(tmp_path, study, amount):
    ledger = Ledger(tmp_path / "ledger")
    ledger.reserve(Chain((study,)), 5, lambda: b"")
    with sqlite3.connect(tmp_path / "ledger") as database:
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(f"UPDATE reports SET cost = {amount}")
        database.execute("PRAGMA ignore_check_constraints=ON")
        database.execute(f"UPDATE reports SET cost = {amount}")
    database.close()
    with pytest.raises(InvalidData, match="no finite number"):
        ledger.reserve(Chain((make_study(),)), 5, lambda: pytest.fail("a report was made"))


def test_a_damaged_file_ends_in_one_sentence(tmp_path, study):
    ledger = Ledger(tmp_path / "ledger")
    ledger.reserve(Chain((study,)), 5, lambda: b"x" * 20_000)
    ledger.close()
    whole = bytearray((tmp_path / "ledger").read_bytes())
    whole[4096:] = bytes(len(whole) - 4096)
    (tmp_path / "ledger").write_bytes(whole)
    with pytest.raises(InvalidData, match="SQLite"):
        Ledger(tmp_path / "ledger").entries()


def test_a_commit_survives_a_power_cut():
    mode = Ledger(":memory:")._rows("PRAGMA synchronous")[0][0]
    assert mode == 3, "EXTRA: the directory entry of the journal is on disk too"


def test_a_report_that_never_left_is_refunded_with_the_reason(study):
    ledger = Ledger(":memory:")
    with pytest.raises(NoRefund, match="made no report"):
        ledger.refund(study.id, "Nothing there.")
    ledger.reserve(Chain((study,)), 5, lambda: b"first")
    assert ledger.refund(study.id, "The study was closed.") == study.price.epsilon
    assert (ledger.spent, ledger.entries(), ledger.report(study, 5)) == (0.0, [], None)
    (refund,) = ledger.refunds()
    assert (refund.study, refund.cost, refund.reason) == (study.id, study.price.epsilon, "The study was closed.")
    assert ledger.reserve(Chain((study,)), 5, lambda: b"second") == b"second"


def test_a_report_that_was_sent_is_not_refunded_whether_it_arrived_or_not(study):
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((study,)), 5, lambda: b"")
    ledger.sending(study.id, b"")
    with pytest.raises(NoRefund, match="somebody may have seen it"):
        ledger.refund(study.id, "It was lost.")
    assert ledger.spent == study.price.epsilon
    assert ledger.refunds() == []


@pytest.mark.parametrize("directory", [None, "0" * 64])
def test_one_sided_lists_count_twice(directory):
    """No directory helps: another device may have been given other numbers."""
    schema = Schema.numeric(2, low=0.0, high=1.0, classes=3, private_edges=True)
    study = make_study(schema=schema, neighbours={"epsilon": 3.0, "one_sided": True}, directory=directory)
    ledger = Ledger(":memory:")
    ledger.limit = 8.0
    ledger.reserve(Chain((study,)), 5, lambda: b"")
    assert ledger.spent == 8.0


def test_the_default_limit_is_one_that_still_protects():
    """After it, a suspicion of 1 % is still less likely true than false; at 10 it is all but certain."""
    sure = [1 / (1 + 99 * math.exp(-limit)) for limit in (DEFAULT_LIMIT, 10.0)]
    assert sure[0] < 0.5 < 0.99 < sure[1]
    assert Ledger(":memory:").limit == DEFAULT_LIMIT


def test_a_refunded_report_cannot_leave_any_more(study):
    """Otherwise a refund would make room for another draw, and the server could average them."""
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((study,)), 5, lambda: b"first")
    ledger.refund(study.id, "The study was closed.")
    with pytest.raises(InvalidData, match="nothing was sent"):
        ledger.sending(study.id, b"first")
    ledger.reserve(Chain((study,)), 5, lambda: b"second")
    with pytest.raises(InvalidData, match="nothing was sent"):
        ledger.sending(study.id, b"first")
    ledger.sending(study.id, b"second")


def test_a_commit_that_fails_leaves_nothing_behind(study, tmp_path):
    """A report that looks stored and is not would be sent, forgotten and made anew."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger._database.execute("PRAGMA busy_timeout=50")
    reader = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM reports").fetchall()
    with pytest.raises(InvalidData, match="locked"):
        ledger.reserve(Chain((study,)), 5, lambda: b"lost")
    assert not ledger._database.in_transaction
    assert ledger.report(study, 5) is None
    reader.execute("ROLLBACK")
    assert ledger.reserve(Chain((study,)), 5, lambda: b"kept") == b"kept"
    assert Ledger(tmp_path / "ledger.sqlite").spent == study.price.epsilon


def test_a_withdrawn_report_stays_charged_because_somebody_has_seen_it(study):
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((study,)), 5, lambda: b"body")
    ledger.sending(study.id, b"body")
    assert ledger.withdraw(study) == Withdrawal(charged=2.0, refunded=0.0)
    (entry,) = ledger.entries()
    assert entry.withdrawn is not None
    assert (ledger.spent, ledger.refunds()) == (2.0, [])
    assert ledger.withdrew(study)
    assert not ledger.withdrew(make_study())
    assert ledger.withdraw(study).charged == 2.0  # again does no harm


def test_nothing_is_refunded_that_another_answer_rests_on():
    """The second answer costs nothing more because the first was charged; the first is then destroyed."""
    first = first_round()
    second = later_round(first, friends())
    third = later_round(second, friends_again())
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((first, second)), 5, lambda: b"one")
    ledger.reserve(Chain((first, second, third)), 5, lambda: b"two")
    assert [entry.cost for entry in ledger.entries()] == [2.0, 0.0]
    assert ledger.refund(second.id, "Never sent.") == 0.0
    assert [(entry.study, entry.cost) for entry in ledger.entries()] == [(third.id, 2.0)]
    assert ledger.refund(third.id, "Never sent.") == 2.0
    assert ledger.spent == 0.0


@pytest.mark.parametrize("turned", [False, True])
def test_only_one_of_two_alternatives_is_answered(turned):
    vector = {"release": [{"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0}]}
    first = first_round()
    rounds = [({}, resemblance()), (vector, None)]
    (some, ask), (others, other) = reversed(rounds) if turned else rounds
    second = later_round(first, *([ask] if ask else []), **some)
    third = later_round(second, *([other] if other else []), **others)
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((first, second)), 5, lambda: b"one")
    with pytest.raises(Refusal, match="in an earlier round, and whoever did is not asked"):
        ledger.reserve(Chain((first, second, third)), 5, lambda: b"two")


def test_a_withdrawal_is_one_of_all_rounds():
    first, second = two_rounds()
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((first,)), 5, lambda: b"one")
    ledger.sending(first.id, b"one")
    ledger.reserve(Chain((first, second)), 5, lambda: b"two")
    # The second was never sent, but its price may rest on the first: nothing is given back.
    assert ledger.withdraw(second) == Withdrawal(charged=2.0, refunded=0.0)
    assert ledger.withdrew(first)
    assert all(entry.withdrawn for entry in ledger.entries())


def test_a_withdrawn_report_that_nobody_has_seen_is_refunded(study):
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((study,)), 5, lambda: b"body")
    ledger.reserve(Chain((make_study(),)), 5, lambda: b"other")
    assert ledger.withdraw(study) == Withdrawal(charged=0.0, refunded=2.0)
    assert (ledger.spent, [refund.reason for refund in ledger.refunds()]) == (
        2.0,
        ["You withdrew before the report was sent."],
    )
    assert ledger.withdrew(study)
