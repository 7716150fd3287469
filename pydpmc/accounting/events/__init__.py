"""Events: one mechanism per file, with its accounting rule and the source of its proof."""
