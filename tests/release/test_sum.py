"""Sums by two servers: the promise, the noise of each, and the rules that the servers keep."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.privacy import Unit
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.release import PrivateData, Sum
from privet.release.central import CentralRelease
from privet.release.price import Price
from privet.release.tallies import Categories, Lengths, Several, UnitFeatures
from privet.release.two_servers import Aggregator, play_sum

needs_shares = pytest.mark.skipif(
    not (find_spec("Crypto") and find_spec("numba")), reason="shares need the extra 'sums'"
)
PEOPLE = 40
ROWS = np.random.default_rng(0).integers(0, 3, (PEOPLE, 4)).astype(float)
PRIVATE = PrivateData(np.arange(PEOPLE), features=ROWS)
KEY, CONTEXT = bytes(range(32)), b"a test"
WANTED = Sum.calibrated(Categories(0, 3), 1.0, PEOPLE)
TALLIES = [Categories(0, 3), Several(4, 2), UnitFeatures(4, negative=False), UnitFeatures(4, negative=True, bits=3)]


def test_the_promise_says_whom_one_trusts() -> None:
    promise = WANTED.guarantee()
    assert (promise.model, promise.unit) == ("two servers", Unit.FEATURES)
    assert 0.999 < promise.epsilon <= 1.0
    assert promise.delta == 1 / (10 * PEOPLE)
    assert "any two vectors" in promise.adjacency
    assert any("both servers together" in sentence for sentence in promise.unprotected)
    assert "that the user took part" in promise.unprotected
    assert promise.trust == "model of two servers that do not work together"
    assert "of the noisy sums" in promise.in_words()
    assert Sum.calibrated(Lengths(5), 1.0, PEOPLE).guarantee().unit == Unit.FRIEND_LIST


@pytest.mark.parametrize(
    "wrong", [{"process": PoissonSampling(rate=0.01, steps=1, num_nodes=PEOPLE)}, {"noise": "sml"}]
)
def test_noise_that_counts_on_drawing_people_is_refused(wrong: dict[str, Any]) -> None:
    """Nobody is drawn for a sum: at delta 1e-4, noise for epsilon 1 at a rate of 1 % has a true epsilon of 7.7."""
    with pytest.raises(InvalidParameter, match="Everybody is in a sum by two servers"):
        Sum(WANTED.tally, replace(WANTED.noise, **wrong))


def test_consent_names_price_and_what_both_could_do() -> None:
    assert "your answer: your numbers are divided among two servers" in WANTED.sends()
    assert "epsilon 0.99" in WANTED.sends()
    assert WANTED.sends().endswith("Neither server learns your numbers by itself; both together could.")


def test_a_sum_adds_to_the_price_of_a_release() -> None:
    line = WANTED.line()
    assert (line.part, line.mechanism) == (
        "counts of categories (two servers)",
        "gaussian noise of each server",
    )
    price = Price((), (WANTED.aggregate(), WANTED.aggregate()))
    assert price.epsilon == 2 * WANTED.guarantee().epsilon
    assert price.whole.model == "two servers"
    assert [each.part for each in price.lines()] == [line.part] * 2


def test_a_trusted_aggregator_beside_it_is_not_hidden() -> None:
    trusted = WANTED.aggregate()
    trusted = type(trusted)("x", "y", "z", type(WANTED.promise)("hybrid", Unit.FEATURES, WANTED.promise.adjacency, 1.0))
    assert Price((), (WANTED.aggregate(), trusted)).whole.model == "hybrid"


@pytest.mark.parametrize("tally", TALLIES, ids=str)
def test_each_server_adds_the_whole_noise(tally) -> None:
    """Chance of a false alarm for another seed: about 1 in 10,000 each (a ratio of deviations of 4,000 draws)."""
    wanted = Sum.calibrated(tally, 2.0, PEOPLE)
    exact = tally.contributions(tally.measure(PRIVATE)).sum(axis=0)
    rounds, bits = 4000 // tally.width, SeededBits(1)
    errors = np.array([wanted.simulated(PRIVATE, bits) - exact for _ in range(rounds)])
    one = np.array([wanted.draw(bits) * 2.0**-wanted.shift for _ in range(rounds)])
    assert np.std(one) == pytest.approx(tally.change * wanted.noise.noise_multiplier, rel=0.05)
    assert np.std(errors) == pytest.approx(math.sqrt(2) * wanted.deviation, rel=0.05)
    assert wanted.error == math.sqrt(2) * wanted.deviation
    assert abs(errors.mean()) < 4 * wanted.error / math.sqrt(errors.size)


@pytest.mark.parametrize("tally", TALLIES, ids=str)
def test_the_noise_is_on_a_grid_fine_enough_to_be_exact(tally) -> None:
    for epsilon in (0.1, 8.0):
        wanted = Sum.calibrated(tally, epsilon, 10**6)
        assert 2**30 <= wanted.deviation * 2**wanted.shift < 2**31
        assert wanted.deviation == tally.change * wanted.noise.noise_multiplier


@needs_shares
@pytest.mark.parametrize("tally", TALLIES, ids=str)
def test_shares_give_the_sum_and_the_noise_of_both(tally) -> None:
    wanted = Sum.calibrated(tally, 1.0, PEOPLE)
    found, valid = play_sum(wanted, PRIVATE, (SeededBits(1), SeededBits(2)), least=PEOPLE)
    first, second = SeededBits(1), SeededBits(2)
    first.words(4)  # the servers' common key
    exact = tally.contributions(tally.measure(PRIVATE)).sum(axis=0)
    noise = wanted.draw(first) + wanted.draw(second)
    assert valid == PEOPLE
    assert (found * 2.0**wanted.shift).tolist() == (exact * 2.0**wanted.shift + noise).tolist()


def pair(least: int = 1) -> tuple[Aggregator, Aggregator]:
    leader, helper = (Aggregator(WANTED, i, KEY, CONTEXT, SeededBits(i), least) for i in range(2))
    return leader, helper


def upload(servers: tuple[Aggregator, Aggregator], reports, *, spoil: int | None = None) -> None:
    for number, report in enumerate(reports):
        for i, server in enumerate(servers):
            share = report.input_shares[i]
            spoiled = bytes([share[0] ^ 1]) + share[1:] if (number, i) == (spoil, 0) else share
            server.upload(report.nonce, report.public_share, spoiled)


def collected(servers: tuple[Aggregator, Aggregator]) -> tuple[np.ndarray, int]:
    leader, helper = servers
    sent = [leader.verifier_shares(helper.nonces), helper.verifier_shares(leader.nonces)]
    shares = [leader.noisy_share(*sent), helper.noisy_share(*sent[::-1])]
    assert shares[0][1] == shares[1][1]
    return WANTED.result([share for share, _ in shares]), shares[0][1]


@needs_shares
def test_a_report_counts_once_and_only_before_the_sum() -> None:
    servers, reports = pair(), WANTED.shard(PRIVATE, CONTEXT)
    upload(servers, reports[:5])
    with pytest.raises(InvalidData, match="This report is here already; it counts once"):
        upload(servers, reports[:1])
    assert collected(servers)[1] == 5
    with pytest.raises(InvalidData, match="This sum is collected already; a report that comes later"):
        upload(servers, reports[5:6])
    sent = servers[0].verifier_shares(servers[1].nonces)
    with pytest.raises(InvalidData, match="A second one would tell more"):
        servers[0].noisy_share(sent, sent)


@needs_shares
def test_a_batch_below_its_size_is_not_summed_and_may_grow() -> None:
    servers, reports = pair(least=4), WANTED.shard(PRIVATE, CONTEXT)
    upload(servers, reports[:4], spoil=2)
    with pytest.raises(InvalidData, match="The batch has 3 valid reports, and 4 are needed"):
        collected(servers)
    upload(servers, reports[4:6])
    assert collected(servers)[1] == 5  # the spoiled one counts at neither server


@needs_shares
def test_servers_with_different_reports_stop() -> None:
    servers, reports = pair(), WANTED.shard(PRIVATE, CONTEXT)
    upload(servers, reports[:3])
    servers[0].upload(reports[3].nonce, reports[3].public_share, reports[3].input_shares[0])
    with pytest.raises(InvalidData, match="The two servers do not have the same reports"):
        collected(servers)


@needs_shares
def test_more_people_than_the_noise_counts_on_are_refused() -> None:
    few = Sum.calibrated(Categories(0, 3), 1.0, 10)
    with pytest.raises(InvalidData, match="counts on at most 10 people, not 40"):
        few.simulated(PRIVATE, SeededBits(0))
    server = Aggregator(few, 0, KEY, CONTEXT, SeededBits(0), 1)
    reports = few.shard(PRIVATE.take(np.arange(11)), CONTEXT)
    for report in reports[:10]:
        server.upload(report.nonce, report.public_share, report.input_shares[0])
    with pytest.raises(InvalidData, match="at most 10 people; it is full"):
        server.upload(reports[10].nonce, reports[10].public_share, reports[10].input_shares[0])


@needs_shares
def test_sums_of_different_reports_do_not_belong_together() -> None:
    one, other = WANTED.shard(PRIVATE.take(np.arange(2)), CONTEXT)
    with pytest.raises(InvalidData, match="do not belong together"):
        WANTED.result([WANTED.with_noise(one.input_shares[0][:48], SeededBits(0)), bytes(48)])
    assert one != other


def test_a_liar_moves_the_sum_by_what_the_circuit_allows() -> None:
    assert WANTED.influence() == pytest.approx(math.sqrt(2) / WANTED.error)
    wide = Sum.calibrated(UnitFeatures(100, negative=False), 1.0, PEOPLE)
    assert wide.influence() * wide.error == pytest.approx(255 * 10)  # each entry by a whole unit


def test_sums_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="may grow too large for its grid"):
        Sum.calibrated(UnitFeatures(4, negative=False, bits=24), 100.0, 10**12, delta=1e-6)
    with pytest.raises(InvalidParameter, match="A sum by two servers needs noise"):
        Sum(Categories(0, 3), CentralRelease(process=WANTED.noise.process, noise_multiplier=0.0, delta=1e-5))
    with pytest.raises(InvalidParameter, match="least must be from 1 to the 40 people of the sum, not 0"):
        Aggregator(WANTED, 0, KEY, CONTEXT, SeededBits(0), 0)


def test_a_device_that_makes_no_shares_does_without_their_libraries() -> None:
    code = "import sys, privet.release; print(any(name in sys.modules for name in ('numba', 'Crypto', 'privet.vdaf')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
