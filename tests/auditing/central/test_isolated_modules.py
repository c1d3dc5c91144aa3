"""No module moves a clipped sum by more than one clip: each is isolated, or refused, as the documentation says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from adversarial_modules import MODULES
from few_tries import few_tries  # noqa: F401 (a fixture)
from moved import outcome, people

from privet.data import Graph

pytestmark = pytest.mark.usefixtures("few_tries")

PAGE = Path(__file__).parents[3] / "docs" / "results" / "private-trainer.md"
ROW = re.compile(
    r"^\| (?P<name>[^|]+) \| (?P<before>[^|]+) \| (?P<how>vmap|one by one|refused|stopped) \| (?P<now>[^|]*) \|$"
)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return people()


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[str, str]]:
    """How the page says that each module ends, and by how many clips one person moves a sum."""
    found = [ROW.match(line) for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return {each["name"].replace("`", ""): (each["how"], each["now"]) for each in found if each}


def test_the_page_has_all_of_them(told: dict[str, tuple[str, str]]) -> None:
    assert list(told) == list(MODULES)
    assert len(told) >= 30


@pytest.mark.filterwarnings("ignore")  # what a module's own code warns of
@pytest.mark.parametrize("name", MODULES)
def test_one_person_moves_a_sum_by_one_clip_at_most(name: str, graph: Graph, told: dict[str, tuple[str, str]]) -> None:
    how, clips = outcome(MODULES[name], graph)
    assert told[name] == (re.split(" over|:", how)[0], "" if clips is None else f"{clips:.2f}")
    assert clips is None or clips <= 1.0
