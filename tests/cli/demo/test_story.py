from __future__ import annotations

import io

import pytest
from rich.console import Console

from privet.cli.demo.story import INTERESTS, show_answers, show_friends, show_holder
from privet.data import social_graph
from privet.evaluation.evaluate import evaluate
from privet.systems import LPGNN

WIDTH = 80


def told(show) -> tuple[str, list]:
    """What a part prints in a terminal of 80 columns, and its results."""
    console, steps = Console(file=io.StringIO(), width=WIDTH), []
    results = show(console, 150, 1, 1, steps.append)
    assert steps  # the user sees that something goes on
    printed = console.file.getvalue()
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert "…" not in printed
    assert printed.count("Seen:") == 1
    assert printed.count("right (%)") == 1  # one table, in one piece
    return " ".join(printed.split()), results


def test_one_answer_stands_beside_a_noisy_copy_at_the_same_epsilon() -> None:
    printed, (answers, copies) = told(show_answers)
    assert answers.guarantee.epsilon == copies.guarantee.epsilon == 2.0
    assert set(answers.controls) == {"structure", "panel_only"}
    lead = answers.mean - max(each.mean for each in answers.controls.values())
    assert f"one answer a person is worth {lead:+.1f} points" in printed
    assert f"is worth {copies.mean - copies.controls['structure_only'].mean:+.1f} points over reports" in printed


def test_friends_are_counted_at_epsilon_1_for_a_relationship() -> None:
    printed, (counts,) = told(show_friends)
    assert counts.guarantee.relationship_epsilon == counts.guarantee.epsilon == 1.0
    assert f"{counts.controls['raw_graph'].mean:.1f}" in printed


def test_the_holder_stands_beside_the_strongest_control() -> None:
    printed, (trained,) = told(show_holder)
    strongest = max(trained.controls.values(), key=lambda each: each.mean)
    assert f"the strongest of 7 controls ({strongest.short})" in printed
    assert trained.guarantee.epsilon <= 4.0


def test_controls_are_measured_on_the_splits_of_the_system_itself() -> None:
    graph = social_graph(120, **INTERESTS, seed=0)
    system = LPGNN(hops=1, max_epochs=3)
    control = next(each for each in system.controls() if each.key == "structure_only")
    ours = evaluate(system, graph, 2, controls=(control,), dataset="village")
    whole = evaluate(system, graph, 2, dataset="village")
    assert list(ours.controls) == ["structure_only"]
    assert ours.values == whole.values
    assert ours.controls["structure_only"].values == pytest.approx(whole.controls["structure_only"].values)
