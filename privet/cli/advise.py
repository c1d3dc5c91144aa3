"""``privet advise``: before anything is collected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import AsJson, BadOption, app, check_writable, examples, show
from privet.cli.options import Data, Fresh, Out, figure_store

if TYPE_CHECKING:
    from privet.advice.topology import Topology
    from privet.data import Schema


@app.command(
    epilog=examples(
        "privet advise --graph edges.csv --schema schema.json --budget 2",
        "privet advise --nodes 5000 --degree 12 --features 20 --classes 4 --budget 2",
    )
)
def advise(
    budget: Annotated[float, typer.Option(help="Total epsilon of a person, for all that is collected from them.")],
    graph: Annotated[
        str | None,
        typer.Option(
            help="Edge list (.csv, .parquet), npz file, directory or known name; features are not read (no default)."
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=60, help="Instead of --graph: number of people (no default).")
    ] = None,
    degree: Annotated[float | None, typer.Option(help="With --nodes: mean number of contacts (no default).")] = None,
    schema: Annotated[
        Path | None, typer.Option(help="The schema.json of the features (default: the graph's own).")
    ] = None,
    classes: Annotated[int | None, typer.Option(min=2, help="Number of classes (default: the schema's).")] = None,
    features: Annotated[
        int | None, typer.Option(min=1, help="Instead of --schema: number of features, from 0 to 1 (no default).")
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="Their number of categories, one for all or comma separated (default: numbers).")
    ] = None,
    protect: Annotated[
        str, typer.Option(help="What shares the budget: features; features,labels; features,edges; or person.")
    ] = "features,labels",
    seeds: Annotated[int, typer.Option(min=2, help="Fresh draws of each world for the final comparison.")] = 5,
    limit: Annotated[int, typer.Option(min=60, help="Simulate a region of at most so many people.")] = 1000,
    worth: Annotated[float, typer.Option(min=0, help="Points of accuracy below which a gain counts as none.")] = 1.0,
    data: Data = None,
    fresh: Fresh = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Advise before anything is collected.

    It recommends system, mechanism, split and hops, and says whether the data are needed at all.

    Synthetic people of the declared schema are simulated on the topology. Nothing private is read.
    """
    from privet.advice.advise import advise as simulate
    from privet.advice.advise import figures_needed
    from privet.advice.plan import StudyPlan
    from privet.cli.render.advice import print_advice
    from privet.cli.render.screen import figure_progress

    check_writable(out)
    topology = topology_for(graph, data, nodes, degree)
    declared = declared_schema(topology, schema, classes, features, categories)
    plan = StudyPlan(topology, declared, budget, protect, seeds, limit, worth)
    with figure_progress(figures_needed(plan)) as advance:
        found = simulate(plan, lambda: advance("simulating"), store=figure_store(None, fresh))
    if out is not None:
        found.save(out)
    show(found, print_advice, as_json)


def topology_for(graph: str | None, root: Path | None, nodes: int | None, degree: float | None) -> Topology:
    """Return the given graph's topology, or a synthetic one of the stated size and mean degree."""
    from privet.advice.topology import read_topology, stated_topology

    if graph is not None:
        if nodes is not None or degree is not None:
            raise BadOption("--graph is given alone, without --nodes and --degree.")
        found = read_topology(graph, root)
        if found.schema is not None and found.schema.private_edges:
            raise BadOption(
                "The graph's schema declares private edges, which are not read: state --nodes and --degree."
            )
        return found
    if nodes is None or degree is None:
        raise BadOption("advise needs --graph, or both --nodes and --degree.")
    return stated_topology(nodes, degree)


def declared_schema(
    topology: Topology, path: Path | None, classes: int | None, features: int | None, categories: str | None
) -> Schema:
    """Return the schema of a file, of counts, or that beside the graph; ``classes`` has the last word."""
    from dataclasses import replace

    from privet.advice.topology import read_schema

    if path is not None:
        if features is not None or categories is not None:
            raise BadOption("--schema is given alone, without --features and --categories.")
        schema = read_schema(path)
    elif features is not None or categories is not None:
        schema = _counted(features, categories)
    elif topology.schema is not None:
        schema = topology.schema
    else:
        raise BadOption(
            "This graph has no schema: give --schema FILE, or --features (and --categories) with --classes."
        )
    if classes is None and not schema.classes:
        raise BadOption("No schema says how many classes there are: give --classes.")
    return replace(schema, classes=classes or schema.classes, class_names=None, private_edges=False)


def _counted(features: int | None, categories: str | None) -> Schema:
    """Numbers from 0 to 1, or so many categories each: one count for all features, or one count a feature."""
    from privet.data import Schema

    if categories is None:
        return Schema.numeric(features or 0, 0.0, 1.0)
    try:
        counts = [int(count) for count in categories.split(",")]
    except ValueError:
        raise BadOption(f"--categories takes integers, comma separated, not {categories!r}.") from None
    if len(counts) == 1:
        counts *= features or 1
    if features is not None and len(counts) != features:
        raise BadOption(f"--categories takes one count, or one for each of {features} features.")
    return Schema.categorical(counts)
