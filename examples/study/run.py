"""A study from end to end: people of a synthetic graph report to a live collector, and a model is trained.

Every participant is a device of its own with a ledger, perturbs with the operating system's randomness and sends its
report over HTTP. Nine in ten answer. Beside the model's accuracy stands that of the simulation at equal settings: the
same system, budgets, respondents and split, with reports that never went over a network.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from privet.collection import Received, Study, StudyFolder, live_collector, open_reports, play_people, train
from privet.data import Graph, social_graph
from privet.mechanisms import SeededBits
from privet.release import PrivateData
from privet.systems import LPGNN

RESPONSE_RATE, LABELLED, SIMULATIONS = 0.9, 0.15, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=2000)
    people = parser.parse_args().people

    graph = social_graph(
        people, classes=4, average_degree=10, homophily=0.5, features=4, active_features=2, feature_signal=0.9, seed=0
    )
    rng = np.random.default_rng(0)
    respondents = np.flatnonzero(rng.random(people) < RESPONSE_RATE)
    known = np.where(
        rng.random(people) < LABELLED, graph.labels, -1
    )  # what the operator knows of some people's classes
    unknown = known < 0
    study = Study(
        title="Interests of a synthetic society",
        purpose="To show a study from end to end.",
        operator="privet developers",
        eligible="People who do not exist.",
        nodes=people,
        schema=graph.schema,
        release=[{"ask": "features", "mechanism": "multi-bit", "epsilon": 4.0}],
        opens="2020-01-01T00:00:00Z",
        closes="2029-12-31T00:00:00Z",
    )
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", study)
        with live_collector(folder) as address:
            begin = time.perf_counter()
            outcomes = play_people(folder, address, graph, respondents)  # read `take_part` there: it is one device
            seconds = time.perf_counter() - begin
        print(f"{outcomes.count('stored'):,} of {people:,} people reported in {seconds:.1f} s over HTTP.")
        store = folder.store()
        store.close()
        store.dispose()
        study, answers = open_reports(folder.path)

    def accuracy(reports, seed):
        system = LPGNN(epsilon_features=4.0, hops=4, max_epochs=150, seed=seed)
        model = train(Received.of(study, reports), system, graph=Graph(graph.adjacency), labels=known)
        return model, float((model.fitted.predict() == graph.labels)[unknown].mean())

    model, collected = accuracy(answers, seed=0)
    print("\n".join(model.summary()))
    simulated = [
        accuracy(study.release.perturb(PrivateData.of(graph, respondents), SeededBits(i)), 0)[1]
        for i in range(SIMULATIONS)
    ]
    mean, deviation = statistics.mean(simulated), statistics.stdev(simulated)
    away = abs(collected - mean) / (deviation * (1 + 1 / SIMULATIONS) ** 0.5)
    print(f"\nAccuracy on the {unknown.sum():,} people whose class nobody told, epsilon 4:")
    print(f"  collected  {100 * collected:.1f} %")
    print(f"  simulated  {100 * mean:.1f} % +- {100 * deviation:.1f} ({SIMULATIONS} simulations at equal settings)")
    print(f"The study lies {away:.1f} standard deviations from its simulation.")
    if away > 8:  # by chance less than once in 10,000 studies (Student's t with 7 degrees of freedom)
        sys.exit("The study and its simulation do not agree.")


if __name__ == "__main__":
    main()
