"""Processes give the results of one process, pass errors on, and never outlive what started them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from patience import PATIENCE, wait_until

from privet.data import Graph, social_graph
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.evaluation import evaluate, workers
from privet.evaluation.cache import Store
from privet.evaluation.measuring import Task, _groups
from privet.evaluation.workers import Worker, measure_in_processes, usual_workers
from privet.systems import LPGNN


def task(data: int, number: int) -> tuple[int, int]:
    if number == -1:
        raise InvalidData("A figure could not be measured.")
    if number == -2:
        os._exit(3)
    return data + number, os.getpid()


def test_results_errors_and_lost_processes() -> None:
    worker = Worker(task, 10)
    found = dict(measure_in_processes(worker, [[1, 2], [3], [4]], 2))
    assert {number: [value for value, _ in results] for number, results in found.items()} == {
        0: [11, 12],
        1: [13],
        2: [14],
    }
    processes = {process for results in found.values() for _, process in results}
    assert len(processes) == 2
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    with pytest.raises(InvalidData, match="could not be measured"):
        list(measure_in_processes(worker, [[-1]], 1))
    with pytest.raises(PrivetError, match="ended with code 3"):
        list(measure_in_processes(worker, [[-2]], 1))
    with pytest.raises(InvalidParameter, match="workers"):
        list(measure_in_processes(worker, [[1]], 0))


def test_figures_are_the_same_in_processes(graph: Graph, tmp_path: Path) -> None:
    system = LPGNN(hops=1, max_epochs=3, dropout=0.5)
    done: list[str] = []
    here = evaluate(system, graph, 2, dataset="tiny", progress=done.append)
    there = evaluate(system, graph, 2, dataset="tiny", workers=2, store=Store(tmp_path))
    again = evaluate(system, graph, 2, dataset="tiny", workers=2, store=Store(tmp_path))  # measures nothing
    assert here.values == there.values == again.values
    assert {key: figures.values for key, figures in here.controls.items()} == {
        key: figures.values for key, figures in there.controls.items()
    }
    assert there.peak_rss_mb > here.peak_rss_mb
    assert len(done) == 16


def test_seeds_stay_together_and_the_last_are_dealt_out() -> None:
    tasks = [Task(seed, key) for seed in range(5) for key in "ab"]
    assert [len(group) for group in _groups(tasks, 2)] == [2, 2, 2, 2, 1, 1]
    assert [len(group) for group in _groups(tasks[:2], 4)] == [1, 1]


def test_the_usual_number(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert usual_workers(graph, 40) == 1  # it would take longer to start them
    many = social_graph(2_500, seed=0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(4)), raising=False)
    monkeypatch.setattr(workers, "_free_bytes", lambda: 64 << 30)
    assert usual_workers(many, 40) == 4
    assert usual_workers(many, 3) == 3
    monkeypatch.setattr(workers, "_free_bytes", lambda: 1 << 20)
    assert usual_workers(many, 40) == 1
    monkeypatch.setattr("privet.evaluation.threads._SMALL", 10)
    assert usual_workers(many, 40) == 1  # one training uses all cores


@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGKILL"])
def test_no_process_outlives_its_parent(tmp_path: Path, signal_name: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, time, sys
            from pathlib import Path
            from privet.evaluation.workers import Worker, measure_in_processes

            def sleep(folder, number):
                (Path(folder) / f"{number}.pid").write_text(str(os.getpid()))
                time.sleep(300)

            if __name__ == "__main__":
                list(measure_in_processes(Worker(sleep, sys.argv[1]), [[0]], 1))
            """
        )
    )
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path)], stderr=subprocess.DEVNULL)
    children = wait_until(lambda: [int(path.read_text()) for path in tmp_path.glob("*.pid") if path.read_text()])
    parent.send_signal(getattr(__import__("signal"), signal_name))
    parent.wait(timeout=PATIENCE)
    wait_until(lambda: [child for child in children if not running(child)])


def running(process: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
