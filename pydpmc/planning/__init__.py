"""Everything that is decided without a record."""
