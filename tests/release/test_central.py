"""The release of a trusted holder: one text for what it promises and what it does not."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from privet.errors import InvalidParameter
from privet.privacy import Unit
from privet.privacy.accounting.processes import PROCESSES, Process
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.release.central import CentralRelease

PROCESS = PoissonSampling(rate=0.2, steps=5, num_nodes=100)
RELEASE = CentralRelease(process=PROCESS, noise_multiplier=3.0, delta=1e-4)


@pytest.mark.parametrize("kind", PROCESSES.values(), ids=PROCESSES)
def test_the_guarantee_is_the_process_s(kind: type[Process]) -> None:
    process = kind(rate=0.2, steps=3, num_nodes=30)
    guarantee = CentralRelease(process=process, noise_multiplier=15.0, delta=1e-3).guarantee()
    assert (guarantee.model, guarantee.unit) == ("central", Unit.NODE)
    assert guarantee.epsilon == process.epsilon(15.0, 1e-3)
    assert guarantee.adjacency == process.adjacency
    assert set(process.public_facts) <= set(guarantee.unprotected)
    assert guarantee.published_epsilon is None  # Gaussian noise, about which no paper claims anything


def test_calibration_keeps_its_promise_and_delta_has_a_default() -> None:
    release = CentralRelease.calibrated(PROCESS, 2.0)
    assert release.delta == 1 / 1000
    assert 1.9 < release.guarantee().epsilon <= 2.0
    assert CentralRelease.calibrated(PROCESS, 2.0, "paper").delta == 100**-1.1


def test_a_delta_that_exposes_people_on_average_is_named() -> None:
    for delta, told in ((1e-3, []), (2e-3, ["some people altogether: a delta of 0.002 times 100 people is 0.2"])):
        found = CentralRelease.calibrated(PROCESS, 2.0, delta).guarantee().unprotected
        assert [text.partition(",")[0] for text in found if "altogether" in text] == told


def test_without_noise_nothing_is_promised_and_too_little_is_refused() -> None:
    assert replace(RELEASE, noise_multiplier=0.0).guarantee() is None
    assert replace(RELEASE, noise_multiplier=0.0).lines() == ()
    with pytest.raises(InvalidParameter, match="so large that epsilon is finite"):
        replace(RELEASE, noise_multiplier=1e-9).guarantee()


def test_a_claim_about_sml_noise_stands_beside_sml_noise_only() -> None:
    process = HeterogeneousPoisson(rate=0.2, steps=3, num_nodes=30, multiplier=0.0)
    gaussian = CentralRelease(process=process, noise_multiplier=15.0, delta=1e-3)
    claimed = replace(gaussian, noise="sml").guarantee()
    assert claimed.published_epsilon == process.published_epsilon(15.0, 1e-3) < claimed.epsilon
    assert gaussian.guarantee().published_epsilon is None


def test_a_seed_is_confessed() -> None:
    assert not any("seed" in each for each in RELEASE.unprotected)
    assert any("seed" in each for each in replace(RELEASE, simulated=True).guarantee().unprotected)


def test_the_ledger_is_one_line_with_the_whole_price() -> None:
    (line,) = RELEASE.lines()
    assert (line.part, line.mechanism) == ("training", "gaussian noise on sums of clipped gradients")
    assert (line.epsilon, line.delta) == (RELEASE.guarantee().epsilon, 1e-4)
    assert json.loads(json.dumps(RELEASE.to_dict()))["process"] == PROCESS.to_dict()


@pytest.mark.parametrize(
    ("name", "value"), [("noise_multiplier", -1.0), ("noise_multiplier", math.inf), ("delta", 0.0)]
)
def test_bad_parameters_in_one_sentence(name: str, value: float) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        replace(RELEASE, **{name: value})
