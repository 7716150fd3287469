"""Scattering features: a row is a function of its own image."""

import sys

import numpy as np
import own_rows
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import WrongType
from pydpmc.nn import filters


def images(n, seed=0, shape=(12, 16)):
    return np.random.default_rng(seed).random((n, *shape))


def test_rows_do_not_depend_on_other_images():
    own_rows.assert_rows_are_of_their_own_images(dp.nn.scattering, images(21), huge=1e38)


def test_instruction_sets_and_threads_give_the_same_rows():
    found = []
    for isa in _core.available_isas():
        _core.use_isa(isa)
        found += [dp.nn.scattering(images(9)), dp.nn.scattering(images(9), threads=2)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_rows_have_norm_one_or_are_void():
    stack = images(4)
    stack[1], stack[2, 3, 3] = 0.0, np.nan
    rows = dp.nn.scattering(stack)
    assert rows.shape == (4, 81 * 3 * 4)
    norms = np.linalg.norm(rows.astype(float), axis=1)
    assert norms[1] == 0.0
    assert np.isnan(rows[2]).all()
    assert ((norms[[0, 3]] > 0.999) & (norms[[0, 3]] <= 1.0)).all()
    data = dp.Data(rows, np.zeros(4), row_norm=1.0, storage="float32")
    assert data.public.n == 4


def test_features_follow_their_definition():
    """One fine wavelet, averaged at one place, by direct sums in double precision."""
    image = images(1, seed=4, shape=(16, 16)).astype(np.float32)
    features = sys.modules["pydpmc.nn.scattering"]._features(image, 1)
    table = filters.wavelets(0).astype(np.float64)
    reach = int(np.sqrt(len(table))) // 2
    modulus = np.zeros((16, 16))
    for y in range(16):
        for x in range(16):
            total = 0.0
            for k, (dy, dx) in enumerate(np.ndindex(2 * reach + 1, 2 * reach + 1)):
                at = image[0, filters.mirrored(y + dy - reach, 16), filters.mirrored(x + dx - reach, 16)]
                total += at * (table[k, 3] + 1j * table[k, 3 + filters.ANGLES])
            modulus[y, x] = abs(total)
    expected = modulus.ravel() @ filters.averages(16, 16, 4).astype(np.float64)
    np.testing.assert_allclose(features[0, 1 + 3], expected, rtol=1e-4)


@pytest.mark.parametrize("scale", [0, 1])
def test_wavelets_see_no_constant_image(scale):
    assert np.abs(filters.wavelets(scale).sum(axis=0)).max() < 1e-6


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros((3, 28)), "shape"),
        (np.zeros((3, 4, 28)), "8 pixels"),
        (np.array([["a"]]), "real numbers"),
    ],
)
def test_what_is_no_stack_of_images_is_refused(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        dp.nn.scattering(given)


@pytest.mark.parametrize("images", [[[[0.0] * 12] * 12], np.ma.masked_array(np.zeros((1, 12, 12))), [None]])
def test_what_is_no_plain_array_is_refused_by_its_type(images):
    with pytest.raises(WrongType, match="images must be a numpy array"):
        dp.nn.scattering(images)
