"""Adam, as torch computes it, without what torch's class loads.

The first :class:`torch.optim.Adam` of a process imports torch's compiler, some two seconds that training on a graph of
usual size does not take. The function beneath it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.optim.adam import adam

__all__ = ["Adam"]


class Adam:
    """Adam with a form that goes through the weights once in a step.

    Args:
        parameters: The parameters, or torch's parameter groups, whose ``lr`` and ``weight_decay`` override the others.
        lr: The learning rate.
        weight_decay: The factor of the weights that is added to their gradients.
        after: Called after each step (default: nothing).
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        *,
        lr: float = 1e-3,
        weight_decay: float = 0.0,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        given = list(parameters)
        groups = given if given and isinstance(given[0], dict) else [{"params": given}]
        usual = {"lr": lr, "weight_decay": weight_decay}
        self.param_groups = [usual | group | {"params": list(group["params"])} for group in groups]
        self._moments: dict[torch.Tensor, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}
        self._after = after

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters that have a gradient."""
        for group in self.param_groups:
            moved = [each for each in group["params"] if each.grad is not None]
            if not moved:
                continue
            for each in moved:
                if each not in self._moments:
                    self._moments[each] = torch.zeros_like(each), torch.zeros_like(each), torch.zeros(())
            first, second, steps = (list(part) for part in zip(*(self._moments[each] for each in moved), strict=True))
            adam(
                moved,
                [each.grad for each in moved],
                first,
                second,
                [],
                steps,
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                eps=1e-8,
                maximize=False,
            )
        self._after()
