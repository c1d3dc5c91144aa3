"""Errors name what the user typed. The commands fail before they compute anything."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from commands import run_privet

from privet.cli import app as cli
from privet.cli.errors import as_option
from privet.data import save, social_graph
from privet.errors import InvalidData, InvalidParameter, UnknownParameter

PROCESS = "--rate 0.1 --steps 10 --nodes 100"

app = typer.Typer()


@app.command()
def measure(system: str, num_nodes: int = 1, one_run: bool = False, two_sided: bool = False) -> None: ...


@app.command()
def other() -> None: ...


def told(error: InvalidParameter, typed: str = "measure lpgnn") -> str:
    return as_option(error, app, typed.split())


SENTENCES = {
    f"account heterpoisson --sigma -1 {PROCESS}": "--sigma must be a finite number of at least 0, not -1.0.",
    "account heterpoisson": "Give --rate.",
    f"account heterpoisson --sigma 1 --target-epsilon 1 {PROCESS}": (
        "heterpoisson needs only one of --noise-multiplier and --target-epsilon."
    ),
    "account adjacency-response --nodes=0": "--nodes must be an integer from 2 to 2147483647, not 0.",
    "account adjacency-response --num-nodes 0": "--num-nodes must be an integer from 2 to 2147483647, not 0.",
    "account sampled-response --categories 1,2": "--categories must be an integer from 2 to 1048576, not 1.",
    "account multi-bit --set epsilon=-3": "--set epsilon must be a finite number above 0, not -3.",
    "account multi-bit --rate 1": "multi-bit takes no --rate; it has epsilon, dimension, low, high, sample.",
    "account hds --one-sided": "hds takes no --one-sided; it has epsilon, dimension, low, high, sample, steps.",
    "account inquiry --epsilon-features 1 --panel 0.1 --pilot 0.1": (
        "A scorer has one source. Give panel or pilot, not both."
    ),
    "audit private-mlp --seed -1 --runs 100": "--seed must be an integer of at least 0, not -1.",
    "run heterpoisson --dataset x --epsilon -1": "--epsilon must be finite and above 0, not -1.0.",
    "run heterpoisson --dataset x --epsilon 1 --set noise_multiplier=2": (
        "Give exactly one of --epsilon, 'noise_multiplier', 'claimed_epsilon', not --epsilon and 'noise_multiplier'."
    ),
    "run lpgnn --dataset x --set dropout=3": "--set dropout must be at least 0 and below 1, not 3.",
    "table lpgnn-3 --quick --only x": ("--only must be among cora; citeseer; pubmed; facebook; github; lastfm, not x."),
    "predict model --nodes x": "--nodes must be node numbers, such as 1,2,3, not x.",
}


@pytest.mark.parametrize(("typed", "sentence"), SENTENCES.items(), ids=SENTENCES)
def test_an_error_names_the_option_that_was_typed(typed: str, sentence: str) -> None:
    result = run_privet(*typed.split())
    assert (result.returncode, result.stderr) == (2, f"privet: {sentence}\n")


def test_a_cluster_that_cannot_be_read_is_told_as_the_option() -> None:
    result = run_privet("run", "lpgnn", "--dataset", "x", "--cluster", "local:0")
    assert result.returncode == 2
    assert result.stderr.startswith("privet: --cluster must be local, local:WORKERS, ")


def test_an_argument_is_named_as_the_help_names_it() -> None:
    result = run_privet("run", "nothing", "--dataset", "x")
    assert result.stderr.startswith("privet: SYSTEM must be one of inquiry, ")


def test_parameters_without_an_option_keep_their_names() -> None:
    error = InvalidParameter("momentum", "below 1", 3)
    assert told(error) == str(error)
    assert told(InvalidParameter("num_nodes", "above 0", 0), "other") == ("num_nodes must be above 0, not 0.")


def test_parameters_in_quotes_become_options_if_the_command_has_them() -> None:
    assert told(InvalidParameter("Give 'one_run', num_nodes or 'colour'.")) == "Give --one-run, num_nodes or 'colour'."


def test_an_answer_in_quotes_is_no_option() -> None:
    error = InvalidData("Answer 1, 'Do you nap?', must be one of 'no', 'yes'.")
    assert as_option(error, cli, ["participate", "LINK", "--yes"]) == str(error)


def test_the_degree_and_the_directory_of_datasets_are_named_as_typed() -> None:
    found = run_privet("account", "lpgnn", "--degree", "-3")
    assert found.stderr == "privet: --degree must be a number above 0, not -3.0.\n"
    error = InvalidParameter("Name its directory with 'root'.")
    assert as_option(error, cli, ["run", "lpgnn"]) == "Name its directory with --data."


@pytest.mark.parametrize("group", [(), ("study",)])
def test_a_group_alone_shows_its_help_line_by_line(group: tuple[str, ...]) -> None:
    result = run_privet(*group)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ")
    assert "\nCommands:\n" in result.stderr


def test_a_flag_has_no_value_to_quote() -> None:
    error = InvalidParameter("one_run", "left out", True)
    assert told(error, "measure lpgnn --one-run --num-nodes 5") == "--one-run must be left out, not True."


def test_an_unknown_parameter_is_told_with_those_that_there_are() -> None:
    error = UnknownParameter("colour", "lpgnn", ["num_nodes", "hops"])
    assert told(error) == str(error)  # without an option nobody typed it
    error = UnknownParameter("one_run", "lpgnn", ["num_nodes", "hops"])
    assert told(error) == "lpgnn takes no --one-run; it has num_nodes, hops."


def test_rgnn_names_what_makes_categories(tmp_path: Path) -> None:
    save(social_graph(40, classes=2, features=4, seed=0), tmp_path / "village.npz")
    found = run_privet("run", "rgnn", "--dataset", str(tmp_path / "village.npz"), "--seeds", "1")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.rstrip().endswith("columns into two categories each with --group-columns, one column a group.")
