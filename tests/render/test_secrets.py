"""What is written holds no value of a single row: not of cells, and nothing of clusters of few rows but their rules."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import boxwood
from boxwood.explanation.measure.told import FEW, range_told
from boxwood.render import EXPORTERS
from tests.models import read_model
from tests.scale import law

pytestmark = pytest.mark.filterwarnings("ignore")
DIGITS = 9  # of a secret: what is said in few digits is the secret of nobody


def table_of_secrets(rng, n=60):
    """Return a table in which each cell comes once, and groups of its rows."""
    group = rng.integers(0, 3, n)
    odd = [f"{x:.7f}" for x in rng.normal(50, 20, n)]
    odd[int(rng.integers(n))] = "HIV positive, Maria Huber"
    euros = [f"{x:,.6f} €".translate(str.maketrans(",.", ".,")) for x in rng.normal(2e4, 5e3, n)]
    towns = [f"Town {x}" for x in rng.integers(0, 9, n)]
    towns[int(rng.integers(n))] = "Only Here"
    days = rng.choice(12_000, n, replace=False) + 2000 * group
    frame = pd.DataFrame(
        {
            "wage": rng.normal(3e4 + 2e4 * group, 4e3).round(6),
            "score": rng.normal(group * 3.0, 1).round(10),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(days, unit="D"),
            "value": rng.lognormal(8, 1, n).round(6),
            "weight": rng.uniform(0.5, 2, n).round(10),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(10)),
            "lab": odd,
            "income": euros,
            "name": [f"Person {x}" for x in rng.choice(10**9, n, replace=False)],
            "town": towns,
        }
    )
    return frame, np.array([f"grp{x}" for x in group])


def secrets_in(frame):
    """Return the texts of the cells that come once, as anybody might write them."""
    found = {}
    for name in frame:
        for value in frame[name].dropna().drop_duplicates(keep=False):
            if isinstance(value, pd.Timestamp):
                texts = [str(value.date()), repr(value.timestamp() / 86400)]
            else:
                texts = [value] if isinstance(value, str) else [repr(float(value)), f"{value:,}", f"{value:.{DIGITS}g}"]
            found |= dict.fromkeys((text for text in texts if len(text) >= DIGITS), name)
    return found


def written(ex):
    """Return everything that an explanation can be written as."""
    ex.profile()
    ex.totals("wage")
    said = {name: str(form.write(ex)) for name, form in EXPORTERS.items() if name not in ("onnx", "sklearn")}
    said |= {
        "dict": json.dumps(ex.to_dict()),
        "printed": str(ex),
        "notebook": ex._repr_html_(),
        "provenance": repr(ex.provenance),
    }
    said |= {"sentences": ex.to_text(style="sentences"), "rounded": ex.to_html(min_count=2)}
    loaded = read_model(ex.to_json())
    said |= {f"loaded {name}": EXPORTERS[name].write(loaded) for name in ("html", "json", "markdown", "sql")}
    return said


def leaks(said, secrets):
    """Return the forms in which a secret stands by itself."""
    numbers = {text: name for text, name in secrets.items() if re.fullmatch(r"[-\d.,]+", text)}
    found = []
    for form, text in said.items():
        here = set(re.findall(r"-?\d[\d.,-]*\d", text))
        found += [(form, name, secret) for secret, name in numbers.items() if secret in here]
        found += [(form, name, secret) for secret, name in secrets.items() if secret not in numbers and secret in text]
    return found


def explained(how, frame, labels, tmp_path, seed):
    """Return an explanation of the table, by one of the ways to read it."""
    weights, quick = "weight" if seed % 2 else None, {"method": "cart"}
    if how == "frame":
        return boxwood.explain(frame, labels, sample_weight=None if weights is None else frame[weights], **quick)
    if how == "clusters":
        return boxwood.explain(frame, n_clusters=4, standardize=True, random_state=seed, **quick)
    table = frame.assign(group=labels)
    if how == "csv":
        table.to_csv(tmp_path / "t.csv", index=False)
        return boxwood.explain(boxwood.scan(tmp_path / "t.csv"), "group", sample_weight=weights, **quick)
    return boxwood.explain(boxwood.scan(pa.Table.from_pandas(table)), "group", **quick)


@pytest.mark.parametrize("how", ["frame", "clusters", "csv", "arrow"])
@law(4)
def test_no_cell_is_written(how, tmp_path, seed):
    frame, labels = table_of_secrets(np.random.default_rng(seed))
    ex = explained(how, frame, labels, tmp_path, seed)
    tested = {ex.columns[j] for j in ex.tree.features.tolist()}
    named = {"town"} & tested  # rules need the words of such a column
    assert leaks(written(ex), {text: name for text, name in secrets_in(frame).items() if name not in named}) == []


def test_the_quoted_cell_is_for_the_person_at_the_terminal(tmp_path):
    frame, labels = table_of_secrets(np.random.default_rng(0))
    ex = explained("csv", frame, labels, tmp_path, 0)
    assert any("first 'HIV positive, Maria Huber' in row" in note for note in ex.notes)
    assert any(one.reason == "numbers, but text in few rows" for one in ex.provenance.left_out)
    assert "(numbers, but text in few rows)" in ex.to_html()
    loaded = read_model(ex.to_json())
    assert "left out, numbers, but text in few rows: lab" in loaded.notes
    made_up = [note for note in loaded.notes if note.startswith("read as numbers: income ('1.234,5 €' is 1234.5)")]
    assert made_up
    assert made_up[0] not in ex.notes


def with_few(rng, n_few):
    """Return a table with a cluster of few rows, whose values nobody else has, and its labels."""
    n = 80
    group = np.repeat([0, 1, 2], [40, 40 - n_few, n_few])
    frame = pd.DataFrame(
        {
            "x": group * 10 + rng.normal(size=n),
            "salary": np.where(group == 2, 913_777.0, 30_000.0) + rng.normal(0, 500, n),
            "member": np.where(group == 2, 1.0, 0.0),
            "joined": pd.Timestamp("2001-01-01")
            + pd.to_timedelta(np.where(group == 2, 9000, 0) + rng.integers(0, 900, n), unit="D"),
            "town": np.where(group == 2, "Phuket", rng.choice(["Ulm", "Bonn", "Köln"], n)),
        }
    )
    return frame, np.array(["staff", "sales", "head"])[group]


def changed(frame, labels):
    """Return the table with other values of the few rows, in the columns that no rule tests."""
    few = labels == "head"
    other = frame.assign(
        salary=frame.salary.where(~few, 12.0), joined=frame.joined.where(~few, pd.Timestamp("1980-05-05"))
    )
    return other.assign(member=frame.member.where(~few, 0.0), town=frame.town.where(~few, "Ulm"))


@law(16)
def test_a_page_is_the_same_whatever_the_few_are_like(seed):
    """So nothing of them can be worked out, from what is said of them, or of all rows and of others."""
    rng, n_few = np.random.default_rng(seed), 1 + seed % (FEW - 1)
    frame, labels = with_few(rng, n_few)
    pages = []
    for table in (frame, changed(frame, labels)):
        ex = boxwood.explain(table, labels, method="cart", max_leaf_nodes=3, forbidden=[*frame.columns[1:]])
        ex.profile()
        ex.totals("salary")
        loaded = read_model(ex.to_json())
        texts = [ex.to_html(), ex.to_html(min_count=FEW), ex.to_html(min_count=1 + seed % 3), loaded.to_html()]
        pages.append([without_all_rows(text) for text in (*texts, str(ex), ex._repr_html_())])
        page = texts[0]
        assert f"head is {'one row' if n_few == 1 else f'{n_few} rows'}: its values are not shown" in page
        assert "head is fewer than 5 rows: its values are not shown" in texts[1]
        assert not re.search(r"914k|Phuket|\b0 rows", page + texts[1])
        facts = ex.to_dict()
        assert all(column["clusters"][ex.names.index("head")] is None for column in facts["profile"])
        assert facts["totals"]["clusters"][ex.names.index("head")]["total"] is None
        pages[-1] += [facts[name] for name in ("profile", "totals", "spreads") if name in facts]
        assert "Phuket" not in json.dumps(facts)
    assert pages[0] == pages[1]


def without_all_rows(text):
    """Return a text without places among all rows, costs, and what is told of columns left out."""
    return re.sub(
        r'd="M[\d.]+ [15](H[\d.]+|V9)"|k-means hardly sees[^<\n]*|Note: the clusters are not compact[^<\n]*', "", text
    )


def test_a_cluster_of_few_rows_beside_weights(tmp_path):
    """Rows count, not what they weigh."""
    frame, labels = with_few(np.random.default_rng(0), 2)
    weights = np.where(labels == "head", 500.0, 1.0)
    frame.loc[0, "town"], weights[0] = "Lonely", 300.0
    ex = boxwood.explain(frame, labels, sample_weight=weights, forbidden=["town"])
    for count in (None, 5):
        page = ex.to_html(min_count=count)
        assert not re.search(r"914k|Lonely|weight 1,?000" if count else "914k|Lonely", page)
    ex.profile()
    assert not re.search(r"\b91[34]\d{3}\.|Lonely|Phuket", ex.to_json())


@law(24)
def test_ends_of_a_column_are_the_same_however_far_out_the_outer_rows_are(seed):
    """A page says beyond which ends a value is odd; no row tells them alone, and few rows are beyond them."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(2 * FEW, 600)), seed % 3
    values = np.sort([rng.normal(size=n), rng.lognormal(8, 2, n), rng.integers(0, 200, n) * 1.0][kind])
    farther = values.copy()
    farther[1 - FEW :] = values[1 - FEW :] * 8 + 100
    farther[: FEW - 1] -= 1000
    labels = np.arange(n) % 2
    labels[[0, -1]] = 2  # whose rows tell nothing
    found, other = (range_told(boxwood.explain(x[:, None], labels, method="cart"), 0) for x in (values, farther))
    assert found == other
    if found is not None:
        shown, (low, high) = values[labels < 2], found
        assert (shown < low).sum() < FEW > (shown > high).sum()
        assert not {low, high} & {*values.tolist()} - {0.0, *np.round(values)}
        assert low >= 0 or (shown < 0).sum() >= FEW


@law(24)
def test_bars_are_the_same_however_far_out_the_outer_rows_are(seed):
    """So neither the ends of the axis nor the bars tell an extreme, which is of a single row."""
    from boxwood.render.pictures.bars import bars_of_numbers

    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(20, 3000)), seed % 3
    values = np.sort([rng.normal(size=n), rng.lognormal(8, 2, n), rng.integers(0, 200, n) * 1.0][kind])
    n_outer = min(FEW, n // 4) - 1
    farther = values.copy()
    farther[-n_outer:] = values[-n_outer:] * 8 + 100
    farther[:n_outer] = np.floor(values[:n_outer] / 8 - 100) if kind != 1 else values[:n_outer] / 8
    cut = -np.inf, float(np.median(values))
    found, other = (bars_of_numbers(x, np.zeros(n, dtype=np.intp), 1, *cut) for x in (values, farther))
    assert found.ends == other.ends
    assert found.edges.tolist() == other.edges.tolist()
    assert found.counts.tolist() == other.counts.tolist()
