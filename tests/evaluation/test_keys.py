"""A key tells figures apart that anything decides, and only those."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import privet
from privet.data import Graph, split_nodes
from privet.evaluation import keys
from privet.evaluation.cache import Store
from privet.evaluation.keys import data_digest, figure_key, is_described, program_digest, split_digest, store_for
from privet.systems import LPGNN, Inquiry


def test_other_data_under_the_same_name_is_other_data(graph: Graph) -> None:
    same = data_digest(graph)
    assert data_digest(graph.replace(labels=graph.labels.copy(), split=None)) == same
    twice = graph.adjacency.copy()
    twice.data = twice.data * 2
    others = [
        graph.replace(labels=(graph.labels + 1) % 3),
        graph.replace(features=graph.features[::-1]),
        graph.replace(schema=replace(graph.schema, private_edges=True)),
        graph.replace(adjacency=twice),
    ]
    assert len({same, *map(data_digest, others)}) == 5


def test_splits_are_told_apart_by_who_is_in_them(graph: Graph) -> None:
    one, again, other = (split_nodes(graph, 0.5, 0.25, seed=seed) for seed in (0, 0, 1))
    assert split_digest(one) == split_digest(again) != split_digest(other)
    assert split_digest(replace(one, train=one.validation, validation=one.train)) != split_digest(one)
    assert split_digest(None) == ""


def test_settings_seeds_and_programs_make_other_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(system: LPGNN, seed: int = 0, **more: object) -> str:
        return str(figure_key("private", system, seed, data="d", split="s", **more))

    first = key(LPGNN())
    assert key(LPGNN(seed=5)) == first  # the seed is the measurement's
    assert len({first, key(LPGNN(hops=1)), key(LPGNN(), 1), key(LPGNN(), plan={"share": 0.1})}) == 4
    monkeypatch.setattr(keys, "program_digest", lambda: "another")
    assert key(LPGNN()) != first


def test_an_edited_module_is_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "cli").mkdir()
    monkeypatch.setattr(privet, "__file__", str(tmp_path / "__init__.py"))
    found = []
    for file, text in (("models/a.py", "x = 1"), ("models/a.py", "x = 2"), ("models/b.py", ""), ("cli/c.py", "y = 1")):
        (tmp_path / file).write_text(text)
        program_digest.cache_clear()
        found.append(program_digest())
    program_digest.cache_clear()
    assert len(set(found)) == 3
    assert found[2] == found[3]  # what prints a figure does not change it


@dataclass(frozen=True, kw_only=True)
class Elsewhere(LPGNN):
    """A system of another package, which may change without privet's knowing."""


def test_only_what_a_key_describes_whole_is_kept_on_disk(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path))
    assert is_described(LPGNN())
    assert store_for(None, LPGNN(), graph).folder == tmp_path / "figures"
    for system in (Elsewhere(), Inquiry(scorer=np.zeros((3, 4)))):
        assert not is_described(system)
        assert store_for(None, system, graph).folder is None
    given = Store(tmp_path / "mine")
    assert store_for(given, Elsewhere(), graph) is given
