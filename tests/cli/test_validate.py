"""`boxwood explain --validate` and `--jobs`."""

import json

import pytest
from sklearn.datasets import load_iris

from tests.command import invoke


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    path = tmp_path_factory.mktemp("iris") / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    return str(path)


def run(*words, code=0):
    return invoke("explain", *words, "-l", "target", "--method", "cart", code=code)


@pytest.mark.parametrize(("given", "how"), [("5", "5 folds"), ("0.3", "30% of the rows")])
def test_the_printed_explanation_has_one_more_sentence(iris, given, how):
    result = run(iris, "--validate", given)
    assert "new rows like these: on rows that they had not seen, rules grown the same way agree on" in result.stdout
    assert f"({how})." in result.stdout
    plain = run(iris)
    assert len(result.stdout.splitlines()) == len(plain.stdout.splitlines()) + 1
    assert json.loads(run(iris, "--validate", given, "--json").stdout)["held_out"]["how"] == how


@pytest.mark.parametrize("given", ["1", "0", "1.5", "-2", "nan", "some", "101", "9" * 500])
def test_what_is_neither_share_nor_folds_is_refused(iris, given):
    result = run(iris, f"--validate={given}", code=2)
    assert "is neither a share between 0 and 1 nor a number of folds, 2 to 100" in result.stderr


def test_rules_that_owe_much_to_luck_ask_for_it_by_its_option(tmp_path):
    path = tmp_path / "noise.csv"
    path.write_text("x,y\n" + "\n".join(f"{i * i % 101},{i * i * i % 7 % 2}" for i in range(100)))
    asked = ["explain", str(path), "-l", "y", "--max-leaf-nodes", "5"]
    plain, measured = (invoke(*asked, *more) for more in ([], ["--validate", "0.3"]))
    assert "some of it is luck (--validate measures it)" in plain.stdout
    assert "is luck" not in measured.stdout


def test_threads_change_nothing(iris):
    assert run(iris, "--jobs", "1").stdout == run(iris).stdout
    result = run(iris, "--jobs", "0", code=2)
    assert "--jobs=0 has no meaning" in result.stderr
