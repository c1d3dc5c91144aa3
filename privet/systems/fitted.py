"""What the server has after training: predictions for every node, an embedding, and the guarantee behind them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.files import atomic_directory, atomic_file
from privet.errors import InvalidData
from privet.privacy import Guarantee

__all__ = ["Fitted"]

_FORMAT = "privet-fitted-1"


@dataclass(frozen=True, eq=False)
class Fitted:
    """Predictions of a trained system over the nodes of its graph (the transductive setting).

    ``guarantee`` is None only for controls that are not private at all. ``facts`` are what the server found out about
    the data on its way, by name.
    """

    system: str
    guarantee: Guarantee | None
    probabilities: NDArray[np.float32]
    embedding: NDArray[np.float32] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    best_epoch: int | None = None
    validation_score: float | None = None
    facts: dict[str, float] = field(default_factory=dict)

    def predict_proba(self) -> NDArray[np.float32]:
        """Class probabilities, one row a node."""
        return self.probabilities

    def predict(self) -> NDArray[np.int64]:
        """The most probable class of each node."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    def score(self, labels: NDArray[np.int64], nodes: NDArray[np.bool_]) -> float:
        """Accuracy on some nodes, for an evaluator who knows their labels."""
        return float((self.predict()[nodes] == labels[nodes]).mean())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a directory with ``arrays.safetensors`` and ``fitted.json``; nothing half-written stays behind."""
        from safetensors.numpy import save_file

        arrays = {"probabilities": self.probabilities, **{f"weights.{k}": v for k, v in self.weights.items()}}
        if self.embedding is not None:
            arrays["embedding"] = self.embedding
        document = {
            "format": _FORMAT,
            "system": self.system,
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "settings": self.settings,
            "best_epoch": self.best_epoch,
            "validation_score": self.validation_score,
            "facts": self.facts,
        }
        with atomic_directory(path) as folder:
            save_file(
                {name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "arrays.safetensors"
            )
            (folder / "fitted.json").write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fitted:
        """Read what :meth:`save` wrote."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        folder = Path(path)
        try:
            document = json.loads((folder / "fitted.json").read_text())
            arrays = load_file(folder / "arrays.safetensors")
        except (OSError, ValueError, SafetensorError) as error:
            raise InvalidData(f"model in {folder.name}", "a model's directory", str(error)) from None
        if not isinstance(document, dict) or document.get("format") != _FORMAT or "probabilities" not in arrays:
            raise InvalidData(f"model in {folder.name}", f"of the format {_FORMAT}", "another one")
        guarantee = document["guarantee"]
        return cls(
            system=document["system"],
            guarantee=None if guarantee is None else Guarantee.from_dict(guarantee),
            probabilities=arrays["probabilities"],
            embedding=arrays.get("embedding"),
            settings=document["settings"],
            weights={k.removeprefix("weights."): v for k, v in arrays.items() if k.startswith("weights.")},
            best_epoch=document["best_epoch"],
            validation_score=document["validation_score"],
            facts=document.get("facts", {}),
        )

    def save_embedding(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding as Parquet: column ``node``, then one column a dimension."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.embedding is None:
            raise InvalidData(f"result of {self.system}", "one with an embedding", "none")
        columns: dict[str, NDArray[Any]] = {"node": np.arange(len(self.embedding))}
        columns |= {f"z{i}": self.embedding[:, i] for i in range(self.embedding.shape[1])}
        with atomic_file(path) as file:
            pq.write_table(pa.table(columns), file)
