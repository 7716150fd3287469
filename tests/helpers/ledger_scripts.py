"""Scripts that charge a ledger from several processes, and one that is killed again and again."""

import os
import subprocess
import sys
import textwrap


def script(text, *arguments, timeout=300):
    called = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        called, capture_output=True, text=True, timeout=timeout, check=False, cwd="/", env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


KILL = """
    import os, random, signal, sys, time
    import numpy as np, pydpmc as dp
    from pydpmc import accounting as acc
    path, kills = sys.argv[1], int(sys.argv[2])
    data = dp.Data(np.arange(5.0), x_bounds=(0, 5))
    tiny = acc.compose([(acc.Gaussian(noise_multiplier=1e4), 1)])
    tiny.epsilon(1e-6)  # else every child imports scipy, and is killed before it has written anything
    known = set()
    for kill in range(kills):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            ledger = dp.Ledger(path, epsilon=1.0, delta=1e-6)
            for number in range(10**6):
                ledger.reserve(tiny, data, {"kill": kill, "number": number}, f"{kill}-{number}")
                os.write(writer, f"{kill}-{number}\\n".encode())
                ledger.commit(f"{kill}-{number}")
        os.close(writer)
        time.sleep(random.uniform(0.0, 0.6))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader) as said:
            known |= set(said.read().split())
        try:
            ledger = dp.Ledger(path)
        except dp.errors.LedgerError as error:
            assert "there is no" in str(error), error
            continue
        noted = {f"{e.plan['kill']}-{e.plan['number']}" for e in ledger.history()}
        assert known <= noted, known - noted
        assert len(noted - known) <= kill + 1  # at most the one that was being written at each kill
    ledger.verify()
    assert len(known) > kills // 4
    print(kills, "kills,", len(known), "reservations known,", len(noted - known), "more noted")
"""

RACE = """
    import os, sys
    import numpy as np, pydpmc as dp
    from pydpmc import accounting as acc
    data = dp.Data(np.arange(5.0), x_bounds=(0, 5))
    share = acc.compose([(acc.Gaussian(noise_multiplier=30.0), 1)])
    def take(path, name):
        ledger, won = dp.Ledger(path, epsilon=1.0, delta=1e-6), 0
        for number in range(1000):
            try:
                ledger.reserve(share, data, {}, f"{name}-{number}")
                won += 1
            except dp.errors.BudgetError:
                return won
    children = []
    for name in range(int(sys.argv[2])):
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, str(take(sys.argv[1], name)).encode())
            os._exit(0)
        os.close(writer)
        children.append(reader)
    for reader in children:
        print(os.read(reader, 100).decode())
    print(take(sys.argv[1] + ".alone", "alone"))
"""
