"""Reports on concepts: what they find, what they print, and errors."""

import numpy as np
import pytest

from boxwood.concepts import ConceptProjector, concept_report
from boxwood.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:concepts that the embeddings do not predict:UserWarning")


def test_a_report_finds_planted_concepts_and_noise(planted):
    table = {**planted.concepts, "grey": ~planted.is_red}
    projector = ConceptProjector().fit(planted.Z, table)
    report = concept_report(projector, planted.Z, table, n_permutations=199, random_state=0)
    assert report.name == ("red", "size", "coin", "grey")
    assert report.reliable.tolist() == [True, True, False, True]
    assert report.unreliable == ("coin",)
    assert report.score[0] > 0.95
    assert report.score[1] > 0.95
    assert abs(report.score[2] - 0.5) < 0.15
    assert report.stability[[0, 1, 3]].min() > 0.85
    assert report.stability[2] < 0.5
    assert (report.twin[0], report.twin[3]) == ("grey", "red")
    assert report.twin_cosine[[0, 3]] == pytest.approx(-1, abs=1e-3)
    assert report.n_positive.tolist()[0] == planted.is_red.sum()
    assert np.isnan(report.balanced_accuracy).tolist() == [False, True, False, False]
    assert np.isnan(report.determined_by_groups).all()
    assert any("red: nearly the complement of grey" in note for note in report.notes)
    assert any(note.startswith("coin: not reliable (AUC") for note in report.notes)
    frame = report.to_frame()
    assert list(frame["name"]) == list(report.name)
    assert frame.shape == (4, 13)
    assert projector.select(report.reliable).concept_names_ == ("red", "size", "grey")
    lines = str(report).splitlines()
    assert lines[0].split() == ["concept", "examples", "score", "p", "stability", "twin", "of", "groups", "reliable"]
    assert lines[3].startswith(f"coin     {report.n_positive[2]} + {report.n_negative[2]}")
    assert lines[3].endswith(" -          no")
    assert lines[5:] == [f"Note: {note}" for note in report.notes]
    assert repr(report) == "ConceptReport(n_concepts=4, n_reliable=3)"


def test_each_of_several_twins_is_noted(planted):
    table = dict.fromkeys(("red", "crimson", "scarlet"), planted.is_red)
    projector = ConceptProjector().fit(planted.Z, table)
    report = concept_report(projector, planted.Z, table, n_permutations=99, random_state=0)
    assert report.twin == ("crimson", "red", "red")
    assert [note.split(" (")[0] for note in report.notes] == [
        "red: nearly the same as crimson",
        "scarlet: nearly the same as red",
    ]


def test_a_report_of_selected_concepts(planted):
    projector = ConceptProjector().fit(planted.Z, planted.concepts).select(["size", "red"])
    report = concept_report(projector, planted.Z, planted.concepts, n_permutations=99, random_state=0)
    assert report.name == ("size", "red")
    assert report.kind == ("continuous", "binary")
    assert report.score.min() > 0.9


def test_labels_of_classes_in_disguise(planted):
    species = np.random.default_rng(0).integers(4, size=len(planted.Z))
    Z = planted.Z + 4 * np.eye(16)[species]
    table = {"disguised": species < 2, "weight": np.array([1.0, 5.0, 2.0, 2.5])[species], "red": planted.is_red}
    projector, options = ConceptProjector().fit(Z, table), {"n_permutations": 99, "cv": 2, "random_state": 0}
    report = concept_report(projector, Z, table, groups=species, **options)
    assert report.determined_by_groups[:2] == pytest.approx(1)
    assert report.determined_by_groups[2] < 0.2
    assert sum("label of groups" in note for note in report.notes) == 2
    names = np.array(["a", "b", "c", "d"])[species]
    again = concept_report(projector, Z, table, groups=names, **options)
    assert again.determined_by_groups == pytest.approx(report.determined_by_groups)


def test_errors_of_reports(planted):
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    with pytest.raises(DataError, match="there are none of red, size, coin, but of blue"):
        concept_report(projector, planted.Z, {"blue": planted.is_red})
    with pytest.raises(DataError, match="3 columns, but 16"):
        concept_report(projector, planted.Z[:, :3], planted.concepts)
    with pytest.raises(DataError, match="groups must have a label"):
        concept_report(projector, planted.Z, planted.concepts, groups=[0, 1], n_permutations=99)
    given = ConceptProjector.from_vectors(projector.vectors_, names=projector.concept_names_)
    with pytest.raises(DataError, match="cannot be learned again"):
        concept_report(given, planted.Z, planted.concepts)
    for n, error in ((-1, ValueError), (0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="n_permutations must be"):
            concept_report(projector, planted.Z, planted.concepts, n_permutations=n)
    with pytest.warns(UserWarning, match="take at least 60"):
        concept_report(projector, planted.Z, planted.concepts, n_permutations=19, random_state=0)


def test_a_report_without_pandas(planted, monkeypatch):
    import sys

    report = concept_report(
        ConceptProjector().fit(planted.Z, planted.is_red), planted.Z, planted.is_red, n_permutations=99, random_state=0
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^a data frame needs pandas: pip install pandas$"):
        report.to_frame()
    assert report.to_dict()["name"] == ["concept0"]


def test_a_report_is_the_same_for_the_same_seed(planted):
    projector = ConceptProjector("mean-difference").fit(planted.Z, planted.concepts)
    a, b = (concept_report(projector, planted.Z, planted.concepts, n_permutations=99, random_state=7) for _ in range(2))
    assert str(a.to_dict()) == str(b.to_dict())


def test_few_examples_are_reported_too():
    Z = np.array([[0.0], [0.1], [1.0], [1.1], [0.5]])
    table = {"red": [0, 0, 1, 1, np.nan], "size": [1.0, 2.0, 7.0, 9.0, 5.0]}
    report = concept_report(ConceptProjector().fit(Z, table), Z, table, random_state=0)
    assert not report.reliable[0]
    assert np.isnan(report.stability).all()
    single = concept_report(ConceptProjector().fit(Z, Z[:, 0]), Z, Z[:, 0], random_state=0)
    assert single.twin == ("",)
    assert np.isnan(single.twin_cosine).all()
