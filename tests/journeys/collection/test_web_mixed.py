"""A mixed questionnaire in real Chromium: several choices, open answers, a question that depends on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from web_visits import CHROMIUM, Visit

from privet.collection import StudyFile, StudyFolder, make_study
from privet.collection.operator.rehearsal import live_collector
from privet.collection.study.study_file import template

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StudyFolder, str]]:
    place = tmp_path_factory.mktemp("workplace")
    (place / "workplace.toml").write_text(template("workplace"))
    file = StudyFile.read(place / "workplace.toml", {"people.nodes": 20, "mechanism.sample": 5})
    folder = make_study(file, place / "study")
    with live_collector(folder) as address:
        yield folder, address.replace("127.0.0.1", "localhost")


def test_it_is_answered_whole(
    workplace: tuple[StudyFolder, str], visitor: Callable[..., Visit], picture: Callable[[Any, str], None]
) -> None:
    folder, address = workplace
    page = visitor(390).open(f"{address}/#token={folder.tokens.issue(7)}&study={folder.study.id}")
    days = page.get_by_label("How many days a week?")
    page.get_by_label("How is your work load?").select_option("right")
    assert days.is_hidden()
    page.get_by_label("Do you work at home on some days?").select_option("yes")
    assert days.is_visible()
    days.fill("9")
    page.get_by_label("better pay").check()
    page.get_by_label("training").check()
    page.get_by_label("Have you been treated unfairly in the last year?").select_option("Prefer not to say")
    page.get_by_role("radio", name="no").check()
    picture(page, "mixed-answer-390-light")
    page.get_by_role("button", name="Continue").click()
    shown = page.locator("#comparison")
    shown.wait_for()
    told = shown.inner_text()
    assert "better pay, training" in told
    assert "Prefer not to say" in told
    # 9 counts as the nearest end, and is never taken for another answer.
    assert shown.get_by_role("row", name="How many days a week? 5").is_visible()
    picture(page, "mixed-check-390-light")
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    sent = page.locator("#sent-values").inner_text()
    assert "chosen" in sent
    with folder.store() as store:
        assert store.count() == 1
        assert store.answers()["features"].reports.symbols.shape == (1, 5)


def test_a_question_that_does_not_apply_is_not_asked_for(
    workplace: tuple[StudyFolder, str], visitor: Callable[..., Visit]
) -> None:
    folder, address = workplace
    page = visitor(1280).open(f"{address}/#token={folder.tokens.issue(8)}&study={folder.study.id}")
    page.get_by_label("How is your work load?").select_option("Prefer not to say")
    page.get_by_label("Do you work at home on some days?").select_option("no")
    page.get_by_label("Have you been treated unfairly in the last year?").select_option("no")
    page.get_by_role("radio", name="no").check()
    page.get_by_role("button", name="Continue").click()
    page.locator("#comparison").wait_for()
    told = page.locator("#comparison").inner_text()
    assert "Does not apply" in told
    assert "None of them" in told
