"""Codes of a person's answers: names of categories, several choices, and answers of their own become numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privet.data.schema import Categories, Feature, Interval, Schema, Several
from privet.errors import InvalidData

__all__ = ["code_answers"]


def code_answers(schema: Schema, answers: Sequence[Any]) -> list[Any]:
    """Return a number for each answer; what is none is returned as it is, for whoever checks it.

    None means "prefer not to say" where that is an answer. A number outside its range is moved to its nearest end if
    the feature has answers of their own, whose codes lie there. Whether a feature applies follows from the answer that
    it needs: one that does not apply has the code for it, whatever was answered.

    Args:
        schema: The declared domains.
        answers: Numbers, names or numbers of categories, and lists of choices, in the order of the schema. More or
            fewer than the schema has are left alone.
    """
    coded: list[Any] = []
    for number, answer in enumerate(answers):
        if number >= schema.dimension:
            coded.append(answer)
            continue
        domain, top = schema.features[number], float(schema.top[number])
        if domain.needs is not None and coded[domain.needs[0]] not in domain.needs[1]:
            coded.append(top)
        elif answer is None and domain.skip:
            coded.append(float(schema.high[number]) + 1)
        else:
            coded.append(_code(domain, answer, f"answer {number} of your features"))
    return coded


def _code(domain: Feature, answer: Any, what: str) -> Any:
    if isinstance(domain, Categories):
        return domain.code(answer, what)
    if isinstance(domain, Interval):
        plain = not domain.extras or isinstance(answer, bool) or not isinstance(answer, int | float)
        return answer if plain else min(max(float(answer), domain.low), domain.high)
    return _sum_of(domain, answer, what)


def _sum_of(domain: Several, answer: Any, what: str) -> Any:
    """Return the sum of 2^j over the choices that a list names; a number is a sum already."""
    if not isinstance(answer, list | tuple):
        return answer
    names = domain.names or ()
    codes = {names.index(each) if each in names else each for each in answer}
    if not all(type(code) is int and 0 <= code < domain.count for code in codes):
        listed = ", ".join(names) if names else f"numbers from 0 to {domain.count - 1}"
        raise InvalidData(f"The choices of {what} must be among {listed}.")
    return sum(2**code for code in codes)
