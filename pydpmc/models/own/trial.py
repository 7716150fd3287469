"""A trial of a model's code on made-up records, before anything is charged: what is no likelihood is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.public import Public
from ...errors import InvalidArgument, PydpmcError
from .code import Code, Function
from .records import Layout, made_up

Floats = npt.NDArray[np.float64]
COUNT = 12
CLOSE = 1e-6  # relative difference that rounding may make
STEP = 1e-5
WRONG = 1e-3
ADVICE = "write the log-likelihood of one record as a function of theta and this record alone"


class Trial:
    """The functions of a model, called on made-up records as a run calls them: in blocks of one padded shape."""

    def __init__(self, code: Code, dim: int, x: Floats, y: Floats | None, public: Public, slopes: bool) -> None:
        self._loglik, gradient = code.functions(public)
        self._gradient = gradient if slopes else None
        self._single = code.apart
        self.dim, self.x, self.y = dim, x, y

    def loglik(self, theta: Floats, order: Any) -> Floats:
        """Return the log-likelihoods of the records with these numbers."""
        return self._values(self._loglik, theta, order, ())

    def gradient(self, theta: Floats, order: Any) -> Floats | None:
        """Return their gradients; None if the model has none."""
        return None if self._gradient is None else self._values(self._gradient, theta, order, (self.dim,))

    def _values(self, function: Function, theta: Floats, order: Any, shape: tuple[int, ...]) -> Floats:
        order = np.asarray(order)
        if self._single:
            return np.concatenate([self._call(function, theta, order[k : k + 1], 1, shape) for k in range(len(order))])
        return self._call(function, theta, order, COUNT, shape)

    def _call(self, function: Function, theta: Floats, order: Any, block: int, shape: tuple[int, ...]) -> Floats:
        x = np.zeros((block, self.x.shape[1]))
        y = None if self.y is None else np.zeros(block)
        x[: len(order)] = self.x[order]
        if y is not None and self.y is not None:
            y[: len(order)] = self.y[order]
        for given in (x, y):
            if given is not None:
                given.flags.writeable = False
        out = np.full((block, *shape), np.nan)
        try:
            function(theta, x, y, out)
        except PydpmcError:
            raise
        except Exception as error:  # of made-up records: it may be shown
            raise InvalidArgument(
                f"the model failed on made-up records: {type(error).__name__}: {_first(error)}"
            ) from error
        return out[: len(order)]


def _first(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:300]


def try_out(code: Code, thetas: list[Floats], public: Public, layout: Layout, prior: Any, slopes: bool) -> None:
    """Refuse code that is no log-likelihood of single records; nothing private is seen.

    `slopes` is whether gradients will be used.
    """
    x, y = made_up(public, layout, COUNT)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        trial = Trial(code, len(thetas[0]), x, y, public, slopes)
        _finite(trial, thetas)
        _same_again(trial, thetas)
        _rows_apart(trial, thetas[0])
        _gradient_fits(trial, thetas[0])
        if prior is not None and callable(prior.of):
            _prior_fits(prior.of, thetas[0], slopes)


def try_convex(
    code: Code, thetas: list[Floats], public: Public, layout: Layout, lipschitz: float, smoothness: float
) -> None:
    """Refuse a statement of convexity and smoothness that the gradients of made-up records contradict."""
    x, y = made_up(public, layout, COUNT)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        trial = Trial(code, len(thetas[0]), x, y, public, True)
        middle = (thetas[0] + thetas[1]) / 2.0
        for far in (0.01, 1.0, 30.0):  # thetas near each other, and far apart
            a, b = (middle + far * (theta - middle) for theta in thetas)
            one, other = trial.gradient(a, np.arange(COUNT)), trial.gradient(b, np.arange(COUNT))
            if one is None or other is None:
                raise InvalidArgument("the model has no gradient, which Langevin needs")
            rise, apart = (one - other) @ (a - b), float(np.linalg.norm(a - b))
            slack = CLOSE * lipschitz * apart
            for wrong, said in (
                (
                    np.linalg.norm(one, axis=1) > lipschitz * (1.0 + CLOSE),
                    f"gradient longer than lipschitz={lipschitz:g}",
                ),
                (
                    np.linalg.norm(one - other, axis=1) > smoothness * apart * (1.0 + CLOSE) + CLOSE * lipschitz,
                    f"gradient that changes faster than smoothness={smoothness:g}",
                ),
                (rise > slack, "log-likelihood that is not concave"),
            ):
                if wrong.any():
                    raise InvalidArgument(f"a made-up record within the declared bounds has a {said}")


def touched(code: Code, theta: Floats, public: Public, layout: Layout) -> npt.NDArray[np.bool_]:
    """Return which coordinates of theta the likelihood depends on: those in which made-up records have a slope."""
    x, y = made_up(public, layout, COUNT)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gradient = Trial(code, len(theta), x, y, public, True).gradient(theta, np.arange(COUNT))
    assert gradient is not None
    return np.asarray((np.isfinite(gradient) & (gradient != 0.0)).any(axis=0))


def try_roots(code: Code, theta: Floats, public: Public, layout: Layout) -> None:
    """Refuse code whose curvatures are not finite for any of the made-up records."""
    x, y = made_up(public, layout, COUNT)
    out = np.full((COUNT, 1 + len(theta), len(theta)), np.nan)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            code.roots(public)(theta, x, y, out)
        except Exception as error:  # of made-up records: it may be shown
            raise InvalidArgument(
                f"the Hessian of the model failed on made-up records: {type(error).__name__}: {_first(error)}; take "
                'Newton(curvature="outer")'
            ) from error
    if not np.isfinite(out).all(axis=(1, 2)).any():
        raise InvalidArgument(
            "the Hessian of the model is not finite for any of the made-up records; correct the model, or take "
            'Newton(curvature="outer")'
        )


def _finite(trial: Trial, thetas: list[Floats]) -> None:
    values = np.concatenate([trial.loglik(theta, np.arange(COUNT)) for theta in thetas])
    if not np.isfinite(values).any():
        raise InvalidArgument(
            "the log-likelihood of the model is not finite for any of the made-up records, which lie within the "
            "declared bounds; declare x_bounds and y_bounds that its records have, or correct the model"
        )
    if np.isfinite(values).all() and np.ptp(values[:COUNT] - values[COUNT:]) == 0.0 and values[0] == values[COUNT]:
        raise InvalidArgument("the log-likelihood of the model does not depend on theta")


def _same_again(trial: Trial, thetas: list[Floats]) -> None:
    order = np.arange(COUNT)
    first = [trial.loglik(theta, order).copy() for theta in (thetas[0], thetas[1], thetas[0])]
    gradients = [trial.gradient(theta, order) for theta in (thetas[0], thetas[1], thetas[0])]
    again = np.array_equal(first[0], first[2], equal_nan=True)
    if gradients[0] is not None and gradients[2] is not None:
        again = again and np.array_equal(gradients[0], gradients[2], equal_nan=True)
    if not again:
        raise InvalidArgument(
            f"the model says different things of the same record: it is random, or keeps state between calls; {ADVICE}"
        )


def _rows_apart(trial: Trial, theta: Floats) -> None:
    """Compare a block with each record alone among zeros, and with the block in another order."""
    order = np.arange(COUNT)
    permuted = np.random.default_rng(4).permutation(COUNT)
    for values_of in (trial.loglik, trial.gradient):
        together = values_of(theta, order)
        if together is None:
            continue
        alone = [values_of(theta, [k]) for k in order]
        shuffled, back = values_of(theta, permuted), np.argsort(permuted)
        assert shuffled is not None
        for other in (np.concatenate(alone), shuffled[back]):  # type: ignore[arg-type]
            if not _close(together, other):
                raise InvalidArgument(
                    f"the records of the model interact: what it says of one depends on the others of its "
                    f"batch; {ADVICE}"
                )


def _close(a: Floats, b: Floats) -> bool:
    scale = max(1.0, float(np.nanmax(np.abs(np.where(np.isfinite(a), a, 0.0)))))
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * scale, equal_nan=True))


def _gradient_fits(trial: Trial, theta: Floats) -> None:
    order = np.arange(COUNT)
    gradient = trial.gradient(theta, order)
    if gradient is None:
        return
    direction = np.random.default_rng(5).normal(size=len(theta))
    direction /= np.linalg.norm(direction)
    rise = (trial.loglik(theta + STEP * direction, order) - trial.loglik(theta - STEP * direction, order)) / (2 * STEP)
    said = gradient @ direction
    known = np.isfinite(rise) & np.isfinite(said)
    if not known.any():
        raise InvalidArgument("the gradient of the model is not finite for any of the made-up records")
    scale = np.maximum(np.linalg.norm(gradient[known], axis=1), 1e-3)
    if float(np.median(np.abs(rise[known] - said[known]) / scale)) > WRONG:
        raise InvalidArgument(
            "the gradient of the model is not the slope of its log-likelihood; correct grad, or leave it out"
        )


def _prior_fits(prior: Any, theta: Floats, sloped: bool) -> None:
    slopes = np.full(len(theta), np.nan)
    try:
        if not sloped:
            if not np.isfinite(prior(theta, None)):
                raise InvalidArgument("the prior's log density is not finite near the start of the chains")
            return
        value = float(prior(theta, slopes))
        direction = np.random.default_rng(6).normal(size=len(theta))
        direction /= np.linalg.norm(direction)
        rise = (prior(theta + STEP * direction, None) - prior(theta - STEP * direction, None)) / (2 * STEP)
    except PydpmcError:
        raise
    except Exception as error:
        raise InvalidArgument(
            f"the prior failed at a made-up theta: {type(error).__name__}: {_first(error)}"
        ) from error
    if not (np.isfinite(value) and np.isfinite(slopes).all()):
        raise InvalidArgument("the prior's log density or its gradient is not finite near the start of the chains")
    if abs(rise - float(slopes @ direction)) > WRONG * max(1.0, float(np.linalg.norm(slopes))):
        raise InvalidArgument("the gradient of the prior is not the slope of its log density")
