"""A program as the only one of a machine with AVX-512 that Bochs emulates: it prints to the serial port.

On Debian: apt-get install bochs bochs-term bochsbios vgabios grub-pc-bin grub-common xorriso mtools cpio, and a kernel
(linux-image-cloud-amd64).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

NEEDED = ("bochs", "grub-mkrescue", "xorriso", "mformat", "cpio")
CONFIGURATION = """\
megs: 512
cpu: model=corei7_skylake_x, ips=100000000
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=disk.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=serial.txt
display_library: rfb, options="timeout=0"
clock: sync=none, time0=1000000000
log: bochs.log
"""
# Without compacted states: Linux finds those of Bochs inconsistent and would do without AVX.
BOOT = "console=ttyS0 quiet mitigations=off nopku clearcpuid=xsavec,xsaves"
MENU = f"""\
set timeout=0
menuentry t {{ linux /boot/vmlinuz {BOOT} ; initrd /boot/initrd }}
"""


def missing() -> str | None:
    """Return why nothing can be emulated here, or None."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        return f"{', '.join(absent)} not installed: no machine with AVX-512 can be emulated"
    if os.geteuid() != 0:
        return "only root can make the console of an emulated machine"
    if kernel() is None:
        return "no Linux kernel (/boot/vmlinuz*, or PYDPMC_VMLINUZ) for an emulated machine"
    return None


def kernel() -> Path | None:
    """Return the kernel to boot."""
    named = os.environ.get("PYDPMC_VMLINUZ")
    found = [Path(named)] if named else sorted(Path("/boot").glob("vmlinuz*"))
    return found[-1] if found else None


def lines_printed(program: Path, folder: Path, seconds: float) -> list[str]:
    """Boot a machine whose first process is `program`, a static binary that ends with a line "end"."""
    root, disk = folder / "root", folder / "iso"
    (root / "dev").mkdir(parents=True)
    (disk / "boot" / "grub").mkdir(parents=True)
    os.mknod(root / "dev" / "console", 0o20600, os.makedev(5, 1))
    shutil.copy(program, root / "init")
    with (disk / "boot" / "initrd").open("wb") as initrd:
        names = "\n".join([".", "dev", "dev/console", "init"])
        subprocess.run(["cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(), stdout=initrd, check=True)
    shutil.copy(kernel(), disk / "boot" / "vmlinuz")
    (disk / "boot" / "grub" / "grub.cfg").write_text(MENU)
    (folder / "bochsrc").write_text(CONFIGURATION)
    subprocess.run(["grub-mkrescue", "-o", "disk.iso", "iso"], cwd=folder, capture_output=True, check=True)
    return _run(folder, seconds)


def _run(folder: Path, seconds: float) -> list[str]:
    serial = folder / "serial.txt"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(["bochs", "-q", "-f", "bochsrc"], cwd=folder, stdin=subprocess.PIPE, **quiet) as machine:
        assert machine.stdin is not None
        machine.stdin.write(b"c\n")  # its debugger waits for "continue"
        machine.stdin.flush()
        end = time.monotonic() + seconds
        while machine.poll() is None and time.monotonic() < end:
            time.sleep(1.0)
        machine.kill()
    return serial.read_text(errors="replace").splitlines() if serial.exists() else []
