"""Records in a file: packed once from a stream of batches, then mapped into memory by every run."""
