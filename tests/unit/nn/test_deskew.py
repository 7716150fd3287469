"""Deskewed images: each is a function of itself, and its mass stands upright in the middle."""

import numpy as np
import own_rows
import pytest

import pydpmc as dp
from pydpmc.errors import WrongType


def images(n, shape=(11, 14), seed=0):
    """Return slanted bars of random place and slant."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]]
    slant, place = random.uniform(-0.5, 0.5, n), random.uniform(-2, 2, n)
    distance = x - shape[1] / 2 - place[:, None, None] - slant[:, None, None] * (y - shape[0] / 2)
    inside = (y > 2) & (y < shape[0] - 3)
    return np.exp(-(distance**2)) * inside


def moments(image):
    y, x = np.mgrid[: image.shape[0], : image.shape[1]]
    total = image.sum()
    centre = (image * y).sum() / total, (image * x).sum() / total
    return centre, (image * (y - centre[0]) * (x - centre[1])).sum() / total


def test_rows_do_not_depend_on_other_images():
    assert np.isnan(own_rows.assert_rows_are_of_their_own_images(dp.nn.deskew, images(21), huge=1e308)).all()


def test_mass_is_in_the_middle_and_upright():
    stack = images(8, shape=(20, 24))
    for before, after in zip(stack, dp.nn.deskew(stack).astype(float), strict=True):
        slanted = abs(moments(before)[1])
        centre, upright = moments(after)
        assert abs(centre[0] - 9.5) < 0.2
        assert abs(centre[1] - 11.5) < 0.2
        assert upright <= max(0.1 * slanted, 0.05)


def test_values_stay_between_the_old_ones_and_zero():
    stack = images(5)
    moved = dp.nn.deskew(stack)
    assert moved.dtype == np.float32
    assert moved.min() >= 0.0
    assert moved.max() <= stack.max() * (1.0 + 2.0**-22)


def test_an_image_without_mass_stays_and_channels_move_together():
    stack = images(3)
    colours = np.stack([stack, 0.0 * stack], axis=3)
    np.testing.assert_array_equal(dp.nn.deskew(colours)[..., 0], dp.nn.deskew(stack))
    assert not dp.nn.deskew(0.0 * stack).any()


@pytest.mark.parametrize(("given", "words"), [(np.zeros((3, 28)), "shape"), (np.zeros((3, 1, 28)), "2 pixels")])
def test_what_is_no_stack_of_images_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        dp.nn.deskew(given)


def test_a_list_is_refused_by_its_type():
    with pytest.raises(WrongType, match="images must be a numpy array"):
        dp.nn.deskew([[[0.0] * 12] * 12])
