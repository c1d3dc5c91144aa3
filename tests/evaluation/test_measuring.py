from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from privet.data import Graph
from privet.evaluation.cache import Store
from privet.evaluation.measuring import OWN, Measuring, Task, _groups
from privet.systems import LPGNN, Structure

SYSTEM = LPGNN(hops=1, max_epochs=2)
TASKS = [Task(seed, key) for seed in (0, 1) for key in (OWN.key, "majority")]


def test_what_the_store_has_is_not_measured_again(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring, told = Measuring(SYSTEM, graph, None, "mark"), []
    first = measuring.figures(TASKS, Store(tmp_path), 1, told.append)
    assert list(first) == told == TASKS
    monkeypatch.setattr(Measuring, "measure", lambda *_: pytest.fail("measured again"))
    again = measuring.figures(TASKS, Store(tmp_path), 1, told.append)
    assert {task: found.to_dict() for task, found in again.items()} == {t: s.to_dict() for t, s in first.items()}
    assert told == TASKS * 2
    with pytest.raises(pytest.fail.Exception, match="measured again"):  # another graph has other figures
        Measuring(SYSTEM, graph, None, "another").figures(TASKS, Store(tmp_path), 1)


def test_a_seed_repeats_its_figure(graph: Graph) -> None:
    measuring = Measuring(SYSTEM, graph, (0.5, 0.25))
    one, again, other = (measuring.measure(Task(seed, OWN.key)) for seed in (0, 0, 1))
    assert one.metrics == again.metrics
    assert one.metrics != other.metrics


def test_systems_share_the_figures_of_controls_that_do_not_depend_on_them(graph: Graph) -> None:
    one, other = (Measuring(replace(SYSTEM, epsilon_features=e), graph, None, "m") for e in (1.0, 2.0))
    for key, shared in ((OWN.key, False), ("structure", True), ("non_private", True), ("features_only", False)):
        assert (one._key(Task(0, key)) == other._key(Task(0, key))) == shared, key
    assert one._key(Task(0, "structure"))["system"] == Structure.name
    assert one._key(Task(0, "structure")) != one._key(Task(1, "structure"))


@dataclass
class Dealt:
    seeds: int
    workers: int
    groups: list[int]


@pytest.mark.parametrize(
    "case", [Dealt(4, 2, [3, 3, 3, 3]), Dealt(3, 2, [3, 3, 1, 1, 1]), Dealt(1, 2, [1, 1, 1]), Dealt(2, 5, [1] * 6)]
)
def test_whole_seeds_are_dealt_while_they_fill_all_workers(case: Dealt) -> None:
    tasks = [Task(seed, key) for seed in range(case.seeds) for key in "abc"]
    groups = _groups(tasks, case.workers)
    assert [len(group) for group in groups] == case.groups
    assert [task for group in groups for task in group] == tasks
    assert all(len({task.seed for task in group}) == 1 for group in groups)
