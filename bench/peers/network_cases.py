"""Sums of clipped gradients of the MLP of bench/peers/networks.py, by JAX and by Opacus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BATCH, INPUTS, HIDDEN, CLASSES, CLIP, STEPS = 256, 784, 128, 10, 0.5, 20
RNG = np.random.default_rng(0)
X = RNG.random((20_000, INPUTS))
Y = RNG.integers(0, CLASSES, len(X))
WEIGHTS = [0.03 * RNG.normal(size=shape) for shape in ((INPUTS, HIDDEN), (HIDDEN, CLASSES))]


def jax_case(ghost: bool) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what repeats the sums, and what returns them once: (weights, biases) of both layers."""
    import jax
    import jax.numpy as jnp

    theta = [jnp.asarray(weight, jnp.float32) for weight in WEIGHTS]
    theta += [jnp.zeros(HIDDEN), jnp.zeros(CLASSES)]
    x, y = jnp.asarray(X[:BATCH], jnp.float32), jnp.asarray(Y[:BATCH])

    def loss(theta: Any, x: Any, y: Any, a: Any = 0.0, b: Any = 0.0) -> Any:
        hidden = jnp.tanh(x @ theta[0] + theta[2] + a)
        return -jax.nn.log_softmax(hidden @ theta[1] + theta[3] + b)[y], hidden

    def by_vmap(theta: Any) -> Any:
        each = jax.vmap(jax.grad(lambda *args: loss(*args)[0]), (None, 0, 0))(theta, x, y)
        norm = jnp.sqrt(sum((g.reshape(BATCH, -1) ** 2).sum(1) for g in each))
        scale = jnp.minimum(1.0, CLIP / norm)
        return [jnp.tensordot(scale, g, 1) for g in each]

    def by_ghost(theta: Any) -> Any:
        zero = jnp.zeros((BATCH, HIDDEN)), jnp.zeros((BATCH, CLASSES))

        def slopes(x: Any, y: Any, a: Any, b: Any) -> Any:
            return jax.grad(lambda a, b: loss(theta, x, y, a, b), (0, 1), has_aux=True)(a, b)

        (e, r), hidden = jax.vmap(slopes)(x, y, *zero)
        norm2 = (e**2).sum(1) * ((x**2).sum(1) + 1) + (r**2).sum(1) * ((hidden**2).sum(1) + 1)
        scale = jnp.minimum(1.0, CLIP / jnp.sqrt(norm2))[:, None]
        return [x.T @ (e * scale), hidden.T @ (r * scale), (e * scale).sum(0), (r * scale).sum(0)]

    compiled = jax.jit(by_ghost if ghost else by_vmap)

    def work() -> None:
        for _ in range(STEPS):
            jax.block_until_ready(compiled(theta))

    return work, lambda: [np.asarray(part) for part in compiled(theta)]


def opacus_case(ghost: bool) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return the same by Opacus: ghost clipping, or the gradients of single records."""
    import torch
    from opacus.grad_sample import GradSampleModule, GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, CLASSES))
    with torch.no_grad():
        for layer, weight in zip((net[0], net[2]), WEIGHTS, strict=True):
            layer.weight.copy_(torch.as_tensor(weight.T))
            layer.bias.zero_()
    x, y = torch.as_tensor(X[:BATCH], dtype=torch.float32), torch.as_tensor(Y[:BATCH])
    settings: dict[str, Any] = {"noise_multiplier": 0.0, "max_grad_norm": CLIP, "expected_batch_size": BATCH}
    base = torch.optim.SGD(net.parameters(), lr=1.0)
    if ghost:
        model: Any = GradSampleModuleFastGradientClipping(net, max_grad_norm=CLIP, loss_reduction="sum")
        optimizer: Any = DPOptimizerFastGradientClipping(base, loss_reduction="sum", **settings)
        loss = DPLossFastGradientClipping(model, optimizer, torch.nn.CrossEntropyLoss(reduction="sum"), "sum")
    else:
        model = GradSampleModule(net, loss_reduction="sum")
        optimizer = DPOptimizer(base, loss_reduction="sum", **settings)
        loss = torch.nn.CrossEntropyLoss(reduction="sum")

    def once() -> None:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        if not ghost:
            optimizer.clip_and_accumulate()

    def sums() -> list[Any]:
        once()
        found = [p.grad if ghost else p.summed_grad for p in net.parameters()]
        weight, bias, last_weight, last_bias = (one.detach().numpy().copy() for one in found)
        return [weight.T, last_weight.T, bias, last_bias]

    def work() -> None:
        for _ in range(STEPS):
            once()

    return work, sums
