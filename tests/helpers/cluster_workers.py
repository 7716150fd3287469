"""Workers of a Dask cluster that start within a second, for tests that kill many of them."""

import asyncio
import logging
import multiprocessing
import os

import distributed


def work(address, security):
    """Be a worker; its name is the number of its process."""

    async def until_the_end():
        async with distributed.Worker(address, security=security, nthreads=1, name=str(os.getpid())) as worker:
            await worker.finished()

    logging.disable(logging.CRITICAL)
    asyncio.run(until_the_end())


class Workers:
    """Processes that start quickly, because what they import is there already."""

    def __init__(self, client):
        self._client = client
        self._start = multiprocessing.get_context("forkserver").Process
        multiprocessing.set_forkserver_preload(["distributed", "pydpmc", "pyarrow.parquet"])

    def add(self):
        arguments = (self._client.scheduler.address, self._client.security)
        self._start(target=work, args=arguments, daemon=True).start()

    def pids(self):
        return {address: int(w["name"]) for address, w in self._client.scheduler_info(n_workers=-1)["workers"].items()}
