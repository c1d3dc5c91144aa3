"""A study in two rounds from end to end: labels and a panel first, then one good question to each person.

2,000 people of a synthetic society. In round 1 a tenth of them, the panel, show their features and class as they are,
and two fifths report their class by randomised response. From that alone the operator draws up round 2: a scorer, and
for each person a few classes; a device answers by randomised response which of them its features resemble most. Every
device is a real one: it checks hashes and proofs, keeps a ledger and draws from the operating system. Reports go over
HTTPS through nginx where it is installed, over plain HTTP on loopback otherwise. Beside the accuracy of the model stand
that of the simulation at equal settings and those of the controls.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import https  # beside this file
import numpy as np

from privet.collection import Received, StudyFolder, declare, live_collector, next_round, play_people, recompute, train
from privet.data import Graph, Split, social_graph
from privet.mechanisms import SystemBits
from privet.systems import Inquiry

PANEL, LABELLED, SIMULATIONS = 0.1, 0.4, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=2000)
    people = parser.parse_args().people

    graph = social_graph(
        people, classes=4, average_degree=6, homophily=0.45, features=32, active_features=6, feature_signal=0.5, seed=0
    )
    order = np.random.default_rng(0).permutation(people)
    panel, asked, others = np.split(order, [round(PANEL * people), round((PANEL + LABELLED) * people)])
    system = Inquiry(epsilon_features=2.0, epsilon_labels=2.0, panel=PANEL, seed=0)
    now = datetime.now(UTC)
    about = {
        "title": "Interests of a synthetic society",
        "purpose": "To show a study in rounds from end to end.",
        "operator": "privet developers",
        "eligible": "People who do not exist.",
        "nodes": people,
        "opens": (now - timedelta(minutes=1)).isoformat(),
        "closes": (now + timedelta(days=30)).isoformat(),
    }
    first = declare(about, graph.schema, system, graph=Graph(graph.adjacency), panel=panel, people=asked)

    with tempfile.TemporaryDirectory() as directory, ExitStack() as running:
        folder = StudyFolder.create(Path(directory) / "study", first.study, public=first.public)
        if https.installed():
            site = running.enter_context(https.behind_nginx(folder, Path(directory)))
            address, certificate, way = site.url, site.ca, "HTTPS through nginx and two collectors"
        else:
            address, certificate = running.enter_context(live_collector(folder)), None
            way = "HTTP on loopback (nginx is not installed)"
        store = folder.store()

        def play(round_) -> None:
            begin = time.perf_counter()
            invited = store.at(round_).form.everybody()
            outcomes = play_people(folder, address, graph, invited, round_=round_, ca=certificate)
            seconds = time.perf_counter() - begin
            print(f"Round {round_.round}: {outcomes.count('stored'):,} people reported over {way}, {seconds:.0f} s.")

        play(first.study)
        second = next_round(store, now - timedelta(minutes=1), now + timedelta(days=30))
        names = ", ".join(question.name for question in second.release.questions)
        print(f"Round 2 asks {store.at(second).form.count:,} of {people:,} people: {names}.")
        play(second)
        model = train(Received.at(store))
        repeated = recompute(store)
        store.dispose()

    print("\n".join(model.summary()))
    agree = all(not each.differing for each in repeated)
    print(f"Computed again from public data, round 2 is {'the same' if agree else 'another one'}.")
    simulated, controls = simulate(system, graph, panel, asked, others)
    collected = float((model.fitted.predict() == graph.labels)[others].mean())
    mean, deviation = statistics.mean(simulated), statistics.stdev(simulated)
    away = abs(collected - mean) / (deviation * (1 + 1 / SIMULATIONS) ** 0.5)
    print(f"\nAccuracy on the {len(others):,} people whose class nobody told, epsilon 2 for features and for classes:")
    print(f"  collected   {100 * collected:.1f} %")
    print(f"  simulated   {100 * mean:.1f} % +- {100 * deviation:.1f} ({SIMULATIONS} simulations at equal settings)")
    for name, found in controls.items():
        print(f"  {name:<11} {100 * found:.1f} %")
    print(f"The study lies {away:.1f} standard deviations from its simulation.")
    if away > 8 or not agree or collected <= max(controls.values()):  # by chance less than once in 2,000 studies
        sys.exit("The study does not do what its simulation does, or its answers do not help.")


def simulate(system, graph, panel, asked, others):
    """Return accuracies of simulations with fresh noise, and of the controls that collect no answers."""
    masks = np.zeros((3, graph.num_nodes), dtype=np.bool_)
    masks[0, panel], masks[0, asked], masks[2, others] = True, True, True
    masks[1, asked[::4]], masks[0, asked[::4]] = True, False
    known = graph.replace(split=Split(*masks))
    same = replace(system, panel=panel)

    def accuracy(fitted) -> float:
        return float((fitted.predict() == graph.labels)[others].mean())

    runs = [accuracy(same.fit(same.collect(known, SystemBits()))) for _ in range(SIMULATIONS)]
    kept = {"structure": "structure", "panel_only": "panel only"}
    found = {each.key: each for each in same.controls()}
    return runs, {title: accuracy(found[key].trained(same, known, 0)) for key, title in kept.items()}


if __name__ == "__main__":
    main()
