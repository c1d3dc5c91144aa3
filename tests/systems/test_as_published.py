"""A paper's name runs the paper's settings when asked; every guarantee is the true one all the same."""

from __future__ import annotations

from dataclasses import fields

import pytest

from privet import LPGNN, RGNN, HeterPoisson, Inquiry, PrivGE, Solitude
from privet.data import KNOWN, social_graph
from privet.errors import InvalidParameter
from privet.systems import SYSTEMS, presets
from privet.systems.presets import is_published, system_for

PAPERS = [name for name in SYSTEMS if is_published(name)]


def budget(name: str) -> dict[str, float]:
    return {"claimed_epsilon": 2.0} if name == "heterpoisson" else {}


def test_the_five_papers_have_settings() -> None:
    assert set(PAPERS) >= {"lpgnn", "privge", "rgnn", "solitude", "heterpoisson"}


@pytest.mark.parametrize("name", PAPERS)
def test_every_published_setting_is_a_field_and_every_dataset_is_known(name: str) -> None:
    described = presets._document(name)["published"]
    assert {key for key, value in described.items() if isinstance(value, dict)} <= {*KNOWN, "conditions"}
    for dataset in KNOWN:
        for condition in (None, *described.get("conditions", {})):
            system = SYSTEMS[name].as_published(dataset, condition, **budget(name))
            known = {field.name for field in fields(system)}
            layers = [described, described.get(dataset, {})]
            assert {key for layer in layers for key, value in layer.items() if not isinstance(value, dict)} <= known


def test_changes_override_the_papers_settings() -> None:
    assert LPGNN.as_published("facebook").dropout == 0.5
    assert LPGNN.as_published("facebook", dropout=0.25, epsilon_features=0.1).dropout == 0.25
    assert LPGNN.as_published("facebook").patience is None
    assert LPGNN.as_published("flickr") == LPGNN.as_published()
    assert LPGNN.as_published("cora", epsilon_labels=1.0).label_denoising == "majority"
    assert PrivGE.as_published("cora", "links").sample == 1
    assert system_for("lpgnn", "facebook", {"hops": 2}, as_published=True) == LPGNN.as_published("facebook", hops=2)


def test_a_paper_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="inquiry has no published settings"):
        Inquiry.as_published("cora")


def test_the_guarantee_is_the_true_one() -> None:
    people = social_graph(60, classes=2, features=4, seed=0)
    assert LPGNN.as_published(epsilon_features=2.0).guarantee(people).epsilon == 2.0
    both = Solitude.as_published(epsilon_edges=7.0).guarantee(people)
    assert both.relationship_epsilon == 14.0
    claimed = HeterPoisson.as_published(claimed_epsilon=2.0, batch_size=40).guarantee(2000)
    assert claimed is not None
    assert claimed.published_epsilon == pytest.approx(2.0, rel=0.01)
    assert claimed.epsilon > 4 * claimed.published_epsilon


def test_what_a_published_claim_cannot_do_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="claimed_epsilon"):
        HeterPoisson.as_published(target_epsilon=2.0)
    with pytest.raises(InvalidParameter, match="Give noise='sml'"):
        HeterPoisson(claimed_epsilon=2.0)
    with pytest.raises(InvalidParameter, match="not 'noise_multiplier' and 'claimed_epsilon'"):
        HeterPoisson.as_published(claimed_epsilon=2.0, noise_multiplier=1.0)
    assert RGNN.as_published().fill == "uniform"
