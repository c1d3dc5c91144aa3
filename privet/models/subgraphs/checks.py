"""Refusals: modules whose gradient for one sub-graph would tell about others.

The accountant's proof needs that a sub-graph's gradient is a function of its own nodes, of public facts and of earlier
releases. A module is tried on random sub-graphs, alone and together, before it sees anybody's data. The checks find
mistakes; they are no proof about arbitrary code.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm, _LazyNormBase
from torch.nn.parameter import UninitializedParameter

from privet.errors import InvalidParameter, one_line
from privet.models.subgraphs.chunks import Chunk, random_chunk
from privet.models.subgraphs.dropout import KeyedDropout
from privet.models.subgraphs.engines import Head

__all__ = ["check_module", "kept_state"]

_SEVERAL = (list, tuple, dict, deque)
_ACROSS = "it computes statistics across sub-graphs, so that one person's gradient would depend on all the others"


def check_module(module: nn.Module, columns: int, head: Head) -> torch.dtype:
    """Refuse a module that breaks the proof, with a sentence that names the layer; return the type of its numbers.

    Lazy parameters get their shapes.

    Args:
        module: The module, in training mode.
        columns: The number of features.
        head: The task.
    """
    _check_names(module)
    generator = torch.Generator().manual_seed(1)
    targets = head.random_targets(6, generator)
    chunk = random_chunk(6, 4, columns, targets, generator, last_role=head.last_role)
    if any(isinstance(each, UninitializedParameter) for each in module.parameters()):
        _outputs(module, chunk)
    kinds = {each.dtype for each in module.parameters()}
    if not any(each.requires_grad for each in module.parameters()):
        raise InvalidParameter(f"{type(module).__name__} has no parameter to train.")
    if len(kinds) != 1 or not next(iter(kinds)).is_floating_point:
        raise InvalidParameter("module", "PrivateTrainer", "of parameters of one floating-point type", kinds)
    chunk = chunk.to(next(iter(kinds)))
    before = kept_state(module)
    outputs = _outputs(module, chunk)
    _check_state(module, before)
    _check_shape(module, outputs, chunk, head)
    if not _close(_outputs(module, chunk), outputs):
        _refuse(module, "it gives another output on a second call: random numbers other than nn.Dropout's, or a memory")
    _check_lanes(module, chunk)
    return chunk.x.dtype


def _check_names(module: nn.Module) -> None:
    """Refuse layers that are known to look across sub-graphs or to keep what they saw."""
    for name, layer in module.named_modules():
        if isinstance(layer, _BatchNorm | _LazyNormBase) or type(layer).__name__ in ("BatchNorm", "HeteroBatchNorm"):
            _refuse(layer, _ACROSS + "; use LayerNorm", name)
        if getattr(layer, "cached", False) is True:
            _refuse(layer, "it keeps the edges of the first graph that it sees (cached=True); use cached=False", name)
        if getattr(layer, "track_running_stats", False):
            _refuse(layer, "it keeps running statistics of people's data; use LayerNorm", name)


def kept_state(module: nn.Module) -> dict[str, Tensor]:
    """Return copies of all that a module holds and that is not trained: buffers, frozen parameters, other tensors.

    Plain numbers are looked at too: a count of calls tells how many chunks people's data made.
    """
    found: dict[str, Tensor] = {}
    for owner, layer in module.named_modules():
        for name, value in {**layer._buffers, **layer._parameters, **vars(layer)}.items():
            if name in ("_buffers", "_parameters", "_modules"):
                continue
            several = value.values() if isinstance(value, dict) else value
            for number, each in enumerate(several if isinstance(value, _SEVERAL) else [value]):
                place = f"{owner}.{name}.{number}"
                if isinstance(each, Tensor) and not (isinstance(each, nn.Parameter) and each.requires_grad):
                    found[place] = each.detach().clone()
                elif isinstance(each, int | float):
                    found[place] = torch.tensor(float(each), dtype=torch.float64)
    return found


def _check_state(module: nn.Module, before: dict[str, Tensor]) -> None:
    """Refuse a module that keeps what it saw."""
    after = kept_state(module)
    changed = [n for n, each in after.items() if n not in before or not torch.equal(each, before[n])]
    if changed:
        owner, name, _ = changed[0].rsplit(".", 2)
        reason = f"its {name!r} changes in training, which would release people's data without noise"
        _refuse(module.get_submodule(owner), reason, owner)


def _check_shape(module: nn.Module, outputs: Any, chunk: Chunk, head: Head) -> None:
    if not isinstance(outputs, Tensor) or outputs.dim() != 2 or len(outputs) != len(chunk.x):
        found = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        expected = f"[nodes, outputs], one row for each of {len(chunk.x)} nodes"
        raise InvalidParameter("output of module(x, edge_index)", "PrivateTrainer", expected, found)
    if outputs.shape[1] < head.outputs_needed:
        made = f"{type(module).__name__} has {outputs.shape[1]} outputs"
        raise InvalidParameter(f"{made}, and the graph's schema declares {head.outputs_needed} classes.")
    try:
        losses = head.losses(chunk.rows(outputs), chunk.targets, chunk.roles)
    except (RuntimeError, IndexError, ValueError) as error:
        made = f"{type(module).__name__} has {outputs.shape[1]} outputs"
        raise InvalidParameter(f"{made}, which do not fit the labels: {one_line(str(error))}.") from None
    if losses.shape != chunk.targets.shape:
        raise InvalidParameter("loss", "PrivateTrainer", "one number for each sub-graph", tuple(losses.shape))


def _check_lanes(module: nn.Module, chunk: Chunk) -> None:
    """Refuse a module in which a sub-graph's numbers are other ones beside other sub-graphs."""
    together: dict[str, Tensor] = {}
    outputs = _outputs(module, chunk, together)
    for lane in range(chunk.lanes):
        one, seen = chunk.alone(lane), dict[str, Tensor]()
        if not one.edges:
            continue  # nodes and their loops are equally many there, so that dropout has other coins
        alone, start = _outputs(module, one, seen), lane * chunk.slots
        count = one.slots
        for name, rows in seen.items():
            whole = together.get(name)
            fits = whole is not None and len(rows) == len(one.x) and len(whole) == len(chunk.x)
            if fits and whole is not None and not _close(rows[:count], whole[start : start + count]):
                _refuse(module.get_submodule(name), _ACROSS, name)
        if not _close(alone[:count], outputs[start : start + count]):
            _refuse(module, _ACROSS)


def _outputs(module: nn.Module, chunk: Chunk, seen: dict[str, Tensor] | None = None) -> Any:
    """Return the module's outputs, and put those of its parts into ``seen``, in the order of computation."""

    def note(name: str) -> Any:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            if seen is not None and isinstance(output, Tensor) and output.dim() > 0:
                seen.setdefault(name, output)

        return hook

    hooks = [layer.register_forward_hook(note(name)) for name, layer in module.named_modules() if seen is not None]
    try:
        with torch.no_grad(), KeyedDropout(chunk.kinds_of_rows(), chunk.keys):
            return module(chunk.x, chunk.edge_index)
    except (RuntimeError, TypeError, IndexError, ValueError, AttributeError) as error:
        name = type(module).__name__
        raise InvalidParameter(f"{name} failed on a random sub-graph: {one_line(str(error))}.") from error
    finally:
        for each in hooks:
            each.remove()


def _close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-3, atol=1e-4 * float(other.abs().max()) + 1e-7, equal_nan=True)


def _refuse(layer: nn.Module, reason: str, name: str = "") -> None:
    place = f" ('{name}')" if name else ""
    raise InvalidParameter(f"{type(layer).__name__}{place} cannot be trained privately: {reason}.")
