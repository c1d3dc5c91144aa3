"""The command line as a user runs it: in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def privet(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "privet.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_broken_claim_exits_with_1_and_shows_both_figures() -> None:
    result = privet("audit", "sampled-response", "--claim", "published", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)
    assert found["claimed_epsilon"] == pytest.approx(1.434, abs=1e-3)
    assert found["enumerated_epsilon"] == pytest.approx(2.0)
    assert found["holds"] is False


def test_a_true_claim_exits_with_0() -> None:
    result = privet("audit", "multi-bit", "--epsilon", "2.5", "--dimension", "3")
    assert result.returncode == 0
    assert "The claim holds." in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("account", "multibit"),
        ("account", "multi-bit", "--epsilon", "0"),
        ("account", "multi-bit", "--epsilon", "nan"),
        ("account", "multi-bit", "--classes", "3"),
        ("account", "multi-bit", "--low", "2", "--high", "1"),
        ("audit", "multi-bit", "--claim", "published"),
        ("audit", "multi-bit", "--dimension", "5000", "--sample", "40"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    result = privet(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("privet: The ")
    assert result.stderr.endswith("instead.\n")
    assert result.stderr.count("\n") == 1


def test_account_prints_json() -> None:
    result = privet("account", "randomized-response", "--classes", "7", "--epsilon", "1.5", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["guarantee"]["unit"] == "label"


def test_help_and_version() -> None:
    import privet as package

    assert privet("--version").stdout == f"privet {package.__version__}\n"
    shown = privet("audit", "--help").stdout
    for option in ("--epsilon", "--one-sided", "--claim", "--json", "--categories"):
        assert option in shown


def test_help_does_not_load_heavy_libraries() -> None:
    code = (
        "import sys; sys.argv = ['privet', '--help']\n"
        "import privet.cli\n"
        "try:\n    privet.cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'numpy', 'scipy', 'matplotlib', 'pyarrow', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


def test_a_device_does_not_load_torch() -> None:
    code = (
        "import sys, privet.mechanisms, privet.privacy, privet.data\n"
        "heavy = {'torch', 'torch_geometric', 'pandas', 'pyarrow', 'dp_accounting'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
