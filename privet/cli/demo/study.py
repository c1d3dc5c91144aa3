"""The demo's third part: a live collector, many people who report to it, and a model trained from it."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from privet.data import Graph, social_graph

__all__ = ["show_study"]

_RESPONSE_RATE, _LABELLED, _EPSILON = 0.9, 0.2, 4.0


def show_study(console: Console, people: int, seed: int) -> None:
    """Declare a study, serve it, take part, close it, and train."""
    console.print("\nA study from devices to a model")
    if find_spec("fastapi") is None or find_spec("sqlalchemy") is None:
        console.print(
            "  left out: the collector needs the extra 'collection' (pip install '.[collection]')", markup=False
        )
        return
    from privet.collection.operator.folder import StudyFolder, open_reports
    from privet.collection.operator.rehearsal import live_collector, play_people
    from privet.collection.study import Study
    from privet.collection.training import systems_for, train_model
    from privet.systems import SYSTEMS

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
    rng = np.random.default_rng(seed)
    respondents = np.flatnonzero(rng.random(people) < _RESPONSE_RATE)
    known = np.where(rng.random(people) < _LABELLED, np.asarray(graph.labels), -1)
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
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", study)
        with (
            console.status("starting the collector"),
            live_collector(folder) as address,
            Progress(console=console, transient=True) as progress,
        ):
            bar = progress.add_task("people report over HTTP", total=len(respondents))
            play_people(folder, address, graph, respondents, done=lambda: progress.advance(bar))
        study, answers = open_reports(folder.path)
    console.print(f"  Study {study.id[:12]}: {len(answers.users):,} devices perturbed and reported over HTTP.")
    with console.status("training"):
        system = SYSTEMS[systems_for(study)[0]].from_release(study.release, hops=4, max_epochs=100, seed=seed)
        model = train_model(study, answers, system, graph=Graph(graph.adjacency), labels=known)
    for sentence in model.summary():
        console.print(f"  {sentence}")
