"""Chunks of fixed shape: every sub-graph is in one lane, and empty slots touch nobody."""

import numpy as np
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
def test_every_sub_graph_is_in_one_lane_with_its_roles_and_edges(seed: int, centres: int, links: bool) -> None:
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(centres), rng.integers(0, 6, size=centres))
    roles = rng.integers(Role.HEARD, (Role.STRANGER if links else Role.HEARD) + 1, size=len(owner)).astype(np.int8)
    roles = roles[np.lexsort((roles, owner))]
    batch = SubgraphBatch(np.arange(centres), owner, rng.integers(100, 200, size=len(owner)), roles if links else None)
    features = np.arange(200, dtype=np.float32)[:, None] + 1
    seen = []
    for chunk in chunks_of(batch, features, np.arange(centres), np.arange(centres), four):
        assert chunk.x.shape == (4, chunk.slots, 1)
        assert chunk.edge_index.tolist() == [list(range(1, 1 + chunk.edges)), [0] * chunk.edges]
        assert links or (chunk.roles[chunk.is_example] != Role.EMPTY).all()
        assert not chunk.x[~chunk.is_example].any()
        for lane in chunk.is_example.nonzero()[:, 0].tolist():
            number = int(chunk.targets[lane])
            seen.append(number)
            mine, filled = owner == number, chunk.roles[lane] != Role.EMPTY
            heard = chunk.x[lane, chunk.edge_index[0], 0] - 1
            assert heard.tolist() == batch.peripheral[mine & (roles == Role.HEARD)].tolist()
            assert (chunk.x[lane, filled, 0] - 1).tolist() == [number, *batch.peripheral[mine].tolist()]
            assert chunk.roles[lane, filled].tolist() == [Role.CENTRE, *roles[mine].tolist()]
            assert not chunk.x[lane, ~filled].any()
    assert sorted(seen) == list(range(centres))


def test_lanes_can_be_chosen_and_taken_apart() -> None:
    chunk = random_chunk(5, 4, COLUMNS, torch.arange(5), torch.Generator().manual_seed(0), last_role=Role.STRANGER)
    turned = chunk.lanes_of(torch.tensor([4, 3, 2, 1, 0]))
    for one, other in zip(chunk.apart(), reversed(list(turned.apart())), strict=True):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.roles, other.roles)
        assert (one.lanes, one.targets.tolist()) == (1, other.targets.tolist())
    assert chunk.lanes_of(chunk.targets > 2).targets.tolist() == [3, 4]


def test_random_lanes_hear_as_many_neighbours_as_asked_for() -> None:
    generator = torch.Generator().manual_seed(0)
    chunk = random_chunk(6, 5, 1, torch.zeros(6), generator, last_role=Role.STRANGER, edges=2)
    assert chunk.edge_index.shape == (2, 2)
    assert (chunk.roles[:, :3] == torch.tensor([Role.CENTRE, Role.HEARD, Role.HEARD])).all()
    assert set(chunk.roles[:, 3:].flatten().tolist()) == {Role.ASKED, Role.STRANGER}
