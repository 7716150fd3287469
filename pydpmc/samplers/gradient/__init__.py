"""Stochastic-gradient samplers: SGLD, SGHMC, SGNHT and SGFS."""
