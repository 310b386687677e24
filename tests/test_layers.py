"""The house has floors: imports point down, optional packages stay out, private names stay in one place."""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import boxwood

SOURCE = Path(boxwood.__file__).parent
FLOORS = (  # from the ground up, by the longest name that fits; modules on one line may import each other
    ("errors", "_ages", "_dates", "_imports", "_messages", "_texts", "_types", "_version"),
    ("_threads", "loops"),
    ("_files", "_validation", "tree"),
    ("_progress",),
    ("_compat", "_frames"),
    ("kernels",),
    ("axes",),
    ("batches",),
    ("reference",),
    ("metrics",),
    ("clusterers",),
    ("grow",),
    ("grow.shared",),
    ("grow.centers",),
    ("grow.leaves",),
    ("grow.refinement",),
    ("grow.exact",),
    ("grow.kernel",),
    ("theory",),
    ("table",),
    ("columns",),
    ("words",),
    ("render.pictures.swatches",),
    (  # results of verbs print themselves
        *("explanation.claim", "explanation.records", "explanation.verdict"),
        *("render.page.results", "render.page._template", "render.page._compiled"),
    ),
    ("explanation", "render.page.contrast"),
    ("render.forms",),
    ("render.pictures",),
    ("render.page",),
    ("render.notebook",),
    ("render",),
    ("judge",),
    ("api",),
    ("concepts",),
    ("estimators",),
    ("cli",),
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "jinja2", "torch", "sqlglot", "onnx", "onnxruntime")
OPTIONAL += ("pyspark", "dask", "distributed", "cloudpickle", "anywidget")
LARGEST_CIRCLE = 5  # files that import one another, types included: results of verbs, and the files that print them
PARTICIPLES = 93  # functions named by a participle alone; fewer is better
IRREGULAR = (
    "built cut drawn found given gone grown held kept known left lost made meant met put read said seen sent set"
)
IRREGULAR += " shown split taken thought told written"
VERBS = {"cut", "put", "read", "set", "split"}  # alike in both forms
ALIKE = {"add_potentials", "nearest"}  # the same of numbers and of columns with categories or missing values
ALIKE |= {"command", "main"}
TABLES = {"grow/_methods.py", "render/forms/exporters.py", "cli/_verbs.py"}  # METHODS, EXPORTERS, commands
GROUND = {"numpy", "numba", "boxwood"}  # all that trees, loops and growth need
MODULES = sorted(SOURCE.rglob("*.py"))


@cache
def parsed(path):
    return ast.parse(path.read_text())


@cache
def imports_in(path):
    """Return the nodes of a file that import, at the top or inside of functions."""
    return [node for node in ast.walk(parsed(path)) if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported(path, *, everywhere):
    """Yield the absolute names that a file imports, at the top or everywhere; type checking does not count."""
    for node in imports_in(path) if everywhere else parsed(path).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def named(path):
    """Return the dotted name of a file, without that of boxwood."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMED = {named(path): path for path in MODULES}
INNER = [path for path in MODULES if path.parent != SOURCE or path.name not in ("__init__.py", "__main__.py")]


def given_by(path):
    """Yield the public names of a package, with the module that each is imported from."""
    for node in imports_in(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boxwood"):
            yield from (
                (alias.asname or alias.name, node.module.removeprefix("boxwood").strip(".")) for alias in node.names
            )


GIVEN = {named(path): dict(given_by(path)) for path in MODULES if path.name == "__init__.py"}


def floor_of(name):
    parts = name.split(".")
    return next(FLOOR[part] for n in range(len(parts), 0, -1) if (part := ".".join(parts[:n])) in FLOOR)


def test_functions_are_verbs():
    """A participle alone names nothing; a property may be one, as it says what its object is."""
    told = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef)
        if is_participle(node.name.strip("_"))
        if not any("property" in ast.unparse(mark) for mark in node.decorator_list)
    ]
    assert len(told) <= PARTICIPLES, "\n".join(told)


def test_a_name_means_one_thing():
    """A search finds one function by its name, unless two do the same."""
    files = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                files.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in files.items() if len(found) > 1 and name not in ALIKE} == {}


def is_participle(name):
    """Return whether a name is one word in the form of a participle."""
    is_regular = name.endswith("ed") and not name.endswith("eed") and "_" not in name
    return is_regular or name in {*IRREGULAR.split()} - VERBS


def test_participles_are_found():
    assert all(map(is_participle, ("measured", "grown")))
    assert not any(map(is_participle, ("read", "read_sql", "seed")))


def test_imports_point_down():
    upward = [
        f"{path.relative_to(SOURCE)} imports {target}, which lies above it"
        for path in INNER
        if path.name != "__init__.py"
        for node in imports_that_run(path)
        for target in targets(node)
        if floor_of(target) > floor_of(named(path))
    ]
    assert upward == []


def test_no_circle_of_imports_grows():
    for arcs in (imports_of_all(), imports_as_written()):
        circles = sorted(circles_in(arcs), key=len)
        assert len(circles[-1]) <= LARGEST_CIRCLE, sorted(circles[-1])


def test_circles_are_found():
    arcs = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"c", "f"}, "f": set()}
    assert {frozenset(circle) for circle in circles_in(arcs)} == {frozenset("bcde"), frozenset("a"), frozenset("f")}


def imports_of_all():
    """Return the modules that each module imports: for types and inside of functions, too.

    A public name counts as an import of the module that has it; the lists of names in `__init__` count for nothing.
    """
    return {
        name: {target for node in imports_in(path) for target in targets(node)} - {name}
        for name, path in NAMED.items()
        if path.name != "__init__.py"
    }


def imports_as_written():
    """Return the same with the face of a package as a module of its own, which imports all that it gives."""
    return {name: {target for node in imports_in(path) for target in written(node)} for name, path in NAMED.items()}


def written(node):
    """Yield the modules and packages that an import of boxwood names."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "boxwood":
        module = node.module.removeprefix("boxwood").strip(".")
        yield from {
            inner if (inner := f"{module}.{alias.name}".strip(".")) in NAMED else module for alias in node.names
        }


def test_no_file_looks_at_the_face_of_a_package_above_it():
    upward = [
        f"{path.relative_to(SOURCE)} imports from {target or 'boxwood'}; name the file that has it"
        for path in INNER
        if path.name != "__init__.py"
        for node in imports_in(path)
        for target in written(node)
        if target in GIVEN and (not target or floor_of(target) > floor_of(named(path)))
    ]
    assert upward == []


def test_no_module_is_named_by_a_string():
    strings = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value!r}"
        for path in MODULES
        if path.name != "__init__.py" and path.relative_to(SOURCE).as_posix() not in TABLES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and names_a_module(node.value)
    ]
    assert strings == []


def names_a_module(text):
    return text.startswith("boxwood.") and text.removeprefix("boxwood.") in {"", *NAMED}


def test_only_tables_import_by_a_name_that_is_computed():
    calls = {
        path.relative_to(SOURCE).as_posix()
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {"import_module", "__import__"}
    }
    assert calls == TABLES | {"_imports.py"}  # public names when they are first used, and optional packages


def circles_in(arcs):
    """Return the largest sets whose members all reach one another."""
    reached = {name: reachable(name, arcs) for name in arcs}
    return {frozenset({name, *(other for other in reached[name] if name in reached.get(other, ()))}) for name in arcs}


def reachable(name, arcs):
    """Return all that can be reached from a name."""
    found, left = set(), [name]
    while left:
        new = arcs.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def imports_that_run(path):
    """Return the imports of a file that count when it runs: those for type checkers do not."""
    guarded = [n for n in parsed(path).body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    skipped = {node for block in guarded for node in ast.walk(block)}
    return [node for node in imports_in(path) if node not in skipped]


def targets(node):
    """Yield the module of the house that each import of boxwood names, also by way of public names."""
    if isinstance(node, ast.Import):
        names = [alias.name.removeprefix("boxwood.") for alias in node.names if alias.name.startswith("boxwood.")]
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "boxwood":
        names = [home(node.module.removeprefix("boxwood").strip("."), alias.name) for alias in node.names]
    else:
        names = []
    yield from (name for name in names if name)


def home(module, name):
    """Return the module that has a name which is imported from a module, or from a package by its public name."""
    inner = f"{module}.{name}".strip(".")
    if inner in NAMED:
        return inner
    origin = GIVEN.get(module, {}).get(name, module)
    return module if origin == module else home(origin, name)


def test_an_underscore_means_nobody_outside_of_the_folder():
    outside = [
        f"{path.relative_to(SOURCE)} imports {target}"
        for path in MODULES
        for node in imports_in(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boxwood.")
        for alias in node.names
        for target in [f"{node.module}.{alias.name}".removeprefix("boxwood.")]
        for folder, part in folders(target if target in NAMED else node.module.removeprefix("boxwood."))
        if part.startswith("_") and not path.is_relative_to(SOURCE / folder)
    ]
    assert outside == []


def folders(name):
    """Yield the parts of a dotted name, each with the path of its folder."""
    parts = name.split(".")
    return (("/".join(parts[:n]), part) for n, part in enumerate(parts))


def test_no_module_has_the_name_of_a_public_name_of_its_package():
    shadows = [  # importing such a module would put it in the place of the function
        f"{package}.{name}"
        for package, names in GIVEN.items()
        for name, origin in names.items()
        if (inner := f"{package}.{name}".strip(".")) in NAMED and inner != f"{origin}.{name}".strip(".")
    ]
    assert shadows == []


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
        if path.name == "jit.py":
            continue
        for name in imported(path, everywhere=True):
            own = not name.startswith("boxwood.") or name.startswith(("boxwood.loops.jit.", "boxwood._types."))
            assert own, f"{path.name} imports {name}"


def loaded_after(program):
    command = [sys.executable, "-c", f"import sys; {program}; print('modules', *sys.modules)"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}  # may ask for it
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return set(done.stdout.split("modules ")[-1].split())


def test_import_loads_nothing_heavy():
    loaded = loaded_after("import boxwood")
    assert not loaded & {*OPTIONAL, *HEAVY}


HEAVY = {"numba", "llvmlite", "sklearn", "scipy", "narwhals", "duckdb", "click", "jinja2", "joblib"}


def test_a_small_table_with_labels_is_explained_by_numpy_alone():
    rows = "numpy.arange(40.0).reshape(20, 2), [0] * 10 + [1] * 10"
    loaded = loaded_after(f"import boxwood, numpy; ex = boxwood.explain({rows}); str(ex); ex.predict([[1.0, 2.0]])")
    assert not loaded & {*OPTIONAL, *HEAVY}


def test_the_command_explains_a_small_file_with_labels_without_scikit_learn(tmp_path):
    (tmp_path / "table.csv").write_text("a,b,label\n" + "1,2,x\n2,1,x\n8,9,y\n9,8,y\n" * 5)
    call = f"command.main(['explain', {str(tmp_path / 'table.csv')!r}, '-l', 'label'], standalone_mode=False)"
    loaded = loaded_after(f"from boxwood.cli import boxwood as command; {call}")
    assert "duckdb" in loaded
    assert not loaded & {*OPTIONAL, "numba", "sklearn", "scipy"}


@pytest.mark.full
def test_no_public_name_loads_an_optional_package():
    theirs = loaded_after("import sklearn.cluster, sklearn.tree, duckdb, numba")
    loaded = loaded_after("import boxwood as bw; [getattr(bw, name) for name in bw.__all__]")
    assert "sklearn" in loaded
    assert not (loaded - theirs) & {*OPTIONAL}


def test_every_public_name_is_there():
    assert all(getattr(boxwood, name) is not None for name in boxwood.__all__)
    assert set(dir(boxwood)) == set(boxwood.__all__)  # so completion offers them
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        boxwood.nonsense  # noqa: B018
