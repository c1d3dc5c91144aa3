"""All ways in which published classes of friends can be false, tried one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations_with_replacement, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from privet.estimation.answers.liars_needed import lost, margins_of
from privet.estimation.friends.count_certificate import LEAST_CHANCE, Counted

__all__ = ["moves", "trials", "turned"]

Array = NDArray[np.float64]
Move: TypeAlias = tuple[tuple[int, int], ...]

_BLOCK = 1 << 10  # people at once


def trials(rounds: Sequence[Counted], people: int, false: int) -> float:
    """Return how many numbers :func:`turned` looks at; there are some 10^8 in a second.

    Args:
        rounds: The rounds of the friend question.
        people: The number of people.
        false: The number of false classes.
    """
    classes, grid = rounds[0].keys.shape[1], rounds[0].sociability.size
    moves = sum(1 for _ in _splits(len(rounds), classes, false))
    return float(people * moves * classes * grid)


def turned(
    rounds: Sequence[tuple[Counted, Array]], ids: NDArray[np.integer[Any]], logits: Array, size: Array, false: int
) -> NDArray[np.bool_]:
    """Tell whose prediction so many false classes can turn, or bring so near to a tie that rounding could.

    Each round starts from what the one before it found: the change of its log-probabilities, which are cut off at a
    floor, enters with the weight of the prior.

    Args:
        rounds: The counts of each round, in order, and everybody's log-probabilities after it, people x classes.
        ids: The people to look at.
        logits: Everybody's final logits.
        size: The weight of the last round's log-probabilities in them, for everybody.
        false: The number of false classes.
    """
    places = [_places(counted, len(logits)) for counted, _ in rounds]
    pattern = sum((place[ids] >= 0) * 2**number for number, place in enumerate(places))
    result = np.zeros(len(ids), dtype=np.bool_)
    for found in np.unique(pattern[pattern > 0]):
        members = np.flatnonzero(pattern == found)
        answered = [number for number in range(len(rounds)) if found >> number & 1]
        for begin in range(0, len(members), _BLOCK):
            rows = members[begin : begin + _BLOCK]
            parts = [
                _Trial(rounds[number][0], places[number][ids[rows]], rounds[number][1][ids[rows]], false)
                for number in answered
            ]
            result[rows] = _any_turns(parts, logits[ids[rows]], size[ids[rows], None], false)
    return result


def _places(counted: Counted, people: int) -> NDArray[np.int64]:
    places = np.full(people, -1)
    places[counted.users] = np.arange(len(counted.users))
    return places


class _Trial:
    """The counts of some people in one round, and what becomes of their log-probabilities if counts move."""

    def __init__(self, counted: Counted, rows: NDArray[np.integer[Any]], found: Array, false: int) -> None:
        keys = counted.keys[rows]
        self.classes = keys.shape[1]
        self.prior, self.likelihood, self.symbol = counted.weights
        self.found, self.passed = found, _passed(found)
        self.whole = counted.sociability[:, None] + sum(counted.chances[k][keys[:, k]] for k in range(self.classes))
        self.before = logsumexp(self.whole, axis=1)
        self.inside, self.moved = {}, {}
        self.told: dict[Move, Array] = {}
        for k, shift in product(range(self.classes), [shift for shift in range(-false, false + 1) if shift]):
            counts = keys[:, k] % counted.reports + shift
            fits = (counts >= 0) & (counts < counted.reports)
            table = counted.chances[k]
            self.inside[k, shift] = fits
            self.moved[k, shift] = table[np.where(fits, keys[:, k] + shift, keys[:, k])] - table[keys[:, k]]

    def after(self, move: Move, carried: Array, *, again: bool) -> Array:
        """Return the change of what the round passes on, if counts move and the round before passes on another.

        Args:
            move: The move of the counts.
            carried: The change of what the round before passes on.
            again: True if the same move is tried with other changes of it, so that what it tells is kept.
        """
        change = self.prior * carried
        if move:
            told = self.told.get(move)
            if told is None:
                told = logsumexp(self.whole + sum(self.moved[step] for step in move), axis=1) - self.before
            if again:
                self.told[move] = told
            change = change + self.likelihood * told
            for k, shift in move:
                change[:, k] += self.symbol * shift
        return _passed(self.found + change) - self.passed

    def possible(self, move: Move) -> NDArray[np.bool_]:
        """Tell in whose counts there is room for a move."""
        everybody = np.ones(len(self.found), dtype=np.bool_)
        return np.asarray(np.all([everybody, *(self.inside[step] for step in move)], axis=0))


def _any_turns(parts: list[_Trial], logits: Array, size: Array, false: int) -> NDArray[np.bool_]:
    predicted, result = logits.argmax(axis=1), np.zeros(len(logits), dtype=np.bool_)
    for moves in _splits(len(parts), logits.shape[1], false):
        carried, possible = np.zeros_like(logits), np.ones(len(logits), dtype=np.bool_)
        again = sum(bool(move) for move in moves) > 1  # of one round alone there are too many moves to keep
        for part, move in zip(parts, moves, strict=True):
            carried = part.after(move, carried, again=again)
            possible &= part.possible(move)
        result |= possible & lost(margins_of(logits + size * carried, predicted)).any(axis=1)
    return result


def _passed(logits: Array) -> Array:
    """Return the log-probabilities that a round passes on."""
    return np.asarray(np.maximum(log_softmax(logits, axis=1), np.log(LEAST_CHANCE)))


def _splits(rounds: int, classes: int, false: int) -> Iterator[tuple[Move, ...]]:
    """Yield a move for each round, such that together they stand for at most ``false`` false classes."""
    for numbers in product(range(false + 1), repeat=rounds):
        if sum(numbers) == false:
            yield from product(*(moves(classes, number) for number in numbers))


def moves(classes: int, false: int) -> Iterator[Move]:
    """Yield the ways to move counts up and down by at most ``false`` each: classes and the changes of their counts.

    Args:
        classes: The number of classes.
        false: The number of friends whose published class is false.
    """
    sizes = range(false + 1)
    sets = list(chain.from_iterable(combinations_with_replacement(range(classes), size) for size in sizes))
    for up, down in product(sets, repeat=2):
        if not set(up) & set(down):
            yield tuple((k, up.count(k) - down.count(k)) for k in sorted({*up, *down}))
