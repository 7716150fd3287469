"""The kernels of every instruction set give the same bits, those of AVX-512 on an emulated machine if need be."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1]
CASES = 290  # lines that an instruction set prints
ARM, QEMU = "aarch64-linux-gnu-g++", "qemu-aarch64-static"  # g++-aarch64-linux-gnu and qemu-user-static of Debian

spec = importlib.util.spec_from_file_location("emulator", HERE / "emulator.py")
emulator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(emulator)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if shutil.which("cmake") is None or shutil.which("g++") is None:
        pytest.skip("cmake or g++ is not here to compile the kernels once more")
    pybind11 = pytest.importorskip("pybind11", reason="pybind11 is not here to configure the build")
    build = tmp_path_factory.mktemp("digests")
    options = ["-DPYDPMC_DIGESTS=ON", "-DCMAKE_BUILD_TYPE=Release", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    options += [f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", SOURCE, "-B", build, *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", build, "--target", "kernel_digests"], check=True, capture_output=True)
    return build / "kernel_digests"


def digests(lines):
    """Return {isa: {kernel: hash}}."""
    found = {}
    for isa, kernel, value in (line.split() for line in lines if line.count(" ") == 2 and "[" not in line):
        found.setdefault(isa, {})[kernel] = value
    return found


def assert_all_alike(found):
    reference = found["baseline"]
    assert len(reference) == CASES
    for isa, values in found.items():
        assert {kernel for kernel in reference if values.get(kernel) != reference[kernel]} == set(), isa


@pytest.mark.slow
def test_instruction_sets_of_this_cpu_agree(program):
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[-1] == "end"
    assert_all_alike(digests(lines))


@pytest.mark.slow
def test_avx512_agrees_on_an_emulated_machine(program, tmp_path):
    reason = emulator.missing()
    if reason is not None:
        pytest.skip(reason)
    lines = emulator.lines_printed(program, tmp_path, seconds=3000.0)
    assert lines[-1] == "end"
    found = digests(lines)
    assert set(found) == {"baseline", "avx2", "avx512"}
    assert_all_alike(found)


@pytest.fixture(scope="module")
def arm_program(tmp_path_factory):
    """The same kernels by a cross compiler, whose vector extensions become NEON."""
    absent = [name for name in (ARM, QEMU) if shutil.which(name) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed: no process of aarch64 can be emulated")
    folder = tmp_path_factory.mktemp("arm")
    options = ["-O3", "-std=c++20", "-ffp-contract=off", "-fno-math-errno", "-w", "-Icsrc", "-Ipydpmc/include"]
    options += ["-DPYDPMC_HAVE_baseline", "-DPYDPMC_ISA=baseline"]
    sources = ["tests/emulated/kernel_digests.cpp", "csrc/random/noise/rounded_normal_table.cpp"]
    sources += [f"csrc/isa/{name}.cpp" for name in ("dispatch", "look_dispatch", "measure")]
    sources += sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / "csrc" / "kernels").glob("*.cpp"))
    objects = [str(folder / f"{Path(source).stem}.o") for source in sources]
    for source, to in zip(sources, objects, strict=True):
        subprocess.run([ARM, *options, "-c", source, "-o", to], cwd=SOURCE, check=True)
    subprocess.run([ARM, "-static", *objects, "-o", folder / "digests"], check=True)
    return folder / "digests"


@pytest.mark.slow
def test_neon_agrees_in_an_emulated_process(program, arm_program):
    here = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    there = subprocess.run([QEMU, arm_program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert there[-1] == "end"
    assert_all_alike({"baseline": digests(here)["baseline"], "aarch64": digests(there)["baseline"]})
