"""Whether a plan is what ``plan`` makes of its request: nothing else may run.

``plan`` notes a digest of every plan that it makes. A plan whose contents are not noted (changed by
``dataclasses.replace`` or otherwise, or unpickled in another process) is made again from its own request, and refused
unless the same comes out. So there is one way to a price for every sampler: the one that planned it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InvalidArgument, PydpmcError

CHANGED = "the guarantee is not that of this run; use pydpmc.plan instead of changing a plan"
_made: set[bytes] = set()


def note(contents: Mapping[str, Any]) -> None:
    """Remember that ``plan`` made a plan of these contents."""
    _made.add(_digest(contents))


def confirm(contents: Mapping[str, Any], make_again: Callable[[], Any]) -> None:
    """Refuse contents that ``plan`` neither made before nor makes now."""
    forget_derived(contents)
    if _digest(contents) in _made:
        return
    try:
        make_again()
    except (PydpmcError, ArithmeticError, AssertionError, AttributeError):
        raise InvalidArgument(CHANGED) from None
    if _digest(contents) not in _made:
        raise InvalidArgument(CHANGED)


def forget_derived(value: Any) -> None:
    """Delete what objects remember of their own fields: a pickle, or a change, may have put something else there."""
    if isinstance(value, Mapping):
        for entry in value.values():
            forget_derived(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            forget_derived(entry)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name for field in dataclasses.fields(value)}
        inside = getattr(value, "__dict__", {})
        for name in [name for name in inside if name not in fields and _is_derived(type(value), name)]:
            del inside[name]
        for name in fields:
            forget_derived(getattr(value, name))


def _is_derived(kind: type, name: str) -> bool:
    found = getattr(kind, name, None)
    return isinstance(found, cached_property) or callable(found)


def _digest(contents: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(canonical(contents).encode()).digest()


def canonical(value: Any) -> str:
    """Return a text that is the same for equal contents and differs otherwise, to the last bit of every number.

    Examples
    --------
    >>> canonical({"b": (1, 0.5), "a": None})
    "{'a':None,'b':[1,0x1.0000000000000p-1]}"
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value).hex()
    if value is None or isinstance(value, bool | int | str | bytes):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{canonical(key)}:{canonical(entry)}" for key, entry in value.items())) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(canonical(entry) for entry in value) + "]"
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if dataclasses.is_dataclass(value):
        return kind + canonical({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    inside = getattr(value, "__dict__", None)
    return kind + (canonical(inside) if inside else str(id(value)))
