"""Composition of events: several bounds, of which the least is reported."""
