"""Options that several commands share, each written once, and their way to a system and a graph."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.app import BadOption

if TYPE_CHECKING:
    from privet.data import Graph
    from privet.evaluation.cache import Store
    from privet.graph.distributed.cluster import Cluster

__all__ = [
    "SETTINGS",
    "ClusterName",
    "Controls",
    "Dataset",
    "Fresh",
    "GroupColumns",
    "InsecureCluster",
    "KeptFigures",
    "OtherSettings",
    "Out",
    "Plot",
    "SplitShares",
    "Workers",
    "chosen_cluster",
    "field_name",
    "load_dataset",
    "names_of",
    "numbers_of",
    "parse_settings",
    "settings_of",
    "split_shares",
]

SETTINGS: dict[str, tuple[Any, ...]] = {
    "epsilon_features": (float, "True budget of a feature report (local systems; default: the system's)."),
    "epsilon_labels": (float, "Budget of a label report (default: labels are public)."),
    "epsilon_edges": (float, "Budget of one bit of a neighbour list (default: the system's)."),
    "one_sided": (
        bool,
        "Whether one endpoint of a pair reports it, or both (private edges; default: one).",
        "--one-sided/--two-sided",
    ),
    "panel": (float, "Inquiry's scorer from a panel: share of people who show features and class (default 0.1)."),
    "pilot": (float, "Inquiry's scorer from a pilot: share of people who send a noisy vector (default: none)."),
    "class_sums": (float, "Inquiry's scorer from class sums: a trusted aggregator's epsilon (default: none)."),
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

Dataset = Annotated[
    str, typer.Option(help="A known name, an npz file, a directory with edges, nodes and schema, or pyg:Cora.")
]
GroupColumns = Annotated[
    int | None,
    typer.Option(min=1, help="OR so many binary columns into one (default: the dataset's preset).", show_default=False),
]
OtherSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any other setting of the system (default: its own); may be repeated."
    ),
]
SplitShares = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="TRAIN,VALIDATION",
        help="Shares of random splits, such as 0.1,0.1 (default: the data's own split, else 0.5,0.25).",
        show_default=False,
    ),
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local[:WORKERS[:MEMORY]]",
        help="Compute on a Dask cluster; ADDRESS is tls://... (default: in this process).",
        show_default=False,
    ),
]
InsecureCluster = Annotated[
    bool,
    typer.Option(
        "--insecure-cluster",
        help="Use a scheduler that asks for no key, as tcp://...; who reaches it runs code as you (default: refuse).",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Processes to measure in; figures do not depend on it (default: one a core, and 1 on small graphs).",
        show_default=False,
    ),
]
KeptFigures = Annotated[
    Path | None,
    typer.Option(
        help="Directory of finished figures, which are not measured again (default: PRIVET_CACHE, or privet's "
        "directory among the user's caches).",
        show_default=False,
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure again what was measured before (default: do not).")]
Controls = Annotated[bool, typer.Option(help="Measure the controls beside the system.")]
Plot = Annotated[
    Path | None, typer.Option(help="Draw it here: a .svg, .pdf or .png file (default: no drawing).", show_default=False)
]
Out = Annotated[
    Path | None, typer.Option(help="Write the result to this JSON file (default: print only).", show_default=False)
]


def figure_store(folder: Path | None, fresh: bool) -> Store | None:
    """Return the store of finished figures that ``--store`` and ``--fresh`` ask for; None for the usual one."""
    from privet.evaluation.cache import Store, usual_store

    if folder is not None:
        return Store(folder, fresh=fresh)
    return usual_store(fresh=True) if fresh else None


def chosen_cluster(cluster: str | None, insecure: bool, kind: type[Any] | None = None) -> Cluster | None:
    """Read ``--cluster`` before any work.

    Args:
        cluster: The option.
        insecure: The option ``--insecure-cluster``.
        kind: The system that is to use it; one that cannot is refused.
    """
    if cluster is None:
        return None
    from privet.graph.distributed.cluster import parse_cluster
    from privet.systems import SYSTEMS

    chosen = parse_cluster(cluster, insecure=insecure)
    if kind is not None and not getattr(kind, "on_cluster", False):
        *able, last = sorted(each.name for each in SYSTEMS.values() if getattr(each, "on_cluster", False))
        names = f"{', '.join(able)} and {last}"
        raise BadOption(f"{kind.name} needs the whole graph in one process; {names} can use --cluster.")
    return chosen


def field_name(kind: type[Any], option: str) -> str:
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
        spelled = f"--{option.replace('_', '-')}"
        raise BadOption(f"{kind.name} has no setting for {spelled}; its settings are {', '.join(sorted(known))}.")
    return name


def settings_of(kind: type[Any], options: Mapping[str, Any], other: Sequence[str] | None) -> dict[str, Any]:
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


def names_of(text: str | None) -> tuple[str, ...]:
    """Read words that are comma separated; nothing is no word.

    >>> names_of("screen, trim")
    ('screen', 'trim')
    """
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def numbers_of(text: str, option: str, example: str, below: float = math.inf) -> tuple[float, ...]:
    """Read numbers above 0 that are comma separated, each once and in order.

    Args:
        text: The numbers.
        option: The option that they were given to.
        example: What to type.
        below: The bound that every number is below (default: none).

    >>> numbers_of("1, 0.1,2", "--epsilon", "0.1,1,4")
    (0.1, 1.0, 2.0)
    """
    try:
        found = sorted({float(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 < number < below for number in found):
        allowed = "above 0" if below == math.inf else f"between 0 and {below:g}"
        raise BadOption(f"{option} takes numbers {allowed}, comma separated, such as {example}, not {text!r}.")
    return tuple(found)


def _read_matrix(path: Path) -> Any:
    """Read a matrix of numbers from a .npy file."""
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise BadOption(f"There is no file {path}.") from None
    except (OSError, ValueError):
        raise BadOption(f"{path} cannot be read as a .npy file of numbers.") from None


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE as on the command line: the value as TOML reads it, several with commas as a list, or a word.

    >>> parse_settings(["hops=4", "dropout=0.5", "batch_norm=false", "aggregator=mean"])
    {'hops': 4, 'dropout': 0.5, 'batch_norm': False, 'aggregator': 'mean'}
    """
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not re.fullmatch(r"[A-Za-z_][\w-]*(\.[\w-]+)*", name) or not equals or not text:
            raise BadOption(f"--set takes NAME=VALUE, such as hops=4, not {pair!r}.")
        settings[name.replace("-", "_")] = _toml_value(text)
    return settings


def _toml_value(text: str) -> Any:
    for candidate in (text, f"[{text}]"):
        try:
            return tomllib.loads(f"value = {candidate}")["value"]
        except tomllib.TOMLDecodeError:
            continue
    return text


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
