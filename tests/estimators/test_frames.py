"""Frames with columns of text, of dates and of booleans: the estimators take them as `explain` does."""

import pickle
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from boxwood import CART, IMM, MMDT, ConceptMMDT, ExKMC, Expand, KernelIMM, RandomCuts, explain
from boxwood.concepts import ConceptProjector
from boxwood.errors import DataError

LABELS = ["a", "a", "b", "b", "c", "c"] * 4
COLUMNS = {
    "city": ["Ulm", "Bern"] * 12,
    "member": [False, False, True, True, True, True] * 4,
    "day": [date(2024, 1, 1), date(2024, 1, 2)] * 12,
    "spent": [1.0, 2, 1, 2, 8, 9] * 4,
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
LEFT_OUT = ("left out, text: city",)
NUMBERS = ("member", "day", "spent")  # dates are days


def frame_of(kind, columns=tuple(COLUMNS)):
    data = {name: COLUMNS[name] for name in columns}
    if kind == "pandas" and "day" in data:
        data["day"] = pd.to_datetime(pd.Series(data["day"]))
    return FRAMES[kind](data)


@pytest.mark.crossed
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("estimator", [IMM, ExKMC, Expand, CART, RandomCuts, KernelIMM])
def test_columns_of_text_are_left_out_with_a_note(estimator, kind):
    X, numbers = frame_of(kind), frame_of(kind, NUMBERS)
    with pytest.warns(UserWarning, match="left out, text: city; explain takes words$"):
        model = estimator(random_state=0).fit(X, LABELS)
    other = estimator(random_state=0).fit(numbers, LABELS)
    assert model.tree_ == other.tree_
    assert model.feature_names_in_.tolist() == [*NUMBERS]
    assert model.n_features_in_ == 3
    assert model.predict(X).tolist() == other.predict(numbers).tolist() == model.predict(numbers).tolist()
    assert model.apply(X).tolist() == other.apply(numbers).tolist()
    assert model.score(X) == other.score(numbers)
    assert model.explanation_.notes[:1] == LEFT_OUT
    assert model.explanation_.notes[1:] == other.explanation_.notes
    assert model.explanation_.columns == NUMBERS
    assert explain(X, model) == model.explanation_
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


def test_a_second_fit_forgets_what_the_first_left_out():
    with pytest.warns(UserWarning, match="left out"):
        model = IMM().fit(frame_of("pandas"), LABELS)
    model.fit(frame_of("pandas", ("member", "spent")), LABELS)
    with pytest.raises(ValueError, match=r"feature names|not numbers"):
        model.predict(frame_of("pandas"))


def test_clusters_are_made_of_the_columns_that_remain():
    X, numbers = frame_of("pandas"), frame_of("pandas", ("member", "spent"))
    for clusterer, remain in (
        (None, frame_of("pandas", NUMBERS)),
        (KMeans(2, n_init=1, random_state=0), numbers),
        (FrozenEstimator(KMeans(2, random_state=0).fit(numbers)), numbers),
    ):
        with pytest.warns(UserWarning, match="left out"):
            model = IMM(clusterer, n_clusters=2, random_state=0).fit(X)
        assert model.tree_ == IMM(clusterer, n_clusters=2, random_state=0).fit(remain).tree_
        assert explain(X, model) == model.explanation_


def test_pipelines_and_arrays_with_text_are_refused_as_before():
    X = frame_of("pandas", ("city", "spent"))
    columns = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    with pytest.raises(DataError, match=r"not numbers: city"):
        IMM(make_pipeline(columns, KMeans(2, n_init=1, random_state=0))).fit(X)
    with pytest.raises(ValueError, match="could not convert string to float"):
        IMM().fit(X.to_numpy(), LABELS)
    with pytest.raises(ValueError, match="could not convert string to float"):
        make_pipeline("passthrough", IMM()).fit(X.to_numpy(), LABELS)


def test_concepts_are_learned_from_the_columns_that_remain():
    rng = np.random.default_rng(0)
    Z = pd.DataFrame(rng.normal(size=(60, 3)), columns=["u", "v", "w"])
    labels = np.where(Z["u"] > 0, "high", "low")
    projector = ConceptProjector.from_vectors(np.eye(3)[:2], names=["one", "two"])
    with pytest.warns(UserWarning, match="left out, text: name"):
        model = ConceptMMDT(FrozenEstimator(projector)).fit(Z.assign(name="x"), labels)
    assert model.predict(Z.assign(name="y")).tolist() == model.predict(Z).tolist()
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]


# ----------------------------------------------------------------------------------------------------- booleans


@pytest.mark.crossed
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("estimator", [IMM, CART, MMDT])
def test_booleans_are_said_by_their_names(estimator, kind):
    X = frame_of(kind, ("member", "spent"))
    model = estimator(random_state=0).fit(X, LABELS)
    said = model.explanation_.rules()
    assert "not member" in said
    assert said == explain(X, model).rules()
    assert "member <" not in said
    again = pickle.loads(pickle.dumps(model))
    assert again.explanation_.rules() == said
    assert model.explanation_.predict(X).tolist() == model.predict(X).tolist()


def test_estimators_and_explain_say_the_same():
    X = frame_of("pandas")
    with pytest.warns(UserWarning, match="left out"):
        model = IMM().fit(X, LABELS)
    expected = explain(X.drop(columns="city"), LABELS, method="imm")
    assert (
        model.explanation_.rules()
        == expected.rules()
        == "a: not member\nb: member and spent <= 5\nc: member and spent > 5"
    )
    assert model.explanation_.details.categories == expected.details.categories
    other = X.iloc[::2]
    with pytest.raises(DataError, match="fitted on other rows"):
        explain(other, model)
