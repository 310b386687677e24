"""The report as a file: its structure, what it escapes, what it does not hold, and what it does without jinja2."""

import base64
import hashlib
import html
import json
import pickle
import re
import sys
import zlib
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import boxwood
from boxwood.errors import DataError
from boxwood.explanation import ClusterStability, CutStability, HeldOut, LeftOut, Provenance, Stability
from boxwood.explanation.ask.provenance import Given, with_provenance
from boxwood.render import EXPORTERS
from boxwood.render.forms.text import notes_of
from boxwood.render.page import _template
from boxwood.render.page.page import _overlap
from boxwood.words.notes import gravest
from boxwood.words.values import category, three_digits
from tests.cases import make_case
from tests.command import invoke
from tests.models import read_model
from tests.scale import law, seeds, variants

HOSTILE_NAMES = (
    '</script><script>alert("1")</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><style>*{display:none}",
    "</title></textarea><!--",
    "--> ]]> &amp; &#60;b&#62;",
    "{{ 7 * 7 }} {% raw %} ${x} <% %>",
    "javascript:alert(1)",
    "https://example.org/a.js",
    "\x00 \x1b[31m \u2028 \u202egnp",
    "שלום עולם",
    "عمود > 3",
    "🌳 é 名前の長い列",
    "x" * 300,
    " ",
)
VOID = {"meta", "link", "img", "br", "input"}
MEGABYTE = 1_000_000


class Page(HTMLParser):
    """The elements of a page: tags with attributes, texts of scripts and styles, all other text; tags must nest."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.raw, self.words = [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag == "p" and self.open[-1] != "p":
            raise AssertionError("a paragraph ended early")
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            kind = self.elements[-1][1].get("type", self.open[-1])
            self.raw[kind] = self.raw.get(kind, "") + data
        else:
            self.words.append(data)

    @property
    def kinds(self):
        """Tags, each with its attributes."""
        return {(tag, *sorted(values)) for tag, values in self.elements}

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def attributes(self, name):
        return [values[name] for _, values in self.elements if name in values]


def customers(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "channel": rng.choice(["horeca", "retail", "web"], n),
            "orders": rng.integers(0, 30, n),
            "member": rng.random(n) < 0.4,
            "spend": np.exp(rng.normal(5, 1, n)),
        }
    )
    return frame, np.where(frame.member, "member", np.where(frame.spend > 200, "large", "small"))


@law(20)
def test_what_is_worth_knowing_stands_on_top(seed):
    """The cluster that its rules describe worst is named below the first sentence, and the gravest note."""
    X, y = make_blobs(300, n_features=4, centers=3 + seed % 4, cluster_std=1.0 + 5 * (seed % 3), random_state=seed)
    ex = boxwood.explain(X, y, max_leaf_nodes=3 + seed % 4)
    predicted = ex.predict(X)
    overlaps = [((predicted == c) & (y == c)).sum() / ((predicted == c) | (y == c)).sum() for c in range(ex.n_clusters)]
    text = Page(ex.to_html()).text
    top = text[text.index("The rules sort ") : text.index("What this rests on")]
    found = re.search(r"Worth knowing: (?:least certain is \d+ cluster (\d+) ?: (.*?)\.)?(?: |$)", top)
    if min(overlaps) == 1:
        assert found is None or found[1] is None
        return
    assert overlaps[int(found[1])] == min(overlaps)
    own = (y == int(found[1]), predicted == int(found[1]))
    mixed = [0 if c == int(found[1]) else (own[0] & (predicted == c)).sum() + (own[1] & (y == c)).sum() for c in set(y)]
    with_whom = re.search(r"mixed up most with \d+ cluster (\d+) \((\d+) rows?\)", found[0])
    assert mixed[int(with_whom[1])] == int(with_whom[2]) == max(mixed)
    if own[1].any():
        assert f"{(own[0] & own[1]).sum() / own[0].sum():.1%} of its rows" in found[0]
        assert f"{(own[0] & own[1]).sum() / own[1].sum():.1%} belong to it" in found[0]
    else:
        assert "no rule names it" in found[0]
    said_above = "the rules find only", "expect about "  # by the least certain cluster, and by what is measured
    said = gravest(note for note in notes_of(ex) if not note.startswith(said_above))
    assert said[1:40] in top


@law(6)
def test_what_is_worth_knowing_is_nothing_for_the_analyst_alone(seed, tmp_path):
    """Options of a command or of Python, and how a file is encoded, stand among the notes alone."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (300, 3)).round(2)
    table = pd.DataFrame(x, columns=["Größe", "Gewicht", "Höhe"])
    table["Ort"] = rng.choice(["München", "Köln"], 300)
    table["alone"] = np.where(seed % 3 == 0, 1, np.where(rng.random(300) < 0.5, 0, 900))
    for encoding in ("utf-8", "cp1252"):
        table.to_csv(tmp_path / "table.csv", index=False, encoding=encoding)
        options = [[], ["-k", "2"], ["-l", "Ort"]][seed % 3]
        invoke("explain", tmp_path / "table.csv", *options, "-q", "-o", tmp_path / "page.html")
        text = Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
        top = text[text.index("The rules sort ") : text.index("What this rests on")]
        assert not re.search(r"--[a-z]|\(-[a-z]\)|read as cp1252|Read as cp1252", top)
        notes = text[text.index("What this rests on") :]
        assert ("read as cp1252" in notes) == (encoding == "cp1252")
        assert re.search(r"--[a-z]|\(-[a-z]\)", notes)


@law(8)
def test_a_page_says_how_many_rows_are_odd(seed):
    """Also where rules and clusters never disagree; columns of few odd rows are not named."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(200, n_features=4, centers=3, cluster_std=0.3, random_state=seed)
    n_far = [0, 1, 4, 5, 30][seed % 5]
    X[:n_far, seed % 4] += np.where(rng.random(n_far) < 0.5, 300.0, 200.0)
    ex = boxwood.explain(X, y, columns=list("abcd"))
    found, odd = (
        re.search(r"(\S+) rows? (?:is|are) far from the rest of (.*?)\.", Page(ex.to_html()).text),
        ex.outliers(),
    )
    assert found[1] == (f"{len(odd):,}" if odd else "No")
    by = Counter(one.column for one in odd)
    assert dict(re.findall(r"([abcd]) \((\d+)\)", found[2])) == {name: str(n) for name, n in by.items() if n >= 5}
    assert "far from the rest" not in Page(ex.to_html(min_count=5)).text


@law(6)
def test_the_least_certain_cluster_is_also_one_that_does_not_return(seed):
    """Where stability was measured: rules that find all of a cluster say nothing of rows drawn again."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(9, 0.1, (100, 2))])
    ex = boxwood.explain(X, KMeans(3, n_init=1, random_state=seed))
    before = Page(ex.to_html()).text
    assert "returns when the rows are resampled" not in before
    stability = ex.stability(10, random_state=0)
    overlaps = [_overlap(one) for one in ex.clusters]
    certain = [min(pair) for pair in zip(overlaps, [one.jaccard for one in stability.clusters], strict=True)]
    text = Page(ex.to_html()).text
    found = re.search(
        r"least certain is \d+ cluster (\d+) ?:.*?; ([\d.]+)% of it returns when the rows are resampled", text
    )
    assert certain[int(found[1])] == min(certain) < 1
    assert f"{stability.clusters[int(found[1])].jaccard:.1%}" == f"{found[2]}%"


def test_sections_without_content_are_not_there():
    """No table of disagreement where there is none, and no word on it; a model that lacks it says so."""
    X, y = make_blobs(200, centers=3, cluster_std=0.1, random_state=0)
    ex = boxwood.explain(X, y)
    assert ex.agreement == 1
    for page in (Page(ex.to_html()), Page(read_model(ex.to_json()).to_html()), Page(ex.to_html(min_count=10))):
        assert "disagreement" not in page.attributes("id")
        assert "#disagreement" not in page.attributes("href")
        assert not re.search(r"misassigned\(\)|lacks .*clusters against rules", page.text)
    uncut = Page(boxwood.explain(np.zeros((20, 1)), np.arange(20) % 2).to_html())
    assert not {"what-if", "label"} & {*uncut.attributes("id")}


@pytest.fixture(scope="module")
def wine():
    X, y = make_blobs(300, n_features=6, centers=4, cluster_std=4.0, random_state=0)
    return boxwood.explain(X, y, max_leaf_nodes=6)


@pytest.mark.parametrize("weight", [1e19, 1e306])
def test_every_form_holds_heavy_weights(weight):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = 2 * (X[:, 0] > 0) + (X[:, 1] > 0.5)
    y[:2] = 3 - y[:2]  # which no rule finds
    limits = {"method": "cart", "max_leaf_nodes": 4}
    ex, light = (boxwood.explain(X, y, sample_weight=w, **limits) for w in (np.full(60, weight), None))
    for name in ("html", "sklearn", "text", "json"):
        assert EXPORTERS[name].write(ex)
    model = ex.to_sklearn()
    assert model.predict(X).tolist() == light.predict(X).tolist()
    assert model.tree_.n_node_samples.min() > 0
    shades, other = (re.findall(r'<td class="s(\d+)', EXPORTERS["html"].write(one)) for one in (ex, light))
    assert len(shades) == len(other) == ex.n_clusters**2


def test_sections_and_links(wine):
    page = Page(wine.to_html(title="Wines & more"))
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    links = [link.removeprefix("#") for link in page.attributes("href")]
    assert set(links) <= set(ids)
    sections = ["tree", "what-if", "clusters", "profile", "disagreement", "analysts"]
    assert [link for link in links if link in sections] == sections
    assert Counter(tag for tag, _ in page.elements)["h1"] == 1
    assert "Wines & more" in page.text
    assert "Price" not in page.text  # as these labels are compared by agreement
    assert f"They are right for {wine.agreement:.1%} of the rows; always guessing cluster" in page.text
    for cluster in wine.clusters:
        assert f"cluster {cluster.name} ({cluster.size:,.0f} rows, {cluster.share:.1%})" in page.text  # at the top
    by_method = boxwood.explain(*make_blobs(60, random_state=0), method="imm")
    assert f"Price of explainability {by_method.price:.3f}" in Page(by_method.to_html()).text
    for form in ("Text", "SQL", "Python", "JavaScript", "Spreadsheet formula for row 2 under a row of names"):
        assert f"Copy {form}" in page.attributes("aria-label")
    assert "How stable" not in page.text


def test_worth_and_suggested_names():
    frame, _ = customers()
    frame.loc[5, "spend"] = np.nan
    looked_at = ["orders", "member"]
    ex = boxwood.explain(frame, n_clusters=3, columns=looked_at, value_column="spend", standardize=True, random_state=0)
    labels, worth = ex._rows().task.reference.labels, ex.totals("spend", frame)
    for i, one in enumerate(worth.clusters):
        assert one.total == pytest.approx(np.nansum(frame.spend[labels == i]))
    assert sum(one.share for one in worth.clusters) == pytest.approx(1)
    assert worth.n_missing == 1
    assert read_model(ex.to_json())._kept["totals"] == worth
    named = ex.rename({0: "first", 1: "second", 2: "third"})
    seen = [tag for tag in page_of(named).elements if tag[1].get("class") == "named"]
    assert len(seen) == 3  # heads of the profile's columns
    assert not [tag for tag in page_of(ex).elements if tag[1].get("class") == "named"]  # as the chips say the same
    assert "columns are used" not in page_of(ex).text
    assert (
        f"spend: {three_digits(worth.clusters[0].total)} in total, {worth.clusters[0].share:.1%} of all"
        in page_of(ex).text
    )
    assert f"{three_digits(worth.clusters[0].total)} in total" in page_text(ex)
    assert "in total" not in page_text(ex.clusters)
    assert "in total" not in Page(ex.to_html(min_count=10)).text
    assert "share  a row" in str(ex)
    assert ex.totals("orders").total == pytest.approx(frame.orders.sum())  # which was looked at: from the profile
    for wrong, values in (("spend", None), ("member", None), ("spend", frame.spend[:3]), ("x", ["a"] * 400)):
        with pytest.raises(DataError):
            ex.totals(wrong, values)
    names = ex.suggested_names()
    assert len(set(names.values())) == len(names)
    assert all(
        word.startswith(("high ", "low ", "member", "not member"))
        for name in names.values()
        for word in name.split(", ")
    )
    assert f"Suggested name: {names[0]}" in page_of(ex).text
    assert "Suggested name" not in page_of(ex.rename({"cluster 0": "a"})).text
    noise = boxwood.explain(np.random.default_rng(0).normal(size=(90, 1)), [0, 1, 2] * 30)
    assert noise.suggested_names() == {}


@law(4)
def test_one_number_is_told_of_new_rows(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(90, 12)), columns=list("abcdefghijkl"))
    labels = np.where(rng.random(90) < 0.3, rng.integers(0, 5, 90), (frame.a > 0) + 2 * (frame.b > 0))
    ex = boxwood.explain(frame, labels)
    assert any(note.startswith("expect about ") for note in ex.notes)
    for told in (Page(ex.to_html()).text, str(boxwood.explain(frame, labels, validate=3))):
        assert len({*re.findall(r"[Ee]xpect about (\d+)% on new rows", told)}) == 1


def page_of(ex):
    return Page(ex.to_html())


@law(4)
def test_days_of_ages_are_told_and_rows_that_are_later(seed):
    rng, n = np.random.default_rng(seed), 300
    days = rng.choice([-400, -200, -30, 0, 40], n, p=[0.3, 0.3, 0.28, 0.1, 0.02])
    frame = pd.DataFrame({"seen": pd.Timestamp("2026-07-31") + pd.to_timedelta(days, "D"), "spend": rng.normal(size=n)})
    ex = boxwood.explain(frame, (days < -100).astype(int), as_of="2026-07-31")
    n_later = int((days > 0).sum())
    said = f"{n_later} rows" if n_later >= 5 else "few rows"
    told = f"Ages from 2026-07-31; seen of {said} is later" if n_later else "Ages from 2026-07-31"
    assert told in page_of(ex).text
    assert "is later" not in Page(ex.to_html(min_count=10)).text
    assert "Ages from" not in page_of(boxwood.explain(frame, (days < -100).astype(int))).text


def test_what_it_rests_on_is_told_by_page_and_model(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    frame, labels = customers()
    frame.insert(0, "customer_id", np.arange(400) + 1000)
    frame.loc[3, "spend"] = np.nan
    ex = boxwood.explain(frame.assign(kind=labels, rows=1.0), "kind", sample_weight="rows", missing="drop")
    assert ex.provenance == Provenance(
        "a data frame of pandas",
        "2027-01-15",
        boxwood.__version__,
        "the column kind",
        7,
        (LeftOut("looks like an identifier", ("customer_id",)),),
        label="kind",
        types=(("member", "BOOLEAN"), ("spend", "DOUBLE")),
    )
    loaded = read_model(ex.to_json())
    assert loaded.provenance == ex.provenance
    for told in (ex, loaded):
        text = Page(told.to_html()).text
        assert "a data frame of pandas: 400 rows, 7 columns" in text
        assert "Made 2027-01-15, by boxwood" in text
        assert "Clusters from the column kind; columns in their own units" in text
        assert "Columns looked at 4 of 5: " in text
        assert any(note.startswith("4 of 5 columns are used: ") for note in told.notes)
        assert "Left out customer_id (looks like an identifier)" in text
        assert "Rows left out 1 lacks a value" in text
    chosen = boxwood.explain(frame.drop(columns="channel"), KMeans(2, n_init=1), columns=["orders", "member"])
    assert chosen.provenance.labels == "KMeans"
    assert chosen.provenance.left_out == (LeftOut("not chosen", ("customer_id", "spend")),)
    assert "Columns looked at those chosen: orders, member" in page_of(chosen).text
    frame.dropna().to_parquet(tmp_path / "t.parquet")
    scanned = boxwood.explain(boxwood.scan(tmp_path / "t.parquet"), n_clusters=2)
    assert scanned.provenance.source.endswith("t.parquet")
    assert [one.reason for one in scanned.provenance.left_out] == ["looks like an identifier"]


def test_other_values_of_a_column_of_words_are_said_to_be_those_of_the_table():
    table = pd.DataFrame({"country": ["AT", "CH", "USA"] * 9, "age": range(27)})
    ex = boxwood.explain(table, ["here", "here", "there"] * 9)
    page = page_of(ex).text
    assert "country is not USA" in page
    assert "Of country, “is not” means the other values that the table has. A row with a value that was never" in page
    assert "the other values" not in page_of(boxwood.explain(table[["age"]], ["a"] * 9 + ["b"] * 18)).text
    assert "the other values" not in page_of(boxwood.explain(table[:2], ["a", "b"], columns=["country"])).text


def test_names_that_no_file_can_hold_do_not_keep_a_model_from_being_written():
    given = Given("\udcff.csv", ("column 0", "\ud800"), "given labels")
    ex = with_provenance(boxwood.explain([[1.0], [9.0]], [0, 1]), given)
    loaded = read_model(ex.to_json())
    assert loaded.provenance.source == "?.csv"
    assert loaded.provenance.left_out[-1].columns[-1] == "?"


def test_a_model_of_before_has_no_basis(wine):
    entries = wine.to_dict()
    del entries["provenance"]
    old = read_model(json.dumps(entries))
    assert old.provenance is None
    assert "Source 300 rows Clusters from labels; columns in their own units" in Page(old.to_html()).text


def test_every_result_has_a_frame_in_a_notebook(wine, monkeypatch):
    X, y = make_blobs(60, n_features=2, centers=12, random_state=0)
    ex = boxwood.explain(X, np.array([f"<b>{i}" for i in range(12)])[y], method="cart")
    results = [ex.frontier(), ex.stability(2), ex.why(X[0]), ex.profile(), boxwood.compare(X, y % 3, methods=["imm"])]
    results += [
        ex.clusters,
        ex.misassigned(),
        ex.confusion(),
        ex.totals("x", X[:, 0]),
        wine.search_report,
        ex.provenance,
    ]
    for result in results:
        page = Page(html.unescape(result._repr_html_().split('srcdoc="')[1].split('"')[0]))
        assert "script" not in page.raw
        assert "b" not in {tag for tag, _ in page.elements}
        assert len(page.text) > 60
    assert "<b>11" in page_text(ex.profile())
    assert "<b>11" in page_text(ex.stability(2))
    short = page_text(wine)
    assert short.index("Clusters and their rules") < short.index("Agreement") < short.index("The tree")
    assert str(ex.profile()).splitlines()[0].split()[:2] == ["column", "<b>0"]
    assert ex.profile() == tuple(ex.profile())
    rules = page_text(ex.clusters)
    assert all(f"<b>{i}" in rules for i in range(12))
    assert rules.count(" <= ") > 10
    assert str(ex.clusters) == "\n".join(str(ex).splitlines()[2:15])
    later = (ex.rename({"<b>0": "first"}), read_model(ex.to_json()), ex.evaluate(X, ex.predict(X)))
    assert {type(one.clusters) for one in (ex, *later)} == {boxwood.explanation.Clusters}
    assert ex.clusters == tuple(ex.clusters)
    for result in (ex.misassigned(), ex.confusion()):
        again = pickle.loads(pickle.dumps(result))
        assert (again, again.names, result) == (result, ex.names, tuple(result))
    assert type(pickle.loads(pickle.dumps(ex.clusters))) is boxwood.explanation.Clusters
    assert pickle.loads(pickle.dumps(ex.profile())).names == ex.names
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _template._environment.cache_clear()
    assert ex.frontier()._repr_html_() == f"<pre>{html.escape(str(ex.frontier()))}</pre>"
    _template._environment.cache_clear()


def page_text(result):
    """Return the text in the frame of a result."""
    return Page(html.unescape(result._repr_html_().split('srcdoc="')[1].split('"')[0])).text


def test_the_page_is_the_same_each_time(wine):
    assert wine.to_html() == wine.to_html()
    assert EXPORTERS["html"].write(wine, title="a") == wine.to_html(title="a")


def test_nothing_is_loaded_and_only_one_script_may_run(wine):
    for text in (wine.to_html(), html.unescape(wine._repr_html_().split('srcdoc="')[1].split('"')[0])):
        page = Page(text)
        assert all(link.startswith("#") for link in page.attributes("href"))
        assert page.attributes("src") == page.attributes("style") == []
        assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)|\bfetch\b|XMLHttp", text)
        names = {name for _, values in page.elements for name in values}
        assert not [name for name in names if name.startswith("on")]
        assert not {tag for tag, _ in page.elements} & {"iframe", "img", "link", "object", "embed", "base"}
        (policy,) = [values["content"] for tag, values in page.elements if values.get("http-equiv")]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
        assert rules.get("img-src") == rules.get("worker-src") == ("blob:" if "script" in page.raw else None)
        assert rules["style-src"] == quoted_hash(page.raw["style"])
        assert rules.get("script-src") == (quoted_hash(page.raw["script"]) if "script" in page.raw else None)


def quoted_hash(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("first", range(0, len(HOSTILE_NAMES), 3))
def test_hostile_names_stay_text(first):
    X, y = make_blobs(200, n_features=3, centers=3, cluster_std=6.0, random_state=0)
    names, pages = HOSTILE_NAMES[first : first + 3], []
    for columns, clusters, title in ((["a", "b", "c"], ["u", "v", "w"], "t"), (names, names, names[0])):
        labels = np.array([f"{i} {cluster}" for i, cluster in enumerate(clusters)], dtype=object)[y]
        ex = boxwood.explain(X, labels, columns=list(columns), method="cart", max_leaf_nodes=5)
        pages.append(Page(ex.to_html(title=title)))
    tags = [Counter(tag for tag, _ in page.elements if tag not in ("text", "path", "option")) for page in pages]
    assert tags[0] == tags[1]  # labels of bars that do not fit are left out
    assert pages[1].kinds <= pages[0].kinds
    json.loads(pages[1].raw["application/json"])


def test_hostile_categories_stay_text():
    frame, _ = customers()
    pages = []
    for first in ("horeca", HOSTILE_NAMES[0]):
        named = pd.DataFrame({"channel": frame.channel.replace("horeca", first), "spend": frame.spend / 1e4})
        encoded = make_column_transformer((OneHotEncoder(), ["channel"]), remainder="passthrough")
        ex = boxwood.explain(named, make_pipeline(encoded, KMeans(3, random_state=0, n_init=1)))
        pages.append(Page(ex.to_html()))
    assert pages[0].kinds == pages[1].kinds
    columns = json.loads(pages[1].raw["application/json"])["columns"]
    assert any(category(HOSTILE_NAMES[0]) in column["values"] for column in columns if column["values"])


def test_the_rules_in_the_page_are_those_that_run(wine):
    rules = json.loads(Page(wine.to_html()).raw["application/json"])
    tested = wine.tree.features.tolist()
    for i, node in enumerate(rules["nodes"]):
        if len(node) == 1:
            assert node == [wine.tree.cluster[i]]
        else:
            assert tested[node[0]] == wine.tree.feature[i]
            assert (-np.inf if node[1] is None else node[1]) == wine.tree.lower[i]
            assert (np.inf if node[2] is None else node[2]) == wine.tree.upper[i]
            assert node[3] == wine.tree.second[i]


def test_typical_values_lie_in_their_cluster():
    frame, labels = customers()
    ex = boxwood.explain(frame.drop(columns="channel"), labels, max_leaf_nodes=6)
    rules = json.loads(Page(ex.to_html()).raw["application/json"])
    tested = ex.tree.features.tolist()
    assert any(rules["typical"])
    for cluster, values in enumerate(rules["typical"]):
        if values is not None:
            row = np.zeros((1, len(ex.columns)))
            row[0, tested] = [float(value) for value in values]
            assert ex.tree.predict(row)[0] == cluster


def test_no_row_of_the_table_is_in_the_page():
    rng = np.random.default_rng(0)
    X, y = make_blobs(500, n_features=5, centers=3, cluster_std=3.0, random_state=1)
    X += rng.normal(scale=1e-6, size=X.shape)  # every value has many digits
    ex = boxwood.explain(X, y, max_leaf_nodes=8)
    page = ex.to_html()
    numbers = set(re.findall(r"-?\d+\.\d+(?:e-?\d+)?", page))
    assert not numbers & {repr(value) for value in X.ravel().tolist()}
    assert not numbers & {f"{value:.6g}" for value in X.ravel().tolist()}


def test_groups_of_few_rows_are_told_unless_counts_are_to_be_rounded():
    X = np.concatenate([np.full(90, 1.0), np.full(60, 5.0), np.full(2, 9.0)])[:, None] + np.arange(152)[:, None] * 1e-3
    labels = ["low"] * 90 + ["middle"] * 60 + ["tiny"] * 2
    ex = boxwood.explain(X, labels, columns=["age"])
    told, all_told = Page(ex.to_html(min_count=5)), Page(ex.to_html())
    assert "2 rows" in all_told.text
    assert "152 rows" in all_told.text
    assert "tiny is 2 rows: its values are not shown" in all_told.text
    assert "tiny is fewer than 5 rows: its values are not shown" in told.text
    assert not re.search("[1-9]*[1-46-9] rows", told.text)
    assert "9.15" not in all_told.text + told.text  # the median of the two
    rules = json.loads(told.raw["application/json"])
    assert [values is None for values in rules["typical"]] == [False, False, True]
    for wrong in (0, -1, 2.5, "5"):
        with pytest.raises((TypeError, ValueError), match="min_count"):
            ex.to_html(min_count=wrong)
    with pytest.raises(ValueError, match="min_count=1000 rounds all counts to 0"):
        ex.to_html(min_count=1000)


def test_bars_of_few_rows_are_rounded_away():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 200), rng.normal(6, 1, 200), [2.9]])[:, None]
    ex = boxwood.explain(X, [0] * 200 + [1] * 200 + [1], columns=["age"])
    bars = [sum(path.count("M") for path in Page(ex.to_html(min_count=n)).attributes("d")) for n in (5, None)]
    assert bars[0] < bars[1]


@pytest.mark.parametrize(("n_columns", "n_clusters", "leaves"), variants((60, 15, 18), (200, 10, 30)))
def test_a_page_is_below_a_megabyte(n_columns, n_clusters, leaves):
    X, y = make_blobs(1500, n_features=n_columns, centers=n_clusters, cluster_std=9.0, random_state=0)
    ex = boxwood.explain(
        X, y, method="cart", max_leaf_nodes=leaves, columns=[f"measurement_{j}" for j in range(n_columns)]
    )
    page = ex.to_html()
    assert len(page.encode()) < MEGABYTE
    assert f"{n_columns - 40} more are not shown" in Page(page).text


def test_many_clusters_and_leaves():
    X, y = make_blobs(400, n_features=3, centers=60, cluster_std=1.0, random_state=0)
    page = Page(boxwood.explain(X, y, method="imm").to_html())
    assert "The most frequent mistakes" in page.text
    patterns = [name for name in page.attributes("id") if name.startswith("hatch")]
    assert patterns == [f"hatch{cluster}" for cluster in range(10, 30)]  # colours come again with stripes
    ex = boxwood.explain(np.arange(160.0)[:, None], np.arange(160), method="imm")
    page = Page(ex.to_html())
    assert "too large for a picture" in page.text


def test_odd_tables_have_a_page():
    for seed in seeds(6):
        case = make_case(seed)
        X = case.X / np.abs(case.X).max() * (1.0, 1e300, 1e-310, 0.0)[seed % 4]
        try:
            ex = boxwood.explain(X, case.labels, sample_weight=case.weights)
        except DataError:
            continue
        for one in (ex, read_model(ex.to_json())):
            page = Page(one.to_html())
            drawn = [values.get(name, "") for _, values in page.elements for name in ("d", "x", "y", "width", "points")]
            assert not [text for text in drawn if re.search("nan|inf|e", text or "")]
            assert "iframe" in one._repr_html_()


def test_one_leaf():
    ex = boxwood.explain(np.zeros((20, 1)), [0] * 12 + [1] * 8)
    page = Page(ex.to_html())
    assert "what-if" not in page.attributes("id")
    assert "every row" in page.text


def test_a_loaded_model_shows_what_it_knows(wine):
    model = read_model(wine.to_json())
    page = Page(model.to_html())
    assert "what-if" in page.attributes("id")
    assert "disagreement" not in page.attributes("id")
    assert f"{wine.agreement:.1%}" in page.text
    assert "iframe" in model._repr_html_()
    before = replace(wine, _kept={})
    assert "holds no rows" not in Page(before.to_html()).text
    without = Page(read_model(replace(wine, _kept={}).to_json()).to_html()).text
    assert (
        "so this page lacks the profile of the columns, the table of clusters against rules, the results of smaller "
        "and larger trees. A page that is written from the table has them (boxwood explain FILE -o report.html); a "
        "model has them if profile() and frontier() were called before save"
    ) in without
    assert (
        "so this page lacks the table of clusters against rules. A page"
        in Page(read_model(before.to_json()).to_html()).text
    )


def test_weights_and_rows_left_out():
    X, y = make_blobs(300, n_features=3, centers=3, random_state=0)
    page = Page(boxwood.explain(X, np.where(np.arange(300) < 20, -1, y), sample_weight=np.full(300, 2.5)).to_html())
    assert "weight" in page.text
    assert "280 rows" in page.text


def test_the_profile_says_how_old_dates_are_about():
    """Not to the day, as a median may be that of a row."""
    frame = pd.read_csv("examples/customers.csv")
    text = Page(boxwood.explain(frame, "segment", as_of="2026-07-31").to_html()).text
    said = text[text.index("What each cluster is like") : text.index("Where rules and clusters disagree")]
    days = (pd.Timestamp("2026-07-31") - pd.to_datetime(frame.last_order)).dt.days
    for _, own in days.groupby(frame.segment):
        found = re.findall(r"(\d+) days ago", said)
        assert any(abs(int(told) - own.median()) <= 5 for told in found)
        assert all(int(told) % 10 == 0 for told in found)


def test_stability_and_held_out_rows_are_shown_where_they_are_known(wine):
    clusters = tuple(ClusterStability(i, name, 0.9, 0.8) for i, name in enumerate(wine.names))
    cuts = (CutStability(0, wine.columns[0], 1.5, 0.75, 1.0, 2.0),)
    ex = replace(wine, _kept={}, held_out=HeldOut(0.625, 1.2, 90, "30% of the rows"))
    ex._kept["stability"] = Stability(50, 300, True, clusters, cuts, 0.1, "stable", "The clusters are stable.", 0)
    text = Page(ex.to_html()).text
    assert "The clusters are stable." in text
    assert "0.90" in text
    assert "75%" in text
    assert "Expect about 62% on new rows like these." in text
    assert "Held out: 30% of the rows." in text


def test_nothing_is_made_by_hand_where_numbers_are_not_exact_or_thresholds_are_given():
    X, y = make_blobs(300, n_features=2, centers=3, cluster_std=3.0, random_state=0)
    ex = boxwood.explain(X, y, max_leaf_nodes=4, columns=["a", "b"])

    def made_by_hand(page):
        packed = re.search(r'id="own">([^<]*)<', page)[1]
        return json.loads(zlib.decompress(base64.urlsafe_b64decode(packed), wbits=-15))

    known = made_by_hand(ex.to_html())
    assert known["cuts"]
    assert len(known["trees"]) > 1
    assert 'id="by-hand"' not in ex.to_html(min_count=5)
    assert 'id="by-hand"' not in boxwood.explain(X, np.append(y[1:], 9), max_leaf_nodes=4).to_html()
    ends = {"a": [-2, 0, 2], "b": [0, 2, 4]}
    given = boxwood.explain(X, y, max_leaf_nodes=4, columns=["a", "b"], cuts=ends).to_html()
    rounded = boxwood.explain(X, y, max_leaf_nodes=4, round_thresholds=1).to_html()
    assert not made_by_hand(given)["cuts"] | made_by_hand(rounded)["cuts"]


def test_new_rows_are_tested_where_that_is_quick():
    X, y = make_blobs(300, n_features=4, centers=3, cluster_std=6.0, random_state=0)
    ex = boxwood.explain(X, y, max_leaf_nodes=4)
    known = boxwood.explain(X, y, max_leaf_nodes=4, validate=3).held_out
    text = Page(ex.to_html()).text
    assert f"Expect about {known.agreement:.0%} on new rows like these." in text
    assert "Held out: 3 folds." in text
    assert ex.held_out is None
    by_cost = boxwood.explain(np.tile(X, (20, 1)), n_clusters=3)  # whose trees grow quickly
    assert "Expect about" in Page(by_cost.to_html()).text
    not_tested = "How well they do on new rows was not tested."
    many = boxwood.explain(np.tile(X, (100, 1)), np.tile(y, 100), max_leaf_nodes=4)
    for page in (ex.to_html(min_count=5), many.to_html(), boxwood.explain(X, y, method="cart").to_html()):
        assert not_tested in Page(page).text


def test_writing_a_file(wine, tmp_path):
    path = tmp_path / "report.html"
    assert wine.to_html(path) is None
    assert path.read_text(encoding="utf-8") == wine.to_html()
    wine.to_html(path, title="a\ud800")
    assert "\\ud800" in path.read_text(encoding="utf-8")


def test_without_jinja2(wine, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _template._environment.cache_clear()
    try:
        with pytest.raises(ImportError, match=r"^the report needs jinja2: pip install jinja2$"):
            wine.to_html()
        assert wine._repr_html_() == f"<pre>{html.escape(str(wine))}</pre>"
        estimator = boxwood.IMM(n_clusters=3, random_state=0).fit(load_iris().data)
        assert "<pre>" in estimator._repr_mimebundle_()["text/html"]
    finally:
        _template._environment.cache_clear()


def test_estimators_keep_the_picture_of_scikit_learn():
    X = load_iris().data
    estimator = boxwood.IMM(n_clusters=3, random_state=0)
    assert "iframe" not in estimator._repr_html_()
    estimator.fit(X)
    shown = estimator._repr_mimebundle_()["text/html"]
    assert re.sub(r"id-\d+", "", shown) == re.sub(r"id-\d+", "", estimator._repr_html_())
    assert "sk-container" in shown
    assert shown.index("sk-container") < shown.index("<iframe")
    assert 'sandbox="allow-same-origin"' in shown  # no script
    pipeline = make_pipeline(StandardScaler(), estimator)
    assert "iframe" not in pipeline._repr_html_()
    with config_context(display="text"):
        assert not hasattr(estimator, "_repr_html_")
        assert "text/html" not in estimator._repr_mimebundle_()
    mixture = boxwood.Mixture.of(X, load_iris().target)
    assert "iframe" not in boxwood.MMDT().fit_mixture(mixture)._repr_html_()


def test_the_page_of_many_clusters_and_columns_is_small():
    X, y = make_blobs(600, n_features=300, centers=24, cluster_std=6.0, random_state=0)
    ex = boxwood.explain(X, y, method="cart", max_leaf_nodes=24)
    text = ex.to_html()
    assert len(text.encode()) < 480_000
    assert re.search(r"270 more\s+are not shown", Page(text).text)


def test_a_page_without_other_trees_says_why():
    X, y = make_blobs(300, n_features=12, centers=4, cluster_std=8.0, random_state=0)
    few = boxwood.explain(X, y, max_leaf_nodes=4)
    many = boxwood.explain(X, y, method="cart", max_leaf_nodes=30)
    cases = [
        (few, {}, ""),
        (few, {"min_count": 5}, "Smaller and larger trees are not shown here: counts are rounded."),
        (boxwood.explain(X, np.append(y[1:], 9)), {}, "not shown here: a cluster has few rows."),
        (boxwood.explain(X, y, method="cart", max_leaf_nodes=50), {}, "not shown here: they would be too large."),
        (many, {}, "Trees without a column are shown for rules of up to 8 columns."),
    ]
    for ex, options, why in cases:
        page = ex.to_html(**options)
        assert why in page
        assert ("not shown here: " in page or "Trees without a column are shown" in page) == bool(why)
    assert many.tree.features.size > 8


def test_a_note_on_fewer_leaves_knows_the_tree_of_the_slider():
    """Which is cut from another one, so that it may be right for fewer rows than the one that was looked at."""
    told = 0
    for seed in seeds(6, least=4):
        wine = load_wine(as_frame=True)
        frame = wine.data.sample(160, random_state=seed)
        page = boxwood.explain(frame, wine.target[frame.index].to_numpy()).to_html()
        beside = r"(?: \(those of this page for (.*?)\))?"
        note = re.search(rf"rules of (\d+) leaves are right for ([\d.]+%) of the rows{beside}", page)
        sizes = re.search(r'data-sizes="([^"]*)"', page)[1].replace("_", " ")
        if note and (on_slider := re.search(rf"(?:^|[^\d]){note[1]} leaves: right for ([\d.]+%)", sizes)):
            assert on_slider[1] in (note[3] or note[2])
            told += note[3] is not None
    assert told


def test_a_page_of_one_column_has_no_tree_without_it():
    rng = np.random.default_rng(1)
    age = rng.uniform(20, 60, 300).round(1) + 300 * rng.integers(0, 2, 300)
    table = pd.DataFrame({"age": age, "town": rng.choice([f"town {i}" for i in range(30)], 300)})
    assert "Without a column" not in boxwood.explain(table).to_html()


def test_a_cluster_whose_sizes_a_changed_file_made_senseless_is_none_that_is_least_certain():
    one = boxwood.explain(np.arange(20.0)[:, None], np.arange(20) // 10).clusters[0]
    assert _overlap(one._replace(size=2.0, matched=0.0, found=1.0)) == 1
