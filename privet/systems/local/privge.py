"""PrivGE (Li et al., CIKM 2024): a locally private graph embedding by personalised PageRank.

Every device sends k of its d features through HDS (Algorithms 1 and 2), the server propagates the reports,

    Z = sum_l alpha (1 - alpha)^l (D^(r-1) A D^(-r))^l X,

and learns from Z alone: an MLP tells a node's class here, ``privge_links`` tells whether two nodes are linked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from privet.data import Links, Schema
from privet.data.population import Population
from privet.errors import InvalidParameter
from privet.estimation.labels import report_loss
from privet.graph import LazyFeatures, backward_push, distributed, pagerank, pagerank_operator, pagerank_series
from privet.graph.distributed.reports import ProjectedReports
from privet.graph.operators import GraphLike, adjacency_of, is_symmetric
from privet.graph.projection import Projection
from privet.mechanisms import HDS, AffineFeatures, Laplace, Mechanism, MultiBit, Piecewise
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.models import MLP, Activation, NetworkSettings, accuracy, seeded, train
from privet.models.streaming import HeldRows, Lesson, NodeRows, StoredRows
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted
from privet.systems.local._privge_links import LinkFitted, LinkTask
from privet.systems.local._projected import ProjectedSystem, hosted_graph, placed_columns

__all__ = ["PrivGE", "standardised"]

Centring: TypeAlias = Literal["mean", "middle"]
FeatureMechanism: TypeAlias = Literal["hds", "laplace", "multi-bit", "piecewise"]

_MECHANISMS: dict[str, type[CoordinateMechanism]] = {
    "hds": HDS,
    "laplace": Laplace,
    "multi-bit": MultiBit,
    "piecewise": Piecewise,
}


@dataclass(frozen=True, kw_only=True)
class PrivGE(NetworkSettings, ProjectedSystem):
    """HDS reports, a personalised-PageRank embedding of them, and a perceptron behind.

    Attributes:
        mechanism: The randomiser of the features: "hds" (the paper's), "laplace", "multi-bit" or "piecewise".
        sample: The paper's k, the number of features in a report; None for the mechanism's best choice.
        centring: The zero of each column: its "mean", beside which the propagated constant is a column of its own, or
            the "middle" of its range as in the paper.
        alpha: The decay of PageRank.
        r: The convolution coefficient.
        tolerance: The largest relative error of the PageRank (see :func:`privet.graph.pagerank`); of a directed graph,
            the one at which the series is cut off.
        push: The paper's r_max: Algorithm 3 pushes residues above it. None (default) computes PageRank itself, up to
            ``tolerance``, in less time.
        scale: The size of the embedding's entries; a smaller one trains more slowly and fits less of the noise. None,
            only about the middle, keeps the paper's units, in which a range is [-1, 1] and HDS shrinks what it reports.
        activation: The perceptron's activation.
        batch_size: The number of training nodes in a mini-batch; None to use all at once, or 8,192 with a projection.
        folds: The number of folds of training edges in link prediction.
        link_encoder: True to train a perceptron before the Hadamard product of link prediction; the paper has none.
    """

    name: ClassVar[str] = "privge"
    needs: ClassVar[tuple[str, ...]] = ("features", "schema")  # links need neither labels nor a split of the nodes
    search_space: ClassVar[dict[str, list[Any]]] = {
        "alpha": [0.02, 0.05, 0.1, 0.2],
        "r": [0.0, 0.1, 0.3, 0.5, 1.0],
        "dropout": [0.1, 0.3, 0.5, 0.7],
        "weight_decay": [0.0, 0.0005, 0.005],
        "hidden_channels": [64, 128],
    }
    mechanism: FeatureMechanism = "hds"
    sample: int | None = None
    centring: Centring = "mean"
    alpha: float = 0.1
    r: float = 0.5
    tolerance: float = 0.02
    push: float | None = None
    scale: float | None = 1.0
    hidden_channels: int = 128
    activation: Activation = "relu"
    dropout: float = 0.5
    weight_decay: float = 0.0005
    batch_size: int | None = None
    max_epochs: int = 200
    patience: int | None = 30
    folds: int = 3
    link_encoder: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "tolerance"):
            if not 0 < getattr(self, name) < 1:
                raise InvalidParameter(name, "a number in (0, 1)", getattr(self, name))
        if not 0 <= self.r <= 1:
            raise InvalidParameter("r", "a number in [0, 1]", self.r)
        self._check_least(sample=1, batch_size=1, folds=1)
        if self.scale is not None:
            self._check_positive("scale")
        elif self.centring != "middle" or self.projection is not None:
            raise InvalidParameter("The paper's units are about the middle. Give centring='middle', and no projection.")
        if self.push is not None:
            self._check_positive("push")

    def feature_mechanism(self, population: Population) -> Mechanism:
        """HDS, or one of the mechanisms that the paper compares it with."""
        return _MECHANISMS[self.mechanism].declare(population, epsilon=self.epsilon_features, sample=self.sample)

    def embed(self, collected: Collected, topology: GraphLike | None = None) -> LazyFeatures:
        """Z, the paper's embedding (equation 12, truncated), over the collected or another topology.

        It is N x (d + 1), the propagated constant last (N x d about the middle), and not written out unless it is
        pushed: ``.dense()`` or ``.rows(nodes).dense()`` do that.
        """
        edges = collected.topology.adjacency if topology is None else adjacency_of(topology)
        x = self._reported(collected, edges)
        if self.push is not None:
            return LazyFeatures.from_dense(backward_push(x, edges, self.alpha, self.r, self.push))
        if is_symmetric(edges):
            return pagerank(x, edges, self.alpha, self.r, tolerance=self.tolerance)
        return pagerank_series(x, pagerank_operator(edges, self.r), self.alpha, tolerance=self.tolerance)

    def _reported(self, collected: Collected, edges: Any) -> LazyFeatures:
        """Return X, what was reported, in the units and with the zero that the settings say."""
        estimate, schema = collected.estimate(edges), collected.schema
        if self.scale is not None:
            constant = self.centring == "mean"  # about the middle the columns themselves hold what it tells
            return standardised(estimate, schema, self.scale, self.centring, constant=constant)
        mechanism, half = collected.mechanism("features"), (schema.high - schema.low) / 2
        shrunk = (mechanism.shrinkage if isinstance(mechanism, HDS) else 1.0) / half
        offset = (estimate.offset - (schema.low + schema.high) / 2) * shrunk
        return LazyFeatures.from_affine(AffineFeatures(estimate.symbols, estimate.scale * shrunk, offset))

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Node classification: softmax(MLP(Z)), equation 21. The result's embedding is the last hidden layer."""
        projection = self.projected(collected)
        if projection is not None:
            return self._fit_projected(collected, projection, progress)
        z = self.embed(collected)
        z = z.planned(self.hidden_channels, self.max_epochs) if self.batch_size is None else z.materialise(dense=True)
        labels, fitted, held = map(torch.from_numpy, collected.supervised("PrivGE"))
        response = collected.label_response
        with seeded(self.seed):
            network = self.encoder(z.shape[1], collected.schema.classes)

        def loss(model: MLP) -> Tensor | Iterator[Tensor]:
            if self.batch_size is None:
                return report_loss(model(z)[fitted], labels[fitted], response)
            batches = torch.split(fitted[torch.randperm(len(fitted))], self.batch_size)
            return (report_loss(model(z.rows(batch)), labels[batch], response) for batch in batches)

        def score(model: MLP) -> float:
            return accuracy(model(z)[held], labels[held])

        result = train(network, loss, score, self.training(self.seed, "max", progress=progress))
        with torch.no_grad():
            probabilities, hidden = network(z).softmax(1), network.embed(z)
        return self.fitted(
            collected,
            probabilities.numpy(),
            embedding=(hidden.dense() if isinstance(hidden, LazyFeatures) else hidden).numpy(),
            weights={name: value.numpy() for name, value in network.state_dict().items()},
            best_epoch=result.best_epoch,
            validation_score=result.best_score,
        )

    def embed_projected(self, collected: Collected, projection: Projection) -> NodeRows:
        """Z R with the propagated constant as one more column, by the truncated series, in memory or in files.

        Columns are centred by the reports of those who answered, so that every part of them can be read on its own.
        """
        graph, schema, scale = hosted_graph(collected), collected.schema, self.scale or 1.0  # None has no projection
        if graph is None:
            reported = collected.reported()
            moments = Moments.of(reported.symbols)
            x = standardised(collected.estimate(), schema, scale, self.centring, moments)
            operator = pagerank_operator(collected.topology.adjacency, self.r)
            z = pagerank_series(x, operator, self.alpha, tolerance=self.tolerance)
            first = sp.block_diag([projection.matrix(), np.ones((1, 1), np.float32)]).toarray()
            return HeldRows((z @ torch.from_numpy(first)).numpy())
        span = schema.high - schema.low

        def shape(reports: ProjectedReports) -> tuple[float, NDArray[np.float64]]:
            moments = Moments(reports.means, reports.squares)
            factor, offset = _standard(reports.scale, reports.offset, moments, schema, scale, self.centring)
            return factor, np.append(projection.of_vector(offset * factor), scale)

        columns = placed_columns(collected, graph, projection, shape, 1 / span)
        stored = distributed.pagerank_operator(graph, self.r)
        return StoredRows(distributed.pagerank_series(columns, stored, self.alpha, tolerance=self.tolerance))

    def _fit_projected(self, collected: Collected, projection: Projection, progress: bool) -> Fitted:
        z = self.embed_projected(collected, projection)
        labels, fitted, held = map(torch.from_numpy, collected.supervised("PrivGE"))
        response = collected.label_response
        lesson = Lesson(
            fitted,
            lambda outputs, nodes: report_loss(outputs, labels[nodes], response),
            lambda outputs_of: accuracy(outputs_of(held), labels[held]),
            "max",
        )
        return self.fit_rows(
            collected,
            z,
            lambda: self.encoder(z.shape[1], collected.schema.classes),
            lambda: lesson,
            [self.seed],
            lambda seed: self.training(seed, "max", progress=progress),
            self.batch_size,
        )

    def fit_links(self, collected: Collected, train: Links, validation: Links, *, progress: bool = False) -> LinkFitted:
        """Link prediction from the training edges: ``collected`` must come from ``EdgeSplit.graph``.

        Edge vectors are Hadamard products of an encoder's output (an MLP of ``num_layers``, a linear map if 1), or of
        the embeddings themselves without ``link_encoder``, and a logistic regression ranks them; see
        :mod:`privet.systems.local._privge_links` for what ``folds`` do.
        """
        return LinkTask(self, collected, train, validation).fit(progress)

    def encoder(self, in_channels: int, out_channels: int) -> MLP:
        """The network behind Z."""
        return MLP(
            in_channels,
            self.hidden_channels,
            out_channels,
            num_layers=self.num_layers,
            activation=self.activation,
            dropout=self.dropout,
        )


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of the reports' symbols.

    Attributes:
        means: The mean of each column.
        squares: The mean square of each column.
    """

    means: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, symbols: sp.csr_array) -> Moments:
        """Compute them.

        Args:
            symbols: The symbols, one row for each person.
        """
        exact = symbols.astype(np.float64)
        return cls(*(np.asarray(each.mean(axis=0)).ravel() for each in (exact, exact.multiply(exact))))


def standardised(
    estimate: AffineFeatures,
    schema: Schema,
    scale: float = 1.0,
    centring: Centring = "mean",
    moments: Moments | None = None,
    *,
    constant: bool = True,
) -> LazyFeatures:
    """Each column in units of its declared range, less its centre; entries of root mean square ``scale``.

    Mean and root mean square are of the reports, so this is post-processing. The paper's centre is the middle of
    the range. But where most values lie at one end (bags of words) the middle is far from all of them, and
    propagation turns that common distance into a term that drowns the rest. What is worth keeping of it, the propagated
    constant (which tells degrees if r > 0), is one last column of its own. Dividing by one number makes the
    paper's raw HDS output and the unbiased estimate, its multiple about the middle, the same thing.

    ``moments`` are those of the estimate's own symbols unless they are given; ``constant`` adds the last column.
    """
    known = Moments.of(estimate.symbols) if moments is None else moments
    factor, offset = _standard(estimate.scale, estimate.offset, known, schema, scale, centring)
    units = estimate.scale / (schema.high - schema.low)
    if not constant:
        return LazyFeatures.from_affine(AffineFeatures(estimate.symbols, units * factor, offset * factor))
    rows, columns = estimate.shape
    widened = sp.csr_array(estimate.symbols, copy=True)
    widened.resize(rows, columns + 1)
    return LazyFeatures.from_affine(
        AffineFeatures(widened, np.append(units * factor, 1.0), np.append(offset * factor, scale))
    )


def _standard(
    scales: NDArray[np.float64],
    offsets: NDArray[np.float64],
    moments: Moments,
    schema: Schema,
    scale: float,
    centring: Centring,
) -> tuple[float, NDArray[np.float64]]:
    """Return the factor that gives entries the size ``scale``, and the offset of each column before it is applied."""
    span, means = schema.high - schema.low, moments.means
    units = scales / span
    middle = (offsets - (schema.low + schema.high) / 2) / span
    offset = -means * units if centring == "mean" else middle
    size = float(np.sqrt(np.mean(units**2 * (moments.squares - means**2) + (units * means + offset) ** 2)))
    return (scale / size if size > 0 else scale), offset
