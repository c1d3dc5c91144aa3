"""Everything that can be read from an object: its attributes, elements, arrays, closures and what they refer to."""

from __future__ import annotations

import functools
import gc
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["leaves"]

_PLAIN = (str, bytes, int, float, complex, np.generic, type(None))
_CODE = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType)


def leaves(root: Any, name: str) -> dict[str, Any]:
    """Return plain values and arrays by the path that leads to each; what is reached twice is listed once.

    Args:
        root: The object.
        name: The first word of every path.
    """
    found: dict[str, Any] = {}
    seen: dict[int, Any] = {}  # keeps what was visited alive, so that no id is used again
    waiting = [(name, root)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, _PLAIN):
            found[path] = value
        elif not isinstance(value, _CODE) and id(value) not in seen:
            seen[id(value)] = value
            if isinstance(value, np.ndarray) and value.dtype != object:
                found[path] = value
            waiting.extend([*_parts(path, value), *_attributes(path, value)])
    return found


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object consists of, each with its path."""
    match value:
        case np.ndarray():
            if value.base is not None:  # a view of a part shows the whole
                yield f"{path}.base", value.base
            if value.dtype == object:
                yield from ((f"{path}[{n}]", each) for n, each in enumerate(value.ravel()))
        case bytearray() | memoryview():
            yield f"{path}()", bytes(value)
        case dict() | types.MappingProxyType():
            for key, each in value.items():
                yield f"{path}.key", key
                yield f"{path}[{key!r}]", each
        case list() | tuple():
            yield from ((f"{path}[{n}]", each) for n, each in enumerate(value))
        case set() | frozenset():
            yield from ((f"{path}[{n}]", each) for n, each in enumerate(sorted(value, key=repr)))
        case types.FunctionType():
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            held = {"closure": cells, "defaults": value.__defaults__, "kwdefaults": value.__kwdefaults__}
            yield from ((f"{path}.{part}", each) for part, each in held.items())
        case types.MethodType():
            yield f"{path}.self", value.__self__
            yield f"{path}.function", value.__func__
        case functools.partial():
            yield from ((f"{path}.{part}", getattr(value, part)) for part in ("func", "args", "keywords"))
        case _ if callable(getattr(value, "detach", None)) and callable(getattr(value, "numpy", None)):
            yield f"{path}.numpy", value.detach().cpu().numpy()  # a tensor
        case _ if not hasattr(value, "__dict__"):  # what the garbage collector knows of iterators, queues and the like
            yield from ((f"{path}({n})", each) for n, each in enumerate(gc.get_referents(value)))


def _attributes(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    slots = [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]
    own = {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in slots}}
    return ((f"{path}.{name}", each) for name, each in own.items())


def _slots(kind: type) -> tuple[str, ...]:
    named = kind.__dict__.get("__slots__", ())
    names = (named,) if isinstance(named, str) else tuple(named)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
