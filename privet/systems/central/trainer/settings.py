"""The settings of PrivateTrainer, all in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import Any, Literal, Self, TypeAlias, get_args

from privet.errors import InvalidParameter, UnknownParameter
from privet.systems.central._settings import SubgraphTraining

__all__ = ["Loss", "TrainerSettings"]

Loss: TypeAlias = Literal["cross_entropy", "mse", "links"]


@dataclass(frozen=True, kw_only=True)
class TrainerSettings(SubgraphTraining):
    """The settings of :class:`~privet.systems.central.trainer.private_trainer.PrivateTrainer`.

    Those of a private training (:class:`~privet.systems.central._settings.PrivateTraining`) and of its sub-graphs
    (:class:`~privet.systems.central._settings.SubgraphTraining`) are HeterPoisson's too.

    Args:
        loss: "cross_entropy" (default) for classes, "mse" for numbers, "links" for links between nodes, whose logit is
            the inner product of two rows over the root of their width.
        at_once: The most sub-graphs in one pass (default ``batch_size``, or as many as have 1,024 nodes); 1 computes
            each alone.
    """

    delta: float | None = None
    loss: Loss = "cross_entropy"
    at_once: int | None = None

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise InvalidParameter("loss", "cross_entropy, mse or links, losses of one sub-graph", self.loss)
        super().__post_init__()
        self.require("max_grad_norm", self.max_grad_norm < float("inf"), "a finite number")
        self.require("at_once", self.at_once is None or self.at_once >= 1, "None or an integer of at least 1")
        if self.loss == "links" and not self.knows_unprotected:
            expected = "transductive with loss='links': pairs without a link are drawn from the unprotected nodes"
            raise InvalidParameter("setting", expected, self.setting)

    @classmethod
    def given(cls, settings: Mapping[str, Any]) -> Self:
        """Return the settings that a user named; an unknown name is an error that lists the known ones."""
        known = [each.name for each in fields(cls)]
        for name in settings:
            if name not in known:
                raise UnknownParameter(name, "PrivateTrainer", known)
        return cls(**settings)

    @classmethod
    def signature(cls, *before: str) -> Signature:
        """Return a signature that has every setting with its default, for help and completion.

        Args:
            *before: The names of arguments that come first.
        """
        first = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in before]
        own = [
            Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for each in fields(cls)
        ]
        return Signature([*first, Parameter("targets", Parameter.KEYWORD_ONLY, default=None), *own])
