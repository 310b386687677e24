"""Files of CSV that are dropped on the report come back with the labels of `boxwood predict`, to the row."""

import base64
import csv
import gzip
import io
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import boxwood
from boxwood.errors import DataError
from boxwood.explanation.measure.told import FEW, range_told
from boxwood.render.forms.labels import write_labels
from tests.command import invoke
from tests.render.test_browser import opened  # noqa: F401  # the fixture
from tests.render.test_page import HOSTILE_NAMES
from tests.scale import seeds, share

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]
DROP = """async files => {
  const made = new Map(), make = URL.createObjectURL, drop = document.querySelector("#drop");
  URL.createObjectURL = blob => { const url = make.call(URL, blob); made.set(url, blob); return url; };
  const answers = [];
  for (const [name, bytes] of files) {
    const data = new DataTransfer(), of = document.querySelector("#labelled");
    data.items.add(new File([Uint8Array.from(atob(bytes), c => c.charCodeAt(0))], name));
    drop.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
    while (!of.querySelector(".found")) await new Promise(go => setTimeout(go, 5));
    const saved = of.querySelector(".save")?.href;
    answers.push([of.innerText, saved ? await made.get(saved).text() : null]);
  }
  URL.createObjectURL = make;
  return answers;
}"""
COLUMNS = ("age", "revenue", "country", "member", "since", "stars", "mark")


def frame(rng, n, *, gaps):
    segment = rng.integers(0, 4, n)
    found = pd.DataFrame(
        {
            "age": (20.0 + 15 * segment + rng.integers(0, 14, n)).round(),
            "revenue": (1000 * (segment % 2) + rng.gamma(2, 200, n)).round(2),
            "country": np.array(["DE", "AT", "NA", "Côte d'Ivoire", "CH"])[(segment + rng.integers(0, 2, n)) % 5],
            "member": rng.random(n) < 0.2 + 0.6 * (segment > 1),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(300 * segment + rng.integers(0, 250, n), unit="D"),
            "stars": 1 + (segment + rng.integers(0, 2, n)) % 5,
            "mark": rng.choice(["a b", "x,y", 'say "so"', "2;3"], n),
        }
    )
    for name in ("age", "revenue", "country", "since") if gaps else ():
        found[name] = found[name].mask(rng.random(n) < 0.1)
    return found, segment


def explained(rng):
    """Return an explanation of some columns of a table; a few clusters have names that a spreadsheet would run."""
    table, segment = frame(rng, 300, gaps=rng.random() < 0.5)
    kept = sorted({int(rng.choice([0, 1, 2, 4, 5])), *rng.choice(len(COLUMNS), size=rng.integers(0, 4)).tolist()})
    labels = segment if rng.random() < 0.5 else np.array(["=1+1", "b;c", "plain", 'q"uote'], dtype=object)[segment]
    ages = [name for name in ("since",) if "since" in table.columns[kept]]
    options = {"as_of": "2026-01-01"} if ages and rng.random() < 0.5 else {}
    noise = np.where(rng.random(len(segment)) < 0.1, np.roll(labels, 1), labels)
    return boxwood.explain(table[table.columns[kept]], noise, max_leaf_nodes=8, **options)


def written(rng, ex):
    """Return a file in some dialect, with values that the rules have and have not seen."""
    table, _ = frame(rng, int(rng.integers(1, 60)), gaps=rng.random() < 0.5)
    delimiter, decimal = rng.choice([",", ";", "\t", "|"]), rng.choice([".", ","])
    euro, groups, lower = rng.random(3) < (0.2, 0.2, 0.3)
    form = rng.choice(["%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y"]) if rng.random() < 0.2 else "%Y-%m-%d"
    missing = rng.choice(["", "NA", "n/a", "-", "NULL", "unknown"])

    def number(x, digits):
        text = f"{x:,.{digits}f}" if groups else f"{x:.{digits}f}"
        text = text.translate(str.maketrans(",.", ".,")) if decimal == "," else text
        return f"{text} €" if euro and digits else text

    cells = {
        "age": lambda x: number(x, 0),
        "revenue": lambda x: number(x, 2),
        "country": str,
        "member": lambda x: str(bool(x)).lower() if lower else ("yes" if x else "no") if groups else str(bool(x)),
        "since": lambda x: x.strftime(form),
        "stars": str,
        "mark": str,
    }
    names = list(rng.permutation([*COLUMNS, "extra"]))
    rows = []
    for _, row in table.iterrows():
        values = {name: missing if pd.isna(row[name]) else cells[name](row[name]) for name in COLUMNS}
        values["extra"] = str(rng.choice(["", "1", 'a "b"', "two\nlines", "=2", " x "]))
        if rng.random() < 0.05:
            values["country"] = str(rng.choice(["Atlantis", "constructor", "__proto__", ""]))
        if rng.random() < 0.05:
            values["since"] = str(rng.choice(["soon", "2023-02-30", "31.02.2026", "total"]))
        if rng.random() < 0.02:
            values["age"] = str(rng.choice(["none", "1e1", " 33 ", "inf", ".5", "forty"]))
        rows.append([values[name] for name in names])
    end = str(rng.choice(["\n", "\n", "\r\n"]))
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=str(delimiter), lineterminator=end)
    titles = [["Customers of the shop"], []] if rng.random() < 0.1 and len(rows) > 12 else []
    units = [["" if name != "revenue" else "EUR" for name in names]] if rng.random() < 0.1 and len(rows) > 12 else []
    total = [["Total", *[""] * (len(names) - 2), "12345"]] if rng.random() < 0.1 and len(rows) > 12 else []
    writer.writerows([*titles, names, *units, *rows, *total])
    text = out.getvalue()
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"]))
    return text.encode(encoding, "replace")


def labels_of(text):
    delimiter = max(",;\t|", key=text.split("\n")[0].count)
    return [row[-1] for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


def predicted(ex, folder):
    """Return the labels of a file, None if it is refused."""
    try:
        write_labels(ex, folder / "in.csv", folder / "out.csv")
    except DataError:
        return None
    return labels_of((folder / "out.csv").read_text(encoding="utf-8"))


def test_dropped_files_have_the_labels_of_predict(opened, tmp_path):  # noqa: F811
    n_labelled = n_refused = n_without = 0
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        ex = explained(rng)
        page = opened(ex)
        contents = [written(rng, ex) for _ in range(20)]
        files = [[f"{i}.csv", base64.b64encode(content).decode()] for i, content in enumerate(contents)]
        for i, (told, text) in enumerate(page.evaluate(DROP, files)):
            (tmp_path / "in.csv").write_bytes(contents[i])
            expected = predicted(ex, tmp_path)
            assert (text is None) == (expected is None), (seed, i, told)
            if expected is None:
                n_refused += 1
                continue
            assert labels_of(text.removeprefix("\ufeff")) == expected, (seed, i)
            n_labelled, n_without = n_labelled + 1, n_without + expected.count("")
            assert ("without a cluster" in told) == ("" in expected)
    assert n_labelled > share(120)
    assert n_without > share(100)
    assert n_refused < n_labelled / 2


def customers(tmp_path):
    rng = np.random.default_rng(5)
    table, segment = frame(rng, 400, gaps=False)
    return table, boxwood.explain(table[["age", "revenue", "country"]], np.array(["a", "b", "c", "d"])[segment])


def test_a_person_drops_a_file_and_saves_it(opened, tmp_path):  # noqa: F811
    table, ex = customers(tmp_path)
    table.loc[3, "age"] = np.nan
    table.loc[4, "country"] = "Atlantis"
    table.to_csv(tmp_path / "list.csv", index=False)
    page = opened(ex)
    page.set_input_files("#file", tmp_path / "list.csv")
    page.wait_for_selector("#labelled .save")
    with page.expect_download() as download:
        page.click("#labelled .save")
    assert download.value.suggested_filename == "list-labelled.csv"
    text = download.value.path().read_text(encoding="utf-8")
    ex.save(tmp_path / "model.json")
    found = invoke("predict", tmp_path / "model.json", tmp_path / "list.csv", "-q")
    assert labels_of(text) == labels_of(found.stdout)
    told = page.inner_text("#labelled")
    assert "400 rows read" in told
    for reason, n in (("age is missing", 1), ("country was never seen", 1)):
        tested = reason.split()[0] in [ex.columns[j] for j in ex.tree.features.tolist()]
        assert (f"{n} row: {reason}" in told) <= tested
    told = told.split("unlike most of the table")[0]
    assert told.count("row: ") + told.count("rows: ") == len({reason for reason in told.split("\n") if ": " in reason})
    with gzip.open(tmp_path / "list.csv.gz", "wb") as packed:
        packed.write((tmp_path / "list.csv").read_bytes())
    page.set_input_files("#file", tmp_path / "list.csv.gz")
    page.wait_for_selector("#labelled a[download='list-labelled.csv']")


def test_rows_whose_own_cluster_is_another_one_are_saved_apart(opened, tmp_path):  # noqa: F811
    table = pd.read_csv("examples/customers.csv")
    ex = boxwood.explain(table, "segment")
    page = opened(ex)
    page.locator("#disagreement ~ p a").click()
    page.set_input_files("#file", "examples/customers.csv")
    page.wait_for_selector("#labelled .save")
    exceptions = table[ex.predict(table) != table.segment]
    assert f"In {len(exceptions)} rows the column segment says another cluster than the rules." in page.inner_text(
        "#labelled"
    )
    with page.expect_download() as download:
        page.locator("#labelled .save").nth(1).click()
    assert download.value.suggested_filename == "customers-exceptions.csv"
    found = pd.read_csv(download.value.path())
    pd.testing.assert_frame_equal(found.drop(columns="cluster"), exceptions.reset_index(drop=True), check_dtype=False)
    assert found.cluster.tolist() == ex.predict(exceptions).tolist()
    page.locator("#by-hand .merge").first.click()
    scope = {"ex": ex}
    exec(page.text_content("#lines-of-python"), scope)
    page.get_by_text("Label customers.csv again").click()
    n = round((1 - scope["ex"].agreement) * 400)
    page.get_by_text(f"In {n} rows the column segment").wait_for()
    table.drop(columns="segment").to_csv(tmp_path / "bare.csv", index=False)
    page.set_input_files("#file", tmp_path / "bare.csv")
    page.wait_for_selector("#labelled a[download='bare-labelled.csv']")
    assert page.locator("#labelled .save").count() == 1


LABELS = {"words": ["a", "b", "none", "4"], "numbers": [1, 2, 3, 40], "truths": [True, False, True, False]}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_no_cluster_has_are_counted_apart(opened, tmp_path, kind):  # noqa: F811
    """Numbers and truths are the same in each form, such as 1.0 beside gaps; an empty cell is no label."""
    n_new = 0
    for seed in seeds(4, least=2):
        rng = np.random.default_rng(seed)
        table, segment = frame(rng, 300, gaps=False)
        table = table[["age", "revenue"]].assign(kind=np.array(LABELS[kind], dtype=object)[segment])
        ex = boxwood.explain(table.infer_objects(), "kind")
        page = opened(ex)
        rows = table.sample(120, random_state=seed).reset_index(drop=True)
        rows["kind"] = rng.permutation(rows.kind)
        if kind == "numbers" and seed % 2:
            rows["kind"] = rows.kind.astype(float)
        rows.loc[rng.random(120) < 0.1, "kind"] = None
        new = rng.random(120) < rng.choice([0.0, 0.02, 0.2])
        rows.loc[new, "kind"] = {"words": "Ada", "numbers": 7, "truths": "both"}[kind]
        rows.loc[rng.random(120) < 0.1, "age"] = None
        rows.to_csv(tmp_path / "list.csv", index=False)
        found = ex.predict(rows[["age", "revenue"]], missing="none").astype(object)
        missing = np.array([name not in ex.names for name in found])
        other = ~missing & ~new & rows.kind.notna().to_numpy() & (found != rows.kind)
        page.set_input_files("#file", tmp_path / "list.csv")
        page.get_by_text("120 rows read").wait_for()

        def counted(n, noun):
            return f"{n} {noun}{'' if n == 1 else 's'}"

        said = f"In {counted(other.sum(), 'row')} the column kind says another cluster than the rules"
        more = f", in {counted(new.sum(), 'more row')} a label that no cluster has." if new.any() else "."
        assert said + more in page.inner_text("#labelled")
        if (other | new).any():
            with page.expect_download() as download:
                page.locator("#labelled a[download='list-exceptions.csv']").click()
            assert len(pd.read_csv(download.value.path())) == (other | new).sum()
        n_new += new.sum()
    assert n_new


def test_a_name_that_is_given_on_the_page_is_a_label_of_its_cluster(opened, tmp_path):  # noqa: F811
    table = pd.read_csv("examples/customers.csv")
    ex = boxwood.explain(table, "segment")
    page = opened(ex)
    page.locator(".card .rename").first.click()
    page.keyboard.type("given here")
    page.keyboard.press("Enter")
    table["segment"] = table.segment.where(table.segment != ex.names[0], "given here")
    table.to_csv(tmp_path / "list.csv", index=False)
    page.set_input_files("#file", tmp_path / "list.csv")
    n = round((1 - ex.agreement) * 400)
    page.get_by_text(f"In {n} rows the column segment says another cluster than the rules.").wait_for()


def test_the_list_of_the_table_is_counted_from_its_day(opened):  # noqa: F811
    """A person who follows the link to the rows that disagree finds these, and not those that grew older since."""
    for as_of in ("2026-07-31", "2026-06-01", None):
        ex = boxwood.explain(pd.read_csv("examples/customers.csv"), "segment", as_of=as_of)
        page = opened(ex)
        told = page.inner_text("#disagreement ~ p.note:has(a)")
        assert ("ages counted from" in told, (as_of or "") in told) == (as_of is not None, True)
        page.set_input_files("#file", "examples/customers.csv")
        n = round((1 - ex.agreement) * 400)
        if as_of is not None:
            page.get_by_text(f"those of this page's table from {as_of}").wait_for()
            page.get_by_role("button", name=f"Count from {as_of}").focus()
            page.keyboard.press("Enter")
        page.get_by_text(f"In {n} rows the column segment says another cluster than the rules.").wait_for()
        assert page.get_by_text("those of this page's table").count() == 0


def test_rows_unlike_those_of_the_table_are_listed_with_why(opened, tmp_path):  # noqa: F811
    table = pd.read_csv("examples/customers.csv")
    for as_of in (None, "2026-07-31"):
        ex = boxwood.explain(table, "segment", as_of=as_of)
        page = opened(ex)
        if as_of:
            page.fill("#day", as_of)

        def odd_of(rows, page=page):
            path = tmp_path / f"list{len(rows)}.csv"
            rows.to_csv(path, index=False)
            page.set_input_files("#file", path)
            page.get_by_text(f"{len(rows)} rows read").wait_for()
            told, save = page.inner_text("#labelled"), page.locator("#labelled a[download$='-odd.csv']")
            if not save.count():
                return told, {}
            with page.expect_download() as download:
                save.click()
            found = pd.read_csv(download.value.path(), keep_default_na=False)
            assert found.columns.tolist() == [*rows.columns, "cluster", "odd"]
            rows_told, whys_told = told.split(" unlike most of the table")
            assert int(re.search(r"(\d+) rows?$", rows_told)[1]) == len(found)
            counts = Counter(why for one in found.odd for why in one.split("; "))  # of exactly these rows
            assert {why: int(n) for n, why in re.findall(r"(\d+) rows?: (.+)", whys_told)} == counts
            assert ("some for several reasons" in whys_told) == (counts.total() > len(found))
            return told, dict(zip(found.who.astype(int), found.odd, strict=True))

        rows = table.drop(columns="segment").assign(who=range(len(table)))
        assert len(odd_of(rows)[1]) <= 4 * (FEW - 1)  # few at each end of a column
        rows = rows.dropna().iloc[:20].reset_index(drop=True).assign(who=range(20))
        rows["plan"] = rows.plan.astype(object)
        low, high = -1, 1 + 2 * int(table.orders.max())
        changes = [("plan", "gold"), ("plan", None), ("orders", low), ("orders", high), ("last_order", None)]
        changes += [("last_order", "2031-01-01"), ("last_order", "1999-01-01"), ("country", "Atlantis"), ("age", 999)]
        for i, (name, value) in enumerate(changes):
            rows.loc[i, name] = value
        told, found = odd_of(rows)
        assert [found.get(i, "").rsplit(" ", 1)[0] for i in range(20)] == [
            "plan was never",
            "plan is",
            "orders is below",
            "orders is above",
            "last_order is",
            "last_order is after",
            "last_order is before",
            *[""] * 13,  # no rule asks for country and age
        ]
        assert "several reasons" not in told
        twice = rows.assign(orders=low).iloc[:10]
        assert "several reasons" in odd_of(twice)[0]
        assert found[3].endswith(f" {range_told(ex, ex.columns.index('orders'))[1]:g}")


def test_a_row_without_a_date_among_dates_has_no_cluster(opened, tmp_path):  # noqa: F811
    """It is counted with why, on the page as by the command; where most are none, the file is refused by both."""
    table = pd.read_csv("examples/customers.csv").dropna()
    ex = boxwood.explain(table, "segment", as_of="2026-07-31")
    page = opened(ex)
    page.fill("#day", "2026-07-31")
    for seed in seeds(6):
        rng = np.random.default_rng(seed)
        n, n_odd = 20, int(rng.integers(1, 18))
        rows, odd = table.sample(n, random_state=seed), rng.choice(n, n_odd, replace=False)
        whole = ex.predict(rows, as_of="2026-07-31").astype(object)
        rows.iloc[odd, rows.columns.get_loc("last_order")] = rng.choice(["soon", "31.02.2026", "2026-02-30"], n_odd)
        content = base64.b64encode(rows.to_csv(index=False).encode()).decode()
        ((told, text),) = page.evaluate(DROP, [["list.csv", content]])
        rows.to_csv(tmp_path / "in.csv", index=False)
        assert (text is None) == (2 * n_odd > n) == (predicted(ex, tmp_path) is None), told
        if text is not None:
            whole[odd] = ""
            assert labels_of(text)[1:] == whole.tolist()
            assert f"{n_odd} row{'' if n_odd == 1 else 's'}: last_order is no date such as 2026-" in told


def test_what_cannot_be_labelled_is_refused_in_words(opened):  # noqa: F811
    page = opened(customers(None)[1])
    quoted = '"' + HOSTILE_NAMES[1].replace('"', '""') + '"'
    files = {
        "nobody.csv": "name,town\nAda,Wien\n",
        "empty.csv": "",
        "short.csv": "age,revenue,country\n3,4,DE\n3,4\n",
        "words.csv": "age,revenue,country\nforty,4,DE\n",
        HOSTILE_NAMES[1].replace("/", "_") + ".csv": f"age,revenue,country\n{quoted},4,DE\n",
    }
    answers = page.evaluate(DROP, [[name, base64.b64encode(text.encode()).decode()] for name, text in files.items()])
    words = ["age", "is empty", "row 2 has 2 fields, the line of names has 3", "“forty” in row 1", "in row 1"]
    for name, (told, text), said in zip(files, answers, words, strict=True):
        assert text is None
        assert said in told, name
        assert name in told
    assert page.locator("#labelled img, #labelled script").count() == 0


def test_a_day_moves_ages(opened, tmp_path):  # noqa: F811
    rng = np.random.default_rng(0)
    since = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 300), unit="D")
    table = pd.DataFrame({"since": since.strftime("%Y-%m-%d")})
    ex = boxwood.explain(table, np.where(since > "2025-03-01", "new", "old"), as_of="2025-12-31")
    table.to_csv(tmp_path / "list.csv", index=False)
    page = opened(ex)
    file = [["list.csv", base64.b64encode((tmp_path / "list.csv").read_bytes()).decode()]]
    found = []
    for day in (None, "2025-12-31", "2026-10-01"):
        if day is not None:
            page.fill("#day", day)
        ((_, text),) = page.evaluate(DROP, file)
        write_labels(ex, tmp_path / "list.csv", tmp_path / "out.csv", as_of=day)
        found.append(labels_of(text))
        assert found[-1] == labels_of((tmp_path / "out.csv").read_text(encoding="utf-8")), day
    assert found[1] != found[2]


@pytest.mark.full
def test_a_million_rows_do_not_freeze_the_page(opened, tmp_path):  # noqa: F811
    table, ex = customers(tmp_path)
    lines = table[["age", "revenue", "country"]].to_csv(index=False).splitlines(keepends=True)
    (tmp_path / "big.csv").write_text(lines[0] + "".join(lines[1:]) * 2500, encoding="utf-8")
    page = opened(ex)
    page.evaluate(
        """() => { window.longest = 0; let last = performance.now(); const tick = () => { const now = performance.now();
        window.longest = Math.max(window.longest, now - last); last = now; setTimeout(tick, 10); }; tick(); }"""
    )
    shares = page.evaluate_handle(
        """() => { const found = []; new MutationObserver(() => found.push(document.querySelector("#share").value))
        .observe(document.querySelector("#share"), {attributes: true}); return found; }"""
    )
    page.set_input_files("#file", tmp_path / "big.csv")
    page.wait_for_selector("#labelled .save", timeout=240_000)
    assert "1,000,000 rows read" in page.inner_text("#labelled")
    assert shares.evaluate("found => found.length") > 10  # as often as the browser shows it
    assert page.evaluate("window.longest") < 1000
