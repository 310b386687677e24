"""What others rely on stays: public names, parameters and options, and what the release says of itself."""

import re
import tomllib
from pathlib import Path

import pytest

import boxwood
from tests import public_face
from tests.release.tried import USES

ROOT = Path(__file__).parents[1]


def read(name):
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"the sdist has no {name}")
    return path.read_text(encoding="utf-8")


def differences(stored, now):
    """Return what to say of lines that are gone or new, or else of those in another place."""
    gone = [f"gone: {line}" for line in stored if line not in set(now)]
    new = [f"new: {line}" for line in now if line not in set(stored)]
    moved = [f"moved: {one}" for one, other in zip(stored, now, strict=False) if one != other]
    return gone + new or moved


def test_nothing_public_vanishes_unseen():
    stored = public_face.STORED.read_text(encoding="utf-8").splitlines()
    found = differences(stored, public_face.face())
    how = "if that is meant: see 'What stays' in RELEASING.md, then python -m tests.public_face"
    assert found == [], "\n".join([*found, how])


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("def f(a, b=1): ...", "def f(a): ...", ["gone: m.f (1) b = 1"]),
        ("def f(a, b=1): ...", "def f(a, b=2): ...", ["gone: m.f (1) b = 1", "new: m.f (1) b = 2"]),
        (
            "def f(a, b): ...",
            "def f(b, a): ...",
            ["gone: m.f (0) a", "gone: m.f (1) b", "new: m.f (0) b", "new: m.f (1) a"],
        ),
        ("def f(a, *, b=1): ...", "def f(a, *, b=1, c=2): ...", ["new: m.f (*) c = 2"]),
        ("class f:\n def g(self): ...", "class f: ...", ["gone: m.f.g"]),
    ],
)
def test_changes_are_seen(before, after, said):
    def lines(source):
        space = {"__name__": "boxwood.m"}
        exec(source, space)
        thing = space["f"]
        of_it = public_face._of_class if isinstance(thing, type) else public_face._parameters
        return ["m.f", *of_it("m.f", thing)]

    assert differences(lines(before), lines(before)) == []
    assert differences(lines(before), lines(after)) == said


def test_one_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", boxwood.__version__)
    assert re.findall(r"^version: (.*)$", read("CITATION.cff"), re.MULTILINE) == [boxwood.__version__]
    assert re.findall(r"^  version = {(.*)},$", read("docs/citing.md"), re.MULTILINE) == [boxwood.__version__]
    assert re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)[0] == boxwood.__version__
    assert not re.search(r"^version = ", read("pyproject.toml"), re.MULTILINE)  # it is read from the package


def test_the_metadata_agree_with_each_other():
    project = read("pyproject.toml")
    oldest = int(re.search(r'requires-python = ">=3\.(\d+)"', project)[1])
    named = [int(minor) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', project)]
    assert named == list(range(oldest, named[-1] + 1))
    citation = read("CITATION.cff")
    for field, name in (("license", "license"), ("description", "abstract")):
        assert (
            re.search(rf'^{field} = "(.*)"$', project, re.MULTILINE)[1]
            == re.search(rf"^{name}: (.*)$", citation, re.MULTILINE)[1]
        )


def test_each_extra_is_tried_after_install():
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert sorted(extras) == sorted(USES)


def test_checkers_of_types_are_told_that_the_package_has_types():
    assert (Path(boxwood.__file__).parent / "py.typed").exists()


def test_workflows_try_what_the_metadata_name():
    pytest.importorskip("yaml")
    import yaml

    folder = ROOT / ".github" / "workflows"
    if not folder.exists():
        pytest.skip("the sdist has no workflows")
    found = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob("*.yml")}
    assert set(found) == {"docs", "publish", "test"}
    actions = {
        step["uses"]
        for each in found.values()
        for job in each["jobs"].values()
        for step in job["steps"]
        if "uses" in step
    }
    assert all(re.fullmatch(r"[\w./-]+@(v\d+|release/v\d+)", action) for action in actions), actions
    publish = found["publish"]["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets." not in (folder / "publish.yml").read_text(encoding="utf-8")  # trusted publishing needs none
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))
    assert set(found["test"]["jobs"]["systems"]["strategy"]["matrix"]["python"]) <= set(named)
