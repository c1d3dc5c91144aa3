"""From a study's file to its directory: public files are read, the first round is drawn up, keys are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from privet.collection.operator.folder import Declared, StudyFolder
from privet.collection.operator.public_data import NamedFiles, read_graph, read_labels
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import DEFAULT_LIMIT, Study
from privet.collection.study.sections import Declaration, FeatureMechanism, SystemChoice
from privet.collection.study.study_file import StudyFile
from privet.collection.study.toml_text import KeyPath
from privet.data import Categories
from privet.data.population import Population
from privet.errors import InvalidData, PrivetError
from privet.privacy import Unit
from privet.privacy.rounding import at_most
from privet.release import LocalRelease

if TYPE_CHECKING:
    from privet.data import Graph
    from privet.systems import LocalSystem

__all__ = ["draw_up", "make_study", "price_of", "unnamed"]

_SEED = 0  # public: anybody can draw the same lots
_T = TypeVar("_T")


def price_of(study: Study) -> float:
    """Return the epsilon of all rounds of a study together, as far as its first round tells."""
    return Chain((study,)).announced.price.epsilon


def unnamed(study: Study) -> list[str]:
    """Warn of what participants would read as "Feature 0" or "Class 0"."""
    told = []
    if study.questions is None and study.release.asks_about(Unit.FEATURES):
        told.append('Warning: the questions have no words, so participants read "Feature 0". Give each its ask.')
    names = [domain.names for domain in study.declared.features if isinstance(domain, Categories)]
    if any(each is None for each in names):
        told.append("Warning: some answers have no names, so participants choose between numbers. Name the answers.")
    if study.release.asks("label") and study.class_names is None:
        told.append('Warning: the classes have no names, so participants choose "Class 0". Name them under [class].')
    return told


def make_study(file: StudyFile, folder: Path) -> StudyFolder:
    """Draw up the first round of a study, and make its directory with keys and tokens.

    Args:
        file: The study's file.
    """
    made = draw_up(file)
    return StudyFolder.create(folder, made.study, public=made.public, asks=made.asks, declared=file.text)


def draw_up(file: StudyFile) -> Declared:
    """Draw up the first round of a study.

    Args:
        file: The study's file. An error says what is wrong with it, or with the files that it names.
    """
    declaration = file.declaration
    files = NamedFiles(file)
    document = declaration.document(datetime.now(UTC))
    population = Population(declaration.declared, files.nodes)
    document |= {"nodes": files.nodes, "directory": None if files.directory is None else files.directory.digest}
    if declaration.system is None:
        file.refuse(files.problems)
        made = Declared(_placed(file, ("budgets",), lambda: _one_round(declaration, document, population)))
    else:
        made = _planned(file, declaration.system, files, document, population)
    file.refuse(list(_unordered(declaration, made.study.release)))
    price = price_of(made.study)
    if price > DEFAULT_LIMIT and not declaration.budgets.high_cost:
        told = f"cost {at_most(price)} together, above the limit of {DEFAULT_LIMIT:g} that participants start with"
        file.refuse([(("budgets",), f"{told}. Lower them, or say high_cost = true.")])
    names = () if files.directory is None else (files.directory.lines,)
    return Declared(made.study, (*made.public, *names), made.asks)


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
    file: StudyFile, chosen: SystemChoice, files: NamedFiles, document: dict[str, Any], population: Population
) -> Declared:
    """Let the system ask what it asks first."""
    from privet.collection.operator.declaration import declare

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
    known: dict[str, Any] = {"graph": graph, "labels": labels, "panel": panel, "people": asked}
    return _placed(file, ("system",), lambda: declare(document, declaration.declared, system, **known))


def _system(declaration: Declaration, chosen: SystemChoice) -> LocalSystem:
    """Return the system that the file names, with its budgets."""
    from privet.systems import SYSTEMS, LocalSystem

    kind = SYSTEMS.find(chosen.name)
    if not issubclass(kind, LocalSystem):
        raise InvalidData(f"{chosen.name} trains on data that a trusted holder has. Name a system of the local model.")
    known = {each.name for each in fields(kind)}
    budgets = {
        f"epsilon_{name}": getattr(declaration.budgets, name) for name in ("features", "labels", "edges", "person")
    }
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
    numeric = [each.mechanism.name for each in asked if not {"categories", "columns"} & {*each.mechanism.implied}]
    if not numeric:
        return []
    problems: list[tuple[KeyPath, str]] = []
    for place, question in enumerate(declaration.questions):
        domain = question.feature()
        if isinstance(domain, Categories) and domain.count > 2 and not question.ordered:
            sentence = (
                f"has answers without an order, which {numeric[0]} would read as the numbers 0 to {domain.count - 1}. "
                "Say ordered = true, ask a yes-or-no question about each answer, or use the mechanism mixed-response."
            )
            problems.append((("questions", place), sentence))
    return problems
