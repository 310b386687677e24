"""Columns of every kind: by a name, a function that makes one, of `N` rows, as pandas or Arrow has it.

Values follow `P`, the place of each row in an order, as far as the kind has one, and else a part of it. `LABEL` parts
the rows at a place where values of each kind differ, so that rules on a column that is read well have no errors.
"""

import datetime as dt
import decimal
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa

N, M = 240, 48
P = np.arange(N) * 7 % M
LABEL = np.where(P < 20, "early", "late")
DAYS = [pd.Timestamp("2025-01-03") + pd.Timedelta(days=int(9 * p)) for p in P]
COLOURS = ["red", "green", "blue", "black", "white", "pink", "grey", "gold", "tan", "teal", "navy", "plum"]
WORDS = np.array(COLOURS)[P // 4]


def written(form):
    return pd.Series([day.strftime(form) for day in DAYS])


def gaps(values, lacking=None):
    """Return values of which one row in eleven has another one."""
    return [lacking if i % 11 == 3 else value for i, value in enumerate(values)]


def texts(values, form="{}"):
    return pd.Series([form.format(value) for value in values])


NUMBERS = {
    "integers": lambda: pd.Series(P),
    "floats": lambda: pd.Series(P + 0.25),
    "float32": lambda: pd.Series((P + 0.25).astype("f4")),
    "float16": lambda: pa.array((P + 0.25).astype("f2")),
    "big integers": lambda: pd.Series(P * 2**50 + 1),
    "unsigned": lambda: pd.Series(P.astype("u8")),
    "nullable integers": lambda: pd.Series(gaps(P.tolist()), dtype="Int64"),
    "decimals": lambda: pa.array([decimal.Decimal(int(p)) / 4 for p in P], pa.decimal128(10, 2)),
    "wide decimals": lambda: pa.array([decimal.Decimal(int(p)) / 4 for p in P], pa.decimal256(40, 2)),
    "decimals of Python": lambda: pd.Series([decimal.Decimal(int(p)) / 4 for p in P], dtype=object),
    "decimals of Python with missing": lambda: pd.Series(gaps([decimal.Decimal(int(p)) / 4 for p in P]), dtype=object),
    "numbers of Python with missing": lambda: pd.Series(
        gaps([p / 2 if p % 2 else p // 2 for p in P.tolist()]), dtype=object
    ),
    "dictionary of integers": lambda: pa.array(P).dictionary_encode(),
    "huge": lambda: pd.Series(P * 1e150),
    "denormals": lambda: pd.Series(P * 5e-324),
}
BOOLEANS = {
    "booleans": lambda: pd.Series(P >= 24),
    "booleans with missing": lambda: pd.Series(gaps((P >= 20).tolist()), dtype="boolean"),
    "booleans of Python": lambda: pd.Series(gaps((P >= 20).tolist()), dtype=object),
}
DATES = {
    "dates": lambda: pa.array([day.date() for day in DAYS], pa.date32()),
    "dates of 64 bits": lambda: pa.array([day.date() for day in DAYS], pa.date64()),
    "dates with missing": lambda: pa.array(gaps([day.date() for day in DAYS]), pa.date32()),
    "seconds": lambda: pa.array(DAYS, pa.timestamp("s")),
    "milliseconds": lambda: pa.array(DAYS, pa.timestamp("ms")),
    "microseconds": lambda: pa.array(DAYS, pa.timestamp("us")),
    "nanoseconds": lambda: pa.array(DAYS, pa.timestamp("ns")),
    "with a zone": lambda: pa.array([day.tz_localize("UTC") for day in DAYS], pa.timestamp("us", "Europe/Vienna")),
    "dictionary of dates": lambda: pa.array([day.date() for day in DAYS], pa.date32()).dictionary_encode(),
    "categories of dates": lambda: pd.Series(pd.Categorical(DAYS)),
    "days as periods": lambda: pd.Series(pd.PeriodIndex(DAYS, freq="D")),
}
DATES_AS_TEXT = {
    "texts of dates": lambda: written("%Y-%m-%d"),
    "texts of dates with missing": lambda: pd.Series(gaps(written("%Y-%m-%d"))),
    "large texts of dates": lambda: pa.array(written("%Y-%m-%d"), pa.large_string()),
    "views of dates": lambda: pa.array(written("%Y-%m-%d").tolist(), pa.string_view()),
    "dictionary of texts of dates": lambda: pa.array(written("%Y-%m-%d")).dictionary_encode(),
    "categories of texts of dates": lambda: pd.Series(pd.Categorical(written("%Y-%m-%d"))),
    "texts of times with T": lambda: written("%Y-%m-%dT08:30:00"),
    "texts of times": lambda: written("%Y-%m-%d 08:30"),
    "texts of times with Z": lambda: written("%Y-%m-%dT08:30:00Z"),
    "texts of dates with points": lambda: written("%d.%m.%Y"),
}
WORDS_OF_ALL_KINDS = {
    "words": lambda: pd.Series(WORDS),
    "large words": lambda: pa.array(WORDS.tolist(), pa.large_string()),
    "views of words": lambda: pa.array(WORDS.tolist(), pa.string_view()),
    "dictionary of words": lambda: pa.array(WORDS.tolist()).dictionary_encode(),
    "categories": lambda: pd.Series(pd.Categorical(WORDS)),
    "categories in order": lambda: pd.Series(pd.Categorical(WORDS, categories=COLOURS, ordered=True)),
    "categories of integers": lambda: pd.Series(pd.Categorical(P // 4)),
    "bands": lambda: pd.Series(pd.cut(P, [-1, 9, 19, 29, 48])),
    "intervals": lambda: pd.Series(pd.arrays.IntervalArray.from_breaks([0, 10, 20, 30, 40, 50])[P // 10]),
    "months as periods": lambda: pd.Series(pd.PeriodIndex(DAYS, freq="M")),
    "words with missing": lambda: pd.Series(gaps(WORDS)),
    "words with blanks and capitals": lambda: pd.Series([w.title() + " " * (i % 2) for i, w in enumerate(WORDS)]),
    "empty texts": lambda: pd.Series(gaps(WORDS, "")),
    "words with NA": lambda: pd.Series(gaps(WORDS, "NA")),
    "yes and no": lambda: pd.Series(np.where(P >= 24, "yes", "no")),
    "true and false": lambda: pd.Series(np.where(P >= 24, "true", "false")),
    "True and False": lambda: pd.Series(np.where(P >= 24, "True", "False")),
    "t and f": lambda: pd.Series(np.where(P >= 24, "t", "f")),
    "constant with missing": lambda: pd.Series(["same" if p >= 24 else None for p in P]),
    "mixed objects": lambda: pd.Series([int(p) if p % 2 else w for p, w in zip(P, WORDS, strict=True)], dtype=object),
    "months as text": lambda: written("%Y-%m"),
}
NUMBERS_AS_TEXT = {
    "texts of numbers": lambda: texts(P / 4, "{:.2f}"),
    "texts of many numbers": lambda: texts(P + np.arange(N) / 1000, "{:.3f}"),
    "texts of numbers with missing": lambda: pd.Series(gaps(texts(P / 4, "{:.2f}"))),
    "texts of numbers with NA": lambda: pd.Series(gaps(texts(P / 4, "{:.2f}"), "NA")),
    "texts of numbers with empty ones": lambda: pd.Series(gaps(texts(P / 4, "{:.2f}"), "")),
    "texts of whole numbers": lambda: texts(P * 7),
    "digits": lambda: texts(P // 20),
    "codes of two digits": lambda: texts(P + 10),
    "codes of five digits": lambda: texts(P + 12345),
    "leading zeros": lambda: texts(P, "{:05}"),
    "0 and 1": lambda: texts((P >= 24) * 1),
    "decimal commas": lambda: texts(P / 4, "{:.2f}").str.replace(".", ","),
    "thousands": lambda: texts(P * 1000 + 1000, "{:,}"),
    "percents": lambda: texts(P / 4, "{:.1f}%"),
    "currency": lambda: texts(P / 4, "€{:.2f}"),
    "numbers with a remark": lambda: pd.Series(["see note" if i == 50 else str(p * 3) for i, p in enumerate(P)]),
    "few numbers beside a word": lambda: pd.Series(
        ["none of these" if i % 9 == 0 else str(p // 5) for i, p in enumerate(P)]
    ),
}
OTHERS = {
    "texts of dates with NA": lambda: pd.Series(gaps(written("%Y-%m-%d"), "NA")),
    "texts of dates with empty ones": lambda: pd.Series(gaps(written("%Y-%m-%d"), "")),
    "dates in doubt": lambda: pd.Series([f"0{1 + p % 9}/0{1 + p // 6}/2025" for p in P]),
    "texts of times of day": lambda: pd.Series([f"{int(p) // 3:02}:{int(p):02}" for p in P]),
    "times of day": lambda: pa.array([dt.time(int(p) // 3, int(p)) for p in P], pa.time64("us")),
    "durations": lambda: pa.array([dt.timedelta(hours=int(p)) for p in P], pa.duration("us")),
    "one word": lambda: pd.Series(["same"] * N),
    "one number": lambda: pd.Series([7] * N),
    "no objects": lambda: pd.Series([None] * N, dtype=object),
    "no numbers": lambda: pd.Series([np.nan] * N),
    "nulls": lambda: pa.nulls(N),
    "no texts": lambda: pa.nulls(N, pa.string()),
    "no dates": lambda: pa.nulls(N, pa.date32()),
    "lists": lambda: pa.array([[int(p), 1] for p in P]),
    "structs": lambda: pa.array([{"a": int(p)} for p in P]),
    "bytes": lambda: pa.array([bytes([p]) for p in P.tolist()], pa.binary()),
    "identifiers": lambda: pd.Series(np.arange(N) + 1000),
    "identifiers as text": lambda: texts(range(N), "c{}"),
    "UUIDs": lambda: pd.Series([str(uuid.UUID(int=i * 10**30)) for i in range(N)]),
    "long texts": lambda: pd.Series(
        [f"customer {i} wrote a long letter about {w} things" for i, w in enumerate(WORDS)]
    ),
    "infinity": lambda: pd.Series(np.where(P == 47, np.inf, P)),
}
KINDS = NUMBERS | BOOLEANS | DATES | DATES_AS_TEXT | WORDS_OF_ALL_KINDS | NUMBERS_AS_TEXT | OTHERS
