from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import privet
from privet.data import Graph, split_nodes
from privet.evaluation import measuring
from privet.evaluation.cache import Store, program_digest, usual_store
from privet.evaluation.evaluate import Evaluation, Task
from privet.evaluation.measuring import Described, _Places, data_digest, groups, is_described, measured, split_digest
from privet.systems import LPGNN, HeterPoisson, Inquiry, PrivGE, Structure
from privet.systems.controls import OWN

SYSTEM = LPGNN(hops=1, max_epochs=2)
TASKS = [Task(seed, key) for seed in (0, 1) for key in (OWN.key, "majority")]


def key(system: object, graph: Graph, task: Task) -> dict[str, object]:
    return _Places(Evaluation(system, graph), Store(None)).of(task).key


def test_what_the_store_has_is_not_measured_again(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, told = Evaluation(SYSTEM, graph), []
    first = measured(work, TASKS, Store(tmp_path), done=told.append).figures
    assert list(first) == told == TASKS
    monkeypatch.setattr(Evaluation, "measure", lambda *_: pytest.fail("measured again"))
    for workers in (1, 2):
        assert measured(work, TASKS, Store(tmp_path), workers=workers, done=told.append).figures == first
    assert told == TASKS * 3
    other = Evaluation(SYSTEM, graph.replace(labels=(graph.labels + 1) % graph.schema.classes))
    with pytest.raises(pytest.fail.Exception, match="measured again"):  # another graph has other figures
        measured(other, TASKS, Store(tmp_path))


def test_tasks_with_one_key_are_measured_once(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table asks for a control in many cells, and in processes none of them knows of the others."""
    calls, real = [], Evaluation.measure
    monkeypatch.setattr(Evaluation, "measure", lambda *given: calls.append(1) or real(*given))
    monkeypatch.setattr(Evaluation, "describe", lambda self, task: Described("same", SYSTEM, SYSTEM, 0))
    tasks = [Task(0, "majority"), Task(0, "structure")]
    found = measured(Evaluation(SYSTEM, graph), tasks, Store(None)).figures
    assert len(calls) == 1
    assert found[tasks[0]] == found[tasks[1]]
    monkeypatch.setattr(measuring, "measure_in_processes", lambda *_: pytest.fail("one figure needs no processes"))
    measured(Evaluation(SYSTEM, graph), tasks, Store(None), workers=2)
    assert len(calls) == 2


def test_a_cache_that_cannot_be_written_changes_no_figure(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = measured(Evaluation(SYSTEM, graph), TASKS[:1], Store(tmp_path / "file" / "x", limit=1 << 20)).figures
    assert found[TASKS[0]].test == measured(Evaluation(SYSTEM, graph), TASKS[:1], Store(None)).figures[TASKS[0]].test


def test_a_seed_repeats_its_figure(graph: Graph) -> None:
    work = Evaluation(SYSTEM, graph, (0.5, 0.25))
    one, again, other = (work.measure(Task(seed, OWN.key)) for seed in (0, 0, 1))
    assert one.metrics == again.metrics
    assert one.metrics != other.metrics


def test_systems_share_the_figures_of_controls_that_do_not_depend_on_them(graph: Graph) -> None:
    one, other = (replace(SYSTEM, epsilon_features=e) for e in (1.0, 2.0))
    for name, shared in ((OWN.key, False), ("structure", True), ("non_private", True), ("features_only", False)):
        assert (key(one, graph, Task(0, name)) == key(other, graph, Task(0, name))) == shared, name
    assert key(one, graph, Task(0, "structure"))["system"] == Structure.name
    assert key(one, graph, Task(0, "structure")) != key(one, graph, Task(1, "structure"))


def test_local_systems_share_what_depends_on_data_and_split_alone(graph: Graph) -> None:
    """Equal keys, and equal figures if they are measured all the same."""
    bare = graph.replace(split=None)
    systems = (SYSTEM, PrivGE(max_epochs=2), Inquiry())
    for name in ("structure", "majority", "ceiling", "label_propagation"):
        some = systems[:2] if name == "label_propagation" else systems
        task = Task(0, name)
        assert len({json.dumps(key(each, bare, task)) for each in some}) == 1, name
        assert len({str(Evaluation(each, bare).measure(task).metrics) for each in some}) == 1, name


def test_systems_that_split_otherwise_share_nothing(graph: Graph) -> None:
    """Central systems train on validation nodes too, and private labels or edges are another matter."""
    bare, task = graph.replace(split=None), Task(0, "majority")
    assert key(SYSTEM, bare, task) != key(HeterPoisson(target_epsilon=4.0), bare, task)
    for name in ("structure", "label_propagation"):
        private = replace(SYSTEM, epsilon_labels=1.0)
        assert key(SYSTEM, bare, Task(0, name)) != key(private, bare, Task(0, name)), name


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
    dealt = groups(Evaluation(SYSTEM, None), tasks, case.workers)
    assert [len(group) for group in dealt] == case.groups
    assert [task for group in dealt for task in group] == tasks
    assert all(len({task.seed for task in group}) == 1 for group in dealt)


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
        return str(Described("private", system, system, seed, more).key("d", None))

    first = key(LPGNN())
    assert key(LPGNN(seed=5)) == first  # the seed is the measurement's
    assert len({first, key(LPGNN(hops=1)), key(LPGNN(), 1), key(LPGNN(), plan={"share": 0.1})}) == 4
    monkeypatch.setattr(measuring, "program_digest", lambda: "another")
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
class Foreign(LPGNN):
    """A system of another package, which may change without privet's knowing."""


def test_only_what_a_key_describes_whole_is_kept_on_disk(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path))
    assert is_described(LPGNN(), graph)

    def place(system: object, store: Store) -> Path | None:
        return _Places(Evaluation(system, graph), store).of(Task(0, "private")).store.folder

    assert place(LPGNN(), usual_store()) == tmp_path / "figures"
    for system in (Foreign(), Inquiry(scorer=np.zeros((3, 4)))):
        assert not is_described(system, graph)
        assert place(system, usual_store()) is None
    assert place(Foreign(), Store(tmp_path / "mine")) == tmp_path / "mine"
