from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.mechanisms import MECHANISMS, RandomizedResponse
from privet.privacy import Guarantee, Unit
from privet.privacy.ledger import LedgerLine
from privet.privacy.prose import UNIT_WORDS, as_markdown, as_text
from privet.privacy.rounding import at_most
from privet.privacy.statement import statement

LEDGER = [LedgerLine("label", "label", "randomized-response", 1.0, how=RandomizedResponse.words).to_dict()]


def document(**changes: Any) -> dict[str, Any]:
    guarantee = Guarantee.local(Unit.LABEL, 1.0, unprotected=("the edges, which are public",)).to_dict()
    result = {"system": "lpgnn", "dataset": "my_data", "version": "1", "mechanisms": ["randomized-response"]}
    return statement({**result, "guarantee": guarantee, "ledger": LEDGER, **changes})


@pytest.mark.parametrize("width", [40, 80])
def test_lines_fit_and_end_in_full_sentences(width: int) -> None:
    text = as_text(document(), width)
    assert max(map(len, text.splitlines())) <= width
    blocks = text.rstrip().split("\n\n")[1:]
    assert all(block.endswith(".") for block in blocks)


def test_it_says_what_holds_what_does_not_and_that_it_is_a_simulation() -> None:
    text = " ".join(as_text(document()).split())
    assert "multiply their odds about the label by at most 2.72" in text
    assert "- The edges, which are public." in text
    assert "It describes a simulation" in text
    assert "the true class is answered with some probability" in text
    assert "- Label: an epsilon of 1 for each label is spent by randomized-response" in text
    assert "publication" not in text
    real = " ".join(as_text(document(collection="real")).split())
    assert "a collection from devices that took place" in real
    assert "simulation" not in real


def test_parts_that_do_not_simply_add_are_explained() -> None:
    def told(epsilon: float, *lines: LedgerLine, model: Literal["local", "hybrid", "two servers"] = "local") -> str:
        guarantee = replace(Guarantee.local(Unit.LABEL, epsilon), model=model).to_dict()
        return " ".join(as_text(document(guarantee=guarantee, ledger=[line.to_dict() for line in lines])).split())

    one, two = (LedgerLine(part, "label", "randomized-response", 1.0) for part in ("one", "two"))
    sums = LedgerLine("class sums (central)", "label", "gaussian", 1.0, 1e-5)
    assert "alternatives" in told(1.0, one, two)
    assert "alternatives" not in told(2.0, one, two)
    assert "about labelled people only" in told(3.0, one, two, sums, model="hybrid")
    assert "Labelled people also trust the aggregator" in told(3.0, one, two, sums, model="hybrid")
    assert "alternatives" not in told(3.0, one, two, sums, model="hybrid")
    by_two = told(3.0, one, two, sums, model="two servers")
    assert "about those whose numbers are in the sum" in by_two
    assert "at least one of the two servers does not work together with the other" in by_two
    assert "A share is a random number." in by_two
    assert "no budget is spent" in told(0.0)


def test_a_published_figure_is_compared() -> None:
    def with_claim(claim: float) -> str:
        guarantee = Guarantee.local(Unit.FEATURES, 2.0, published_epsilon=claim)
        return " ".join(as_text(document(guarantee=guarantee.to_dict())).split())

    assert "states an epsilon of 1.5 for the same settings. That claim is stronger than what holds" in with_claim(1.5)
    assert "What holds is stronger" in with_claim(3.0)


def test_markdown_has_headings_and_shows_names_as_they_are() -> None:
    text = as_markdown(document())
    assert text.startswith("# Privacy statement: lpgnn on my\\_data\n")
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == 5


def test_every_mechanism_and_unit_is_explained() -> None:
    assert all(mechanism.words for mechanism in MECHANISMS.values())
    assert set(Unit) == set(UNIT_WORDS)


@thorough
@given(st.floats(1e-12, 1e6))
def test_figures_are_never_understated(figure: float) -> None:
    assert figure * (1 - 1e-15) <= float(at_most(figure)) <= figure * 1.002
