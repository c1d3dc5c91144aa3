"""Chunks of fixed shape: every sub-graph is in one lane, and empty slots touch nobody."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from subgraph_modules import COLUMNS

from privet.graph.subgraphs import Role, SubgraphBatch
from privet.models.subgraphs.chunks import chunks_of, padded_size, random_chunk


def four(slots: int, edges: int) -> int:
    return 4


def test_sizes_are_padded_by_at_most_a_half() -> None:
    sizes = np.arange(1, 5000)
    padded = padded_size(sizes)
    assert padded_size(np.array([1, 2, 3, 4, 5, 7, 9, 13, 17])).tolist() == [1, 2, 3, 4, 6, 8, 12, 16, 24]
    assert (padded >= sizes).all()
    assert (padded < 1.5 * sizes).all()


@given(st.integers(0, 2**31), st.integers(0, 20), st.booleans())
def test_every_sub_graph_is_in_one_lane_with_all_its_edges(seed: int, centres: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, size=centres)
    owner = np.repeat(np.arange(centres), counts)
    batch = SubgraphBatch(np.arange(centres), owner, rng.integers(100, 200, size=len(owner)))
    features = np.arange(200, dtype=np.float32)[:, None] + 1
    found = {}
    for chunk in chunks_of(batch, features, np.arange(centres), np.arange(centres), four, exact=exact):
        assert chunk.x.shape == (4 * chunk.slots + 2, 1)
        assert chunk.edge_index.shape == (2, 4 * (chunk.slots - 1))
        for lane in chunk.is_example.nonzero()[:, 0].tolist():
            heard = chunk.edge_index[0][chunk.edge_index[1] == chunk.centres[lane]]
            found[int(chunk.targets[lane])] = chunk.x[[int(chunk.centres[lane]), *heard.tolist()], 0].tolist()
        sink = chunk.edge_index[1] == len(chunk.x) - 1
        assert not chunk.x[chunk.edge_index[0][sink]].any()
    expected = {each: [each + 1, *(batch.peripheral[owner == each] + 1).tolist()] for each in range(centres)}
    assert found == expected


@given(st.integers(0, 2**31), st.integers(0, 20), st.booleans())
def test_a_centre_hears_those_alone_whose_role_it_is(seed: int, centres: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(centres), rng.integers(0, 6, size=centres))
    roles = rng.integers(Role.HEARD, Role.STRANGER + 1, size=len(owner)).astype(np.int8)
    roles = roles[np.lexsort((roles, owner))]
    batch = SubgraphBatch(np.arange(centres), owner, rng.integers(100, 200, size=len(owner)), roles)
    features = np.arange(200, dtype=np.float32)[:, None] + 1
    seen = []
    for chunk in chunks_of(batch, features, np.arange(centres), np.arange(centres), four, exact=exact):
        assert chunk.edge_index.shape == (2, 4 * chunk.edges)
        assert len(chunk.x) == 4 * chunk.slots + 2
        sink = chunk.edge_index[1] == len(chunk.x) - 1
        assert not (exact and sink[: int(chunk.is_example.sum()) * chunk.edges].any())
        assert (chunk.edge_index[0][sink] == len(chunk.x) - 2).all()  # nobody's features reach it
        for lane in chunk.is_example.nonzero()[:, 0].tolist():
            number = int(chunk.targets[lane])
            seen.append(number)
            mine = owner == number
            heard = chunk.edge_index[0][chunk.edge_index[1] == chunk.centres[lane]]
            assert (chunk.x[heard, 0] - 1).tolist() == batch.peripheral[mine & (roles == Role.HEARD)].tolist()
            there = chunk.rows(chunk.x)[lane, chunk.filled[lane], 0] - 1
            assert there.tolist() == [number, *batch.peripheral[mine].tolist()]
            assert chunk.roles[lane, chunk.filled[lane]].tolist() == [Role.CENTRE, *roles[mine].tolist()]
    assert sorted(seen) == list(range(centres))


@pytest.mark.parametrize("last_role", [Role.HEARD, Role.STRANGER])
def test_a_lane_alone_and_elsewhere_is_the_same_sub_graph(last_role: Role) -> None:
    generator = torch.Generator().manual_seed(0)
    chunk = random_chunk(5, 4, COLUMNS, torch.arange(5), generator, last_role=last_role)
    turned = chunk.lanes_of(torch.tensor([4, 3, 2, 1, 0]))
    for lane in range(5):
        one, other = chunk.alone(lane), turned.alone(4 - lane)
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.edge_index, other.edge_index)
        assert torch.equal(one.roles, other.roles)
        assert one.targets.tolist() == other.targets.tolist() == [lane]
        assert one.edge_index.shape[1] == int(chunk.heard[lane].sum())


@pytest.mark.parametrize("last_role", [Role.HEARD, Role.STRANGER])
def test_rows_of_nodes_edges_and_self_loops_find_their_lane(last_role: Role) -> None:
    chunk = random_chunk(3, 4, 1, torch.zeros(3), torch.Generator().manual_seed(0), last_role=last_role)
    for lanes, _ in chunk.kinds_of_rows().values():
        rows = chunk.by_lane(lanes[:, None].float() + 1)
        assert rows.shape[0] == 3
        for lane in range(3):
            assert set(rows[lane].unique().tolist()) <= {0.0, lane + 1.0}


def test_random_lanes_hear_as_many_neighbours_as_asked_for() -> None:
    generator = torch.Generator().manual_seed(0)
    chunk = random_chunk(6, 5, 1, torch.zeros(6), generator, full=True, last_role=Role.STRANGER, edges=2)
    assert chunk.edge_index.shape == (2, 12)
    assert chunk.heard.all()
    assert set(chunk.roles[:, 3:].flatten().tolist()) == {Role.ASKED, Role.STRANGER}
