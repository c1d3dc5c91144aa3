"""Numbers as people write them on the page: read as they were meant, or asked about, and never changed silently."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

import privet.collection

WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
PROGRAM = """
import { readFileSync } from "node:fs";
const { readNumber, decimalOf } = await import(process.argv.at(-1));
const read = ([language, entered]) => readNumber(entered, decimalOf(language));
const written = ([language, value, digits]) => {
  const entered = value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return [entered, read([language, entered])];
};
const { cases, values } = JSON.parse(readFileSync(0));
console.log(JSON.stringify({ cases: cases.map(read), values: values.map(written) }));
"""
LANGUAGES = ("en-GB", "de", "fr", "es", "de-CH", "es-MX")


def by_the_page(cases: list[Any], values: list[Any]) -> dict[str, Any]:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    command = ["node", "--input-type=module", "-e", PROGRAM, "--", str(WEB / "texts" / "entered.js")]
    given = json.dumps({"cases": cases, "values": values})
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


CASES = (  # what is entered, and what it stands for in English and in German
    ("1,5", 1.5, 1.5),
    ("1.5", 1.5, 1.5),
    ("1.500", 1.5, [1.5, 1500]),
    ("1,500", [1.5, 1500], 1.5),
    ("12,345", [12.345, 12345], 12.345),
    ("0,500", 0.5, 0.5),
    ("0.500", 0.5, 0.5),
    ("1.234,5", 1234.5, 1234.5),
    ("1,234.5", 1234.5, 1234.5),
    ("1.234.567", 1234567, 1234567),
    ("1 234,5", 1234.5, 1234.5),
    ("1\u202f234,5", 1234.5, 1234.5),
    ("1'234.5", 1234.5, 1234.5),
    ("\u22127,25", -7.25, -7.25),
    ("-1,500", [-1.5, -1500], -1.5),
    ("+3", 3, 3),
    (" 60 ", 60, 60),
    (",5", 0.5, 0.5),
    ("5.", 5, 5),
    *(
        (wrong, None, None)
        for wrong in ("", ".", "-", "1,2,3", "1.2.3", "1,23.4", "1 2", "1e3", "0x10", "five", "5 km")
    ),
    ("1,2345", 1.2345, 1.2345),
)


@pytest.fixture(scope="module")
def read() -> dict[str, list[Any]]:
    cases = [[language, case[0]] for case in CASES for language in ("en-GB", "de")]
    found = by_the_page(cases, [])["cases"]
    return {case[0]: found[2 * place : 2 * place + 2] for place, case in enumerate(CASES)}


@pytest.mark.parametrize(("entered", "in_english", "in_german"), CASES)
def test_what_a_text_stands_for(
    read: dict[str, list[Any]], entered: str, in_english: object, in_german: object
) -> None:
    for found, expected in zip(read[entered], (in_english, in_german), strict=True):
        key = "readings" if isinstance(expected, list) else "value"
        assert found == ({} if expected is None else {key: expected})


def test_what_a_language_writes_is_read_as_it_was_meant_or_asked_about() -> None:
    rng = random.Random(0)
    values = []
    for _ in range(600):
        digits = rng.randrange(5)
        value = round(rng.choice((-1, 1)) * 10 ** rng.uniform(-2, 7), digits)
        values.append([rng.choice(LANGUAGES), value, digits])
    for (language, value, _), (entered, found) in zip(values, by_the_page([], values)["values"], strict=True):
        assert value in found.get("readings", [found.get("value")]), (language, entered, found)
