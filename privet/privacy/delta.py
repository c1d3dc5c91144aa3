"""The delta of a run that names none, and a warning about one that is too large."""

from __future__ import annotations

from typing import Literal, TypeAlias

from privet.errors import InvalidParameter
from privet.privacy.rounding import at_most

__all__ = ["Delta", "chosen_delta", "delta_warning"]

Delta: TypeAlias = float | Literal["paper"]

_MOST_EXPOSED = 0.1


def chosen_delta(given: Delta | None, num_nodes: int) -> float:
    """Return the delta of a run over some people.

    A mechanism that is (epsilon, delta)-private may publish each person's data with probability delta. By default
    that is 1 / (10 N): of all N people together 0.1 are exposed on average, so most likely nobody is.

    Args:
        given: A number; "paper" for N^-1.1, HeterPoisson's choice, at which N delta is 0.47 for 2,000 people; None for
            the default.
        num_nodes: N, the number of nodes of the whole graph.

    >>> chosen_delta(None, 2_000), round(chosen_delta("paper", 22_470), 7)
    (5e-05, 1.63e-05)
    """
    if given is None:
        return _MOST_EXPOSED / num_nodes
    if given == "paper":
        return float(num_nodes**-1.1)
    if isinstance(given, str) or not 0 < given < 1:
        raise InvalidParameter("delta", "above 0 and below 1, or 'paper' for N^-1.1", given)
    return given


def delta_warning(delta: float, people: int) -> tuple[str, ...]:
    """Return a sentence for the list of what is not protected if delta times the people is above 0.1; else nothing.

    Args:
        delta: The delta of a promise to each of them.
        people: Their number.

    >>> delta_warning(2.34e-4, 2_000)[0][:65]
    'some people altogether: a delta of 0.000234 times 2,000 people is'
    """
    exposed = delta * people
    if exposed <= _MOST_EXPOSED * (1 + 1e-9):
        return ()
    return (
        f"some people altogether: a delta of {at_most(delta)} times {people:,} people is {at_most(exposed, 2)}, so the "
        f"promise allows that many people's data to be published on average; choose a delta of at most "
        f"{_MOST_EXPOSED / people:.2g}",
    )
