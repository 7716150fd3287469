"""Runs that are stopped or forked, in processes of their own."""

import os
import subprocess
import sys
import textwrap


def script(text, timeout=60, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd="/",
        env=os.environ | environment,
        check=False,
    )


def test_ctrl_c_keeps_the_draws_made_so_far():
    done = script(
        """
        import signal
        import numpy as np, pydpmc as dp
        data = dp.Data(np.zeros((200_000, 3)), np.zeros(200_000), row_norm=1.0)
        plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=10**5, scale=0.01), chains=2)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        post = plan.run(data, warmup=0, draws=10**5, progress=False)
        draws = post.draws["beta"]
        assert post.interrupted and post.private
        assert 0 < draws.shape[1] < 10**5 and np.isfinite(draws).all() and (draws[:, -1] != 0).any()
        assert post.guarantee == plan.guarantee  # every planned step was charged
        """
    )
    assert done.returncode == 0, done.stderr


def test_ctrl_c_stops_a_step_that_would_take_hours():
    """On a flat density no trajectory turns back: a million gradients over 300,000 records are the first step."""
    done = script(
        """
        import signal
        import numpy as np, pydpmc as dp
        n = 300_000
        data = dp.Data(np.zeros((n, 1)), np.zeros(n), row_norm=1.0)
        model, sampler = dp.LogisticRegression(prior=dp.Flat()), dp.NUTS(draws=9, warmup=20, max_depth=20)
        plan = dp.plan(model, data.public, sampler, private=False)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        post = plan.run(data, progress=False, seed=1)
        assert post.interrupted
        print(post.draws["beta"].shape[1])
        """
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 9


def test_ctrl_c_releases_nothing_of_a_run_with_a_hidden_state():
    done = script(
        """
        import signal
        import numpy as np, pydpmc as dp
        data = dp.Data(np.zeros((200_000, 3)), np.zeros(200_000), row_norm=1.0)
        plan = dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(w=0.1, steps=10**6))
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            plan.run(data, progress=False, anyway=True)
        except KeyboardInterrupt:
            print("stopped")
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "stopped"


def test_a_forked_child_draws_anew_and_does_not_hang():
    done = script(
        """
        import os, warnings
        import numpy as np, pydpmc as dp
        warnings.filterwarnings("ignore", message=".*multi-threaded.*fork", category=DeprecationWarning)
        warnings.simplefilter("ignore", dp.errors.ConvergenceWarning)
        data = dp.Data(np.zeros((90_000, 2)), np.zeros(90_000), row_norm=1.0)
        plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=50, scale=0.1))
        plan.run(data, threads=2, progress=False, anyway=True)
        reader, writer = os.pipe()
        child = os.fork()
        draws = plan.run(data, threads=2, progress=False, anyway=True).draws["beta"]
        if child == 0:
            os.write(writer, draws.tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        theirs = np.frombuffer(os.read(reader, 10**6)).reshape(draws.shape)
        assert theirs.any() and draws.any()
        print(np.intersect1d(theirs, draws).size)
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


def test_a_forked_run_in_progress_is_keyed_anew_unless_seeded():
    done = script(
        """
        import os
        import numpy as np
        from pydpmc import _core
        def core(seed):
            out = np.zeros((1, 100, 1))
            target = _core.Target(
                rows=np.full((1, 1), np.nan), columns=1, has_target=False, model="gaussian_mean", intercept=False,
                constants=(1.0, 0.0), prior=np.array([[0.0, 0, 1, 1, 0]]))
            return out, _core.BarkerRun(
                target, _core.Chains(init=np.zeros((1, 1)), draws=out, warmup=0, thin=1, seed=seed),
                proposal=0, radius=1.0, factor=[1.0], shift_per_clip=1.0, clip=1.0, bits=30, batch=0, v_max=0.0,
                c=1.0, x_max=0.0, atoms=[], weights=[])
        for seed in (None, 5):
            out, run = core(seed)
            run.advance(20, 1, 8)
            reader, writer = os.pipe()
            child = os.fork()
            run.advance(80, 1, 8)
            if child == 0:
                os.write(writer, out.tobytes())
                os._exit(0)
            os.waitpid(child, 0)
            theirs = np.frombuffer(os.read(reader, 10**6)).reshape(out.shape)
            print((theirs == out)[0, :20].all(), (theirs == out)[0, 60:].any())  # until one accepts they are equal
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False", "True", "True"]


def test_a_sample_that_was_drawn_early_does_not_outlive_a_fork():
    done = script(
        """
        import os
        import numpy as np
        import pydpmc as dp
        from pydpmc import _core
        from pydpmc.running.run import core_target

        data = dp.Data(1e6 * np.random.default_rng(1).normal(size=(400, 1)))
        for seed in (None, 5):
            for sampling in ("poisson", "without_replacement"):
                sampler = dp.SGLD(steps=40, step_size=1e-3, clip=1e9, batch_size=100, sampling=sampling)
                plan = dp.plan(dp.GaussianMean(), data.public, sampler, private=False, adjacency="replace")
                common = {"init": np.zeros((1, 1)), "draws": np.zeros((1, 40, 1)), "warmup": 0, "thin": 1, "seed": seed}
                run = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
                run.advance(7, 1, 4096)
                reader, writer = os.pipe()
                child = os.fork()
                ours = np.asarray(run.audit([0.0], 7, 12))
                if child == 0:
                    os.write(writer, ours.tobytes())
                    os._exit(0)
                os.waitpid(child, 0)
                theirs = np.frombuffer(os.read(reader, 10**6)).reshape(ours.shape)
                noise = float(plan.settings.noise[0])
                assert np.abs(ours).max() > 1e3 * noise
                print((np.abs(ours - theirs) > 100 * noise).all(), (ours == theirs).all())
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False"] * 2 + ["False", "True"] * 2
