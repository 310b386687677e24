"""Meaningless concepts beside the concepts."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.tree import DecisionTreeClassifier

from boxwood import MMDT, ConceptMMDT
from boxwood.concepts import ConceptProjector, concept_baseline
from boxwood.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:concepts that the embeddings do not predict:UserWarning")


@pytest.mark.full
@pytest.mark.parametrize("null", ["rename", "directions", "examples"])
def test_meaningless_concepts_beside_the_concepts(animals, null):
    Z, species = animals
    table = {"striped": species // 2, "large": species % 2}
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)
    options = {"examples": Z, "concepts": table, "null": null, "n_draws": 30, "random_state": 0}
    baseline = concept_baseline(ConceptProjector(), tree, Z, species, groups=species, **options)
    assert baseline.observed > 0.9
    assert len(baseline.draws) == 30
    assert baseline.p_value == (1 + (baseline.draws >= baseline.observed).sum()) / 31
    assert baseline.null == null
    assert null in str(baseline)
    same = (baseline.draws >= baseline.observed).mean()
    if null == "rename":  # 8 of 24 renamings turn or mirror the square; all others make a concept of two diagonals
        assert 0.1 < same < 0.6
        assert baseline.draws.min() < 0.5
    else:
        assert np.median(baseline.draws) < 0.9


def test_baselines_leave_noise_out_and_take_any_score(animals):
    Z, species = animals
    labels = np.where(np.arange(400) % 10 == 0, -1, species)
    call = {"examples": Z, "concepts": {"striped": species // 2}, "null": "directions", "n_draws": 3}
    call |= {"truth": species, "random_state": 0}
    scored = []

    def score(truth, predicted):
        scored.append((len(truth), set(np.unique(predicted).tolist()) <= {0, 1, 2, 3}))
        return adjusted_rand_score(truth, predicted)

    baseline = concept_baseline(ConceptProjector(), MMDT(), Z, labels, score=score, **call)
    assert scored == [(360, True)] * 4
    again = concept_baseline(ConceptProjector(), MMDT(), Z, labels, **call)
    assert np.array_equal(baseline.draws, again.draws)


def test_a_baseline_is_of_the_concepts_of_the_projector(animals):
    Z, species = animals
    table = {"striped": species // 2, "large": species % 2, "first": species == 0}
    call = {"examples": Z, "groups": species, "n_draws": 5, "random_state": 0}
    fitted = ConceptProjector().fit(Z, table).select(["striped"])
    expected = concept_baseline(ConceptProjector(), MMDT(), Z, species, concepts={"striped": table["striped"]}, **call)
    for projector in (fitted, FrozenEstimator(fitted)):
        baseline = concept_baseline(projector, MMDT(), Z, species, concepts=table, **call)
        assert baseline.observed == expected.observed
        assert np.array_equal(baseline.draws, expected.draws)
    frozen = concept_baseline(
        FrozenEstimator(fitted), MMDT(), Z, species, examples=Z, concepts=table, null="directions", n_draws=5
    )
    assert len(set(frozen.draws.tolist())) > 1


def test_only_as_many_projectors_are_learned_as_are_asked_for(animals):
    learned = []

    class Counting(ConceptProjector):
        def fit(self, X, y):
            learned.append(1)
            return super().fit(X, y)

    Z, species = animals
    call = {"examples": Z, "concepts": {"striped": species // 2}, "null": "examples", "n_draws": 3}
    concept_baseline(Counting(), MMDT(), Z, species, **call)
    assert len(learned) == 4


def test_errors_of_baselines(animals):
    Z, species = animals
    call = {"examples": Z, "concepts": {"striped": species // 2}, "n_draws": 2}
    with pytest.raises(ValueError, match="null must be one of"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, null="nothing", **call)
    with pytest.raises(DataError, match="truth must have a label for each of 400"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=species, truth=[0, 1], **call)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=species, **{**call, "n_draws": 0})
    with pytest.raises(ValueError, match=r"such as MMDT\(\); ConceptMMDT takes embeddings"):
        concept_baseline(ConceptProjector(), ConceptMMDT(ConceptProjector()), Z, species, groups=species, **call)
    with pytest.raises(ValueError, match="give groups="):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, **call)
    with pytest.raises(DataError, match="not constant within groups"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=np.arange(400) % 3, **call)
    with pytest.raises(DataError, match="one for each of 400 rows of embeddings, got 3"):
        concept_baseline(ConceptProjector(), MMDT(), Z, [0, 1, 2], groups=species, **call)
    unknown = {"examples": Z, "concepts": {"striped": np.where(species == 3, np.nan, species // 2)}, "n_draws": 2}
    with pytest.raises(DataError, match="not known in groups 3"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=species, **unknown)
