"""The link task: roles and strangers are the business of one sub-graph each."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.errors import InvalidData
from privet.graph.subgraphs import Role, SubgraphBatch
from privet.systems.central.trainer.link_prediction import LinkPrediction, pair_scores

NODES = 40
PUBLIC = np.arange(NODES) >= 20


def random_batch(rng: np.random.Generator, centres: int) -> SubgraphBatch:
    counts = rng.integers(0, 7, size=centres)
    picked = [np.sort(rng.choice(np.arange(10, NODES), size=count, replace=False)) for count in counts]
    owner = np.repeat(np.arange(centres), counts)
    return SubgraphBatch(rng.permutation(10)[:centres], owner, np.concatenate([[], *picked]).astype(np.int64))


def keys_of(batch: SubgraphBatch, secret: int) -> np.ndarray:
    return np.random.default_rng(secret).integers(2**62, size=NODES)[batch.central]


def by_centre(batch: SubgraphBatch) -> dict[int, list[tuple[int, int]]]:
    assert batch.roles is not None
    pairs = list(zip(batch.peripheral.tolist(), batch.roles.tolist(), strict=True))
    owned = [np.flatnonzero(batch.owner == number) for number in range(len(batch))]
    return {int(c): [pairs[place] for place in places] for c, places in zip(batch.central, owned, strict=True)}


@given(st.integers(0, 2**31), st.integers(1, 9))
def test_roles_and_strangers(seed: int, centres: int) -> None:
    batch = random_batch(np.random.default_rng(seed), centres)
    found = by_centre(LinkPrediction(PUBLIC).examples(batch, keys_of(batch, seed)))
    for number, centre in enumerate(batch.central.tolist()):
        sampled = batch.peripheral[batch.owner == number].tolist()
        parts = found.get(centre, [])
        roles = [role for _, role in parts]
        assert roles == sorted(roles)
        neighbours = sorted(node for node, role in parts if role != Role.STRANGER)
        strangers = [node for node, role in parts if role == Role.STRANGER]
        assert neighbours == (sampled if parts else [])
        assert all(PUBLIC[node] and node not in sampled for node in strangers)
        assert len(strangers) <= roles.count(Role.ASKED)
        assert roles.count(Role.ASKED) > 0 or not parts


@thorough
@given(st.integers(0, 2**31), st.integers(2, 9))
def test_a_sub_graph_is_the_same_whoever_else_is_there(seed: int, centres: int) -> None:
    """Another centre may be missing; and a neighbour that is missing here changes nobody else's role."""
    batch, task = random_batch(np.random.default_rng(seed), centres), LinkPrediction(PUBLIC)
    whole = by_centre(task.examples(batch, keys_of(batch, seed)))
    gone, kept = int(batch.central[0]), batch.owner > 0
    fewer = SubgraphBatch(batch.central[1:], batch.owner[kept] - 1, batch.peripheral[kept])
    found = by_centre(task.examples(fewer, keys_of(fewer, seed)))
    assert found == {centre: parts for centre, parts in whole.items() if centre != gone}
    without = batch.peripheral != 15
    smaller = SubgraphBatch(batch.central, batch.owner[without], batch.peripheral[without])
    for centre, parts in by_centre(task.examples(smaller, keys_of(smaller, seed))).items():
        assert {pair for pair in parts if pair[1] != Role.STRANGER} <= set(whole[centre])
        if 15 not in [node for node, _ in whole[centre]]:
            assert parts == whole[centre]


def test_half_of_the_neighbours_are_asked_and_strangers_are_uniform() -> None:
    """40,000 coins: by Hoeffding and the union bound a correct program fails for another seed with less than 1e-6."""
    rng = np.random.default_rng(0)
    batch = SubgraphBatch(np.arange(10_000), np.repeat(np.arange(10_000), 4), np.tile([20, 21, 22, 23], 10_000))
    task = LinkPrediction(PUBLIC)
    made = task.examples(batch, rng.integers(2**62, size=10_000))
    assert made.roles is not None
    asked, strangers = (made.peripheral[made.roles == role] for role in (Role.ASKED, Role.STRANGER))
    allowed = np.sqrt(np.log(2 * 25 / 1e-6) / (2 * 10_000))
    assert np.abs(np.bincount(asked, minlength=NODES)[20:24] / 10_000 - 0.5).max() < allowed
    shares = np.bincount(strangers, minlength=NODES) / len(strangers)
    assert not shares[:24].any()
    assert np.abs(shares[24:] - 1 / 16).max() < allowed


def test_the_loss_is_that_of_asked_neighbours_and_strangers() -> None:
    rows = torch.tensor([[[2.0, 0.0], [9.0, 9.0], [1.0, 5.0], [3.0, 0.0], [-1.0, 0.0], [7.0, 7.0]]])
    roles = torch.tensor([[Role.CENTRE, Role.HEARD, Role.ASKED, Role.ASKED, Role.STRANGER, Role.EMPTY]])
    task, root = LinkPrediction(PUBLIC), np.sqrt(2)
    linked = [np.log1p(np.exp(-score / root)) for score in (2.0, 6.0)]
    expected = np.mean(linked) + np.log1p(np.exp(-2.0 / root))
    assert task.losses(rows, torch.zeros(1), roles).tolist() == pytest.approx([expected])
    heard = torch.where(roles > Role.HEARD, Role.HEARD, roles)
    assert task.losses(rows, torch.zeros(1), heard).tolist() == [0.0]
    assert pair_scores(rows[0, 0], rows[0, 2]).item() == pytest.approx(2.0 / root)


def test_strangers_must_be_public() -> None:
    with pytest.raises(InvalidData, match="validation or test nodes"):
        LinkPrediction(np.zeros(5, dtype=np.bool_))
