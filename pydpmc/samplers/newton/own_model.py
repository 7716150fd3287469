"""Newton for models of the user's: clips of gradient and curvature, and a look at their sums. Lemma 11 of newton.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgument, UnsupportedEventError
from ...models.own.model import OwnModel
from ...posterior.agreement import Agreement
from ...posterior.looks import Look
from .clips import Clip
from .draws import Numbers
from .links import plain
from .mixtures import MixturePrior
from .pooling import Pooled
from .public_prior import PublicPrior
from .run import NewtonRun
from .surrogate import nonnegative

if TYPE_CHECKING:
    from ..._core import Target
    from ...data.data import Data
    from ..request import Request

Floats = npt.NDArray[np.float64]


def own_clip(request: Request) -> Clip:
    """Return the bounds on a record's gradient and curvature: given to the sampler, or stated of the model."""
    model, sampler = request.model, request.sampler
    assert isinstance(model, OwnModel)
    if not model.has_gradient:
        raise InvalidArgument(f"{model!r} has no gradient, which Newton needs; {model.without_gradient}")
    gradient = sampler.clip or model.stated_lipschitz
    if gradient is None:
        raise InvalidArgument(
            "clip: Newton needs a public bound on the gradient of a record of your model; give clip, or lipschitz to "
            "the model"
        )
    if sampler.curvature == "outer":
        return Clip(float(gradient))
    if not model.code.has_roots:
        raise UnsupportedEventError(
            f'{model!r} has no Hessians (those of JAX and NumPyro do); use Newton(curvature="outer"), which takes '
            "outer products of gradients for them"
        )
    curvature = sampler.curvature_clip or model.stated_smoothness
    if curvature is None:
        raise InvalidArgument(
            "curvature_clip: Newton needs a public bound on the trace of a record's curvature; give curvature_clip, or "
            'smoothness to the model, or take curvature="outer"'
        )
    model.check_roots(request.public)
    return Clip(float(gradient), curvature=float(curvature))


class PooledCurvature:
    """A curvature that is the same everywhere, as the looks show it; what differs from look to look is a misfit.

    It stands in the place of ``GaussianFeatures`` where nothing is known of a model.
    """

    link = plain()
    constant = None
    design = 1.0
    outer = None

    def __init__(self, blocks: Sequence[int]) -> None:
        of = np.asarray(blocks)
        self.released = of[:, None] == of

    def fit(self, looks: Sequence[Look]) -> None:
        """Take the mean of the curvatures by their noise."""
        weights = np.array([look.tau**-2.0 for look in looks])
        mean = np.einsum("k,kij->ij", weights / weights.sum(), np.array([look.curvature for look in looks]))
        self._variance = 0.5 / float(weights.sum())
        self._mean = nonnegative(mean, np.sqrt(self._variance))

    def misfit(self, look: Look) -> Floats:
        """Return what the mean misses of a released curvature."""
        return np.asarray(self.released * (look.curvature - self._mean))

    def curvature(self, theta: Floats) -> Floats:
        """Return the mean, which stands for the covariance of the gradient at the truth as well."""
        return self._mean

    covariance = curvature

    def expected(self, at: Floats, truth: Floats) -> Floats:
        """Return the expected gradient at a point if the truth is another."""
        return np.asarray(self._mean @ (truth - at))

    def variance(self, theta: Floats) -> Floats:
        """Return the variances of the entries of the mean (half of them on the diagonal)."""
        return np.asarray(self._variance * self.released)


class OwnNewtonRun(NewtonRun):
    """Looks at a model of the user's; its prior may be any public density."""

    def _start(self, target: Target, data: Data) -> Any:
        settings, model = self._settings, self._settings.model
        assert isinstance(model, OwnModel)
        self._density = PublicPrior.of(target, model)
        outer, dim = settings.curvature == "outer", settings.coefficients
        columns = data.public.width + dim * (1 if outer else 1 + dim)
        own = model.code.look(data.public, model.code.block(0, "full", columns, 0), roots=not outer)
        return self._core.NewtonRun(
            rows=data._rows,
            columns=data.public.width,
            has_target=data.public.has_target,
            model=target.model,
            intercept=False,
            constants=(0.0, 0.0),
            dim=dim,
            seed=self._seed,
            own=own,
        )

    @property
    def agreement(self) -> Agreement | None:
        """How well the looks agree, and what they show of the clip: the trace of outer products is a sum of squares."""
        found, settings = super().agreement, self._settings
        if found is None:
            return None
        looks = self.looks[self._pooled_from :]
        weights = np.array([look.tau**-2.0 for look in looks])
        mean = weights @ np.array([look.curvature.diagonal() for look in looks]) / weights.sum()
        model = settings.model
        assert isinstance(model, OwnModel)
        mean = mean[model.touched(settings.public)]
        found = replace(found, shown=float(mean.min() * np.sqrt(weights.sum())))
        if settings.curvature != "outer":
            assert self.pooled is not None
            distance = np.abs(self.pooled.mean - looks[-1].theta) / np.sqrt(np.diag(self.pooled.covariance))
            return replace(found, moved=float(distance.max()))
        clip, n = settings.bounds.gradient, settings.n
        stated = model.lipschitz(settings.public)
        if not n or (stated is not None and stated <= clip):
            return found
        most = n * clip**2
        cut, error = np.trace(looks[-1].curvature) / most, looks[-1].tau * np.sqrt(settings.coefficients) / most
        return replace(found, cut=float(cut), cut_error=float(error))

    @property
    def _pooling_prior(self) -> MixturePrior | PublicPrior:
        return self._density or self._prior

    def _features(self) -> Any:
        return PooledCurvature(self._settings.blocks)

    def _drawn(self, pooled: Pooled, count: int, numbers: Numbers) -> Floats:
        if self._density is None:
            return super()._drawn(pooled, count, numbers)
        return self._density.draws(pooled, count, numbers)
