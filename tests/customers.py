"""Customers as a shop exports them, with gaps, words, dates, identifiers, an empty column; and the same in German.

Run as a script it writes both: python -m tests.customers FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

COUNTRIES = ["DE", "AT", "CH", "FR", "IT", "NL", "BE", "PL", "CZ", "DK", "SE", "ES"]
GERMAN = {
    "customer_id": "Kundennummer",
    "zip": "PLZ",
    "city": "Ort",
    "country": "Land",
    "age": "Alter (Jahre)",
    "orders": "Bestellungen",
    "revenue": "Umsatz [€]",
    "discount": "Rabatt",
    "return_rate": "Retourenquote",
    "newsletter": "Newsletter",
    "premium": "Premium",
    "channel": "Kanal",
    "first_order": "Erste Bestellung",
    "last_order": "Letzte Bestellung",
    "remark": "Bemerkung",
    "segment": "Segment",
}


def customers(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Return customers of five segments, in 16 columns."""
    rng = np.random.default_rng(seed)
    segment = rng.choice(5, size=n, p=[0.35, 0.25, 0.2, 0.13, 0.07])
    orders = rng.poisson(np.array([2, 6, 15, 30, 45])[segment]) + 1
    first = np.datetime64("2019-01-01") + rng.integers(0, 1800, size=n)
    last = pd.Series(first + rng.integers(0, 400, size=n)).dt.strftime("%Y-%m-%d")
    return pd.DataFrame(
        {
            "customer_id": 100_001 + np.arange(n),
            "zip": [f"{code:05}" for code in rng.integers(1000, 99_999, size=n)],
            "city": [f"Ort{i}" for i in rng.integers(0, 310, size=n)],
            "country": rng.choice(COUNTRIES, size=n, p=[0.6, 0.1, 0.08, *[0.22 / 9] * 9]),
            "age": pd.Series(rng.normal(45, 14, size=n).clip(18, 90).round()).mask(rng.random(n) < 0.08),
            "orders": orders,
            "revenue": (orders * rng.gamma(9, 8, size=n)).round(2),
            "discount": (rng.beta(2, 30, size=n) + np.array([0.02, 0.04, 0.0, 0.1, 0.0])[segment]).round(3),
            "return_rate": rng.beta(2, 20, size=n).round(3),
            "newsletter": rng.random(n) < 0.4,
            "premium": rng.random(n) < np.array([0, 0, 0.1, 0.5, 0.9])[segment],
            "channel": rng.choice(["web", "app", "store"], size=n, p=[0.5, 0.3, 0.2]),
            "first_order": pd.Series(first).dt.strftime("%Y-%m-%d"),
            "last_order": last.mask(rng.random(n) < 0.12),
            "remark": [None] * n,
            "segment": [f"S{i}" for i in segment],
        }
    )


def in_german(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same table as text, as a German program writes it."""
    said = frame.copy()
    said["revenue"] = [f"{value:,.2f} €".translate(str.maketrans(",.", ".,")) for value in frame["revenue"]]
    said["discount"] = [f"{100 * value:.1f} %".replace(".", ",") for value in frame["discount"]]
    said["return_rate"] = [f"{value:.3f}".replace(".", ",") for value in frame["return_rate"]]
    for name in ("newsletter", "premium"):
        said[name] = frame[name].map({True: "ja", False: "nein"})
    for name in ("first_order", "last_order"):
        said[name] = frame[name].str.replace(r"(\d+)-(\d+)-(\d+)", r"\3.\2.\1", regex=True)
    said["age"] = frame["age"].astype("Int64")
    return said.rename(columns=GERMAN)


def write(folder: Path, n: int = 4000, seed: int = 0) -> tuple[Path, Path]:
    """Write customers.csv and kunden.csv, and return their names."""
    frame, names = customers(n, seed), (folder / "customers.csv", folder / "kunden.csv")
    frame.to_csv(names[0], index=False)
    in_german(frame).to_csv(names[1], index=False, sep=";", encoding="utf-8-sig")
    return names


if __name__ == "__main__":
    print(*write(Path(sys.argv[1])))
