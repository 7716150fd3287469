"""Copies of the tree that mutants live in: no mutant is ever written into the tree itself."""

from __future__ import annotations

import filecmp
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from mutants import ROOT, Mutant

SWITCH = """#pragma once
#include <cstdlib>
inline int chosen_mutant() {
  const char* number = std::getenv("PYDPMC_MUTANT");
  return number ? std::atoi(number) : 0;
}
inline const int pydpmc_mutant = chosen_mutant();
"""


def copy_tree(to: Path) -> Path:
    """Copy all files that git knows or would add; a file that has not changed keeps its time, for the build."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        source, target = ROOT / name, to / name
        if not source.is_file() or (target.exists() and filecmp.cmp(source, target, shallow=False)):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return to


def copy_core(to: Path) -> None:
    """Put the compiled core of the tree, or else of the installed package, beside the copied sources."""
    found = [*(ROOT / "pydpmc").glob("_core*.so")]
    if not found:
        package = importlib.util.find_spec("pydpmc")
        places = package.submodule_search_locations if package else None
        found = [path for place in places or () for path in Path(place).glob("_core*.so")]
    if not found:
        raise SystemExit("no compiled core was found: build or install pydpmc first")
    shutil.copy2(found[0], to / "pydpmc")


def write_if_changed(path: Path, text: str) -> None:
    """Leave the time of a file alone that holds this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def put_all_in(listed: list[Mutant], tree: Path) -> None:
    """Write all C++ mutants into the tree, each behind its number."""
    write_if_changed(tree / "csrc/mutant.hpp", SWITCH)
    for file in sorted({mutant.file for mutant in listed}):
        text = (ROOT / file).read_text(encoding="utf-8")
        for mutant in (one for one in listed if one.file == file):
            text = mutant.applied(text).replace("MUTANT", f"(pydpmc_mutant == {mutant.number})")
        write_if_changed(tree / file, with_switch(text))


def with_switch(text: str) -> str:
    """Include the switch: after the guard of a header, or before all else."""
    include = '#include "mutant.hpp"\n'
    guard = "#pragma once\n"
    return text.replace(guard, guard + include, 1) if guard in text else include + text


def build(tree: Path, where: Path, *options: str) -> None:
    """Compile the core of a tree, and put it beside its Python sources."""
    import pybind11

    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configure = ["cmake", "-S", str(tree), "-B", str(where), *generator, f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", "-DPYDPMC_BASELINE_ONLY=ON", *options]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(where)], check=True)
    for made in where.glob("_core*.so"):
        shutil.copy2(made, tree / "pydpmc")
