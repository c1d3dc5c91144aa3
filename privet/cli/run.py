"""``privet run``: one system on one dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.app import AsJson, BadOption, Data, Seeds, System, app, examples, with_options
from privet.cli.options import (
    SETTINGS,
    ClusterName,
    Controls,
    Dataset,
    Fresh,
    GroupColumns,
    InsecureCluster,
    KeptFigures,
    OtherSettings,
    Out,
    Plot,
    SplitShares,
    Workers,
)

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
@with_options(_EPSILON | SETTINGS)
def run(
    system: System,
    dataset: Dataset,
    options: dict[str, Any],
    data: Data = None,
    group_columns: GroupColumns = None,
    other: OtherSettings = None,
    seeds: Seeds = 5,
    split: SplitShares = None,
    controls: Controls = True,
    workers: Workers = None,
    tune: Annotated[int, typer.Option(min=0, help="Trials of a search by validation labels first; 0 for none.")] = 0,
    store: KeptFigures = None,
    fresh: Fresh = False,
    plot: Plot = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="Write the first seed's predictions to this .csv or .parquet file (default: no).", show_default=False
        ),
    ] = None,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
    out: Out = None,
    as_json: AsJson = False,
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

    from rich.console import Console

    from privet.cli.files import check_writable
    from privet.cli.options import chosen_cluster, figure_store, load_dataset, settings_of, split_shares
    from privet.cli.render.progress import figure_progress
    from privet.cli.render.result import print_result
    from privet.evaluation.evaluate import evaluate, figures_needed
    from privet.evaluation.scoring import with_split
    from privet.evaluation.workers import usual_workers
    from privet.graph.distributed.hosting import hosting
    from privet.reporting.figures import accuracy_figure
    from privet.systems import SYSTEMS
    from privet.systems.controls import simulate
    from privet.systems.fitted import check_predictions_file
    from privet.systems.presets import system_for

    check_writable(out, predictions, plot=plot)
    if predictions is not None:
        check_predictions_file(predictions)
    kind = SYSTEMS.find(system)
    chosen = settings_of(kind, options, other)
    if "target_epsilon" in kind.__dataclass_fields__ and not {"target_epsilon", "noise_multiplier"} & chosen.keys():
        raise BadOption(f"{kind.name} needs --epsilon, the trained model's true epsilon (or --set noise_multiplier=4).")
    hosts = chosen_cluster(cluster, insecure_cluster, kind)
    if cluster is not None and workers is not None:
        raise BadOption("The workers of a cluster are counted in --cluster, such as local:2; leave --workers.")
    built = system_for(system, dataset, chosen if cluster is None else kind.cluster_settings(chosen))
    graph = load_dataset(dataset, data, kind.name, group_columns)
    trials: tuple[dict[str, Any], ...] = ()
    if tune:
        from privet.evaluation.tune import tune as search

        messages = Console(stderr=True)
        with messages.status(f"searching {tune} settings by validation labels"):
            built, trials = search(built, graph, tune)
        told = ", ".join(f"{name} {getattr(built, name)}" for name in trials[0] if name != "validation")
        best = max(trial["validation"] for trial in trials)
        messages.print(f"Chose {told} with validation accuracy {100 * best:.1f}.")
    needed = figures_needed(built, seeds, controls)
    with hosting(hosts) as place, figure_progress(needed) as advance:
        graph = place(graph)
        result = evaluate(
            built,
            graph,
            seeds,
            controls=controls,
            split=split_shares(split),
            dataset=dataset,
            store=figure_store(store, fresh),
            workers=1 if cluster is not None else workers or usual_workers(graph, needed),
            progress=advance,
        )
        if predictions is not None:
            simulate(built, with_split(built, graph, 0, parts=split_shares(split)), 0).write_predictions(predictions)
    result = result.tuned(trials) if trials else result
    if out is not None:
        result.save(out)
    if plot is not None:
        accuracy_figure(result, plot.stem).write(plot)
    typer.echo(json.dumps(result.to_dict())) if as_json else print_result(result)
