"""Composition of privacy losses by one exponentially tilted Fourier transform, with every error bounded.

The tilt centres the composed law where the answer lies, so that its relative round-off there is tiny even at
delta = 1e-12 after a million steps. Wrap-around only adds mass. The mass outside the window, bounded by Chernoff's
inequality, and the round-off of the transforms are added to delta.
"""

from __future__ import annotations

import math
import threading

import numpy as np
from numpy.typing import NDArray

from ..loss.privacy_loss import UNIT, Floats
from .composed_loss import ComposedLoss
from .cumulants import OUTSIDE, Cumulants

SMALLEST_SPECTRUM = 1e-280
NEGLIGIBLE = -80.0  # a frequency is dropped if the log of the product without its weakest factor is below this
PIECE = 1 << 16  # frequencies that are multiplied at once
LATEST, LONGEST = 2, 1 << 20  # composed losses that are kept, and their points, beside the next
LEFT_OUT = math.exp(-55.0)  # bound on the exact product at a dropped frequency


_latest: dict[tuple[Cumulants, float], ComposedLoss] = {}  # one entry per direction
_changing = threading.Lock()


def compose(cumulants: Cumulants, tilt: float) -> ComposedLoss:
    """Compose all losses with their multiplicities under the given tilt."""
    found = _latest.get((cumulants, tilt))
    if found is None:
        with _changing:  # before the next is made, because long ones need much memory
            while _latest and (len(_latest) >= LATEST or sum(len(loss.tilted) for loss in _latest.values()) > LONGEST):
                del _latest[next(iter(_latest))]
        found = _composed(cumulants, tilt)
        with _changing:
            _latest[cumulants, tilt] = found
    return found


def _composed(cumulants: Cumulants, tilt: float) -> ComposedLoss:
    step = cumulants.items[0][0].step
    bottom, top = cumulants.reach(tilt, -1), cumulants.reach(tilt, 1)
    start = math.floor(bottom / step)
    length = quick_length(max(16, math.ceil(top / step) - start + 2))
    entries, entry_error = _tilted_convolution(cumulants, tilt, length, start)
    return ComposedLoss(
        step=step,
        start=start,
        tilted=entries,
        tilt=tilt,
        log_scale=cumulants.value(tilt),
        infinity=cumulants.infinity,
        outside=OUTSIDE,
        entry_error=entry_error,
        relative_error=cumulants.relative_error(tilt),
    )


def _tilted_convolution(cumulants: Cumulants, tilt: float, length: int, start: int) -> tuple[Floats, float]:
    """Return entries ``start + k`` of the composed tilted law, and a bound on the error of each.

    In a transform every input reaches every output through log2(length) twiddle factors, so the error of each entry of
    the spectrum W of a probability vector is a small multiple of log2(length) ulps (and no more if it is summed
    directly). The product G = prod W^n multiplies this error by n |G| / |W|, and the inverse transform averages over
    the frequencies.
    """
    spectrum = _Spectrum(length)
    offset = 0
    pairs = zip(cumulants.items, cumulants.tilted(tilt), strict=True)
    laws = sorted(pairs, key=lambda pair: -pair[0][1])[::-1]
    while laws:  # the most frequent first; each is forgotten when it was used
        (loss, n), masses = laws.pop()
        spectrum.multiply(_transformed(masses, spectrum.frequencies, length), n)
        offset += n * loss.lowest
    count = sum(n for _, n in cumulants.items)
    ulps = 8 * (math.log2(length) + 8) * (count + 1)
    entry_error = UNIT * ulps * 2 * spectrum.carried() / length + 2 * spectrum.left_out / length
    entries = spectrum.entries()
    del spectrum, masses  # what follows needs the memory
    composed = np.fft.irfft(entries, length)
    del entries
    return np.roll(composed, (offset - start) % length), entry_error


class _Spectrum:
    """The product of powers of spectra, at the frequencies where it is not negligible.

    No spectrum exceeds 1, so another factor can only lower the product: a dropped frequency stays dropped, and
    `left_out` sums the bounds of all of them.
    """

    def __init__(self, length: int) -> None:
        self.size = length // 2 + 1
        self.left_out = 0.0
        self.frequencies = np.arange(self.size)
        self.logarithm = np.zeros(self.size, dtype=complex)
        self.weakest = np.zeros(self.size)

    def multiply(self, factor: NDArray[np.complex128], n: int) -> None:
        """Multiply by the n-th power of a spectrum, given at the kept frequencies; all is done in place."""
        end = 0
        for start in range(0, len(factor), PIECE):
            piece = slice(start, start + PIECE)
            size = np.maximum(np.abs(factor[piece]), SMALLEST_SPECTRUM)
            log_size = np.log(size)
            weakest = np.minimum(self.weakest[piece], log_size)
            kept = self.logarithm[piece].real + n * log_size - weakest > NEGLIGIBLE
            multiplied = np.where(size[kept] > SMALLEST_SPECTRUM, factor[piece][kept], SMALLEST_SPECTRUM)
            onto = slice(end, end + len(multiplied))
            self.logarithm[onto] = self.logarithm[piece][kept] + n * np.log(multiplied)
            self.frequencies[onto], self.weakest[onto] = self.frequencies[piece][kept], weakest[kept]
            end = onto.stop
        self.left_out += LEFT_OUT * float(len(factor) - end)
        self.frequencies, self.logarithm, self.weakest = (
            self.frequencies[:end],
            self.logarithm[:end],
            self.weakest[:end],
        )

    def carried(self) -> float:
        """Sum of |G| / |W| + |G| over the frequencies, with W the weakest factor."""
        magnitude = self.logarithm.real
        return float(np.sum(np.exp(np.minimum(magnitude - self.weakest, 0.0)) + np.exp(magnitude)))

    def entries(self) -> NDArray[np.complex128]:
        """The product at every frequency; the logarithms are lost."""
        product = np.zeros(self.size, dtype=complex)
        product[self.frequencies] = np.exp(self.logarithm, out=self.logarithm)
        return product


def _transformed(masses: Floats, frequencies: NDArray[np.int64], length: int) -> NDArray[np.complex128]:
    """Return the spectrum at these frequencies; a direct sum replaces the transform if they are few.

    The direct sum adds up rows of sums over columns and rounds once per term of each: half an ulp times sqrt(2), and 10
    for the twiddle factors, which is below the 8 (log2(length) + 8) ulps that are charged.
    """
    columns = math.isqrt(len(masses)) + 1
    rows = -(-len(masses) // columns)
    if 2 * len(frequencies) * (columns + rows) > length or columns + rows > 6 * (math.log2(length) + 8):
        spectrum = np.fft.rfft(_folded(masses, length))
        return spectrum if len(frequencies) == len(spectrum) else spectrum[frequencies]
    table = np.zeros(rows * columns)
    table[: len(masses)] = masses
    row_of_each = _twiddles(frequencies, np.arange(columns), length)[:, None]
    inner = (row_of_each @ table.reshape(rows, columns).T)[:, 0]  # one product per row, because threads are slower here
    return np.asarray((inner * _twiddles(frequencies, columns * np.arange(rows), length)).sum(axis=1))


def _twiddles(frequencies: NDArray[np.int64], places: NDArray[np.int64], length: int) -> NDArray[np.complex128]:
    turns = np.multiply.outer(frequencies, places) % length
    return np.asarray(np.exp((-2j * math.pi / length) * np.where(2 * turns > length, turns - length, turns)))


def _folded(masses: Floats, length: int) -> Floats:
    """Wrap the masses around the period."""
    rows = -(-len(masses) // length)
    padded = np.zeros(rows * length)
    padded[: len(masses)] = masses
    if rows == 1:
        return padded
    folded: Floats = padded.reshape(rows, length).sum(axis=0)
    return folded


def quick_length(least: int) -> int:
    """Return the smallest length >= `least` without a prime factor above 5, for a fast transform."""
    best = 1 << (least - 1).bit_length()
    fives = 1
    while fives < best:
        odd = fives
        while odd < best:
            best = min(best, odd << (-(-least // odd) - 1).bit_length())
            odd *= 3
        fives *= 5
    return best
