"""PrivateTrainer's settings are listed once, and everything else follows from that list."""

from dataclasses import fields
from inspect import signature

import pytest
from torch_geometric.nn import SAGEConv

from privet.data import social_graph, split_nodes
from privet.errors import UnknownParameter
from privet.systems import HeterPoisson, PrivateTrainer
from privet.systems.central._settings import SubgraphTraining
from privet.systems.central.trainer.settings import TrainerSettings


def test_the_signature_shows_every_setting_with_its_default() -> None:
    shown = dict(signature(PrivateTrainer).parameters)
    assert list(shown)[:3] == ["module", "graph", "targets"]
    assert {name: shown[name].default for name in list(shown)[3:]} == {
        each.name: each.default for each in fields(TrainerSettings)
    }


def test_what_heterpoisson_shares_has_the_same_defaults() -> None:
    ours, theirs = ({each.name: each.default for each in fields(kind)} for kind in (TrainerSettings, HeterPoisson))
    shared = [each.name for each in fields(SubgraphTraining)]
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}


def test_an_unknown_setting_names_the_known_ones() -> None:
    made = social_graph(60, classes=3, features=5, seed=0)
    graph = made.replace(split=split_nodes(made, 0.5, 0.1, seed=0))
    with pytest.raises(UnknownParameter, match="PrivateTrainer has no parameter 'epsilon'; it has target_epsilon, "):
        PrivateTrainer(SAGEConv(5, 3), graph, epsilon=1.0)
