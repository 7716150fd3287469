"""The layers of a network, and how they are laid out in the compiled core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..checks import given, one_of, positive, whole
from ..errors import InvalidArgument, WrongType
from ..models.priors import Prior

Shape = tuple[int, int, int]  # height, width, channels
DENSE, CONV, TANH, RELU, MAX_POOL, MEAN_POOL, ADD = range(7)  # LayerKind of csrc/models/network.hpp


@dataclass(frozen=True)
class Layer:
    """Base of all layers."""

    kind: ClassVar[int] = -1

    def outputs(self, inputs: Shape) -> Shape:
        """Return the shape of the outputs."""
        return inputs


@dataclass(frozen=True)
class Dense(Layer):
    """Every output is a bias plus a weighted sum of all inputs.

    Parameters
    ----------
    units
        Number of outputs.
    """

    kind: ClassVar[int] = DENSE
    units: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", whole(self.units, "units"))

    def outputs(self, inputs: Shape) -> Shape:
        """Return one place with `units` channels."""
        return (1, 1, self.units)


@dataclass(frozen=True)
class Conv(Layer):
    """A convolution: every output channel is a bias plus a weighted sum over a square window of the image.

    Parameters
    ----------
    channels
        Number of output channels.
    window
        Side of the window in pixels.
    stride
        Pixels between windows.
    padding
        Zeros that are added at every edge, fewer than `window`.
    """

    kind: ClassVar[int] = CONV
    channels: int
    window: int
    stride: int = 1
    padding: int = 0

    def __post_init__(self) -> None:
        for name in ("channels", "window", "stride"):
            object.__setattr__(self, name, whole(getattr(self, name), name))
        object.__setattr__(self, "padding", whole(self.padding, "padding", least=0, most=self.window - 1))

    def outputs(self, inputs: Shape) -> Shape:
        """Return the shape of all windows that fit."""
        return (*_places(self, inputs), self.channels)


@dataclass(frozen=True)
class Pool(Layer):
    """The largest value, or the mean, of every square window; channel by channel.

    Parameters
    ----------
    window
        Side of the window in pixels.
    stride
        Pixels between windows; by default they touch.
    of
        ``"max"`` or ``"mean"``.
    """

    window: int
    stride: int | None = None
    of: Literal["max", "mean"] = "max"
    padding: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", whole(self.window, "window"))
        stride = self.window if self.stride is None else whole(self.stride, "stride")
        object.__setattr__(self, "stride", stride)
        one_of(self.of, "of", ("max", "mean"))

    def outputs(self, inputs: Shape) -> Shape:
        """Return the shape of all windows that fit."""
        return (*_places(self, inputs), inputs[2])


@dataclass(frozen=True)
class Tanh(Layer):
    """The hyperbolic tangent of every value."""

    kind: ClassVar[int] = TANH


@dataclass(frozen=True)
class ReLU(Layer):
    """The positive part of every value."""

    kind: ClassVar[int] = RELU


@dataclass(frozen=True)
class Residual(Layer):
    """The inputs plus what the inner layers make of them; both must have the same shape.

    Parameters
    ----------
    layers
        The inner layers.
    """

    kind: ClassVar[int] = ADD
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", checked_layers(self.layers))

    def outputs(self, inputs: Shape) -> Shape:
        """Return the shape of the inputs."""
        shape = inputs
        for layer in self.layers:
            shape = layer.outputs(shape)
        if shape != inputs:
            raise InvalidArgument(f"Residual: its layers turn shape {inputs} into {shape}, which cannot be added to it")
        return inputs


@dataclass(frozen=True)
class FanIn(Prior):
    """Normal(0, scale^2 / k) for the weights of a layer with k inputs, Normal(0, scale^2) for its biases.

    Parameters
    ----------
    scale
        Standard deviation of a layer's outputs for independent inputs of variance 1.
    """

    code: ClassVar[int] = 1
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "prior scale"))


def checked_layers(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return the layers, or refuse what is none."""
    if not isinstance(layers, Iterable) or isinstance(layers, str):
        raise WrongType(f"layers must be a list of layers such as Dense(10), not {given(layers)}")
    found = tuple(layers)
    if not found:
        raise InvalidArgument("layers must be a list of at least one layer")
    for layer in found:
        if not isinstance(layer, Layer):
            raise WrongType(f"layers must be layers such as Dense(10), not {given(layer)}")
    return found


@dataclass(frozen=True)
class Placed:
    """A layer at its place: shapes, what it reads, and the bound that its inputs seldom exceed."""

    layer: Layer
    inputs: Shape
    outputs: Shape
    amplitude: float
    source: int = 0  # the values that `Residual` adds; 0 are the network's inputs

    @property
    def kind(self) -> int:
        """The kind of layer in the core."""
        if isinstance(self.layer, Pool):
            return MAX_POOL if self.layer.of == "max" else MEAN_POOL
        return self.layer.kind

    @property
    def fan_in(self) -> int:
        """Number of inputs of each output."""
        height, width, channels = self.inputs
        return self.layer.window**2 * channels if isinstance(self.layer, Conv) else height * width * channels

    @property
    def fan_out(self) -> int:
        """Number of outputs that have weights of their own; 0 for layers without weights."""
        return self.outputs[2] if isinstance(self.layer, (Dense, Conv)) else 0


def placed(layers: Sequence[Layer], inputs: Shape, amplitude: float) -> tuple[Placed, ...]:
    """Return all layers in the order in which they are computed, those within a `Residual` before its sum."""
    found: list[Placed] = []
    _place(layers, inputs, amplitude, found)
    return tuple(found)


def _place(layers: Sequence[Layer], inputs: Shape, amplitude: float, found: list[Placed]) -> tuple[Shape, float]:
    shape = inputs
    for layer in layers:
        outputs = layer.outputs(shape)
        if isinstance(layer, Residual):
            source, before = len(found), amplitude
            _, amplitude = _place(layer.layers, shape, amplitude, found)
            found.append(Placed(layer, shape, outputs, amplitude, source))
            amplitude += before
        else:
            found.append(Placed(layer, shape, outputs, amplitude))
            amplitude = 1.0 if isinstance(layer, Tanh) else amplitude if isinstance(layer, Pool) else 2.0
        shape = outputs
    return shape, amplitude


def _places(layer: Conv | Pool, inputs: Shape) -> tuple[int, int]:
    sides = tuple((side + 2 * layer.padding - layer.window) // (layer.stride or 1) + 1 for side in inputs[:2])
    if min(inputs[:2]) + 2 * layer.padding < layer.window:
        raise InvalidArgument(
            f"{type(layer).__name__}: a window of {layer.window} does not fit into {inputs[0]} x {inputs[1]} pixels; "
            "pass images of shape (n, height, width) to Data, or give Network their shape"
        )
    return sides[0], sides[1]
