from __future__ import annotations

import json
import subprocess
import sys

import pytest
from commands import run_privet
from patience import PATIENCE


def test_heterpoisson_in_the_paper_s_units() -> None:
    result = run_privet(
        *("account", "heterpoisson", "--sigma", "4", "--rate", "0.2", "--multiplier", "0", "--steps", "20"),
        *("--delta", "1e-5", "--nodes", "500", "--json"),
    )
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert {"epsilon", "k_revealed_epsilon", "published_epsilon", "worst_out_degree"} <= set(document)
    assert (document["sigma"], document["delta"]) == (4.0, 1e-5)


@pytest.mark.parametrize("name", ["ndp", "gap"])
def test_bounded_degrees_are_an_option(name: str) -> None:
    process = ("--rate", "0.2", "--steps", "3", "--nodes", "500", "--max-degree", "2", "--sigma", "9")
    result = run_privet("account", name, *process, "--json")
    assert json.loads(result.stdout)["process"]["max_degree"] == 2


def test_any_parameter_can_be_set_by_its_name() -> None:
    result = run_privet("account", "sampled-response", "--set", "categories=2,3,4", "--set", "sample=1", "--json")
    assert json.loads(result.stdout)["parameters"]["categories"] == [2, 3, 4]


def test_an_impossible_target_is_one_sentence() -> None:
    """This used to end in a traceback after half a minute."""
    process = ("--rate", "0.01", "--steps", "1", "--nodes", "50", "--delta", "0.0135")
    result = run_privet("account", "private-mlp", "--target-epsilon", "1", *process)
    assert result.returncode == 2
    assert "Choose a smaller delta" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_mechanism_s_account_does_not_load_torch() -> None:
    code = (
        "import sys; sys.argv = ['privet', 'account', 'multi-bit']\n"
        "import privet.cli\n"
        "try:\n    privet.cli.main()\nexcept SystemExit:\n    pass\n"
        "sys.exit('loaded torch' if 'torch' in sys.modules else 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stderr
