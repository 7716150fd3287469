"""The list of commands: one module each, with `add(commands)` that declares it and sets `run` as its action."""

from types import ModuleType

from . import completion, cost, demo, init, ledger, plan, report, run

ALL: tuple[ModuleType, ...] = (run, plan, init, cost, report, ledger, demo, completion)
