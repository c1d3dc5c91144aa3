"""``privet run``: one system on one dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.app import BadOption, app, check_writable, examples
from privet.cli.measuring import SETTINGS, Measuring, measuring, split_shares
from privet.cli.options import ClusterName, Controls, InsecureCluster, chosen_cluster

_EPSILON = {"epsilon": (float, "True epsilon of a trained model (central systems; no default).")}


def _list(asked: bool) -> None:
    if asked:
        from privet.data import KNOWN
        from privet.systems import SYSTEMS

        width = max(map(len, SYSTEMS))
        kinds = [(name, (kind.__doc__ or "").strip().splitlines()[0]) for name, kind in SYSTEMS.items()]
        typer.echo("\n".join(f"{name:<{width}}  {words}" for name, words in kinds))
        typer.echo(f"Datasets by name: {', '.join(KNOWN)}.")
        raise typer.Exit


@app.command(
    epilog=examples(
        "privet run lpgnn --dataset cora --data DIR --epsilon-features 1",
        "privet run heterpoisson --dataset DIRECTORY --epsilon 4 --out result.json",
    )
)
@measuring(_EPSILON | SETTINGS)
def run(
    chosen: Measuring,
    controls: Controls = True,
    tune: Annotated[int, typer.Option(min=0, help="Trials of a search by validation labels first; 0 for none.")] = 0,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Write the first seed's predictions to this .csv or .parquet file (default: no)."),
    ] = None,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
    listed: Annotated[
        bool,
        typer.Option(
            "--list",
            help="Name every system and every known dataset, and exit (default: no).",
            is_eager=True,
            callback=_list,
        ),
    ] = False,
) -> None:
    """Measure a system on a dataset, beside its controls.

    It says whether the private data helped.

    With --out result.json the privacy statement is written beside it, as result.privacy.yaml.
    """
    from privet.cli.render.measurements import print_result
    from privet.cli.render.screen import figure_progress
    from privet.evaluation.evaluate import evaluate, figures_needed
    from privet.evaluation.scoring import with_split
    from privet.graph.distributed.hosting import hosting
    from privet.reporting.figures import accuracy_figure
    from privet.systems.controls import simulate
    from privet.systems.fitted import check_predictions_file

    if predictions is not None:
        check_writable(predictions)
        check_predictions_file(predictions)
    kind, settings = chosen.kind, chosen.settings()
    budgets = getattr(kind, "budgets", ())
    if budgets and not {*budgets} & settings.keys():
        raise BadOption(f"{kind.name} needs --epsilon, the trained model's true epsilon (or --set noise_multiplier=4).")
    hosts = chosen_cluster(cluster, insecure_cluster, kind)
    if cluster is not None and chosen.workers is not None:
        raise BadOption("The workers of a cluster are counted in --cluster, such as local:2; leave --workers.")
    system = chosen.built(settings if cluster is None else kind.cluster_settings(settings))
    graph = chosen.graph()
    trials: tuple[dict[str, Any], ...] = ()
    if tune:
        system, trials = _tuned(system, graph, tune)
    needed = figures_needed(system, chosen.seeds, controls)
    with hosting(hosts) as place, figure_progress(needed) as advance:
        graph = place(graph)
        protocol = chosen.protocol(graph, needed)
        if cluster is not None:
            protocol["workers"] = 1
        result = evaluate(system, graph, controls=controls, progress=advance, **protocol)
        if predictions is not None:
            first = with_split(system, graph, 0, parts=split_shares(chosen.split))
            simulate(system, first, 0).write_predictions(predictions)
    chosen.finish(result.tuned(trials) if trials else result, accuracy_figure, print_result)


def _tuned(system: Any, graph: Any, trials: int) -> tuple[Any, tuple[dict[str, Any], ...]]:
    """Search for settings by validation labels, and tell which were chosen."""
    from rich.console import Console

    from privet.evaluation.tune import tune

    messages = Console(stderr=True)
    with messages.status(f"searching {trials} settings by validation labels"):
        built, tried = tune(system, graph, trials)
    told = ", ".join(f"{name} {getattr(built, name)}" for name in tried[0] if name != "validation")
    best = max(trial["validation"] for trial in tried)
    messages.print(f"Chose {told} with validation accuracy {100 * best:.1f}.")
    return built, tried
