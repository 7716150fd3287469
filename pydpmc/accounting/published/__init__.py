"""Bounds that other authors published, for comparison."""
