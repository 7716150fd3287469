"""The Street View House Numbers of Netzer et al. (2011) from their public files, train_32x32.mat and the like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SIDE, CHANNELS = 32, 3


def load(files: Sequence[str | Path]) -> tuple[Any, Any]:
    """Return images, shape (n, 32, 32, 3) of bytes, and digits from 0 to 9, of one or several files.

    The files hold X, shape (32, 32, 3, n), and y, shape (n, 1), in which the digit 0 is called 10. "train" has 73,257
    images, "extra" 531,131 and "test" 26,032; Li et al. (2019) train on the first two.
    """
    from scipy.io import loadmat

    images, labels = [], []
    for file in files:
        found = loadmat(str(file), variable_names=("X", "y"))
        missing = {"X", "y"} - set(found)
        if missing:
            raise ValueError(
                f"{Path(file).name} has no {' and no '.join(sorted(missing))}: it is no file of SVHN's digits"
            )
        x, y = found["X"], found["y"]
        if x.ndim != 4 or x.shape[:3] != (SIDE, SIDE, CHANNELS) or x.dtype != np.uint8 or y.shape != (x.shape[3], 1):
            raise ValueError(
                f"{Path(file).name}: X must be bytes of shape (32, 32, 3, n) and y of shape (n, 1), "
                f"but they are {x.dtype} of {x.shape} and {y.shape}"
            )
        images.append(np.moveaxis(x, 3, 0))
        labels.append(y[:, 0].astype(np.int64) % 10)
    return np.concatenate(images), np.concatenate(labels)
