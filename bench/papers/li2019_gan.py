"""A small class-conditional GAN on MNIST under privacy, after the last paragraph of Li, Chen, Liu and Carin (2019).

    python li2019_gan.py [--quick] [--seeds 1]   runs what li2019_gan.json lacks; about a quarter of a minute a run
    python li2019_gan.py --table                 prints the table
    python li2019_gan.py --plot FILE.png         draws images of the generator (matplotlib)

Images have 14 x 14 pixels, means of 2 x 2. The discriminator is a network with eleven classes, ten digits and "made"
(Salimans et al. 2016; Saatchi and Wilson 2017 make it Bayesian). It alone sees records, through one private gradient
query a step: log p(digit | image) of real images is its likelihood. Between the steps (`between` of `plan.run`) the
slope of log p(made | image) over made images is added, and the generator follows: both are functions of what the chain
has released. DP-SGHMC has momentum; DP-SGD is the same query without it. The measure: a softmax and an MLP are trained
on made images and tested on real ones. The paper names no architecture, steps or noise: its 98.3 % is another task
(100 labels) and cannot be rerun.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pydpmc as dp
from pydpmc.nn import Dense, Network, Tanh
from pydpmc.running.between import READS_NOTHING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from gan_baseline import class_gaussians
from mnist import DELTA, images, multiplier

RESULTS = Path(__file__).with_suffix(".json")
EPSILONS = (0.2, 1.0, 3.0)
SIDE, HIDDEN, NOISE, MADE = 14, 64, 16, 10
CLIP, BATCH, STEPS, RATE, FRICTION = 0.5, 2048, 600, {"DP-SGHMC": 4.0, "DP-SGD": 4.0}, 0.1
FAKES, FAKE_WEIGHT, GENERATOR_STEPS, GENERATOR_RATE = 256, 0.03, 3, 2e-4


def halved(pictures: Any) -> Any:
    """Return means of 2 x 2 pixels, from 0 to 1: a function of each image alone."""
    x = pictures.astype(np.float64) / 255.0
    return ((x[:, ::2, ::2] + x[:, 1::2, ::2]) + (x[:, ::2, 1::2] + x[:, 1::2, 1::2])).reshape(len(x), -1) / 4.0


def plan_of(data: dp.Data, method: str, epsilon: float, steps: int) -> dp.Plan:
    n = data.public.public_n or 0
    friction = FRICTION if method == "DP-SGHMC" else 1.0
    z = multiplier(steps, BATCH / n, epsilon * 0.999)
    # The step along the mean gradient is eta w n; the noise of the query, sqrt(2 a / eta) b / (n w), is z clip.
    w = 2.0 * friction * BATCH**2 / (RATE[method] * friction * n * (z * CLIP) ** 2)
    options: dict[str, Any] = {"clip": CLIP, "batch_size": BATCH, "steps": steps, "w": w}
    eta = RATE[method] * friction / (w * n)
    sampler = (
        dp.SGHMC(step_size=eta, friction=friction, **options) if friction < 1.0 else dp.SGLD(step_size=eta, **options)
    )
    return dp.plan(
        Network([Dense(HIDDEN), Tanh(), Dense(MADE + 1)], prior=dp.Normal(1.0)), data.public, sampler,
        epsilon=epsilon, delta=DELTA, adjacency="add_remove", assumptions=[READS_NOTHING],
    )  # fmt: skip


class Generator:
    """An MLP from noise and a digit to an image; it follows the discriminator."""

    def __init__(self, seed: int, plan: dp.Plan) -> None:
        torch.manual_seed(seed)
        self.net = torch.nn.Sequential(
            torch.nn.Linear(NOISE + 10, 128), torch.nn.ReLU(), torch.nn.Linear(128, SIDE * SIDE), torch.nn.Sigmoid()
        )
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=GENERATOR_RATE, betas=(0.5, 0.99))
        self.pull = plan.settings.w * plan.settings.step_sizes[0] * (plan.public.public_n or 0)

    def make(self, digits: Any) -> Any:
        return self.net(torch.cat([torch.randn(len(digits), NOISE), torch.eye(10)[digits]], 1))

    def follow(self, theta: Any, velocity: Any) -> None:
        """Add the slope of made images to the discriminator, and move the generator along its new slopes."""
        flat = torch.tensor(theta[0], dtype=torch.float32, requires_grad=True)
        with torch.no_grad():
            made = self.make(torch.randint(10, (FAKES,)))
        loss = torch.nn.functional.cross_entropy(self.logits(flat, made), torch.full((FAKES,), MADE))
        (slope,) = torch.autograd.grad(loss, flat)
        (theta if velocity is None else velocity)[0] -= FAKE_WEIGHT * self.pull * slope.numpy()
        fixed = torch.tensor(theta[0], dtype=torch.float32)
        for _ in range(GENERATOR_STEPS):
            digits = torch.randint(10, (FAKES,))
            self.optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.logits(fixed, self.make(digits)), digits).backward()
            self.optimizer.step()

    @staticmethod
    def logits(theta: Any, x: Any) -> Any:
        """Return the outputs of the discriminator, whose parameters are in the order of its blocks."""
        parts = torch.split(theta, [SIDE * SIDE * HIDDEN, HIDDEN, HIDDEN * (MADE + 1), MADE + 1])
        hidden = torch.tanh(x @ parts[0].reshape(HIDDEN, -1).T + parts[1])
        return hidden @ parts[2].reshape(MADE + 1, HIDDEN).T + parts[3]


def transferred(x: Any, y: Any, test: tuple[Any, Any], hidden: int) -> float:
    """Return the accuracy on real images of a classifier that was trained on made ones."""
    torch.manual_seed(0)
    inner = [torch.nn.Linear(SIDE * SIDE, hidden), torch.nn.ReLU()] if hidden else []
    net = torch.nn.Sequential(*inner, torch.nn.Linear(hidden or SIDE * SIDE, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
    x, y = torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y)
    for _ in range(400):
        some = torch.randint(len(x), (256,))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x[some]), y[some]).backward()
        optimizer.step()
    with torch.no_grad():
        found = net(torch.as_tensor(test[0], dtype=torch.float32)).argmax(1).numpy()
    return 100.0 * float((found == test[1]).mean())


def one_run(method: str, epsilon: float, records: tuple[Any, Any], test: Any, seed: int, quick: bool) -> dict[str, Any]:
    started, pictures = time.process_time(), None
    if method == "class Gaussians":
        x, y, spent = class_gaussians(*records, epsilon, DELTA, seed)
    else:
        data = dp.Data(*records, x_bounds=(0.0, 1.0), storage="float32", public_n=len(records[0]))
        plan = plan_of(data, method, epsilon, 20 if quick else STEPS)
        generator = Generator(seed, plan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan.run(data, seed=seed, progress=False, anyway=True, threads=1, between=generator.follow)
        y = np.arange(10_000) % 10
        with torch.no_grad():
            x = generator.make(torch.as_tensor(y)).numpy()
        spent, pictures = plan.guarantee.epsilon(DELTA), np.uint8(np.round(255.0 * x[:40])).tobytes().hex()
    return {
        "method": method, "epsilon": epsilon, "seed": seed, "spent": spent,
        "softmax": transferred(x, y, test, 0), "mlp": transferred(x, y, test, 64),
        "cpu_seconds": time.process_time() - started, "pictures": pictures if seed == 0 else None,
    }  # fmt: skip


def table(runs: list[dict[str, Any]]) -> str:
    lines = ["| trained on images of | classifier | " + " | ".join(f"epsilon {e:g}" for e in EPSILONS) + " | runs |"]
    lines.append("|---|---|" + "---|" * len(EPSILONS) + "---|")
    for method in ("DP-SGHMC", "DP-SGD", "class Gaussians"):
        for classifier in ("softmax", "mlp"):
            here = [
                [one[classifier] for one in runs if (one["method"], one["epsilon"]) == (method, e)] for e in EPSILONS
            ]
            cells = [f"{np.mean(one):.1f}" if one else "" for one in here]
            lines.append(f"| {method} | {classifier} | {' | '.join(cells)} | {max(map(len, here))} |")
    return "\n".join(lines)


def plot(runs: list[dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    shown = [one for one in runs if one.get("pictures")]
    _, axes = plt.subplots(
        math.ceil(len(shown) / 3), 3, figsize=(9, 2 + 1.4 * math.ceil(len(shown) / 3)), squeeze=False
    )
    for axis, one in zip(axes.ravel(), shown, strict=False):
        grid = (
            np.frombuffer(bytes.fromhex(one["pictures"]), np.uint8)
            .reshape(4, 10, SIDE, SIDE)
            .transpose(0, 2, 1, 3)
            .reshape(4 * SIDE, 10 * SIDE)
        )
        axis.imshow(grid, cmap="gray_r", vmin=0, vmax=255)
        axis.set_title(f"{one['method']}, epsilon {one['epsilon']:g}", fontsize=9)
    for axis in axes.ravel():
        axis.axis("off")
    plt.tight_layout()
    plt.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=["DP-SGHMC", "DP-SGD", "class Gaussians"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--split", action="store_true", help="test on 10,000 of the training images; nothing is kept")
    parser.add_argument("--quick", action="store_true", help="3000 images, 20 steps; nothing is kept")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    keep = not (options.quick or options.split)
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() and keep else []
    if options.plot:
        plot(runs, options.plot)
    if options.table or options.plot:
        print(table(runs))
        return
    torch.set_num_threads(1)
    x, y, new_x, new_y = images(options.split, options.quick)
    records, test = (halved(x), y.astype(np.int64)), (halved(new_x), new_y)
    for seed in range(options.seeds):
        for method in options.methods:
            for epsilon in options.epsilons:
                if any((one["method"], one["epsilon"], one["seed"]) == (method, epsilon, seed) for one in runs):
                    continue
                runs.append(one_run(method, epsilon, records, test, seed, options.quick))
                print({name: value for name, value in runs[-1].items() if name != "pictures"}, flush=True)
                if keep:
                    RESULTS.write_text(json.dumps(runs) + "\n")


if __name__ == "__main__":
    main()
