"""The catalogues of the participant's page: complete in every language, used, and nothing is said without them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import privet.collection

COLLECTION = Path(privet.collection.__file__).parent
WEB = COLLECTION / "server" / "http" / "web"
CATALOGUES = {path.stem: json.loads(path.read_text()) for path in sorted((WEB / "texts").glob("*.json"))}
ENGLISH = CATALOGUES["en"]
TRANSLATED = sorted(set(CATALOGUES) - {"en"})
# The operator's page has no catalogue: it is read by one person, who writes the study's words too.
SCRIPTS = {path: path.read_text() for path in WEB.rglob("*.js") if "operator" not in str(path.relative_to(WEB))}
PAGE = (WEB / "participate.html").read_text()
SERVER = "".join(path.read_text() for part in ("server", "study") for path in (COLLECTION / part).rglob("*.py"))


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\{(\w+)\}", text))


def used_keys() -> set[str]:
    """The keys that scripts and page name, those made of parts included."""
    code = "\n".join(SCRIPTS.values())
    keys = set(re.findall(r'data-(?:text|label)="([^"]+)"', PAGE))
    keys |= set(re.findall(r'"([a-z]+(?:\.[a-z-]+)+)"', code))  # whole keys, wherever they stand
    for key in re.findall(r'\bcounted\(\s*"([^"]+)"', code):
        keys = keys - {key} | {f"{key}.one", f"{key}.other"}
    for key in re.findall(r'Refusal\.of\("([^"]+)"', code):
        keys |= {f"refusal.{key}.headline", f"refusal.{key}.text"}
    for key in re.findall(r'wants\("([^"]+)"\)', code):
        keys |= {f"confirm.{key}.{part}" for part in ("heading", "text", "yes", "no")}
    for key in re.findall(r'showEnded\("([^"]+)"', code):
        keys |= {f"ended.{key}.{part}" for part in ("heading", "text")}
    words = SCRIPTS[WEB / "page/words.js"]
    listing = re.sub(
        r"plans\([^)]*\)", "", words[words.index("function gaps") :].split("\n}\n")[0]
    )  # names of questions
    gaps = set(re.findall(r'"([a-z-]+)"', listing))
    keys |= {f"panel.{part}" for part in ("leaves", "cost")}  # made of parts in words.js, as these in kinds/friends.js
    keys |= {f"{name}.{part}" for name in ("friends", "friends-again") for part in ("group", "each")}
    for path in (WEB / "kinds").glob("*.js"):
        gaps |= set(re.findall(r'unprotected: .*?\["([a-z-]+)"', path.read_text()))
    keys |= {f"unprotected.{gap}" for gap in gaps}
    keys |= {f"summary.open.{gap}" for gap in gaps if f"summary.open.{gap}" in ENGLISH}
    return keys


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_language_has_every_text_with_the_same_placeholders(language: str) -> None:
    catalogue = CATALOGUES[language]
    assert list(catalogue) == list(ENGLISH)  # the same order, so that translators find their way
    assert {key: placeholders(catalogue[key]) for key in ENGLISH} == {
        key: placeholders(ENGLISH[key]) for key in ENGLISH
    }
    assert all(text.strip() for text in catalogue.values())


def test_the_page_offers_the_languages_that_there_are() -> None:
    offered = re.search(r"LANGUAGES = \{(.*)\}", SCRIPTS[WEB / "texts/texts.js"])
    assert offered is not None
    assert sorted(re.findall(r"(\w+): ", offered[1])) == sorted(CATALOGUES)


def test_no_text_is_missing_and_none_is_unused() -> None:
    own = {key for key in ENGLISH if not key.startswith("told.")}
    used = {key for key in used_keys() if not key.startswith("told.")}
    families = {key.partition(".")[0] for key in own}
    assert {key for key in used - own if key.partition(".")[0] in families} == set()
    assert own - used == set()


def spoken() -> str:
    """Scripts and the server's sources; literals over several lines are put together, and interpolations are {}."""
    scripts = re.sub(r'["`]\s*\+\s*["`]', "", "\n".join(SCRIPTS.values()))
    server = re.sub(r'"\s*\n\s*f?"', "", SERVER)
    return re.sub(r"\$\{[^{}]*\}", "{}", scripts) + re.sub(r"\{[^{}\n]*\}", "{}", server)


def test_sentences_from_elsewhere_are_told_in_their_own_words() -> None:
    """A sentence of the collector, the ledger or a check is translated by its English text, which must not drift."""
    code = spoken()
    for key, text in ENGLISH.items():
        if key.startswith("told."):
            assert re.sub(r"\{\w+\}", "{}", text) in code, f"{key}: nobody says “{text}”"


def test_every_headline_of_a_refusal_is_known() -> None:
    headlines = set()
    for path, code in SCRIPTS.items():
        if path.name != "refusal.js":
            headlines |= set(re.findall(r'new Refusal\(\s*"([^"]+)"', code))
    assert headlines <= set(ENGLISH.values())


def test_scripts_and_page_have_no_words_of_their_own() -> None:
    """What looks like a sentence stands in a catalogue, except in modules whose sentences are told again."""
    for path, code in SCRIPTS.items():
        if path.name in ("study.js", "ledger.js", "checks.js", "questions.js"):
            continue
        bare = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*|RangeError\([^;]*;", "", code, flags=re.DOTALL)
        sentences = re.findall(r'["`]([A-Z][a-z]+(?: [a-z]+)+[^"`]*)["`]', bare)
        assert [text for text in sentences if text not in ENGLISH.values()] == [], path.name
    # What is said without scripts stands on the page itself, in every language.
    visible = re.sub(r'<noscript>.*?</noscript>|<section id="stuck".*?</section>', "", PAGE, flags=re.DOTALL)
    assert {PAGE.count(f'<p lang="{language}">') for language in CATALOGUES} == {2}
    assert set(re.findall(r">\s*([^<>\s][^<>]*?)\s*<", visible)) == {"privet"}
