"""Use the accountant without data: price a composition, then find the number of steps within a budget."""

from pydpmc import accounting as acc

bit = acc.AcceptBit(shift=0.02)
noise = acc.Gaussian(noise_multiplier=20.0)

study = acc.compose([(bit, 500), (noise, 10)], adjacency="replace")
print(study.statement(delta=1e-6), "\n")

for delta in (1e-5, 1e-6, 1e-8):
    print(f"delta = {delta:g}: epsilon = {study.epsilon(delta):.4f}")

steps = acc.calibrate(lambda steps: [(bit, steps), (noise, 10)], epsilon=2.0, delta=1e-6)
print(f"\nepsilon = 2 pays for {steps} accept bits in addition to the 10 noisy sums")

repeated = acc.combine([study, study])
print(f"the same study twice: epsilon = {repeated.epsilon(1e-6):.4f}")
assert study.epsilon(1e-6) < repeated.epsilon(1e-6) < 2 * study.epsilon(1e-6)
