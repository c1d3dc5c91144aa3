"""The typed result of one run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from privet.errors import InvalidData, PrivetError
from privet.evaluation.documents import Document, demand, result_html
from privet.evaluation.verdict import half_width, seeds_in_words
from privet.privacy import Guarantee
from privet.privacy.ledger import LedgerLine
from privet.privacy.statement import write_statement

__all__ = ["ClassFigures", "Figures", "Result", "SplitFacts", "short_name", "with_interval"]

_RESULT = "a result of a run or a sweep"
_NEEDED = ("system", "dataset", "task", "metric", "mean", "std", "values", "settings", "controls", "guarantee")
_OF_LINE = {field.name for field in fields(LedgerLine)}


@dataclass(frozen=True)
class Figures:
    """One figure measured with several seeds.

    Attributes:
        values: The figure of each seed, in the unit of the metric.
        short: Its name in a narrow column.
        title: Its name in words.
        question: For a control, the data whose worth a difference from the system shows.
    """

    values: tuple[float, ...]
    short: str = ""
    title: str = ""
    question: str | None = None

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def std(self) -> float | None:
        """The standard deviation over the seeds; None for one seed."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def half_width(self) -> float | None:
        """Half the width of the mean's 95 % confidence interval; None for one seed."""
        return half_width(self.values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        named = {"short": self.short, "title": self.title, "question": self.question} if self.title else {}
        return {"mean": self.mean, "std": self.std, "values": list(self.values), **named}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], key: str = "") -> Figures:
        """Read what :meth:`to_dict` made; a control without a title is called by its key."""
        values = tuple(float(value) for value in document["values"])
        if not values or not isinstance(document["mean"], int | float):
            raise ValueError("no figures")
        name = key.replace("_", " ")
        return cls(values, document.get("short", name), document.get("title", name), document.get("question"))


@dataclass(frozen=True)
class ClassFigures:
    """Recall of one class on the test nodes, averaged over the seeds.

    Attributes:
        number: The class.
        support: Its mean number of test nodes.
        recall: The share of them that the system recognises, in per cent; None if there are none.
        std: The standard deviation of the recall over the seeds; None for one seed.
        controls: The controls' recall by their key.
    """

    number: int
    support: float
    recall: float | None
    std: float | None
    controls: Mapping[str, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        document = asdict(self)
        return {"class": document.pop("number"), **document}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ClassFigures:
        """Read what :meth:`to_dict` made."""
        rest = {name: document[name] for name in ("support", "recall", "std", "controls")}
        return cls(document["class"], **rest)


@dataclass(frozen=True)
class SplitFacts:
    """Which nodes a result is about.

    Attributes:
        train: The number of training nodes of the first seed.
        validation: The number of validation nodes of the first seed.
        test: The number of test nodes of the first seed.
        sha256: A digest of the test nodes of all seeds: equal digests mean equal test nodes.
    """

    train: int
    validation: int
    test: int
    sha256: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Result(Document):
    """A system measured on one graph, with its controls and its guarantee.

    Attributes:
        system: The system's name.
        dataset: The data's name; of a path only the last part is kept.
        task: The task in words.
        metric: The metric and its unit.
        settings: The system's hyper-parameters.
        seeds: The seeds of splits and simulations.
        figures: The system's own figures.
        metrics: The system's figures in every metric, by the metric's name.
        controls: The controls' figures by key.
        guarantee: The promise that the system makes.
        ledger: The parts of the budget.
        mechanisms: The names of the randomisers.
        classes: Recall of each class.
        split: The nodes that were measured on; None in files of older versions.
        verdict: One sentence or a few on whether the private data helped; empty without controls.
        facts: Public figures of the training, by name.
        tuning: The trials of a search for settings that came first.
        seconds: The time that all trainings took together; None if it is not known.
        peak_rss_mb: The process's largest resident memory; None if it is not known.
        version: The version of privet.
        build: The digest of privet's files (see :mod:`privet.build`).
    """

    system: str
    dataset: str
    task: str
    metric: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]
    figures: Figures
    controls: Mapping[str, Figures]
    guarantee: Guarantee
    ledger: tuple[LedgerLine, ...] = ()
    mechanisms: tuple[str, ...] = ()
    metrics: Mapping[str, Figures] = field(default_factory=dict)
    classes: tuple[ClassFigures, ...] = ()
    split: SplitFacts | None = None
    verdict: str = ""
    facts: Mapping[str, float] = field(default_factory=dict)
    tuning: tuple[Mapping[str, Any], ...] = ()
    seconds: float | None = None
    peak_rss_mb: float | None = None
    version: str = "unknown"
    build: str = "unknown"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", short_name(self.dataset))

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return self.figures.mean

    @property
    def values(self) -> tuple[float, ...]:
        """The figure of each seed."""
        return self.figures.values

    @property
    def asked(self) -> float | None:
        """The share of people who were asked anything, where the system chooses whom to ask; else None."""
        return self.facts.get("asked")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON: the fields of result.json."""
        rest = {} if self.split is None else {"split": asdict(self.split)}
        rest |= {name: getattr(self, name) for name in ("verdict", "tuning") if getattr(self, name)}
        return {
            "system": self.system,
            "dataset": self.dataset,
            "task": self.task,
            "metric": self.metric,
            "settings": dict(self.settings),
            "seeds": list(self.seeds),
            **self.figures.to_dict(),
            "metrics": {key: figures.to_dict() for key, figures in self.metrics.items()},
            "controls": {key: figures.to_dict() for key, figures in self.controls.items()},
            "guarantee": self.guarantee.to_dict(),
            "ledger": [line.to_dict() for line in self.ledger],
            "mechanisms": list(self.mechanisms),
            "per_class": [row.to_dict() for row in self.classes],
            "facts": dict(self.facts),
            **({} if self.asked is None else {"asked": self.asked}),
            "seconds": self.seconds,
            "peak_rss_mb": self.peak_rss_mb,
            "version": self.version,
            "build": self.build,
            **{name: list(value) if name == "tuning" else value for name, value in rest.items()},
        }

    @classmethod
    def from_dict(cls, document: Any, where: str = "result") -> Result:
        """Read the fields of a result.json, also of one that an older version wrote.

        Args:
            document: The plain values.
            where: The document's name in error messages.
        """
        found = demand(document, _NEEDED, where, _RESULT)
        optional = ("verdict", "facts", "seconds", "peak_rss_mb", "version", "build")
        try:
            return cls(
                **{name: found[name] for name in ("system", "dataset", "task", "metric")},
                **{name: found[name] for name in optional if name in found},
                settings=dict(found["settings"]),
                seeds=tuple(found.get("seeds", range(len(found["values"])))),
                figures=Figures.from_dict(found),
                controls={key: Figures.from_dict(value, key) for key, value in found["controls"].items()},
                metrics={key: Figures.from_dict(value) for key, value in found.get("metrics", {}).items()},
                guarantee=Guarantee.from_dict(found["guarantee"]),
                ledger=tuple(_line(line) for line in found.get("ledger", ())),
                mechanisms=tuple(found.get("mechanisms", ["unknown"])),
                classes=tuple(ClassFigures.from_dict(row) for row in found.get("per_class", ())),
                split=SplitFacts(**found["split"]) if "split" in found else None,
                tuning=tuple(found.get("tuning", ())),
            )
        except (PrivetError, TypeError, KeyError, ValueError, AttributeError):
            raise InvalidData(f"The guarantee or the figures of the {where} cannot be read as {_RESULT}.") from None

    def tuned(self, trials: tuple[Mapping[str, Any], ...]) -> Result:
        """Return the result with the search that came first, whose own collection costs the same budget again."""
        again = tuple(replace(line, part=f"{line.part}, for the search") for line in self.ledger)
        whole = self.guarantee + self.guarantee
        return replace(self, tuning=trials, guarantee=whole, ledger=(*self.ledger, *again))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each figure and seed."""
        named = {self.system: self.figures, **self.controls}
        return [
            {"figure": key, "seed": seed, "metric": self.metric, "value": value}
            for key, figures in named.items()
            for seed, value in zip(self.seeds, figures.values, strict=True)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write result.json and, beside it, the privacy statement with the ending ``.privacy.yaml``."""
        super().save(path)
        target = Path(path)
        write_statement(self.to_dict(), target.with_name(target.stem + ".privacy.yaml"))

    def _repr_html_(self) -> str:
        return result_html(self)

    def __repr__(self) -> str:
        return (
            f"Result({self.system} on {self.dataset}: {self.metric} {with_interval(self.figures)}, "
            f"{seeds_in_words(len(self.seeds))}, epsilon {self.guarantee.epsilon:.4g})"
        )


def short_name(dataset: str) -> str:
    """Return a dataset's name; of a path only the last part, since the rest would tell about the user's machine."""
    return dataset if dataset.startswith("pyg:") else Path(dataset).name or dataset


def with_interval(figures: Figures) -> str:
    """Return the mean, with its 95 % confidence interval if there are several seeds."""
    width = figures.half_width
    return f"{figures.mean:.1f}" + ("" if width is None else f" +- {width:.1f}")


def _line(entry: Mapping[str, Any]) -> LedgerLine:
    return LedgerLine(**{name: value for name, value in entry.items() if name in _OF_LINE})
