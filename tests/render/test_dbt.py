"""A model of dbt: the query as it is, but for the name of the table, and tests that hold for what the query gives."""

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest
import yaml

import boxwood as bw
from boxwood.errors import DataError
from tests.render.test_hostile_names import NAMES
from tests.scale import law


def by_dbt(text):
    """Return what dbt makes of a text of a project."""
    return jinja2.Template(text).render(ref=lambda *parts: ".".join(parts), source=lambda *parts: "_".join(parts))


@law(12)
def test_the_files_do_what_they_say_whatever_the_names_are(seed):
    rng = np.random.default_rng(seed)
    column, word, *clusters = rng.choice(
        [name for name in NAMES if name.strip() and "\r" not in name], 4, replace=False
    )
    column, word = (f"{text}{rng.choice(['', '{{ x }}', '{% y %}', '{# z'])}" for text in (column, word))
    frame = pd.DataFrame({column: [word, word, "p", "q"] * 3})
    clusters = [0, 7] if seed % 4 == 3 else [str(name) for name in clusters]
    ex = bw.explain(frame, [clusters[0], clusters[0], clusters[1], clusters[1]] * 3)
    files = ex.to_dbt("shop_rows", "duckdb", reasons=bool(seed % 2))
    assert sorted(files) == ["schema.yml", "shop_rows_clusters.sql"]
    with duckdb.connect() as con:
        con.register("shop_rows", pd.concat([frame, pd.DataFrame({column: [None, "never"]})]))
        found = [row[-1] for row in con.execute(by_dbt(files["shop_rows_clusters.sql"])).fetchall()]
        (model,) = yaml.safe_load(by_dbt(files["schema.yml"]))["models"]
        (described,) = model["columns"]
        accepted = described["data_tests"][0]["accepted_values"]
        quote = "'" if accepted.get("quote", True) else ""
        values = ", ".join(f"{quote}{value}{quote}" for value in accepted["values"])
        names = [name for (name,) in con.execute(f"SELECT unnest([{values}])").fetchall()]
    assert model["name"] == "shop_rows_clusters"
    assert described["name"] == "cluster"
    assert {*found} - {None} <= {*names}
    assert {*names} == ({*map(str, ex.names), "missing", "never seen"} if seed % 2 else {*ex.names})


def test_the_table_is_a_model_or_an_expression():
    ex = bw.explain(pd.DataFrame({"x": [1.0, 2.0, 8.0, 9.0]}), ["a", "a", "b", "b"])
    for table, name, said in (
        ("customers", "customers_clusters", "{{ ref('customers') }}"),
        ("shop.customers", "customers_clusters", "{{ ref('shop', 'customers') }}"),
        ("{{ source('shop', 'rows') }}", "rows_clusters", "{{ source('shop', 'rows') }}"),
        ("{{ target.schema }}.rows", "rows_clusters", '{{ target.schema }}."rows"'),
        (" {{ ref('customers') }}\n", "customers_clusters", "{{ ref('customers') }}"),
        ("shop. {{ ref('customers') }} ", "customers_clusters", "\"shop\".{{ ref('customers') }}"),
    ):
        files = ex.to_dbt(table)
        assert [*files] == [f"{name}.sql", "schema.yml"]
        assert files[f"{name}.sql"].endswith(f"FROM {said}")
    words = pd.DataFrame({"word": ["{{ 1 }}", "plain"] * 2})
    in_braces = bw.explain(words, ["a", "b"] * 2, columns=["word"]).to_dbt(" {{ ref('t') }} ")
    assert in_braces["t_clusters.sql"].endswith("\nFROM {% endraw %}{{ ref('t') }}")
    template = "{{ ref('customers') }}"
    for dialect in ("postgres", "snowflake", "tsql", "bigquery"):
        assert f"FROM {template}" in ex.to_sql(dialect, table=template)
        assert f"FROM {template}" in ex.monitoring_sql(dialect, template)
    assert 'FROM "{{ a }} x {{ b }}"' in ex.to_sql("postgres", table="{{ a }} x {{ b }}")
    for table in ("", "''", "a..b"):
        with pytest.raises(ValueError, match="table must be"):
            ex.to_dbt(table)
    with pytest.raises(DataError, match="carriage return"):
        ex.rename({"a": "a\r"}).to_dbt("t")
    with pytest.raises(DataError, match="rename the cluster"):
        ex.rename({"a": "{{ a }}"}).to_dbt("t")
    words = pd.DataFrame({"word": ["{%- endraw %}{{ 1 }}", "plain"] * 2})
    with pytest.raises(DataError, match="hold endraw in braces"):
        bw.explain(words, ["a", "b"] * 2, columns=["word"]).to_dbt("t")
