"""Plugins are files of a package or entry points; names are found in any case and never taken twice."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from privet import registry
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS, MultiBit
from privet.registry import Registry
from privet.systems import SYSTEMS


def made(monkeypatch: pytest.MonkeyPatch, *entries: EntryPoint) -> Registry[object]:
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    return Registry("mechanism", "Mechanism", ("privet.mechanisms",), "privet.mechanisms")


def test_every_file_is_a_plugin_of_its_name() -> None:
    for found in (MECHANISMS, SYSTEMS):
        assert len(found) > 5
        assert all(kind.name == name for name, kind in found.items())


def test_names_are_understood_in_any_case_and_unknown_ones_are_listed() -> None:
    assert MECHANISMS["Multi-Bit"] is MultiBit
    assert "HDS" in MECHANISMS
    assert "base" not in MECHANISMS
    with pytest.raises(InvalidParameter, match=r"one of .*multi-bit"):
        MECHANISMS.find("nothing")


def test_an_entry_point_adds_a_class_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("multi-bit-again", "privet.mechanisms.multi_bit:MultiBit", "privet.mechanisms")
    found = made(monkeypatch, entry)
    assert "multi-bit-again" in found
    with pytest.raises(InvalidParameter, match="whose name is 'multi-bit-again'"):
        found["multi-bit-again"]


@pytest.mark.parametrize("name", ["multi-bit", "Multi-Bit"])
def test_a_package_cannot_replace_a_mechanism(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    entry = EntryPoint(name, "privet.mechanisms.multi_bit:MultiBit", "privet.mechanisms")
    with pytest.raises(InvalidParameter, match="no other mechanism has"):
        list(made(monkeypatch, entry))
