from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from privet.data import Graph
from privet.data.interop import to_pyg
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation import Result, evaluate
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import figures_needed
from privet.systems import LPGNN, HeterPoisson, Inquiry, PrivGE, Solitude

QUICK = LPGNN(hops=1, max_epochs=3)
CENTRAL = HeterPoisson(noise_multiplier=2.0, batch_size=40, epochs=1.0, hidden_channels=8)
KINDS = ["structure_only", "structure", "label_propagation", "features_only", "majority", "non_private", "ceiling"]


@pytest.fixture(scope="module")
def result(graph: Graph) -> Result:
    done: list[str] = []
    found = evaluate(QUICK, graph, 2, dataset="tiny", progress=done.append)
    assert len(done) == figures_needed(QUICK, 2, True) == 16
    return found


def test_a_result_has_figures_controls_guarantee_and_verdict(result: Result) -> None:
    assert list(result.controls) == KINDS
    assert result.guarantee.epsilon == 1.0
    assert result.peak_rss_mb > 50
    assert len(result.values) == 2
    assert [line.epsilon for line in result.ledger] == [1.0]
    assert result.mechanisms == ("multi-bit",)
    assert result.split.test == 60
    assert "whether the private data help" in result.verdict  # the strongest control lacks all of them
    assert set(result.metrics) == {"accuracy", "balanced_accuracy", "macro_f1", "auc"}
    assert result.metrics["accuracy"].values == result.values


def test_where_one_class_prevails_the_headline_is_balanced_accuracy(graph: Graph) -> None:
    """One class for 80 % of the people: 80 % accuracy is nothing, and the headline says so."""
    labels = np.where(np.arange(graph.num_nodes) % 5 == 0, graph.labels, 0)
    result = evaluate(QUICK, graph.replace(labels=labels), 1)
    assert result.metric == "balanced accuracy (%)"
    assert result.controls["majority"].mean == pytest.approx(100 / 3)
    assert result.values == result.metrics["balanced_accuracy"].values


def test_a_split_may_be_chosen_and_is_recorded(graph: Graph) -> None:
    result = evaluate(QUICK, graph, 1, controls=False, split=(0.1, 0.2))
    assert (result.split.train, result.split.validation, result.split.test) == (24, 48, 168)


def test_a_store_tells_splits_apart(graph: Graph) -> None:
    bare, store = graph.replace(split=None), Store(None)
    few, many = (evaluate(QUICK, bare, 1, split=each, store=store) for each in ((0.05, 0.1), (0.5, 0.25)))
    assert few.controls["majority"].values != many.controls["majority"].values or few.values != many.values
    assert few.split.test != many.split.test
    assert evaluate(QUICK, bare, 1, controls=False, split=(0.05, 0.1)).values == few.values


def test_a_system_that_chooses_whom_to_ask_says_how_many(graph: Graph) -> None:
    result = evaluate(Inquiry(panel=0.3), graph, 1)
    wanted = {"structure", "panel_only", "dealt_answers", "noise_free", "majority", "features_only"}
    assert wanted <= result.controls.keys()
    document = result.to_dict()
    assert 0 < document["asked"] == result.facts["asked"] <= 1
    assert Result.from_dict(document).asked == document["asked"]
    shares = [share for name, share in result.facts.items() if name.startswith("asked_")]
    assert sum(shares) == pytest.approx(document["asked"])
    assert "asked" not in evaluate(QUICK, graph, 1, controls=False).to_dict()


def test_a_central_result_says_that_its_seeds_undo_the_noise(graph: Graph) -> None:
    result = evaluate(CENTRAL, graph, 1, controls=False)
    assert any("seed" in sentence for sentence in result.guarantee.unprotected)


def test_classes_add_up_to_the_accuracy(result: Result) -> None:
    assert [row.number for row in result.classes] == [0, 1, 2]
    assert sum(row.support for row in result.classes) == 60
    assert all(list(row.controls) == KINDS for row in result.classes)
    recalls = [row.recall for row in result.classes]
    assert max(recalls) >= result.mean >= min(recalls)


def test_seeds_may_be_named_and_repeat(graph: Graph) -> None:
    bare = graph.replace(split=None)
    both = evaluate(QUICK, bare, 2, controls=False)
    second = evaluate(QUICK, bare, [1], controls=False)
    assert second.values == both.values[1:]
    assert second.figures.std is None
    assert both.controls == {}
    assert both.verdict == ""
    with pytest.raises(InvalidParameter, match="at least 1"):
        evaluate(QUICK, bare, [])


def test_equal_test_nodes_have_equal_digests(graph: Graph) -> None:
    bare = graph.replace(split=None)
    one, two = (evaluate(replace(QUICK, hops=hops), bare, 1, controls=False) for hops in (1, 2))
    assert one.split == two.split
    assert one.split != evaluate(QUICK, bare, [1], controls=False).split


def test_what_the_store_has_is_not_measured_again(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(QUICK, graph, 2, store=Store(tmp_path))
    assert len(list(tmp_path.iterdir())) == 16
    monkeypatch.setattr(LPGNN, "fit", lambda *_: pytest.fail("a finished figure was computed again"))
    again = evaluate(QUICK, graph, 2, store=Store(tmp_path))
    assert replace(again, peak_rss_mb=None) == replace(first, peak_rss_mb=None)


def test_figures_are_kept_by_default_and_read_by_other_systems(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path))
    bare = graph.replace(split=None)
    first = evaluate(QUICK, bare, 1)
    before = len(list((tmp_path / "figures").iterdir()))
    assert before == 8
    with monkeypatch.context() as broken:
        broken.setattr("privet.systems.local.structure.structural_prior", lambda *_, **__: pytest.fail("again"))
        broken.setattr("privet.evaluation.ceiling.structural_prior", lambda *_, **__: pytest.fail("again"))
        second = evaluate(PrivGE(max_epochs=2), bare, 1)
    shared = ("structure", "label_propagation", "majority", "ceiling")
    assert [second.controls[key].values for key in shared] == [first.controls[key].values for key in shared]
    assert len(list((tmp_path / "figures").iterdir())) == before + 4
    assert replace(evaluate(QUICK, bare, 1), peak_rss_mb=None) == replace(first, peak_rss_mb=None)


def test_a_schema_may_declare_the_edges_private(graph: Graph) -> None:
    private = graph.replace(schema=replace(graph.schema, private_edges=True))
    result = evaluate(Solitude(epsilon_edges=6.0, max_epochs=3), private, 1)
    assert "private topology" in result.task
    assert 0 < result.facts["expected_noise"] < result.facts["reported_pairs"]
    assert {"noisy_graph", "lpgnn_noisy"} < set(result.controls)


def test_a_central_run_states_its_guarantee_and_its_noise(graph: Graph) -> None:
    result = evaluate(CENTRAL, graph.replace(split=None), 2)
    assert result.guarantee.model == "central"
    assert result.guarantee.delta == pytest.approx(1 / (10 * graph.num_nodes))
    assert result.facts["noise_multiplier"] == 2.0
    assert [line.epsilon for line in result.ledger] == [result.guarantee.epsilon]
    assert result.verdict.startswith("Two seeds cannot tell whether the protected edges help")
    assert np.isfinite(result.mean)


def test_a_run_without_noise_is_no_private_run(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="above 0"):
        evaluate(replace(CENTRAL, noise_multiplier=0.0), graph, 1)


def test_a_pyg_graph_gets_the_line_that_declares_it(graph: Graph) -> None:
    data = to_pyg(graph)
    line = r"from_pyg\(data, schema=Schema\.numeric\(\d+, low=0, high=1, classes=3\)\)"
    for use in (lambda: evaluate(QUICK, data), lambda: QUICK.collect(data), lambda: CENTRAL.fit(data)):
        with pytest.raises(InvalidData, match=line):
            use()


def test_progress_is_a_bar_for_who_watches(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(QUICK, graph, 1, controls=False, progress=True)
    assert capsys.readouterr().err == ""  # nobody watches a pipe
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    evaluate(QUICK, graph, 1, controls=False, progress=True)
    assert "1/1" in capsys.readouterr().err
