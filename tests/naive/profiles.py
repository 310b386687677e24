"""The profile of a table, by pandas' group-by and by repeated rows, without a thought for speed."""

from __future__ import annotations

import numpy as np
import pandas as pd

PERCENT = [0.05, 0.25, 0.5, 0.75, 0.95]


def numbers(values, labels, weights=None):
    """Return a dict from cluster (and "all") to the facts of a column of numbers, and its eta squared."""
    frame = pd.DataFrame(
        {"x": np.asarray(values, dtype=float), "label": labels, "w": 1.0 if weights is None else weights}
    )
    frame = frame[(frame.label >= 0) & (frame.w > 0)]
    mean, variance = _mean(frame), _variance(frame)
    facts = {}
    for name, rows in [("all", frame), *frame.groupby("label")]:
        rest = frame[frame.label != name] if name != "all" else frame[:0]
        facts[name] = {
            "mean": _mean(rows),
            "deviation": _variance(rows) ** 0.5,
            "quantiles": list(rows.x.quantile(PERCENT)) if weights is None else [_reaching(rows, q) for q in PERCENT],
            "difference": None if rest.empty else (_mean(rows) - _mean(rest)) / (variance or np.inf) ** 0.5,
            "index": 100 * _mean(rows) / mean if (frame.x >= 0).all() and frame.x.any() else None,
            "missing": None,
        }
    inside = sum(_variance(rows) * rows.w.sum() for _, rows in frame.groupby("label"))
    return facts, 1 - inside / (variance * frame.w.sum()) if variance else 0.0


def categories(codes, n_codes, labels, weights=None):
    """Return a dict from cluster (and "all") to the facts of a column of codes, and its Cramér's V."""
    frame = pd.DataFrame({"code": np.asarray(codes, int), "label": labels, "w": 1.0 if weights is None else weights})
    frame = frame[(frame.label >= 0) & (frame.w > 0)]
    overall = _shares(frame, n_codes)
    facts = {}
    for name, rows in [("all", frame), *frame.groupby("label")]:
        rest, own = (frame[frame.label != name] if name != "all" else frame[:0]), _shares(rows, n_codes)
        away = None if rest.empty else [a - b for a, b in zip(own, _shares(rest, n_codes), strict=True)]
        facts[name] = {
            "shares": own,
            "differences": None
            if away is None
            else [d / (p * (1 - p)) ** 0.5 if 0 < p < 1 else 0.0 for d, p in zip(away, overall, strict=True)],
            "indexes": [100 * s / p if p else None for s, p in zip(own, overall, strict=True)],
        }
    table = frame.pivot_table(index="label", columns="code", values="w", aggfunc="sum", fill_value=0.0).to_numpy()
    return facts, _cramers_v(table)


def _mean(rows):
    return np.average(rows.x, weights=rows.w)


def _variance(rows):
    return 0.0 if rows.x.nunique() == 1 else np.average((rows.x - _mean(rows)) ** 2, weights=rows.w)


def _reaching(rows, share):
    return min(x for x in rows.x if rows.w[rows.x <= x].sum() >= share * rows.w.sum())


def _shares(rows, n_codes):
    return [rows.w[rows.code == code].sum() / rows.w.sum() for code in range(n_codes)]


def _cramers_v(table):
    freedom = min(table.shape) - 1
    if freedom == 0:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(np.sqrt((np.square(table - expected) / expected).sum() / table.sum() / freedom))
