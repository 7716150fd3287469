"""How batches of records are drawn."""
