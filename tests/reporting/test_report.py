from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from privet.errors import InvalidData, InvalidParameter
from privet.evaluation import Result
from privet.privacy import Guarantee, Unit
from privet.reporting.report import _curves, build_report, read_results, write_report

STRUCTURE = {
    "short": "no info",
    "title": "structure only (reports without information)",
    "question": "the private features",
}


def figures(*values: float) -> dict[str, Any]:
    return {"mean": sum(values) / len(values), "std": 1.0, "values": list(values)}


def result(epsilon: float = 1.0, **changes: Any) -> Result:
    return Result.from_dict(document(epsilon, **changes))


def document(epsilon: float = 1.0, **changes: Any) -> dict[str, Any]:
    guarantee = Guarantee.local(
        Unit.FEATURES, epsilon, published_epsilon=0.5, unprotected=("the edges, which are public",)
    )
    return {
        "system": "lpgnn",
        "dataset": "village",
        "task": "node classification",
        "metric": "accuracy (%)",
        "settings": {"hops": 4, "epsilon_features": epsilon, "epsilon_labels": None, "self_loops": False},
        "mechanisms": ["multi-bit"],
        **figures(80.0 + epsilon, 82.0, 81.0),
        "controls": {
            "structure_only": figures(79.0, 79.5, 80.0) | STRUCTURE,
            "features_only": figures(30.0, 31.0, 32.0) | {"short": "no graph", "title": "features without the graph"},
        },
        "per_class": [
            {"class": 0, "support": 20.0, "recall": 88.8, "std": 1.0, "controls": {"structure_only": 77.7}},
            {"class": 1, "support": 0.0, "recall": None, "std": 0.0, "controls": {"structure_only": None}},
        ],
        "guarantee": guarantee.to_dict(),
        "ledger": [
            {
                "part": "features",
                "unit": "feature vector",
                "mechanism": "multi-bit",
                "epsilon": epsilon,
                "delta": 0.0,
                "how": "a few features are drawn at random",
            }
        ],
        "verdict": "The private features help: 1.5 +- 0.4 points above structure only.",
        "seconds": 12.3,
        "peak_rss_mb": 456.7,
        "version": "0.1.0",
        **changes,
    }


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def whole() -> str:
    return build_report([result(0.5), result(1.0), result(4.0)])[0]


def test_the_page_says_all_that_was_asked(whole: str) -> None:
    text = Page(whole).text
    for words in (
        "An observer of the report can multiply their odds about the feature vector by at most 2.72.",
        "The edges, which are public",
        "0.5: what the system's publication claims for the same settings. It does not hold",
        "The private features help: 1.5 ± 0.4 points",
        "structure only (reports without information)",
        "multi-bit: a few features are drawn at random",
        "The budgets of the parts add",
        "88.8",
        "77.7",
        "no nodes",
        "epsilon_labels none",
        "12.3 seconds",
        "457 MB",
        "privet 0.1.0",
        "This was a simulation",
        "Privacy against accuracy",
        "no graph is below: 31 to 31",
        "31.0, off the scale",
    ):
        assert words in text, words


def test_nothing_is_loaded_and_nothing_runs(whole: str) -> None:
    tags = Page(whole).tags
    names = Counter(name for name, _ in tags)
    assert not names.keys() & {"script", "link", "img", "iframe", "object", "base", "form"}
    policy = next(a["content"] for t, a in tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "script" not in policy
    for _, attributes in tags:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("href", "xlink:href", "src"):
            assert attributes.get(name, "#").startswith("#")
    assert "@import" not in whole
    assert not re.search(r"url\((?!#)", whole)


def test_it_is_accessible(whole: str) -> None:
    page = Page(whole)
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [a[name] for _, a in page.tags for name in ("href", "xlink:href") if name in a]
    assert {target[1:] for target in targets} <= set(ids)
    assert ("html", {"lang": "en"}) in page.tags
    counts = Counter(name for name, _ in page.tags)
    assert counts["table"] == counts["caption"] > 5
    assert counts["h1"] == 1
    pictures = [attributes for name, attributes in page.tags if name == "svg"]
    assert len(pictures) == 7
    assert all(each["role"] == "img" and each["aria-labelledby"] in ids for each in pictures)
    levels = [int(name[1]) for name, _ in page.tags if re.fullmatch("h[1-6]", name)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_same_input_gives_the_same_bytes(whole: str, tmp_path: Path) -> None:
    assert build_report([result(0.5), result(1.0), result(4.0)])[0] == whole
    (tmp_path / "r.json").write_text(json.dumps(document()))
    for name in ("one", "two"):
        write_report(read_results([tmp_path / "r.json"]), tmp_path / f"{name}.html", tmp_path / name)
    written = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert written == [f"{kind}-1-lpgnn-village.{end}" for kind in ("accuracy", "classes") for end in ("pdf", "svg")]
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in written)
    drawing = (tmp_path / "one" / "accuracy-1-lpgnn-village.svg").read_text()
    assert "<text" in drawing
    assert "var(" not in drawing


def test_names_are_shown_and_not_obeyed() -> None:
    evil = "<script>alert(1)</script> $x$ \\frac"
    page, _ = build_report([result(dataset=evil, verdict=evil, settings={evil: evil}, system=evil)])
    assert evil not in page
    assert "script" not in {name for name, _ in Page(page).tags}
    assert evil in Page(page).text


def test_older_results_without_classes_ledger_and_controls_are_shown() -> None:
    bare = document(controls={}, **figures(80.0))
    for name in ("per_class", "ledger", "verdict", "seconds", "peak_rss_mb", "version", "mechanisms"):
        del bare[name]
    text = Page(build_report([Result.from_dict(bare)])[0]).text
    assert "does not say how its budget divides" in text
    assert "No controls were measured" in text
    assert "one seed" in text
    assert "Privacy against accuracy" not in text


def test_curves_join_results_that_differ_in_epsilon_only(tmp_path: Path) -> None:
    other = document(2.0, settings={"hops": 16, "epsilon_features": 2.0})
    points = {
        "system": "lpgnn",
        "dataset": "village",
        "swept": "epsilon_features",
        "points": [document(4.0), document(1.0)],
    }
    (tmp_path / "s.json").write_text(json.dumps(points))
    (tmp_path / "r.json").write_text(json.dumps(other))
    found = read_results([tmp_path / "s.json", tmp_path / "r.json"])
    assert [one.guarantee.epsilon for one in found] == [4.0, 1.0, 2.0]
    assert [[one.guarantee.epsilon for one in curve] for curve in _curves(found)] == [[1.0, 4.0]]
    _, drawn = build_report(found)
    assert [figure.name for figure in drawn if figure.name.startswith("tradeoff")] == ["tradeoff-1-lpgnn-village"]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", "{}", '{"points": []}', '{"points": [{}]}', '{"cells": []}']
    + [
        json.dumps(document(**change)) for change in ({"guarantee": {}}, {"values": []}, {"mean": "x"}, {"controls": 3})
    ],
)
def test_files_that_are_no_results(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(InvalidData, match=r"r\.json") as found:
        write_report(read_results([tmp_path / "r.json"]), tmp_path / "out.html")
    assert "\n" not in str(found.value)
    assert not (tmp_path / "out.html").exists()


def test_a_figure_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document()))
    with pytest.raises(InvalidParameter, match="a directory"):
        write_report(read_results([tmp_path / "r.json"]), tmp_path / "out.html", tmp_path / "r.json")


def test_results_of_equal_titles_can_be_told_apart() -> None:
    other = {"hops": 16, "epsilon_features": 1.0, "epsilon_labels": None, "self_loops": False}
    text = Page(build_report([result(), result(settings=other), result(settings=other), result(2.0)])[0]).text
    assert "lpgnn on village (hops 4)" in text
    assert "lpgnn on village (hops 16, number 2)" in text
    assert "lpgnn on village (hops 16, number 3)" in text


def test_a_users_path_is_not_shown() -> None:
    page, _ = build_report([result(dataset="/home/somebody/village.npz")])
    assert "somebody" not in page
    assert "lpgnn on village.npz" in page
