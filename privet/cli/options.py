"""Options that several commands share, each written once, and the words that are typed behind them."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.app import BadOption

if TYPE_CHECKING:
    from privet.evaluation.cache import Store
    from privet.graph.distributed.cluster import Cluster
    from privet.systems import System

__all__ = [
    "ClusterName",
    "Controls",
    "Data",
    "Fresh",
    "InsecureCluster",
    "KeptFigures",
    "ModelFolder",
    "OtherSettings",
    "Out",
    "Plot",
    "Seeds",
    "Workers",
    "chosen_cluster",
    "figure_store",
    "names_of",
    "numbers_of",
    "parse_settings",
]

Data = Annotated[
    Path | None, typer.Option(envvar="PRIVET_DATA", help="Directory of the named datasets (default: PRIVET_DATA).")
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of random splits and simulations.")]
OtherSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any other setting of the system (default: its own); may be repeated."
    ),
]
ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL_DIR", help="A model's directory, from 'privet train' or Fitted.save.")
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local[:WORKERS[:MEMORY]]",
        help="Compute on a Dask cluster; ADDRESS is tls://... (default: in this process).",
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
        min=1, help="Processes to measure in; figures do not depend on it (default: one a core, and 1 on small graphs)."
    ),
]
KeptFigures = Annotated[
    Path | None,
    typer.Option(
        help="Directory of finished figures, which are not measured again (default: PRIVET_CACHE, or privet's "
        "directory among the user's caches)."
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure again what was measured before (default: do not).")]
Controls = Annotated[bool, typer.Option(help="Measure the controls beside the system.")]
Plot = Annotated[Path | None, typer.Option(help="Draw it here: a .svg, .pdf or .png file (default: no drawing).")]
Out = Annotated[Path | None, typer.Option(help="Write the result to this JSON file (default: print only).")]


def figure_store(folder: Path | None, fresh: bool) -> Store | None:
    """Return the store of finished figures that ``--store`` and ``--fresh`` ask for; None for the usual one."""
    from privet.evaluation.cache import Store, usual_store

    if folder is not None:
        return Store(folder, fresh=fresh)
    return usual_store(fresh=True) if fresh else None


def chosen_cluster(cluster: str | None, insecure: bool, kind: type[System] | None = None) -> Cluster | None:
    """Read ``--cluster`` before any work.

    Args:
        cluster: The option.
        insecure: The option ``--insecure-cluster``.
        kind: The system that is to use it; one that cannot is refused.
    """
    if cluster is None:
        return None
    from privet.graph.distributed.cluster import parse_cluster

    chosen = parse_cluster(cluster, insecure=insecure)
    if kind is not None and not getattr(kind, "on_cluster", False):
        from privet.systems import SYSTEMS

        *able, last = sorted(each.name for each in SYSTEMS.values() if getattr(each, "on_cluster", False))
        names = f"{', '.join(able)} and {last}"
        raise BadOption(f"{kind.name} needs the whole graph in one process; {names} can use --cluster.")
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
