"""``privet sweep``: accuracy against one budget."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from privet.cli.app import BadOption, app, examples
from privet.cli.measuring import SETTINGS, Measuring, field_name, measuring
from privet.cli.options import Controls, numbers_of

_REPORTS = ("features", "labels", "edges")


@app.command(epilog=examples("privet sweep lpgnn --dataset cora --data DIR --epsilon 0.5,1,2"))
@measuring(SETTINGS)
def sweep(
    chosen: Measuring,
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
            "their own budget, and the true total is the sum of all."
        ),
    ] = None,
    controls: Controls = True,
) -> None:
    """Measure accuracy against a privacy budget.

    Figures have 95 % confidence intervals, and the controls stand beside them.
    """
    from privet.cli.render.measurements import print_sweep
    from privet.cli.render.screen import figure_progress
    from privet.evaluation.evaluate import figures_needed
    from privet.evaluation.sweep import sweep as measure
    from privet.reporting.curves import tradeoff_figure

    values = numbers_of(epsilon, "--epsilon", "0.1,1,4")
    budget, settings = budget_field(chosen.kind, of), chosen.settings()
    if budget in settings:
        raise BadOption(f"{budget} is what the sweep changes; leave it out, or choose another report with --of.")

    def make(value: float) -> Any:
        return chosen.built({**settings, budget: value})

    needed = figures_needed(make(values[0]), chosen.seeds, controls)  # refuses wrong settings before the data is read
    graph = chosen.graph()
    protocol = chosen.protocol(graph, needed)
    with figure_progress(len(values) * needed) as advance:
        curve = measure(make, graph, values, budget=budget, controls=controls, progress=advance, **protocol)
    chosen.finish(curve, lambda curve, name: tradeoff_figure(curve.points, name), print_sweep)


def budget_field(kind: type[Any], of: str | None) -> str:
    """Return the setting that a sweep changes: the trained model's epsilon, or one of a device's reports."""
    if "target_epsilon" in kind.__dataclass_fields__:
        if of is not None:
            raise BadOption(f"{kind.name} trains one model with one epsilon; leave --of out.")
        return "target_epsilon"
    if of is not None and of not in _REPORTS:
        raise BadOption(f"--of takes features, labels or edges, not {of!r}.")
    return field_name(kind, f"epsilon_{of or 'features'}")
