"""The house has floors: imports point down, optional packages stay out, private names stay in one place."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import boxwood

SOURCE = Path(boxwood.__file__).parent
FLOORS = (  # from the ground up; modules on one line may import each other
    ("errors", "_extras", "_lazy", "_messages", "_types", "_warnings"),
    ("_threads", "loops"),
    ("_files", "_validation", "tree"),
    ("_compat", "_frames"),
    ("kernels",),
    ("axes",),
    ("reference", "passes"),
    ("clusterers",),
    ("grow", "metrics"),
    ("theory",),
    ("table",),
    ("explanation", "render"),
    ("concepts",),
    ("estimators",),
    ("cli",),
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
PLACES = {name: module for module, names in boxwood._MODULES.items() for name in names}
OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "jinja2", "torch", "sqlglot", "onnx", "onnxruntime")
OPTIONAL += ("pyspark", "dask", "distributed", "cloudpickle")
GROUND = {"numpy", "numba", "boxwood"}  # all that trees, loops and growth need
MODULES = sorted(SOURCE.rglob("*.py"))


def imported(path, *, everywhere):
    """Yield the absolute names that a file imports, at the top or everywhere; type checking does not count."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor_of(path):
    return FLOOR[path.relative_to(SOURCE).parts[0].removesuffix(".py")]


INNER = [path for path in MODULES if path.parent != SOURCE or path.name not in ("__init__.py", "__main__.py")]


def test_imports_point_down():
    upward = [
        f"{path.relative_to(SOURCE)} imports {target}, which lies above it"
        for path in INNER
        for node in nodes(path)
        for target in targets(node)
        if FLOOR[target] > floor_of(path)
    ]
    assert upward == []


def nodes(path):
    """Yield the nodes of a file that count when it runs: those for type checkers do not."""
    tree = ast.parse(path.read_text())
    guarded = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    skipped = {node for block in guarded for node in ast.walk(block)}
    return (node for node in ast.walk(tree) if node not in skipped)


def targets(node):
    """Yield the part of the house that each import of boxwood names, also by way of its public names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module == "boxwood":
        names = [f"boxwood.{PLACES.get(alias.name, alias.name)}" for alias in node.names]
    else:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    yield from (name.split(".")[1] for name in names if name.startswith("boxwood.") and name != "boxwood.__version__")


def test_private_names_of_scikit_learn_stay_in_compat():
    private = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in INNER
        if path.name != "_compat.py"
        for name in imported(path, everywhere=True)
        if name.startswith("sklearn") and "._" in name
    ]
    assert private == []


@pytest.mark.parametrize("folder", ["tree", "loops", "grow"])
def test_growth_needs_numpy_and_numba_alone(folder):
    standard = sys.stdlib_module_names
    for path in (SOURCE / folder).rglob("*.py"):
        for name in imported(path, everywhere=False):
            top = name.split(".")[0]
            assert top in GROUND or top in standard, f"{path.name} imports {name}"


def test_a_file_of_loops_calls_only_its_own_functions():
    for path in (SOURCE / "loops").glob("[!_]*.py"):
        for name in imported(path, everywhere=True):
            own = not name.startswith("boxwood.") or name.startswith(("boxwood.loops._jit.", "boxwood._types."))
            assert own, f"{path.name} imports {name}"


def loaded_after(program):
    command = [sys.executable, "-c", f"import sys; {program}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_nothing_heavy():
    loaded = loaded_after("import boxwood")
    assert not loaded & {*OPTIONAL, "numba", "sklearn", "scipy", "duckdb", "click"}


def test_no_public_name_loads_an_optional_package():
    theirs = loaded_after("import sklearn.cluster, sklearn.tree, duckdb, numba")
    loaded = loaded_after("import boxwood as bw; [getattr(bw, name) for name in bw.__all__]")
    assert "numba" in loaded
    assert not (loaded - theirs) & {*OPTIONAL}


def test_every_public_name_is_there():
    assert all(getattr(boxwood, name) is not None for name in boxwood.__all__)
    assert set(boxwood.__all__) <= set(dir(boxwood))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        boxwood.nonsense  # noqa: B018
