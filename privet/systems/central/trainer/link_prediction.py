"""Link prediction: which of a centre's neighbours does it hear, which is it asked about, and which strangers stand by.

In a sub-graph of a centre u every sampled neighbour v has one of two roles. If it is *heard*, it has an edge to u. If
it is *asked* about, it has none, so that no message gives the answer away. Beside the asked neighbours stand as many
*strangers*, unprotected nodes that are no neighbours of u. With h the centre's row, g_v that of another node and
s_v = <h, g_v> / sqrt(width), the loss is

    mean over asked v of softplus(-s_v)  +  mean over strangers v of softplus(s_v)

The role of v is a hash of the step's secret, u and v; the strangers are a hash of the secret and u, among nodes that
are public. So a sub-graph without some person is the same one whatever that person does elsewhere, as the accountant
needs it. docs/explanation/private-training.md has the argument.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from privet.data.mixing import mixed
from privet.errors import InvalidData
from privet.graph.subgraphs import Role, SubgraphBatch

__all__ = ["LinkPrediction", "pair_scores"]

Ids = NDArray[np.int64]

_ROLES, _STRANGERS = 1, 2  # kinds of coins of a centre


class LinkPrediction:
    """Links between a centre and other nodes, by the inner product of their rows.

    Args:
        unprotected: A mask of the nodes about which nothing is promised; strangers are drawn from them.
    """

    outputs_needed = 1
    last_role = Role.STRANGER

    def __init__(self, unprotected: NDArray[np.bool_]) -> None:
        self._public = np.flatnonzero(unprotected)
        self._count = len(unprotected)
        if not len(self._public):
            raise InvalidData(
                "loss='links' needs validation or test nodes: pairs without a link are drawn from them. Leave some "
                "nodes out of training, for example by test_mask."
            )

    def losses(self, rows: Tensor, targets: Tensor, roles: Tensor) -> Tensor:
        """Return the logistic loss of each sub-graph, 0 for one without an asked neighbour."""
        scores = pair_scores(rows[:, :1], rows)
        linked = _mean(softplus(-scores), roles == Role.ASKED)
        return linked + _mean(softplus(scores), roles == Role.STRANGER)

    def random_targets(self, count: int, generator: torch.Generator) -> Tensor:
        """Return zeros: roles say all."""
        return torch.zeros(count, dtype=torch.int64)

    def members(self, train: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return all training nodes."""
        return train

    @property
    def targets(self) -> Ids:
        """Zeros, for no node needs a label."""
        return np.zeros(self._count, dtype=np.int64)

    def examples(self, batch: SubgraphBatch, keys: Ids) -> SubgraphBatch:
        """Give every neighbour its role and add strangers; sub-graphs without an asked neighbour are left out.

        Their gradient is 0, so that the sum is the same without them.
        """
        asked = self.is_asked(batch, keys)
        counts = np.bincount(batch.owner[asked], minlength=len(batch))
        owner, strangers = self.strangers(batch, keys, counts)
        owners = np.concatenate([batch.owner, owner])
        nodes = np.concatenate([batch.peripheral, strangers])
        roles = np.full(len(owners), Role.STRANGER, dtype=np.int8)
        roles[: len(asked)] = np.where(asked, Role.ASKED, Role.HEARD)
        kept = counts > 0
        order = np.lexsort((roles, owners))
        order = order[kept[owners[order]]]
        number = np.cumsum(kept) - 1
        return SubgraphBatch(batch.central[kept], number[owners[order]], nodes[order], roles[order])

    def is_asked(self, batch: SubgraphBatch, keys: Ids) -> NDArray[np.bool_]:
        """Toss a coin for each sampled neighbour: a hash of its number and of the centre's key."""
        return np.asarray(_words(keys[batch.owner], batch.peripheral, _ROLES) % 2 == 1)

    def strangers(self, batch: SubgraphBatch, keys: Ids, counts: Ids) -> tuple[Ids, Ids]:
        """Draw so many public nodes for each sub-graph; neighbours are left out, as the centre's own data tells.

        Args:
            batch: The sampled sub-graphs, which hold all unprotected neighbours of their centre.
            keys: The key of each centre.
            counts: The number of draws for each sub-graph.
        """
        owner = np.repeat(np.arange(len(batch)), counts)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        drawn = self._public[_words(keys[owner], place, _STRANGERS) % len(self._public)]
        linked = np.isin(owner * self._count + drawn, batch.owner * self._count + batch.peripheral)
        return owner[~linked], drawn[~linked]


def pair_scores(left: Tensor, right: Tensor) -> Tensor:
    """Return the score of each pair of rows, the logit of a link.

    Args:
        left: The rows of one end, [..., width].
        right: The rows of the other end.
    """
    return (left * right).sum(-1) / math.sqrt(right.shape[-1])


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Return each row's mean over the chosen entries, 0 if there is none."""
    return torch.where(chosen, values, 0.0).sum(1) / chosen.sum(1).clamp(min=1)


def _words(keys: Ids, names: Ids, kind: int) -> Ids:
    """Return a hash of keys and names, of 62 bits."""
    seeds = mixed(mixed(torch.from_numpy(keys) + kind) + torch.from_numpy(names))
    return np.asarray(mixed(seeds).numpy() >> 1) & (2**62 - 1)
