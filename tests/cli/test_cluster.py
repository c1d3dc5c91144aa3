"""What the option --cluster refuses; tests/journeys/cli/test_cluster.py has a cluster."""

from __future__ import annotations

import pytest
from commands import run_privet


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "rgnn", "--dataset", "x", "--cluster", "local"], "inquiry, lpgnn, privge and structure can use"),
        (["run", "solitude", "--dataset", "x", "--cluster", "local"], "solitude needs the whole graph in one process"),
        (["run", "heterpoisson", "--epsilon", 1, "--dataset", "x", "--cluster", "local"], "needs the whole graph"),
        (["run", "structure", "--dataset", "x", "--cluster", "lokal"], "local:WORKERS:MEMORY"),
        (["run", "structure", "--dataset", "x", "--cluster", "tcp://127.0.0.1:8786"], "with --insecure-cluster"),
        (["predict", "model", "--out", "x", "--cluster", "tcp://127.0.0.1:8786"], "whoever reaches it runs code"),
        (["predict", "model", "--cluster", "local"], "name a new directory"),
        (["predict", "model", "--cluster", "local", "--out", "x.csv"], "name a new directory"),
        (["study", "export", "study", "--cluster", "local"], "give --partitions with --cluster"),
        (["study", "export", "study", "--public", "--partitions", 2], "public record is one file"),
    ],
)
def test_refusals_are_one_sentence(arguments: list[object], sentence: str) -> None:
    ran = run_privet(*arguments, environment={"COLUMNS": "200"})
    assert (ran.returncode, ran.stdout) == (2, "")
    assert sentence in ran.stderr
    assert ran.stderr.count("\n") == 1
