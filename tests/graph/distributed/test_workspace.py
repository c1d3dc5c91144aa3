"""A worker's memory: buffers are used again, and no more columns are taken than fit."""

from __future__ import annotations

import threading

import pytest
import torch

from privet.errors import InvalidParameter
from privet.graph.distributed import workspace
from privet.graph.distributed.workspace import Workspace, columns_at_once


def test_buffers_are_used_again_and_grow():
    work = Workspace()
    first = work.vector("x", 100, torch.float32)
    assert work.vector("x", 60, torch.float32).data_ptr() == first.data_ptr()
    assert work.matrix("x", 10, 10, torch.float32).data_ptr() == first.data_ptr()
    assert work.vector("y", 60, torch.float32).data_ptr() != first.data_ptr()
    assert work.vector("x", 60, torch.float64).dtype == torch.float64
    assert work.matrix("x", 30, 10, torch.float32).shape == (30, 10)
    assert [work.ones(size, torch.float32).tolist() for size in (2, 1, 3)] == [[1.0] * 2, [1.0], [1.0] * 3]


def test_every_thread_has_its_own():
    found = [Workspace.of_this_thread()]
    thread = threading.Thread(target=lambda: found.append(Workspace.of_this_thread()))
    thread.start()
    thread.join()
    assert found[0] is Workspace.of_this_thread()
    assert found[0] is not found[1]


def test_columns_fill_half_of_the_limit(monkeypatch):
    assert columns_at_once(10**9, 500, 4) == 500  # no worker, no limit
    monkeypatch.setattr(workspace, "_memory_limit", lambda: 8_000)
    assert [columns_at_once(rows, 500, 4) for rows in (0, 1, 10, 1000)] == [500, 500, 100, 1]
    with pytest.raises(InvalidParameter, match="1001 nodes, more than a worker with 8000 bytes can hold"):
        columns_at_once(1001, 500, 4)
