"""A trained model as a directory: predictions, weights and facts, the manifest behind them, the privacy statement."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.collection.study import Study
from privet.data.files import atomic_directory
from privet.errors import InvalidData
from privet.privacy.statement import write_statement
from privet.systems import Fitted

__all__ = ["TrainedModel"]


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model and the study that it was trained from. ``fitted.facts`` say who answered and how good it is."""

    study: Study
    fitted: Fitted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``arrays.safetensors``, ``fitted.json``, ``study.json`` and ``privacy.yaml`` into a new directory."""
        with atomic_directory(path) as folder:
            self.fitted.save(folder)
            described = json.loads((folder / "fitted.json").read_text()) | {"study": self.study.id}
            (folder / "fitted.json").write_text(json.dumps(described, indent=2, sort_keys=True) + "\n")
            (folder / "study.json").write_bytes(self.study.canonical())
            write_statement(self.result(), folder / "privacy.yaml")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """Read what :meth:`save` wrote."""
        folder = Path(path)
        fitted = Fitted.load(folder)
        try:
            study = Study.from_bytes((folder / "study.json").read_bytes())
            pinned = json.loads((folder / "fitted.json").read_text()).get("study")
        except OSError as error:
            found = error.strerror or str(error)
            raise InvalidData(f"model in {folder.name}", "one with its study's manifest", found) from None
        if pinned != study.id:
            raise InvalidData(
                f"model in {folder.name}", f"trained from the study beside it, {study.id[:12]}", str(pinned)
            )
        if fitted.probabilities.shape != (study.nodes, study.declared.classes):
            expected = f"predictions of {study.declared.classes} classes for {study.nodes} nodes"
            raise InvalidData(f"model in {folder.name}", expected, fitted.probabilities.shape)
        return cls(study, fitted)

    def result(self) -> dict[str, Any]:
        """What the privacy statement is made of: a real collection, not a simulation."""
        study, facts = self.study, self.fitted.facts
        answered = f"{facts['respondents']:,.0f} of {study.nodes:,} people answered ({facts['response_rate']:.1%})"
        return self.fitted.result(f"study {study.title!r}, id {study.id}; {answered}", "real")

    def summary(self) -> list[str]:
        """Who answered, how good the model is, and whether the reports helped: one sentence each."""
        facts = self.fitted.facts
        silent = facts["nodes"] - facts["respondents"]
        lines = [
            f"{facts['respondents']:,.0f} of {facts['nodes']:,.0f} people answered ({facts['response_rate']:.1%})."
        ]
        if silent:
            nothing = f"; about {facts['features_unknown']:,.0f} nothing is known" if facts["features_unknown"] else ""
            lines.append(
                f"Of the {silent:,.0f} others {facts['features_from_neighbours']:,.0f} are described by what people "
                f"near them reported{nothing}."
            )
        apart = [
            f"{facts[f'validation_accuracy_{name}']:.1%} of {name}"
            for name in ("respondents", "others")
            if f"validation_accuracy_{name}" in facts
        ]
        noisy = ", estimated from private labels" if self.study.release.asks("label") else ""
        lines.append(
            f"Validation accuracy {facts['validation_accuracy']:.1%} ({facts['validation_nodes']:,.0f} nodes held out "
            f"of {facts['training_nodes'] + facts['validation_nodes']:,.0f} labelled{noisy})"
            + (f": {', '.join(apart)}." if len(apart) > 1 else ".")
        )
        propagated = facts["label_propagation_accuracy"]
        alone = f"Label propagation, which needs no reports of features, gives {propagated:.1%}"
        alone += ": they need not be collected for this." if propagated >= facts["validation_accuracy"] else "."
        return [*lines, self.verdict(), alone, self.study.guarantee().in_words()]

    def verdict(self) -> str:
        """Whether it matters who sent which report, from the same held-out nodes."""
        facts = self.fitted.facts
        gain, margin = 100 * facts["gain"], 100 * facts["gain_margin"]
        begin = "The feature reports do not help beyond noise"
        if abs(gain) > margin:
            begin = "The feature reports help" if gain > 0 else "The feature reports hurt"
        return (
            f"{begin}: {gain:+.1f} +- {margin:.1f} points against {facts['control_accuracy']:.1%} with structure only, "
            "the same reports dealt to other people at random (95 % confidence)."
        )
