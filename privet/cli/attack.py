"""``privet attack``: the damage that liars do."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.app import BadOption, app, examples
from privet.cli.measuring import SETTINGS, Measuring, measuring
from privet.cli.options import names_of, numbers_of


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
