"""Leaderboards: who takes part at which budget, what cannot, what is kept, and a page that sorts."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.app import BadOption
from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate
from privet.evaluation.leaderboard import BESIDE, Contender, Leaderboard, contenders, measure_leaderboard
from privet.reporting.leaderboard import leaderboard_page
from privet.systems import LPGNN


@pytest.fixture(scope="module")
def village() -> Graph:
    graph = social_graph(120, classes=2, average_degree=8, homophily=0.9, features=6, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.fixture(scope="module")
def board(village: Graph, tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    quick = Contender("quick", "lpgnn", {"epsilon_features": 1.0}, {"hops": 1, "max_epochs": 2})
    rgnn = Contender("rgnn", "rgnn", {"epsilon_features": 1.0})
    store = Store(tmp_path_factory.mktemp("kept"))
    return measure_leaderboard({"village": village}, [quick, rgnn], [1.0, 2.0], seeds=3, store=store)


def test_everybody_gets_the_same_true_epsilon(village: Graph) -> None:
    """A way to take part states shares of budgets that add up to the epsilon of its unit, and no more."""
    for contender in contenders():
        if contender.system == "rgnn":  # it needs categories, which the village does not have
            continue
        promise = contender.built("village", 4.0).guarantee(village)
        assert promise.epsilon == pytest.approx(4.0, rel=0.02), contender
    units = {str(each.built("village", 2.0).guarantee(village).unit) for each in contenders(["inquiry"])}
    assert units == {"feature vector", "relationship", "person"}


def test_structure_stands_beside_and_takes_no_part() -> None:
    assert "structure" not in {each.system for each in contenders()}
    assert contenders(["lpgnn"]) == (Contender("lpgnn", "lpgnn", {"epsilon_features": 1.0}),)


def test_it_measures_what_can_take_part_and_says_why_others_cannot(board: Leaderboard) -> None:
    assert [(each.label, each.epsilon) for each in board.measured] == [("quick", 1.0), ("quick", 2.0)]
    assert all(set(each.result.controls) == set(BESIDE) for each in board.measured)
    refused = [each for each in board.entries if each.result is None]
    assert {each.label for each in refused} == {"rgnn"}
    assert all("categorical features" in each.refusal for each in refused)


def test_it_is_kept_and_read_again(board: Leaderboard, tmp_path: Path) -> None:
    board.save(tmp_path / "board.json")
    again = Leaderboard.load(tmp_path / "board.json")
    assert again.to_dict() == board.to_dict()
    assert len(again.rows()) == 2 * (1 + len(BESIDE)) + 2
    with pytest.raises(InvalidData, match="cannot be read"):
        Leaderboard.from_dict({"leaderboard": [{}], "version": "0"})


def test_results_of_others_are_added(board: Leaderboard, village: Graph) -> None:
    result = evaluate(LPGNN(hops=1, max_epochs=1), village, seeds=1, controls=False, dataset="village")
    added = board.added([result])
    assert added.entries[-1].label == "lpgnn"
    assert added.entries[-1].epsilon == 1.0


def test_an_epsilon_that_is_not_the_true_one_is_not_measured(village: Graph) -> None:
    """A label's budget comes on top of the features', and the page's column is headed "True epsilon"."""
    greedy = Contender("greedy", "lpgnn", {"epsilon_features": 1.0}, {"epsilon_labels": 1.0})
    (entry,) = measure_leaderboard({"village": village}, [greedy], [0.5], seeds=1).entries
    assert entry.result is None
    assert "its true epsilon is 1.5. State what part of 0.5" in entry.refusal


def test_nothing_to_measure_is_refused(village: Graph) -> None:
    with pytest.raises(InvalidParameter, match="epsilons above 0"):
        measure_leaderboard({"village": village}, contenders(["lpgnn"]), [0.0])


def test_the_page_sorts_and_says_what_the_seeds_allow(board: Leaderboard) -> None:
    page = leaderboard_page(board)
    assert page == leaderboard_page(board)
    assert "Protected: feature vector" in page
    assert page.count('<tr><th scope="row" data-value="quick">') == 2
    assert any(word in page for word in ("hurts", "helps", "buys nothing", "unclear"))
    assert "RGNN needs categorical features" in page
    script = page[page.index("<script>") + len("<script>") : page.index("</script>")]
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in page
    with pytest.raises(InvalidParameter, match="No contender could be measured"):
        leaderboard_page(Leaderboard(tuple(each for each in board.entries if each.result is None)))


def test_the_command_writes_page_data_and_tables(board: Leaderboard, tmp_path: Path) -> None:
    board.save(tmp_path / "before.json")
    files = {"--out": "board.html", "--csv": "board.csv", "--parquet": "board.parquet"}
    options = [text for option, name in files.items() for text in (option, str(tmp_path / name))]
    done = CliRunner().invoke(app, ["leaderboard", "--from", str(tmp_path / "before.json"), *options])
    assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.iterdir()} == {"before.json", "board.json", *files.values()}
    assert "dataset,contender,unit" in (tmp_path / "board.csv").read_text()


def test_bad_epsilons_are_refused_before_anything_is_loaded() -> None:
    with pytest.raises(BadOption, match="--epsilons takes numbers above 0"):
        CliRunner().invoke(app, ["leaderboard", "--epsilons", "1,x"], catch_exceptions=False, standalone_mode=False)
