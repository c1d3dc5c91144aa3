"""``privet run``, ``sweep`` and ``attack``: one system on one dataset, against its budget, and with liars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.app import BadOption, app, check_writable, examples
from privet.cli.measuring import SETTINGS, Measuring, field_name, measuring, split_shares
from privet.cli.options import ClusterName, Controls, InsecureCluster, chosen_cluster, names_of, numbers_of

if TYPE_CHECKING:
    from privet.data import Graph
    from privet.systems import LocalSystem, System

_EPSILON = {"epsilon": (float, "True epsilon of a trained model (central systems; no default).")}
_REPORTS = ("features", "labels", "edges", "person")


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
    from privet.systems import LocalSystem
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
    if cluster is not None and issubclass(kind, LocalSystem):
        settings = kind.cluster_settings(settings)
    system = chosen.built(settings)
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


def _tuned(system: System, graph: Graph, trials: int) -> tuple[LocalSystem, tuple[dict[str, Any], ...]]:
    """Search for settings by validation labels, and tell which were chosen."""
    from rich.console import Console

    from privet.evaluation.sweep import tune

    messages = Console(stderr=True)
    with messages.status(f"searching {trials} settings by validation labels"):
        built, tried = tune(system, graph, trials)
    told = ", ".join(f"{name} {getattr(built, name)}" for name in tried[0] if name != "validation")
    best = max(trial["validation"] for trial in tried)
    messages.print(f"Chose {told} with validation accuracy {100 * best:.1f}.")
    return built, tried


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
            help="Which report of a local system gets --epsilon: features (default), labels, edges or person. The "
            "others keep their own budget, and the true total is the sum of all."
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

    def make(value: float) -> System:
        return chosen.built({**settings, budget: value})

    needed = figures_needed(make(values[0]), chosen.seeds, controls)  # refuses wrong settings before the data is read
    graph = chosen.graph()
    protocol = chosen.protocol(graph, needed)
    with figure_progress(len(values) * needed) as advance:
        curve = measure(make, graph, values, budget=budget, controls=controls, progress=advance, **protocol)
    chosen.finish(curve, lambda curve, name: tradeoff_figure(curve.points, name), print_sweep)


def budget_field(kind: type[System], of: str | None) -> str:
    """Return the setting that a sweep changes: the trained model's epsilon, or one of a device's reports."""
    if "target_epsilon" in kind.__dataclass_fields__:
        if of is not None:
            raise BadOption(f"{kind.name} trains one model with one epsilon; leave --of out.")
        return "target_epsilon"
    if of is not None and of not in _REPORTS:
        raise BadOption(f"--of takes features, labels, edges or person, not {of!r}.")
    return field_name(kind, f"epsilon_{of or 'features'}")


@app.command(
    epilog=examples(
        "privet attack inquiry --dataset cora --data DIR --share 0.01,0.05,0.1",
        "privet attack solitude --dataset cora --data DIR --kind accounts --goal person",
        "privet attack lpgnn --dataset cora --data DIR --defence screen --plot damage.svg",
    )
)
@measuring({name: value for name, value in SETTINGS.items() if name != "defence"})
def attack(
    chosen: Measuring,
    share: Annotated[str, typer.Option(help="Shares of all people who lie, comma separated.")] = "0.01,0.05,0.1",
    goal: Annotated[
        str,
        typer.Option(
            help="accuracy (fewer right predictions), person (another prediction of one person), class (fewer people "
            "of --target recognised) or frequency (a larger estimate of column --target)."
        ),
    ] = "accuracy",
    kind: Annotated[
        str,
        typer.Option(
            help="report (any possible report), sleeper (liars of public class teach what the others betray), input "
            "(an honest device with false data), friends (invented friends) or accounts (accounts of nobody)."
        ),
    ] = "report",
    choice: Annotated[str, typer.Option(help="random people lie, or hubs, who have most friends.")] = "random",
    target: Annotated[int, typer.Option(min=0, help="The class or the column that is attacked.")] = 0,
    friends: Annotated[int, typer.Option(min=1, help="Friends that are invented for each liar.")] = 16,
    defence: Annotated[
        str | None,
        typer.Option(
            help="Also measure the system with these defences, comma separated: screen, trim, agree, bound (default: "
            "none)."
        ),
    ] = None,
    random: Annotated[bool, typer.Option(help="Also measure random reports of the same people.")] = True,
) -> None:
    """Measure the damage that liars do to a local system.

    Beside it stands the damage of random reports by the same people.
    """
    from privet.auditing.attacks import GOALS, KINDS
    from privet.cli.render.measurements import print_damage
    from privet.cli.render.screen import figure_progress
    from privet.evaluation.attack import Attack, figures_needed
    from privet.evaluation.attack import attack as measure
    from privet.reporting.curves import damage_figure
    from privet.systems import LocalSystem

    _check_word("goal", goal, GOALS)
    _check_word("kind", kind, tuple(each for each in KINDS if each != "random"))
    _check_word("choice", choice, ("random", "hubs"))
    if not issubclass(chosen.kind, LocalSystem):
        name = chosen.kind.name
        raise BadOption(f"{name} asks no devices, so nobody can lie to it; attack a local system such as lpgnn.")
    shares, defences = numbers_of(share, "--share", "0.01,0.05", below=1), names_of(defence)
    system = chosen.built(chosen.settings())
    assert isinstance(system, LocalSystem)
    if defences:
        chosen.built({**chosen.settings(), "defence": defences})  # refused at once
    graph = chosen.graph()
    plan = Attack(goal, kind, choice, target, friends)  # type: ignore[arg-type]
    needed = figures_needed(len(shares), chosen.seeds, bool(defences), random)
    protocol = chosen.protocol(graph, needed)
    with figure_progress(needed) as advance:
        curve = measure(system, graph, shares, plan, defence=defences, random=random, progress=advance, **protocol)
    chosen.finish(curve, damage_figure, print_damage)


def _check_word(option: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise BadOption(f"--{option} takes {', '.join(known[:-1])} or {known[-1]}, not {word!r}.")
