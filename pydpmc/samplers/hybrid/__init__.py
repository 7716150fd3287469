"""Hybrid: one sampler finds a start, and another samples from it."""
