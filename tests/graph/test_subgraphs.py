"""The sampler against slow loops, its distribution, and the sensitivity that the accountant assumes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphBatch, SubgraphSampler, few_neighbours, poisson_sample
from privet.mechanisms import SeededBits

ALARM = 1e-6


def random_adjacency(rng: np.random.Generator, nodes: int, density: float, directed: bool = True) -> sp.csr_array:
    dense = rng.random((nodes, nodes)) < density
    np.fill_diagonal(dense, False)
    return sp.csr_array((dense if directed else dense | dense.T).astype(np.float32))


def picked_by(batch: SubgraphBatch) -> dict[int, list[int]]:
    return {int(c): sorted(batch.peripheral[batch.owner == b].tolist()) for b, c in enumerate(batch.central)}


@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from([0.0, 0.3, 1.0]))
def test_forming_is_algorithm_2(seed: int, nodes: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    adjacency = random_adjacency(rng, nodes, density)
    part = rng.integers(3, size=nodes)  # 0 member, 1 open, 2 neither
    coins = rng.random(adjacency.nnz) < 0.5
    central = np.flatnonzero((part == 0) & (rng.random(nodes) < 0.5))
    sampler = SubgraphSampler(adjacency, part == 0, 0.5, 1.0, part == 1)
    expected = {}
    for i in central.tolist():
        entries = range(adjacency.indptr[i], adjacency.indptr[i + 1])
        expected[i] = [
            int(j)
            for e, j in ((e, adjacency.indices[e]) for e in entries)
            if part[j] == 1 or (part[j] == 0 and coins[e] and j not in central)
        ]
    assert picked_by(sampler.form(central, lambda entries: coins[entries])) == expected


@given(st.integers(0, 2**32), st.integers(2, 9), st.sampled_from([0.3, 1.0]), st.booleans())
def test_removing_a_node_changes_its_own_subgraph_or_those_that_picked_it(
    seed: int, nodes: int, density: float, is_central: bool
) -> None:
    """Given all coins: if z is central only its own sub-graph disappears; else exactly the k that picked it change."""
    rng = np.random.default_rng(seed)
    adjacency = random_adjacency(rng, nodes, density)
    part = rng.integers(3, size=nodes)
    z = int(rng.integers(nodes))
    part[z] = 0
    coins = rng.random(adjacency.nnz) < 0.7
    falls = rng.random(nodes) < 0.5
    falls[z] = is_central
    with_z, without_z = part == 0, (part == 0) & (np.arange(nodes) != z)
    before, after = (
        picked_by(
            SubgraphSampler(adjacency, members, 0.5, 1.0, part == 1).form(
                np.flatnonzero(members & falls), lambda entries: coins[entries]
            )
        )
        for members in (with_z, without_z)
    )
    if is_central:
        assert {c: p for c, p in before.items() if c != z} == after
        assert all(z not in picked for picked in before.values())
    else:
        assert before.keys() == after.keys()
        assert all(sorted({*after[c], *({z} & {*before[c]})}) == before[c] for c in before)
        assert all(z not in picked for picked in after.values())


def test_rates_are_as_stated() -> None:
    """Centres by q, members by min(1, M / out-degree) unless central, open nodes always: exact binomial tests."""
    # node 0 listens to 1..6; out-degrees: 1 has one listener, 2 has two, 3 has four
    listeners = {1: [0], 2: [0, 4], 3: [0, 4, 5, 6], 4: [0], 5: [0]}
    rows, columns = zip(*((i, j) for j, heard in listeners.items() for i in heard), strict=True)
    adjacency = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(7, 7))
    adjacency.sort_indices()
    members = np.array([1, 1, 1, 1, 0, 0, 0], bool)
    unprotected_nodes = np.array([0, 0, 0, 0, 1, 0, 0], bool)
    sampler, bits, q, rounds = (
        SubgraphSampler(adjacency, members, 0.3, 1.0, unprotected_nodes),
        SeededBits(7),
        0.3,
        20_000,
    )
    batches = [picked_by(sampler.draw(bits)) for _ in range(rounds)]
    for node in range(4):
        assert stats.binomtest(sum(node in b for b in batches), rounds, q).pvalue > ALARM
    around = [b for b in batches if 0 in b]
    for node, share in ((1, 1.0), (2, 0.5), (3, 0.25)):
        assert stats.binomtest(sum(node in b[0] for b in around), len(around), (1 - q) * share).pvalue > ALARM
    assert all(4 in b[0] for b in around)
    assert all(5 not in b[0] for b in around)
    together = np.zeros((2, 2))
    for b in around:
        if 2 not in b and 3 not in b:
            together[int(2 in b[0]), int(3 in b[0])] += 1
    assert stats.chi2_contingency(together).pvalue > ALARM  # picks are independent


def test_an_infinite_multiplier_picks_everybody_who_is_not_central() -> None:
    adjacency = random_adjacency(np.random.default_rng(0), 30, 0.5)
    everybody = np.ones(30, bool)
    batch = SubgraphSampler(adjacency, everybody, 0.4, np.inf).draw(SeededBits(0))
    expected = {
        int(c): sorted(set(adjacency[[c]].indices.tolist()) - set(batch.central.tolist())) for c in batch.central
    }
    assert picked_by(batch) == expected


def test_zero_multiplier_reads_no_edge_between_members() -> None:
    adjacency = random_adjacency(np.random.default_rng(0), 30, 0.5)
    batch = SubgraphSampler(adjacency, np.ones(30, bool), 1.0, 0.0).draw(SeededBits(0))
    assert len(batch) == 30
    assert len(batch.peripheral) == 0


@pytest.mark.parametrize(
    ("multiplier", "keep_central", "same"),
    [(0.0, False, True), (np.inf, True, True), (np.inf, False, False), (1.0, True, False)],
)
def test_subgraphs_that_no_coin_changes_are_always_the_same(multiplier: float, keep_central: bool, same: bool) -> None:
    rng = np.random.default_rng(3)
    part = rng.integers(3, size=40)
    adjacency = random_adjacency(rng, 40, 0.2)
    sampler = SubgraphSampler(adjacency, part == 0, 0.5, multiplier, part == 1, keep_central=keep_central)
    always = sampler.always_the_same()
    assert (always is not None) is same
    if always is not None:
        assert always.central.tolist() == np.flatnonzero(part == 0).tolist()
        drawn = picked_by(sampler.draw(SeededBits(0)))
        assert drawn == {centre: picked for centre, picked in picked_by(always).items() if centre in drawn}
        assert sampler.centres(SeededBits(0)).tolist() == list(drawn)


def test_matrix_weighs_centres_and_neighbours() -> None:
    batch = SubgraphBatch(np.array([2, 0]), np.array([1, 0]), np.array([3, 1]))
    found = batch.matrix(np.array([5.0, 6.0]), np.array([7.0, 8.0]), 4).toarray()
    assert found.tolist() == [[0, 8, 5, 0], [6, 0, 0, 7]]


def test_poisson_sample_ends() -> None:
    nodes = np.arange(1000)
    assert np.array_equal(poisson_sample(nodes, 1.0, SeededBits(0)), nodes)
    assert len(poisson_sample(nodes, 1e-30, SeededBits(0))) == 0


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(0, 4))
def test_few_neighbours_keeps_at_most_that_many(seed: int, nodes: int, most: int) -> None:
    adjacency = random_adjacency(np.random.default_rng(seed), nodes, 0.6)
    kept = few_neighbours(adjacency, most, SeededBits(seed))
    assert np.array_equal(np.diff(kept.indptr), np.minimum(np.diff(adjacency.indptr), most))
    assert kept.has_sorted_indices
    assert ((kept.toarray() == 0) | (kept.toarray() == adjacency.toarray())).all()
    assert few_neighbours(adjacency, None, SeededBits(seed)) is adjacency


def test_few_neighbours_draws_uniformly() -> None:
    star = sp.csr_array(([1.0] * 4, ([0] * 4, [1, 2, 3, 4])), shape=(5, 5))
    bits = SeededBits(3)
    counts = sum(few_neighbours(star, 2, bits).toarray()[0] for _ in range(4_000))
    assert stats.chisquare(counts[1:]).pvalue > ALARM


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"rate": 0.0}, "rate"), ({"rate": 1.1}, "rate"), ({"multiplier": -1.0}, "multiplier"),
     ({"multiplier": float("nan")}, "multiplier")],
)  # fmt: skip
def test_bad_parameters_in_one_sentence(changes: dict, name: str) -> None:
    settings = {"adjacency": sp.csr_array((3, 3)), "members": np.ones(3, bool), "rate": 0.5, **changes}
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        SubgraphSampler(**settings)
    with pytest.raises(InvalidParameter, match="Node 0 is in both members and unprotected_nodes"):
        SubgraphSampler(**{**settings, "rate": 0.5, "multiplier": 1.0, "unprotected_nodes": np.ones(3, bool)})
    with pytest.raises(InvalidParameter, match="most must be"):
        few_neighbours(settings["adjacency"], -1, SeededBits(0))
