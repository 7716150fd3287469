"""NUTS: the posterior without privacy, as a reference."""
