"""A .nc file: ArviZ opens it, parameters and labels in their order; a damaged one never reaches the HDF5 library."""

import builtins
import hashlib
import importlib.util

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument
from pydpmc.posterior import netcdf4

for package in ("h5netcdf", "h5py"):
    pytest.importorskip(package, reason=f"{package} is not installed (extra pydpmc[arviz])")


@pytest.fixture
def post(rng):
    columns = ["zeta", "alpha", "größe"]
    data = dp.Data(rng.normal(size=(80, 3)), rng.normal(size=80), row_norm=1.0, y_bounds=(-1, 1), columns=columns)
    model = dp.LinearRegression(intercept=True)
    return dp.plan(model, data.public, dp.Barker(steps=60, scale=0.1), chains=2).run(data, progress=False)


def test_arviz_opens_what_was_saved_in_its_order(post, tmp_path):
    az = pytest.importorskip("arviz", reason="arviz is not installed (extra pydpmc[arviz])")
    post.save(tmp_path / "post.nc")
    tree = az.from_netcdf(tmp_path / "post.nc")
    group = tree["posterior"]
    assert list(group.data_vars) == ["intercept", "beta", "sigma"]
    assert list(group["beta"].coords["beta_dim"].values) == ["zeta", "alpha", "größe"]
    np.testing.assert_array_equal(group["beta"].values, post.draws["beta"])
    np.testing.assert_array_equal(group["sigma"].values, post.draws["sigma"][:, :, 0])
    assert group.attrs["guarantee_statement"] == post.guarantee.statement(1e-6)
    assert group.attrs["verdict"] == str(post.verdict)


def test_what_is_loaded_is_what_was_saved(post, tmp_path):
    post.save(tmp_path / "post.nc")
    again = dp.Posterior.load(tmp_path / "post.nc")
    assert list(again.draws) == list(post.draws) == ["intercept", "beta", "sigma"]
    for name, values in post.draws.items():
        np.testing.assert_array_equal(again.draws[name], values)
    assert (again.labels, again.guarantee, again.plan) == (post.labels, post.guarantee, post.plan)


def test_no_damaged_file_reaches_the_parser(post, tmp_path, monkeypatch, rng):
    path = tmp_path / "post.nc"
    post.save(path)
    whole = path.read_bytes()
    monkeypatch.setattr(netcdf4, "require", lambda *_: pytest.fail("the HDF5 library was asked for"))
    places = [8, len(whole) // 2, len(whole) - 1, *rng.integers(8, len(whole), 40)]
    for damaged in [*(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in places), whole[:-1], whole[:40]]:
        path.write_bytes(damaged)
        with pytest.raises(InvalidArgument, match="damaged"):
            dp.Posterior.load(path)


def test_a_forged_size_is_refused_before_it_is_allocated(post, tmp_path):
    import io

    import h5py

    post.save(tmp_path / "post.nc")
    content = io.BytesIO((tmp_path / "post.nc").read_bytes().rpartition(b"\npydpmc sha256 ")[0])
    with h5py.File(content, "r+") as file:
        del file["posterior/sigma"]
        file["posterior"].create_dataset("sigma", shape=(2, 2**40, 1), dtype="f8", chunks=(1, 1024, 1))
    plain = content.getvalue()
    forged = tmp_path / "forged.nc"
    forged.write_bytes(plain + b"\npydpmc sha256 " + hashlib.sha256(plain).hexdigest().encode())
    with pytest.raises(InvalidArgument, match="damaged"):
        dp.Posterior.load(forged)


@pytest.mark.parametrize("missing", ["h5netcdf", "h5py"])
def test_without_one_of_its_packages_the_file_is_netcdf_3_and_loads(post, tmp_path, monkeypatch, missing):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    path = tmp_path / "post.nc"
    post.save(path)
    assert path.read_bytes().startswith(b"CDF")
    assert dp.Posterior.load(path).guarantee == post.guarantee


def test_the_extra_is_named_where_it_is_missing(post, tmp_path, monkeypatch):
    post.save(tmp_path / "post.nc")
    kept = builtins.__import__

    def without(name, *rest, **options):
        if name == "h5py":
            raise ImportError(name)
        return kept(name, *rest, **options)

    monkeypatch.setattr("importlib.import_module", lambda name: without(name))
    with pytest.raises(dp.errors.MissingExtraError, match=r"pydpmc\[arviz\]"):
        dp.Posterior.load(tmp_path / "post.nc")
