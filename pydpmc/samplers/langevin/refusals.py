"""What a Langevin run is not proved for, refused with what to do instead."""

from __future__ import annotations

from ...data.public import Public
from ...errors import InvalidArgument, UnsupportedEventError
from ...models import Model
from ...models.priors import Flat, Normal
from ..request import Request
from .constants import refuse_left_out_gradients


def refuse_unsupported(request: Request) -> None:
    """Refuse a request whose guarantee would have no proof."""
    model, public = request.model, request.public
    if request.chains != 1:
        raise InvalidArgument(
            f"chains is {request.chains}, but every draw of Langevin is a chain of its own: use Langevin(draws="
            f"{request.chains}) with chains=1"
        )
    _refuse_model(model, public)
    if request.n is None:
        raise InvalidArgument(
            "public_n: under add_remove Langevin needs a public number that the records do not exceed, because the "
            "step size depends on it; pass public_n to Data"
        )
    if model.gradient_change(public, request.adjacency) is None:
        raise UnsupportedEventError(
            f"{type(model).__name__} by Langevin is proved under adjacency='replace' only: the gradient of one record "
            "more or less has no bound"
        )
    _refuse_priors(model, public, request.private)


def _refuse_model(model: Model, public: Public) -> None:
    name = type(model).__name__
    if model.largest_factor(public, 0.0) is not None:  # first, since the constants below could overflow
        refuse_left_out_gradients(model, public, 0.0)
    smooth = model.smoothness(public) is not None
    bounded = model.gradient_change(public, "replace") is not None
    unbounded = not bounded and public.feature_norm is not None
    if not model.convex or (bounded and not smooth) or unbounded:
        raise UnsupportedEventError(
            f"{name} by Langevin has no proof: it needs a convex, smooth log-likelihood whose gradients are bounded, "
            "such as LogisticRegression, HuberRegression (for LinearRegression) or GaussianMean; or use Barker or SGLD"
        )
    if not (smooth and bounded):
        raise InvalidArgument(f"{name} by Langevin needs declared bounds: pass row_norm or x_bounds to Data")
    if model.gradient_error(public, 1.0) is None:
        raise UnsupportedEventError(
            f"{name} by Langevin has no proof: no bound on the rounding of its gradients is stated; use Newton or SGLD"
        )


def _refuse_priors(model: Model, public: Public, private: bool) -> None:
    for block in model.blocks(public):
        prior = model.block_prior(block)
        if not isinstance(prior, Normal | Flat):
            raise UnsupportedEventError(
                f"the prior of {block.name!r} is {type(prior).__name__}; Langevin's guarantee needs one that is smooth "
                "and strongly convex: use Normal(scale=...), or Barker or SGLD with this prior"
            )
        if private and isinstance(prior, Flat) and model.strong_convexity(public) == 0.0:
            raise UnsupportedEventError(
                f"the prior of {block.name!r} is Flat; Langevin's guarantee rests on the prior's curvature: use "
                "Normal(scale=...), or Barker or SGLD with this prior"
            )
