"""A study file: data, schema, model, sampler, budget and outputs of a run, in TOML."""
