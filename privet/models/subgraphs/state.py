"""All that a module can remember, to be compared before and after it saw somebody's data.

From the module a walk goes through attributes, containers, arrays and generators of random numbers, through the classes
and functions that users wrote, and through what these name: closures, defaults, globals, class attributes, modules and
what they import. Of objects of compiled code it sees what they give to ``pickle`` or lay open as memory. It does not
enter the code of torch, PyTorch Geometric, numpy and Python's own library, nor files and logs.
"""

from __future__ import annotations

import dis
import functools
import importlib
import io
import os
import pickle
import random
import sys
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Set
from contextvars import ContextVar
from hashlib import blake2b
from logging import Logger
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["State"]

_LIBRARIES = frozenset({"torch", "torch_geometric", "numpy", "scipy", "privet"})
_STANDARD = os.path.dirname(os.__file__)
_PLAIN = (int, float, complex, str, bytes, bool, type(None), torch.dtype, torch.device, np.generic)
_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_HOOKS_OF_ALL = {name: hooks for name, hooks in vars(nn.modules.module).items() if name.startswith("_global_")}

_INNER = ("class", "content", "length", "shape", "shown", "cache", "defaults", "state", "_buffers", "_parameters",
          "self", "inner", "reduced")  # fmt: skip
_OF_EVERY_CLASS = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__"})
_OPERATORS = ("torch._ops", "torch._library.custom_ops")  # put themselves together at their first call


class State:
    """A picture of all that a module holds, the values of its trained parameters excepted.

    Args:
        module: The module.
    """

    def __init__(self, module: nn.Module) -> None:
        layers = list(module.named_modules())
        trained = [each for each in module.parameters() if each.requires_grad]
        self._kept = {id(each): each for each in (*trained, *(layer for _, layer in layers))}
        self._found: dict[tuple[str, ...], object] = {}
        self._walk([((name,), layer) for name, layer in layers])
        self._walk([(("", "parameter"), {"grad": each.grad, **_besides(each)}) for each in trained])
        self._walk([(("", "hooks of all modules"), _HOOKS_OF_ALL)])

    def changed_since(self, earlier: State) -> tuple[str, str] | None:
        """Return the first thing that is another one now, None if all is equal: a layer's name, and the thing's own.

        Args:
            earlier: An earlier picture.
        """
        then, now = earlier._found, self._found
        for place in (*now, *then):
            if then.get(place, place) != now.get(place, place):
                names = [name.strip("'+").rpartition(".")[2] for name in place[1:] if name not in _INNER]
                return place[0], next((name for name in reversed(names) if name.isidentifier()), "code")
        return None

    def _walk(self, stack: list[tuple[tuple[str, ...], Any]]) -> None:
        while stack:
            place, value = stack.pop()
            while place in self._found:  # two things of one name
                place = (*place[:-1], place[-1] + "+")
            if isinstance(value, _PLAIN) and not hasattr(value, "__dict__"):
                self._found[place] = type(value), repr(value)
                continue
            first = id(value) not in self._kept or len(place) == 1
            self._found[place] = type(value) if first else id(value)
            if first:
                self._kept[id(value)] = value  # so that no other object gets its number
                stack += [((*place, name), part) for name, part in _parts(value)]


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a value is made of and leads to."""
    match value:
        case Tensor():
            yield from (("content", _content(value)), ("grad", value.grad if value.is_leaf else None))
            yield from _besides(value).items()
        case np.ndarray():
            yield "shape", repr(value.shape)
            yield from _numbered(value.ravel()) if value.dtype.hasobject else [("content", _digest(value.tobytes()))]
            yield from (("base", value.base), *_attributes(value))
        case Mapping():
            yield "length", len(value)
            yield from ((repr(key) if isinstance(key, _PLAIN) else str(id(key)), part) for key, part in value.items())
            yield from _attributes(value)
        case list() | tuple() | deque() | Set():
            yield from _numbered(value)
            yield from _attributes(value)
        case torch.Generator():
            yield "state", _content(value.get_state())
        case np.random.Generator() | np.random.RandomState():
            yield "state", _digest(pickle.dumps(value))
        case random.SystemRandom():
            return  # has no state
        case random.Random():
            yield "state", repr(value.getstate())
        case GeneratorType():
            frame = value.gi_frame
            yield from (("state", frame and frame.f_lasti), ("inner", value.gi_yieldfrom))
            yield from frame.f_locals.items() if frame else ()
        case CoroutineType():
            yield from (("state", value.cr_frame and value.cr_frame.f_lasti), ("inner", value.cr_await))
            yield from value.cr_frame.f_locals.items() if value.cr_frame else ()
        case FunctionType():
            yield from _of_function(value)
        case MethodType():
            yield from (("self", value.__self__), ("function", value.__func__))
        case functools.partial():
            yield from (("function", value.func), ("arguments", value.args), ("options", value.keywords))
            yield from vars(value).items()
        case functools._lru_cache_wrapper():
            yield from (("cache", repr(value.cache_info())), ("function", value.__wrapped__))
        case BuiltinMethodType():
            yield from (("self", value.__self__), ("shown", value.__qualname__))
        case weakref.ref() | ContextVar():
            yield "content", value() if isinstance(value, weakref.ref) else value.get(None)
        case CellType():
            yield "content", value.cell_contents if _is_full(value) else None
        case staticmethod() | classmethod():
            yield "function", value.__func__
        case property():
            yield from _numbered((value.fget, value.fset))
        case type():
            if issubclass(value, nn.Module) or not _is_library(value.__module__):
                yield from ((name, part) for name, part in vars(value).items() if name not in _OF_EVERY_CLASS)
                yield from _numbered(value.__bases__)
        case ModuleType():
            yield from () if _is_library(value.__name__) or value.__name__ in sys.modules else vars(value).items()
        case _ if isinstance(value, Logger) or type(value).__module__ in _OPERATORS:
            return
        case _:
            held = list(_attributes(value))
            yield from held
            if not held or _has_compiled_part(type(value)):
                yield from _of_compiled(value)


def _besides(tensor: Tensor) -> dict[str, Any]:
    """Return what a tensor holds besides its numbers: attributes and hooks, and whether it has a gradient."""
    return {"hooks": tensor._backward_hooks, "requires_grad": tensor.requires_grad, **vars(tensor)}


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object and, where it is a user's or a layer, its class."""
    if isinstance(value, nn.Module) or not _is_library(type(value).__module__):
        yield "class", type(value)
    names = [name for kind in type(value).__mro__ for name in _slots(kind)]
    held = getattr(value, "__dict__", None)
    yield from held.items() if isinstance(held, Mapping) else ()
    yield from ((name, getattr(value, name)) for name in names if hasattr(value, name))


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    several = (slots,) if isinstance(slots, str) else tuple(slots)
    private = f"_{kind.__name__.lstrip('_')}"
    named = (private + name if name.startswith("__") and not name.endswith("__") else name for name in several)
    return tuple(name for name in named if name not in ("__dict__", "__weakref__"))


def _has_compiled_part(kind: type) -> bool:
    """Tell whether a class, or one that it is made from, was not written in Python, and holds things out of sight."""
    return any(not each.__flags__ & _WRITTEN_IN_PYTHON for each in kind.__mro__[:-1])


def _of_compiled(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object gives to ``pickle`` and lays open as memory; if nothing, what it prints."""
    found = False
    try:
        yield "content", _digest(memoryview(value).tobytes())
        found = True
    except (TypeError, ValueError, NotImplementedError):
        pass
    try:
        yield "reduced", value.__reduce_ex__(4)
    except Exception:  # whatever an object says that cannot be pickled
        if not found:
            yield "shown", repr(value)


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a user's function remembers or names."""
    known = function.__globals__
    if _is_library(function.__module__) and _is_library(known.get("__name__")):  # functools.wraps changes the first
        return
    names = frozenset(_names(function.__code__))
    yield from _numbered(function.__closure__ or ())
    yield from (("defaults", function.__defaults__), ("options", function.__kwdefaults__))
    yield from (("annotations", function.__annotations__), *_notes(function))
    yield from ((name, known[name]) for name in sorted(names & known.keys()))
    modules = [known[name] for name in sorted(names & known.keys()) if isinstance(known[name], ModuleType)]
    yield from _of_modules([*modules, *_imported(function.__code__, known.get("__package__"))], names)


def _notes(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a function, but for the wrapper that torch hangs on it at its first call."""
    for name, part in vars(function).items():
        if name != "__dynamo_disable" or not _is_of_torch(getattr(part, "__code__", None)):
            yield name, part


def _is_of_torch(code: CodeType | None) -> bool:
    return code is not None and code.co_filename.startswith(os.path.dirname(torch.__file__))


def _of_modules(modules: list[ModuleType], names: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield what users' modules, and modules within them, have under some names."""
    seen: set[str] = set()
    while modules:
        module = modules.pop()
        if module.__name__ in seen or _is_library(module.__name__):
            continue
        seen.add(module.__name__)
        held = [(name, vars(module)[name]) for name in sorted(names & vars(module).keys())]
        modules += [part for _, part in held if isinstance(part, ModuleType)]
        yield from ((f"{module.__name__}.{name}", part) for name, part in held)


@functools.cache
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names that a function's code reads or has as words (``globals()["a"]``), functions within it too."""
    words = (each for each in code.co_consts if isinstance(each, str) and each.isidentifier())
    within = (name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part))
    return *code.co_names, *words, *within


def _imported(code: CodeType, package: str | None) -> list[ModuleType]:
    """Return the modules that the code of a user's own function imports when it runs."""
    found: list[ModuleType] = []
    if _is_installed(code):  # packages import much that they never need
        return found
    for level, name in _imports(code):
        try:
            found.append(importlib.import_module("." * level + name, package))
        except Exception:  # as it would be for the function itself
            continue
    return found


def _is_installed(code: CodeType) -> bool:
    return "site-packages" in code.co_filename or "dist-packages" in code.co_filename


@functools.cache
def _imports(code: CodeType) -> tuple[tuple[int, str], ...]:
    """Return levels and names in a function's import statements, also those of functions within it."""
    steps = list(dis.get_instructions(code))
    own = ((steps[n - 2].argval, step.argval) for n, step in enumerate(steps) if step.opname == "IMPORT_NAME")
    return *own, *(each for part in code.co_consts if isinstance(part, CodeType) for each in _imports(part))


def _numbered(values: Any) -> Iterator[tuple[str, Any]]:
    yield "length", len(values)
    yield from ((str(number), part) for number, part in enumerate(values))


def _content(tensor: Tensor) -> str:
    """Return a digest of numbers; of a tensor of ``vmap``, which cannot be read, its identity."""
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return repr(id(tensor))
    try:
        return repr(tensor.shape) + _digest(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())
    except (RuntimeError, TypeError, ValueError):  # sparse, nested, and other kinds
        written = io.BytesIO()
        torch.save(tensor.detach(), written)
        return _digest(written.getvalue())


def _digest(numbers: Any) -> str:
    return blake2b(numbers, digest_size=16).hexdigest()


def _is_full(cell: CellType) -> bool:
    try:
        return bool(cell.cell_contents is not None)
    except ValueError:
        return False


def _is_library(module: str | None) -> bool:
    top = (module or "").partition(".")[0]
    if top in _LIBRARIES:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)  # a user's module may have the name of a standard one
    return top in sys.stdlib_module_names and (file is None or file.startswith(_STANDARD))
