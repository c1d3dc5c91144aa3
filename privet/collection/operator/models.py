"""A trained model as a directory: predictions, weights and facts, the manifest behind them, the privacy statement."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.collection.operator.facts import TOLD_WITHIN, Facts
from privet.collection.study.chain import BrokenChain, Chain
from privet.collection.study.manifest import Study
from privet.data.files import atomic_directory
from privet.errors import InvalidData
from privet.privacy import Unit
from privet.privacy.statement import write_statement
from privet.systems import Fitted

__all__ = ["TrainedModel"]


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model and the study that it was trained from.

    Attributes:
        chain: The rounds of the study.
        fitted: The model.
        facts: Who answered, how good it is, and whether the reports helped.
    """

    chain: Chain
    fitted: Fitted
    facts: Facts

    @property
    def study(self) -> Study:
        """The newest round of the study."""
        return self.chain.newest

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model's directory with ``study.json`` and ``facts.json`` beside what :meth:`Fitted.save` writes."""
        with atomic_directory(path, private=True) as folder:
            self.fitted.save(folder)
            (folder / "study.json").write_bytes(self.study.canonical())
            for number, earlier in enumerate(self.chain.rounds[:-1], start=1):
                (folder / f"round-{number}.json").write_bytes(earlier.canonical())
            facts = {"study": self.study.id, **self.facts.to_dict()}
            (folder / "facts.json").write_text(json.dumps(facts, indent=2) + "\n")
            write_statement(self.result(), folder / "privacy.yaml")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read what :meth:`save` wrote."""
        folder = Path(path)
        fitted = Fitted.load(folder)
        try:
            study = Study.from_bytes((folder / "study.json").read_bytes())
            earlier = [(folder / f"round-{number}.json").read_bytes() for number in range(1, study.round)]
            chain = Chain((*map(Study.from_bytes, earlier), study))
            document = json.loads((folder / "facts.json").read_text())
            pinned = document.pop("study")
            facts = Facts.from_dict(document)
        except (InvalidData, BrokenChain):
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            found = getattr(error, "strerror", None) or str(error)
            raise InvalidData(f"model in {folder.name}", "one with its study's manifest and facts", found) from None
        if pinned != study.id:
            raise InvalidData(
                f"model in {folder.name}", f"trained from the study beside it, {study.id[:12]}", str(pinned)
            )
        if fitted.probabilities.shape != (study.nodes, study.declared.classes):
            expected = f"predictions of {study.declared.classes} classes for {study.nodes} nodes"
            raise InvalidData(f"model in {folder.name}", expected, fitted.probabilities.shape)
        return cls(chain, fitted, facts)

    def result(self) -> dict[str, Any]:
        """Return what the privacy statement is made of: a real collection, not a simulation."""
        facts = self.facts
        answered = f"{facts.respondents:,} of {facts.nodes:,} people answered ({facts.response_rate:.1%})"
        if facts.erasures:
            answered += f"; the reports of {facts.erasures:,} had been erased before the training"
            answered += f", and {facts.erased_left_out:,} of these people are not predicted"
        return self.fitted.result(f"study {self.study.title!r}, id {self.study.id}; {answered}", "real")

    def summary(self) -> list[str]:
        """Say in one sentence each who answered, how good the model is, and whether the reports helped."""
        facts = self.facts
        silent = facts.nodes - facts.respondents
        lines = [f"{facts.respondents:,} of {facts.nodes:,} people answered ({facts.response_rate:.1%})."]
        if facts.erasures:
            lines += self._erased()
        if silent and self._reports == "feature reports":
            nothing = f"; nothing is known about {facts.features_unknown:,}" if facts.features_unknown else ""
            lines.append(
                f"The model classifies the {silent:,} others, too. {facts.features_from_neighbours:,} of them are "
                f"described by what people near them reported{nothing}."
            )
        noisy = " and randomised" if self.chain.release.asks("label") else ""
        labelled = facts.training_nodes + facts.validation_nodes
        held = f"{facts.validation_nodes:,} held out of {labelled:,} that are labelled{noisy}"
        lines.append(f"Validation accuracy ({held}): {facts.accuracy.in_words()}.")
        apart = (("respondents", facts.accuracy_respondents), ("others", facts.accuracy_others))
        lines += [f"Accuracy of {name}: {each.in_words()}." for name, each in apart if each is not None]
        if facts.classes_predicted == 1:
            lines.append(
                "Warning: the model predicts the same class for everybody. It has learned nothing about anybody."
            )
        return [*lines, self.verdict(), *self._propagation(), self.chain.guarantee().in_words()]

    def _erased(self) -> list[str]:
        """Say what the model has of people whose reports were erased."""
        facts = self.facts
        lines = [f"The reports of {facts.erasures:,} people had been erased: none of these reports is in the model."]
        if len(self.chain.rounds) > 1:
            lines.append(
                "Tables of later rounds that were made before an erasure, such as published classes and a scorer, stay "
                "as they were. They are in the model, with what others answered by them."
            )
        if self.chain.release.asks_about(Unit.NEIGHBOUR_BIT):
            lines.append("What others reported about them, such as a place in their lists, is in it.")
        predicted = facts.erasures - facts.erased_left_out
        if facts.erased_left_out:
            lines.append(f"The model makes no prediction for {facts.erased_left_out:,} of them.")
        if predicted:
            lines.append(
                f"It predicts {predicted:,} of them all the same, from people near them. To leave them out, train from "
                "the study's directory, which knows who they are, and without --predict-erased."
            )
        return lines

    def verdict(self) -> str:
        """Say whether it matters who sent which report, from the same held-out nodes; or that this cannot be told."""
        facts, reports = self.facts, self._reports
        gain, margin = 100 * facts.gain, 100 * facts.gain_margin
        if facts.classes_predicted == 1:
            return f"Whether the {reports} help cannot be told from a model that predicts one class."
        figures = (
            f"{gain:+.1f} +- {margin:.1f} points against structure only, the same reports dealt to other people at "
            "random (95 % confidence)"
        )
        if abs(gain) > margin:
            return f"The {reports} {'help' if gain > 0 else 'hurt'}: {figures}."
        if margin > 100 * TOLD_WITHIN:
            return f"Whether the {reports} help cannot be told from {facts.validation_nodes:,} labels: {figures}."
        return f"The {reports} do not help by more than {max(gain + margin, 0.0):.1f} points: {figures}."

    @property
    def _reports(self) -> str:
        return "feature reports" if self.chain.release.asks("features") else "private answers"

    def _propagation(self) -> list[str]:
        facts = self.facts
        propagated = facts.label_propagation_accuracy
        if propagated is None or not facts.accuracy.told or facts.classes_predicted == 1:
            return []
        sentence = f"Label propagation, which needs no reports of features, gives {propagated.in_words()}"
        enough = propagated.told and propagated.estimate >= facts.accuracy.estimate
        return [f"{sentence}: they need not be collected for this." if enough else f"{sentence}."]
