"""The demo's fifth part: a live collector, people who report to it over HTTP, and a model trained from it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console

from privet.data import Graph, social_graph

__all__ = ["show_study"]

_RESPONSE_RATE, _LABELLED, _HELD_OUT, _EPSILON = 0.9, 0.6, 0.4, 4.0


def show_study(console: Console, people: int, seed: int, progress: Callable[[str], None]) -> None:
    """Declare a study, serve it, take part, close it, and train.

    Args:
        console: Where to print.
        people: The number of people who are invited.
        seed: The seed of the people; devices draw from the operating system.
        progress: Called with a few words as it goes on.
    """
    if find_spec("starlette") is None or find_spec("sqlalchemy") is None:
        console.print(
            "Left out: the collector needs the extra 'collection' (pip install '.[collection]').", markup=False
        )
        return
    from privet.collection.operator.folder import StudyFolder, open_reports
    from privet.collection.operator.received import Received
    from privet.collection.operator.rehearsal import live_collector, play_people
    from privet.collection.operator.training import train
    from privet.collection.study.manifest import Study
    from privet.systems import LPGNN

    graph = social_graph(
        people,
        classes=4,
        average_degree=10,
        homophily=0.5,
        features=4,
        active_features=2,
        feature_signal=0.9,
        seed=seed,
    )
    rng, truth = np.random.default_rng(seed), np.asarray(graph.labels)
    respondents = np.flatnonzero(rng.random(people) < _RESPONSE_RATE)
    known = np.where(rng.random(people) < _LABELLED, truth, -1)
    study = Study.read(
        {
            "title": "Interests of a synthetic society",
            "purpose": "A demonstration.",
            "operator": "privet demo",
            "eligible": "People who do not exist.",
            "nodes": people,
            "schema": graph.schema,
            "release": [{"ask": "features", "mechanism": "multi-bit", "epsilon": _EPSILON}],
            "opens": "2020-01-01T00:00:00Z",
            "closes": "2029-12-31T00:00:00Z",
        }
    )
    done = iter(range(1, people + 1))
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", study)
        progress("starting a collector")
        with live_collector(folder) as address:
            play_people(
                folder,
                address,
                graph,
                respondents,
                done=lambda: progress(f"{next(done)} of {len(respondents)} devices have reported to {address}"),
            )
        study, answers = open_reports(folder.path)
    progress("training on the reports")
    system = LPGNN.from_release(study.release, hops=4, max_epochs=100, seed=seed)
    received = Received.of(study, answers)
    model = train(received, system, graph=Graph(graph.adjacency), labels=known, validation_share=_HELD_OUT)
    hidden = known < 0
    right = float((model.fitted.predict()[hidden] == truth[hidden]).mean())
    console.print(
        f"Study {study.id[:12]}: {len(answers.users):,} of {people:,} devices checked the manifest, drew their noise "
        f"and reported over HTTP, at epsilon {_EPSILON:g} for the whole feature vector."
    )
    console.print(
        f"[bold]Seen:[/] the model of these reports is right for {right:.0%} of the {hidden.sum():,} people whose "
        f"class nobody told it (by chance 25 %). {model.verdict()}"
    )
