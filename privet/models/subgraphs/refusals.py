"""Refusals: modules that keep what they saw, and modules that do not fit the task.

That no sub-graph sees another one is a matter of :mod:`privet.models.subgraphs.engines`, whatever the module does; what
a module keeps from one call to the next is looked for here, before it sees anybody's data, and after every step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import UninitializedParameter

from privet.errors import InvalidParameter, one_line
from privet.models.subgraphs.chunks import Chunk
from privet.models.subgraphs.engines import Head, OneByOne
from privet.models.subgraphs.isolation import KeyedDropout, seeded_by
from privet.models.subgraphs.state import State

__all__ = ["KINDS", "check_module", "unkept"]

KINDS: dict[str, Callable[[Tensor], Tensor]] = {
    "normal": lambda x: x,
    "zeros": torch.zeros_like,
    "missing": lambda x: torch.where(x.abs() < 0.7, 0.0, x),
    "codes": lambda x: torch.where(x < 0.3, -1.0, x),
    "binary": lambda x: (x > 0.5).to(x.dtype),
    "integers": lambda x: (3 * x).round(),
    "huge": lambda x: 1e6 * x,
}
"""Kinds of features that a module is tried with, each made of standard normal numbers."""


def check_module(module: nn.Module, columns: int, head: Head) -> None:
    """Refuse a module that keeps what it saw or does not fit, with a sentence that names the layer.

    Lazy parameters get their shapes.

    Args:
        module: The module, in training mode.
        columns: The number of features.
        head: The task.
    """
    _check_names(module)
    if any(isinstance(each, UninitializedParameter) for each in module.parameters()):
        with torch.no_grad(), seeded_by(1), KeyedDropout(torch.tensor(0)):
            _tried(module, lambda: module(torch.randn(3, columns), torch.tensor([[1, 2], [0, 0]])))
    if not any(each.requires_grad for each in module.parameters()):
        raise InvalidParameter(f"{type(module).__name__} has no parameter to train.")
    kinds = {each.dtype for each in module.parameters()}
    if len(kinds) != 1 or not next(iter(kinds)).is_floating_point:
        raise InvalidParameter("module", "of parameters of one floating-point type", kinds)
    alone, before = OneByOne(module, head, columns), State(module)
    values = alone.values()
    for slots in (4, 1):
        chunk = alone.random(1, slots, seed=slots)
        for kind in KINDS.values():
            lane = chunk.with_features(kind(chunk.x))
            outputs, again = (_tried(module, partial(alone.rows, values, lane)) for _ in range(2))
            _check_shape(module, outputs, lane, head)
            unkept(module, before)
            if not torch.equal(outputs.nan_to_num(), again.nan_to_num()):
                reason = "it gives another output on a second call: it remembers something, or has coins of its own"
                raise InvalidParameter(_refusal(module, reason))


def unkept(module: nn.Module, before: State) -> None:
    """Refuse a module that keeps what it saw.

    Args:
        module: The module.
        before: All that it held before.
    """
    changed = State(module).changed_since(before)
    if changed is not None:
        layer, name = changed
        reason = f"its {name!r} changes in training, which would release people's data without noise"
        raise InvalidParameter(_refusal(module.get_submodule(layer), reason, layer))


def _check_names(module: nn.Module) -> None:
    """Refuse layers that are known to keep what they saw."""
    for name, layer in module.named_modules():
        if isinstance(layer, torch.jit.ScriptModule | torch._dynamo.OptimizedModule):
            reason = "what compiled code keeps is out of sight; give the module as it was before torch.jit or compile"
            raise InvalidParameter(_refusal(layer, reason, name))
        if isinstance(layer, _BatchNorm) or type(layer).__name__ in ("BatchNorm", "HeteroBatchNorm"):
            reason = "its statistics are over many people, and each sub-graph is on its own; use LayerNorm"
            raise InvalidParameter(_refusal(layer, reason, name))
        if getattr(layer, "cached", False) is True:
            reason = "it keeps the edges of the first graph that it sees (cached=True); use cached=False"
            raise InvalidParameter(_refusal(layer, reason, name))
        if getattr(layer, "track_running_stats", False):
            raise InvalidParameter(_refusal(layer, "it keeps running statistics of people's data; use LayerNorm", name))


def _check_shape(module: nn.Module, outputs: Any, chunk: Chunk, head: Head) -> None:
    if not isinstance(outputs, Tensor) or outputs.dim() != 2 or len(outputs) != chunk.slots:
        found = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        expected = f"[nodes, outputs], one row for each of {chunk.slots} nodes"
        raise InvalidParameter("output of module(x, edge_index)", expected, found)
    if outputs.shape[1] < head.outputs_needed:
        made = f"{type(module).__name__} has {outputs.shape[1]} outputs"
        raise InvalidParameter(f"{made}, and the graph's schema declares {head.outputs_needed} classes.")
    try:
        losses = head.losses(outputs[None], chunk.targets, chunk.roles)
    except (RuntimeError, IndexError, ValueError) as error:
        made = f"{type(module).__name__} has {outputs.shape[1]} outputs"
        raise InvalidParameter(f"{made}, which do not fit the labels: {one_line(str(error))}.") from None
    if losses.shape != chunk.targets.shape:
        raise InvalidParameter("loss", "one number for each sub-graph", tuple(losses.shape))


def _tried(module: nn.Module, work: Callable[[], Any]) -> Any:
    try:
        with torch.no_grad():
            return work()
    except (RuntimeError, TypeError, IndexError, ValueError, AttributeError) as error:
        name = type(module).__name__
        raise InvalidParameter(f"{name} failed on a random sub-graph: {one_line(str(error))}.") from error


def _refusal(layer: nn.Module, reason: str, name: str = "") -> str:
    place = f" ('{name}')" if name else ""
    return f"{type(layer).__name__}{place} cannot be trained privately: {reason}."
