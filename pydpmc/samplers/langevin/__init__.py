"""Langevin: full-batch dynamics that release only the last iterate."""
