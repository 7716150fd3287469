"""What became of each mutant, kept beside its list: a run can go on where it stopped, and its table can be read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from pathlib import Path
from typing import Any

from mutants import HERE, ROOT, Mutant

KILLED, PASSED, BROKEN, EQUIVALENT = "killed", "survived", "broken", "equivalent"
Entry = dict[str, Any]


class Results:
    """The outcomes of the mutants of a list by id, written after every one to ``python.json`` or ``cpp.json``."""

    def __init__(self, name: str, folder: Path = HERE) -> None:
        self.file = folder / f"{name}.json"
        known = self.file.read_text(encoding="utf-8") if self.file.exists() else "{}"
        self.entries: dict[str, Entry] = json.loads(known)
        self.commit = _commit()
        self._lock = threading.Lock()

    def add(self, mutant: Mutant, outcome: str, by: str, seconds: float) -> None:
        """Keep an outcome, with the commit on which it was seen."""
        entry = {"outcome": outcome, "by": by, "seconds": round(seconds), "commit": self.commit}
        with self._lock:
            self.entries[mutant.id] = entry | {"state": state(mutant)}
            lines = [f"  {json.dumps(name)}: {json.dumps(kept)}" for name, kept in sorted(self.entries.items())]
            self.file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def holds(self, mutant: Mutant) -> bool:
        """Whether the mutant was dead when its entry, its file and its tests were what they are now."""
        kept = self.entries.get(mutant.id, {})
        return kept.get("outcome") in (KILLED, EQUIVALENT) and kept.get("state") == state(mutant)

    def table(self, listed: list[Mutant]) -> str:
        """Return a line for each mutant of a list, and a count."""
        lines, counts = [], dict.fromkeys((KILLED, EQUIVALENT, PASSED, BROKEN, "not run"), 0)
        for mutant in listed:
            kept = self.entries.get(mutant.id, {"outcome": "not run", "by": "", "commit": ""})
            changed = "" if kept["outcome"] == "not run" or kept["state"] == state(mutant) else " (changed since)"
            counts[kept["outcome"]] += 1
            lines.append(
                f"{mutant.id} {kept['outcome']:10} {kept['commit']:10} {mutant.breaks}{changed}  [{kept['by']}]"
            )
        return "\n".join([*lines, ", ".join(f"{count} {name}" for name, count in counts.items() if count)])


def state(mutant: Mutant) -> str:
    """Return a hash of a mutant's entry, of the file that it breaks and of the tests that must kill it."""
    seen = hashlib.sha256(repr(mutant).encode())
    for name in (mutant.file, *(test.split("::")[0] for test in mutant.killed_by)):
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            seen.update(file.read_bytes())
    return seen.hexdigest()[:16]


def _commit() -> str:
    """Return the short name of the commit; with a + if the tree differs from it."""
    asked = [["git", "rev-parse", "--short", "HEAD"], ["git", "status", "--porcelain", "--", "pydpmc", "csrc", "tests"]]
    name, changes = (subprocess.run(c, cwd=ROOT, capture_output=True, text=True, check=False).stdout for c in asked)
    return name.strip() + ("+" if changes.strip() else "")
