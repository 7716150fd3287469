"""What leaves a run, and what is made of it."""
