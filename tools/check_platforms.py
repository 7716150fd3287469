"""Check with clang that the C++ of other platforms compiles: ``python tools/check_platforms.py``.

Every source outside ``csrc/bind/`` (which needs that platform's Python) goes through clang's parser and type checker,
warnings as errors, for each target whose headers are here. Nothing is linked or run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wno-psabi", "-Wno-unknown-pragmas", "-Werror")
KERNELS = {
    "baseline": (),
    "avx2": ("-mavx2",),
    "avx512": ("-mavx512f", "-mavx512dq", "-mavx512vl"),
}
# Options, the packages of Debian that bring the headers, and a header to look for.
TARGETS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "Linux x86-64": ((), "g++", "/usr/include/c++"),
    "Linux aarch64": (
        ("--target=aarch64-linux-gnu",),
        "libstdc++-12-dev-arm64-cross libc6-dev-arm64-cross",
        "/usr/aarch64-linux-gnu/include/c++",
    ),
    "Windows x86-64 (headers of MinGW)": (
        ("--target=x86_64-w64-mingw32", "-D_WIN32_WINNT=0x0A00"),
        "g++-mingw-w64-x86-64-posix",
        "/usr/x86_64-w64-mingw32/include/bcrypt.h",
    ),
    "neither Linux nor Windows (the branch of macOS, headers of Linux)": (("-U__linux__",), "g++", "/usr/include/c++"),
}


def mingw_headers() -> tuple[str, ...]:
    """Return where Debian keeps the C++ headers of MinGW, which clang does not know."""
    folders = sorted(Path("/usr/lib/gcc/x86_64-w64-mingw32").glob("*-posix/include/c++"))
    return tuple(f"-isystem{path}" for folder in folders[-1:] for path in (folder, folder / "x86_64-w64-mingw32"))


def calls(target: str, options: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the options of clang for every source, the kernels once for each instruction set."""
    if "-U__linux__" in options:  # glibc's own headers need it elsewhere
        return [(*options, f"csrc/random/{name}.cpp") for name in ("os_entropy", "fork_generation", "key")]
    if "Windows" in target:
        options += mingw_headers()
    sources = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "csrc").rglob("*.cpp"))
    found = [(*options, name) for name in sources if not name.startswith(("csrc/bind/", "csrc/kernels/"))]
    sets = KERNELS if "x86-64" in target else {"baseline": ()}
    for isa, flags in sets.items():
        for name in sources:
            if name.startswith("csrc/kernels/"):
                found.append((*options, f"-DPYDPMC_ISA={isa}", *flags, name))
    return found


def main() -> int:
    """Check every target; return 1 if a source does not compile."""
    clang = shutil.which("clang++")
    if clang is None:
        print("there is no clang++: nothing is checked. apt install clang")
        return 0
    failed = 0
    for target, (options, packages, header) in TARGETS.items():
        if not Path(header).exists():
            print(f"{target}: not checked, its headers are missing: apt install {packages}")
            continue
        checks = calls(target, options)
        for arguments in checks:
            command = (clang, "-fsyntax-only", "-std=c++20", "-Icsrc", "-Ipydpmc/include", *WARNINGS, *arguments)
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                failed += 1
                print(f"{target}: {arguments[-1]} does not compile\n{done.stderr}")
        print(f"{target}: {len(checks)} compilations checked", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
