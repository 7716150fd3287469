"""Loops inside a test, where ``pytest.mark.parametrize`` would make hundreds of cases."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(names: str | tuple[str, ...], values: Iterable[Any], ids: Any = None) -> Callable[..., Any]:
    """Call a test once for each value, within one case; a failure names the value.

    Takes the place of ``pytest.mark.parametrize`` where the cases are many and alike. Fixtures are shared by all
    values of a loop.
    """
    wanted = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    given = [getattr(value, "values", value) if hasattr(value, "marks") else value for value in values]  # pytest.param

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def looped(*args: Any, **kwargs: Any) -> None:
            assert given, f"nothing to loop over for {wanted}"
            for value in given:
                own = dict(zip(wanted, (value,) if len(wanted) == 1 else value, strict=True))
                try:
                    test(*args, **kwargs, **own)
                except BaseException as error:
                    if hasattr(error, "add_note"):  # from Python 3.11 on
                        error.add_note(f"with {', '.join(f'{name} = {entry!r}' for name, entry in own.items())}")
                    raise

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        looped.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        del looped.__wrapped__  # type: ignore[attr-defined]
        return looped

    return decorate
