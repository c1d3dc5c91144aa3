"""Options that ``run``, ``sweep`` and ``attack`` share: a system, a dataset, and how to measure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, get_type_hints

import typer

from privet.cli.app import AsJson, BadOption, check_writable, expanded, show, table_parameters, used
from privet.cli.options import (
    Data,
    Fresh,
    KeptFigures,
    OtherSettings,
    Out,
    Plot,
    Seeds,
    Workers,
    figure_store,
    names_of,
    parse_settings,
)  # fmt: skip

if TYPE_CHECKING:
    from privet.data import Graph
    from privet.evaluation.cache import Store
    from privet.evaluation.documents import Document
    from privet.reporting.figures import ReportFigure
    from privet.systems import System

__all__ = ["SETTINGS", "Measuring", "field_name", "load_dataset", "measuring", "settings_of", "split_shares"]

SETTINGS: dict[str, tuple[Any, ...]] = {
    "epsilon_features": (float, "True budget of a feature report (local systems; default: the system's)."),
    "epsilon_labels": (float, "Budget of a label report (default: labels are public)."),
    "epsilon_edges": (float, "Budget of one bit of a neighbour list (default: the system's)."),
    "epsilon_person": (float, "Budget of one answer about everything on a device (inquiry; default: not asked)."),
    "one_sided": (
        bool,
        "Whether one endpoint of a pair reports it, or both (private edges; default: one).",
        "--one-sided/--two-sided",
    ),
    "panel": (float, "Inquiry's scorer from a panel: share of people who show features and class (default 0.1)."),
    "pilot": (float, "Inquiry's scorer from a pilot: share of people who send a noisy vector (default: none)."),
    "class_sums": (float, "Inquiry's scorer from class sums: a trusted aggregator's epsilon (default: none)."),
    "server_sums": (float, "Inquiry's scorer from class sums by two servers: their epsilon (default: none)."),
    "scorer": (Path, "Inquiry's scorer from a .npy file, (features + 1) x classes (default: the panel's)."),
    "public_features": (
        bool,
        "Inquiry: features are public, only lists are private (default: no).",
        "--public-features",
    ),
    "defence": (str, "Defences against liars, comma separated: screen, trim, agree, bound (default: none)."),
    "delta": (float, "The delta of a trained model (central systems; default 1 / (10 N); N^-1.1: --set delta=paper)."),
    "backbone": (str, "gcn, sage, gin or gat (default: the system's)."),
    "hops": (int, "Propagation steps (default: the system's)."),
}
"""Settings of systems that have an option of their own; the others are given with ``--set``."""

D = TypeVar("D", bound="Document")


class HowMeasured(TypedDict):
    """The arguments of a measurement, as :mod:`privet.evaluation` names them."""

    seeds: int
    split: tuple[float, float] | None
    dataset: str
    store: Store | None
    workers: int


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """A system, a dataset, and how to measure: an attribute for each shared option, and the settings that were used."""

    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="For example lpgnn; an unknown name lists them all.")]
    dataset: Annotated[
        str, typer.Option(help="A known name, an npz file, a directory with edges, nodes and schema, or pyg:Cora.")
    ]
    data: Data = None
    group_columns: Annotated[
        int | None, typer.Option(min=1, help="OR so many binary columns into one (default: the dataset's preset).")
    ] = None
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="Run the paper's own algorithm with its settings (default: privet's defaults)."
        ),
    ] = False
    other: OtherSettings = None
    seeds: Seeds = 5
    split: Annotated[
        str | None,
        typer.Option(
            metavar="TRAIN,VALIDATION",
            help="Shares of random splits, such as 0.1,0.1 (default: the data's own split, else 0.5,0.25).",
        ),
    ] = None
    workers: Workers = None
    store: KeptFigures = None
    fresh: Fresh = False
    plot: Plot = None
    out: Out = None
    as_json: AsJson = False
    options: Mapping[str, Any]

    @property
    def kind(self) -> type[System]:
        """The class of the system."""
        from privet.systems import SYSTEMS

        return SYSTEMS.find(self.system)

    def settings(self) -> dict[str, Any]:
        """Return the settings that were given as options or with ``--set``."""
        return settings_of(self.kind, self.options, self.other)

    def built(self, settings: Mapping[str, Any]) -> System:
        """Return the system with the dataset's preset, or the paper's settings, and some settings."""
        from privet.systems.presets import system_for

        return system_for(self.system, self.dataset, settings, as_published=self.as_published)

    def graph(self) -> Graph:
        """Return the dataset, as the system is given it."""
        return load_dataset(self.dataset, self.data, self.kind.name, self.group_columns)

    def protocol(self, graph: Graph, figures: int) -> HowMeasured:
        """Return how a number of figures is measured on a graph."""
        from privet.evaluation.workers import usual_workers

        return {
            "seeds": self.seeds,
            "split": split_shares(self.split),
            "dataset": self.dataset,
            "store": figure_store(self.store, self.fresh),
            "workers": self.workers or usual_workers(graph, figures),
        }

    def finish(self, found: D, draw: Callable[[D, str], ReportFigure], print_it: Callable[[D], None]) -> None:
        """Write, draw and print what was measured."""
        if self.out is not None:
            found.save(self.out)
        if self.plot is not None:
            draw(found, self.plot.stem).write(self.plot)
        show(found, print_it, self.as_json)


def measuring(settings: Mapping[str, tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the shared options and those of some settings; it receives them as ``chosen``.

    Files that could not be written are refused before the command starts.

    Args:
        settings: Options of settings, as for :func:`~privet.cli.app.with_options`.
    """
    kinds = get_type_hints(Measuring, include_extras=True)
    shared = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=kinds[each.name],
        )
        for each in fields(Measuring)
        if each.name != "options"
    ]

    def collect(values: dict[str, Any]) -> Measuring:
        given = {name: values.pop(name) for name in settings}
        check_writable(values["out"], plot=values["plot"])
        return Measuring(**values, options=used(given))

    return lambda command: expanded(command, "chosen", [*shared, *table_parameters(settings)], collect)


def field_name(kind: type[System], option: str) -> str:
    """Return the field of a system that an option sets: ``epsilon`` and ``hops`` are called otherwise in some."""
    from dataclasses import fields

    known = {field.name for field in fields(kind)}
    other = {"epsilon": "target_epsilon", "hops": "feature_hops"}.get(option, option)
    name = option if option in known else other
    if name not in known:
        budgets = sorted(each.replace("_", "-") for each in known if each.startswith("epsilon_"))
        if option == "epsilon" and budgets:
            takes = ", ".join(f"--{each}" for each in budgets)
            raise BadOption(f"{kind.name} is a local system and takes {takes}, not --epsilon.")
        raise BadOption(f"{kind.name} has no setting {option}; its settings are {', '.join(sorted(known))}.")
    return name


def settings_of(kind: type[System], options: Mapping[str, Any], other: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings that were given as options or with ``--set``, none of them twice."""
    chosen: dict[str, Any] = {}
    for option, value in (*options.items(), *parse_settings(other or []).items()):
        name = field_name(kind, option)
        if name in chosen:
            raise BadOption(f"{name} was given twice, as an option and with --set; give it once.")
        chosen[name] = value
    if isinstance(chosen.get("defence"), str):
        chosen["defence"] = names_of(chosen["defence"])
    if isinstance(chosen.get("scorer"), Path):
        chosen["scorer"] = _read_matrix(chosen["scorer"])
    return chosen


def _read_matrix(path: Path) -> Any:
    """Read a matrix of numbers from a .npy file."""
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise BadOption(f"There is no file {path}.") from None
    except (OSError, ValueError):
        raise BadOption(f"{path} cannot be read as a .npy file of numbers.") from None


def split_shares(text: str | None) -> tuple[float, float] | None:
    """Read ``--split``: the shares of training and validation nodes.

    >>> split_shares("0.1, 0.1")
    (0.1, 0.1)
    """
    if text is None:
        return None
    try:
        train, validation = (float(part) for part in text.split(","))
    except ValueError:
        train, validation = 0.0, 0.0
    if not (0 < train < 1 and 0 <= validation < 1 and train + validation < 1):
        raise BadOption(f"--split takes two shares that leave test nodes, such as 0.5,0.25, not {text!r}.")
    return train, validation


def load_dataset(dataset: str, root: Path | None, system: str, group: int | None) -> Graph:
    """Load a graph with features and labels, and transform it as the preset or ``--group-columns`` says."""
    from privet.data import group_columns, load
    from privet.errors import InvalidData
    from privet.systems.presets import prepared

    graph = load(dataset, root)
    lacking = " and ".join(each for each in ("features", "labels") if getattr(graph, each) is None)
    if lacking:
        raise InvalidData(f"The dataset {Path(dataset).name} lacks {lacking}. Give one with features and labels.")
    if graph.schema is None:
        raise InvalidData(_undeclared(dataset, root, graph))
    return prepared(graph, system, dataset) if group is None else group_columns(graph, group)


def _undeclared(dataset: str, root: Path | None, graph: Graph) -> str:
    """Say how to declare the ranges of a dataset of PyTorch Geometric, in a line to copy."""
    from privet.data.declaring import declaration
    from privet.data.graph import PUBLIC

    name, (line, remark) = dataset.removeprefix("pyg:"), declaration(graph.features, graph.labels)
    code = f"from privet.data import Schema, load_pyg, save; save(load_pyg('{name}', '{root or '.'}', schema={line}), "
    return (
        f"PyTorch Geometric declares no ranges for {name}. Write a file that does, and use it as --dataset: "
        f"python -c \"{code}'{name}.npz')\". {remark} {PUBLIC}"
    )
