"""The outputs of a network for new records, draw by draw, in double precision: for predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .layers import Conv, Dense, Placed, Pool, ReLU, Residual, Tanh

Floats = npt.NDArray[np.float64]


def outputs_of(layers: Sequence[Placed], parameters: Mapping[str, Floats], x: Floats) -> Floats:
    """Return the outputs, shape (draws, records, units), from parameters of shape (draw, size)."""
    draws = len(next(iter(parameters.values())))
    return np.array([_run(layers, [block[draw] for block in parameters.values()], x) for draw in range(draws)])


def _run(layers: Sequence[Placed], blocks: list[Floats], x: Floats) -> Floats:
    values = [x.reshape(len(x), *layers[0].inputs)]
    rest = iter(blocks)
    for one in layers:
        before = values[-1]
        if isinstance(one.layer, Dense):
            weight, bias = next(rest).reshape(one.fan_out, -1), next(rest)
            after = (before.reshape(len(x), -1) @ weight.T + bias)[:, None, None, :]
        elif isinstance(one.layer, Conv):
            weight, bias = next(rest).reshape(one.fan_out, -1), next(rest)
            edge = one.layer.padding
            padded = np.pad(before, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
            windows = _windows(padded, one.layer.window, one.layer.stride)
            after = windows.reshape(*windows.shape[:3], -1) @ weight.T + bias
        elif isinstance(one.layer, Pool):
            windows = _windows(before, one.layer.window, one.layer.stride or 1)
            after = windows.max(axis=(3, 4)) if one.layer.of == "max" else windows.mean(axis=(3, 4))
        elif isinstance(one.layer, Residual):
            after = before + values[one.source]
        elif isinstance(one.layer, Tanh):
            after = np.tanh(before)
        else:
            assert isinstance(one.layer, ReLU)
            after = np.maximum(before, 0.0)
        values.append(after)
    return values[-1].reshape(len(x), -1)


def _windows(values: Floats, window: int, stride: int) -> Floats:
    """Return all windows, shape (records, rows, columns, window, window, channels)."""
    found = np.lib.stride_tricks.sliding_window_view(values, (window, window), axis=(1, 2))
    return np.moveaxis(found[:, ::stride, ::stride], 3, 5)
