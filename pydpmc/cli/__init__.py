"""The list of commands: one module each, with `add(commands)` that declares it and sets `run` as its action."""

from types import ModuleType

from . import completion, cost, demo, explore, init, ledger, plan, rehearse, report, run

ALL: tuple[ModuleType, ...] = (init, plan, explore, rehearse, run, report, ledger, cost, demo, completion)
