"""What decides a figure: the data, the split, the system's settings, the seed and the program."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import privet
from privet.data import Graph, Split
from privet.evaluation.cache import Store, canonical, usual_store
from privet.graph.memory import topology_of

__all__ = ["data_digest", "figure_key", "is_described", "program_digest", "split_digest", "store_for"]

_CSR = ("indptr", "indices", "data")
_COMPUTE = (
    "data", "privacy", "mechanisms", "release", "graph", "estimation", "models", "auditing", "systems", "evaluation",
    "advice", "reproduction",
)  # fmt: skip
_PYTHON = ("abc", "builtins", "typing")
_LIBRARIES = ("numpy", "scipy", "torch")


def figure_key(figure: str, subject: Any, seed: int, *, data: str, split: Any, **more: Any) -> dict[str, Any]:
    """Describe a figure by all that decides it, for the store.

    Controls of different systems that have equal subjects share their figures.

    Args:
        figure: The figure's name.
        subject: The system, or what stands for it, whose settings decide the figure.
        seed: The seed of the training.
        data: The digest of the data.
        split: The digest of the split, or how it is made.
        **more: Whatever else decides the figure.
    """
    return {
        "figure": figure,
        "system": subject.name,
        "settings": canonical({**subject.settings(), "seed": seed}),
        "data": data,
        "split": split,
        "program": program_digest(),
        **more,
    }


def data_digest(graph: Graph) -> str:
    """Return a digest of everything that a measurement reads beside the split: a file may change under its name."""
    declared = None if graph.schema is None else graph.schema.to_json()
    features = graph.features
    columns = [features] if isinstance(features, np.ndarray | None) else [getattr(features, name) for name in _CSR]
    return _digest(topology_of(graph).digest(), graph.labels, declared, *columns)


def split_digest(split: Split | None) -> str:
    """Return a digest of who trains, who validates and who tests."""
    return "" if split is None else _digest(split.train, split.validation, split.test)


def store_for(store: Store | None, system: Any, graph: Graph) -> Store:
    """Return a store as it is given, or the usual one for systems and data that a key describes whole.

    Args:
        store: The store that was asked for, or None.
        system: The system that is measured.
        graph: The data.
    """
    if store is not None:
        return store
    described = is_described(system) and topology_of(graph).enumerable
    return usual_store() if described else Store(None)


def is_described(system: Any) -> bool:
    """Return True if a key tells all about a system: its program is privet's, and its fields are plain values.

    A system of another package may change without a trace, and so may a function or a module that is given to one.
    """
    ours = all(kind.__module__.partition(".")[0] in ("privet", *_PYTHON) for kind in type(system).__mro__)
    given = [getattr(system, each.name) for each in fields(system)]
    values = [each for value in given for each in (value if isinstance(value, tuple | list) else (value,))]
    return ours and all(isinstance(value, str | int | float | None) for value in values)


@cache
def program_digest() -> str:
    """Return a digest of the modules that figures come from, and of the libraries beneath them.

    A version alone would let an edited program read the figures of the one before.
    """
    root = Path(privet.__file__).parent
    files = sorted(path for part in _COMPUTE for path in (root / part).rglob("*.py"))
    mark = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    for path in files:
        mark.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{privet.__version__} {mark.hexdigest()[:32]}"


def _digest(*parts: Any) -> str:
    mark = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            mark.update(f"{part.dtype} {part.shape} ".encode() + np.ascontiguousarray(part).tobytes())
        else:
            mark.update(repr(part).encode())
    return mark.hexdigest()[:32]
