"""Networks over CSR operators, heads, and the one training loop."""

from privet.models.backbone import GNN, MLP, Activation, Backbone, Propagation, backbone_operator
from privet.models.calibrated import CalibratedAdjacency
from privet.models.clipping import clipped_gradient, perceptron
from privet.models.edges import Edges, WeightedEdges
from privet.models.gat import GATLayer
from privet.models.heads import HadamardLinkScorer, pairwise_loss
from privet.models.layers import Features, GCNLayer, GINLayer, SAGELayer
from privet.models.metrics import accuracy, roc_auc
from privet.models.private_training import PrivateSteps, train_privately
from privet.models.randomness import seeded
from privet.models.sharing import fixed_weights, shared
from privet.models.training import TrainingResult, TrainingSettings, train

__all__ = [
    "GNN",
    "MLP",
    "Activation",
    "Backbone",
    "CalibratedAdjacency",
    "Edges",
    "Features",
    "GATLayer",
    "GCNLayer",
    "GINLayer",
    "HadamardLinkScorer",
    "PrivateSteps",
    "Propagation",
    "SAGELayer",
    "TrainingResult",
    "TrainingSettings",
    "WeightedEdges",
    "accuracy",
    "backbone_operator",
    "clipped_gradient",
    "fixed_weights",
    "pairwise_loss",
    "perceptron",
    "roc_auc",
    "seeded",
    "shared",
    "train",
    "train_privately",
]
