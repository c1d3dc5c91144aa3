"""The networks that systems train: a stack of graph layers, and a perceptron that knows no graph."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.graph.operators import GraphLike
from privet.models.backbones import Features, Propagation, check_backbone
from privet.models.backbones._base import columns_first
from privet.models.training import shared

__all__ = ["GNN", "MLP", "Activation", "Dropout", "kept_entries"]

Activation: TypeAlias = Literal["elu", "relu", "selu"]

_ACTIVATIONS: dict[str, type[nn.Module]] = {"elu": nn.ELU, "relu": nn.ReLU, "selu": nn.SELU}
_BYTE, _WORD = 256, 65536  # values of a byte, and of two


class _Stack(nn.Module):
    """Layers with normalisation, activation and dropout between them, as GNN and MLP both have them."""

    def __init__(
        self, layers: list[nn.Module], hidden_channels: int, activation: Activation, dropout: float, batch_norm: bool
    ) -> None:
        super().__init__()
        if activation not in get_args(Activation):
            raise InvalidParameter("activation", f"one of {', '.join(get_args(Activation))}", activation)
        if not 0 <= dropout < 1:
            raise InvalidParameter("dropout", "at least 0 and below 1", dropout)
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden_channels) if batch_norm else nn.Identity() for _ in layers[:-1]
        )
        self.activation = _ACTIVATIONS[activation]()
        self.dropout = Dropout(dropout)

    @property
    def _same_in_training(self) -> bool:
        """True if training and evaluation compute the same function of the weights."""
        return self.dropout.p == 0 and not any(isinstance(norm, nn.BatchNorm1d) for norm in self.norms)

    def _hidden(self, x: Features, *graph: Propagation) -> Features:
        hidden = x
        for number, (layer, norm) in enumerate(zip(self.layers[:-1], self.norms, strict=True)):
            # The first layer knows nothing of dropout and norms, so it may be shared; it is where X is.
            mapped = shared(layer, hidden, *graph) if number == 0 else layer(hidden, *graph)
            hidden = self.dropout(self.activation(norm(mapped)))
        return hidden

    def _output(self, x: Features, *graph: Propagation) -> Tensor:
        output: Tensor = self.layers[-1](self._hidden(x, *graph), *graph)
        return output

    def _forward(self, x: Features, *graph: Propagation) -> Tensor:
        return shared(self._output, x, *graph) if self._same_in_training else self._output(x, *graph)


class GNN(_Stack):
    """H_0 = X, H_l = dropout(activation(norm(layer_l(H_(l-1), A)))); the last layer's output is returned as it is.

    Args:
        in_channels: The number of feature columns.
        hidden_channels: The width of the hidden layers.
        out_channels: The number of output columns.
        backbone: The name of the graph layer, one of ``privet.models.BACKBONES``.
        num_layers: The number of graph layers.
        activation: The function between the layers.
        dropout: The share of hidden values that a training step sets to 0.
        batch_norm: True to normalise hidden columns by the batch's mean and deviation.
        heads: The number of attention heads that share the hidden channels, for a backbone that has heads.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        backbone: str = "gcn",
        num_layers: int = 2,
        activation: Activation = "selu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        heads: int = 1,
    ) -> None:
        kind = check_backbone(backbone)
        widths = _widths(in_channels, hidden_channels, out_channels, num_layers)
        if heads < 1 or hidden_channels % heads or (heads > 1 and not kind.has_heads):
            expected = "a divisor of hidden_channels" if kind.has_heads else f"1: a {kind.name} layer has no heads"
            raise InvalidParameter("heads", expected, heads)
        layers = [kind.layer(*width, heads=heads) for width in widths[:-1]]
        super().__init__([*layers, kind.layer(*widths[-1])], hidden_channels, activation, dropout, batch_norm)
        self.backbone = kind.name

    def operator(self, graph: GraphLike) -> Propagation:
        """Make what ``forward`` propagates with, once for each graph.

        Args:
            graph: A graph or a square sparse adjacency matrix.
        """
        return check_backbone(self.backbone).operator(graph)

    def forward(self, x: Features, operator: Propagation) -> Tensor:
        return self._forward(x, operator)

    def embed(self, x: Features, operator: Propagation) -> Features:
        """Return the last hidden layer (``x`` itself in a network of one layer)."""
        return self._hidden(x, operator)


class MLP(_Stack):
    """The same stack with linear layers and no graph.

    Args:
        in_channels: The number of feature columns.
        hidden_channels: The width of the hidden layers.
        out_channels: The number of output columns.
        num_layers: The number of linear layers.
        activation: The function between the layers.
        dropout: The share of hidden values that a training step sets to 0.
        batch_norm: True to normalise hidden columns by the batch's mean and deviation.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        activation: Activation = "relu",
        dropout: float = 0.0,
        batch_norm: bool = False,
    ) -> None:
        widths = _widths(in_channels, hidden_channels, out_channels, num_layers)
        super().__init__([_Linear(*width) for width in widths], hidden_channels, activation, dropout, batch_norm)

    def forward(self, x: Features) -> Tensor:
        return self._forward(x)

    def embed(self, x: Features) -> Features:
        """Return the last hidden layer (``x`` itself in a network of one layer)."""
        return self._hidden(x)


class _Linear(nn.Linear):
    """A linear layer X Wᵀ + b that takes lazy X too."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels)
        columns_first(self)

    def forward(self, x: Features) -> Tensor:
        return super().forward(x) if isinstance(x, Tensor) else x @ self.weight.T + self.bias


def _widths(first: int, hidden: int, last: int, num_layers: int) -> list[tuple[int, int]]:
    counts = {"in_channels": first, "hidden_channels": hidden, "out_channels": last, "num_layers": num_layers}
    for name, count in counts.items():
        if count < 1:
            raise InvalidParameter(name, "an integer of at least 1", count)
    channels = [first, *[hidden] * (num_layers - 1), last]
    return list(pairwise(channels))


class Dropout(nn.Dropout):
    """Set a share of the entries to 0 in training and scale the others up, as :class:`torch.nn.Dropout` does.

    Random bytes cost a tenth of the coins that torch tosses one by one.

    The share is rounded to a multiple of 1/65536, and to one of 1/256 exactly where it is one. Coins come from torch's
    global generator.

    Args:
        p: The share of entries that a training step sets to 0.
    """

    def forward(self, x: Tensor) -> Tensor:
        return x * kept_entries(x.shape, self.p, x.dtype) if self.training and self.p else x


def kept_entries(shape: tuple[int, ...], share: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw a factor for each entry: 0 for the share of dropped ones, 1 / (1 - share) for the others.

    Args:
        shape: The shape of the matrix.
        share: The share of entries to drop, below 1; rounded as in :class:`Dropout`.
        dtype: The type of the factors.
    """
    sides = _BYTE if (share * _BYTE).is_integer() else _WORD
    dropped = min(round(share * sides), sides - 1)
    count = torch.Size(shape).numel()
    words = torch.empty(-(-count * (2 if sides == _WORD else 1) // 8), dtype=torch.int64).random_(-(2**63), None)
    coins = words.view(torch.uint8 if sides == _BYTE else torch.int16)[:count].view(shape)
    threshold = dropped if sides == _BYTE else dropped - _WORD // 2  # 16 bits are signed
    return (coins >= threshold).to(dtype).mul_(sides / (sides - dropped))
