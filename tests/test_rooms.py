"""A room imports only rooms above it, and function-level imports are for optional packages only."""

import ast
import subprocess
import sys
from pathlib import Path

import pydpmc

PACKAGE = Path(pydpmc.__file__).parent
FLOOR = {"errors", "checks", "rounding", "diagnostics", "_files", "_optional", "_version", "_core"}
ROOMS = ("accounting", "data", "models", "nn", "posterior", "samplers", "planning", "ledger", "running", "quantiles")
ROOMS += ("sklearn", "cli", "")  # the last is pydpmc/__init__.py itself
MOST_ENTRIES = 22
MOST_MODULES_OF_A_RUN = 35

# Everything is imported first and caches are empty, so that neither an import nor an earlier test changes the count.
# A method that a dataclass generates counts too: its globals name its module.
ENTERED_BY_A_RUN = """
import contextlib, importlib, pkgutil, sys, threading
import numpy as np
import pydpmc as dp

for module in pkgutil.walk_packages(dp.__path__, "pydpmc."):
    if not module.name.endswith("__main__"):
        with contextlib.suppress(ImportError):  # an optional package is absent
            importlib.import_module(module.name)
rng = np.random.default_rng(5)
data = dp.Data(rng.normal(size=(300, 2)), rng.integers(0, 2, 300), row_norm=1.0)
entered = set()

def note(frame, event, argument):
    if event == "call":
        entered.add(str(frame.f_globals.get("__name__")))

threading.setprofile(note)
sys.setprofile(note)
dp.sample(dp.LogisticRegression(), data, dp.SGLD(), epsilon=3.0, delta=1e-6, anyway=True)
sys.setprofile(None)
threading.setprofile(None)
print(*sorted(name for name in entered if name.startswith("pydpmc.")), sep="\\n")
"""

# A function-level import of our own is allowed for three reasons, and each place is named here.
STARTS_FASTER = {  # plots, reports, ArviZ and the shell's commands are imported when they are used
    "posterior.posterior", "posterior.of_predictions", "posterior.plots",
    "posterior.report.page", "accounting.guarantee",
    "cli.completion", "cli.cost", "cli.demo", "cli.explore", "cli.init", "cli.ledger", "cli.plan", "cli.rehearse",
    "cli.report", "cli.run", "planning.comparison",
}  # fmt: skip
NAMES_EACH_OTHER = {  # a spec completes itself, an event is amplified into another, a registry lists its room
    "accounting.events.gaussian", "data.large_tables", "data.packed.reading", "data.schema.schema", "models.spec",
    "planning.plan", "posterior.inference", "samplers.barker.settings", "samplers.barker.spec",
    "samplers.conjugate.spec", "samplers.gradient.base", "samplers.gradient.published",
    "samplers.gradient.settings", "samplers.gradient.sgld", "samplers.hybrid.spec", "samplers.langevin.settings",
    "samplers.langevin.spec", "samplers.newton.settings", "samplers.newton.spec", "samplers.nuts.spec",
    "samplers.posterior_sample.settings", "samplers.posterior_sample.spec",
}  # fmt: skip


def module_name(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(name):
    """Yield (imported module, whether inside a function) for each of our own that a module imports."""
    path = MODULES[name]
    tree = ast.parse(path.read_text())
    inner = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
    }
    here = name.split(".") if name else []
    if path.name != "__init__.py":
        here = here[:-1]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = here[: len(here) - node.level + 1] + (node.module.split(".") if node.module else [])
        for alias in node.names:
            full = ".".join([*base, alias.name])
            yield full if full in MODULES or full == "_core" else ".".join(base), node in inner


def room(name):
    return name.split(".")[0]


def test_every_module_stands_in_a_room_or_on_the_floor():
    assert {room(name) for name in MODULES} - set(ROOMS) - FLOOR == {"__main__"}
    assert set(ROOMS) - {room(name) for name in MODULES} == set()


def test_the_package_lists_few_entries():
    entries = [path.name for path in PACKAGE.iterdir() if path.suffix not in (".so", ".pyd") and path.name[:2] != "__"]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


def test_a_room_imports_only_rooms_above_it():
    order = {name: place for place, name in enumerate(ROOMS)} | dict.fromkeys(FLOOR, -1)
    upward = [
        f"{name} imports {imported}"
        for name in MODULES
        if name != "__main__"
        for imported, _ in imports(name)
        if order[room(imported)] > order[room(name)] and room(imported) not in FLOOR
    ]
    assert upward == []


def test_function_level_imports_are_the_listed_ones():
    inside = {name for name in MODULES for _, inner in imports(name) if inner}
    assert inside - STARTS_FASTER - NAMES_EACH_OTHER == set(), "import it at the top, or cut the cycle"
    assert (STARTS_FASTER | NAMES_EACH_OTHER) - inside == set(), "no longer needed: strike it off the list"


def test_unit_tests_stand_in_the_rooms_they_test():
    tests = Path(__file__).parent / "unit"
    core = Path(__file__).parents[1] / "csrc"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}
    strangers = [
        str(folder)
        for folder in folders
        if not (PACKAGE / folder).is_dir() and not (folder.parts[0] == "csrc" and (core.parent / folder).is_dir())
    ]
    assert strangers == []
    assert {str(folder.parts[0]) for folder in folders} >= set(ROOMS) - {""}


def test_sample_with_sgld_passes_through_few_modules():
    run = subprocess.run([sys.executable, "-c", ENTERED_BY_A_RUN], capture_output=True, text=True, check=True, cwd="/")
    entered = run.stdout.split()
    assert {"pydpmc.planning.plan", "pydpmc.running.run", "pydpmc.samplers.gradient.settings"} <= set(entered)
    assert len(entered) <= MOST_MODULES_OF_A_RUN, entered
