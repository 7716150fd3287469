"""Models from elsewhere: NumPyro, JAX, PyTorch, PyMC, numpy, and compiled functions. docs/privacy/own_models.md."""
