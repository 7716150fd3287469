"""Addresses of compiled functions: from ctypes, numba, scipy.LowLevelCallable and Cython."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import Any

from ...checks import given
from ...errors import InvalidArgument, WrongType

ARGUMENTS = 8
_FUNCTIONS: Any = ctypes.CFUNCTYPE(None).__mro__[1]  # of everything that ctypes calls

_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_context = ctypes.pythonapi.PyCapsule_GetContext
_context.restype, _context.argtypes = ctypes.c_void_p, [ctypes.py_object]


@dataclass(frozen=True)
class Address:
    """Where a compiled function is, what it is called with, and what keeps both alive."""

    function: int
    user: int
    keep: Any


def address_of(function: Any, user_data: Any, name: str, arguments: int = ARGUMENTS) -> Address:
    """Return the address of a compiled function with so many arguments, or refuse what is none."""
    user = _user(user_data)
    if isinstance(function, int) and not isinstance(function, bool):
        if function <= 0:
            raise InvalidArgument(f"{name} must be the address of a function, not {function}")
        return Address(function, user, user_data)
    if type(function).__name__ == "LowLevelCallable":
        return _of_low_level(function, name, arguments)
    if type(function).__name__ == "PyCapsule":
        return Address(_of_capsule(function, name, arguments), user, (function, user_data))
    address = getattr(function, "address", None)  # a numba cfunc
    if isinstance(address, int):
        _count(len(function._sig.args), arguments, name)
        return Address(address, user, (function, user_data))
    if isinstance(function, _FUNCTIONS):
        declared = getattr(function, "argtypes", None)
        if declared is not None:
            _count(len(declared), arguments, name)
        found = ctypes.cast(function, ctypes.c_void_p).value
        if found:
            return Address(found, user, (function, user_data))
    raise WrongType(
        f"{name} must be a compiled function: an address, a ctypes function, a numba cfunc, a scipy.LowLevelCallable "
        f"or a capsule of Cython, not {given(function)}"
    )


def _count(found: int, arguments: int, name: str) -> None:
    if found != arguments:
        raise InvalidArgument(f"{name} must take the {arguments} arguments of pydpmc/model.h, but it takes {found}")


def _user(user_data: Any) -> int:
    if user_data is None:
        return 0
    if isinstance(user_data, int) and not isinstance(user_data, bool):
        return user_data
    pointer = getattr(getattr(user_data, "ctypes", None), "data", None)  # a numpy array
    if isinstance(pointer, int):
        return pointer
    try:
        return ctypes.cast(user_data, ctypes.c_void_p).value or 0
    except ctypes.ArgumentError:
        raise WrongType(
            f"user_data must be an address, a ctypes pointer or a numpy array, not {given(user_data)}"
        ) from None


def _of_capsule(capsule: Any, name: str, arguments: int) -> int:
    signature = (_name(capsule) or b"").decode()
    inside = re.search(r"\((.*)\)", signature)
    if inside is not None:
        _count(inside.group(1).count(",") + 1, arguments, name)
    found = _pointer(capsule, _name(capsule))
    return int(found)


def _of_low_level(function: Any, name: str, arguments: int) -> Address:
    capsule = tuple.__getitem__(function, 0)
    return Address(_of_capsule(capsule, name, arguments), int(_context(capsule) or 0), function)
