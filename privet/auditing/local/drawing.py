"""Reports that the program draws, compared with the distribution that it states.

An enumeration reads what a mechanism says about itself. Here its own ``perturb`` runs, for every input that an audit
knows, and events are counted: every single report, all reports up to a probability or up to a symbol, and all reports
that are more probable under one input than under another, which is what tells the two apart. The tests are exact, so
the false-alarm rate is a bound and no approximation. Two more things are looked at: coins come from the given bits
alone, and no place among many people has the same report in every call, as one that a loop forgot would have.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.auditing.local.deviation import Stated
from privet.errors import InvalidReports
from privet.mechanisms import Bits, Mechanism, Reports, SeededBits

__all__ = ["ALARM", "ALONE", "DRAWS", "Drawn", "draw"]

ALARM = 1e-6
"""The probability with which an audit accuses a program that draws as it states."""
DRAWS = 20_000
"""The reports that are drawn for each input, in batches that mix all inputs."""
ALONE = 200
"""Further reports for each input, drawn by calls with one row, as a device makes them."""

_MAX_INPUTS = 64
_PLACES, _PLACED = 4096, 2_000_000  # people in a call whose places are looked at, and in all such calls
_POWER = 0.99
_BATCH = 2_000_000  # numbers in one batch of inputs
_MOST_NUMBERS = 100_000_000  # numbers in all inputs: of wide ones fewer are tried

Case = tuple[Any, int | None]
"""An input, and the person whose it is where reports depend on that."""


@dataclass(frozen=True)
class Drawn:
    """The outcome of drawing reports.

    Attributes:
        inputs: The number of inputs that reports were drawn for.
        draws: The reports for each of them.
        tests: The number of events that were counted, over all inputs.
        alarm: The probability with which a program that draws as it states is accused.
        resolution: An event whose probability is further than this from the stated one is found with probability 99 %.
        problem: A sentence that says what was seen; empty if nothing was.
    """

    inputs: int
    draws: int
    tests: int
    alarm: float
    resolution: float
    problem: str = ""

    @property
    def holds(self) -> bool:
        """True if the program draws as it states, as far as these draws can tell."""
        return not self.problem

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "holds": self.holds}


def draw(
    mechanism: Mechanism,
    inputs: Iterable[Any] | None = None,
    *,
    draws: int = DRAWS,
    alarm: float = ALARM,
    bits: Bits | None = None,
) -> Drawn:
    """Draw reports with the mechanism's own ``perturb`` and compare them with what it states.

    By Hoeffding's inequality, an event whose probability is off by sqrt(ln(2 tests / alarm) / (2 draws)) +
    sqrt(ln(100) / (2 draws)) is found with probability 99 %, and a rare event much earlier. A smaller deviation may
    stay unseen, and so does a program that treats an input differently that is not among those tried.

    Args:
        mechanism: A mechanism with few enough reports to list.
        inputs: Further inputs to try, beside those that the mechanism names; of a personal mechanism each is a pair of
            a value and a person.
        draws: The reports for each input (default 20,000).
        alarm: The probability with which a program that draws as it states is accused (default 1e-6).
        bits: The source of randomness (default: a fixed seed, so that an audit gives the same result again).
    """
    cases = _cases(mechanism, inputs, draws)
    stated = Stated([_show(*case) for case in cases], [_distribution(mechanism, *case) for case in cases])
    tests = 2 * stated.tests + 1
    level = alarm / (2 * tests)
    resolution = math.sqrt(math.log(1 / level) / (2 * draws)) + math.sqrt(-math.log(1 - _POWER) / (2 * draws))
    program = _Program(mechanism, cases, stated, SeededBits(0) if bits is None else bits)
    mixed, alone = np.tile(np.arange(len(cases)), draws), np.repeat(np.arange(len(cases)), ALONE)
    try:
        batches = np.array_split(mixed, math.ceil(len(mixed) * program.values[0].size / _BATCH))
        program.check_coins(alone)
        problem = stated.deviation(program.count(batches), draws, level)
        problem = problem or stated.deviation(program.count(alone[:, None]), ALONE, level)
        problem = problem or program.forgotten_place(level)
    except _Seen as seen:
        problem = str(seen)
    return Drawn(len(cases), draws, tests, alarm, resolution, problem)


class _Seen(Exception):
    """A report that shows without statistics that program and statement differ."""


class _Program:
    """A mechanism's program, run for some inputs."""

    def __init__(self, mechanism: Mechanism, cases: list[Case], stated: Stated, bits: Bits) -> None:
        self.mechanism, self.stated, self.bits = mechanism, stated, bits
        self.values = np.stack([np.asarray(value) for value, _ in cases])
        self.people = np.array([user for _, user in cases]) if mechanism.personal else None
        self.contents: dict[Hashable, bytes] = {}

    def count(self, calls: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Count the reports for each input; a call is about the inputs of some numbers."""
        counts = np.zeros((len(self.values), len(self.stated.columns)), dtype=np.int64)
        for rows in calls:
            reports = self._perturb(rows)
            if len(rows) == 1:  # nothing to sort
                counts[rows[0], self._place(reports, 0, rows[0])] += 1
                continue
            first, inverse = _different(reports)
            places = np.array([self._place(reports, row, rows[row]) for row in first])
            np.add.at(counts, (rows, places[inverse]), 1)
        return counts

    def check_coins(self, rows: NDArray[np.int64]) -> None:
        """Look for coins that are not of the given bits: whoever knows their source knows the truth."""
        one, other = (_table(self._perturb(rows, SeededBits(1))) for _ in range(2))
        if not np.array_equal(one, other):
            raise _Seen("It draws other reports from the same random bits: it has coins of its own.")

    def forgotten_place(self, level: float) -> str:
        """Return a sentence about a place whose report is the same in every call, as its person's own data are.

        A place has the same report in n calls with probability sum p^n <= max p^(n - 1).

        Args:
            level: The probability with which the test may err.
        """
        likeliest = self.stated.likeliest
        if likeliest >= 1:
            return ""
        calls = 2 + math.ceil(math.log(level / _PLACES) / math.log(likeliest)) if likeliest > 0 else 2
        places = min(_PLACES, _PLACED // (calls * self.values[0].size))
        if places < 2:
            return ""
        rows = np.resize(np.arange(len(self.values)), places)
        first, same = _table(self._perturb(rows)), np.ones(places, dtype=np.bool_)
        for _ in range(calls - 1):
            same &= (_table(self._perturb(rows)) == first).all(axis=1)
        if not same.any():
            return ""
        seen = f"place {int(np.argmax(same)) + 1:,} of {places:,} people had the same report in {calls:,} calls"
        return f"For the input {self.stated.inputs[rows[int(np.argmax(same))]]}, {seen}: it draws no coin there."

    def _perturb(self, rows: NDArray[np.int64], bits: Bits | None = None) -> Any:
        people = {} if self.people is None else {"users": self.people[rows]}
        source = self.bits if bits is None else bits
        try:
            reports = self.mechanism.validate(self.mechanism.perturb(self.values[rows], source, **people))
        except InvalidReports as error:
            raise _Seen(f"It draws reports that it cannot send. {error}") from error
        if len(reports) != len(rows):
            raise _Seen(f"It draws {len(reports):,} reports for {len(rows):,} people.")
        return reports

    def _place(self, reports: Any, row: int, case: int) -> int:
        """Return the place of a report among the stated ones, if it is one of them and no other is stated as it."""
        key, content = self.mechanism.report_key(reports, row), _content(reports, row)
        if key not in self.stated.columns:
            shown = self.stated.inputs[case]
            raise _Seen(f"For the input {shown}, the report {key} was drawn, which is stated for no input.")
        if self.contents.setdefault(key, content) != content:
            raise _Seen(f"Different reports were drawn that are stated as one, {key}.")
        return self.stated.columns[key]


def _cases(mechanism: Mechanism, more: Iterable[Any] | None, draws: int) -> list[Case]:
    """Return different inputs: those given, then the mechanism's own, thinned out evenly."""
    given, own = list(more if more is not None else []), list(mechanism.inputs())
    width = np.size(own[0][0] if mechanism.personal else own[0])
    room = max(2, min(_MAX_INPUTS, _MOST_NUMBERS // (draws * width)) - len(given))
    kept = own if len(own) <= room else [own[i] for i in np.linspace(0, len(own) - 1, room).astype(int)]
    pairs = [each if mechanism.personal else (each, None) for each in [*given, *kept]]
    different = {(np.asarray(value, dtype=np.float64).tobytes(), user): (value, user) for value, user in pairs}
    return list(different.values())


def _distribution(mechanism: Mechanism, value: Any, user: int | None) -> Any:
    return mechanism.exact_distribution(value, **({} if user is None else {"user": user}))


def _different(reports: Any) -> tuple[list[int], NDArray[np.int64]]:
    """Return the first row of each different report, and for every row the number of its report."""
    rows = _table(reports)
    if isinstance(reports, Reports):
        least, most = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        radix = np.cumprod([1, *(high - low + 1 for low, high in zip(least, most, strict=True))], dtype=object)
        if radix[-1] < 1 << 62:  # one integer a row, which sorts much faster than the row does
            rows = (rows - np.array(least)) @ radix[:-1].astype(np.int64)
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first.tolist(), inverse.ravel()
    _, first, inverse = np.unique(rows @ 2.0 ** np.arange(rows.shape[1]), return_index=True, return_inverse=True)
    return first.tolist(), inverse.ravel()


def _table(reports: Any) -> NDArray[Any]:
    """Return reports as an array, one row each."""
    if isinstance(reports, Reports):
        columns = (reports.symbols,) if reports.indices is None else (reports.indices, reports.symbols)
        return np.concatenate(columns, axis=1, dtype=np.int64)
    return np.asarray(reports.to_sparse().toarray())  # few nodes, or their lists could not be enumerated


def _content(reports: Any, row: int) -> bytes:
    """Return what the server reads of one report."""
    if isinstance(reports, Reports):
        return bytes(reports.coordinates[row].tobytes() + reports.symbols[row].tobytes())
    return bytes(reports.indices[reports.indptr[row] : reports.indptr[row + 1]].tobytes())


def _show(value: Any, user: int | None) -> str:
    return f"{np.asarray(value).tolist()}" + ("" if user is None else f" of person {user}")
