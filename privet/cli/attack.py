"""``privet attack``: the damage that liars do."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from privet.cli.app import AsJson, BadOption, Data, Seeds, System, app, examples, with_options
from privet.cli.options import (
    SETTINGS,
    Dataset,
    Fresh,
    GroupColumns,
    KeptFigures,
    OtherSettings,
    Out,
    Plot,
    SplitShares,
    Workers,
)


@app.command(
    epilog=examples(
        "privet attack inquiry --dataset cora --data DIR --share 0.01,0.05,0.1",
        "privet attack solitude --dataset cora --data DIR --kind accounts --goal person",
        "privet attack lpgnn --dataset cora --data DIR --defence screen --plot damage.svg",
    )
)
@with_options({name: value for name, value in SETTINGS.items() if name != "defence"})
def attack(
    system: System,
    dataset: Dataset,
    options: dict[str, Any],
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
            "none).",
            show_default=False,
        ),
    ] = None,
    random: Annotated[bool, typer.Option(help="Also measure random reports of the same people.")] = True,
    data: Data = None,
    group_columns: GroupColumns = None,
    other: OtherSettings = None,
    seeds: Seeds = 5,
    split: SplitShares = None,
    workers: Workers = None,
    store: KeptFigures = None,
    fresh: Fresh = False,
    plot: Plot = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Measure the damage that liars do to a local system.

    Beside it stands the damage of random reports by the same people.
    """
    from privet.auditing.attacks import GOALS, KINDS
    from privet.cli.files import check_writable
    from privet.cli.options import figure_store, load_dataset, names_of, numbers_of, settings_of, split_shares
    from privet.cli.render.attack import print_damage
    from privet.cli.render.progress import figure_progress
    from privet.evaluation.attack import Attack, figures_needed
    from privet.evaluation.attack import attack as measure
    from privet.evaluation.workers import usual_workers
    from privet.reporting.curves import damage_figure
    from privet.systems import SYSTEMS, LocalSystem
    from privet.systems.presets import system_for

    check_writable(out, plot=plot)
    _check_word("goal", goal, GOALS)
    _check_word("kind", kind, tuple(each for each in KINDS if each != "random"))
    _check_word("choice", choice, ("random", "hubs"))
    found = SYSTEMS.find(system)
    if not issubclass(found, LocalSystem):
        raise BadOption(f"{found.name} asks no devices, so nobody can lie to it; attack a local system such as lpgnn.")
    shares, defences = numbers_of(share, "--share", "0.01,0.05", below=1), names_of(defence)
    built = system_for(system, dataset, settings_of(found, options, other))
    if defences:
        system_for(system, dataset, {**settings_of(found, options, other), "defence": defences})  # refused at once
    graph = load_dataset(dataset, data, found.name, group_columns)
    plan = Attack(goal, kind, choice, target, friends)  # type: ignore[arg-type]
    needed = figures_needed(len(shares), seeds, bool(defences), random)
    with figure_progress(needed) as advance:
        curve = measure(
            built,
            graph,
            shares,
            plan,
            seeds=seeds,
            defence=defences,
            random=random,
            split=split_shares(split),
            dataset=dataset,
            store=figure_store(store, fresh),
            workers=workers or usual_workers(graph, needed),
            progress=advance,
        )
    if out is not None:
        curve.save(out)
    if plot is not None:
        damage_figure(curve, plot.stem).write(plot)
    typer.echo(json.dumps(curve.to_dict())) if as_json else print_damage(curve)


def _check_word(option: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise BadOption(f"--{option} takes {', '.join(known[:-1])} or {known[-1]}, not {word!r}.")
