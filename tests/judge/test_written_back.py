"""Every SQL that boxwood writes is read back as the same rules: no row differs, at cuts, without values and unseen."""

import numpy as np

import boxwood as bw
from boxwood.render.forms.dialects import DIALECTS
from tests.rule_cases import (
    COLUMNS,
    categories,
    categories_with_missing,
    expected,
    explanation,
    explanation_with_gaps,
    rows,
)
from tests.scale import drawn, law

DIALECTS_NOW = sorted(DIALECTS)


def case(seed):
    rng = np.random.default_rng(seed)
    with_gaps = seed % 2 == 1
    known = categories_with_missing(rng) if with_gaps else categories(rng)
    ex = (explanation_with_gaps if with_gaps else explanation)(rng, known)
    columns = rows(rng, known, 40)
    return ex, dict(zip(COLUMNS, columns, strict=True)), expected(ex, known, columns)


@law(24)
def test_sql_is_read_back(seed):
    ex, table, right = case(seed)
    for dialect in drawn(DIALECTS_NOW, seed // 2):
        layout = "nested" if ex.tree.depth <= 10 and seed % 3 == 0 else "flat"
        rules = bw.read_rules(ex.to_sql(dialect, layout=layout), dialect)
        assert rules.predict(table).tolist() == right, dialect
