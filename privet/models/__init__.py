"""Networks over CSR operators, heads, and the one training loop."""

from privet.models.backbones import BACKBONES, Backbone, Features, Propagation, backbone_operator, check_backbone
from privet.models.calibrated import CalibratedAdjacency
from privet.models.clipping import clipped_gradient, perceptron
from privet.models.edges import Edges, WeightedEdges
from privet.models.networks import GNN, MLP, Activation, Dropout
from privet.models.private_training import PrivateSteps, train_privately
from privet.models.scoring import HadamardLinkScorer, accuracy, pairwise_loss, roc_auc
from privet.models.settings import NetworkSettings, TrainingSettings
from privet.models.training import TrainingResult, fixed_weights, seeded, shared, train

__all__ = [
    "BACKBONES",
    "GNN",
    "MLP",
    "Activation",
    "Backbone",
    "CalibratedAdjacency",
    "Dropout",
    "Edges",
    "Features",
    "HadamardLinkScorer",
    "NetworkSettings",
    "PrivateSteps",
    "Propagation",
    "TrainingResult",
    "TrainingSettings",
    "WeightedEdges",
    "accuracy",
    "backbone_operator",
    "check_backbone",
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
