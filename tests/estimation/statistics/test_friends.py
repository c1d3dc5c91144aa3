"""Statistics of links: hubs make edges depend on each other, and what nobody reported tells nothing."""

import numpy as np
from simulated_answers import holds

from privet.estimation.statistics.friends import list_length, mixing
from privet.estimation.statistics.readings import read_answers, read_open
from privet.mechanisms import AdjacencyResponse, RandomizedResponse, SeededBits

HUBS, LEAVES, TIMES = 12, 25, 60


def test_edges_that_share_a_hub_are_not_independent():
    """The interval of a correct program misses in 5 % of 60 studies; 15 misses have a chance below 1e-6."""
    response, rng = RandomizedResponse(epsilon=2.0, classes=2), np.random.default_rng(0)
    hubs = np.repeat(np.arange(HUBS), LEAVES)
    edges = np.stack([hubs, HUBS + np.arange(len(hubs))], axis=1)
    held = 0
    for seed in range(TIMES):
        classes = rng.permutation(HUBS * (LEAVES + 1)) % 2
        classes[HUBS:] = np.where(rng.random(len(hubs)) < 0.8, classes[hubs], 1 - classes[hubs])
        (reading,) = read_answers(np.arange(len(classes)), response.perturb(classes, SeededBits(seed)), response, (2,))
        hot = np.eye(2)[classes]
        pairs = hot[edges[:, 0]].T @ hot[edges[:, 1]]
        pairs += pairs.T
        found = next(mixing(edges, reading, ("a", "b")))
        held += int(holds(found, pairs[0] / pairs[0].sum())[0])
    assert held > TIMES - 15


def test_open_classes_give_the_table_itself():
    edges = np.array([[0, 1], [1, 0], [1, 2], [2, 3], [0, 0]])  # 1-0 again and a loop count for nothing
    found = list(mixing(edges, read_open(np.arange(4), np.eye(2)[[0, 0, 1, 1]]), ("a", "b")))
    assert [[round(each.unbiased, 6) for each in row.estimates] for row in found] == [
        [round(2 / 3, 6), round(1 / 3, 6)],
        [round(1 / 3, 6), round(2 / 3, 6)],
    ]


def test_links_to_people_who_did_not_answer_are_left_out():
    reading = read_open(np.array([0, 1]), np.eye(2)[[0, 1]])
    found = list(mixing(np.array([[0, 5], [5, 1]]), reading, ("a", "b")))
    assert not any(each.told for each in found)


def test_nobodys_lists_tell_nothing():
    mechanism = AdjacencyResponse(epsilon=1.0, num_nodes=5, one_sided=True)
    reports = mechanism.perturb(np.zeros((0, 5)), SeededBits(0), users=np.zeros(0, dtype=np.int64))
    assert not list_length(np.zeros(0, dtype=np.int64), reports, mechanism, 5).told
