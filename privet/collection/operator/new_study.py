"""From a study's file to its directory: public files are read, the first round is drawn up, keys are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.collection.operator.folder import StudyFolder
from privet.collection.study.chain import Chain
from privet.collection.study.directory import Directory
from privet.collection.study.manifest import DEFAULT_LIMIT, Study
from privet.collection.study.study_file import Declaration, FeatureMechanism, StudyFile, SystemChoice
from privet.collection.study.toml_lines import KeyPath
from privet.data import Categories
from privet.data.population import Population
from privet.errors import InvalidData, PrivetError
from privet.privacy import Unit
from privet.privacy.rounding import at_most
from privet.release import LocalRelease
from privet.release.asks import Ask

if TYPE_CHECKING:
    from privet.data import Graph

__all__ = ["NewStudy", "draw_up", "make_study", "price_of"]

_SEED = 0  # public: anybody can draw the same lots
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class NewStudy:
    """The first round of a study and what its manifest binds by hash.

    Attributes:
        study: The manifest.
        public: The public data as bytes.
        asks: The questions with their public arrays.
    """

    study: Study
    public: tuple[bytes, ...] = ()
    asks: tuple[Ask, ...] = ()


def price_of(study: Study) -> float:
    """Return the epsilon of all rounds of a study together, as far as its first round tells."""
    return float((Chain((study,)).announced or study.release).price.epsilon)


def make_study(file: StudyFile, folder: Path) -> StudyFolder:
    """Draw up the first round of a study, and make its directory with keys and tokens.

    Args:
        file: The study's file.
        folder: The directory to make.
    """
    made = draw_up(file)
    return StudyFolder.create(folder, made.study, public=made.public, asks=made.asks, declared=file.text)


def draw_up(file: StudyFile) -> NewStudy:
    """Draw up the first round of a study.

    Args:
        file: The study's file. An error says what is wrong with it, or with the files that it names.
    """
    declaration = file.declaration
    files = _Files(file)
    document = declaration.document(datetime.now(UTC))
    population = Population(declaration.declared, files.nodes)
    document |= {"nodes": files.nodes, "directory": None if files.directory is None else files.directory.digest}
    if declaration.system is None:
        file.refuse(files.problems)
        made = NewStudy(_placed(file, ("budgets",), lambda: _one_round(declaration, document, population)))
    else:
        made = _planned(file, declaration.system, files, document, population)
    file.refuse(list(_unordered(declaration, made.study.release)))
    price = price_of(made.study)
    if price > DEFAULT_LIMIT and not declaration.budgets.high_cost:
        told = f"cost {at_most(price)} together, above the limit of {DEFAULT_LIMIT:g} that participants start with"
        file.refuse([(("budgets",), f"{told}. Lower them, or say high_cost = true.")])
    names = () if files.directory is None else (files.directory.lines,)
    return NewStudy(made.study, (*made.public, *names), made.asks)


class _Files:
    """The files that a study's file names, and what is wrong with them."""

    def __init__(self, file: StudyFile) -> None:
        self.file, self.problems = file, list[tuple[KeyPath, str]]()
        people = file.declaration.people
        self.directory = self.read(("people", "directory"), people.directory, Directory.read)
        counted = 2 if self.directory is None else len(self.directory)
        self.nodes = people.nodes or counted
        if self.directory is not None and counted != self.nodes:
            sentence = f"names {counted:,} participants, and people.nodes says {self.nodes:,}."
            self.problems.append((("people", "directory"), sentence))

    def read(self, key: KeyPath, name: str | None, reader: Callable[[Path], _T]) -> _T | None:
        """Read a file if it is named; a problem is remembered and told later."""
        if name is None:
            return None
        try:
            return reader(self.file.beside(name))
        except PrivetError as error:
            self.problems.append((key, f"cannot be used. {error}"))
            return None

    def people(self, key: str, given: float | str | None, order: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the people who are named: a share of all, drawn from an order, or those of a file."""
        if isinstance(given, str):
            return self.read(("people", key), given, self._listed)
        return None if given is None else np.sort(order[: max(1, round(given * self.nodes))])

    def _listed(self, path: Path) -> NDArray[np.int64]:
        from privet.collection.operator.public_data import read_nodes

        found = read_nodes(path)
        if not len(found) or found.min() < 0 or found.max() >= self.nodes:
            raise InvalidData(f"The nodes in {path.name} must be from 0 to {self.nodes - 1}, at least one.")
        return np.unique(found)


def _one_round(declaration: Declaration, document: dict[str, Any], population: Population) -> Study:
    """Ask everything at once, by the mechanisms that the file names."""
    budgets, chosen = declaration.budgets, declaration.mechanism or FeatureMechanism()
    asked: list[dict[str, Any]] = []
    if budgets.features is not None:
        other = {"sample": chosen.sample, "delta": budgets.delta}
        given = {name: value for name, value in other.items() if value is not None}
        asked.append({"ask": "features", "mechanism": chosen.name, "epsilon": budgets.features, **given})
    if budgets.labels is not None:
        asked.append({"ask": "label", "mechanism": "randomized-response", "epsilon": budgets.labels})
    if budgets.edges is not None:
        lists = {"mechanism": "adjacency-response", "epsilon": budgets.edges, "one_sided": chosen.one_sided}
        asked.append({"ask": "neighbours", **lists})
    LocalRelease.from_list(asked, population)  # refuses a mechanism or a budget in its own words
    return Study.read({**document, "release": asked})


def _planned(
    file: StudyFile, chosen: SystemChoice, files: _Files, document: dict[str, Any], population: Population
) -> NewStudy:
    """Let the system ask what it asks first."""
    from privet.collection.operator.declaration import declare
    from privet.collection.operator.public_data import read_graph, read_labels

    declaration = file.declaration
    system = _placed(file, ("system",), lambda: _system(declaration, chosen))
    order = np.random.default_rng(_SEED).permutation(files.nodes)
    panel = files.people("panel", declaration.people.panel, order)
    others = order if panel is None else order[~np.isin(order, panel)]
    asked = files.people("ask_class", declaration.people.ask_class, others)
    graph: Graph | None = files.read(
        ("public", "edges"), declaration.public.edges, lambda path: read_graph(path, population)
    )
    labels = files.read(("public", "labels"), declaration.public.labels, lambda path: read_labels(path, population))
    file.refuse(files.problems)

    def first() -> NewStudy:
        made = declare(document, declaration.declared, system, graph=graph, labels=labels, panel=panel, people=asked)
        return NewStudy(made.study, made.public, made.asks)

    return _placed(file, ("system",), first)


def _system(declaration: Declaration, chosen: SystemChoice) -> Any:
    """Return the system that the file names, with its budgets."""
    from privet.systems import SYSTEMS, LocalSystem

    kind = SYSTEMS.find(chosen.name)
    if not issubclass(kind, LocalSystem):
        raise InvalidData(f"{chosen.name} trains on data that a trusted holder has. Name a system of the local model.")
    known = {each.name for each in fields(kind)}
    budgets = {f"epsilon_{name}": getattr(declaration.budgets, name) for name in ("features", "labels", "edges")}
    unknown = sorted(chosen.settings.keys() - known) + [
        name for name, value in budgets.items() if value is not None and name not in known
    ]
    if unknown:
        raise InvalidData(f"{chosen.name} has no setting {unknown[0]}; it has {', '.join(sorted(known))}.")
    settings = {"seed": _SEED, **{name: value for name, value in budgets.items() if name in known}, **chosen.settings}
    if declaration.people.panel is not None:
        settings["panel"] = 0.5  # the manifest says who they are
    return kind(**settings)


def _placed(file: StudyFile, key: KeyPath, make: Callable[[], _T]) -> _T:
    """Return what is made; an error is told with its line in the study's file."""
    try:
        return make()
    except PrivetError as error:
        file.refuse([(key, f"This gives no valid study. {error}")])
        raise


def _unordered(declaration: Declaration, release: LocalRelease) -> list[tuple[KeyPath, str]]:
    """Find categories without an order that a mechanism would read as numbers."""
    asked = [each for each in release.questions if each.ask.unit is Unit.FEATURES]
    numeric = [each.mechanism.name for each in asked if not hasattr(each.mechanism, "categories")]
    if not numeric:
        return []
    problems: list[tuple[KeyPath, str]] = []
    for place, question in enumerate(declaration.questions):
        domain = question.feature
        if isinstance(domain, Categories) and domain.count > 2 and not question.ordered:
            sentence = (
                f"has answers without an order, which {numeric[0]} would read as the numbers 0 to {domain.count - 1}. "
                "Say ordered = true, ask a yes-or-no question about each answer, or use the mechanism sampled-response."
            )
            problems.append((("questions", place), sentence))
    return problems
