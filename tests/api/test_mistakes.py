"""What people do wrong: each error says what was expected, what came, and what to do."""

import importlib
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import boxwood as bw
from boxwood.errors import DataError, ModelError
from tests.command import invoke

ROWS = 60


class NoEstimator:
    """A clusterer without the base of scikit-learn, as BERTopic is."""

    def fit(self, X):
        """Return itself."""
        return self

    def fit_predict(self, X):
        """Return labels."""
        return np.arange(len(X)) % 2


class OnlyLabels:
    """What finds clusters without a fit that keeps them."""

    def fit_predict(self, X):
        """Return labels."""


class Trained:
    """What finds clusters in faiss."""

    def train(self, X):
        """Find clusters."""


class OnDevice:
    """A frame whose memory numpy cannot read, as one of cuDF."""

    def to_pandas(self):
        """Return the frame in the memory of the machine."""

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a host NumPy array is not allowed")


def frame():
    rng = np.random.default_rng(0)
    group = np.arange(ROWS) % 3
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS) + 40 * (group == 1),
            "plan": np.array(["free", "plus"])[(group == 2).astype(int)],
            "since": pd.Timestamp("2026-03-01") + pd.to_timedelta(group * 90, unit="D"),
            "segment": np.array(["new", "loyal", "lapsed"])[group],
        }
    )


@pytest.fixture(scope="module")
def model():
    return bw.explain(frame(), "segment", columns=["age", "plan"], method="cart")


ROW = {"age": 30, "plan": "free"}
X, LABELS = frame()[["age"]].to_numpy(float), [0, 1, 2] * (ROWS // 3)

OF_EXPLAIN = [  # expected, came, what to do: a part of each; the same part may say two of them
    (lambda: bw.explain(frame()[:0], "segment"), DataError, ("the table", "has no rows", "give at least two")),
    (lambda: bw.explain(X[:0], []), DataError, ("the table", "has no rows", "give at least two")),
    (lambda: bw.explain(X, [*LABELS, 0]), DataError, ("60 rows", "61 labels", "one label for each row")),
    (lambda: bw.explain(frame(), ["segment"]), DataError, ("60 rows", "1 label;", "without brackets")),
    (lambda: bw.explain(X, NoEstimator()), DataError, ("scikit-learn", "NoEstimator", "pass NoEstimator.fit_predict")),
    (lambda: bw.explain(frame(), NoEstimator()), DataError, ("scikit-learn", "NoEstimator", "NoEstimator.fit_predict")),
    (lambda: bw.explain(X, Trained()), DataError, ("scikit-learn", "Trained", "pass the label that it finds for each")),
    (lambda: bw.explain(X, OnlyLabels()), DataError, ("scikit-learn", "OnlyLabels", "pass OnlyLabels.fit_predict(X)")),
    (lambda: bw.explain(X, KMeans), DataError, ("an object", "KMeans is a class", "write KMeans()")),
    (lambda: bw.explain(X, OnlyLabels), DataError, ("an object", "OnlyLabels is a class", "write OnlyLabels()")),
    (lambda: bw.explain(X, lambda row: 1), DataError, ("one for each row", "a function", "give a list")),
    (lambda: bw.explain(X, 4), DataError, ("one for each row", "got 4", "pass n_clusters")),
    (lambda: bw.explain("rows.csv", "segment"), DataError, ("must be rows", "'rows.csv'", "boxwood.scan reads")),
    (lambda: bw.explain(X[0], LABELS), DataError, ("rows by columns", "shape (1,)", "one row is [X]")),
    (lambda: bw.explain({"a": 1}, LABELS), DataError, ("rows by columns", "a mapping", "polars.DataFrame([X])")),
    (lambda: bw.explain(OnDevice(), LABELS), DataError, ("X cannot be read", "OnDevice", "to_pandas()")),
    (lambda: bw.explain(X, OnDevice()), DataError, ("labels cannot be read", "OnDevice", "to_pandas()")),
    (lambda: bw.explain(X, [1, -1] * 30), DataError, ("only one cluster, 1", "30 rows labelled -1", "rename -1")),
    (
        lambda: bw.explain(X, [7] * ROWS),
        DataError,
        ("a tree separates clusters", "only one cluster, 7", "at least two"),
    ),
    (lambda: bw.explain(frame(), "segmnt"), DataError, ("its columns are age", "'segmnt'", "did you mean 'segment'?")),
    (lambda: bw.explain(X, LABELS, forbidden="age"), TypeError, ("a list of names", "'age'", "write ['age']")),
    (lambda: bw.explain(X, KMeans(2).fit(X[1:] + 1e4)), DataError, ("centres", "these rows lie far", "pass the")),
    (lambda: bw.explain(X, LABELS, missing="error"), ValueError, ("'drop'", "got 'error'", "did you mean 'refuse'?")),
    (lambda: bw.explain(X, LABELS, method="cartt"), ValueError, ("'imm'", "got 'cartt'", "did you mean 'cart'?")),
    (lambda: bw.explain(X, LABELS, objective="accuracy"), ValueError, ("'cost'", "'accuracy'", "mean 'agreement'?")),
    (lambda: bw.load("nofile.json"), FileNotFoundError, ("a file that Explanation.save wrote", "no such file", "give")),
]

OF_A_MODEL = [
    (lambda m: m.predict(np.zeros((2, 2))), DataError, ("needs the columns", "array of numbers", "give a data frame")),
    (lambda m: m.predict(frame().assign(age="many")), DataError, ("age as a number", "'many'", "into numbers")),
    (lambda m: m.predict(frame()[["since"]]), DataError, ("no columns 'age', 'plan'", "its columns are since", "")),
    (
        lambda m: m.predict({"age": 3}),
        DataError,
        ("no column 'plan'", "its columns are age", "a missing value is None"),
    ),
    (lambda m: m.predict([ROW, {"plan": "free"}]), DataError, ("'age'", "in row 1", "a missing value is None")),
    (lambda m: m.predict({}), DataError, ("no columns 'age', 'plan'", "it has none", "a missing value is None")),
    (lambda m: m.predict([ROW, 3]), DataError, ("rows by columns", "mappings", "data frame")),
    (lambda m: m.why({"plan": "free"}), DataError, ("no column 'age'", "in the row", "a missing value is None")),
    (lambda m: m.why("free"), TypeError, ("a mapping from column to value", "the text 'free'", "row must be")),
    (lambda m: m.why([[3, "free"], [4, "free"]]), TypeError, ("a list of values", "shape (2, 2)", "row must be")),
    (lambda m: m.predict(OnDevice()), DataError, ("X cannot be read", "OnDevice", "to_pandas()")),
    (lambda m: m.predict(frame(), missing="refuse"), ValueError, ("'warn'", "got 'refuse'", "did you mean 'error'?")),
    (
        lambda m: m.to_sql("postgrs"),
        ValueError,
        ("dialect must be one of", "got 'postgrs'", "did you mean 'postgres'?"),
    ),
    (lambda m: m.to_sql("orakle"), ValueError, ("dialect", "got 'orakle'", "did you mean 'oracle'?")),
    (lambda m: m.accuracy, AttributeError, ("Explanation", "'accuracy'", "did you mean agreement?")),
    (lambda m: m.recall, AttributeError, ("'recall'", "did you mean clusters, of each of which a share is found?")),
    (lambda m: m.score, AttributeError, ("Explanation", "'score'", "did you mean agreement, or evaluate(X, labels)")),
    (lambda m: m.feature_importances_, AttributeError, ("Explanation", "'feature_imp", "mean to_frame('profile')?")),
    (lambda m: m.plot_tree, AttributeError, ("Explanation", "'plot_tree'", "did you mean plot?")),
    (lambda m: m.rulse, AttributeError, ("Explanation", "'rulse'", "did you mean rules?")),
]

MISSPELT = {
    "exclude": "columns, which names those to keep, or forbidden",
    "y": "labels",
    "target": "labels",
    "class_names": "names",
    "min_leaf": "min_samples_leaf",
    "max_rules": "max_leaf_nodes",
    "max_leafs": "max_leaf_nodes",
    "digits": "round_thresholds",
    "depth": "max_depth",
    "feature_names": "columns",
    "random_sate": "random_state",
}


def test_an_error_says_what_was_expected_what_came_and_what_to_do(model):
    mistakes = [*OF_EXPLAIN, *((lambda call=call: call(model), *told) for call, *told in OF_A_MODEL)]
    for call, kind, parts in mistakes:
        with pytest.raises(kind) as caught:
            call()
        said = str(caught.value)
        assert all(part.lower() in said.lower() for part in parts), (parts, said)


def test_words_of_others_for_a_parameter_are_understood():
    for name, is_meant in MISSPELT.items():
        with pytest.raises(TypeError, match=f"no option '{name}'; did you mean {is_meant}[?]"):
            bw.explain(X, LABELS, **{name: 1})


def test_an_attribute_that_is_there_needs_no_hint(model):
    assert not hasattr(model, "accuracy")
    assert not hasattr(model, "__array__")
    with pytest.raises(AttributeError, match=r"has no attribute '__array__'$"):
        _ = model.__array__


def test_an_error_inside_of_a_property_is_seen(model, monkeypatch):
    monkeypatch.setattr(type(model), "baseline", property(lambda self: None.nothing))
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'nothing'"):
        _ = model.baseline


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"hello", "does not begin as a JSON object"),
        (b"[1]", "does not begin as a JSON object"),
        (b"{", "is no JSON"),
        (b'{"a": 1}', "without"),
        (b"{\xff}", "UTF-8"),
    ],
)
def test_a_file_that_is_no_model_is_refused_with_the_reason(content, why, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ModelError, match=f"is not a boxwood model: .*{why}.*; give a file that Explanation.save wrote"):
        bw.load(tmp_path / "x.json")


NO_TABLES = (None, 3, 2.5, True, np.float64(1), np.array(1), object(), lambda: 1, iter([]), KMeans)
TAKE_ROWS = (
    lambda model, X: bw.explain(X, LABELS),
    lambda model, X: bw.explain(X, "segment"),
    lambda model, X: bw.explain(X, n_clusters=2),
    lambda model, X: bw.compare(X, LABELS),
    lambda model, X: bw.compare_k(X),
    lambda model, X: bw.IMM().fit(X, LABELS),
    lambda model, X: bw.Reference.of(X, LABELS),
    lambda model, X: model.predict(X),
    lambda model, X: model.drift(X),
    lambda model, X: model.evaluate(X, "segment"),
)


def test_what_is_no_table_is_refused_alike_wherever_rows_are_taken(model):
    for call in TAKE_ROWS:
        for given in NO_TABLES:
            with pytest.raises(DataError, match=r"^X must be rows by columns, got .+; give an array or a data frame$"):
                call(model, given)


def test_rows_may_be_mappings(model):
    rows = json.loads(frame()[["age", "plan"]].to_json(orient="records"))
    assert model.predict(rows).tolist() == model.predict(frame()).tolist()
    assert model.predict(rows[0]).tolist() == model.predict(frame()[:1]).tolist()
    assert model.predict([{**rows[0], "age": None}], missing="none").shape == (1,)
    assert model.predict([]).shape == (0,)
    assert model.why([rows[0]]) == model.why(rows[0])
    days = bw.explain(frame(), "segment", columns=["since"], method="cart")
    texts = [{"since": str(day.date())} for day in frame()["since"]]
    assert days.predict(texts).tolist() == days.predict(frame()).tolist()


def test_labels_may_be_a_column():
    column = bw.explain(X, np.array(LABELS)[:, None], method="cart")
    assert column == bw.explain(X, LABELS, method="cart")
    assert bw.IMM().fit(X, np.array(LABELS)[:, None]).tree_ == bw.IMM().fit(X, LABELS).tree_


def test_booleans_and_numbers_among_labels_are_told():
    ex = bw.explain(X[:6], [1, True, 0, False, 2, 2], method="cart")
    assert "one cluster: False and 0, True and 1; to tell them apart, make text of the labels" in " ".join(ex.notes)
    assert not any("True" in note for note in bw.explain(X[:4], [True, True, False, False], method="cart").notes)


def test_as_many_clusters_are_compared_as_there_are_different_rows():
    few = pd.DataFrame({"a": np.arange(60) % 6, "b": np.arange(60) % 6 * 2})
    assert [row.n_clusters for row in bw.compare_k(few).rows] == [2, 3, 4, 5, 6]
    with pytest.raises(DataError, match=r"7 clusters asked for, but .* only 6 different rows; ask for fewer clusters"):
        bw.compare_k(few, [6, 7])


def test_no_other_error_ends_a_comparison_of_numbers_of_clusters_in_silence(monkeypatch):
    def explained(rows, clustering, asked):
        if asked.n_clusters == 4:
            raise DataError("infinite values")
        return original(rows, clustering, asked)

    original = importlib.import_module("boxwood.api.compare_k").explain_rows
    monkeypatch.setattr("boxwood.api.compare_k.explain_rows", explained)
    with pytest.raises(DataError, match="infinite values"):
        bw.compare_k(pd.DataFrame({"a": np.arange(60.0), "b": np.arange(60) % 7}))


COMMANDS = {
    "explain table.csv --label segment": "Did you mean '--labels'?",
    "cluster table.csv": "No such command 'cluster'; did you mean 'explain'?",
    "expain table.csv": "No such command 'expain'; did you mean 'explain'?",
    "explain table.csv -k four": "'four' is no whole number, such as 4.",
    "explain empty.csv -k 2": "no rows",
    "predict table.json table.csv": "it is JSON without",
}


def test_the_command_says_what_is_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame().to_csv("table.csv", index=False)
    frame()[:0].to_csv("empty.csv", index=False)
    (tmp_path / "table.json").write_text('{"a": 1}')
    for line, said in COMMANDS.items():
        done = invoke(*line.split(), code=None)
        assert done.exit_code in (2, 3)
        assert said.lower() in done.stderr.lower(), (line, done.stderr)


@pytest.mark.parametrize("line", ["drift m.json t.csv -o r.html", "match m.json m.json -o r.html"])
def test_a_report_without_its_package_is_refused_before_any_input_is_read(line, monkeypatch):
    monkeypatch.setattr("boxwood.cli._options.missing_of", lambda extra: ["jinja2"] if extra == "page" else [])
    done = invoke(*line.split(), code=2)  # neither m.json nor t.csv is there
    assert "'r.html' needs jinja2: pip install jinja2" in done.stderr
