"""Small networks with every kind of layer, on 36 inputs, and their targets in the compiled core."""

from pydpmc import _core
from pydpmc.nn import Conv, Dense, Network, Pool, ReLU, Residual, Tanh
from pydpmc.samplers.base import target_arguments

NETWORKS = {
    "linear": Network([Dense(3)]),
    "tanh": Network([Dense(7), Tanh(), Dense(3)]),
    "relu": Network([Dense(20), ReLU(), Dense(5), ReLU(), Dense(3)]),
    "residual": Network([Dense(6), Tanh(), Residual([Dense(5), Tanh(), Dense(6)]), Dense(3)]),
    "residual of inputs": Network([Residual([Dense(36), Tanh()]), Dense(3)]),
    "normal": Network([Dense(7), Tanh(), Dense(1)], likelihood="normal", sigma=0.7),
    "conv": Network([Conv(3, 3), Tanh(), Dense(3)], shape=(6, 6)),
    "padded conv": Network([Conv(2, 3, stride=2, padding=1), ReLU(), Conv(4, 2), Tanh(), Dense(3)], shape=(6, 6)),
    "max pool": Network([Conv(3, 3), Tanh(), Pool(2), Conv(2, 2), Tanh(), Dense(3)], shape=(6, 6)),
    "mean pool": Network([Conv(3, 2, padding=1), Pool(3, stride=2, of="mean"), Tanh(), Dense(3)], shape=(6, 6)),
    "channels": Network([Conv(3, 2), Tanh(), Residual([Conv(3, 3, padding=1)]), Dense(3)], shape=(3, 4, 3)),
}


def target(net, data):
    return _core.Target(**target_arguments(net, data))
