"""Tasks in this process: order and progress."""

from __future__ import annotations

from privet.data.store.running import run_tasks


def test_results_keep_the_order_of_tasks_and_progress_is_told():
    told = []
    results = run_tasks(lambda task: task * 2, [3, 1, 2], None, lambda *parts: told.append(parts), "doubling")
    assert results == [6, 2, 4]
    assert told == [("doubling", done, 3) for done in range(4)]
    assert run_tasks(str, [], None) == []
