from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from privet.accounts.account import MechanismAccount, account, account_mechanism, mechanism_from
from privet.mechanisms import MECHANISMS, RandomizedResponse


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_an_account_without_parameters(name: str) -> None:
    found = account(name, {})
    assert isinstance(found, MechanismAccount)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["guarantee"]["epsilon"] > 0
    assert document["bytes_per_report"] > 0
    assert document["mechanism"] == name
    assert document["users_for_error_one_tenth_of_range"] > 0


def some_values(mechanism: Any) -> Iterator[Any]:
    """Values of one user each, as a batch of one row."""
    for value, _ in mechanism.adjacent_pairs():
        if sp.issparse(value):
            yield value
        else:
            yield np.asarray(value)[None]


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "adjacency-response"])
def test_worst_values_have_the_worst_variance(name: str) -> None:
    mechanism = mechanism_from(MECHANISMS[name], {}, small=True)
    worst = np.max(mechanism.variance(mechanism.worst_values()))
    found = max(float(np.max(mechanism.variance(value))) for value in some_values(mechanism))
    assert found <= worst * (1 + 1e-9)
    assert mechanism.span > 0


def test_the_account_of_a_large_mechanism_is_cheap() -> None:
    wide = account("multi-bit", {"dimension": 4714, "low": 0.0, "high": 1.0})
    assert wide.to_dict()["bytes_per_report"] == 5
    lists = account("adjacency-response", {"num_nodes": 22_470, "epsilon": 8.0})
    assert lists.guarantee.unit == "neighbour list bit"


@dataclass(frozen=True, kw_only=True)
class Theirs(RandomizedResponse):
    """A mechanism that privet does not know."""

    name = "theirs"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 2.0, "classes": 3, "colour": "red"}
    colour: str


def test_a_mechanism_from_another_package_is_accountable() -> None:
    found = account_mechanism(mechanism_from(Theirs, {"colour": "blue"}))
    assert found.to_dict()["parameters"] == {"epsilon": 2.0, "classes": 3, "colour": "blue"}
    assert found.worst_standard_deviation > 0
