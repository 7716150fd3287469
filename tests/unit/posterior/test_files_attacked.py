"""Full disks, zip bombs, planted links, changed bytes, forged fields: refused, and no result is lost."""

import errno
import json
import math
import os
import resource
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _files
from pydpmc.errors import CheckpointError, InvalidArgument, StudyError, UnusableFile, WrongType
from pydpmc.posterior import storage
from pydpmc.posterior.fields import description
from pydpmc.running import checkpoint_file

SUFFIXES = ("npz", "nc")


@pytest.fixture
def data(rng):
    x = rng.normal(size=(60, 3))
    return dp.Data(x, x[:, 0] > 0, row_norm=1.0, columns=["age", "b", "c"])


@pytest.fixture
def plan(data):
    return dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=500, scale=0.1), chains=2)


@pytest.fixture
def post(plan, data):
    return plan.run(data, progress=False)


@pytest.fixture
def small_disk():
    """Let no file grow beyond 4 kB: the kernel refuses the write in the middle, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))  # Python ignores SIGXFSZ
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


# numpy 1.24 leaves its zip file open after a failed write; closing it complains once more.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function ZipFile.__del__")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_does_not_destroy_the_earlier_result(post, suffix, tmp_path, request):
    path = tmp_path / f"post.{suffix}"
    post.save(path)
    before = path.read_bytes()
    assert len(before) > 8192
    request.getfixturevalue("small_disk")
    with pytest.raises(UnusableFile, match="cannot be used"):
        post.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [*SUFFIXES, "html"])
def test_a_disk_that_fills_up_at_any_write_leaves_the_earlier_file(post, suffix, tmp_path, monkeypatch):
    path = tmp_path / f"post.{suffix}"
    voided = replace(post, guarantee=replace(post.guarantee, void="a test"))  # its report is soon written
    write = voided.report if suffix == "html" else post.save
    write(path)
    before = path.read_bytes()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, lambda *_: (_ for _ in ()).throw(full))
            with pytest.raises(UnusableFile, match="No space left"):
                write(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_does_not_destroy_the_earlier_checkpoint(plan, data, tmp_path, request):
    path = tmp_path / "run.ckpt"
    plan.run(data, checkpoint=path, progress=False)
    before = path.read_bytes()
    request.getfixturevalue("small_disk")
    with pytest.raises(CheckpointError, match="cannot be written"):
        checkpoint_file.write(path, {}, [np.zeros(10_000), np.zeros(1)])
    assert path.read_bytes() == before
    assert not path.with_name("run.ckpt.unfinished").exists()


def test_a_protected_result_is_not_replaced(post, tmp_path, monkeypatch):
    path = tmp_path / "post.npz"
    post.save(path)
    monkeypatch.setattr(_files.os, "access", lambda *_: False)  # root may do anything
    with pytest.raises(UnusableFile, match="Permission denied"):
        post.save(path)


def peak_memory():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def bomb(path, post, shape, dtype="<f8"):
    """Write an archive of zeros, member by member, without making the array."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=object))
    np.savez_compressed(path, pydpmc_json=np.array(description(post)))
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("beta.npy", "w", force_zip64=True) as f,
    ):
        np.lib.format.write_array_header_1_0(f, {"descr": dtype, "fortran_order": False, "shape": shape})
        while size > 0:
            f.write(bytes(min(size, 2**24)))
            size -= 2**24


def test_a_zip_bomb_is_refused_by_its_declared_size(post, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "ALWAYS_READ", 2**22)
    path = tmp_path / "bomb.npz"
    bomb(path, post, (1, 10**6, 10))
    assert path.stat().st_size < 2**18
    before = peak_memory()
    with pytest.raises(InvalidArgument, match=r"would take 80,\d+,\d+ bytes of memory.*max_bytes"):
        dp.Posterior.load(path)
    assert peak_memory() - before < 2**26


def test_an_array_that_declares_more_than_it_holds_is_not_allocated(post, tmp_path):
    path = tmp_path / "liar.npz"
    np.savez(path, pydpmc_json=np.array(description(post)))
    with zipfile.ZipFile(path, "a") as archive, archive.open("beta.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (1, 2**40, 3)})
    before = peak_memory()
    with pytest.raises(InvalidArgument, match="is not a posterior"):
        dp.Posterior.load(path)
    assert peak_memory() - before < 2**26


def test_draws_that_compress_like_a_bomb_are_saved_so_that_they_load(post, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "ALWAYS_READ", 2**16)
    still = {"beta": np.ones((2, 20_000, 3))}
    storage.save(tmp_path / "post.npz", still, description(post))
    assert dp.Posterior.load(tmp_path / "post.npz").draws["beta"].shape == (2, 20_000, 3)
    np.savez_compressed(tmp_path / "old.npz", **still, pydpmc_json=np.array(description(post)))
    with pytest.raises(InvalidArgument, match="max_bytes"):
        dp.Posterior.load(tmp_path / "old.npz")
    assert dp.Posterior.load(tmp_path / "old.npz", max_bytes=10**7).draws["beta"].shape == (2, 20_000, 3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_one_changed_digit_of_the_guarantee_is_noticed(post, suffix, tmp_path):
    """One byte of a .nc file made epsilon 0.0028 of 0.243."""
    path = tmp_path / f"post.{suffix}"
    sealed = json.loads(description(post))
    draws = dict(post.draws)
    sealed["sha256"] = storage._seal(draws, sealed)
    sealed["guarantee"]["events"][0][1] = 5
    with path.open("w+b") as file:
        (storage._write_npz if suffix == "npz" else storage._write_netcdf)(file, draws, json.dumps(sealed))
    with pytest.raises(InvalidArgument, match="damaged"):
        dp.Posterior.load(path)


def test_no_changed_byte_of_a_netcdf_file_changes_what_is_loaded(post, tmp_path, rng):
    path = tmp_path / "post.nc"
    post.save(path)
    good, refused = path.read_bytes(), 0
    text = good.index(b'{"format"')
    for place in [*rng.integers(0, len(good), 150), *rng.integers(text, text + 3000, 150)]:
        path.write_bytes(good[:place] + bytes([good[place] ^ 1 << rng.integers(8)]) + good[place + 1 :])
        try:
            back = dp.Posterior.load(path)
        except InvalidArgument:
            refused += 1
            continue
        assert back.draws["beta"].tobytes() == post.draws["beta"].tobytes()
        assert back.guarantee.events == post.guarantee.events
        assert (back.plan, back.labels) == (post.plan, post.labels)
    assert refused > 250


def test_a_netcdf_file_without_a_hash_says_so_in_its_guarantee(post, tmp_path):
    with (tmp_path / "old.nc").open("w+b") as file:
        storage._write_netcdf(file, dict(post.draws), description(post))
    old = dp.Posterior.load(tmp_path / "old.nc")
    assert old.guarantee.assumptions == (*post.guarantee.assumptions, storage.UNSEALED)
    assert "has no hash that would detect a change" in old.guarantee.statement()
    assert old.guarantee.epsilon(1e-6) == post.guarantee.epsilon(1e-6)
    post.save(tmp_path / "new.nc")
    assert dp.Posterior.load(tmp_path / "new.nc").guarantee == post.guarantee


WRONG = {
    "interrupted": [0, None, "no"],
    "acceptance": [0.5, ["0.5"], [None], {"0": 1}],
    "labels": [{}, {"beta": "abc"}, {"beta": ["a", "b"]}, {"beta": [1, 2, 3]}, {"theta": ["a", "b", "c"]}, []],
    "plan": [[], None, {"delta": "small"}, {"delta": 2.0}, {"epsilon": -1}, {"public": []}, {"public": {"n": "many"}}],
    "unsafe": [{}, 1, {"clipped_share": "half"}],
    "ledger_entry": [[], "run 1"],
    "sampler_stats": [[], {"divergences": 1}, {"colour": [1]}],
    "guarantee": [
        *({"total_variation": -0.5}, {"total_variation": "0"}, {"assumptions": "none"}, {"assumptions": [1]}),
        *({"void": False}, {"unit": None}, {"unit": 1}, {"adjacency": "swap"}, {"events": {}}, {"events": [1]}),
        *({"events": [[{"type": "GDP", "mu": "1"}, 1]]}, {"events": [[{"type": ["GDP"]}, 1]]}),
        *({"events": [[{"type": "GDP", "mu": 1.0, "nu": 1}, 1]]}, {"events": [[{"type": "GDP", "mu": 1.0}, -1]]}),
        *({"events": [[{"type": "GDP", "mu": math.nan}, 1]]}, {"events": [[{"type": "GDP", "mu": 1.0}, True]]}),
    ],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_field_of_another_type_is_refused_when_the_file_is_loaded(post, name, value, tmp_path):
    saved = json.loads(description(post))
    saved[name] = saved[name] | value if name == "guarantee" else value
    np.savez(tmp_path / "post.npz", **post.draws, pydpmc_json=np.array(json.dumps(saved)))
    with pytest.raises(InvalidArgument, match="is not a posterior that pydpmc saved"):
        dp.Posterior.load(tmp_path / "post.npz")


@pytest.mark.parametrize("name", ["run.ckpt", "run.ckpt.lock", "run.ckpt.unfinished"])
@pytest.mark.parametrize("there", [True, False])
def test_a_planted_symlink_is_not_followed(plan, data, name, there, tmp_path):
    victim = tmp_path / "victim"
    if there:
        victim.write_text("precious")
    (tmp_path / name).symlink_to(victim)
    if name == "run.ckpt.unfinished" or (name == "run.ckpt" and not there):  # the link itself is replaced
        plan.run(data, checkpoint=tmp_path / "run.ckpt", progress=False)
        assert not (tmp_path / "run.ckpt").is_symlink()
    else:
        with pytest.raises(CheckpointError, match="symbolic link, which is not followed"):
            plan.run(data, checkpoint=tmp_path / "run.ckpt", progress=False)
    assert victim.exists() == there
    assert not there or victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["run.ckpt", "run.ckpt.lock"])
def test_a_planted_fifo_does_not_hang_the_run(plan, data, name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(CheckpointError, match="not a regular file"):
        plan.run(data, checkpoint=tmp_path / "run.ckpt", progress=False)


def forged(path, header, arrays):
    """Write a checkpoint whose hash fits, whatever is in it."""
    import hashlib

    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = b"".join([checkpoint_file.MAGIC, len(text).to_bytes(8, "big"), text, *(a.tobytes() for a in arrays)])
    path.write_bytes(body + hashlib.sha256(body).digest())


FORGED = [{"steps_done": "3"}, {"steps_done": -1}, {"sizes": [1]}, {"sizes": [2**70, 1]}, {"sizes": None}, {"run": []}]
FORGED += [{"resumed": True}, {"resumed": None}, {"charged": 1}, {"ticket": 7}, {"token": 7}, {"table": []}]


@pytest.mark.parametrize("change", FORGED, ids=repr)
def test_a_checkpoint_with_fields_of_other_types_is_refused(plan, data, change, tmp_path):
    path = tmp_path / "run.ckpt"
    plan.run(data, checkpoint=path, progress=False)
    header, arrays = checkpoint_file.read(path)
    forged(path, header, arrays)
    checkpoint_file.read(path)
    forged(path, header | change, arrays)
    with pytest.raises(CheckpointError, match="damaged"):
        plan.run(data, checkpoint=path, progress=False)
    for text in (b"[" * 20_000, b"\xff", b"[]", b"3"):
        forged(path, text, arrays)
        with pytest.raises(CheckpointError, match="damaged"):
            plan.run(data, checkpoint=path, progress=False)


NESTED = ["a = " + "[" * 10**5, "a = " + "[" * 400 + "]" * 400, "a" + ".a" * 5000 + " = 1", "[a" + ".a" * 300 + "]"]
NESTED += ["a = " + "{a=" * 10**4, 'x = {y = "' + "[" * 10**5]


@pytest.mark.parametrize("text", NESTED, ids=range(len(NESTED)))
def test_deeply_nested_toml_gets_a_typed_error(text, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(StudyError, match=r"TOML|nested"):
        dp.Schema.from_toml(path)


def test_a_huge_study_file_is_not_read(tmp_path):
    with (tmp_path / "study.toml").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(StudyError, match="more than any study needs"):
        dp.Schema.from_toml(tmp_path / "study.toml")


def test_data_is_not_pickled_and_a_copy_of_it_is_itself(data):
    import copy
    import pickle

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(WrongType, match="cannot be pickled"):
            pickle.dumps(data, protocol)
    assert copy.copy(data) is copy.deepcopy(data) is data
    assert not data._rows.flags.writeable
