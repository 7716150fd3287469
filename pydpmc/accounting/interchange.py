"""Conversion to and from the events of dp_accounting, an optional package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, UnsupportedEventError
from .events.base import Event
from .events.gaussian import GDP, Gaussian
from .events.poisson_gaussian import PoissonGaussian
from .events.without_replacement_gaussian import WithoutReplacementGaussian
from .guarantee import Guarantee, compose

if TYPE_CHECKING:
    from dp_accounting import DpEvent

NEGLIGIBLE_VARIATION = 1e-9  # an export may leave out a total variation up to this


def _library() -> Any:
    try:
        import dp_accounting
    except ImportError as error:
        raise MissingExtraError("this needs dp-accounting: pip install 'pydpmc[accounting]'") from error
    return dp_accounting


def from_dp_event(event: DpEvent, adjacency: str = "add_remove") -> Guarantee:
    """Return the guarantee that our accounting gives to a `dp_accounting.DpEvent`; refuse unknown events.

    Its noise multiplier is read as noise over clipping norm under both adjacencies. An event that `to_dp_accounting`
    exported under `replace` therefore never costs less after a round trip, and may cost more.
    """
    return compose(_uses(event, 1, _library()), adjacency)


def _uses(event: DpEvent, count: int, dpa: Any) -> list[tuple[Event, int]]:
    if isinstance(event, dpa.NoOpDpEvent):
        return []
    if isinstance(event, dpa.ComposedDpEvent):
        return [use for part in event.events for use in _uses(part, count, dpa)]
    if isinstance(event, dpa.SelfComposedDpEvent):
        return _uses(event.event, count * event.count, dpa)
    return [(_one_event(event, dpa), count)]


def _one_event(event: DpEvent, dpa: Any) -> Event:
    if isinstance(event, dpa.GaussianDpEvent):
        return Gaussian(event.noise_multiplier)
    inner = getattr(event, "event", None)
    if isinstance(inner, dpa.GaussianDpEvent):
        base = Gaussian(inner.noise_multiplier)
        if isinstance(event, dpa.PoissonSampledDpEvent):
            return base.poisson(event.sampling_probability)
        if isinstance(event, dpa.SampledWithoutReplacementDpEvent):
            return base.without_replacement(event.sample_size, event.source_dataset_size)
    raise UnsupportedEventError(f"no accounting rule for the dp_accounting event {event!r}")


def to_dp_accounting(guarantee: Guarantee) -> DpEvent:
    """Return the events of a guarantee as a DpEvent; refuse what dp_accounting cannot express.

    Under `replace` its accountants define the noise multiplier differently: RDP as noise over the largest change
    between neighbours, PLD as noise over the clipping norm. The first definition is exported, so that neither
    understates epsilon; PLD with ``REPLACE_ONE`` overstates it. RDP refuses Poisson samples under `replace`, so for
    these the second definition is exported.
    """
    dpa = _library()
    if guarantee.total_variation > NEGLIGIBLE_VARIATION:
        raise UnsupportedEventError(
            f"dp_accounting has no event for a total variation of {guarantee.total_variation:.3g}; use epsilon and "
            "delta of the guarantee itself"
        )
    parts = [dpa.SelfComposedDpEvent(_dp_event(event, guarantee.adjacency, dpa), n) for event, n in guarantee.events]
    return dpa.ComposedDpEvent(parts)


def _dp_event(event: Event, adjacency: str, dpa: Any) -> Any:
    if isinstance(event, Gaussian | GDP):
        return dpa.GaussianDpEvent(1.0 / event.gaussian_mu(adjacency))
    if isinstance(event, PoissonGaussian):
        return dpa.PoissonSampledDpEvent(event.rate, dpa.GaussianDpEvent(event.noise_multiplier))
    if isinstance(event, WithoutReplacementGaussian):
        gaussian = dpa.GaussianDpEvent(event.noise_multiplier / 2.0)
        return dpa.SampledWithoutReplacementDpEvent(event.n, event.b, gaussian)
    raise UnsupportedEventError(f"dp_accounting has no event for {event!r}")
