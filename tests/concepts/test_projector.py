"""ConceptProjector: names, threads, blocks of rows, selections, and errors."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from boxwood import concepts
from boxwood.concepts import ConceptProjector, concept_report
from boxwood.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:concepts that the embeddings do not predict:UserWarning")


@parametrize_with_checks([ConceptProjector()])
def test_scikit_learn_checks_the_projector(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([ConceptProjector("svm"), ConceptProjector("mean-difference")])
def test_scikit_learn_checks_other_options(estimator, check):
    check(estimator)


def test_vectors_do_not_depend_on_threads(planted):
    a, b = (ConceptProjector(n_jobs=n).fit(planted.Z, planted.concepts) for n in (1, 2))
    assert np.array_equal(a.vectors_, b.vectors_)
    with threadpool_limits(2, user_api="blas"):
        c = pickle.loads(pickle.dumps(clone(a).fit(planted.Z, planted.concepts)))
    assert np.array_equal(a.vectors_, c.vectors_)
    options = {"n_permutations": 99, "random_state": 0}
    reports = [concept_report(a, planted.Z, planted.concepts, n_jobs=n, **options).to_dict() for n in (1, 2)]
    assert str(reports[0]) == str(reports[1])


def test_names_come_out(planted):
    frame = pd.DataFrame(planted.Z, columns=[f"latent {j}" for j in range(16)])
    projector = ConceptProjector().fit(frame, planted.concepts).set_output(transform="pandas")
    scores = projector.transform(frame)
    assert list(scores.columns) == list(projector.get_feature_names_out()) == ["red", "size", "coin"]
    assert projector.feature_names_in_[0] == "latent 0"
    assert projector.meanings_ == {
        "red": ("not red", "red"),
        "size": ("less size", "more size"),
        "coin": ("not coin", "coin"),
    }
    assert scores.to_numpy() == pytest.approx(clone(projector).fit(planted.Z, planted.concepts).transform(planted.Z))


def test_scores_of_many_rows_and_of_few(planted, monkeypatch):
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    whole = projector.transform(planted.Z)
    monkeypatch.setattr(concepts.projector, "BLOCK_ROWS", 37)
    assert projector.transform(planted.Z) == pytest.approx(whole, abs=1e-12)
    narrow = projector.transform(np.asfortranarray(planted.Z.astype(np.float32)))
    assert narrow.dtype == np.float64
    assert narrow == pytest.approx(whole, abs=1e-5)


def test_some_concepts_and_given_vectors(planted):
    projector = ConceptProjector(meanings={"size": ("small", "large")}).fit(planted.Z, planted.concepts)
    for wanted in (["size", "red"], [1, 0]):
        chosen = projector.select(wanted)
        assert chosen.concept_names_ == ("size", "red")
        assert chosen.kinds_ == ("continuous", "binary")
        assert chosen.meanings_["size"] == ("small", "large")
        assert chosen.transform(planted.Z) == pytest.approx(projector.transform(planted.Z)[:, [1, 0]], abs=1e-12)
    assert projector.select(np.array([True, False, False])).concept_names_ == ("red",)
    assert projector.select("red").concept_names_ == ("red",)
    long = ConceptProjector.from_vectors(3 * projector.vectors_, 3 * projector.intercepts_, projector.concept_names_)
    assert long.transform(planted.Z) == pytest.approx(projector.transform(planted.Z), abs=1e-12)
    assert np.diag(long.cosines()) == pytest.approx(1)
    for wanted, message in (
        (["rde"], "no concept 'rde'; the concepts are red"),
        ([False] * 3, "no concept is left"),
        ([7], "from 0 to 2"),
        ([0.5], "from 0 to 2"),
    ):
        with pytest.raises(DataError, match=message):
            projector.select(wanted)
    with pytest.raises(DataError, match="one truth value for each of 3"):
        projector.select([True])


def test_other_errors_of_the_projector(planted):
    Z = np.array([[0.0], [0.0], [0.0], [0.0]])
    with pytest.raises(DataError, match="'red' has no direction"):
        ConceptProjector("mean-difference").fit(Z, {"red": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="no coef_"):
        ConceptProjector(KNeighborsClassifier()).fit(planted.Z, planted.is_red)
    with pytest.raises(ValueError, match="'classifier' parameter"):
        ConceptProjector("lda").fit(planted.Z, planted.is_red)
    with pytest.raises(DataError, match="missing values"):
        ConceptProjector().fit(np.full((4, 1), np.nan), [0, 1, 0, 1])
    with pytest.raises(NotFittedError):
        ConceptProjector().transform(planted.Z)
    with pytest.raises(ValueError, match=r"\(low, high\); got 'big' for 'red'"):
        ConceptProjector(meanings={"red": "big"}).fit(planted.Z, {"red": planted.is_red})
    for options, message in (
        ({"names": ["a", "a"]}, "different, one for each of 2 vectors, got \\('a', 'a'\\)"),
        ({"intercepts": [0.0, np.nan]}, "one finite number"),
        ({"intercepts": [1.0]}, "one finite number"),
        ({"intercepts": [1.0, 2.0, 3.0]}, "one finite number"),
    ):
        with pytest.raises(DataError, match=message):
            ConceptProjector.from_vectors(np.eye(2), **options)
    with pytest.raises(DataError, match="'b' has no direction"):
        ConceptProjector.from_vectors([[1.0], [0.0]], names=["a", "b"])


def test_concepts_that_are_not_predicted_are_warned_of(planted):
    with pytest.warns(
        UserWarning, match=r"not predict: coin \(cross-validated AUC 0\.\d\d, less than 0\.7\)"
    ) as caught:
        projector = ConceptProjector().fit(planted.Z, planted.concepts)
    assert [warning.filename for warning in caught] == [__file__]
    assert "red (" not in str(caught[0].message)
    noise = np.random.default_rng(0).normal(size=400)
    with pytest.warns(UserWarning, match=r"concept0 \(cross-validated R² .*, less than 0\.2\)"):
        ConceptProjector().fit(planted.Z, noise)
    known = {"red": planted.is_red, "size": planted.sizes}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ConceptProjector().fit(planted.Z, known).scores_.min() > 0.9
        projector.select(["red", "size"])
        unknown = ConceptProjector.from_vectors(projector.vectors_)
    assert np.isnan(unknown.scores_).all()
    assert projector.select(["coin"]).scores_ == projector.scores_[2]


def test_scores_are_those_of_the_report(planted):
    """Both are from all 400 examples, in other folds."""
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    assert clone(projector).fit(planted.Z, planted.concepts).scores_.tolist() == projector.scores_.tolist()
    report = concept_report(projector, planted.Z, planted.concepts, n_permutations=99, random_state=0)
    assert projector.scores_ == pytest.approx(report.score, abs=0.05)


def test_examples_of_a_rare_side_are_all_kept():
    """20 of 20 000 examples are red; the scores are from these and 500 others."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20_000, 3))
    rare = np.zeros(20_000, dtype=bool)
    rare[rng.choice(20_000, 20, replace=False)] = True
    Z[rare, 0] += 6
    seen = []

    class Watched(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append((len(y), int(y.sum())))
            return super().fit(X, y, sample_weight)

    assert ConceptProjector(Watched()).fit(Z, {"rare": rare}).scores_[0] > 0.99
    assert seen[0] == (20_000, 20)
    assert seen[1:] == [(416, 16)] * 5


def test_a_model_that_refuses_few_examples_has_no_score(planted):
    class Hungry(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            if len(y) < 400:
                raise ValueError("400 examples are needed")
            return super().fit(X, y, sample_weight)

    with pytest.warns(UserWarning, match="red .no score, as its model refuses parts of the examples"):
        projector = ConceptProjector(Hungry()).fit(planted.Z, {"red": planted.is_red})
    assert np.isnan(projector.scores_).all()
