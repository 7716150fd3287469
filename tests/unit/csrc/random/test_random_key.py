"""Where keys come from: the operating system or nowhere, and never twice after a fork."""

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pydpmc import _core

random = _core.random

WORDS_OF_64_CHAINS = """
import os
import numpy as np
from pydpmc import _core
random = _core.random

def save(name):
    key = random.key_from_os()
    streams = [random.Stream(key, 255, chain, step) for chain in range(64) for step in range(3)]
    words = np.concatenate([s.fill(1024) for s in streams])
    np.save(name, words)
    print(name, random.fork_generation(), key.hex(), flush=True)

save("parent")
for child in ("child0", "child1"):
    pid = os.fork()
    if pid == 0:
        save(child)
        if child == "child1" and os.fork() == 0:
            save("grandchild")
            os._exit(0)
        if child == "child1":
            os.wait()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
assert random.fork_generation() == 0
"""

# Classic BPF: load the system call's number; 318 is getrandom on x86-64; fail it with EPERM, allow the rest.
KEY_WITHOUT_GETRANDOM = """
import ctypes, struct
from pydpmc import _core
random = _core.random
assert len(random.key_from_os()) == 32
instruction = lambda code, jt, jf, k: struct.pack("<HBBI", code, jt, jf, k)
program = b"".join([
    instruction(0x20, 0, 0, 0),
    instruction(0x15, 0, 1, 318),
    instruction(0x06, 0, 0, 0x00050000 | 1),
    instruction(0x06, 0, 0, 0x7FFF0000),
])
buffer = ctypes.create_string_buffer(program, len(program))
filter_ = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(buffer)), 16)
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS"
assert libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(filter_)), 0, 0) == 0, "PR_SET_SECCOMP"
try:
    key = random.key_from_os()
except RuntimeError as error:
    print("refused:", error)
else:
    print("got a key of", len(key), "bytes")
"""


def run_script(script: str, directory: Path) -> str:
    # Not from the source tree: its pydpmc folder would hide the installed package.
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
def test_forked_children_notice_and_share_no_word(tmp_path: Path) -> None:
    rows = [line.split() for line in run_script(WORDS_OF_64_CHAINS, tmp_path).splitlines()]
    generations = {name: int(generation) for name, generation, _ in rows}
    assert generations == {"parent": 0, "child0": 1, "child1": 1, "grandchild": 2}
    assert len({key for _, _, key in rows}) == 4
    words = np.concatenate([np.load(tmp_path / f"{name}.npy") for name in generations])
    # Stronger than no repeated 128-bit window; a chance repetition has probability 2e-8.
    assert len(np.unique(words)) == len(words) == 4 * 64 * 3 * 1024


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the seccomp filter is for Linux on x86-64",
)
def test_without_entropy_there_is_an_error_and_no_key(tmp_path: Path) -> None:
    assert run_script(KEY_WITHOUT_GETRANDOM, tmp_path).startswith("refused: the operating system gave no random bytes")


def test_keys_of_the_operating_system_are_all_different_and_balanced() -> None:
    keys = [random.key_from_os() for _ in range(2000)]
    assert len(set(keys)) == 2000
    ones = sum(int.from_bytes(key, "little").bit_count() for key in keys)
    bits = 2000 * 256
    assert abs(ones - bits / 2) < 6 * np.sqrt(bits / 4)


def test_a_seed_names_one_key() -> None:
    seeds = [0, 1, 2, 2**32, 2**32 + 1, 2**63, 2**64 - 1]
    keys = [random.key_from_seed(seed) for seed in seeds]
    assert len(set(keys)) == len(seeds)
    assert keys == [random.key_from_seed(seed) for seed in seeds]


def test_the_key_of_a_seed_is_a_block_in_its_own_domain() -> None:
    seed = 0x0123456789ABCDEF
    domain = seed.to_bytes(8, "little") + b"pydpmc key from seed".ljust(24, b"\0")
    assert random.key_from_seed(seed) == random.chacha20_block(domain, 0, bytes(12))[:32]


def test_wiping_leaves_zeros() -> None:
    assert random.wiped(bytes(range(1, 33))) == bytes(32)
