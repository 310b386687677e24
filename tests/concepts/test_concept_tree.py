"""Every explainer grows trees on concepts; unreliable concepts are refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.tree import DecisionTreeClassifier

import boxwood
from boxwood import CART, IMM, MMDT, Expand
from boxwood.concepts import ConceptProjector, concept_report, concept_text, make_concept_tree
from boxwood.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:concepts that the embeddings do not predict:UserWarning")


@pytest.mark.parametrize("tree", [IMM(), CART(), MMDT(), Expand(), DecisionTreeClassifier(max_leaf_nodes=4)])
def test_every_explainer_on_concepts(animals, tree):
    Z, species = animals
    names = np.array(["cat", "lion", "okapi", "zebra"])[species]
    projector = ConceptProjector().fit(Z, {"striped": species // 2, "large": species % 2})
    model = make_concept_tree(projector, tree).fit(Z, names)
    assert adjusted_rand_score(names, model.predict(Z)) > 0.9
    assert clone(model).fit(Z, names).predict(Z[:1]) == model.predict(Z[:1])
    if isinstance(tree, DecisionTreeClassifier):
        with pytest.raises(TypeError, match="with a boxwood tree"):
            concept_text(model)
        return
    lines = concept_text(model).splitlines()
    assert sum("(striped)" in line for line in lines) >= 1
    assert {line.split("--- ")[1] for line in lines if "=" not in line and ">" not in line} == set(names)


def test_explain_takes_scores_with_names(animals):
    Z, species = animals
    projector = ConceptProjector().fit(Z, {"striped": species // 2, "large": species % 2})
    scores = projector.set_output(transform="pandas").transform(Z)
    ex = boxwood.explain(scores, species, method="imm")
    rules = ex.rules()
    assert "striped" in rules
    assert "large" in rules
    assert ex.agreement > 0.9


def test_unreliable_concepts_are_refused(planted):
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    report = concept_report(projector, planted.Z, planted.concepts, n_permutations=99, random_state=0)
    with pytest.raises(DataError, match=r"unreliable concepts: coin; take projector.select"):
        make_concept_tree(projector, CART(), report=report)
    model = make_concept_tree(projector, CART(max_leaf_nodes=2), report=report, allow_unreliable=True)
    model.fit(planted.Z, projector.transform(planted.Z)[:, 2] > 0.1)
    assert concept_text(model, report).startswith("|--- coin (unreliable) <= 0.1")
    assert concept_text(model).startswith("|--- coin <= 0.1")
    make_concept_tree(projector.select(["red"]), CART())
    with pytest.raises(DataError, match="concepts of the projector, red, got one about red, size, coin"):
        make_concept_tree(projector.select(["red"]), CART(), report=report)
    with pytest.raises(TypeError, match="expected a fitted ConceptMMDT"):
        concept_text(projector)
