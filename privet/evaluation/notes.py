"""Sentences about a result that figures alone do not tell: who was asked, what was left out, what is promised."""

from __future__ import annotations

from collections.abc import Mapping

from privet.privacy import Guarantee
from privet.privacy.rounding import at_most

__all__ = ["notes", "promise"]


def notes(facts: Mapping[str, float]) -> list[str]:
    """Return the remarks on a training, one sentence each.

    Args:
        facts: Public figures of the training, by name.

    >>> notes({"asked": 0.25, "never_offered_7": 1.0, "never_offered_3": 1.0})[1]
    'Classes 3 and 7 were never offered, since nobody of them showed features (last seed).'
    """
    found = []
    if "asked" in facts:
        found.append(f"{100 * facts['asked']:.0f} % of people were asked.")
    absent = sorted(int(name.removeprefix("never_offered_")) for name in facts if name.startswith("never_offered_"))
    if absent:
        *first, last = map(str, absent)
        subject = f"Classes {', '.join(first)} and {last} were" if first else f"Class {last} was"
        whom = "them" if first else "it"
        found.append(f"{subject} never offered, since nobody of {whom} showed features (last seed).")
    certified = [100 * facts.get(f"certified_accuracy_{liars}", 0.0) for liars in (1, 2, 3)]
    if any(certified):
        told = ", ".join(f"{figure:.1f}" for figure in certified)
        found.append(f"Right, and against 1, 2 or 3 lies about friends: {told} % of test nodes (certified, last seed).")
    if "reported_pairs" in facts:
        pairs = facts["reported_pairs"]
        noise = min(facts["expected_noise"], pairs)
        found.append(f"Of {pairs:,.0f} reported edges about {noise:,.0f} are noise ({noise / max(pairs, 1):.0%}).")
    return found


def promise(guarantee: Guarantee) -> str:
    """Say what is protected with which epsilon, and what is not protected."""
    left = "; ".join(guarantee.unprotected)
    if not guarantee.epsilon:
        return f"Nothing private was collected. Not protected: {left}."
    published = guarantee.published_epsilon
    return (
        f"Protected: {guarantee.unit} ({guarantee.trust}), true epsilon at most {at_most(guarantee.epsilon)}"
        + (f" (the paper's claim: {published:.3g})" if published is not None else "")
        + (f", delta at most {at_most(guarantee.delta, 3)}." if guarantee.delta else ".")
        + f" Not protected: {left}."
    )
