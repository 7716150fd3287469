"""A table becomes bounded records."""
