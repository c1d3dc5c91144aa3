"""The networks that every system trains: a stack of graph layers, and a perceptron for comparison."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.graph import Operator, gcn_operator, mean_operator, sum_operator
from privet.graph.operators import GraphLike
from privet.models.edges import Edges, WeightedEdges
from privet.models.gat import GATLayer
from privet.models.layers import Features, GCNLayer, GINLayer, SAGELayer
from privet.models.sharing import shared

__all__ = ["GNN", "MLP", "Activation", "Backbone", "Propagation", "backbone_operator"]

Activation: TypeAlias = Literal["elu", "relu", "selu"]
Backbone: TypeAlias = Literal["gat", "gcn", "gin", "sage"]
Propagation: TypeAlias = Operator | Edges | WeightedEdges

_ACTIVATIONS: dict[str, type[nn.Module]] = {"elu": nn.ELU, "relu": nn.ReLU, "selu": nn.SELU}


def backbone_operator(graph: GraphLike, backbone: Backbone) -> Propagation:
    """What a backbone propagates with, to be made once a graph: GCN and GAT with self-loops, SAGE and GIN without."""
    _check_choice(backbone, Backbone, "backbone", "backbone_operator")
    match backbone:
        case "gcn":
            return gcn_operator(graph, self_loops=True)
        case "sage":
            return mean_operator(graph, self_loops=False)
        case "gin":
            return sum_operator(graph)
        case "gat":
            return Edges.from_csr(mean_operator(graph, self_loops=True).matrix)


class _Stack(nn.Module):
    """Layers with normalisation, activation and dropout between them: what GNN and MLP have in common."""

    def __init__(
        self, layers: list[nn.Module], hidden_channels: int, activation: Activation, dropout: float, batch_norm: bool
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        _check_choice(activation, Activation, "activation", owner)
        if not 0 <= dropout < 1:
            raise InvalidParameter("dropout", owner, "at least 0 and below 1", dropout)
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden_channels) if batch_norm else nn.Identity() for _ in layers[:-1]
        )
        self.activation = _ACTIVATIONS[activation]()
        self.dropout = nn.Dropout(dropout)

    @property
    def _same_in_training(self) -> bool:
        """Whether training and evaluation compute the same function of the weights."""
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

    ``operator`` makes what ``forward`` propagates with, once a graph. ``heads`` splits the hidden channels of a GAT.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        backbone: Backbone = "gcn",
        num_layers: int = 2,
        activation: Activation = "selu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        heads: int = 1,
    ) -> None:
        _check_choice(backbone, Backbone, "backbone", "GNN")
        widths = _widths("GNN", in_channels, hidden_channels, out_channels, num_layers)
        if heads < 1 or hidden_channels % heads or (heads > 1 and backbone != "gat"):
            raise InvalidParameter("heads", "GNN", "a divisor of hidden_channels, and 1 unless a GAT", heads)
        layers = [_layer(backbone, *width, heads=heads) for width in widths[:-1]]
        super().__init__([*layers, _layer(backbone, *widths[-1])], hidden_channels, activation, dropout, batch_norm)
        self.backbone: Backbone = backbone

    def operator(self, graph: GraphLike) -> Propagation:
        """What ``forward`` takes beside the features; make it once a graph."""
        return backbone_operator(graph, self.backbone)

    def forward(self, x: Features, operator: Propagation) -> Tensor:
        return self._forward(x, operator)

    def embed(self, x: Features, operator: Propagation) -> Features:
        """The last hidden layer (``x`` itself in a network of one layer)."""
        return self._hidden(x, operator)


class MLP(_Stack):
    """The same stack with linear layers and no graph."""

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
        widths = _widths("MLP", in_channels, hidden_channels, out_channels, num_layers)
        super().__init__([_Linear(*width) for width in widths], hidden_channels, activation, dropout, batch_norm)

    def forward(self, x: Features) -> Tensor:
        return self._forward(x)

    def embed(self, x: Features) -> Features:
        """The last hidden layer (``x`` itself in a network of one layer)."""
        return self._hidden(x)


class _Linear(nn.Linear):
    """X Wᵀ + b for lazy X too."""

    def forward(self, x: Features) -> Tensor:
        return super().forward(x) if isinstance(x, Tensor) else x @ self.weight.T + self.bias


def _layer(backbone: Backbone, in_channels: int, out_channels: int, heads: int = 1) -> nn.Module:
    match backbone:
        case "gcn":
            return GCNLayer(in_channels, out_channels)
        case "sage":
            return SAGELayer(in_channels, out_channels)
        case "gin":
            return GINLayer(in_channels, out_channels)
        case "gat":
            return GATLayer(in_channels, out_channels // heads, heads=heads)


def _widths(owner: str, first: int, hidden: int, last: int, num_layers: int) -> list[tuple[int, int]]:
    counts = {"in_channels": first, "hidden_channels": hidden, "out_channels": last, "num_layers": num_layers}
    for name, count in counts.items():
        if count < 1:
            raise InvalidParameter(name, owner, "an integer of at least 1", count)
    channels = [first, *[hidden] * (num_layers - 1), last]
    return list(pairwise(channels))


def _check_choice(value: str, choices: object, name: str, owner: str) -> None:
    if value not in get_args(choices):
        raise InvalidParameter(name, owner, f"one of {', '.join(get_args(choices))}", value)
