"""The text of trees on concepts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boxwood
from boxwood import MMDT, ConceptMMDT, ThresholdTree
from boxwood.concepts import ConceptProjector, concept_text, make_concept_tree


def test_the_text_says_what_sides_mean():
    projector = ConceptProjector.from_vectors(np.eye(2), names=["red", "size"], meanings={"size": ("small", "large")})
    tree = ThresholdTree.from_dict(
        {
            "feature": 0,
            "threshold": 0.15731,
            "left": {"cluster": 0},
            "right": {"feature": 1, "threshold": -20.0, "left": {"cluster": 1}, "right": {"cluster": 2}},
        }
    )
    model = make_concept_tree(projector, MMDT()).fit([[0, 0], [1, -30], [1, -10]], ["frog", "ant", "fox"])
    model[-1].tree_ = tree
    model[-1].reference_ = boxwood.Reference([0, 1, 2], np.eye(3), ["frog", "ant", "fox"])
    expected = """
|--- red <= 0.157  (less red)
|   |--- frog
|--- red >  0.157  (more red)
|   |--- size <= -20  (small)
|   |   |--- ant
|   |--- size >  -20  (large)
|   |   |--- fox
"""
    assert concept_text(model) == expected.strip()


def test_the_text_of_a_concept_that_is_cut_again():
    projector = ConceptProjector.from_vectors(np.eye(2), names=["red", "size"], meanings={"size": ("small", "large")})
    model = make_concept_tree(projector, MMDT()).fit([[0, 0], [0, 1], [0, 5], [9, 5]], [0, 1, 2, 1])
    model[-1].tree_ = ThresholdTree.from_dict(
        {
            "feature": 1,
            "threshold": 3.0,
            "left": {"feature": 1, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}},
            "right": {"feature": 0, "threshold": 4.0, "left": {"cluster": 2}, "right": {"cluster": 1}},
        }
    )
    model[-1].reference_ = boxwood.Reference([0, 1, 2], np.eye(3), [7, "ant", "fox"])
    expected = """
|--- size <= 3  (small)
|   |--- size <= 0.5  (towards small)
|   |   |--- cluster 7
|   |--- size >  0.5  (towards large)
|   |   |--- ant
|--- size >  3  (large)
|   |--- red <= 4  (less red)
|   |   |--- fox
|   |--- red >  4  (more red)
|   |   |--- ant
"""
    assert concept_text(model) == expected.strip()


def test_the_text_of_pipelines_that_end_in_one(animals):
    Z, species = animals
    scaled = StandardScaler().fit_transform(Z)
    projector = ConceptProjector().fit(scaled, {"striped": species // 2, "large": species % 2})
    model = ConceptMMDT(FrozenEstimator(projector)).fit(scaled, species)
    piped = make_pipeline(StandardScaler(), clone(model)).fit(Z, species)
    assert concept_text(piped) == concept_text(model)
    with pytest.raises(ValueError, match="ConceptMMDT takes embeddings"):
        make_concept_tree(projector, model)


def test_the_text_of_intervals():
    projector = ConceptProjector.from_vectors(np.eye(2), names=["red", "size"])
    model = make_concept_tree(projector, MMDT()).fit([[0, 0], [1, 0]], ["frog", "ant"])
    for cut, inside, outside in (
        ([-1.0, 2.0], "-1 <= size <= 2", "size < -1  (less size) or > 2  (more size)"),
        ([-1.0, np.inf], "size >= -1  (more size)", "size <  -1  (less size)"),
    ):
        model[-1].tree_ = ThresholdTree.from_dict(
            {"feature": 1, "interval": cut, "inside": {"cluster": 0}, "outside": {"cluster": 1}}
        )
        assert concept_text(model) == f"|--- {inside}\n|   |--- ant\n|--- {outside}\n|   |--- frog"
