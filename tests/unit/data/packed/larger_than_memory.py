"""Run as a program: pack and use a table, and print the peaks of anonymous memory in MB. Arguments: rows, columns."""

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from peak_memory import Peak, anonymous

import pydpmc as dp

rows, columns = int(sys.argv[1]), int(sys.argv[2])
folder = Path(tempfile.mkdtemp(dir=sys.argv[3]))
rng = np.random.default_rng(1)
names = [f"x{j}" for j in range(columns)]
kinds = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
with pq.ParquetWriter(folder / "rows.parquet", kinds) as writer:
    for start in range(0, rows, 50_000):
        count = min(50_000, rows - start)
        x = rng.uniform(-1, 1, size=(count, columns)).astype(np.float32)
        y = (x[:, 0] > 0).astype(np.int8)
        writer.write_table(pa.table([*x.T, y], schema=kinds))

warnings.simplefilter("ignore")
schema = dp.Schema({**{name: dp.Number(-1, 1) for name in names}, "y": dp.Binary()}, target="y", missing="drop")
started = time.perf_counter()
with Peak() as packing:
    data = dp.Data.from_parquet(
        folder / "rows.parquet", schema, cache=folder / "rows.dpmc", storage="float32", progress=False
    )
packed = time.perf_counter()
samplers = [
    dp.Newton(),
    dp.Langevin(draws=1, steps=3),
    dp.Barker(steps=3),
    dp.SGLD(steps=50),
    dp.SGLD(steps=3, sampling="full"),
]
plans = [dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-9) for sampler in samplers]
with Peak() as running:
    for plan in plans:
        plan.run(data, progress=False, anyway=True, threads=1)
ran = time.perf_counter()
with Peak() as opening:
    dp.Data.from_cache(folder / "rows.dpmc")
print(f"{packing.largest:.0f} {running.largest:.0f} {opening.largest:.0f}")
print(
    f"now {anonymous():.0f}, more {packing.largest - packing.before:.0f}, {running.largest - running.before:.0f} MB; "
    f"packing {packed - started:.1f} s, running {ran - packed:.1f} s, opening {time.perf_counter() - ran:.1f} s; "
    f"{(folder / 'rows.dpmc').stat().st_size / 2**20:.0f} MB in the file",
    file=sys.stderr,
)
