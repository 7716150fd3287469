"""Bayesian networks, features of images, and how well probabilities are calibrated."""

from .calibration import Calibration, calibration_curve, entropy
from .deskew import deskew
from .layers import Conv, Dense, FanIn, Pool, ReLU, Residual, Tanh
from .network import Network
from .scattering import scattering

__all__ = [
    "Calibration",
    "Conv",
    "Dense",
    "FanIn",
    "Network",
    "Pool",
    "ReLU",
    "Residual",
    "Tanh",
    "calibration_curve",
    "deskew",
    "entropy",
    "scattering",
]
