from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from privet.cli.app import BadOption
from privet.cli.measuring import field_name, load_dataset, settings_of
from privet.cli.options import numbers_of, parse_settings
from privet.data import social_graph
from privet.errors import InvalidData
from privet.systems import LPGNN, HeterPoisson, Inquiry, PrivGE, Solitude


def test_options_are_the_systems_fields() -> None:
    assert field_name(LPGNN, "hops") == "hops"
    assert field_name(Solitude, "hops") == "feature_hops"
    assert field_name(HeterPoisson, "epsilon") == "target_epsilon"
    with pytest.raises(BadOption, match="takes --epsilon-features, --epsilon-labels, not --epsilon"):
        field_name(LPGNN, "epsilon")
    with pytest.raises(BadOption, match="privge has no setting hops"):
        field_name(PrivGE, "hops")


def test_nothing_is_given_twice() -> None:
    assert settings_of(LPGNN, {"hops": 2}, ["dropout=0.5"]) == {"hops": 2, "dropout": 0.5}
    for kind, options, other in (
        (LPGNN, {"hops": 2}, ["hops=3"]),
        (HeterPoisson, {"epsilon": 2.0}, ["target_epsilon=3"]),
    ):
        with pytest.raises(BadOption, match="given twice"):
            settings_of(kind, options, other)


@pytest.mark.parametrize("pair", ["hops", "=3", "a b=3", "hops="])
def test_settings_are_pairs(pair: str) -> None:
    with pytest.raises(BadOption, match="NAME=VALUE"):
        parse_settings([pair])


def test_a_scorer_is_read_from_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "scorer.npy", np.eye(3))
    (tmp_path / "words.npy").write_text("words")
    found = settings_of(Inquiry, {"scorer": tmp_path / "scorer.npy"}, None)
    assert (found["scorer"] == np.eye(3)).all()
    for name, words in (("words.npy", "cannot be read as a .npy file"), ("none.npy", "There is no file")):
        with pytest.raises(BadOption, match=words):
            settings_of(Inquiry, {"scorer": tmp_path / name}, None)


def test_numbers_are_read_once_and_in_order() -> None:
    assert numbers_of("4,0.5,4", "--epsilon", "1,2") == (0.5, 4.0)
    assert numbers_of("0.1,0.01,0.1", "--share", "0.1", below=1) == (0.01, 0.1)


@pytest.mark.parametrize("wrong", ["", "0", "-1", "1,x", "nan", "inf", "0.5,"])
def test_what_is_no_list_of_numbers_above_zero_is_refused(wrong: str) -> None:
    with pytest.raises(BadOption, match=r"--epsilon takes numbers above 0, comma separated, such as 1,2, not"):
        numbers_of(wrong, "--epsilon", "1,2")


@pytest.mark.parametrize("wrong", ["1", "0.1,1", "0", "2"])
def test_shares_are_below_one(wrong: str) -> None:
    with pytest.raises(BadOption, match=r"--share takes numbers between 0 and 1, comma separated"):
        numbers_of(wrong, "--share", "0.1", below=1)


def test_a_pyg_graph_without_ranges_gets_a_line_that_writes_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = social_graph(30, classes=2, features=5, seed=0).replace(schema=None)
    monkeypatch.setattr("privet.data.datasets.load_pyg", lambda name, root: bare)
    with pytest.raises(InvalidData) as caught:
        load_dataset("pyg:LastFMAsia", None, "lpgnn", None)
    line = "save(load_pyg('LastFMAsia', '.', schema=Schema.numeric(5, low=0, high=1, classes=2)), 'LastFMAsia.npz')\""
    assert line in str(caught.value)
    assert str(caught.value).endswith("Ranges should be public facts, which nobody has to look into the data for.")
