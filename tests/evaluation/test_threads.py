from __future__ import annotations

import pytest
import torch

from privet.data import social_graph
from privet.evaluation import threads
from privet.evaluation.threads import threads_for


def test_a_small_graph_gets_one_thread_and_a_large_one_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = social_graph(100, seed=0)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with threads_for(graph):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
        monkeypatch.setattr(threads, "_SMALL", 10)
        with threads_for(graph):
            assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
