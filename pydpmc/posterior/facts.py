"""The model and the public facts that a posterior was planned with, read back from its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.public import Public
from ..errors import InvalidArgument
from ..models import Model
from ..models.spec import from_spec

if TYPE_CHECKING:
    from .posterior import Posterior


def model_of(post: Posterior) -> Model:
    """Return the model."""
    spec = post.plan.get("model_spec")
    if spec is None:
        raise InvalidArgument(
            f"the model of this posterior, {post.plan.get('model')}, has parameters that could not be stored; sample "
            "again with plain numbers as its parameters"
        )
    return from_spec(spec)


def public_of(post: Posterior) -> Public:
    """Return the public facts."""
    if "public" not in post.plan:
        raise InvalidArgument("this posterior was saved by a version of pydpmc that did not store the public facts")
    return Public.from_dict(post.plan["public"])


def delta_of(post: Posterior) -> float:
    """Return the delta of the plan, or 1e-6 if it has none."""
    delta = post.plan.get("delta")
    return 1e-6 if delta is None else float(delta)
