"""The command line as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import run_privet


def test_a_broken_claim_exits_with_1_and_shows_both_figures() -> None:
    result = run_privet("audit", "sampled-response", "--claim", "published", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)
    assert found["claimed_epsilon"] == pytest.approx(1.434, abs=1e-3)
    assert found["enumerated_epsilon"] == pytest.approx(2.0)
    assert found["holds"] is False


def test_a_true_claim_exits_with_0() -> None:
    result = run_privet("audit", "multi-bit", "--epsilon", "2.5", "--dimension", "3")
    assert result.returncode == 0
    assert "The claim holds." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("account multibit", "NAME must be one of adjacency-response, "),
        ("account multi-bit --epsilon 0", "--epsilon must be a finite number above 0, not 0."),
        ("account multi-bit --epsilon nan", "--epsilon must be a finite number above 0, not nan."),
        ("account multi-bit --classes 3", "multi-bit takes no --classes; it has epsilon, dimension, "),
        ("account multi-bit --low 2 --high 1", "--low and --high must be finite with low < high, not "),
        ("audit multi-bit --claim published", "--claim must be 'own' or a number for this mechanism, not published."),
        ("audit multi-bit --dimension 5000 --sample 40", "An audit needs a MultiBit small enough to list its reports"),
    ],
)
def test_bad_input_is_one_line_in_the_words_of_the_command_line_and_exit_code_2(arguments: str, told: str) -> None:
    result = run_privet(*arguments.split())
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"privet: {told}")
    assert result.stderr.endswith(".\n")
    assert result.stderr.count("\n") == 1


def test_account_prints_json() -> None:
    result = run_privet("account", "randomized-response", "--classes", "7", "--epsilon", "1.5", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["guarantee"]["unit"] == "label"


@pytest.mark.parametrize(
    "arguments", [("audit", "multi-bit", "--epsilon", "abc"), ("nothing",), ("demo", "--nodes", "5"), ("audit",)]
)
def test_what_the_parser_refuses_is_one_line_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    result = run_privet(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith("privet: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("account", "randomized-response", "--classes", "1000000"),
        ("audit", "randomized-response", "--classes", "700"),
        ("audit", "adjacency-response", "--num-nodes", "12"),
        ("audit", "multi-bit", "--dimension", "12"),
    ],
)
def test_large_parameters_are_answered(arguments: tuple[str, ...]) -> None:
    assert run_privet(*arguments).returncode == 0


@pytest.mark.parametrize(
    "arguments", [("audit", "laplace", "--epsilon", "0.00001"), ("audit", "hds", "--steps", "999", "--sample", "2")]
)
def test_audits_without_end_are_refused(arguments: tuple[str, ...]) -> None:
    result = run_privet(*arguments)
    assert result.returncode == 2
    assert "small enough to" in result.stderr


def test_ctrl_c_ends_in_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "privet.cli", "demo", "--nodes", "20000"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, cwd=tmp_path) as process:
        assert process.stdout.readline().startswith("People, their friends")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert errors == "privet: stopped by Ctrl-C; nothing was left half-written.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_not_a_broken_claim() -> None:
    command = f"{sys.executable} -m privet.cli audit multi-bit | true; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode in (0, 141)
    assert "Traceback" not in result.stderr


def test_help_and_version() -> None:
    import privet as package

    assert run_privet("--version").stdout == f"privet {package.__version__}\n"
    shown = run_privet("audit", "--help").stdout
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
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr


def test_a_device_does_not_load_torch() -> None:
    code = (
        "import sys, privet.mechanisms, privet.privacy, privet.data\n"
        "heavy = {'torch', 'torch_geometric', 'pandas', 'pyarrow', 'dp_accounting'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr


def test_every_option_says_its_default() -> None:
    import typer

    from privet.cli import app

    silent = []

    def look(command: Any, path: str) -> None:
        for name, below in getattr(command, "commands", {}).items():
            look(below, f"{path} {name}")
        for option in command.params:
            if option.param_type_name != "option" or option.name in (
                "install_completion",
                "show_completion",
                "version",
            ):
                continue
            told = option.required or "default" in (option.help or "").lower()
            shown = option.show_default and option.default is not None and option.default is not False
            if not (told or shown):
                silent.append(f"{path} {option.opts[0]}")

    look(typer.main.get_command(app), "privet")
    assert silent == []
