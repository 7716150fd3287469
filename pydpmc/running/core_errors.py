"""What the compiled core refuses, as errors of ours; none of them prints a record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InternalError, InvalidArgument, PydpmcError


@contextmanager
def core_errors() -> Iterator[None]:
    """Turn what the core raises into our errors; the binding's own message on a mismatch would print its arguments."""
    try:
        yield
    except PydpmcError:
        raise
    except TypeError:
        raise InternalError(
            "the compiled core refused its arguments: this is a bug in pydpmc, please report it"
        ) from None
    except ValueError as error:
        raise InvalidArgument(str(error)) from None
    except RuntimeError as error:
        raise InternalError(str(error)) from None
