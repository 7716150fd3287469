"""A PostgreSQL server of one's own: a temporary cluster that listens on a unix socket only."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

try:
    import pwd
except ImportError:  # not on Windows
    pwd = None

DATABASE = "budgets"


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest version of Debian's if none is on the path."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    return Path(found).resolve().parent if found else debian[-1].parent if debian else None


def account() -> pwd.struct_passwd | None:
    """Return who may run the server, which refuses root: this user, or the one of Debian's package."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    known = {user.pw_name: user for user in pwd.getpwall()}
    return known.get("postgres") or known.get("nobody")


def absence() -> str | None:
    """Say why no server can be started: the reason of a skip."""
    if pwd is None:
        return "a server on a unix socket needs a POSIX system"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed: pip install 'pydpmc[postgres]'"
    if programs() is None:
        return "there is no PostgreSQL server: apt install postgresql"
    return None if account() is not None else "PostgreSQL does not run as root, and there is no other user to run it"


class Server:
    """A cluster with one database; two users are trusted, all others need a password."""

    def __init__(self) -> None:
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"  # a socket's path has 107 characters at most
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir=memory))
        self._account = account()
        assert self._account is not None
        os.chown(self.folder, self._account.pw_uid, self._account.pw_gid)
        self._process: subprocess.Popen | None = None
        self._call("initdb", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", self._data)
        rules = "local all postgres,analyst trust\nlocal all all scram-sha-256\n"
        (self.folder / "data" / "pg_hba.conf").write_text(rules)
        self.start()
        self.run(f"CREATE DATABASE {DATABASE}", database="postgres")

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _command(self, name: str, *arguments: str) -> dict:
        folder = programs()
        assert folder is not None
        who = {"user": self._account.pw_uid, "group": self._account.pw_gid} if os.geteuid() == 0 else {}
        return {"args": [str(folder / name), *arguments], "cwd": self.folder, **who}

    def _call(self, name: str, *arguments: str) -> None:
        subprocess.run(**self._command(name, *arguments), check=True, capture_output=True)

    def start(self) -> None:
        """Start, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            command = self._command("postgres", "-D", self._data, "-k", str(self.folder), "-c", "listen_addresses=")
            self._process = subprocess.Popen(**command, stdout=log, stderr=log)
        import psycopg

        for _ in range(600):
            try:
                return self.run("SELECT 1", database="postgres")
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.05)
        raise RuntimeError("the server does not answer")

    def run(self, statement: str, database: str = DATABASE) -> list:
        """Run SQL as the owner, and return the rows."""
        import psycopg

        with psycopg.connect(host=str(self.folder), user="postgres", dbname=database, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def kill(self) -> None:
        """Kill the server and all its processes, as a power cut does."""
        assert self._process is not None
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self._process.pid)], capture_output=True, text=True)
        for pid in (self._process.pid, *map(int, listed.stdout.split())):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()

    def remove(self) -> None:
        """Stop, and delete the cluster."""
        self._process.send_signal(signal.SIGQUIT)  # at once: nothing of it is needed any more
        self._process.wait()
        shutil.rmtree(self.folder)

    def set(self, name: str, value: str) -> None:
        """Change a setting of the running server, and wait until it holds."""
        self.run(f"ALTER SYSTEM SET {name} = {value}")
        self.run("SELECT pg_reload_conf()")
        while self.run(f"SHOW {name}") != [(value,)]:
            time.sleep(0.02)

    def fresh(self) -> str:
        """Make a database that has no tables yet, and return its name."""
        name = f"fresh_{time.monotonic_ns()}"
        self.run(f"CREATE DATABASE {name}", database="postgres")
        return name

    def url(self, ledger: str, user: str = "postgres", database: str = DATABASE) -> str:
        """Return the address of a ledger."""
        return f"postgresql://{user}@/{database}?host={self.folder}&ledger={ledger}"
