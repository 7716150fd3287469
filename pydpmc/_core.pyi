"""Typed contract of the compiled core. Private: use the package."""

from collections.abc import Callable
from typing import NotRequired, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from .data.one_hot import Coded

Rows = NDArray[np.float64] | NDArray[np.float32]
_Columns = tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64]]

def available_isas() -> list[str]: ...
def isa() -> str: ...
def use_isa(isa: str) -> bool: ...
def has_openmp() -> bool: ...
def hardware_threads() -> int: ...

model_version: int

class OwnModel:
    @staticmethod
    def of_python(
        *,
        loglik: Callable[..., None],
        gradient: Callable[..., None] | None,
        block: int,
        roots: Callable[..., None] | None = None,
        in_one_array: bool = False,
    ) -> OwnModel: ...
    @staticmethod
    def of_addresses(
        *,
        loglik: int,
        gradient: int = 0,
        loglik_user: int = 0,
        gradient_user: int = 0,
        block: int = 1,
        keep: object = None,
    ) -> OwnModel: ...
    @property
    def has_gradient(self) -> bool: ...

class OwnPrior:
    @staticmethod
    def of_python(log_density: Callable[..., float]) -> OwnPrior: ...
    @staticmethod
    def of_address(log_density: int, user: int = 0, keep: object = None) -> OwnPrior: ...

class OwnProposal:
    @staticmethod
    def of_python(propose: Callable[..., float]) -> OwnProposal: ...

class Network:
    def __init__(
        self,
        layers: list[tuple[int, tuple[int, int, int], tuple[int, int, int], int, int, int, int, float]],
        likelihood: str,
        sigma: float,
    ) -> None: ...
    @property
    def dim(self) -> int: ...

def network_log_likelihoods(target: Target, theta: list[float]) -> NDArray[np.float64]: ...
def network_gradient_sum(
    target: Target, theta: list[float], clip: float, per_unit: float, index: NDArray[np.uint32]
) -> NDArray[np.int64]: ...
def independent_rows(
    rows: NDArray[np.float32], weights: NDArray[np.float32], threads: int = 1
) -> NDArray[np.float32]: ...

class Target:
    def __init__(
        self,
        *,
        rows: Rows,
        columns: int,
        has_target: bool,
        model: str,
        intercept: bool,
        constants: tuple[float, float],
        prior: NDArray[np.float64],
        group_start: NDArray[np.int64] | None = None,
        squares: NDArray[np.float64] | None = None,
        coded: Coded | None = None,
        own: OwnModel | None = None,
        own_prior: OwnPrior | None = None,
        network: Network | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> None: ...
    def log_prior(self, theta: list[float]) -> tuple[float, list[float]]: ...
    def with_squares(self, squares: NDArray[np.float64]) -> Target: ...
    @property
    def model(self) -> str: ...
    @property
    def intercept(self) -> bool: ...
    @property
    def constants(self) -> list[float]: ...
    @property
    def prior(self) -> NDArray[np.float64]: ...

class Chains:
    def __init__(
        self,
        *,
        init: NDArray[np.float64],
        draws: NDArray[np.float64],
        warmup: int,
        thin: int,
        seed: int | None,
    ) -> None: ...
    @property
    def init(self) -> NDArray[np.float64]: ...
    @property
    def draws(self) -> NDArray[np.float64]: ...
    @property
    def warmup(self) -> int: ...
    @property
    def thin(self) -> int: ...
    @property
    def seed(self) -> int | None: ...

class BarkerRun:
    def __init__(
        self,
        target: Target,
        chains: Chains,
        *,
        proposal: int,
        radius: float,
        factor: list[float],
        shift_per_clip: float,
        clip: float,
        bits: int,
        batch: int,
        v_max: float,
        c: float,
        x_max: float,
        atoms: list[float],
        weights: list[float],
        gaps: random.GapTables | None = None,
        most: int = 0,
        cached: bool = True,
        whole: list[bool] = ...,
        own: OwnProposal | None = None,
    ) -> None: ...
    def advance(self, steps: int, threads: int, block: int) -> None: ...
    def wanted(self) -> NDArray[np.float64]: ...
    def absorb(self, sums: NDArray[np.int64]) -> None: ...
    def stop(self) -> None: ...
    def state(self) -> list[float]: ...
    def restore(self, state: list[float], steps_done: int) -> None: ...
    def audit(self, theta: list[float], proposal: list[float], first: int, count: int) -> NDArray[np.float64]: ...
    @property
    def steps_done(self) -> int: ...
    @property
    def accepted(self) -> list[int]: ...
    @property
    def units(self) -> int: ...
    @property
    def clipped(self) -> int: ...

def log_likelihoods(
    *,
    rows: Rows,
    columns: int,
    has_target: bool,
    model: str,
    intercept: bool,
    constants: tuple[float, float],
    theta: list[float],
) -> NDArray[np.float64]: ...
def ratio_sum(
    *,
    rows: Rows,
    columns: int,
    has_target: bool,
    model: str,
    intercept: bool,
    constants: tuple[float, float],
    current: list[float],
    proposal: list[float],
    clip: float,
    bits: int,
    index: NDArray[np.uint32] | None = None,
    threads: int = 1,
    block: int = 4096,
    group_start: NDArray[np.int64] | None = None,
    tiles: bool = False,
) -> tuple[int, int, int]: ...
def normal_cdf(t: NDArray[np.float64]) -> NDArray[np.float64]: ...
def erfcx(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def convex_minorant_slopes(rises: NDArray[np.float64], widths: NDArray[np.float64]) -> NDArray[np.float64]: ...
def bit_induction(shift: float, steps: int, cells: int, depth: int) -> NDArray[np.float64]: ...
def minibatch_profile(
    *,
    atoms: list[float],
    weights: list[float],
    c: float,
    v_max: float,
    shift: float,
    change: float,
    x_max: float,
    nodes: list[float],
    slack: float = 1e-3,
    max_cells: int = 400_000,
) -> tuple[list[float], list[float], int]: ...

class _LookSettings(TypedDict):
    clip: float
    sigma: float
    curvature_clip: float
    tau: float
    largest_square: float
    limits: tuple[float, float]
    outer: bool
    block_of: list[int]
    table: NotRequired[tuple[NDArray[np.float64], float, float] | None]
    edges: NotRequired[list[float]]

class NewtonRun:
    def __init__(
        self,
        *,
        rows: Rows,
        columns: int,
        has_target: bool,
        model: str,
        intercept: bool,
        constants: tuple[float, float],
        dim: int,
        seed: int | None,
        weights: NDArray[np.float64] | None = None,
        squares: NDArray[np.float64] | None = None,
        own: OwnModel | None = None,
    ) -> None: ...
    def stop(self) -> None: ...
    def look(
        self, *, theta: list[float], threads: int, block: int, **settings: Unpack[_LookSettings]
    ) -> NDArray[np.float64]: ...
    def sums(
        self, *, theta: list[float], threads: int, block: int, **settings: Unpack[_LookSettings]
    ) -> NDArray[np.int64]: ...
    def absorb(self, sums: NDArray[np.int64], **settings: Unpack[_LookSettings]) -> NDArray[np.float64]: ...
    def bare(
        self, *, theta: list[float], threads: int, block: int, **settings: Unpack[_LookSettings]
    ) -> NDArray[np.float64]: ...
    @property
    def taken(self) -> int: ...

class GradientRun:
    def __init__(
        self,
        target: Target,
        chains: Chains,
        *,
        sampler: str,
        parameters: dict[str, list[float]],
        sampling: str,
        clip: float,
        room: float,
        batch: int,
        gaps: random.GapTables | None,
        most: int,
        weight: float,
        step_size: list[float],
        noise: list[float],
    ) -> None: ...
    def advance(self, steps: int, threads: int, block: int) -> None: ...
    def wanted(self) -> NDArray[np.float64]: ...
    def absorb(self, sums: NDArray[np.int64]) -> None: ...
    def cell_keys(self, cells: int) -> list[bytes]: ...
    @property
    def noise(self) -> float: ...
    def stop(self) -> None: ...
    def state(self) -> list[float]: ...
    def restore(self, state: list[float], steps_done: int) -> None: ...
    def audit(self, theta: list[float], first: int, count: int) -> NDArray[np.float64]: ...
    def traced(self, steps: int) -> list[tuple[int, int, int]]: ...
    @property
    def steps_done(self) -> int: ...

class _LangevinSettings(TypedDict):
    step_size: float
    steps: int
    weight: float
    clip: float
    gradient_unit: float
    centre: list[float]
    radius: list[float]

class LangevinRun:
    def __init__(self, target: Target, chains: Chains, **settings: Unpack[_LangevinSettings]) -> None: ...
    def advance(self, steps: int, threads: int, block: int) -> None: ...
    def stop(self) -> None: ...
    @property
    def steps_done(self) -> int: ...

class LangevinHalves:
    def __init__(self, target: Target, chains: Chains, **settings: Unpack[_LangevinSettings]) -> None: ...
    def wanted(self) -> NDArray[np.float64]: ...
    def absorb(self, sums: NDArray[np.int64]) -> None: ...
    def stop(self) -> None: ...
    @property
    def steps_done(self) -> int: ...

class ShardSums:
    def __init__(self, target: Target) -> None: ...
    def gradient(
        self, thetas: NDArray[np.float64], *, clip: float, per_unit: float, threads: int
    ) -> NDArray[np.int64]: ...
    def start_queries(
        self,
        *,
        sampler: str,
        parameters: dict[str, list[float]],
        sampling: str,
        clip: float,
        room: float,
        gaps: random.GapTables | None,
        most: int,
        chains: int,
    ) -> None: ...
    def query(
        self, thetas: NDArray[np.float64], *, step: int, noise: float, key: bytes, threads: int
    ) -> NDArray[np.int64]: ...
    def ratio(self, states: NDArray[np.float64], *, clip: float, bits: int, threads: int) -> NDArray[np.int64]: ...
    def density(
        self, thetas: NDArray[np.float64], *, loglik_range: tuple[float, float], threads: int
    ) -> NDArray[np.int64]: ...

density_block: int
exact_width: int

def doubles_of(digits: NDArray[np.int64]) -> NDArray[np.float64]: ...
def squared_norms(*, rows: Rows, columns: int, has_target: bool) -> NDArray[np.float64]: ...
def gradient_sum(
    *,
    rows: Rows,
    columns: int,
    has_target: bool,
    model: str,
    intercept: bool,
    constants: tuple[float, float],
    theta: list[float],
    clip: float,
    per_unit: float,
    index: NDArray[np.uint32] | None = None,
    moment_scale: float = 0.0,
    moment_clip: float | None = None,
    group_start: NDArray[np.int64] | None = None,
    narrow: bool = False,
    coded: Coded | None = None,
) -> NDArray[np.int64]: ...
def pass_seconds(
    *, rows: Rows, columns: int, intercept: bool, theta: list[float], chains: int, repeats: int
) -> dict[str, float]: ...

class NutsRun:
    def __init__(
        self,
        target: Target,
        chains: Chains,
        *,
        weight: float,
        prior_weight: float,
        loglik_range: tuple[float, float],
        target_accept: float,
        max_depth: int,
        jitter: float,
    ) -> None: ...
    def advance(self, steps: int, threads: int, block: int) -> None: ...
    def start_steps(self) -> None: ...
    def advance_one(
        self, chain: int, steps: int, sums: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> None: ...
    def finish_steps(self, steps: int) -> None: ...
    def stop(self) -> None: ...
    @property
    def steps_done(self) -> int: ...
    @property
    def step_size(self) -> list[float]: ...
    @property
    def gradients(self) -> list[int]: ...
    @property
    def divergences(self) -> list[int]: ...
    @property
    def deepest(self) -> list[int]: ...
    @property
    def depth_sum(self) -> list[float]: ...
    @property
    def accept_sum(self) -> list[float]: ...

def log_density(
    *,
    rows: Rows,
    columns: int,
    has_target: bool,
    model: str,
    intercept: bool,
    constants: tuple[float, float],
    prior: NDArray[np.float64],
    theta: list[float],
    weight: float,
    prior_weight: float,
    loglik_range: tuple[float, float],
    threads: int = 1,
    tiles: bool = False,
) -> tuple[float, NDArray[np.float64]]: ...

class random:
    purposes: dict[str, int]
    rounded_normal_bits: int
    rounded_normal_error: float

    class Stream:
        def __init__(self, key: bytes, purpose: int, chain: int, step: int) -> None: ...
        def next64(self) -> int: ...
        def fill(self, size: int) -> NDArray[np.uint64]: ...

    class GapTables:
        def __init__(self, rate: float, overflow: float, gap: _Columns, remainder: _Columns | None) -> None: ...
        def settle(self, field: int, words: NDArray[np.uint64]) -> tuple[int, int]: ...

    class Subsampler:
        def __init__(self, gaps: random.GapTables, n: int, most: int) -> None: ...
        def line(self, stream: random.Stream) -> random.SampleLine: ...

    class SampleLine:
        def draw_poisson(self) -> NDArray[np.uint32]: ...
        def draw_exactly(self, b: int) -> NDArray[np.uint32]: ...

    class StepSamples:
        def __init__(self, gaps: random.GapTables, n: int, most: int, b: int | None) -> None: ...
        def draw(self, seed: int, chain: int, step: int) -> NDArray[np.uint32]: ...
        def count_of_steps(self, seed: int, steps: int) -> int: ...

    @staticmethod
    def chacha20_block(key: bytes, counter: int, nonce: bytes) -> bytes: ...
    @staticmethod
    def chacha20_blocks(key: bytes, counter: int, nonce: bytes, blocks: int) -> bytes: ...
    @staticmethod
    def key_from_os() -> bytes: ...
    @staticmethod
    def key_from_seed(seed: int) -> bytes: ...
    @staticmethod
    def fork_generation() -> int: ...
    @staticmethod
    def log_streams(on: bool) -> None: ...
    @staticmethod
    def logged_streams() -> list[list[int]]: ...
    @staticmethod
    def wiped(key: bytes) -> bytes: ...
    @staticmethod
    def below(stream: random.Stream, n: int, size: int) -> NDArray[np.uint64]: ...
    @staticmethod
    def open_unit(stream: random.Stream, size: int) -> NDArray[np.float64]: ...
    @staticmethod
    def logistic(stream: random.Stream, size: int) -> NDArray[np.float64]: ...
    @staticmethod
    def normal(stream: random.Stream, size: int) -> NDArray[np.float64]: ...
    @staticmethod
    def fill_normal(stream: random.Stream, size: int) -> NDArray[np.float64]: ...
    @staticmethod
    def probability_from_logit(d: float) -> tuple[int, bool]: ...
    @staticmethod
    def probability_from_pair(p: float, q: float) -> tuple[int, bool]: ...
    @staticmethod
    def bernoulli(stream: random.Stream, threshold: int, complement: bool, size: int) -> NDArray[np.bool_]: ...
    @staticmethod
    def rounded_normal(stream: random.Stream, size: int) -> NDArray[np.int64]: ...
    @staticmethod
    def fill_rounded_normal(stream: random.Stream, size: int) -> NDArray[np.int64]: ...
    @staticmethod
    def normal_candidates(words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.uint16]]: ...
    @staticmethod
    def rounded_normal_from_words(words: NDArray[np.uint64]) -> tuple[int, int]: ...
    @staticmethod
    def rounded_normal_drop(bin: int, cell: int) -> tuple[int, int]: ...
    @staticmethod
    def rounded_normal_table() -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.uint64]]: ...
