"""Repeat figures 1 to 3 of Heikkilä, Jälkö, Dikmen and Honkela (2019), and price them by our accountant.

python heikkila2019.py [--quick]         runs what heikkila2019.json lacks (two minutes; --quick: seconds)
python heikkila2019.py --table           prints what is kept
python heikkila2019.py --plot DIRECTORY  draws it (matplotlib)

The mixture of section 4: N = 1e6 records, theta = (0, 1), variance 2, N0 = 100, minibatches of b = 1000, C = 2,
log-likelihood ratios clipped at sqrt(b) / N0, so that the sampling variance is at most 1.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from results import Found, Results, command, markdown, picture

import pydpmc as dp
from pydpmc import accounting as acc

DELTA = 1e-6
B, N0, C, STEPS = 1000, 100, 2.0, 20_000
SHAPE = np.array([[0.200, -0.354], [-0.354, 0.716]])  # of the posterior, rounded; the speed alone depends on it
START_BUDGET = (0.22, 1e-6)
SGLD_STEP = 1e-3
BOUND = 0.03  # on the ratio of one record in the tests on all records
MODEL = dp.GaussianMixture()


@cache
def records(n: int) -> dp.Data:
    rng = np.random.default_rng(3)
    return dp.Data(rng.normal((rng.random(n) < 0.5).astype(float), 2.0**0.5), x_bounds=(-10.0, 10.0))


def ours(b: int, n: int, steps: int) -> float:
    """Return our price of `steps` bits, one record replaced."""
    bits = acc.MinibatchAcceptBit(b=b, n=n, v_max=1.0, c=C)
    return float(acc.compose([(bits, steps)], adjacency="replace").epsilon(DELTA))


def theirs(b: int, n: int, steps: int) -> float:
    return float(acc.heikkila2019(b=b, n=n, steps=steps, delta=DELTA))


def figure_1a() -> list[dict[str, float]]:
    """Epsilon over the share b / N of the records in a minibatch, for three sizes."""
    return [
        {"n": n, "share": share, "paper": theirs(int(share * n), n, STEPS), "pydpmc": ours(int(share * n), n, STEPS)}
        for n in (10**5, 10**6, 10**7)
        for share in (3e-4, 1e-3, 3e-3, 1e-2)
    ]


def figure_1b() -> list[dict[str, float]]:
    """Epsilon over the number of iterations."""
    return [
        {"n": n, "steps": steps, "paper": theirs(n // 1000, n, steps), "pydpmc": ours(n // 1000, n, steps)}
        for n in (10**5, 10**6, 10**7)
        for steps in (1000, 5000, 20_000, 100_000)
    ]


def theorem_1() -> list[dict[str, float]]:
    """Epsilon of tests on all records, log-likelihood ratios at most BOUND: theorem 1, and the bits alone."""
    return [
        {
            "steps": steps,
            "paper": acc.heikkila2019_full(bound=BOUND, steps=steps, delta=DELTA, c=C),
            "tight": acc.heikkila2019_full(bound=BOUND, steps=steps, delta=DELTA, c=C, conversion="tight"),
            "pydpmc": float(acc.compose([(acc.AcceptBit(2 * BOUND), steps)], adjacency="replace").epsilon(DELTA)),
        }
        for steps in (100, 250, 1000, 4000)
    ]


def sampler(scale: float, steps: int, batch: int) -> dp.Barker:
    shape = SHAPE * scale**2
    return dp.Barker(steps=steps, batch_size=batch, proposal="ball", scale=shape, clip=batch**0.5 / N0, n0=N0, c=C)


def figure_1c(data: dp.Data, steps: int) -> list[dict[str, float]]:
    """Share of clipped ratios over the scale of the proposal, in posterior standard deviations."""
    found = []
    for scale in (0.1, 0.3, 0.6, 1.0, 2.0, 4.0):
        post = dp.sample(
            MODEL, data, sampler(scale, steps, B), init=[0.3, 0.4], unsafe_diagnostics=True, progress=False, anyway=True
        )
        found.append({"scale": scale, "clipped": post.unsafe.clipped_share, "accepted": post.acceptance[0]})
    return found


def tempered_draws(data: dp.Data, count: int) -> np.ndarray:
    """Return independent draws from the tempered posterior on a fine grid; records are binned, each bin at its mean."""
    x = np.asarray(data._rows)[:, 0]
    counts, edges = np.histogram(x, bins=500)
    sums, _ = np.histogram(x, bins=edges, weights=x)
    points, counts = sums[counts > 0] / counts[counts > 0], counts[counts > 0]
    first, gap = np.linspace(-2.5, 3.5, 201), np.linspace(-4.5, 4.5, 201)
    near = -((points - first[:, None]) ** 2) / 4.0
    total = np.empty((len(first), len(gap)))
    for i, theta in enumerate(first):
        far = -((points - (theta + gap[:, None])) ** 2) / 4.0
        total[i] = N0 / data.public.n * (np.logaddexp(near[i], far) @ counts) - theta**2 / 20 - gap**2 / 2
    density = np.exp(total - total.max()).ravel()
    rng = np.random.default_rng(5)
    cell = rng.choice(density.size, size=count, p=density / density.sum())
    jitter = rng.uniform(-0.5, 0.5, (count, 2)) * [first[1] - first[0], gap[1] - gap[0]]
    return np.column_stack([first[cell // len(gap)], gap[cell % len(gap)]]) + jitter


def moments(draws: np.ndarray) -> dict[str, list[float]]:
    return {"mean": draws.mean(axis=0).tolist(), "sd": draws.std(axis=0).tolist()}


def chain(data: dp.Data, steps: int, init: object) -> np.ndarray:
    post = dp.sample(MODEL, data, sampler(0.6, steps, B), init=init, warmup=0, draws=steps, progress=False, anyway=True)
    return np.asarray(post.draws["theta"][0])


@cache
def start_of(data: dp.Data) -> dp.Posterior:
    """Return the posterior by DPVI at the paper's (0.22, 1e-6). Chains start at its mean; its price comes on top."""
    epsilon, delta = START_BUDGET
    return dp.sample(MODEL, data, dp.DPVI(clip=5.0, w=1.0), epsilon=epsilon, delta=delta, progress=False, anyway=True)


def mean_of(start: dp.Posterior) -> np.ndarray:
    return np.asarray(start.draws["theta"].mean(axis=(0, 1)))


def figure_2(data: dp.Data, reference: np.ndarray, start: dp.Posterior) -> dict[str, object]:
    private = chain(data, STEPS, mean_of(start))[1000:]
    picture = {"without": reference[::40].round(4).tolist(), "with": private[::20].round(4).tolist()}
    return {
        "without privacy, 40,000 draws": moments(reference[1000:]),
        "with privacy, 20,000 draws": moments(private),
        "start by DPVI": moments(start.draws["theta"].reshape(-1, 2)),
        "epsilon of the start": start.guarantee.epsilon(START_BUDGET[1]),
        "picture": picture,
    }


def figure_3(data: dp.Data, reference: np.ndarray, start: dp.Posterior, runs: int) -> dict[str, object]:
    """Return errors of means and variances of the first t draws against exact ones, over runs, with the price at t."""
    mean, variance = reference[1000:].mean(axis=0), reference[1000:].var(axis=0)
    times = [2000, 5000, 10_000, STEPS]
    found: dict[str, object] = {"runs": runs, "barker": [], "sgld": []}
    chains = [chain(data, STEPS, mean_of(start)) for _ in range(runs)]
    for t in times:
        pieces = [c[1000:t] for c in chains]
        found["barker"].append(
            {"t": t, "paper": theirs(B, data.public.n, t), "pydpmc": ours(B, data.public.n, t)}
            | errors(pieces, mean, variance)
        )
    for epsilon in (point["pydpmc"] for point in list(found["barker"])):
        plan = dp.plan(
            MODEL,
            data.public,
            dp.SGLD(n0=N0, clip=5.0, step_size=SGLD_STEP),
            epsilon=epsilon,
            delta=DELTA,
            init=mean_of(start),
        )
        pieces = [np.asarray(plan.run(data, progress=False, anyway=True).draws["theta"][0]) for _ in range(runs)]
        found["sgld"].append({"pydpmc": epsilon, "steps": plan.settings.steps} | errors(pieces, mean, variance))
    return found


def errors(pieces: list[np.ndarray], mean: np.ndarray, variance: np.ndarray) -> dict[str, float]:
    of_mean = [float(np.linalg.norm(p.mean(axis=0) - mean)) for p in pieces]
    of_variance = [float(np.linalg.norm(p.var(axis=0) - variance)) for p in pieces]
    root = max(len(pieces), 1) ** 0.5
    return {
        "mean": float(np.mean(of_mean)),
        "mean_se": float(np.std(of_mean) / root),
        "variance": float(np.mean(of_variance)),
        "variance_se": float(np.std(of_variance) / root),
    }


def measure(kept: Results, options: argparse.Namespace) -> None:
    quick = options.quick
    data = records(10**5 if quick else 10**6)
    reference = tempered_draws(data, 40_000)
    kept.fill("1a", figure_1a)
    kept.fill("1b", figure_1b)
    kept.fill("theorem 1", theorem_1)
    kept.fill("1c", lambda: figure_1c(data, 500 if quick else 5000))
    kept.fill("2", lambda: figure_2(data, reference, start_of(data)))
    kept.fill("3", lambda: figure_3(data, reference, start_of(data), 2 if quick else 20))


def prices(found: Found) -> list[str]:
    """Return the tables of figures 1a to 1c and of theorem 1."""
    header = ["epsilon by corollary 2", "by our accountant"]
    lines = markdown(
        ["N", "b/N", *header],
        ([f"{r['n']:.0e}", f"{r['share']:g}", f"{r['paper']:.3g}", f"{r['pydpmc']:.3g}"] for r in found["1a"]),
    )
    rows = ([f"{r['n']:.0e}", f"{r['steps']:,}", f"{r['paper']:.3g}", f"{r['pydpmc']:.3g}"] for r in found["1b"])
    lines += ["", *markdown(["N", "iterations, b = N/1000", *header], rows)]
    header = ["tests on all records", "theorem 1, classic conversion", "theorem 1, tight conversion", "the bits, ours"]
    rows = ([f"{r['steps']:,}", *(f"{r[k]:.3g}" for k in ("paper", "tight", "pydpmc"))] for r in found["theorem 1"])
    lines += ["", *markdown(header, rows)]
    rows = ([f"{r['scale']:g}", f"{r['clipped']:.2%}", f"{r['accepted']:.1%}"] for r in found["1c"])
    return [*lines, "", *markdown(["proposal, posterior sds", "ratios clipped", "accepted"], rows)]


def tables(found: Found) -> list[str]:
    draws = (
        [name, *(", ".join(f"{v:.3f}" for v in row[k]) for k in ("mean", "sd"))]
        for name, row in found["2"].items()
        if isinstance(row, dict) and "mean" in row
    )
    lines = [*prices(found), "", *markdown(["", "mean", "standard deviation"], draws)]
    three = found["3"]
    rows = [[f"DP-MCMC, t = {r['t']:,}", f"{r['paper']:.2f}", f"{r['pydpmc']:.4f}", *shown(r)] for r in three["barker"]]
    rows += [[f"DP-SGLD, {r['steps']:,} steps", "", f"{r['pydpmc']:.4f}", *shown(r)] for r in three["sgld"]]
    header = ["chain", "epsilon, paper", "epsilon, ours", "error of means", "error of variances"]
    return [*lines, "", *markdown(header, rows)]


def shown(row: dict[str, float]) -> list[str]:
    return [f"{row[k]:.3f} ± {row[k + '_se']:.3f}" for k in ("mean", "variance")]


def plot(found: Found, directory: Path) -> None:
    def draw(axes: Any) -> None:
        for n in (10**5, 10**6, 10**7):
            rows = [row for row in found["1b"] if row["n"] == n]
            steps = [r["steps"] for r in rows]
            [line] = axes[0].loglog(steps, [r["paper"] for r in rows], "--", label=f"corollary 2, N = {n:.0e}")
            axes[0].loglog(steps, [r["pydpmc"] for r in rows], color=line.get_color(), label=f"ours, N = {n:.0e}")
        axes[0].set(title="price (b = N/1000, delta 1e-6)", xlabel="iterations", ylabel="epsilon")
        axes[0].legend(fontsize=6)
        for name, colour in (("without", "tab:gray"), ("with", "tab:blue")):
            points = np.array(found["2"]["picture"][name]).T
            axes[1].plot(*points, ".", ms=2, alpha=0.5, color=colour, label=f"{name} privacy")
        axes[1].set(title="draws, N0 = 100", xlabel="theta_1", ylabel="theta_2")
        axes[1].legend(fontsize=7)
        for name, rows in (("DP-MCMC", found["3"]["barker"]), ("DP-SGLD", found["3"]["sgld"])):
            for of, style in (("mean", "-"), ("variance", "--")):
                x, y, error = ([r[key] for r in rows] for key in ("pydpmc", of, f"{of}_se"))
                axes[2].errorbar(x, y, error, ls=style, label=f"{name}, {of}s")
        axes[2].set(title="error against the exact tempered posterior", xlabel="epsilon (ours)", yscale="log")
        axes[2].legend(fontsize=7)

    picture(directory / "heikkila2019.png", draw, ncols=3, figsize=(12, 3.6))


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables, plot)
