"""A data-protection impact assessment of a study, filled from its manifests; what they cannot tell is left open.

The text is ``dpia.md`` beside this module. Whatever is marked OPEN there is for the controller to answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from string import Template

from privet.collection.chain import Chain
from privet.collection.retention import deletion_time
from privet.collection.study import DEFAULT_LIMIT, Study
from privet.privacy import Guarantee
from privet.privacy.prose import UNIT_WORDS, plain
from privet.privacy.rounding import at_most, odds_factor

__all__ = ["impact_assessment"]

_SUSPICIONS = (0.01, 0.1, 0.5)


def impact_assessment(chain: Chain) -> str:
    """Return the assessment of a study as Markdown.

    Args:
        chain: The rounds of the study so far.
    """
    study, promise = chain.newest, _promise(chain)
    panel = any(each.panel is not None for each in chain.rounds)
    text = Template((files("privet.collection.operator") / "dpia.md").read_text("utf-8"))
    template_open = text.template.count("**OPEN")
    retention = _retention(chain.rounds)
    first = chain.rounds[0]
    return text.substitute(
        title=plain(study.title),
        software=_software(),
        open=template_open - 1 + ("**OPEN" in retention),  # the first one explains the mark
        rounds="one round" if len(chain.rounds) == 1 else f"round {study.round}, which names the earlier ones",
        id=study.id,
        operator=plain(study.operator),
        opens=f"{first.opens:%Y-%m-%d %H:%M}",
        closes=f"{max(each.closes for each in chain.rounds):%Y-%m-%d %H:%M}",
        nodes=f"{study.nodes:,}" + (", of whom a round may ask a part" if len(chain.rounds) > 1 or study.plan else ""),
        eligible=plain(study.eligible),
        purpose=plain(study.purpose),
        except_panel=", except from a panel that agreed to show them" if panel else "",
        data=_data(chain.rounds),
        panel=_PANEL if panel else "Nobody is asked to show answers as they are.",
        sees_panel="; the answers of the panel as they are" if panel else "",
        sees_directory=" and the list of all participants by name" if study.directory else "",
        kept_directory=", the person's name in the list of participants" if study.directory else "",
        known=_known(chain),
        risks=_risks(chain),
        delta=_delta(promise),
        doubled=_doubled(chain),
        strength=_strength(chain),
        unprotected="\n".join(f"- {plain(each)}" for each in promise.unprotected),
        limit=f"{DEFAULT_LIMIT:g}",
        directory_measure=_directory(study),
        retention=retention,
        rounds_words=_rounds_words(chain),
        rounds_table=_rounds(chain.rounds),
        residual=_residual(chain, panel),
    )


def _software() -> str:
    import privet

    return f"privet {privet.__version__}"


def _promise(chain: Chain) -> Guarantee:
    """Return the promise about the answers to all rounds together, with everything that any round leaves open."""
    whole = chain.release.guarantee(bound=False)
    left = (text for each in chain.rounds for text in each.guarantee().unprotected)
    return replace(whole, unprotected=tuple(dict.fromkeys((*whole.unprotected, *left))))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _data(rounds: Sequence[Study]) -> str:
    rows = [
        [str(each.round), plain(question.sends()), str(question.guarantee(bound=False).unit)]
        for each in rounds
        for question in each.release.questions
    ]
    return _table(["round", "what leaves the device", "what it is about"], rows)


_PANEL = (
    "**Panel.** Some people are asked to show their features and their class as they are. Nothing of theirs is "
    "randomised, nothing protects it, and what is computed from it is published. Their devices say so before they "
    "agree, and keep a list of such disclosures. For them the figures of section 5 do not hold."
)


def _known(chain: Chain) -> str:
    listed = [text for text in chain.release.guarantee(bound=False).unprotected if "operator knows" in text]
    return "It is: " + "; ".join(map(plain, listed)) + "." if listed else "The manifest names nothing of this kind."


def _risks(chain: Chain) -> str:
    """List each unit's epsilon over all rounds, and what becomes of suspicions about it."""
    release = chain.release
    rows = []
    for unit in dict.fromkeys(question.ask.unit for question in release.questions):
        some = replace(release, questions=tuple(each for each in release.questions if each.ask.unit == unit))
        promise = some.guarantee(bound=False)
        rows.append(_risk(f"{unit}: {UNIT_WORDS[str(unit)]}", promise.epsilon, promise.delta))
        if promise.relationship_epsilon is not None:
            rows.append(_risk("one relationship, which both ends may report", promise.relationship_epsilon, 0.0))
    if len(rows) > 1:
        epsilon, delta = chain.cost(each.id for each in chain.rounds)
        rows.append(_risk("all of them together, as devices charge it", epsilon, delta))
    head = [
        "about",
        "epsilon",
        "delta",
        "odds change by at most",
        *(f"{100 * each:g} % becomes at most" for each in _SUSPICIONS),
    ]
    return _table(head, rows) if rows else "No question is asked of anybody but the panel."


def _risk(what: str, epsilon: float, delta: float) -> list[str]:
    figures = [at_most(epsilon), at_most(delta) if delta else "0", odds_factor(epsilon)]
    return [what, *figures, *(posterior(each, epsilon) for each in _SUSPICIONS)]


def posterior(prior: float, epsilon: float) -> str:
    """Write the largest probability that a suspicion can get from a report, in percent and rounded up.

    Args:
        prior: The probability before, above 0 and below 1.
        epsilon: The privacy loss.

    >>> posterior(0.01, 1.0), posterior(0.01, 4.0), posterior(0.5, 10.0)
    ('2.68 %', '35.6 %', '99.996 %')
    """
    value = 100 / (1 + (1 - prior) / prior * math.exp(-epsilon))
    return f"{min(float(at_most(value, 3 if value < 99 else 5)), 100.0):g} %"


def _delta(promise: Guarantee) -> str:
    if not promise.delta:
        return "The limits hold without exception (every delta is 0).\n"
    return (
        "Where delta is not 0 the limits are not strict: whatever an observer looks for may be more likely than the "
        "factor allows, by delta.\n"
    )


def _doubled(chain: Chain) -> str:
    release = chain.release
    if release.cost(bound=False) == release.cost():
        return ""
    return (
        "\nA relationship counts twice here although the study asks one end of it only: a device cannot check what the "
        "device at the other end is asked.\n"
    )


def _strength(chain: Chain) -> str:
    epsilon, _ = chain.cost(each.id for each in chain.rounds)
    if epsilon <= DEFAULT_LIMIT:
        return ""
    return (
        f"\n**The study costs more than {DEFAULT_LIMIT:g}**, the limit that participants' devices start with. From "
        "about 5 on the promise says little about any single suspicion.\n"
    )


def _directory(study: Study) -> str:
    if study.directory:
        return "The list of participants is bound by its SHA-256; everybody can check it, and everybody has its names"
    return "No list of participants is bound: devices charge each relationship twice, if a round asks for any"


def _retention(rounds: Sequence[Study]) -> str:
    dates = [(each, deletion_time(each)) for each in rounds]
    if any(moment is None for _, moment in dates):
        return (
            "The manifest promises no deletion. **OPEN:** Until when are reports needed, and who deletes them "
            "(Article 5(1)(e))? `privet study expire --now` deletes them."
        )
    listed = ", ".join(f"those of round {each.round} on {moment:%Y-%m-%d}" for each, moment in dates)
    when = f"on {dates[0][1]:%Y-%m-%d}" if len(dates) == 1 else f"each round's own: {listed}"
    return (
        f"The collector deletes reports {rounds[0].delete_after} days after closing, {when}, and keeps their number. "
        "`privet study expire` does so where no collector runs."
    )


def _rounds_words(chain: Chain) -> str:
    if len(chain.rounds) == 1 and chain.newest.plan is None:
        return "The study has one round, and announces no other. A person is asked each question once."
    return (
        "The study is asked in rounds. Each names the earlier ones by their ids and binds by hash all public data that "
        "a device uses. No question is asked twice; purpose, operator, schema and retention cannot change; a device "
        "adds up what its owner's answers to all rounds cost together. Later rounds are computed from earlier answers; "
        "what they publish, such as a table of randomised classes, stays published. The figures of section 5 are for "
        "the rounds that exist: **this assessment must be made again before each further round.**"
    )


def _rounds(rounds: Sequence[Study]) -> str:
    rows = []
    for each in rounds:
        asked = ", ".join(question.name for question in each.release.questions) or "nothing"
        who = "everybody" if each.people is None else "a part, bound by hash"
        rows.append(
            [
                *(str(each.round), f"`{each.id[:12]}`", f"{each.opens:%Y-%m-%d} to {each.closes:%Y-%m-%d}"),
                *(asked, who + (", and a panel that shows its answers" if each.panel else "")),
            ]
        )
    return _table(["round", "id", "open", "asks", "whom"], rows)


def _residual(chain: Chain, panel: bool) -> str:
    epsilon, delta = chain.cost(each.id for each in chain.rounds)
    told = (
        "With all measures in place, an observer of everything that a person's device sends can make a suspicion of "
        f"1 % one of {posterior(0.01, epsilon)} at most, and one of 50 % one of {posterior(0.5, epsilon)}"
        f"{', apart from what delta allows' if delta else ''}. Several relationships of one person at once can be told "
        "better than one. What section 5 lists as not limited remains, as do a page that a dishonest server serves, a "
        "device that somebody else reads, and a link that was passed on."
    )
    return told + (" The panel's answers are not protected at all." if panel else "")
