from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from privet.data import Graph
from privet.evaluation.cache import Store
from privet.evaluation.measuring import OWN, Measuring, Task, _groups
from privet.systems import LPGNN, HeterPoisson, Inquiry, PrivGE, Structure

SYSTEM = LPGNN(hops=1, max_epochs=2)
TASKS = [Task(seed, key) for seed in (0, 1) for key in (OWN.key, "majority")]


def test_what_the_store_has_is_not_measured_again(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring, told = Measuring(SYSTEM, graph, None), []
    first = measuring.figures(TASKS, Store(tmp_path), 1, told.append)
    assert list(first) == told == TASKS
    monkeypatch.setattr(Measuring, "measure", lambda *_: pytest.fail("measured again"))
    again = measuring.figures(TASKS, Store(tmp_path), 1, told.append)
    assert {task: found.to_dict() for task, found in again.items()} == {t: s.to_dict() for t, s in first.items()}
    assert told == TASKS * 2
    other = Measuring(SYSTEM, graph.replace(labels=(graph.labels + 1) % graph.schema.classes), None)
    with pytest.raises(pytest.fail.Exception, match="measured again"):  # another graph has other figures
        other.figures(TASKS, Store(tmp_path), 1)


def test_a_seed_repeats_its_figure(graph: Graph) -> None:
    measuring = Measuring(SYSTEM, graph, (0.5, 0.25))
    one, again, other = (measuring.measure(Task(seed, OWN.key)) for seed in (0, 0, 1))
    assert one.metrics == again.metrics
    assert one.metrics != other.metrics


def test_systems_share_the_figures_of_controls_that_do_not_depend_on_them(graph: Graph) -> None:
    one, other = (Measuring(replace(SYSTEM, epsilon_features=e), graph, None) for e in (1.0, 2.0))
    for key, shared in ((OWN.key, False), ("structure", True), ("non_private", True), ("features_only", False)):
        assert (one.key(Task(0, key)) == other.key(Task(0, key))) == shared, key
    assert one.key(Task(0, "structure"))["system"] == Structure.name
    assert one.key(Task(0, "structure")) != one.key(Task(1, "structure"))


def test_local_systems_share_what_depends_on_data_and_split_alone(graph: Graph) -> None:
    """Equal keys, and equal figures if they are measured all the same."""
    bare = graph.replace(split=None)
    systems = (SYSTEM, PrivGE(max_epochs=2), Inquiry())
    measured = [Measuring(system, bare, None) for system in systems]
    for key in ("structure", "majority", "ceiling"):
        assert len({json.dumps(each.key(Task(0, key))) for each in measured}) == 1, key
        assert len({str(each.measure(Task(0, key)).metrics) for each in measured}) == 1, key
    with_labels = measured[:2]
    assert len({json.dumps(each.key(Task(0, "label_propagation"))) for each in with_labels}) == 1
    assert len({str(each.measure(Task(0, "label_propagation")).metrics) for each in with_labels}) == 1


def test_systems_that_split_otherwise_share_nothing(graph: Graph) -> None:
    """Central systems train on validation nodes too, and private labels or edges are another matter."""
    bare, task = graph.replace(split=None), Task(0, "majority")
    central = Measuring(HeterPoisson(target_epsilon=4.0), bare, None)
    assert Measuring(SYSTEM, bare, None).key(task) != central.key(task)
    for key in ("structure", "label_propagation"):
        private = Measuring(replace(SYSTEM, epsilon_labels=1.0), bare, None)
        assert Measuring(SYSTEM, bare, None).key(Task(0, key)) != private.key(Task(0, key)), key


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
