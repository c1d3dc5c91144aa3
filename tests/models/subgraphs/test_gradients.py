"""Clipped sums over sub-graphs against plain autograd on each sub-graph alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from subgraph_modules import CLASSES, COLUMNS, LINKS, MODULES, Classes, Own, Unusual
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from privet.graph.subgraphs import Role, SubgraphBatch
from privet.models.subgraphs import SubgraphGradients

NAMES = list(MODULES)
MANY = 2048


def random_batch(rng: np.random.Generator, centres: int, nodes: int = 30, most: int = 3) -> SubgraphBatch:
    counts = rng.integers(0, most + 1, size=centres)
    picked = [rng.choice(nodes, size=count, replace=False) for count in counts]
    return SubgraphBatch(
        rng.permutation(nodes)[:centres], np.repeat(np.arange(centres), counts), np.concatenate(picked).astype(np.int64)
    )


def subset(batch: SubgraphBatch, chosen: list[int]) -> SubgraphBatch:
    places = [np.flatnonzero(batch.owner == number) for number in chosen]
    owner, place = np.repeat(np.arange(len(chosen)), [len(each) for each in places]), np.concatenate([[], *places])
    kept = place.astype(np.int64)
    return SubgraphBatch(
        batch.central[chosen], owner, batch.peripheral[kept], None if batch.roles is None else batch.roles[kept]
    )


def gradients_alone(module: nn.Module, batch: SubgraphBatch, features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The gradient of each sub-graph as PyG users would compute it: one graph, one backward pass."""
    rows = []
    for number in range(len(batch)):
        mine = batch.owner == number
        x = torch.from_numpy(features[[batch.central[number], *batch.peripheral[mine]]])
        heard = int(mine.sum() if batch.roles is None else (batch.roles[mine] == Role.HEARD).sum())
        edges = torch.tensor([list(range(1, 1 + heard)), [0] * heard], dtype=torch.int64)
        outputs = module(x, edges)
        if batch.roles is None:
            loss = nn.functional.cross_entropy(outputs[:1], torch.from_numpy(targets[number : number + 1]))
        else:
            scores, roles = outputs[1:] @ outputs[0] / outputs.shape[1] ** 0.5, torch.from_numpy(batch.roles[mine])
            linked, others = scores[roles == Role.ASKED], scores[roles == Role.STRANGER]
            loss = outputs.sum() * 0
            loss = loss + (-nn.functional.logsigmoid(linked).mean() if len(linked) else 0)
            loss = loss + (-nn.functional.logsigmoid(-others).mean() if len(others) else 0)
        parameters = list(module.parameters())
        parts = torch.autograd.grad(loss, parameters, allow_unused=True)
        flat = [torch.zeros_like(p) if part is None else part for p, part in zip(parameters, parts, strict=True)]
        rows.append(torch.cat([part.flatten() for part in flat]).double().numpy())
    return np.array(rows)


@pytest.fixture(scope="module")
def prepared() -> dict[str, SubgraphGradients]:
    """One object a module, since lanes are tested when they are first used; many lanes need few tries.

    The last one has two lanes, so that a batch is cut into several chunks.
    """
    torch.manual_seed(0)
    made = {name: SubgraphGradients(make(), COLUMNS, Classes(), MANY) for name, make in MODULES.items()}
    return {**made, "unusual": SubgraphGradients(Unusual(), COLUMNS, Classes(), at_once=8)}


@pytest.fixture(scope="module")
def prepared_for_links() -> dict[str, SubgraphGradients]:
    torch.manual_seed(0)
    return {name: SubgraphGradients(make(), COLUMNS, LINKS, MANY) for name, make in MODULES.items()}


def drawn(seed: int, centres: int, *, links: bool = False) -> tuple[SubgraphBatch, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    batch = random_batch(rng, centres)
    if links:
        roles = rng.integers(Role.HEARD, Role.STRANGER + 1, size=len(batch.owner)).astype(np.int8)
        batch = replace(batch, roles=roles[np.lexsort((roles, batch.owner))])
    return batch, {
        "features": (rng.normal(size=(30, COLUMNS)) * rng.choice([0.3, 3.0])).astype(np.float32),
        "targets": rng.integers(3, size=centres),
        "keys": rng.integers(2**62, size=centres),
    }


@given(
    st.integers(0, 2**31), st.integers(1, 12), st.sampled_from(NAMES), st.sampled_from([1e-2, 0.5, 1e3]), st.booleans()
)  # fmt: skip
def test_equal_to_autograd_on_each_sub_graph_alone(
    prepared: dict[str, SubgraphGradients],
    prepared_for_links: dict[str, SubgraphGradients],
    seed: int,
    centres: int,
    name: str,
    bound: float,
    links: bool,
) -> None:
    examples = (prepared_for_links if links else prepared)[name]
    batch, data = drawn(seed, centres, links=links)
    module = examples.engine.module.eval()  # without dropout, which has its own test
    each = gradients_alone(module, batch, data["features"], data["targets"])
    norms = np.linalg.norm(each, axis=1)
    expected = (np.minimum(1.0, bound / np.maximum(norms, 1e-30))[:, None] * each).sum(axis=0)
    found = examples.clipped_sum(batch, **data, max_grad_norm=bound)
    # Clipping leaves 2^-8 of a gradient for rounding to the grid, which is at most 2^-17 of the bound a row.
    largest = 2.0**-8 * np.minimum(norms, bound).sum() + (2.0**-14 * bound + 1e-4 * norms.max()) * centres
    np.testing.assert_allclose(found.exact(), expected, rtol=0, atol=largest)


def test_matrices_are_not_written_out(
    prepared: dict[str, SubgraphGradients], prepared_for_links: dict[str, SubgraphGradients]
) -> None:
    """What is: vectors, and GATv2Conv's attention."""
    written = {"gcn": 11, "sage": 11, "gatv2": 77, "own": 29, "unusual": 4}
    for several in (prepared, prepared_for_links):
        assert {name: examples.engine.written_out for name, examples in several.items()} == written
        # How many are alike to the bit depends on the processor and its matrix kernels; never only one.
        assert min(examples.lanes(4, 3) for examples in several.values()) > 1


@given(st.integers(0, 2**31), st.integers(2, 12), st.sampled_from(NAMES), st.booleans())
def test_leaving_a_sub_graph_out_moves_the_sum_by_its_own_integers_and_nothing_else(
    prepared: dict[str, SubgraphGradients],
    prepared_for_links: dict[str, SubgraphGradients],
    seed: int,
    centres: int,
    name: str,
    links: bool,
) -> None:
    examples = (prepared_for_links if links else prepared)[name]
    examples.engine.module.train()  # with dropout
    batch, data = drawn(seed, centres, links=links)
    kept = [number for number in range(centres) if number != seed % centres]

    def total(chosen: list[int]) -> np.ndarray:
        part = {key: data[key][chosen] for key in ("targets", "keys")}
        return examples.clipped_sum(subset(batch, chosen), data["features"], **part, max_grad_norm=0.5).values

    alone = total([seed % centres])
    assert np.array_equal(total(list(range(centres))) - total(kept), alone)
    assert sum(value * value for value in alone.tolist()) <= 2**74  # of norm at most C, in integers
    roles = np.array([]) if batch.roles is None else batch.roles[batch.owner == seed % centres]
    assert alone.any() == (not links or bool((roles > Role.HEARD).any()))


@pytest.mark.parametrize("name", NAMES)
def test_one_at_a_time_gives_the_same_to_float_tolerance(prepared: dict[str, SubgraphGradients], name: str) -> None:
    batch, data = drawn(3, 10)
    module = prepared[name].engine.module
    alone = SubgraphGradients(module, COLUMNS, Classes(), at_once=1)
    assert {alone.lanes(slots, slots - 1) for slots in (1, 2, 8)} == {1}
    found, together = (each.clipped_sum(batch, **data, max_grad_norm=0.5).exact() for each in (alone, prepared[name]))
    np.testing.assert_allclose(found, together, rtol=0, atol=1e-4)


def sloppy(examples: SubgraphGradients, most: int, place: int, share: float) -> SubgraphGradients:
    """Let kernels compute one lane of larger chunks a little otherwise, as matrix kernels do."""
    real = examples.engine._mapped

    def mapped(values: Any, chunk: Any, plan: Any) -> Any:
        rows, slopes, written = real(values, chunk, plan)
        if chunk.lanes > most:
            slopes = [torch.where((torch.arange(chunk.lanes) == place)[:, None, None], (1 + share) * each, each)
                      for each in slopes]  # fmt: skip
        return rows, slopes, written

    examples.engine._mapped = mapped
    return examples


@pytest.mark.parametrize("share", [1e-3, 2.0**-22])
def test_lanes_whose_numbers_differ_by_place_are_not_taken(share: float) -> None:
    """Also if they differ in a last bit."""
    torch.manual_seed(0)
    fine = SubgraphGradients(Own(), COLUMNS, Classes())
    assert fine.lanes(1, 0) > 128
    assert fine.lanes(4, 3) > 32
    wrong = sloppy(SubgraphGradients(Own(), COLUMNS, Classes()), most=32, place=30, share=share)
    assert (wrong.lanes(1, 0), wrong.lanes(4, 3)) == (32, 32)


def test_small_batches_have_small_chunks() -> None:
    """Else a step would cost the same at any batch size."""
    torch.manual_seed(0)
    lanes = [SubgraphGradients(Own(), COLUMNS, Classes(), at_once).lanes(3, 2) for at_once in (1, 64, 512, 4096)]
    assert lanes == [1, 16, 64, 256]


def test_a_module_without_parameters_is_refused() -> None:
    class Nothing(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return x[:, :3]

    with pytest.raises(ValueError, match="Nothing has no parameter to train"):
        SubgraphGradients(Nothing(), COLUMNS, Classes())


class Silent(nn.Module):
    """A graph layer behind a layer of zeros, with which many begin training."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = GCNConv(COLUMNS, 8), nn.Linear(8, CLASSES)
        for each in self.last.parameters():
            nn.init.zeros_(each)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.last(torch.tanh(self.first(x, edge_index)))


@pytest.mark.parametrize("links", [False, True])
def test_neighbours_are_learned_from_though_the_last_layer_begins_with_zeros(links: bool) -> None:
    torch.manual_seed(0)
    module = Silent()
    examples = SubgraphGradients(module, COLUMNS, LINKS if links else Classes(), at_once=8)
    assert examples.engine.written_out == 11
    nn.init.normal_(module.last.weight)  # as after a step
    batch, data = drawn(5, 6, links=links)
    expected = gradients_alone(module, batch, data["features"], data["targets"]).sum(axis=0)
    found = examples.clipped_sum(batch, **data, max_grad_norm=100.0).exact()  # clips nobody
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-3)  # the grid is coarse at such a norm


def test_lanes_are_tried_with_other_weights_than_zeros() -> None:
    torch.manual_seed(0)
    wrong = sloppy(SubgraphGradients(Silent(), COLUMNS, Classes()), most=32, place=30, share=1e-3)
    assert wrong.lanes(1, 0) == 32


def test_what_vmap_does_not_know_is_computed_one_by_one() -> None:
    class Branching(Unusual):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return super().forward(x, edge_index) * (1.0 if x[0, 0] < 1e9 else 2.0)

    torch.manual_seed(0)
    module = Branching()
    examples = SubgraphGradients(module, COLUMNS, Classes())
    assert examples.how == "one by one"
    assert examples.lanes(3, 2) == 1
    batch, data = drawn(2, 4)
    expected = gradients_alone(module, batch, data["features"], data["targets"]).sum(axis=0)
    found = examples.clipped_sum(batch, **data, max_grad_norm=100.0).exact()
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-3)


def test_a_shape_that_vmap_does_not_know_is_computed_one_by_one() -> None:
    class FewBranches(Unusual):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return super().forward(x, edge_index) * (1.0 if len(x) != 3 or x[0, 0] < 1e9 else 2.0)

    torch.manual_seed(0)
    examples = SubgraphGradients(FewBranches(), COLUMNS, Classes())
    assert (examples.lanes(2, 1), examples.lanes(3, 2)) == (512, 1)
    batch, data = drawn(2, 9)
    assert examples.clipped_sum(batch, **data, max_grad_norm=0.5).values.any()


@pytest.mark.parametrize("name", ["gcn", "sage", "gatv2"])
def test_few_lanes_are_tried_too(name: str) -> None:
    """In chunks of two lanes, kernels of common libraries treat odd numbers of rows otherwise at another place."""
    torch.manual_seed(0)
    few = SubgraphGradients(MODULES[name](), COLUMNS, Classes(), at_once=8)
    engine, values = few.engine, few.engine.values()
    for slots in (1, 3, 5, 7):
        lanes = few.lanes(slots, slots - 1)
        moved = torch.arange(lanes).roll(1)
        for seed in range(10):
            chunk = engine.random(lanes, slots, slots - 1, seed=1000 + seed)
            plain, other = (
                [part for use in engine.gradients(values, each) for part in use.by_lane()]
                for each in (chunk, chunk.lanes_of(moved))
            )
            assert all(torch.equal(one[moved], two) for one, two in zip(plain, other, strict=True))


class Gated(nn.Module):
    """Neighbours are heard through a gate that random numbers leave shut at first."""

    def __init__(self) -> None:
        super().__init__()
        self.heard, self.own = nn.Linear(COLUMNS, CLASSES, bias=False), nn.Linear(COLUMNS, CLASSES)
        self.gate = nn.Parameter(torch.full((CLASSES,), -9.0))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.own(x).index_add(0, edge_index[1], (self.heard(x) + self.gate).relu()[edge_index[0]])


def stars(centres: range, neighbours: int) -> SubgraphBatch:
    picked = [60 + (centre + each) % 30 for centre in centres for each in range(neighbours)]
    return SubgraphBatch(np.array(centres), np.repeat(np.arange(len(centres)), neighbours), np.array(picked))


def test_who_first_had_a_shape_does_not_matter_later() -> None:
    rng = np.random.default_rng(0)
    features, labels = 20 * rng.standard_normal((90, COLUMNS)).astype(np.float32), rng.integers(0, CLASSES, 90)

    def later(earlier: SubgraphBatch) -> np.ndarray:
        torch.manual_seed(0)
        module = Gated()
        sums = SubgraphGradients(module, COLUMNS, Classes(), at_once=64)
        for batch in (earlier, stars(range(10, 40), 5)):
            total = sums.clipped_sum(batch, features, labels[batch.central], batch.central, 1.0)
            with torch.no_grad():
                module.gate.zero_()  # as training may do
        return total.values

    assert np.array_equal(later(stars(range(2), 2)), later(stars(range(2), 5)))


class WritesOutLarge(nn.Module):
    """Uses a matrix otherwise than in a product in sub-graphs of more than five nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(COLUMNS, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        rows: Tensor = self.linear(x)
        return rows + self.linear.weight.sum() if len(x) > 5 else rows


def test_the_lanes_of_a_shape_do_not_depend_on_other_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.models.subgraphs.gradients._ENTRIES", 2 * COLUMNS * CLASSES + 6)
    sums, others = (SubgraphGradients(WritesOutLarge(), COLUMNS, Classes()) for _ in range(2))
    assert others.lanes(8, 7) == 2
    assert sums.lanes(3, 2) == others.lanes(3, 2) > 2
