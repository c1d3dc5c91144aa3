"""A data-protection impact assessment of a study, filled from its manifests; what they cannot tell is left open.

The text is ``template.md`` beside this module. Whatever is marked OPEN there is for the controller to answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from string import Template

from privet.build import build_digest
from privet.collection.operator.dpia.risks import (
    budget_table,
    friends_table,
    largest_epsilon,
    posterior,
    risk_table,
    table,
)
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import DEFAULT_LIMIT, Study
from privet.privacy import Guarantee, Unit
from privet.privacy.prose import plain
from privet.privacy.rounding import at_most
from privet.release import LocalRelease, Question
from privet.release.price import Price

__all__ = ["impact_assessment"]


def impact_assessment(chain: Chain) -> str:
    """Return the assessment of a study as Markdown.

    Args:
        chain: The rounds of the study so far.
    """
    study, release = chain.newest, chain.announced
    promise, price = _promise(chain, release), release.price
    panel = any(each.panel is not None for each in chain.rounds)
    friends = panel and any(each.shows_friends for each in chain.rounds)
    text = Template((files("privet.collection.operator.dpia") / "template.md").read_text("utf-8"))
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
        nodes=f"{study.nodes:,}" + (", of whom a round may ask a part" if study.in_rounds else ""),
        eligible=plain(study.eligible),
        purpose=plain(study.purpose),
        except_panel=", except from a panel that agreed to show them" if panel else "",
        data=_data(chain),
        panel=_panel(friends) if panel else "Nobody is asked to show answers as they are.",
        sees_panel="; the answers of the panel as they are" if panel else "",
        sees_directory=" and the list of all participants by name" if study.directory else "",
        kept_directory=", the person's name in the list of participants" if study.directory else "",
        known=_known(chain),
        scope=_scope(chain),
        risks=risk_table(price, panel=_shown(friends) if panel else ""),
        delta=_delta(promise),
        both_ends=_both_ends(release),
        strength=_strength(price.epsilon),
        people=_people(release, study),
        friends=friends_table(_own(price)),
        own=at_most(_own(price)),
        budgets=budget_table(),
        example=f"{largest_epsilon(0.01, 0.1):.2f}",
        price=at_most(price.epsilon),
        after=posterior(0.01, price.epsilon),
        unprotected="\n".join(f"- {plain(each)}" for each in promise.unprotected),
        limit=f"{DEFAULT_LIMIT:g}",
        directory_measure=_directory(study),
        retention=retention,
        rounds_words=_rounds_words(chain),
        rounds_table=_rounds(chain.rounds),
        residual=_residual(price, panel),
    )


def _software() -> str:
    import privet

    return f"privet {privet.__version__} (build {build_digest()})"


def _promise(chain: Chain, release: LocalRelease) -> Guarantee:
    """Return the promise about the answers to all rounds together, with everything that any round leaves open."""
    whole = release.guarantee()
    left = (text for each in chain.rounds for text in each.guarantee().unprotected)
    return replace(whole, unprotected=tuple(dict.fromkeys((*whole.unprotected, *left))))


def _data(chain: Chain) -> str:
    rows = [_shows(each) for each in chain.rounds if each.panel]
    rows += [_asked(str(each.round), question) for each in chain.rounds for question in each.release.questions]
    rows += [_asked("to come", question) for question in chain.planned]
    return table(["round", "what leaves the device", "what it is about"], rows)


def _asked(when: str, question: Question) -> list[str]:
    return [when, plain(question.sends()), str(question.guarantee().unit)]


def _shows(study: Study) -> list[str]:
    shown = _shown(study.shows_friends)
    return [str(study.round), f"the panel: {shown} as they are; nothing is randomised", f"{shown} of the panel"]


def _shown(friends: bool) -> str:
    return "features, class and friends" if friends else "features and class"


def _panel(friends: bool) -> str:
    told = (
        f"**Panel.** Some people are asked to show their {_shown(friends)} as they are. Nothing of theirs is "
        "randomised, nothing protects it, and what is computed from it is published. Their devices say so before they "
        "agree, and keep a list of such disclosures. For them the figures of section 5 do not hold."
    )
    if not friends:
        return told
    return told + (
        " Nor do they hold for the friendships of the panel: a friend of a member is shown with it, and was not asked."
    )


def _known(chain: Chain) -> str:
    listed = [text for text in chain.release.guarantee().unprotected if "operator knows" in text]
    return "It is: " + "; ".join(map(plain, listed)) + "." if listed else "The manifest names nothing of this kind."


def _scope(chain: Chain) -> str:
    if not chain.newest.in_rounds:
        return "The figures are for the study's one round."
    left = ", ".join(question.name for question in chain.planned)
    return "The figures are for all rounds together" + (f", also those to come ({left})." if left else ".")


_OWN = {Unit.PERSON: Unit.FEATURES, Unit.FRIEND_LIST: Unit.NEIGHBOUR_BIT}  # of whole lists nothing may bound the rest


def _own(price: Price) -> float:
    """Return the largest epsilon of what people say about themselves."""
    units = [Unit(part.unit) for part in price.parts]
    return max((price.bound(_OWN.get(unit, unit)) for unit in units if unit is not Unit.RELATIONSHIP), default=0.0)


def _people(release: LocalRelease, study: Study) -> str:
    """List other people than the one who answers, what is learned of them, and what limits it."""
    rows = [
        [
            "people who do not take part, or withdrew",
            "the model classifies them as well, from what people near them answer",
            "nothing here: differential privacy limits what a person's own answers reveal",
        ],
        [
            "couples, households, friends",
            "what each says about themselves is also about those who are like them (table below)",
            "each answer by its own epsilon; two people's answers together by twice that",
        ],
    ]
    if release.asks_about(Unit.NEIGHBOUR_BIT):
        each = at_most(release.price.bound(Unit.RELATIONSHIP))
        rows.insert(
            0,
            [
                "people named in others' lists",
                "who their contacts are, also if they do not take part; lists that name them stay when they withdraw",
                f"an epsilon of {each} for one relationship, at most k times that for k; their own ledger counts none",
            ],
        )
    if not study.declared.private_edges:
        rows.append(
            [
                "everybody in the public graph",
                "who stands behind a number: a pattern of edges is often unique, and whoever knows some edges of a "
                "person finds their place, and with it their reports and predictions",
                "nothing here: treat numbers as names, and ask whether the edges should be public",
            ]
        )
    return table(["who", "what can be learned of them", "what limits it"], rows)


def _delta(promise: Guarantee) -> str:
    if not promise.delta:
        return "The limits hold without exception (every delta is 0).\n"
    return (
        "Where delta is not 0 the limits are not strict: whatever an observer looks for may be more likely than the "
        "factor allows, by delta.\n"
    )


def _both_ends(release: LocalRelease) -> str:
    if not release.asks_about(Unit.NEIGHBOUR_BIT):
        return ""
    if all(part.unit != Unit.RELATIONSHIP for part in release.price.parts):
        both = at_most(release.price.bound(Unit.RELATIONSHIP))
        return (
            "\nThe epsilon holds for a person's whole friend list at once. A relationship is on two devices: the "
            f"answers of both ends together cost it an epsilon of at most {both}.\n"
        )
    return (
        "\nA relationship is counted at both its ends, also if the study asks one of them only: a device cannot check "
        "what the device at the other end is asked.\n"
    )


def _strength(epsilon: float) -> str:
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
    dates = [(each, each.deletion_time) for each in rounds]
    if any(moment is None for _, moment in dates):
        return (
            "The manifest promises no deletion. **OPEN:** Until when are reports needed, and who deletes them "
            "(Article 5(1)(e))? `privet study expire --now` deletes them."
        )
    listed = ", ".join(f"those of round {each.round} on {moment:%Y-%m-%d}" for each, moment in dates)
    when = f"on {dates[0][1]:%Y-%m-%d}" if len(dates) == 1 else f"each round's own: {listed}"
    return (
        f"The collector deletes reports {rounds[0].delete_after} days after closing, {when}, and keeps their number. "
        "`privet study expire` does so where no collector runs. A collector whose clock has jumped waits for its "
        "operator."
    )


def _rounds_words(chain: Chain) -> str:
    if not chain.newest.in_rounds:
        return "The study has one round, and announces no other. A person is asked each question once."
    return (
        "The study is asked in rounds. Each names the earlier ones by their ids and binds by hash all public data that "
        "a device uses. No question is asked twice; purpose, operator, schema and retention cannot change; a device "
        "adds up what its owner's answers to all rounds cost together. Later rounds are computed from earlier answers; "
        "what they publish, such as a table of randomised classes, stays published. A person's own earlier answers, "
        "such as counts of friends, can decide whether they are asked again. **This assessment must be made again "
        "before each further round.**"
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
    return table(["round", "id", "open", "asks", "whom"], rows)


def _residual(price: Price, panel: bool) -> str:
    told = (
        "With all measures in place, an observer of everything that a person's device sends can make a suspicion of "
        f"1 % one of {posterior(0.01, price.epsilon)} at most, and one of 50 % one of {posterior(0.5, price.epsilon)}"
        f"{', apart from what delta allows' if price.delta else ''}. Several relationships of one person at once can "
        "be told better than one. What section 5 lists as not limited remains, as do a page that a dishonest server "
        "serves, a device that somebody else reads, and a link that was passed on."
    )
    return told + (" The panel's answers are not protected at all." if panel else "")
