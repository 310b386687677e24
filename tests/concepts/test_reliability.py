"""Scores of concepts: the same for the same seed, and of few examples too."""

import numpy as np
import pytest

from boxwood.concepts import ConceptProjector, concept_report

pytestmark = pytest.mark.filterwarnings("ignore:concepts that the embeddings do not predict:UserWarning")


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
