"""A Bayesian network: layers, a likelihood of their outputs, and Gaussian priors on all weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from .. import _core
from ..checks import one_of, positive
from ..data.public import Public
from ..errors import InvalidArgument
from ..models.base import Block, Floats, Model
from ..models.priors import Normal, Prior
from ..models.spec import LATER
from .forward import outputs_of
from .inputs import amplitude_of, checked_shape, unit_of, whole_shape
from .layers import Conv, Dense, FanIn, Layer, Placed, Shape, checked_layers, placed
from .spec import layer_of, layer_spec, prior_of, prior_spec

SAMPLERS = ("sgld", "sghmc", "sgnht")
START_SEED = 0  # of the public start


@dataclass(frozen=True)
class LayerBlock(Block):
    """The weights or biases of a layer."""

    fan_in: int = 1


@dataclass(frozen=True)
class Network(Model):
    """A network whose outputs are the logits of classes, or the mean of a Normal target.

    Its gradient is clipped per record, and all that a record adds are exact integers, so the guarantee of the gradient
    samplers holds without assumptions: docs/privacy/networks.md. SGLD, SGHMC and SGNHT sample it; give them `clip` and
    `step_size`, since a network has no Lipschitz constant. ``w`` above 1 is allowed here: a cold posterior.

    Parameters
    ----------
    layers
        ``Dense``, ``Conv``, ``Pool``, ``Tanh``, ``ReLU`` and ``Residual`` layers, from the inputs to the outputs. The
        last is a ``Dense`` layer with one unit per class, or with one unit for ``likelihood="normal"``.
    likelihood
        ``"softmax"``: y is a class, from 0 on. ``"normal"``: y is Normal(output, sigma^2).
    prior
        ``FanIn(scale)``, or one prior for all weights, or a mapping from the names of blocks (``"dense1_weight"``,
        ``"dense1_bias"``, ``"conv1_weight"``, ...) to priors.
    sigma
        Standard deviation of y for ``likelihood="normal"``.
    shape
        (height, width) or (height, width, channels) of an image; by default the shape of the arrays in ``Data``.

    Examples
    --------
    >>> import pydpmc as dp
    >>> net = dp.nn.Network([dp.nn.Dense(8), dp.nn.Tanh(), dp.nn.Dense(3)])
    >>> public = dp.Public(n=1000, columns=("a", "b"), has_target=True, x_bounds=((-1.0, 1.0), (-1.0, 1.0)))
    >>> [block.name for block in net.blocks(public)], net.dim(public)
    (['dense1_weight', 'dense1_bias', 'dense2_weight', 'dense2_bias'], 51)
    """

    core_name: ClassVar[str] = "network"
    cold: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = False
    layers: tuple[Layer, ...]
    likelihood: Literal["softmax", "normal"] = "softmax"
    prior: Prior | Mapping[str, Prior] = field(default_factory=FanIn)
    sigma: float = 1.0
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", checked_layers(self.layers))
        super().__post_init__()
        one_of(self.likelihood, "likelihood", ("softmax", "normal"))
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))
        last = self.layers[-1]
        if not isinstance(last, Dense):
            raise InvalidArgument(f"layers must end with Dense, whose units are the outputs, not {last!r}")
        if self.likelihood == "softmax" and last.units < 2:
            raise InvalidArgument("layers: a softmax needs a last Dense layer of at least two units, one per class")
        if self.likelihood == "normal" and last.units != 1:
            raise InvalidArgument(f"layers: likelihood='normal' needs a last Dense layer of one unit, not {last.units}")
        if self.shape is not None:
            object.__setattr__(self, "shape", checked_shape(self.shape))

    @property
    def label_count(self) -> int | None:
        """Number of classes, or None."""
        return self._units if self.likelihood == "softmax" else None

    @property
    def _units(self) -> int:
        last = self.layers[-1]
        assert isinstance(last, Dense)
        return last.units

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the prior, or one prior per block name."""
        return self.prior

    def placed(self, public: Public) -> tuple[Placed, ...]:
        """Return all layers with their shapes."""
        return placed(self.layers, self._input_shape(public), amplitude_of(public))

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return weight and bias of every layer that has them."""
        found: list[Block] = []
        numbers = {"dense": 0, "conv": 0}
        for one in self.placed(public):
            if one.fan_out:
                kind = type(one.layer).__name__.lower()
                numbers[kind] += 1
                name = f"{kind}{numbers[kind]}"
                found.append(LayerBlock(f"{name}_weight", one.fan_in * one.fan_out, fan_in=one.fan_in))
                found.append(LayerBlock(f"{name}_bias", one.fan_out))
        return tuple(found)

    def block_prior(self, block: Block) -> Prior:
        """Return the prior of one block."""
        if isinstance(self.prior, FanIn):
            return Normal(self.prior.scale / math.sqrt(block.fan_in if isinstance(block, LayerBlock) else 1))
        return super().block_prior(block)

    def centre(self, public: Public) -> Floats:
        """Return a public start: weights of size 1/sqrt(inputs) from a fixed seed, zero in the last layer."""
        random = np.random.default_rng(START_SEED)
        blocks = self.blocks(public)
        parts = [
            random.normal(size=block.size) / math.sqrt(block.fan_in)
            if isinstance(block, LayerBlock) and block.name.endswith("weight") and block is not blocks[-2]
            else np.zeros(block.size)
            for block in blocks
        ]
        return np.concatenate(parts)

    def check_public(self, public: Public) -> None:
        """Refuse a table that this network cannot be fitted to."""
        if public.grouped:
            raise InvalidArgument("groups: a Network has no proof for groups of records; leave groups out of Data")
        super().check_public(public)
        for block in self.blocks(public):
            if not isinstance(self.block_prior(block), Normal):
                raise InvalidArgument(f"prior of {block.name} must be Normal, or FanIn for all, in a Network")

    def check_sampler(self, sampler: Any) -> None:
        """Refuse samplers other than SGLD, SGHMC and SGNHT."""
        if getattr(sampler, "core_name", None) not in SAMPLERS:
            named = "none" if sampler is None else type(sampler).__name__
            raise InvalidArgument(
                f"sampler: a Network is sampled by SGLD, SGHMC or SGNHT; give one of them, not {named}"
            )

    def core_arguments(self, public: Public) -> dict[str, Any]:
        """Return the network as the core knows it."""
        layers = [
            (
                one.kind,
                one.inputs,
                one.outputs,
                getattr(one.layer, "window", 1),
                getattr(one.layer, "stride", 1),
                getattr(one.layer, "padding", 0),
                one.source,
                unit_of(one.amplitude),
            )
            for one in self.placed(public)
        ]
        return {"network": _core.Network(layers, self.likelihood, self.sigma)}

    def to_spec(self) -> dict[str, Any] | None:
        """Return type and parameters as plain values, for files."""
        return {
            "type": "Network",
            "layers": [layer_spec(layer) for layer in self.layers],
            "likelihood": self.likelihood,
            "prior": prior_spec(self.prior),
            "sigma": self.sigma,
            "shape": None if self.shape is None else list(self.shape),
        }

    def probabilities(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return the probabilities of the classes, shape (draws, records, classes)."""
        from scipy.special import softmax

        if self.likelihood != "softmax":
            raise InvalidArgument('a Network with likelihood="normal" has no probabilities of classes; see predict')
        return np.asarray(softmax(self._outputs(parameters, x), axis=2))

    def mean(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return the mean of y; with two classes the probability of class 1."""
        if self.likelihood == "normal":
            return self._outputs(parameters, x)[:, :, 0]
        if self._units != 2:
            raise InvalidArgument("a Network with more than two classes has no mean of y; see predict_proba")
        return self.probabilities(parameters, x)[:, :, 1]

    def _outputs(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        inputs = (1, 1, x.shape[1]) if self.shape is None else whole_shape(self.shape)
        return outputs_of(placed(self.layers, inputs, 1.0), parameters, x)

    def _input_shape(self, public: Public) -> Shape:
        if self.shape is None:
            if any(isinstance(layer, Conv) for layer in self.layers):
                raise InvalidArgument(
                    "shape: a Network with Conv layers needs the shape of its images, for example shape=(28, 28)"
                )
            return (1, 1, public.width)
        inputs = whole_shape(self.shape)
        if math.prod(inputs) != public.width:
            raise InvalidArgument(f"shape {self.shape} has {math.prod(inputs)} values, but a record has {public.width}")
        return inputs


def from_spec(spec: Mapping[str, Any]) -> Network:
    """Return the inverse of ``Network.to_spec``."""
    given_shape = spec.get("shape")
    return Network(
        tuple(layer_of(layer) for layer in spec["layers"]),
        spec["likelihood"],
        prior_of(spec["prior"]),
        spec["sigma"],
        None if given_shape is None else tuple(given_shape),
    )


LATER["Network"] = from_spec
