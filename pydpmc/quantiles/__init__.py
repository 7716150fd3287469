"""Private quantiles, and bounds of columns that are found within the budget."""
