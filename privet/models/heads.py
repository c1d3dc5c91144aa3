"""Link scores: logistic regression on the Hadamard product of two nodes' embeddings.

s(u, v) = w · (z_u ∘ z_v) + b is the weighted inner product (w ∘ z_u) · z_v + b, so a list of P pairs is one sampled
product over CSR, forward and backward: P numbers of memory, where the edge vectors themselves would take P x F.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from privet.errors import InvalidData, InvalidParameter
from privet.models.edges import Edges

__all__ = ["HadamardLinkScorer", "pairwise_loss"]


class HadamardLinkScorer(nn.Module):
    """The logit w · (z_u ∘ z_v) + b of an edge between u and v; symmetric in u and v.

    The weights w and b start at 1 and 0, where the logit is the plain inner product.

    Args:
        channels: The number of columns of the embeddings.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        if channels < 1:
            raise InvalidParameter("channels", "an integer of at least 1", channels)
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, embeddings: Tensor, pairs: Tensor | Edges) -> Tensor:
        """Compute one logit for each pair, in the order given.

        Args:
            embeddings: N x channels numbers: an encoder's output (``MLP`` or ``GNN`` on lazy features), or fixed.
            pairs: A 2 x P tensor of nodes, or ``Edges``: pairs used in every epoch are best sorted once.
        """
        edges = pairs if isinstance(pairs, Edges) else Edges.from_pairs(pairs, embeddings.shape[0])
        logits = edges.dot(embeddings * self.weight, embeddings) + self.bias
        return logits.index_select(0, edges.rank)


def pairwise_loss(positive: Tensor, negative: Tensor, kind: Literal["logistic", "square"] = "square") -> Tensor:
    """Compute the mean ranking loss over pairs of a link and a non-link, with m = s(link) - s(non-link).

    Both kinds bound the share of wrongly ranked pairs, 1 - AUC, from above (the logistic one up to the factor log 2).

    Args:
        positive: The scores of P links.
        negative: The scores of k P non-links; p, P + p, 2 P + p, ... are compared with link p.
        kind: ``"square"`` for (1 - m)², ``"logistic"`` for log(1 + exp(-m)).
    """
    if positive.numel() == 0 or negative.numel() % positive.numel() or negative.numel() == 0:
        found = f"{negative.numel()} for {positive.numel()} links"
        raise InvalidData("number of non-links", "a multiple of the number of links, both above 0", found)
    margin = positive - negative.view(-1, positive.numel())
    match kind:
        case "square":
            return (1 - margin).square().mean()
        case "logistic":
            return softplus(-margin).mean()
        case _:
            raise InvalidParameter("kind", "logistic or square", kind)
