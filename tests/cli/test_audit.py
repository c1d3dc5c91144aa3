from __future__ import annotations

from commands import run_privet


def test_a_system_is_audited_with_the_parameters_of_its_process() -> None:
    process = ("--rate", "0.2", "--steps", "2", "--nodes", "500", "--sigma", "3", "--runs", "2000")
    result = run_privet("audit", "private-mlp", *process)
    assert result.returncode == 0, result.stderr
    assert "holds against this attack" in result.stdout


def test_a_system_without_a_game_lists_those_that_have_one() -> None:
    result = run_privet("audit", "ndp")
    assert result.returncode == 2
    assert "heterpoisson" in result.stderr
