"""From a plan to draws: across into the core."""
