"""Privacy accounting (in progress)."""
