"""ConjugateSample: draws from Gaussian posteriors in closed form."""
