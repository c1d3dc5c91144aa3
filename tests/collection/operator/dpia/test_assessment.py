"""The impact assessment: figures of the manifest, and open questions that nobody answered for the controller."""

import re

import pytest
from simulated_studies import make_study, two_rounds

from privet.collection.operator.dpia.assessment import impact_assessment
from privet.collection.operator.dpia.risks import largest_epsilon, posterior
from privet.collection.study.chain import Chain
from privet.data import Schema

LISTS = Schema.numeric(2, low=0.0, high=1.0, classes=3, private_edges=True)


def cells(text, beginning):
    """The cells of the first table row that begins so."""
    row = next(line for line in text.splitlines() if line.startswith(f"| {beginning}"))
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(("prior", "epsilon"), [(0.01, 0.1), (0.01, 1.0), (0.1, 2.0), (0.5, 4.0), (0.5, 10.0)])
def test_a_suspicion_is_never_understated(prior, epsilon):
    odds = prior / (1 - prior) * 2.718281828459045**epsilon
    told, exact = float(posterior(prior, epsilon).removesuffix(" %")), 100 * odds / (1 + odds)
    assert exact <= told <= 1.01 * exact


def test_risks_stand_per_unit_and_for_all_together():
    text = impact_assessment(Chain((make_study(schema=LISTS, neighbours={"epsilon": 1.0}),)))
    assert cells(text, "feature vector")[1:] == ["1", "0", "2.72", "2.68 %", "23.2 %", "73.2 %"]
    assert cells(text, "label")[1] == "1"
    assert cells(text, "relationship")[1:5] == ["2", "0", "7.39", "6.95 %"]
    assert cells(text, "all of them together")[1:5] == ["4", "0", "54.6", "35.6 %"]
    assert "A relationship is counted at both its ends" in text
    assert "costs more than 4" not in text
    assert "The limits hold without exception" in text


def test_a_unit_s_risk_counts_every_answer_that_is_about_it():
    """Answers to a narrow question are also about whatever is wider, and of single friends nothing bounds how many."""
    tables = dict.fromkeys(("scorer", "table", "mixing", "shares"), f"sha256:{'0' * 64}")
    offered = {"mechanism": "offered-response", "epsilon": 1.0, "offers": f"tree:{'0' * 64}", **tables}
    features = {"ask": "features", "mechanism": "multi-bit", "epsilon": 0.5}
    friends = {"ask": "friends", "mechanism": "counts", "epsilon": 0.25}
    friends |= dict.fromkeys(("table", "ranks"), tables["table"])
    whole, text = (
        impact_assessment(Chain((make_study(schema=LISTS, release=[{"ask": "person", **offered}, features, *more]),)))
        for more in ((), (friends,))
    )
    assert cells(whole, "person")[1] == cells(whole, "feature vector")[1] == "1.5"
    assert cells(text, "person")[1:] == ["no limit"] * 3 + ["100 %"] * 3
    assert cells(text, "feature vector")[1] == "1.5"
    assert cells(text, "relationship")[1] == "2.5"
    assert cells(text, "all of them together")[1] == "2"


def test_what_the_manifest_says_is_there_and_cannot_forge_the_text():
    study = make_study(title="Sleep | **OPEN** $purpose", purpose="To [know](x) more.", closes="2026-01-31T12:00:00Z")
    text = impact_assessment(Chain((study,)))
    assert r"Sleep \| \*\*OPEN\*\* $purpose" in text
    assert r"To \[know\](x) more." in text
    assert study.id in text
    for sentence in study.guarantee().unprotected:
        assert sentence in text
    assert "who is linked with whom, which the operator knows" in text
    assert not re.search(r"\$[a-z]", text.replace("$purpose", ""))


def test_what_is_not_known_is_left_open_and_counted():
    kept = impact_assessment(Chain((make_study(delete_after=None),)))
    promised = impact_assessment(Chain((make_study(delete_after=30, closes="2026-01-31T12:00:00Z"),)))
    for text in (kept, promised):
        (said,) = re.findall(r"(\d+) such places are left", text)
        assert int(said) == text.count("**OPEN") - 1
    assert "The manifest promises no deletion. **OPEN:**" in kept
    assert "30 days after closing, on 2026-03-02" in promised
    for question in ("Legal basis (Article 6)", "special categories", "proxy with TLS", "supervisory authority"):
        assert re.search(rf"\*\*OPEN:\*\*[^\n]*{re.escape(question)}|{re.escape(question)}", promised)


def test_weak_promises_are_called_so():
    study = make_study(
        features={"mechanism": "analytic-gaussian", "epsilon": 5.0, "delta": 1e-5}, schema=Schema.numeric(2, 0.0, 1.0),
        labels=None,
    )  # fmt: skip
    text = impact_assessment(Chain((study,)))
    assert "**The study costs more than 4**" in text
    assert "Where delta is not 0 the limits are not strict" in text
    assert "apart from what delta allows" in text
    assert cells(text, "feature vector")[1:3] == ["5", "1e-05"]


def test_rounds_are_added_up_and_each_is_listed():
    first, second = two_rounds(delete_after=30, closes="2026-01-31T12:00:00Z")
    text = impact_assessment(Chain((first, second)))
    assert cells(text, "all of them together")[1] == "2"
    assert cells(text, "1 | `")[3:5] == ["label", "everybody"]
    assert second.id[:12] in text
    assert "must be made again before each further round" in text
    assert "those of round 1 on 2026-03-02, those of round 2 on 2026-03-02" in text
    assert "Nobody is asked to show answers as they are." in text


def test_a_panel_is_told_to_be_unprotected():
    text = impact_assessment(Chain((make_study(panel="sha256:" + "0" * 64),)))
    for expected in (
        "**Panel.**",
        "nothing protects it",
        "except from a panel",
        "The panel's answers are not protected",
    ):
        assert expected in text
    alone = impact_assessment(Chain((make_study(panel="sha256:" + "0" * 64, release=[]),)))
    assert cells(alone, "features and class of the panel")[1:] == ["no limit"] * 3 + ["100 %"] * 3
    assert cells(alone, "1 | the panel")[1:] == [
        "the panel: features and class as they are; nothing is randomised", "features and class of the panel",
    ]  # fmt: skip


def test_a_panel_that_shows_its_friends_is_told_with_them():
    person = {"ask": "person", "mechanism": "offered-response", "epsilon": 2.0, "most": 2, "reads": "everything"}
    study = make_study(
        schema=LISTS, panel="sha256:" + "0" * 64, release=[],
        plan={"system": "inquiry", "settings": {"epsilon_person": 2.0, "panel": 0.1}, "questions": [person]},
        inputs={"labels": "sha256:" + "2" * 64},
    )  # fmt: skip
    text = impact_assessment(Chain((study,)))
    assert cells(text, "features, class and friends of the panel")[1:] == ["no limit"] * 3 + ["100 %"] * 3
    assert cells(text, "1 | the panel")[1].startswith("the panel: features, class and friends as they are")
    assert "show their features, class and friends as they are" in text
    assert "a friend of a member is shown with it" in text
    assert "features and class of the panel" not in text


def test_rounds_to_come_are_part_of_the_figures():
    """The first round of such a study asks the panel alone, and the assessment said that nothing changes."""
    settings = {"epsilon_features": 2.0, "panel": 0.1, "seed": 0}
    resemblance = {"ask": "resemblance", "mechanism": "offered-response", "epsilon": 2.0, "most": 3}
    study = make_study(
        panel="sha256:" + "0" * 64, release=[],
        plan={"system": "inquiry", "settings": settings, "questions": [resemblance]},
        inputs={"edges": "sha256:" + "1" * 64, "labels": "sha256:" + "2" * 64},
    )  # fmt: skip
    text = impact_assessment(Chain((study,)))
    assert cells(text, "feature vector")[1:4] == ["2", "0", "7.39"]
    assert cells(text, "to come")[1].endswith("(offered-response, epsilon 2)")
    assert "a suspicion of 1 % one of 6.95 % at most" in text
    assert "also those to come (resemblance)" in text


def test_other_people_are_not_forgotten():
    lists = impact_assessment(Chain((make_study(schema=LISTS, neighbours={"epsilon": 1.0}),)))
    public = impact_assessment(Chain((make_study(),)))
    assert "an epsilon of 2 for one relationship" in cells(lists, "people named in others' lists")[2]
    assert "everybody in the public graph" not in lists
    assert "people named in others' lists" not in public
    for text in (lists, public):
        for row in ("people who do not take part", "couples, households, friends", "80 % | 298 | 4.85 | 2.72"):
            assert f"| {row}" in text
        for words in ("(Article 26)", "Are children asked", "**Models** have no date", "at most ln 11, or 2.39"):
            assert words in text
    assert "a pattern of edges is often unique" in public


@pytest.mark.parametrize(("before", "after"), [(0.01, 0.05), (0.01, 0.1), (0.1, 0.5)])
def test_the_largest_epsilon_keeps_the_limit_and_hardly_more(before, after):
    allowed = largest_epsilon(before, after)
    told = [float(posterior(before, each).removesuffix(" %")) for each in (allowed, allowed + 0.02)]
    assert told[0] <= 100 * after < told[1]


def test_it_says_what_the_collector_keeps_of_refused_reports_and_names():
    text = impact_assessment(Chain((make_study(),)))
    assert "for refused second reports how many there were and the last minute" in text
    assert "name in the list of participants" not in text
    bound = impact_assessment(Chain((make_study(directory="0" * 64),)))
    assert "the person's name in the list of participants" in bound.partition("What is not undone")[2]
