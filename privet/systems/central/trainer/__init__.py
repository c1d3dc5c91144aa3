"""Private training of a user's own torch or PyTorch Geometric module."""

from privet.systems.central.trainer.private_trainer import PrivateTrainer

__all__ = ["PrivateTrainer"]
