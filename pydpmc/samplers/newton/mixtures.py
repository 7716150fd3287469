"""Priors as scale mixtures of normals, coordinate by coordinate: normal given a precision that is drawn as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...models.priors import Flat, Laplace, Normal, StudentT

Floats = npt.NDArray[np.float64]
LEAST_DISTANCE = 1e-12


@dataclass(frozen=True, eq=False)
class MixturePrior:
    """One prior for each coordinate: `kind` as of `Prior.code`."""

    kind: npt.NDArray[np.int_]
    mean: Floats
    scale: Floats
    df: Floats

    @classmethod
    def of(cls, table: Floats) -> MixturePrior:
        """Return the prior of a model's table, as the core takes it."""
        return cls(table[:, 0].astype(int), table[:, 1].copy(), table[:, 2].copy(), table[:, 3].copy())

    @classmethod
    def around(cls, mean: Floats, sd: Floats) -> MixturePrior:
        """Return a normal prior."""
        return cls(np.full(len(mean), Normal.code), np.array(mean), np.array(sd), np.ones(len(mean)))

    @property
    def is_normal(self) -> bool:
        """Whether the posterior of a normal likelihood is normal."""
        return bool(np.isin(self.kind, (Normal.code, Flat.code)).all())

    def precision(self, square: Floats) -> Floats:
        """Return the expected precision given the expected squared distance from the prior's mean."""
        laplace = 1.0 / (self.scale * np.sqrt(np.maximum(square, LEAST_DISTANCE)))
        student = (self.df + 1.0) / (self.df * self.scale**2 + square)
        normal = self.scale**-2.0
        return np.select(
            [self.kind == Flat.code, self.kind == Laplace.code, self.kind == StudentT.code],
            [np.zeros_like(normal), laplace, student],
            normal,
        )

    def local(self, m: Floats, variances: Floats | float) -> tuple[Floats, Floats]:
        """Return the precision of each coordinate if theta is m up to these variances, and the pull of the prior."""
        precision = self.precision((m - self.mean) ** 2 + variances)
        return precision, precision * (self.mean - m)

    def draw_precision(self, distance: Floats, normals: Floats, uniforms: Floats) -> Floats:
        """Draw the precisions given theta: the Gibbs step of the mixture. Rows are independent chains."""
        from scipy.special import gammaincinv

        # 1/precision is exponential, so given theta the precision is inverse Gaussian (Park, Casella 2008).
        mean = 1.0 / (self.scale * np.maximum(np.abs(distance), LEAST_DISTANCE))
        laplace = inverse_gaussian(mean, self.scale**-2.0, normals, uniforms)
        rate = (self.df * self.scale**2 + distance**2) / 2.0
        student = gammaincinv((self.df + 1.0) / 2.0, uniforms) / rate
        fixed = np.broadcast_to(self.precision(distance**2), distance.shape)
        return np.asarray(
            np.select(
                [
                    np.broadcast_to(self.kind == Laplace.code, distance.shape),
                    np.broadcast_to(self.kind == StudentT.code, distance.shape),
                ],
                [laplace, student],
                fixed,
            )
        )


def inverse_gaussian(mean: Floats, shape: Floats, normals: Floats, uniforms: Floats) -> Floats:
    """Return inverse Gaussian variates (Michael, Schucany, Haas 1976)."""
    ratio = mean * normals**2 / (2.0 * shape)
    # The smaller root, without cancellation.
    small = mean / (1.0 + ratio + np.sqrt(ratio * (2.0 + ratio)))
    return np.asarray(np.where(uniforms * (mean + small) <= mean, small, mean * mean / np.maximum(small, 1e-300)))
