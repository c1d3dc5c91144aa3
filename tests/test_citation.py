"""What is cited is what is there."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import privet

ROOT = Path(__file__).parents[1]


def test_the_citation_file_is_complete_and_names_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()  # what the format demands
    assert cited["version"] == privet.__version__
    assert len(cited["references"]) == 5


def test_programs_and_people_are_told_the_same_papers() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    page = (ROOT / "docs" / "reference" / "citing.md").read_text()
    assert f"version = {{{privet.__version__}}}" in page
    entries = dict(re.findall(r"title\s+= \{(.+)\},\n\s+author\s+= \{(.+)\}", page))
    for paper in cited["references"]:
        authors = " and ".join(f"{each['family-names']}, {each['given-names']}" for each in paper["authors"])
        assert entries[paper["title"]] == authors
    keys = set(re.findall(r"@\w+\{([\w-]+),", page)) - {"privet"}
    assert keys == set(re.findall(r"\| `([\w-]+)` \|\n", page))  # each is said to be for something
