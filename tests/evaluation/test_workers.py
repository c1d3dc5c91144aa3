"""Processes give the results of one process, pass errors on, and never outlive what started them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from patience import PATIENCE, wait_until

from privet.data import Graph, social_graph
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.evaluation import evaluate, workers
from privet.evaluation.cache import Store
from privet.evaluation.workers import measure_in_processes, threads_for, usual_workers
from privet.systems import LPGNN


def task(data: int, number: int) -> tuple[int, int]:
    if number == -1:
        raise InvalidData("A figure could not be measured.")
    if number == -2:
        os._exit(3)
    return data + number, os.getpid()


def test_results_errors_and_lost_processes() -> None:
    found = dict(measure_in_processes(task, 10, [[1, 2], [3], [4]], 2))
    assert {number: value for number, (value, _) in found.items()} == {1: 11, 2: 12, 3: 13, 4: 14}
    assert found[1][1] == found[2][1]  # one process does a group
    processes = {process for _, process in found.values()}
    assert len(processes) == 2
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    with pytest.raises(InvalidData, match="could not be measured"):
        list(measure_in_processes(task, 10, [[-1]], 1))
    with pytest.raises(PrivetError, match="ended with code 3"):
        list(measure_in_processes(task, 10, [[-2]], 1))


def test_a_figure_is_there_before_its_group_is_done() -> None:
    """What was measured before an interrupt is kept."""
    found = measure_in_processes(task, 10, [[1, -1]], 1)
    assert next(found)[0] == 1
    with pytest.raises(InvalidData, match="could not be measured"):
        next(found)


def test_figures_are_the_same_in_processes(graph: Graph, tmp_path: Path) -> None:
    system = LPGNN(hops=1, max_epochs=3, dropout=0.5)
    done: list[str] = []
    here = evaluate(system, graph, 2, dataset="tiny", progress=done.append)
    there = evaluate(system, graph, 2, dataset="tiny", workers=2, store=Store(tmp_path))
    again = evaluate(system, graph, 2, dataset="tiny", workers=2, store=Store(tmp_path))  # measures nothing
    with pytest.raises(InvalidParameter, match="workers"):
        evaluate(system, graph, 2, workers=0)
    assert here.values == there.values == again.values
    assert {key: figures.values for key, figures in here.controls.items()} == {
        key: figures.values for key, figures in there.controls.items()
    }
    assert there.peak_rss_mb > here.peak_rss_mb
    assert len(done) == 16


def test_the_usual_number(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert usual_workers(graph, 40) == 1  # it would take longer to start them
    many = social_graph(2_500, seed=0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(4)), raising=False)
    monkeypatch.setattr(workers, "_free_bytes", lambda: 64 << 30)
    assert usual_workers(many, 40) == 4
    assert usual_workers(many, 3) == 3
    monkeypatch.setattr(workers, "_free_bytes", lambda: 1 << 20)
    assert usual_workers(many, 40) == 1
    monkeypatch.setattr("privet.evaluation.workers._SMALL", 10)
    assert usual_workers(many, 40) == 1  # one training uses all cores


@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGKILL"])
def test_no_process_outlives_its_parent(tmp_path: Path, signal_name: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, time, sys
            from pathlib import Path
            from privet.evaluation.workers import measure_in_processes

            def sleep(folder, number):
                (Path(folder) / f"{number}.pid").write_text(str(os.getpid()))
                time.sleep(300)

            if __name__ == "__main__":
                list(measure_in_processes(sleep, sys.argv[1], [[0]], 1))
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


def test_a_small_graph_gets_one_thread_and_a_large_one_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = social_graph(100, seed=0)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with threads_for(graph):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
        monkeypatch.setattr(workers, "_SMALL", 10)
        with threads_for(graph):
            assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
