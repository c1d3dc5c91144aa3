"""Whole batches: a bad report is refused by itself, at the step that can notice it, and all others count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privet.errors import InvalidData, InvalidParameter
from privet.vdaf import Prio3, Report, Verified, variant
from privet.vdaf.circuits import SumVec
from privet.vdaf.derivation import Derivation
from privet.vdaf.fields import FIELD64, FIELD128, Elements

CONTEXT, KEY = b"a test", bytes(range(32))
HISTOGRAM = variant("Prio3Histogram", length=4, chunk_length=2)
VALID = "The proof does not hold: the measurement is not valid."


def begun(prio3: Prio3, reports: list[Report], context: bytes = CONTEXT) -> list[Any]:
    nonces, public = [r.nonce for r in reports], [r.public_share for r in reports]
    return [
        prio3.verify_init(KEY, context, server, nonces, public, [r.input_shares[server] for r in reports])
        for server in range(prio3.shares)
    ]


def verified(prio3: Prio3, reports: list[Report], context: bytes = CONTEXT) -> list[Verified]:
    states = begun(prio3, reports, context)
    messages, _ = prio3.verifier_messages(CONTEXT, [shares for _, shares in states])
    return [prio3.verify_next(state, messages) for state, _ in states]


def flipped(message: bytes, place: int = 0) -> bytes:
    return message[:place] + bytes([message[place] ^ 1]) + message[place + 1 :]


def with_input(report: Report, server: int, message: bytes) -> Report:
    shares = list(report.input_shares)
    shares[server] = message
    return replace(report, input_shares=tuple(shares))


def test_batches_of_any_size_are_summed() -> None:
    """Blocks of 64 reports meet at their borders."""
    prio3 = variant("Prio3SumVec", length=3, max_measurement=9, chunk_length=4)
    measurements = np.random.default_rng(0).integers(0, 10, (130, 3))
    for count in (0, 1, 64, 65, 130):
        done = verified(prio3, prio3.shard(CONTEXT, measurements[:count]))
        assert all(each.accepted.all() and len(each.outputs) == count for each in done)
        assert prio3.unshard([prio3.aggregate(each) for each in done]) == measurements[:count].sum(axis=0).tolist()


def test_a_report_is_the_same_alone_and_in_a_batch() -> None:
    nonces, random = [bytes([i]) * 16 for i in range(3)], [bytes([i]) * HISTOGRAM.random_size for i in range(3)]
    together = HISTOGRAM.shard(CONTEXT, [3, 0, 1], nonces, random)
    alone = [HISTOGRAM.shard(CONTEXT, [m], [n], [r])[0] for m, n, r in zip([3, 0, 1], nonces, random, strict=True)]
    assert together == alone


def test_randomness_is_fresh_by_default() -> None:
    first, second = HISTOGRAM.shard(CONTEXT, [2, 2])
    assert first.nonce != second.nonce
    assert first.input_shares != second.input_shares


def test_sums_of_parts_are_the_sum() -> None:
    parts = [verified(HISTOGRAM, HISTOGRAM.shard(CONTEXT, part)) for part in ([0, 1, 1], [3], [1, 3])]
    shares = [HISTOGRAM.merge([HISTOGRAM.aggregate(part[server]) for part in parts]) for server in range(2)]
    assert HISTOGRAM.unshard(shares) == [1, 3, 0, 2]


SPOILED: list[tuple[str, Callable[[Report], Report], dict[int, str]]] = [
    ("leader's bytes", lambda r: with_input(r, 0, flipped(r.input_shares[0])), {0: VALID, 1: VALID}),
    ("helper's seed", lambda r: with_input(r, 1, flipped(r.input_shares[1])), {0: VALID, 1: VALID}),
    ("public share", lambda r: replace(r, public_share=flipped(r.public_share)), {0: VALID, 1: VALID}),
    ("nonce", lambda r: replace(r, nonce=flipped(r.nonce)), {0: VALID, 1: VALID}),
    (
        "a short share",
        lambda r: with_input(r, 0, r.input_shares[0][:-1]),
        {0: "The input share has 271 bytes, and 272 are needed.", 1: VALID},
    ),
    (
        "a long share",
        lambda r: with_input(r, 1, r.input_shares[1] + b"0"),
        {0: VALID, 1: "The input share has 65 bytes, and 64 are needed."},
    ),
    (
        "a short public share",
        lambda r: replace(r, public_share=b""),
        dict.fromkeys((0, 1), "The public share has 0 bytes, and 64 are needed."),
    ),
    (
        "a short nonce",
        lambda r: replace(r, nonce=b"1"),
        dict.fromkeys((0, 1), "The nonce has 1 bytes, and 16 are needed."),
    ),
    (
        "a number above the prime",
        lambda r: with_input(r, 0, b"\xff" * 16 + r.input_shares[0][16:]),
        {0: "The input share holds a number that is not below the field's prime.", 1: VALID},
    ),
]


@pytest.mark.parametrize(("name", "spoil", "reasons"), SPOILED, ids=[each[0] for each in SPOILED])
def test_a_bad_report_spoils_no_other(name: str, spoil: Callable[[Report], Report], reasons: dict[int, str]) -> None:
    reports = HISTOGRAM.shard(CONTEXT, [0, 1, 1, 3])
    reports[2] = spoil(reports[2])
    done = verified(HISTOGRAM, reports)
    assert {server: each.refused for server, each in enumerate(done)} == {s: {2: why} for s, why in reasons.items()}
    assert HISTOGRAM.unshard([HISTOGRAM.aggregate(each) for each in done]) == [1, 1, 0, 1]


def test_the_place_of_a_bad_report_counts_from_the_batchs_beginning() -> None:
    reports = HISTOGRAM.shard(CONTEXT, [1] * 70)
    reports[69] = with_input(reports[69], 0, b"")
    leader, helper = verified(HISTOGRAM, reports)
    assert leader.refused == {69: "The input share has 0 bytes, and 272 are needed."}
    assert HISTOGRAM.unshard([HISTOGRAM.aggregate(leader), HISTOGRAM.aggregate(helper)]) == [0, 69, 0, 0]


def test_shares_of_two_reports_do_not_make_one() -> None:
    first, second = HISTOGRAM.shard(CONTEXT, [1, 1])
    mixed = replace(first, input_shares=(first.input_shares[0], second.input_shares[1]))
    assert [each.refused for each in verified(HISTOGRAM, [mixed])] == [{0: VALID}] * 2


def test_a_report_for_another_application_circuit_or_key_is_refused() -> None:
    reports = HISTOGRAM.shard(b"another", [1])
    assert [each.refused for each in verified(HISTOGRAM, reports)] == [{0: VALID}] * 2
    twin = replace(HISTOGRAM, algorithm=5)
    assert [each.refused for each in verified(HISTOGRAM, twin.shard(CONTEXT, [1]))] == [{0: VALID}] * 2
    (report,) = HISTOGRAM.shard(CONTEXT, [1])
    shares = [
        HISTOGRAM.verify_init(
            key, CONTEXT, server, [report.nonce], [report.public_share], [report.input_shares[server]]
        )[1]
        for server, key in enumerate((KEY, bytes(32)))
    ]
    assert HISTOGRAM.verifier_messages(CONTEXT, shares)[1] == {0: VALID}


def test_a_lie_about_the_other_servers_part_of_the_challenges_is_noticed_at_the_end() -> None:
    """Both proofs hold, but for challenges that the client chose: the message tells the servers."""
    reports = HISTOGRAM.shard(CONTEXT, [1, 2])
    states = begun(HISTOGRAM, reports)
    messages, refused = HISTOGRAM.verifier_messages(CONTEXT, [shares for _, shares in states])
    assert refused == {}
    assert messages[0] is not None
    done = HISTOGRAM.verify_next(states[0][0], [flipped(messages[0]), messages[1]])
    assert done.refused == {0: "The servers do not agree on the challenges: the public share is wrong."}
    assert done.accepted.tolist() == [False, True]


def test_a_check_at_a_root_of_unity_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """There the check would tell the gadget's output. It comes about once in 2^120 reports."""
    field, honest = HISTOGRAM.circuit.field, Derivation.verifier_random

    def unlucky(self: Derivation, key: bytes, nonces: list[bytes]) -> Elements:
        found = honest(self, key, nonces)
        found[1, -1] = field.of([[field.root(4)]])[0, 0]
        return found

    monkeypatch.setattr(Derivation, "verifier_random", unlucky)
    done = verified(HISTOGRAM, HISTOGRAM.shard(CONTEXT, [0, 1, 2]))
    assert [list(each.refused) for each in done] == [[1], [1]]
    assert "root of unity" in done[0].refused[1]


def test_an_invalid_measurement_is_refused_however_it_is_shared() -> None:
    """A client that skips its own check: the encoded input is changed by one, with an honest proof of the change."""

    class Lying(SumVec):
        def encode(self, measurements: Any) -> Any:
            return self.field.of(measurements)

    for field, proofs in ((FIELD128, 1), (FIELD64, 3)):
        honest = Prio3(3, SumVec(2, 3, 2, field), proofs=proofs)
        liar = Prio3(3, Lying(2, 3, 2, field), proofs=proofs)
        reports = liar.shard(CONTEXT, [[1, 1, 0, 1], [1, 1, 0, 2], [-1, 1, 0, 0]])
        done = verified(honest, reports)
        assert [sorted(each.refused) for each in done] == [[1, 2]] * 2
        assert honest.unshard([honest.aggregate(each) for each in done]) == [3, 2]


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (lambda: replace(HISTOGRAM, shares=1), "shares must be from 2 to 255, not 1."),
        (lambda: replace(HISTOGRAM, proofs=0), "proofs must be from 1 to 255, not 0."),
        (lambda: Prio3(3, SumVec(2, 1, 1, FIELD64), proofs=2), "This circuit needs at least 3 proofs"),
        (lambda: HISTOGRAM.shard(CONTEXT, [1], [b"1"]), "nonces must be 16 bytes for each of the 1 measurements"),
        (
            lambda: HISTOGRAM.shard(CONTEXT, [1], None, [b"1"]),
            "random must be 128 bytes for each of the 1 measurements",
        ),
        (lambda: HISTOGRAM.shard(b"0" * 65528, [1]), "context must be at most 65,527 bytes long, not 65528 bytes."),
        (lambda: HISTOGRAM.verify_init(b"", CONTEXT, 0, [], [], []), "key must be 32 bytes long, not 0 bytes."),
        (lambda: HISTOGRAM.verify_init(KEY, CONTEXT, 2, [], [], []), "server must be from 0 to 1, not 2."),
        (lambda: HISTOGRAM.verify_init(KEY, CONTEXT, 0, [b""], [], []), "Each report needs a nonce, a public share"),
        (lambda: HISTOGRAM.verifier_messages(CONTEXT, [[]]), "Each report needs a verifier share of each of the 2"),
        (
            lambda: HISTOGRAM.verifier_messages(CONTEXT, [[], [b""]]),
            "Each report needs a verifier share of each of the",
        ),
        (lambda: HISTOGRAM.unshard([b""]), "The result needs an aggregate share of each of the 2 servers."),
    ],
)
def test_wrong_calls_are_explained(work: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match="^" + sentence.replace("(", r"\(")):
        work()


def test_an_aggregate_share_of_another_circuit_is_refused() -> None:
    with pytest.raises(InvalidData, match="The aggregate share does not have the 64 bytes of 4 numbers"):
        HISTOGRAM.unshard([bytes(64), bytes(63)])
