"""The networks that systems train: a stack of graph layers, and a perceptron that knows no graph."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.graph.operators import GraphLike
from privet.models.backbones import Features, Propagation, check_backbone
from privet.models.dropout import Dropout
from privet.models.layout import columns_first
from privet.models.sharing import shared

__all__ = ["GNN", "MLP", "Activation"]

Activation: TypeAlias = Literal["elu", "relu", "selu"]

_ACTIVATIONS: dict[str, type[nn.Module]] = {"elu": nn.ELU, "relu": nn.ReLU, "selu": nn.SELU}


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
