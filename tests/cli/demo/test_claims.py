from __future__ import annotations

import io

from rich.console import Console

from privet.cli.demo.story import show_claims


def test_both_published_claims_break() -> None:
    console = Console(file=io.StringIO(), width=80)
    show_claims(console, seed=1, runs=20, progress=lambda text: None)
    printed = " ".join(console.file.getvalue().split())
    assert "have 2.000: it does not hold" in printed
    assert "2 of 2 published claims break" in printed


def test_an_attack_that_was_not_sure_says_so() -> None:
    console = Console(file=io.StringIO(), width=80)
    show_claims(console, seed=0, runs=1, progress=lambda text: None)  # seed 0 needs 15 runs
    printed = " ".join(console.file.getvalue().split())
    assert "it stands" in printed
    assert "1 of 2 published claims break" in printed
