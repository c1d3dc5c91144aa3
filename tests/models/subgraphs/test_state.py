"""A module's state: what changes is found wherever it lies, and what does not change is no change."""

import io
import itertools
import logging
import random
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial, wraps
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from subgraph_modules import MODULES
from torch import nn

from privet.models.subgraphs.state import State

GLOBAL: list[int] = []


class Owner:
    def __init__(self) -> None:
        self.a: list[int] = []


OWNER = Owner()

# What a user's package may look like: a module, and within it another one that keeps things.
helpers, helpers_kept = ModuleType("helpers"), ModuleType("helpers.kept")
helpers.kept, helpers_kept.a = helpers_kept, []  # type: ignore[attr-defined]


class Slotted:
    __slots__ = ("__value",)

    def __init__(self) -> None:
        self.__value = 0

    def change(self) -> None:
        self.__value += 1


def alternating() -> Iterator[int]:
    while True:
        yield 1
        yield -1


def remembered(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    seen: list[Any] = []

    @wraps(function)  # so that it looks like torch's own
    def with_memory(value: Any) -> Any:
        seen.append(value)
        return function(value)

    return with_memory


class Number(int):
    """A number that can carry attributes."""


class Rows(np.ndarray):
    """An array that can carry attributes."""


class Own:
    __kept__ = 0


def by_a_word() -> Any:
    return globals()["GLOBAL"]


async def waiting(seen: list[int]) -> None:
    seen.append(1)


def imports_when_called() -> None:
    from helpers.kept import a  # type: ignore[import-not-found]

    a.append(1)


@pytest.fixture(autouse=True)
def a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "helpers", helpers)
    monkeypatch.setitem(sys.modules, "helpers.kept", helpers_kept)


def with_attribute(value: Any) -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    module[1].kept = value
    return module


def changed(module: nn.Module, change: Callable[[], Any]) -> tuple[str, str] | None:
    before = State(module)
    assert State(module).changed_since(before) is None
    change()
    return State(module).changed_since(before)


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (torch.zeros(3), lambda v: v.data.add_(1)),
        (np.zeros(3), lambda v: v.__setitem__(0, 1)),
        (np.array([[0], None], dtype=object), lambda v: v[0].append(1)),
        ([{"a": (1, [2])}], lambda v: v[0]["a"][1].append(3)),
        ({}, lambda v: v.update(a=1)),
        (set(), lambda v: v.add(1)),
        (deque(), lambda v: v.append(1)),
        (SimpleNamespace(a=1), lambda v: setattr(v, "a", 2)),
        (Slotted(), Slotted.change),
        (torch.Generator(), lambda v: torch.rand(1, generator=v)),
        (np.random.default_rng(0), lambda v: v.random()),
        (partial(print, [1]), lambda v: v.args[0].append(2)),
        (iter(range(3)), next),
        (itertools.count(), next),
        ((a for a in range(3)), next),
        (lambda: GLOBAL, lambda v: GLOBAL.append(1)),
        (torch.eye(3).to_sparse(), lambda v: v._values().add_(1)),
        (torch.ones(3, dtype=torch.complex64).conj(), lambda v: v.mul_(2)),
        (torch.zeros(3, requires_grad=True), lambda v: (2 * v).sum().backward()),
        (GLOBAL.append, lambda v: v(1)),
        (weakref.ref(OWNER), lambda v: v().a.append(1)),
        (ContextVar("a", default=0), lambda v: v.set(v.get() + 1)),
        (memoryview(bytearray(8)), lambda v: v.__setitem__(0, 1)),
        (io.StringIO(), lambda v: v.write("a")),
        (alternating(), next),
        (zip([1, 2], [3, 4], strict=True), next),
        (remembered(torch.nn.functional.softsign), lambda v: v(torch.ones(1))),
        (lambda: helpers.kept.a, lambda v: v().append(1)),
        (imports_when_called, lambda v: v()),
        (by_a_word, lambda v: v().append(1)),
        (Number(3), lambda v: setattr(v, "a", 1)),
        (np.zeros(3).view(Rows), lambda v: setattr(v, "a", 1)),
        (np.zeros(9)[:2], lambda v: v.base.__setitem__(5, 1)),
        (by_a_word, lambda v: v.__annotations__.update(a=1)),
        (Own, lambda v: setattr(v, "__kept__", v.__kept__ + 1)),
        (partial(print), lambda v: setattr(v, "a", 1)),
        (ModuleType("unlisted"), lambda v: setattr(v, "a", 1)),
        (torch.zeros(3), lambda v: v.requires_grad_()),
        (torch.zeros(3, requires_grad=True), lambda v: v.register_hook(print)),
    ],
)
def test_a_change_is_found_and_named(value: Any, change: Callable[[Any], Any]) -> None:
    found = changed(with_attribute(value), lambda: change(value))
    assert found is not None
    assert found[0] == "1"
    assert found[1] in ("kept", "a", "_Slotted__value", "GLOBAL", "arguments", "grad", "base", "__kept__",
                        "requires_grad", "hooks")  # fmt: skip


def test_a_coroutine_is_looked_into() -> None:
    seen: list[int] = []
    kept = waiting(seen)
    assert changed(with_attribute(kept), lambda: seen.append(1)) is not None
    kept.close()


def test_a_source_of_the_operating_system_has_no_state() -> None:
    source = random.SystemRandom()
    assert changed(with_attribute(source), source.random) is None


def test_the_gradient_of_a_trained_parameter_is_looked_at() -> None:
    module = with_attribute([1])
    weight = module[0].weight
    assert changed(module, lambda: setattr(weight, "grad", torch.ones_like(weight))) == ("", "grad")


def test_hooks_parameters_and_classes_are_looked_at() -> None:
    class Own(nn.Tanh):
        count = 0

    module = nn.Sequential(nn.Linear(2, 2), Own())
    assert changed(module, lambda: setattr(Own, "count", 1)) == ("1", "count")
    assert changed(module, lambda: setattr(module[0].weight, "note", 1)) is not None
    assert changed(module, lambda: module[0].register_forward_hook(print)) is not None


def test_training_itself_is_no_change() -> None:
    module = with_attribute([1])
    assert changed(module, lambda: module[0].weight.data.add_(1)) is None
    module[0].weight.requires_grad_(False)
    assert changed(module, lambda: module[0].weight.data.add_(1)) == ("0", "weight")


@pytest.mark.parametrize("name", MODULES)
def test_graph_layers_keep_nothing(name: str) -> None:
    module, edges = MODULES[name](), torch.tensor([[1, 2], [0, 0]])
    assert changed(module, lambda: module(torch.randn(3, 5), edges)) is None


def test_an_equal_value_in_place_of_another_is_no_change() -> None:
    module = with_attribute(torch.ones(2))
    assert changed(module, lambda: setattr(module[1], "kept", torch.ones(2))) is None


def test_two_things_of_one_name_are_two() -> None:
    module = nn.Sequential(nn.Linear(2, 2))
    for each in module.parameters():
        each.note = 0
    for each in module.parameters():
        assert changed(module, lambda each=each: setattr(each, "note", each.note + 1)) is not None


def test_a_module_with_the_name_of_a_standard_one_is_a_users(monkeypatch: pytest.MonkeyPatch) -> None:
    shadow = ModuleType("profile")
    shadow.__file__ = "/home/somebody/profile.py"
    exec("seen = []\ndef remembering():\n    seen.append(1)", vars(shadow))
    monkeypatch.setitem(sys.modules, "profile", shadow)
    assert changed(with_attribute(shadow.remembering), shadow.remembering) is not None


def test_a_log_is_no_memory() -> None:
    module = with_attribute(logging.getLogger("somebody's"))
    assert changed(module, lambda: module[1].kept.debug("a call")) is None
