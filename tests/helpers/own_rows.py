"""Check that a function of images gives every row from its own image alone."""

import numpy as np


def assert_rows_are_of_their_own_images(function, stack, huge):
    """Permute, cut and spoil 21 images; return what the three spoiled ones became."""
    whole = function(stack)
    order = np.random.default_rng(1).permutation(21)
    np.testing.assert_array_equal(function(stack[order]), whole[order])
    for i in (0, 8, 20):
        np.testing.assert_array_equal(function(stack[i : i + 1])[0], whole[i])
    hostile = stack.copy()
    hostile[3], hostile[4], hostile[5, 0, 0] = np.nan, huge, np.inf
    spoiled = [3, 4, 5]
    others = np.setdiff1d(np.arange(21), spoiled)
    found = function(hostile)
    np.testing.assert_array_equal(found[others], whole[others])
    return found[spoiled]
