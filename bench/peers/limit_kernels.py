"""The limit kernels: the shared ones if they compile (AVX-512), otherwise the portable ones in this folder."""

import ctypes as ct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "helpers"))
from shared_files import shared_path  # noqa: E402

STEP_SIZE, CLIP = 1e-5, 1.0


def find_anchors(given=None):
    folder = Path(given) if given else shared_path("anchors")
    return folder if folder and (folder / "w1.py").exists() and (folder / "limit.cpp").exists() else None


def compiled(source, march="native"):
    target = Path(tempfile.gettempdir()) / f"pydpmc-{source.removesuffix('.cpp')}-{march}-{HERE.stat().st_ino}.so"
    flags = [
        "-O3",
        f"-march={march}",
        "-mprefer-vector-width=512",
        "-ffast-math",
        "-fopenmp-simd",
        "-std=c++20",
        "-w",
        "-shared",
        "-fPIC",
    ]
    subprocess.check_call(["g++", *flags, "-o", str(target), str(HERE / source)])
    return ct.CDLL(str(target))


class AnchorLimit:
    """W2 and W3 by the shared folder's limit kernel."""

    name = "limit kernel of the shared anchors"

    def __init__(self, anchors):
        sys.path.insert(0, str(anchors))
        import common

        self.lib = common.lib()

    def run(self, table, bits, batch, steps, out):
        run = getattr(self.lib, f"sgld{bits}")
        run(table, batch, steps, CLIP, 2 * STEP_SIZE, 1.0, 2, 1, 1, 1, 3, out.ctypes.data)


class PortableLimit:
    """W2 and W3 by portable_limit.cpp."""

    name = "portable limit kernel"

    def __init__(self):
        self.lib = compiled("portable_limit.cpp")
        for bits in ("64", "32"):
            make, drop, run = (getattr(self.lib, f"{verb}{bits}") for verb in ("make", "drop", "sgld"))
            make.restype, make.argtypes = ct.c_void_p, [ct.c_void_p, ct.c_void_p, ct.c_int64, ct.c_int]
            drop.restype, drop.argtypes = None, [ct.c_void_p]
            run.restype = None
            run.argtypes = [ct.c_void_p, ct.c_int, ct.c_int64, ct.c_double, ct.c_double, ct.c_uint64, ct.c_void_p]

    def run(self, table, bits, batch, steps, out):
        getattr(self.lib, f"sgld{bits}")(table, batch, steps, CLIP, STEP_SIZE, 3, out.ctypes.data)


def sgld_limit(anchors):
    if anchors is None:
        print(
            "the shared anchors is not here: its limit kernels are skipped, the portable ones are used", file=sys.stderr
        )
        return PortableLimit()
    if "avx512f" not in Path("/proc/cpuinfo").read_text():
        print("the shared limit kernels need AVX-512, which this CPU lacks: portable ones", file=sys.stderr)
        return PortableLimit()
    return AnchorLimit(anchors)


class BarkerLimit:
    """W1, the bandwidth of a sequential read, and normals, by portable_barker.cpp."""

    def __init__(self):
        self.lib = compiled("portable_barker.cpp")
        self.lib.w1.restype = None
        self.lib.w1.argtypes = [ct.c_void_p, ct.c_int64, ct.c_int, ct.c_int64, *3 * [ct.c_double]]
        self.lib.w1.argtypes += [ct.c_uint64, ct.c_void_p]
        self.lib.normal_fill.restype = None
        self.lib.normal_fill.argtypes = [ct.c_void_p, ct.c_int64, ct.c_uint64]
        self.lib.normal_refill.restype = None
        self.lib.normal_refill.argtypes = [ct.c_void_p, ct.c_int64, ct.c_int64, ct.c_uint64]
        self.lib.stream.restype, self.lib.stream.argtypes = ct.c_double, [ct.c_int64, ct.c_int, ct.c_int]

    def bandwidth(self, size, threads):
        """Return the best bytes per second of a sequential read of so many bytes."""
        return size / self.lib.stream(size, threads, 7)
