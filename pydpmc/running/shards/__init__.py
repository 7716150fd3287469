"""Runs over records in several places: what is wanted of the records goes out, exact sums come back."""
