"""Repeat table 1 of Li, Chen, Liu and Carin (2019) on MNIST, at the epsilon that it really costs.

    python li2019_networks.py [--seeds 2] [--quick]   runs the paper's setting, keeps it in li2019_networks.json
    python li2019_networks.py --table                 prints the table, with what bench/mnist.py has reached

The paper's setting is SGLD with step size 0.3 on the mean gradient, noise as printed, batches of 128, 20 epochs, clip
0.3 and standard Gaussian priors, on "two stacked convolutional layers and one fully connected layer with ReLUs". Their
widths are not in it. Ours are narrow: the noise of every weight is the same, so more weights only add noise. A run
takes minutes. SVHN: `svhn.py` reads its public files; docs/papers/li2019.md describes the run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import pydpmc as dp
from pydpmc.nn import Conv, Dense, Network, Pool, ReLU

BENCH = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCH))
from mnist import DELTA, images  # noqa: E402

RESULTS = Path(__file__).with_suffix(".json")
PAPER = {"DP-SGD, 0.5": 90.0, "DP-SGD, 8": 97.0, "Confident-GNMax, 1.97": 98.51, "DP-SGLD, 0.99": 99.21}
EPOCHS, BATCH, STEP_SIZE, CLIP = 20, 128, 0.3, 0.3


def network() -> Network:
    layers = [Conv(8, 5), ReLU(), Pool(2), Conv(16, 5), ReLU(), Pool(2), Dense(64), ReLU(), Dense(10)]
    return Network(layers, prior=dp.Normal(1.0), shape=(28, 28))


def plan_of(data: dp.Data, adjacency: str) -> dp.Plan:
    steps = EPOCHS * (data.public.public_n or 0) // BATCH
    sampler = dp.SGLD(calibration="li2019", step_size=STEP_SIZE, clip=CLIP, batch_size=BATCH, steps=steps)
    return dp.plan(network(), data.public, sampler, adjacency=adjacency)


def one_run(data: dp.Data, test: tuple[Any, Any], seed: int) -> dict[str, Any]:
    plan = plan_of(data, "add_remove")
    cpu = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a seed voids, and that the chain has not converged
        post = plan.run(data, draws=20, warmup=0, seed=seed, progress=False, anyway=True, threads=1)
    draws = next(iter(post.draws.values())).shape[1]

    def accuracy(first: int, last: int) -> float:
        some = dataclasses.replace(post, draws={k: v[:, first:last] for k, v in post.draws.items()})
        return 100.0 * float((some.predict_proba(test[0]).mean.argmax(axis=1) == test[1]).mean())

    right = [accuracy(draw, draw + 1) for draw in range(1, draws, 2)]
    return {
        "seed": seed, "steps": plan.settings.steps, "cpu_seconds": time.process_time() - cpu,
        "add_remove": plan.guarantee.epsilon(DELTA), "replace": plan_of(data, "replace").guarantee.epsilon(DELTA),
        "noise_multiplier": float(plan.settings.noise[0]) / CLIP, "accuracy_on_the_way": right,
        "last_draw": right[-1],
        "half_of_the_draws": accuracy(draws // 2, draws),
    }  # fmt: skip


def reached() -> dict[float, tuple[str, float, int]]:
    """Return, for each epsilon, the best model of bench/mnist.json with its mean accuracy and number of seeds."""
    best: dict[float, tuple[str, float, int]] = {}
    runs = json.loads((BENCH / "mnist.json").read_text())
    for name, epsilon in sorted({(one["model"], one["epsilon"]) for one in runs}):
        here = [one["accuracy"] for one in runs if (one["model"], one["epsilon"]) == (name, epsilon)]
        mean = float(np.mean(here))
        if epsilon not in best or mean > best[epsilon][1]:
            best[epsilon] = name, mean, len(here)
    return best


def table() -> str:
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    lines = ["| MNIST, delta 1e-5 | epsilon | test accuracy, % | runs |", "|---|---|---|---|"]
    lines += [
        f"| paper: {name.split(', ')[0]} | {name.split(', ')[1]} | {value:.2f} | |" for name, value in PAPER.items()
    ]
    for name, key in (("last draw", "last_draw"), ("second half of the draws", "half_of_the_draws")) if runs else ():
        cost = f"{runs[0]['add_remove']:.2f} (add/remove), {runs[0]['replace']:.2f} (replace)"
        mean = np.mean([one[key] for one in runs])
        lines.append(f"| the paper's setting, rerun: {name} | {cost} | {mean:.2f} | {len(runs)} |")
    named = {"softmax": "softmax on scattering features", "mlp": "MLP on deskewed pixels", "cnn": "CNN"}
    for spent, (name, mean, count) in sorted(reached().items()):
        lines.append(f"| pydpmc: {named[name]} | {spent:g} | {mean:.2f} | {count} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="3000 images: whether it runs; nothing is kept")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print(table())
        return
    x, y, new_x, new_y = images(False, options.quick)
    data = dp.Data(x / 255.0, y, x_bounds=(0.0, 1.0), storage="float32", public_n=len(x))
    test = new_x.reshape(len(new_x), -1) / 255.0, new_y
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() and not options.quick else []
    for seed in range(len(found), 1 if options.quick else options.seeds):
        found.append(one_run(data, test, seed))
        print(json.dumps(found[-1]), flush=True)
        if not options.quick:
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
