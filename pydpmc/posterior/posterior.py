"""Posterior: everything that a run releases, all of it covered by the guarantee."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..accounting import Guarantee
from ..checks import file_path, one_of, visible_html, whole
from ..data.schema import Schema
from . import inference, storage
from .agreement import Agreement
from .fields import Unsafe, description, fields_of
from .goodness import GoodnessOfFit
from .inference import Intervals, WaldTest
from .looks import Look
from .of_looks import OfLooks
from .of_predictions import OfPredictions
from .stats import SamplerStats
from .summary import Summary, summarise
from .units import natural_draws
from .verdict import Verdict, verdict

if TYPE_CHECKING:
    from .tables import Table

Floats = npt.NDArray[np.float64]
CONDITIONAL = "The guarantee of these draws is conditional: guarantee.statement() lists its assumptions."


@dataclass(frozen=True, eq=False)
class Posterior(OfLooks, OfPredictions):
    """Posterior draws with their guarantee. It holds no reference to the data.

    Attributes
    ----------
    draws
        Draws by parameter name, each of shape (chain, draw, size).
    labels
        Names of the entries of a parameter that has several.
    guarantee
        The privacy guarantee for the people in the data.
    plan
        The plan, as plain values.
    acceptance
        Share of accepted proposals of each chain. It costs nothing more, because every accept bit was charged.
    interrupted
        Whether the run was stopped before its last step. The guarantee covers all planned steps.
    unsafe
        Diagnostics outside the guarantee, present only with ``unsafe_diagnostics=True``, which voids it.
    sampler_stats
        Statistics of NUTS (divergences, tree depth, step size), present only with ``private=False``.
    ledger_entry
        The ledger's entry for the run: its number, the budget, and the budget that remained after it.
    looks
        The released gradients and curvatures of ``Newton``, in their order: all that its draws were computed from.
    agreement
        How well these looks agree with each other and with the model; only of ``Newton``.
    fit
        Residuals by predicted value and a test of the model, of ``Newton(fit=True)``.
    schema
        The schema that encoded the records, if one did: `predict` encodes tables by it.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
    >>> post = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=2000), private=False, progress=False)
    >>> post.draws["theta"].shape
    (1, 1600, 1)
    """

    draws: Mapping[str, Floats]
    labels: Mapping[str, tuple[str, ...]]
    guarantee: Guarantee
    plan: Mapping[str, Any]
    acceptance: tuple[float, ...]
    interrupted: bool = False
    unsafe: Unsafe | None = field(default=None)
    sampler_stats: SamplerStats | None = None
    ledger_entry: Mapping[str, Any] | None = None
    looks: tuple[Look, ...] = ()
    agreement: Agreement | None = None
    fit: GoodnessOfFit | None = None
    schema: Schema | None = None

    @property
    def private(self) -> bool:
        """Whether the result carries a guarantee and may be released under it."""
        return self.guarantee.void is None

    def summary(self, units: Literal["encoded", "natural"] = "encoded") -> Summary:
        """Return mean, sd, quantiles, effective sample size and R-hat of every parameter.

        Parameters
        ----------
        units
            ``"natural"`` gives coefficients of the columns as the table has them (per year of age, say), if the data
            were made by a schema; ``"encoded"`` of the columns as they were rescaled to their bounds.
        """
        one_of(units, "units", ("encoded", "natural"))
        independent = bool(self.plan.get("independent_draws"))
        table = summarise(self.draws, self.labels, independent)
        found = verdict(self, table)
        if units == "natural":
            table = summarise(natural_draws(self), self.labels, independent)
        conditional = CONDITIONAL if self.private and self.guarantee.assumptions else ""
        weights = found.weights()
        notes = (str(found), f"({weights})" if weights else "", conditional)
        return dataclasses.replace(table, verdict=found, note="\n".join(text for text in notes if text))

    @property
    def verdict(self) -> Verdict:
        """What the result is good for, in one sentence: from the draws and public facts, at no cost.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> data = dp.Data(np.r_[np.ones(7000), np.zeros(3000)])
        >>> post = dp.sample(dp.BernoulliLogit(), data, epsilon=1.0, delta=1e-6, progress=False)
        >>> post.verdict.kind
        'useful'
        """
        found = self.summary().verdict
        assert found is not None
        return found

    def interval(self, level: float = 0.9, parameters: str | Sequence[str] | None = None) -> Intervals:
        """Return confidence intervals for the parameters, computed from the draws alone at no cost in privacy.

        They cover the truth with probability `level` over data sets if the model is correct. The draws come from a
        tempered posterior, so their spread is rescaled and the effect of the prior is removed. Priors must be Normal or
        Flat. The draws of ``Newton`` are not tempered; its intervals are credible intervals that include the prior.

        Parameters
        ----------
        level
            Probability over data sets that an interval covers the truth.
        parameters
            Names of parameters, or of blocks of them; all by default.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
        >>> post = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=20_000), private=False, progress=False)
        >>> low, high = post.interval(0.99)["theta"]
        >>> bool(low < np.log(0.7 / 0.3) < high)
        True
        """
        return inference.interval(self, level, parameters)

    def wald_test(self, null: npt.ArrayLike = 0.0, parameters: str | Sequence[str] | None = None) -> WaldTest:
        """Return a test that the parameters have the values `null`, from the draws alone; see `interval`.

        Parameters
        ----------
        null
            One value for all parameters, or one for each.
        parameters
            Names of parameters, or of blocks of them; all by default.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
        >>> post = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=20_000), private=False, progress=False)
        >>> post.wald_test(null=0.0).p_value < 1e-6
        True
        """
        return inference.wald_test(self, null, parameters)

    def table(self, format: Literal["markdown", "latex"] = "markdown", **options: Any) -> Table:
        """Return the summary as a table for a paper, a text with ``to_pandas``.

        Options: ``columns``, ``digits``, and ``units`` as for `summary`.
        """
        from .tables import table

        return table(self, format, **options)

    def to_arviz(self, x: Any = None, *, draws: int = 1000, seed: int | None = None) -> Any:
        """Return an ``arviz.InferenceData`` (ArviZ 0.x) or ``DataTree`` (1.x) with the guarantee as attributes.

        Its groups are ``posterior`` and, if the prior can be sampled, ``prior``. With public rows `x` (as for
        `posterior_predictive`) it has ``posterior_predictive`` and ``prior_predictive`` too; `draws` and `seed` are
        theirs and the prior's.
        """
        from .arviz import to_arviz

        return to_arviz(self, x, draws, seed)

    def plot_trace(self, parameters: Sequence[str] | None = None) -> Any:
        """Return a matplotlib figure: density and trace of each parameter, a colour per chain."""
        from .plots import plot_trace

        return plot_trace(self, parameters)

    def plot_forest(self, parameters: Sequence[str] | None = None, *, level: float = 0.9) -> Any:
        """Return a matplotlib figure: credible intervals of each parameter."""
        from .plots import plot_forest

        return plot_forest(self, parameters, level=level)

    def plot_prior_posterior(self, parameters: Sequence[str] | None = None) -> Any:
        """Return a matplotlib figure: prior and posterior density of each parameter."""
        from .plots import plot_prior_posterior

        return plot_prior_posterior(self, parameters)

    def plot_privacy(self) -> Any:
        """Return a matplotlib figure: epsilon against delta, and against the number of releases."""
        from .plots import plot_privacy

        return plot_privacy(self)

    def report(self, path: str | Path, **options: Any) -> None:
        """Write a self-contained HTML page that explains the result and its guarantee.

        Options: ``title``; ``schema``, to show the declared columns; ``rehearsal``, what ``plan.rehearse()`` returned,
        to show true against private values of made-up records. If the run was charged to a ledger, the page shows its
        entry.
        """
        from .report import write

        write(self, path, **options)

    def save(self, path: str | Path) -> None:
        """Write draws and guarantee to a ``.npz`` or ``.nc`` file, without pickle.

        A ``.nc`` file opens with ``arviz.from_netcdf``, parameters in their order. That takes netCDF 4, which h5netcdf
        (extra ``arviz``) writes; where it is not installed the file is netCDF 3, which pydpmc reads as well.

        An existing file is replaced atomically; if writing fails, it is unchanged. The file holds a hash that detects
        accidental damage but not forgery.
        """
        from .arviz import attributes

        file = file_path(path, "path")
        storage.save(file, dict(self.draws), description(self), attributes(self) if file.suffix == ".nc" else {})

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int | None = None) -> Posterior:
        """Read a file that `save` wrote.

        A ``.nc`` file without a hash, written by an older version, adds one assumption to the guarantee: that the file
        was not changed.

        Parameters
        ----------
        path
            A ``.npz`` or ``.nc`` file.
        max_bytes
            Most memory that reading may take; by default 256 MiB, or 64 times the size of the file if that is more, so
            that a small file cannot fill the memory.

        Examples
        --------
        >>> import tempfile, numpy as np, pydpmc as dp
        >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
        >>> post = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=100, scale=0.1), anyway=True, progress=False)
        >>> path = tempfile.mkdtemp() + "/post.npz"
        >>> post.save(path)
        >>> dp.Posterior.load(path).guarantee == post.guarantee
        True
        """
        most = None if max_bytes is None else whole(max_bytes, "max_bytes")
        return storage.load(
            file_path(path, "path"), lambda draws, saved, sealed: cls(**fields_of(draws, saved, sealed)), most
        )

    def __str__(self) -> str:
        return f"{self.summary()}\n\n{self.guarantee.statement()}"

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {values.shape}" for name, values in self.draws.items())
        return f"Posterior({shapes}; {'private' if self.private else 'NOT PRIVATE'})"

    def _repr_html_(self) -> str:
        statement = visible_html(self.guarantee.statement())
        return f"<div>{self.summary()._repr_html_()}<p>{statement}</p></div>"
