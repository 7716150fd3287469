"""The errors that pydpmc raises."""


class PydpmcError(Exception):
    """Base of every error that pydpmc raises on purpose."""


class InvalidArgument(PydpmcError, ValueError):
    """An argument has a value that cannot be used; the message names it and says what to do."""


class WrongType(PydpmcError, TypeError):
    """An argument has the wrong type; the message names it and says what was given."""


class UnusableFile(PydpmcError, OSError):
    """A file cannot be read or written; the message names it and says why."""


class MissingFile(UnusableFile, FileNotFoundError):
    """A file, or the folder it should be in, does not exist."""


class InternalError(PydpmcError, RuntimeError):
    """A bug in pydpmc, or a computation that did not converge."""


class UnsupportedEventError(PydpmcError, ValueError):
    """An event, or an event under this adjacency, for which no proven accounting rule exists."""


class BudgetError(PydpmcError, ValueError):
    """The budget cannot pay for what was asked; nothing was spent."""


class HopelessPlan(PydpmcError, ValueError):
    """A plan that would waste its budget; nothing was spent. The message says what would work, with figures."""


class NotConvergedError(PydpmcError, RuntimeError):
    """Inner chains failed their convergence check: nothing is released, but the budget is spent."""


class NotPrivateError(PydpmcError, ValueError):
    """A guarantee was requested from a result that has none."""


class MissingExtraError(PydpmcError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class SchemaError(PydpmcError, ValueError):
    """A schema contradicts itself, or a table does not have the columns that it declares."""


class StudyError(PydpmcError, ValueError):
    """A study file cannot be read or contradicts itself; the message names its line."""


class LedgerError(PydpmcError, ValueError):
    """A ledger refuses an operation, or its file cannot be trusted; nothing was spent and nothing was reset."""


class ResumedElsewhere(LedgerError):
    """A run was resumed from a copy of its checkpoint; one of the two must not be released."""


class CheckpointError(PydpmcError, ValueError):
    """A checkpoint is damaged, or belongs to another run."""


class CacheError(PydpmcError, ValueError):
    """A file of packed records is damaged, was changed, or belongs to other records; nothing was run."""


class ClusterError(PydpmcError, RuntimeError):
    """A cluster cannot be used, or what its workers answered cannot be trusted; no sum of it was used."""


class PoorPlanWarning(UserWarning):
    """A plan will run, but public facts say that its result may disappoint."""


class ConvergenceWarning(UserWarning):
    """Released draws have an R-hat above 1.05 or fewer than 100 effective draws."""


class NotCoveredWarning(UserWarning):
    """A requested value is computed from records, and no guarantee covers it."""
