"""The loader of SVHN's public files, on small files of the same form."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import pydpmc as dp

SCRIPT = Path(__file__).resolve().parents[3] / "bench" / "papers" / "svhn.py"


@pytest.fixture
def svhn():
    spec = importlib.util.spec_from_file_location("svhn", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path, n, seed=0, **others):
    """Write images as SVHN's files have them: the digit 0 is called 10."""
    random = np.random.default_rng(seed)
    images = random.integers(0, 256, (n, 32, 32, 3)).astype(np.uint8)
    digits = random.integers(0, 10, n)
    named = np.where(digits == 0, 10, digits).astype(np.uint8)[:, None]
    savemat(path, {"X": np.moveaxis(images, 0, 3), "y": named, **others})
    return images, digits


def test_images_and_digits_come_back(svhn, tmp_path):
    files = [tmp_path / "train_32x32.mat", tmp_path / "extra_32x32.mat"]
    written = [write(file, n, seed) for seed, (file, n) in enumerate(zip(files, (40, 7), strict=True))]
    images, digits = svhn.load(files)
    np.testing.assert_array_equal(images, np.concatenate([one[0] for one in written]))
    np.testing.assert_array_equal(digits, np.concatenate([one[1] for one in written]))
    assert images.dtype == np.uint8
    assert 0 in digits
    data = dp.Data(images / 255.0, digits, x_bounds=(0.0, 1.0), storage="float32", public_n=47)
    net = dp.nn.Network([dp.nn.Conv(2, 5, stride=4), dp.nn.Tanh(), dp.nn.Dense(10)], shape=(32, 32, 3))
    assert net.dim(data.public) == 2 * 75 + 2 + 49 * 2 * 10 + 10


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"y": np.ones((3, 1))}, "has no X"),
        ({"X": np.zeros((28, 28, 1, 3), np.uint8), "y": np.ones((3, 1))}, r"shape \(32, 32, 3, n\)"),
        ({"X": np.zeros((32, 32, 3, 3)), "y": np.ones((3, 1))}, "bytes"),
        ({"X": np.zeros((32, 32, 3, 3), np.uint8), "y": np.ones((4, 1))}, r"y of shape"),
    ],
)
def test_what_is_no_such_file_is_refused(svhn, tmp_path, content, words):
    savemat(tmp_path / "other.mat", content)
    with pytest.raises(ValueError, match=words):
        svhn.load([tmp_path / "other.mat"])
