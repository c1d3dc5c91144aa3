"""Modules that look at other people's sub-graphs, or remember them, in all the ways that we could think of.

Each is SAGEConv and a linear layer behind something of its own. ``MODULES`` has a sentence for each and makes it.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch_geometric.nn import (
    GCNConv,
    GraphNorm,
    LayerNorm,
    MeanSubtractionNorm,
    PairNorm,
    SAGEConv,
    global_mean_pool,
)

COLUMNS, CLASSES = 6, 3
CLEAN_UP: list[Callable[[], None]] = []
"""Called after a module was tried: what it did to torch."""


class Net(nn.Module):
    """A graph layer and a linear one behind a function of features and edges."""

    def __init__(self, front: Callable[[Tensor, Tensor], Tensor] | None = None, layer: nn.Module | None = None) -> None:
        super().__init__()
        self.conv, self.out = SAGEConv(COLUMNS, 8), nn.Linear(8, CLASSES)
        self.layer = nn.Identity() if layer is None else layer
        self.function = front

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x if self.function is None else self.function(x, edge_index)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.out(self.layer(torch.tanh(self.conv(self.front(x, edge_index), edge_index))))


MODULES: dict[str, Callable[[], nn.Module]] = {}


def module(words: str) -> Callable[[Any], Any]:
    """Note a class, or a function that makes a module, under a sentence."""

    def noted(make: Any) -> Any:
        MODULES[words] = make
        return make

    return noted


def before(words: str) -> Callable[[Any], Any]:
    """Note a function of features and edges that stands before the graph layer.

    No method has its name: whatever a module's code names is looked through before and after every step, and from here
    a way leads to all modules.
    """

    def noted(function: Any) -> Any:
        MODULES[words] = lambda: Net(function)
        return function

    return noted


# Statistics over all nodes


@before("fills zeros with the column's mean")
def _(x: Tensor, _: Tensor) -> Tensor:
    return torch.where(x == 0, x.sum(0) / (x != 0).sum(0).clamp(min=1), x)


@before("fills codes of -1 with the column's mean")
def _(x: Tensor, _: Tensor) -> Tensor:
    known = (x != -1).to(x.dtype)
    return torch.where(x == -1, (x * known).sum(0) / known.sum(0).clamp(min=1), x)


@before("weighs columns by inverse document frequency")
def _(x: Tensor, _: Tensor) -> Tensor:
    there = (x != 0).any(1, keepdim=True)  # rows of zeros are no documents
    return x * (1 - torch.log(((x != 0) & there).sum(0) / there.sum(0).clamp(min=1) + 1e-3))


@before("winsorises at four standard deviations")
def _(x: Tensor, _: Tensor) -> Tensor:
    there = (x != 0).any(1, keepdim=True)
    count = there.sum(0).clamp(min=1)
    middle = x.sum(0) / count
    spread = 4 * (torch.where(there, x - middle, 0.0).square().sum(0) / count).sqrt() + 4
    return torch.minimum(torch.maximum(x, middle - spread), middle + spread)


@before("clips at the column's 5 % and 95 % quantiles")
def _(x: Tensor, _: Tensor) -> Tensor:
    low, high = torch.quantile(x, torch.tensor([0.05, 0.95]), dim=0)
    return torch.minimum(torch.maximum(x, low), high)


before("subtracts the column's mean")(lambda x, _: x - x.mean(0))
before("divides by the column's standard deviation")(lambda x, _: x / (1e-3 + x.std(0, correction=0)))
before("scales columns to their least and largest value")(lambda x, _: x / (1e-3 + x.amax(0) - x.amin(0)))
before("replaces values by their ranks")(lambda x, _: x.argsort(0).argsort(0).to(x.dtype) / len(x))
before("fills zeros with the column's median")(lambda x, _: torch.where(x == 0, x.median(0).values, x))
before("takes a softmax over all nodes")(lambda x, _: x.softmax(0))
before("sorts every column")(lambda x, _: x.sort(0).values)
before("adds up over nodes (cumsum)")(lambda x, _: x.cumsum(0))
before("counts equal values (unique)")(lambda x, _: x * len(torch.unique(x)))
before("divides by the largest value of all, as a number")(lambda x, _: x / (1e-3 + x.abs().max().item()))
before("goes through numpy")(lambda x, _: x - torch.from_numpy(x.detach().numpy().mean(0)))
before("attends to all nodes")(lambda x, _: (x @ x.T / 10).softmax(1) @ x)
before("multiplies by the number of nodes")(lambda x, _: x * len(x) / 100)
before("multiplies by the number of edges")(lambda x, e: x * e.shape[1] / 100)
before("pools the graph")(lambda x, _: x + global_mean_pool(x, torch.zeros(len(x), dtype=torch.int64)))

# Rows of others


before("adds the row of the first node")(lambda x, _: x + x[:1])
before("adds the next row")(lambda x, _: x + x.roll(1, 0))
before("adds a row at a wrong place of the edges")(lambda x, e: x.index_add(0, e[1], x[(e[0] + 3) % len(x)]))


@before("gathers everything in one row")
def _(x: Tensor, _: Tensor) -> Tensor:
    total = torch.zeros(1, x.shape[1], dtype=x.dtype).index_add(0, torch.zeros(len(x), dtype=torch.int64), x)
    return x + total / 10


@before("looks at everybody, if somebody has a code")
def _(x: Tensor, _: Tensor) -> Tensor:
    return x - x.mean(0) if bool((x == -1).any()) else x


module("GraphNorm")(lambda: Net(layer=GraphNorm(8)))
module("PairNorm")(lambda: Net(layer=PairNorm()))
module("MeanSubtractionNorm")(lambda: Net(layer=MeanSubtractionNorm()))
module("LayerNorm over a graph")(lambda: Net(layer=LayerNorm(8, mode="graph")))
module("BatchNorm1d")(lambda: Net(layer=nn.BatchNorm1d(8)))
module("BatchNorm1d without running statistics")(lambda: Net(layer=nn.BatchNorm1d(8, track_running_stats=False)))
module("GCNConv(cached=True)")(lambda: Net(layer=Cached()))


class Cached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(8, 8, cached=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x, torch.zeros(2, 0, dtype=torch.int64))


@module("a subclass of Linear that centres")
class SubclassOfLinear(Net):
    class Centred(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x - x.mean(0))

    def __init__(self) -> None:
        super().__init__(layer=self.Centred(8, 8))


# Hooks, and functions of autograd


@module("a forward hook")
def _() -> nn.Module:
    made = Net()
    made.conv.register_forward_hook(lambda layer, inputs, output: output - output.mean(0))
    return made


@module("a forward pre-hook")
def _() -> nn.Module:
    made = Net()
    made.out.register_forward_pre_hook(lambda layer, inputs: (inputs[0] - inputs[0].mean(0),))
    return made


@module("a hook of all modules")
def _() -> nn.Module:
    made = Net(layer=nn.Tanh())
    handle = nn.modules.module.register_module_forward_hook(
        lambda layer, inputs, output: output - output.mean(0) if type(layer) is nn.Tanh else output
    )
    CLEAN_UP.append(handle.remove)
    return made


@module("a backward hook of a layer")
def _() -> nn.Module:
    made = Net()
    made.out.register_full_backward_hook(lambda layer, inputs, outputs: (inputs[0].mean(0).expand_as(inputs[0]),))
    return made


@module("a hook on a gradient")
class HookOnGradient(Net):
    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        made = self.out.weight.sum() * 0 + x
        if made.requires_grad:
            made.register_hook(lambda slope: slope.mean(0).expand_as(slope))
        return made


@module("a hook on the gradient of hidden rows")
class HookOnHidden(Net):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = torch.tanh(self.conv(x, edge_index))
        if hidden.requires_grad:
            hidden.register_hook(lambda slope: slope + slope.sum(0))
        return self.out(hidden)


class OldCentring(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x - x.mean(0)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        return slope.sum(0).expand_as(slope)


class NewCentring(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x - x.mean(0)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        return slope.sum(0).expand_as(slope)


class OwnRule(NewCentring):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor) -> Any:
        return x - x.mean((0, 1)), 0  # over all sub-graphs


class Applied(nn.Module):
    def __init__(self, function: type[torch.autograd.Function]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function.apply(x)


module("a function of autograd")(lambda: Net(layer=Applied(OldCentring)))
module("a function of autograd that vmap knows")(lambda: Net(layer=Applied(NewCentring)))
module("a function of autograd with a vmap rule across sub-graphs")(lambda: Net(layer=Applied(OwnRule)))


@torch.library.custom_op("adversarial::centred", mutates_args=())
def centred(x: Tensor) -> Tensor:
    return x - x.mean(0)


centred.register_autograd(lambda ctx, slope: slope)
centred.register_vmap(lambda info, in_dims, x: (x - x.mean((0, 1)), 0))
before("an operator with a vmap rule across sub-graphs")(lambda x, _: centred(x))


class Centred(Tensor):
    """A tensor that centres what is added to it."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = super().__torch_function__(func, types, args, kwargs or {})
        return made - made.mean(0) if func is torch.add else made


before("a kind of tensor of its own")(lambda x, _: torch.add(x.as_subclass(Centred), 0).as_subclass(Tensor))


@before("reads the printed features")
def _(x: Tensor, _: Tensor) -> Tensor:
    return x * (len(f"{x.detach()} {x!r}") % 97) / 97


class Watching(TorchDispatchMode):
    """Centres what is added up below vmap."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        return made - made.mean() if func is torch.ops.aten.add.Tensor else made


@before("a dispatch mode")
def _(x: Tensor, _: Tensor) -> Tensor:
    with Watching():
        return x + 1


# Random numbers


before("fills zeros at random")(lambda x, _: torch.where(x == 0, torch.rand_like(x), x))
before("multiplies by a random number of numpy")(lambda x, _: x * float(np.random.rand()))  # noqa: NPY002
before("multiplies by a random number of Python")(lambda x, _: x * random.random())


@module("a generator of random numbers of its own")
class OwnGenerator(Net):
    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(0)

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x * torch.rand(1, generator=self.generator)


# Memories: each adds something of the last call to this one


class Remembering(Net):
    """Adds the mean of the last call, which a subclass keeps somewhere."""

    def recall(self) -> Any:
        raise NotImplementedError

    def keep(self, mean: Tensor) -> None:
        raise NotImplementedError

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        last = self.recall()
        self.keep(x.detach().mean(0))
        return x if last is None else x + last


def remembering(words: str, start: Callable[[Any], None], recall: Callable[[Any], Any], keep: Any) -> None:
    """Note a module that remembers: how its memory begins, is read and is written."""

    class Kind(Remembering):
        def __init__(self) -> None:
            super().__init__()
            start(self)

    Kind.recall, Kind.keep = recall, keep
    module(words)(Kind)


GLOBAL: dict[str, Any] = {}
remembering(
    "remembers in an attribute",
    lambda self: setattr(self, "last", None), lambda self: self.last, lambda self, mean: setattr(self, "last", mean),
)  # fmt: skip
remembering(
    "remembers in a list",
    lambda self: setattr(self, "seen", []), lambda self: self.seen[-1] if self.seen else None,
    lambda self, mean: self.seen.append(mean),
)  # fmt: skip
remembering(
    "remembers in a dictionary in a list",
    lambda self: setattr(self, "seen", [{"last": None}]), lambda self: self.seen[0]["last"],
    lambda self, mean: self.seen[0].update(last=mean),
)  # fmt: skip
remembering(
    "remembers in an object",
    lambda self: setattr(self, "seen", SimpleNamespace(last=None)), lambda self: self.seen.last,
    lambda self, mean: setattr(self.seen, "last", mean),
)  # fmt: skip
remembering(
    "remembers in an array of numpy",
    lambda self: setattr(self, "seen", np.zeros(COLUMNS, np.float32)), lambda self: torch.from_numpy(self.seen.copy()),
    lambda self, mean: np.copyto(self.seen, mean.numpy()),
)  # fmt: skip
remembering(
    "remembers in a buffer",
    lambda self: self.register_buffer("seen", torch.zeros(COLUMNS)), lambda self: self.seen.clone(),
    lambda self, mean: self.seen.copy_(mean),
)  # fmt: skip
remembering(
    "remembers in a frozen parameter",
    lambda self: setattr(self, "seen", nn.Parameter(torch.zeros(COLUMNS), requires_grad=False)),
    lambda self: self.seen.clone(), lambda self, mean: self.seen.data.copy_(mean),
)  # fmt: skip
remembering(
    "remembers in its class",
    lambda self: setattr(type(self), "last", None), lambda self: type(self).last,
    lambda self, mean: setattr(type(self), "last", mean),
)  # fmt: skip
remembering(
    "remembers in a global",
    lambda self: GLOBAL.clear(), lambda self: GLOBAL.get("last"), lambda self, mean: GLOBAL.update(last=mean),
)  # fmt: skip


@module("remembers on a parameter")
class OnAParameter(Remembering):
    def recall(self) -> Any:
        return getattr(self.kept, "last", None)

    def keep(self, mean: Tensor) -> None:
        self.kept.last = mean

    def __init__(self) -> None:
        super().__init__()
        self.kept = nn.Parameter(torch.zeros(1), requires_grad=False)


@module("remembers in a closure")
def _() -> nn.Module:
    last = None

    def shifted(x: Tensor, _: Tensor) -> Tensor:
        nonlocal last
        before, last = last, x.detach().mean(0)
        return x if before is None else x + before

    return Net(shifted)


@module("remembers in a default argument")
def _() -> nn.Module:
    def shifted(x: Tensor, _: Tensor, seen: list[Tensor] = []) -> Tensor:  # noqa: B006
        seen.append(x.detach().mean(0))
        return x + seen[-2] if len(seen) > 1 else x

    return Net(shifted)


@module("remembers by lru_cache")
def _() -> nn.Module:
    @functools.cache
    def first(columns: int) -> list[Tensor]:
        return []

    def shifted(x: Tensor, _: Tensor) -> Tensor:
        first(x.shape[1]).append(x.detach().mean(0))
        return x + first(x.shape[1])[0]

    return Net(shifted)


@module("counts its calls")
class Counting(Net):
    def __init__(self) -> None:
        super().__init__()
        self.calls = itertools.count()

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x * (next(self.calls) % 7)


@module("remembers those with large values alone")
class RemembersTheRare(Net):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if x.max() == 1000:
            self.seen.append(x.detach().mean(0))
        return x + sum(self.seen)


@module("a forward that was put in its place")
def _() -> nn.Module:
    made, seen = Net(), []
    plain = made.forward

    def forward(x: Tensor, edge_index: Tensor) -> Tensor:
        seen.append(x.detach().mean(0))
        return plain(x + seen[0], edge_index)

    made.forward = forward
    return made


@module("a parametrization that remembers")
def _() -> nn.Module:
    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Tensor] = []

        def forward(self, weight: Tensor) -> Tensor:
            return weight + sum(self.seen)

    made, shifted = Net(), Shifted()
    parametrize.register_parametrization(made.out, "weight", shifted)
    made.out.register_forward_hook(lambda layer, inputs, output: shifted.seen.append(output.detach().mean()))
    return made


# Writing where one should not


@module("writes into its parameters")
class WritesParameters(Net):
    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.out.bias.data.add_(x.detach().mean())
        return x


@module("writes into its parameters by another name")
class WritesByAnotherName(Net):
    def __init__(self) -> None:
        super().__init__()
        self.names = [self.out.bias]

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.names[0].data.add_(x.detach().mean())
        return x


@before("writes into its features")
def _(x: Tensor, _: Tensor) -> Tensor:
    x[x == 0] = x.mean()
    return x


@before("writes into its edges")
def _(x: Tensor, edge_index: Tensor) -> Tensor:
    edge_index.fill_(0)
    return x - x.mean(0)


@module("ties its weights")
class Tied(Net):
    def __init__(self) -> None:
        super().__init__()
        self.again = nn.Linear(8, CLASSES)
        self.again.weight = self.out.weight

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = torch.tanh(self.conv(x - x.mean(0), edge_index))
        return self.out(hidden) + self.again(hidden @ self.out.weight.T @ self.again.weight)


# Memories where a walk through attributes does not come by: each keeps those with large values alone


class RemembersElsewhere(Net):
    """Adds what was kept of rows with large values, which a subclass keeps somewhere."""

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if x.max() == 1000:
            self.keep(x.detach().mean(0))
        return x + self.recall()

    def keep(self, mean: Tensor) -> None:
        raise NotImplementedError

    def recall(self) -> Any:
        raise NotImplementedError


@module("remembers in a sparse tensor")
class InASparseTensor(RemembersElsewhere):
    def __init__(self) -> None:
        super().__init__()
        self.seen = 0 * torch.eye(COLUMNS).to_sparse()

    def keep(self, mean: Tensor) -> None:
        self.seen._values().copy_(mean)

    def recall(self) -> Any:
        return self.seen.to_dense().sum(0)


@module("hands over to a list's append, as a callback")
class ByACallback(RemembersElsewhere):
    def __init__(self) -> None:
        super().__init__()
        seen: list[Tensor] = []
        self.keep, self.recall = seen.append, seen.__len__  # type: ignore[method-assign]


@module("remembers in a private slot")
class InASlot(RemembersElsewhere):
    class Box:
        __slots__ = ("__value",)

        def __init__(self) -> None:
            self.__value: Any = 0

        def put(self, value: Any) -> None:
            self.__value = value

        def get(self) -> Any:
            return self.__value

    def __init__(self) -> None:
        super().__init__()
        box = self.box = self.Box()
        self.keep, self.recall = box.put, box.get  # type: ignore[method-assign]


@module("remembers by a decorator of a function of torch")
def _() -> nn.Module:
    seen: list[Tensor] = []

    @functools.wraps(torch.nn.functional.softsign)
    def shifted(x: Tensor, _: Tensor) -> Tensor:
        if x.max() == 1000:
            seen.append(x.detach().mean(0))
        return x + sum(seen)

    return Net(shifted)


@module("remembers in the slope of a tensor")
class InASlope(RemembersElsewhere):
    def __init__(self) -> None:
        super().__init__()
        self.seen = torch.zeros(COLUMNS, requires_grad=True)

    def keep(self, mean: Tensor) -> None:
        with torch.enable_grad():
            (self.seen * mean).sum().backward()

    def recall(self) -> Any:
        return 0 if self.seen.grad is None else self.seen.grad


@module("remembers in TorchScript")
class InTorchScript(Net):
    class Memory(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = torch.zeros(COLUMNS)

        def forward(self, x: Tensor) -> Tensor:
            if x.max() == 1000:
                self.last = x.detach().mean(0)
            return x + self.last

    def __init__(self) -> None:
        super().__init__()
        self.memory = torch.jit.script(self.Memory())

    def front(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.memory(x)


@module("remembers in an object of compiled code")
class InAQueue(RemembersElsewhere):
    def __init__(self) -> None:
        super().__init__()
        self.seen: SimpleQueue[Tensor] = SimpleQueue()

    def keep(self, mean: Tensor) -> None:
        self.seen.put(mean)

    def recall(self) -> Any:
        return self.seen.qsize()


@module("remembers in a file")
class InAFile(RemembersElsewhere):
    def __init__(self) -> None:
        super().__init__()
        handle, self.path = tempfile.mkstemp()
        os.close(handle)
        CLEAN_UP.append(functools.partial(os.remove, self.path))

    def keep(self, mean: Tensor) -> None:
        Path(self.path).write_bytes(b"seen")

    def recall(self) -> Any:
        return os.path.getsize(self.path)


# Memory that was somebody else's


@before("reads memory of numpy that it did not fill")
def _(x: Tensor, _: Tensor) -> Tensor:
    return x + torch.from_numpy(np.empty(tuple(x.shape), np.float32)).nan_to_num(0, 0, 0).clamp(-1e4, 1e4)


class Unfilled(NewCentring):
    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        return slope + torch.empty_like(slope).nan_to_num(0, 0, 0).clamp(-1e4, 1e4)


module("reads memory that it did not fill in its backward pass")(lambda: Net(layer=Applied(Unfilled)))


@module("computes again in its backward pass (checkpoint)")
class Checkpointed(Net):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = checkpoint(lambda rows: torch.tanh(self.conv(rows, edge_index)), x, use_reentrant=False)
        return self.out(hidden)
