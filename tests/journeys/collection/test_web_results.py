"""What people answered, in real Chromium: the operator's page and the published one, on a desktop and a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from answered_studies import COMMUTING, answered
from patience import wait_until
from web_visits import CHROMIUM, Visit

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def commuting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StudyFolder, str]]:
    """A study that publishes its results, answered by 300 of 400 people."""
    folder = answered(tmp_path_factory.mktemp("commuting"), declaration=f"publish_results = true\n{COMMUTING}")
    with live_collector(folder) as address:
        yield folder, address.replace("127.0.0.1", "localhost")


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_operator_chooses_groups(
    commuting: tuple[StudyFolder, str],
    visitor: Callable[..., Visit],
    picture: Callable[..., None],
    width: int,
    scheme: str,
) -> None:
    folder, address = commuting
    page = visitor(width, scheme).open(f"{address}/operator")
    page.get_by_label("Operator's key").fill(folder.keys.operator[0])
    page.get_by_role("button", name="Open").click()
    page.get_by_text("All figures are about people like the 300 who answered.").wait_for()
    assert page.get_by_role("table", name="Do you own a bicycle?").get_by_role("row", name="yes").is_visible()
    page.get_by_label("Tell it for").select_option("Where do you live?")
    page.get_by_role("heading", name="By group: Where do you live?").wait_for()
    driving = page.get_by_role("region", name="How do you get to work?").get_by_role("row", name="village")
    assert driving.get_by_role("cell").count() == 3
    assert fits(page)
    picture(page, f"results-operator-{width}-{scheme}")


def test_everybody_sees_them_in_german_once_the_study_has_closed(
    commuting: tuple[StudyFolder, str], visitor: Callable[..., Visit], picture: Callable[..., None]
) -> None:
    folder, address = commuting
    link = f"{address}/#study={folder.study.id}&token={folder.tokens.issue(5)}&lang=de"
    page = visitor(390).open(link)
    page.get_by_text("Kosten im Einzelnen").click()
    page.get_by_text("Wenn die Studie zu Ende ist, sehen es hier alle, als Schätzungen.").wait_for()
    with folder.newest() as store:
        store.close()
    wait_until(lambda: page.request.get(f"{address}/results").status == 200)
    for width, scheme in ((390, "light"), (1280, "dark")):
        seen = visitor(width, scheme, locale="de-DE").open(f"{address}/results")
        seen.get_by_role("heading", name="Was die Leute geantwortet haben").wait_for()
        assert fits(seen)
        picture(seen, f"results-published-{width}-{scheme}")
