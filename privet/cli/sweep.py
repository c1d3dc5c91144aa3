"""``privet sweep``: accuracy against one budget."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from privet.cli.app import AsJson, BadOption, Data, Seeds, System, app, examples, with_options
from privet.cli.options import (
    SETTINGS,
    Controls,
    Dataset,
    Fresh,
    GroupColumns,
    KeptFigures,
    OtherSettings,
    Out,
    Plot,
    SplitShares,
    Workers,
)  # fmt: skip

_REPORTS = ("features", "labels", "edges")


@app.command(
    epilog=examples("privet sweep lpgnn --dataset cora --data DIR --epsilon 0.5,1,2"),
)
@with_options(SETTINGS)
def sweep(
    system: System,
    dataset: Dataset,
    options: dict[str, Any],
    epsilon: Annotated[
        str,
        typer.Option(
            help="Budgets, comma separated: of the trained model (central systems), or of the report that --of names."
        ),
    ] = "0.1,0.5,1,2,4",
    of: Annotated[
        str | None,
        typer.Option(
            help="Which report of a local system gets --epsilon: features (default), labels or edges. The others keep "
            "their own budget, and the true total is the sum of all.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    group_columns: GroupColumns = None,
    other: OtherSettings = None,
    seeds: Seeds = 5,
    split: SplitShares = None,
    controls: Controls = True,
    workers: Workers = None,
    store: KeptFigures = None,
    fresh: Fresh = False,
    plot: Plot = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Measure accuracy against a privacy budget.

    Figures have 95 % confidence intervals, and the controls stand beside them.
    """
    from privet.cli.files import check_writable
    from privet.cli.options import figure_store, load_dataset, numbers_of, settings_of, split_shares
    from privet.cli.render.progress import figure_progress
    from privet.cli.render.sweep import print_sweep
    from privet.evaluation.evaluate import figures_needed
    from privet.evaluation.sweep import sweep as measure
    from privet.evaluation.workers import usual_workers
    from privet.reporting.curves import tradeoff_figure
    from privet.systems import SYSTEMS
    from privet.systems.presets import system_for

    check_writable(out, plot=plot)
    kind, values = SYSTEMS.find(system), numbers_of(epsilon, "--epsilon", "0.1,1,4")
    budget, chosen = budget_field(kind, of), settings_of(kind, options, other)
    if budget in chosen:
        raise BadOption(f"{budget} is what the sweep changes; leave it out, or choose another report with --of.")

    def make(value: float) -> Any:
        return system_for(system, dataset, {**chosen, budget: value})

    first = make(values[0])  # refuses wrong settings before the data is read
    graph = load_dataset(dataset, data, kind.name, group_columns)
    needed = figures_needed(first, seeds, controls)
    with figure_progress(len(values) * needed) as advance:
        curve = measure(
            make,
            graph,
            values,
            budget=budget,
            seeds=seeds,
            controls=controls,
            split=split_shares(split),
            dataset=dataset,
            store=figure_store(store, fresh),
            workers=workers or usual_workers(graph, needed),
            progress=advance,
        )
    if out is not None:
        curve.save(out)
    if plot is not None:
        tradeoff_figure(curve.points, plot.stem).write(plot)
    typer.echo(json.dumps(curve.to_dict())) if as_json else print_sweep(curve)


def budget_field(kind: type[Any], of: str | None) -> str:
    """Return the setting that a sweep changes: the trained model's epsilon, or one of a device's reports."""
    if "target_epsilon" in kind.__dataclass_fields__:
        if of is not None:
            raise BadOption(f"{kind.name} trains one model with one epsilon; leave --of out.")
        return "target_epsilon"
    if of is not None and of not in _REPORTS:
        raise BadOption(f"--of takes features, labels or edges, not {of!r}.")
    from privet.cli.options import field_name

    return field_name(kind, f"epsilon_{of or 'features'}")
