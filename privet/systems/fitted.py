"""The result of training: predictions for the nodes of a graph, an embedding, and the guarantee behind them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import privet
from privet.build import build_digest
from privet.data.files import atomic_directory, atomic_file
from privet.errors import InvalidData, one_line
from privet.privacy import Guarantee
from privet.privacy.ledger import LedgerLine
from privet.privacy.statement import write_statement
from privet.systems.certificate import Certificate

__all__ = ["Fitted", "reading_model"]

_FORMAT = "privet-fitted-3"
_ARRAYS = ("guarantee", "probabilities", "embedding", "weights", "lines", "certificate")


@dataclass(frozen=True, eq=False)
class Fitted:
    """Predictions of a trained system over the nodes of its graph (the transductive setting).

    Attributes:
        system: The name of the system.
        guarantee: The promise behind the predictions; None only for controls that are not private at all.
        probabilities: Class probabilities, one row a node; NaN where no prediction was made.
        embedding: A vector for each node, or None.
        settings: The hyper-parameters, without a seed that would undo noise.
        weights: The network's weights by name.
        best_epoch: The epoch whose network was kept.
        validation_score: Its score on the validation labels that the server sees.
        facts: Figures that the server found out about the data on its way, by name.
        lines: The parts of the budget.
        certificate: How many liars each prediction withstands; None for a system that cannot tell.
        version: The version of privet that trained it (default: this one).
        build: The digest of that privet's files (default: this one's).
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
    lines: tuple[LedgerLine, ...] = ()
    certificate: Certificate | None = None
    version: str = field(default_factory=lambda: privet.__version__)
    build: str = field(default_factory=build_digest)

    def __repr__(self) -> str:
        nodes, classes = self.probabilities.shape
        promised = "not private" if self.guarantee is None else f"epsilon {self.guarantee.epsilon:.4g}"
        return f"Fitted({self.system}, {nodes} nodes, {classes} classes, {promised})"

    def predicted(self) -> NDArray[np.bool_]:
        """Tell for which nodes a prediction was made; none if there are no classes, as of links."""
        return np.asarray(~np.isnan(self.probabilities).any(axis=1) & (self.probabilities.shape[1] > 0))

    def predict_proba(self) -> NDArray[np.float32]:
        """Return class probabilities, one row a node; NaN where no prediction was made."""
        return self.probabilities

    def predict(self) -> NDArray[np.int64]:
        """Return the most probable class of each node; -1 where no prediction was made."""
        made = self.predicted()
        classes = np.full(len(made), -1, dtype=np.int64)
        if made.any():
            classes[made] = self.probabilities[made].argmax(axis=1)
        return classes

    def without(self, nodes: Sequence[int]) -> Fitted:
        """Return the result without predictions, and without embeddings, of some nodes.

        Args:
            nodes: Their ids.
        """
        if not len(nodes):
            return self
        chosen = np.asarray(nodes, dtype=np.int64)
        probabilities = self.probabilities.copy()
        probabilities[chosen] = np.nan
        embedding = None if self.embedding is None else self.embedding.copy()
        if embedding is not None:
            embedding[chosen] = np.nan
        return replace(self, probabilities=probabilities, embedding=embedding)

    def score(self, labels: NDArray[np.int64], nodes: NDArray[np.bool_]) -> float:
        """Return the accuracy on those of some nodes that have a label, for an evaluator who knows it."""
        nodes = nodes & (labels >= 0)
        return float((self.predict()[nodes] == labels[nodes]).mean())

    def save(self, path: str | os.PathLike[str], dataset: str = "a graph") -> None:
        """Write a model's directory: ``arrays.safetensors``, ``fitted.json`` and, if private, ``privacy.yaml``.

        Rows of nodes without a prediction are not written. Nothing half-written stays behind.
        """
        from safetensors.numpy import save_file

        made = np.flatnonzero(self.predicted())
        arrays: dict[str, NDArray[Any]] = {f"weights.{name}": value for name, value in self.weights.items()}
        arrays |= {"probabilities": self.probabilities[made], "nodes": made}
        if self.embedding is not None:
            arrays["embedding"] = self.embedding
        if self.certificate is not None:
            arrays |= {"certified.liars": self.certificate.liars, "certified.own_lie": self.certificate.own_lie}
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _ARRAYS}
        document = {
            **plain,
            "format": _FORMAT,
            "num_nodes": len(self.probabilities),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "ledger": [line.to_dict() for line in self.lines],
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }
        with atomic_directory(path, private=True) as folder:  # classes of people
            whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
            save_file(whole, folder / "arrays.safetensors")
            (folder / "fitted.json").write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
            if self.guarantee is not None:
                write_statement(self.result(dataset), folder / "privacy.yaml")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fitted:
        """Read what :meth:`save` wrote."""
        from safetensors.numpy import load_file

        folder = Path(path)
        with reading_model(folder):
            document = json.loads((folder / "fitted.json").read_text())
            arrays = load_file(folder / "arrays.safetensors")
        wanted = {"probabilities", "nodes"} <= arrays.keys()
        if not isinstance(document, dict) or document.get("format") != _FORMAT or not wanted:
            raise InvalidData(f"{folder.name} is no model of the format {_FORMAT}: train it again with this version.")
        rows = np.full((document["num_nodes"], arrays["probabilities"].shape[1]), np.nan, dtype=np.float32)
        rows[arrays["nodes"]] = arrays["probabilities"]
        guarantee = document["guarantee"]
        plain = {each.name: document[each.name] for each in fields(cls) if each.name not in _ARRAYS}
        return cls(
            **plain,
            guarantee=None if guarantee is None else Guarantee.from_dict(guarantee),
            probabilities=rows,
            embedding=arrays.get("embedding"),
            weights={k.removeprefix("weights."): v for k, v in arrays.items() if k.startswith("weights.")},
            lines=tuple(LedgerLine(**line) for line in document["ledger"]),
            certificate=_certificate(document.get("certificate"), arrays),
        )

    def result(self, dataset: str, collection: str = "simulation") -> dict[str, Any]:
        """Return what a privacy statement is made of.

        Args:
            dataset: The name of the data.
            collection: "simulation" if one program played everybody, "real" otherwise.
        """
        if self.guarantee is None:
            raise InvalidData(f"This result of {self.system} protects nobody, so it has no privacy statement.")
        return {
            "version": self.version,
            "build": self.build,
            "system": self.system,
            "dataset": dataset,
            "collection": collection,
            "guarantee": self.guarantee.to_dict(),
            "mechanisms": [line.mechanism for line in self.lines],
            "ledger": [line.to_dict() for line in self.lines],
        }

    def predictions(self, nodes: NDArray[np.int64] | None = None, names: tuple[str, ...] | None = None) -> Any:
        """Return an Arrow table of ``node``, ``class``, ``class_name`` if there are names, and each probability.

        With a certificate there are also ``certified_liars``, the number of lying friends whom the prediction
        withstands (``certified_false_classes`` where friends are counted over published classes), and ``own_lie``,
        whether a lie of the person could turn it.

        Args:
            nodes: The nodes to list; by default all for which a prediction was made.
            names: The names of the classes.
        """
        import pyarrow as pa

        total = len(self.probabilities)
        chosen = np.flatnonzero(self.predicted()) if nodes is None else np.asarray(nodes, dtype=np.int64)
        wrong = (chosen < 0) | (chosen >= total)
        if wrong.any():
            raise InvalidData("nodes to predict", f"from 0 to {total - 1}", int(chosen[np.argmax(wrong)]))
        chances, classes = self.probabilities[chosen], self.predict()[chosen]
        columns: dict[str, Any] = {"node": chosen, "class": classes}
        if names is not None:
            columns["class_name"] = pa.array([None if number < 0 else names[number] for number in classes], pa.string())
        columns |= {f"p{number}": np.ascontiguousarray(chances[:, number]) for number in range(chances.shape[1])}
        if self.certificate is not None:
            columns[self.certificate.column] = self.certificate.liars[chosen]
            columns["own_lie"] = self.certificate.own_lie[chosen]
        return pa.table(columns)

    def write_predictions(
        self,
        path: str | os.PathLike[str],
        nodes: NDArray[np.int64] | None = None,
        names: tuple[str, ...] | None = None,
    ) -> None:
        """Write :meth:`predictions` to a ``.csv`` or ``.parquet`` file that its owner alone can read."""
        from pyarrow import csv, parquet

        check_predictions_file(path)
        write = csv.write_csv if Path(path).suffix == ".csv" else parquet.write_table
        table = self.predictions(nodes, names)
        with atomic_file(path, private=True) as file:
            write(table, file)

    def save_embedding(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding as Parquet: column ``node``, then one column a dimension."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.embedding is None:
            raise InvalidData(f"This result of {self.system} has no embedding to save.")
        columns: dict[str, NDArray[Any]] = {"node": np.arange(len(self.embedding))}
        columns |= {f"z{i}": self.embedding[:, i] for i in range(self.embedding.shape[1])}
        with atomic_file(path, private=True) as file:
            pq.write_table(pa.table(columns), file)


def _certificate(document: dict[str, Any] | None, arrays: dict[str, NDArray[Any]]) -> Certificate | None:
    if document is None:
        return None
    return Certificate(arrays["certified.liars"], arrays["certified.own_lie"].astype(np.bool_), **document)


def check_predictions_file(path: str | os.PathLike[str]) -> None:
    """Refuse a name that :meth:`Fitted.write_predictions` cannot write to, before anything is computed for it."""
    if Path(path).suffix not in (".csv", ".parquet"):
        raise InvalidData("file of predictions", "a .csv or .parquet file", Path(path).name)


@contextmanager
def reading_model(folder: Path) -> Iterator[None]:
    """Tell in one sentence why files of a model's directory cannot be read."""
    from safetensors import SafetensorError

    try:
        yield
    except OSError:
        raise InvalidData(
            f"{folder.name} is no model's directory. Give one that 'privet train' or Fitted.save made."
        ) from None
    except (ValueError, SafetensorError) as error:
        raise InvalidData(f"The model in {folder.name} is damaged: {one_line(str(error))}.") from None
