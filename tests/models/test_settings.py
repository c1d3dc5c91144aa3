"""Settings: what is refused, and how a system inherits the shared fields with its own defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import pytest

from privet.errors import InvalidParameter
from privet.estimation.priors.adam import Adam
from privet.models import NetworkSettings, TrainingSettings


@dataclass(frozen=True, kw_only=True)
class Base:
    """Stands for the base class of systems, with fields and checks of its own."""

    epsilon: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise InvalidParameter("epsilon", "above 0", self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Example(NetworkSettings, Base):
    """A system with another default and a field of its own."""

    least_layers: ClassVar[int] = 2
    dropout: float = 0.5
    hops: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hops < 0:
            raise InvalidParameter("hops", "an integer of at least 0", self.hops)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_epochs": 0}, r"max_epochs must be an integer of at least 1, not 0"),
        ({"max_epochs": 1.5}, r"max_epochs .* an integer of at least 1, not 1\.5"),
        ({"learning_rate": 0.0}, r"learning_rate .* a finite number above 0, not 0\.0"),
        ({"weight_decay": float("nan")}, r"weight_decay .* a finite number of at least 0, not nan"),
        ({"direction": "up"}, r"direction .* max or min, not up"),
        ({"patience": 0}, r"patience .* None or an integer of at least 1, not 0"),
        ({"max_grad_norm": -1.0}, r"max_grad_norm .* None or a number above 0, not -1\.0"),
    ],
)
def test_training_settings_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        TrainingSettings(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_channels": 0}, "hidden_channels must be an integer of at least 1"),
        ({"hidden_channels": True}, "hidden_channels"),
        ({"num_layers": 1}, "num_layers must be an integer of at least 2, not 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"weight_decay": -1}, "weight_decay"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"patience": 0}, "patience"),
        ({"epsilon": 0}, "epsilon"),
        ({"hops": -1}, "hops"),
    ],
)
def test_a_system_inherits_the_fields_and_their_checks(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Example(**changes)
    with pytest.raises(InvalidParameter, match=message):
        replace(Example(), **changes)


def test_fields_are_flat_and_defaults_are_the_system_s_own() -> None:
    made = Example(learning_rate=0.05, patience=None)
    assert (made.dropout, made.hidden_channels, made.learning_rate, made.patience) == (0.5, 16, 0.05, None)
    assert replace(made, dropout=0.1).learning_rate == 0.05
    shared = {"hidden_channels", "num_layers", "dropout", "learning_rate", "weight_decay", "max_epochs", "patience"}
    assert set(asdict(made)) == shared | {"epsilon", "seed", "hops"}


def test_the_training_loop_gets_the_system_s_settings() -> None:
    made = Example(learning_rate=0.05, weight_decay=0.2, max_epochs=7, patience=3)
    found = made.training(seed=4, direction="min", max_grad_norm=5.0, progress=True)
    assert found == TrainingSettings(
        max_epochs=7, learning_rate=0.05, weight_decay=0.2, direction="min", patience=3, max_grad_norm=5.0,
        optimizer=Adam, seed=4, progress=True,
    )  # fmt: skip


def test_the_better_score_depends_on_the_direction_and_ties_keep_the_first() -> None:
    for direction, better, worse in (("max", 2.0, 1.0), ("min", 1.0, 2.0)):
        settings = TrainingSettings(direction=direction)
        assert settings.better(better, worse)
        assert not settings.better(worse, better)
        assert not settings.better(better, better)
