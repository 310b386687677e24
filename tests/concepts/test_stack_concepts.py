"""Sets of examples for each concept become one table."""

import numpy as np
import pytest

from boxwood.concepts import ConceptProjector, stack_concepts
from boxwood.errors import DataError


def test_examples_by_concept_become_one_table(planted):
    red, grey = planted.Z[planted.is_red], planted.Z[~planted.is_red]
    Z, table = stack_concepts({"red": (red, grey), "large": (planted.Z[:7], None)}, pool=planted.Z, random_state=0)
    assert len(Z) == len(planted.Z) + 14
    assert np.nansum(table["red"]) == len(red)
    assert np.isnan(table["red"]).sum() == 14
    assert table["large"][-14:].tolist() == [1.0] * 7 + [0.0] * 7
    assert ConceptProjector().fit(Z, table).vectors_[0] @ planted.red > 0.97
    with pytest.raises(DataError, match="'red' has no negative examples; pass pool="):
        stack_concepts({"red": (red, None)})
    with pytest.raises(DataError, match="the same number of columns"):
        stack_concepts({"red": (red, grey[:, :3])})
    with pytest.raises(DataError, match="there is no concept: give"):
        stack_concepts({})
