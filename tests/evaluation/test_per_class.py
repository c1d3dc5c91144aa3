from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privet.evaluation.per_class import by_class, collect_classes, is_class_figure


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.booleans()), min_size=1, max_size=30))
def test_it_is_the_count_of_every_class(rows: list[tuple[int, int, bool]]) -> None:
    predicted, labels, nodes = (np.array(column) for column in zip(*rows, strict=True))
    found = by_class(predicted, labels, nodes, 4)
    for each in range(4):
        members = [(guess, truth) for guess, truth, inside in rows if inside and truth == each]
        assert found[f"support_{each}"] == len(members)
        if members:
            assert found[f"recall_{each}"] == pytest.approx(np.mean([guess == truth for guess, truth in members]))
        else:
            assert f"recall_{each}" not in found


def test_means_over_seeds_leave_out_those_without_the_class() -> None:
    own = [{"test": 0.5, "support_0": 4.0, "recall_0": 0.5, "support_1": 0.0}, {"support_0": 2.0, "recall_0": 1.0}]
    other = [{"support_0": 4.0, "recall_0": 0.25}, {"support_0": 2.0, "recall_0": 0.25}]
    first, second = collect_classes({"private": own, "structure_only": other})
    assert (first["class"], first["support"], first["recall"]) == (0, 3.0, 75.0)
    assert first["std"] == pytest.approx(35.355, abs=1e-3)
    assert first["controls"] == {"structure_only": 25.0}
    assert (second["support"], second["recall"], second["std"]) == (0.0, None, 0.0)
    assert collect_classes({"private": [{"test": 0.5}]}) == []


def test_names() -> None:
    assert is_class_figure("recall_3")
    assert is_class_figure("support_0")
    assert not is_class_figure("reported_pairs")
