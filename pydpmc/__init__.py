"""Bayesian posteriors with a differential-privacy guarantee."""

__version__ = "0.1.0"
