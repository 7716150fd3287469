"""The budget of a data set."""
