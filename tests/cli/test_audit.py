from __future__ import annotations

import json

import pytest
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


PROCESS = ("--rate", "0.2", "--steps", "2", "--nodes", "500", "--sigma", "3", "--canaries", "400")


@pytest.mark.parametrize(
    ("how", "runs", "words"), [("--one-run", "1", "1 run with 400 canaries"), ("--sequential", "3", "3 of at most 3")]
)
def test_many_canaries_share_a_run(how: str, runs: str, words: str) -> None:
    result = run_privet("audit", "private-mlp", how, "--runs", runs, *PROCESS)
    assert result.returncode == 0, result.stderr
    assert words in result.stdout
    assert "holds against this attack" in result.stdout
    found = json.loads(run_privet("audit", "private-mlp", how, "--runs", runs, *PROCESS, "--json").stdout)
    assert (found["audit"], found["canaries"], found["broken"]) == (how.removeprefix("--"), 400, False)
    assert found["epsilon_lower"] <= found["claim"]


def test_a_claim_that_is_broken_ends_with_1() -> None:
    process = ("--sigma", "2", "--rate", "1", "--steps", "1", "--nodes", "1000", "--multiplier", "0")
    result = run_privet("audit", "heterpoisson", "--noise", "sml", "--sequential", "--canaries", "500", *process)
    assert result.returncode == 1
    assert "The claim is broken" in result.stdout


def test_canaries_are_for_audits_that_share_a_run() -> None:
    result = run_privet("audit", "private-mlp", *PROCESS)
    assert result.returncode == 2
    assert "--canaries must be given with --one-run or --sequential only" in result.stderr


def test_two_kinds_of_audit_at_once_are_refused() -> None:
    result = run_privet("audit", "heterpoisson", "--one-run", "--sequential")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "privet: --one-run and --sequential are two different audits; choose one of them.\n"


@pytest.mark.parametrize("claim", ["published", "1.5", "nonsense"])
def test_a_claim_that_canaries_do_not_test_is_refused(claim: str) -> None:
    result = run_privet("audit", "private-mlp", *PROCESS[:-2], "--claim", claim)
    assert result.returncode == 2
    assert result.stderr.startswith("privet: --claim must be own")


def test_an_audit_without_a_run_is_refused() -> None:
    result = run_privet("audit", "private-mlp", "--sequential", *PROCESS, "--runs", "0")
    assert (result.returncode, result.stderr) == (2, "privet: --runs must be at least 1, not 0.\n")
