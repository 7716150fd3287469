"""Bounds that nobody knows, found within the budget."""
