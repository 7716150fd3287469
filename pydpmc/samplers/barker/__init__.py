"""Barker: random-walk MCMC that releases accept bits."""
