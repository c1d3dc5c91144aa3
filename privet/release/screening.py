"""Screening: could honest devices, whatever their owners' answers are, have sent these reports?

A report cannot be checked against the truth. But a mechanism's noise is known exactly, and reports without that noise
look otherwise: a symbol that comes too often, a coordinate that is drawn too often, a list shorter than noise makes it,
equal reports of many bits. Every test here holds for all honest inputs, so nobody's data can set off an alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms import Mechanism
from privet.mechanisms.core.tally import Tally, within
from privet.release.answers import Answer, Answers
from privet.release.surprise import equal_p_value, mean_log_e, share_log_e

__all__ = ["KINDS", "RATE", "Finding", "Screening", "screen", "screen_reports"]

RATE = 0.001
"""The share of rounds with honest devices only in which there is an alarm, at most."""

KINDS = 5
"""The tests that the reports of one question may ever be put to: symbols, columns, drawn, alone, equal."""

_ALONE = (1e-2, 1e-4, 1e-6)  # a report is counted as surprising alone at each of these rates


@dataclass(frozen=True)
class Finding:
    """One comparison of reports with what honest devices can send.

    Attributes:
        question: The name of the question.
        name: A short name of the test.
        finding: A clause that says what was compared.
        p_value: At most t with probability at most t if all devices are honest, however often one looks.
    """

    question: str
    name: str
    finding: str
    p_value: float


@dataclass(frozen=True, eq=False)
class Screening:
    """The tests of all questions, and one verdict.

    Attributes:
        tests: The tests, each valid alone.
        rate: The share of honest rounds with an alarm, at most, over all tests and looks together.
        possible: The number of tests that might have been made, now or at a later look.
        reports: The number of reports that were tested.
        p_values: For each question a p-value of each report, for a defence that leaves reports out: an honest report
            has a p-value of at most t with probability at most 2 t.
    """

    tests: tuple[Finding, ...]
    rate: float
    possible: int
    reports: int
    p_values: dict[str, NDArray[np.float64]] = field(repr=False)

    @property
    def p_value(self) -> float:
        """The smallest p-value, corrected for every test that might have been made: more come with more reports."""
        return min([1.0, *(self.possible * test.p_value for test in self.tests)])

    @property
    def alarm(self) -> bool:
        """Tell whether the reports are more surprising than the stated rate allows."""
        return self.p_value <= self.rate

    def in_words(self) -> str:
        """Say how surprising the reports are, and what that means."""
        if not self.tests:
            return "Reports were not screened: there are none, or their mechanism states no distribution."
        promise = f"false alarms in at most {one_in(self.rate)} honest rounds, however often you look"
        if not self.alarm:
            return (
                f"{self.reports:,} reports look like reports of honest devices ({promise}). Lies that keep the noise, "
                f"such as honest answers about invented data, cannot be seen."
            )
        worst = min(self.tests, key=lambda test: test.p_value)
        return (
            f"Reports like these come from honest devices in fewer than {one_in(self.p_value)} rounds ({promise}). "
            f"Most surprising: {worst.finding}."
        )

    def kept(self, answers: Answers, rate: float = 1e-4) -> Answers:
        """Leave out reports that are surprising alone, or equal to others that they should differ from.

        Args:
            answers: The answers that were screened.
            rate: The largest p-value that is left out; an honest report is lost with at most twice this probability.
        """
        for name, values in self.p_values.items():
            rows = np.flatnonzero(values > rate)
            if len(rows) < len(values):
                answers = answers.with_part(name, answers[name].take(rows))
        return answers

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        tests = [
            {"question": test.question, "name": test.name, "finding": test.finding, "p_value": test.p_value}
            for test in self.tests
        ]
        return {
            "alarm": self.alarm,
            "p_value": self.p_value,
            "rate": self.rate,
            "reports": self.reports,
            "in_words": self.in_words(),
            "tests": tests,
        }


def screen(answers: Answers, *, rate: float = RATE, most_friends: int | None = None) -> Screening:
    """Test all answers to a release.

    Args:
        rate: The share of honest rounds with an alarm, at most.
        most_friends: The largest number of friends that anybody can have, if that is public: it makes more lies
            visible in answers about friends. People with more friends may then set off a false alarm.
    """
    if not 0 < rate < 1:
        raise InvalidParameter("rate", "a number between 0 and 1, both excluded", rate)
    if most_friends is not None and most_friends < 0:
        raise InvalidParameter("most_friends", "0 or more", most_friends)
    people = answers.release.population.num_nodes
    tests: list[Finding] = []
    values = {}
    for question in answers.release.questions:
        answer = answers[question.name]
        found, values[question.name] = screen_reports(
            question.name, question.mechanism, answer, max(people, len(answer)), most_friends=most_friends
        )
        tests += found
    possible = KINDS * len(answers.release.questions)
    return Screening(tuple(tests), rate, possible, sum(len(answer) for answer in answers.values()), values)


def screen_reports(
    name: str, mechanism: Mechanism, answer: Answer, people: int, *, most_friends: int | None = None
) -> tuple[list[Finding], NDArray[np.float64]]:
    """Test the answers to one question, and return the tests and a p-value of each report.

    Args:
        name: The name of the question.
        mechanism: Its mechanism.
        answer: The reports.
        people: The number of people who can report.
        most_friends: As for :func:`screen`.
    """
    if not len(answer):
        return [], np.ones(0)
    tests, reports = [], answer.reports
    tallies = [tally for tally in mechanism.tallies(reports) if tally.counts.sum()]
    if tallies:
        pooled = [Tally(each.channel, each.counts.sum(axis=0, keepdims=True)) for each in tallies]
        tests.append(_shares(name, "symbols", "the share of each symbol among all reports", pooled))
        if sum(len(each.counts) for each in tallies) > len(tallies):
            tests.append(_shares(name, "columns", "the share of each symbol in each column of the reports", tallies))
    drawn = mechanism.drawn_columns(reports)
    if drawn is not None:
        times, chance = drawn
        e = mean_log_e(share_log_e(times, len(answer), chance, chance))
        tests.append(Finding(name, "drawn", "how often each feature was drawn to be reported", _p_value(e)))
    alone = mechanism.p_values(reports, most_friends)
    if (alone < 1).any():
        e = mean_log_e([share_log_e((alone <= level).sum(), len(alone), 0.0, level) for level in _ALONE])
        finding = f"{int((alone <= _ALONE[1]).sum()):,} reports are extreme by themselves"
        tests.append(Finding(name, "alone", finding, _p_value(e)))
    equal = _equal(mechanism, answer, people)
    if equal is not None:
        size = int((equal <= RATE).sum())
        tests.append(Finding(name, "equal", f"{size:,} reports are equal to others", float(equal.min())))
        alone = np.minimum(alone, equal)
    return tests, alone


def one_in(rate: float) -> str:
    """Write a small probability as '1 of 10,000', rounded so that it claims no more than it says."""
    if rate <= 1e-12:
        return "1 of 1,000,000,000,000"
    whole = math.floor(1 / rate * (1 + 1e-9))
    digits = max(len(str(whole)) - 2, 0)
    return f"1 of {whole // 10**digits * 10**digits:,}"


def _p_value(log_e: float) -> float:
    return math.exp(-max(log_e, 0.0))


def _shares(question: str, name: str, finding: str, tallies: list[Tally]) -> Finding:
    """Compare shares with their bounds: among all symbols and, where symbols are ordered, among their neighbours."""
    bets = []
    for tally in tallies:
        channel, counts = tally.channel, tally.counts
        bets.append(share_log_e(counts, counts.sum(axis=1, keepdims=True), channel.lower, channel.upper))
        if channel.ordered and counts.shape[1] > 3:
            bets.append(share_log_e(counts, within(counts, 1), *channel.among(1)))
    return Finding(question, name, finding, _p_value(mean_log_e(np.concatenate([bet.ravel() for bet in bets]))))


def _equal(mechanism: Mechanism, answer: Answer, people: int) -> NDArray[np.float64] | None:
    """Return for each report the p-value of the group of reports that are equal to it."""
    peaks = mechanism.log_peaks(answer.reports)
    if peaks is None or len(answer) < 2:
        return None
    _, inverse, sizes = np.unique(_keys(mechanism, answer), return_inverse=True, return_counts=True)
    largest = np.full(len(sizes), -np.inf)
    np.maximum.at(largest, inverse, peaks)
    return np.asarray(equal_p_value(sizes, largest, people)[inverse])


def _keys(mechanism: Mechanism, answer: Answer) -> NDArray[np.void]:
    """Return one key a report: its bytes, or two sums of random numbers where reports differ in length."""
    columns = []
    for column, values in zip(mechanism.shape.columns, mechanism.shape.split(answer.reports), strict=True):
        if column.count is not None:
            columns.append(np.asarray(values, dtype=np.int64).reshape(len(answer), -1))
            continue
        starts, entries = values
        drawn = np.random.default_rng(len(entries)).integers(1 << 62, size=(int(entries.max(initial=0)) + 1, 2))
        sums = np.zeros((len(answer), 2), dtype=np.int64)
        np.add.at(sums, np.repeat(np.arange(len(answer)), np.diff(starts)), drawn[entries])  # may wrap around
        columns.append(sums)
    joined = np.ascontiguousarray(np.concatenate(columns, axis=1))
    return joined.view(np.dtype((np.void, joined.itemsize * joined.shape[1]))).ravel()
