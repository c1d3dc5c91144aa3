"""The surroundings of a module that keep a sub-graph's numbers its own: torch's rules, own coins, fresh memory.

While a module is mapped by ``vmap``, there are a few ways around it, which are refused: a rule for ``vmap`` of a user's
own and a dispatch mode are handed all sub-graphs at once, a printed tensor shows all of them, and random numbers of
numpy or Python would be common to all.

Coins of dropout from one common stream would move when somebody joins the batch. Here the coin of an entry is a hash of
the key of the sub-graph, the number of the call and the entry's place.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch._functorch import autograd_function
from torch._ops import OpOverload, OpOverloadPacket
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, is_in_torch_dispatch_mode

from privet.data.mixing import MULTIPLIER, STEP, mixed
from privet.errors import PrivetError

__all__ = ["KeyedDropout", "mapping", "refuse_sight", "seeded_by"]

_OPERATORS_OF_TORCH = ("aten", "prim")
_UNFILLED = [
    *((torch, name) for name in ("empty", "empty_like", "empty_permuted", "empty_strided")),
    *((Tensor, name) for name in ("new_empty", "new_empty_strided")),
]
_RULES = "custom_function_call_vmap_helper"  # runs each rule that autograd.Function.vmap or register_vmap brings

_COIN = 2**31


def refuse_sight(func: Any) -> None:
    """Refuse a function that shows more than one mapped sub-graph.

    Args:
        func: A function that a module calls with tensors, as ``__torch_function__`` gets it.
    """
    if func in (Tensor.__repr__, Tensor.__format__):
        raise PrivetError("A printed tensor would show all sub-graphs at once.")
    if isinstance(func, OpOverload | OpOverloadPacket) and not str(func).startswith(_OPERATORS_OF_TORCH):
        raise PrivetError("An operator that is not torch's may have a vmap rule of its own.")


@contextmanager
def _filled_memory() -> Iterator[None]:
    """Fill fresh memory, which was somebody else's, with zeros; also in a backward pass, which no torch mode sees."""
    with ExitStack() as replaced:
        for owner, name in _UNFILLED:
            replaced.enter_context(patch.object(owner, name, _zeros_from(getattr(owner, name))))
        replaced.enter_context(patch.object(np, "empty", np.zeros))
        replaced.enter_context(patch.object(np, "empty_like", np.zeros_like))
        yield


def _zeros_from(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    @wraps(make)
    def zeros(*arguments: Any, **options: Any) -> Tensor:
        return make(*arguments, **options).zero_()

    return zeros


@contextmanager
def mapping() -> Iterator[None]:
    """Refuse all that could be common to mapped sub-graphs, within a ``with`` block."""

    def refused(*arguments: Any, **options: Any) -> Any:
        raise PrivetError("A vmap rule or a dispatch mode of one's own would see all sub-graphs at once.")

    if is_in_torch_dispatch_mode():
        refused()
    # A torch without these has no way to tell, and fails here.
    replaced = [(autograd_function, _RULES), (TorchDispatchMode, "__enter__")]
    originals = [getattr(owner, name) for owner, name in replaced]
    for owner, name in replaced:
        setattr(owner, name, refused)
    try:
        with seeded_by(0), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)  # a loop over sub-graphs
            before = _random_states()
            yield
            if _random_states() != before:
                raise PrivetError("Random numbers of numpy or Python would be common to all sub-graphs.")
    finally:
        for (owner, name), original in zip(replaced, originals, strict=True):
            setattr(owner, name, original)


@contextmanager
def seeded_by(key: int) -> Iterator[None]:
    """Let torch, numpy and Python draw from a key, and fill fresh memory; afterwards all goes on as before.

    Args:
        key: A secret number of one sub-graph.
    """
    kept = torch.get_rng_state(), np.random.get_state(), random.getstate()  # noqa: NPY002 whatever a module draws from
    torch.default_generator.manual_seed(key % 2**63)
    np.random.seed(key % 2**32)  # noqa: NPY002
    random.seed(key)
    try:
        with _filled_memory():
            yield
    finally:
        torch.set_rng_state(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
        random.setstate(kept[2])


def _random_states() -> tuple[object, ...]:
    """Return where the random numbers of torch, numpy and Python are."""
    _, words, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    return torch.get_rng_state().numpy().tobytes(), np.asarray(words).tobytes(), *rest, random.getstate()


class KeyedDropout(TorchFunctionMode):
    """Replace dropout by a keyed one within a ``with`` block.

    Args:
        key: The key of the sub-graph, a 64-bit integer; a mapped one under ``vmap``.
    """

    def __init__(self, key: Tensor) -> None:
        super().__init__()
        self.key = key
        self._calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is functional.dropout or func is torch.dropout:
            return self._dropped(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _dropped(self, rows: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if not training or not p:
            return rows
        self._calls += 1
        call = torch.tensor(self._calls) * MULTIPLIER  # in a tensor, where products wrap around
        places = torch.arange(1, 1 + rows.numel()) * STEP
        coins = mixed(mixed(self.key + call) + places) & (_COIN - 1)
        kept = (coins >= round(p * _COIN)).reshape(rows.shape)
        return rows * kept.to(rows.dtype) / max(1.0 - p, 1e-30)
