"""Labels of any type as numbers from 0, names of clusters, and what fitted clusterers tell of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._frames import stated_order
from boxwood._types import Array, Floats, Indices, Weights
from boxwood._validation import kind_of_value, list_words, out_of_frozen, refuse_halves
from boxwood.axes.categories import is_missing
from boxwood.errors import DataError

_LEFT_OUT: dict[str, Any] = {"i": [-1], "f": [-1], "U": ["-1"], "S": [b"-1"]}  # by kind of array
_COUNTING_RANGE = 1 << 20  # whole numbers in a range up to this size are counted instead of sorted
_MOST_GAPS = 1 << 16  # whole numbers from -1 up to this are used as they are


def encode_labels(labels: Any) -> tuple[Indices, tuple[Hashable, ...]]:
    """Return the cluster of each row, shape (n,), and the label of each cluster, in ascending order of labels.

    Texts are in their natural order, "c2" before "c10", and labels whose type has an order in that one. Labels may be
    of any hashable type; -1 leaves a row out and stays -1, as a number or as the text "-1", which is how a number comes
    from a column of text. A missing label (None, NaN, NaT) is the same as -1. Labels that cannot be compared with each
    other are ordered by type and text. Takes time n, or n log n for labels that are not whole numbers.

    Raises
    ------
    DataError
        If labels are not one-dimensional, or not hashable, or a text has half of a character.

    Examples
    --------
    >>> encode_labels(["new", "loyal", -1, None, "new"])
    (array([ 1,  0, -1, -1,  1]), ('loyal', 'new'))
    """
    codes, names = _encode_labels(labels)
    refuse_halves("the label", names)
    return codes, names


def count_missing(labels: Any) -> int:
    """Return how many labels are missing; see `encode_labels`."""
    array = labels if isinstance(labels, np.ndarray) else np.array([None, *labels], dtype=object)[1:]
    if array.dtype.kind in "fmM":
        return int(np.isnan(array).sum()) if array.dtype.kind == "f" else int(np.isnat(array).sum())
    return sum(map(is_missing, array.tolist())) if array.dtype.kind in "OT" else 0


def codes_with_gaps(labels: Any) -> tuple[Array, tuple[Hashable, ...]]:
    """Return each row's number, and the label of each number; small whole labels are used as they are, with gaps."""
    array = np.asarray(labels) if isinstance(labels, np.ndarray) else None
    if array is not None and array.ndim == 1 and array.dtype.kind in "iu" and array.size:
        high = int(array.max())
        if int(array.min()) >= -1 and high < min(_MOST_GAPS, array.size):
            return array, tuple(range(high + 1))
    return encode_labels(labels)


def whole_labels(labels: Any, n_rows: int, n_clusters: int, what: str = "labels") -> Indices:
    """Return labels from -1 to `n_clusters` - 1, one for each row, shape (n,)."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(f"{what} must be whole numbers, one for each row; got {array.dtype} of shape {array.shape}")
    check_length(array, n_rows, what)
    low, high = int(array.min()), int(array.max())
    if low < -1 or high >= n_clusters:
        raise DataError(f"{what} must be from -1 to {n_clusters - 1} for {n_clusters} clusters; got {low} to {high}")
    return array.astype(np.intp, copy=False)


def by_size(labels: Indices, weights: Weights = None) -> Indices:
    """Return labels numbered from 0 by the weight of their rows, the largest first; ties keep their order."""
    sizes = np.bincount(labels, weights=weights)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[labels]


ONE_EACH = "give one label for each row, in the order of the rows"


def check_length(labels: Array, n_rows: int, what: str = "labels") -> None:
    """Raise a DataError unless there is one label for each row, and some label is not -1."""
    if len(labels) != n_rows:
        raise DataError(f"there are {n_rows} rows, but {len(labels)} {what}; {ONE_EACH}")
    if labels.max(initial=-1) < 0:
        raise DataError(f"every row is left out: all {what} are -1 or missing")


def _encode_labels(labels: Any) -> tuple[Indices, tuple[Hashable, ...]]:
    if (order := stated_order(labels)) is not None:
        return _encode_hashable(np.asarray(labels).tolist(), order)
    try:
        array = np.asarray(labels)
    except ValueError:  # tuples of different lengths
        return _encode_hashable(labels)
    if array.ndim > 1 and isinstance(labels, (list, tuple)):  # tuples as labels
        return _encode_hashable(labels)
    if array.ndim == 0:
        refuse_other_clusterer(labels)
        advice = "to make clusters, pass n_clusters" if isinstance(labels, Number) else "give a list, or an array"
        raise DataError(f"labels must be one for each row, got {kind_of_value(labels)}; {advice}")
    if array.ndim != 1:
        raise DataError(f"labels must be one-dimensional, one for each row; got shape {array.shape}")
    if array.dtype.kind == "f" and not hasattr(labels, "dtype") and (np.abs(array) >= 2.0**63).any():
        return _encode_hashable(labels)  # whole numbers on both sides of 2**63, which numpy rounds
    if array.dtype.kind == "M":  # Python's dates and times have no nanoseconds
        return _encode_hashable(array.astype("datetime64[us]").astype(object))
    if array.dtype.kind in "iu":
        return _encode_whole(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.floor(array)).all():
        codes, names = _encode_sorted(array)
        return codes, tuple(int(name) for name in names)
    if array.dtype.kind == "f" or (array.dtype.kind in "UbS" and isinstance(labels, np.ndarray)):
        return _encode_sorted(array)
    return _encode_hashable(labels)


def refuse_other_clusterer(clusterer: Any) -> None:
    """Raise a DataError for a class of clusterers, and for what finds clusters but is no estimator of scikit-learn.

    Such are BERTopic, and what finds clusters in faiss.
    """
    finds = [name for name in _FINDERS if callable(getattr(clusterer, name, None))]
    if not finds or (hasattr(clusterer, "get_params") and not isinstance(clusterer, type)):
        return
    if isinstance(clusterer, type):
        kind = clusterer.__name__
        raise DataError(f"{kind} is a class, and clusters are found by an object of it; write {kind}()")
    kind = type(clusterer).__name__
    labels = f"{kind}.{finds[0]}(X)" if finds[0].endswith("predict") else "the label that it finds for each row"
    raise DataError(f"{kind} is no estimator of scikit-learn, so it cannot be cloned and fitted; pass {labels}")


_FINDERS = ("fit_predict", "predict", "fit", "fit_transform", "train")


def _encode_whole(array: NDArray[np.integer]) -> tuple[Indices, tuple[Hashable, ...]]:
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if high - low > _COUNTING_RANGE:
        return _encode_sorted(array)
    if low in (-1, 0):  # mostly they are codes already
        codes = array.astype(np.intp)
        occurs = np.bincount(codes - low if low else codes, minlength=high - low + 1) > 0
        if occurs.all():
            return codes, tuple(range(high + 1))
        codes -= low
    else:
        wide = array.astype(np.int64, copy=False) if array.dtype.kind == "i" else array  # int8 cannot hold 100 - -100
        codes = (wide - wide.min()).astype(np.intp)
        occurs = np.bincount(codes, minlength=1) > 0
    if low <= -1 <= high:
        occurs[-1 - low] = False
    code = np.where(occurs, np.cumsum(occurs) - 1, -1)
    names = tuple(value + low for value in np.flatnonzero(occurs).tolist())
    return code[codes], names


def _encode_sorted(array: Array) -> tuple[Indices, tuple[Any, ...]]:
    values, codes = np.unique(array, return_inverse=True)
    codes = codes.reshape(-1).astype(np.intp)
    if array.dtype.kind == "U":
        order = np.argsort([*map(values.tolist().index, natural_order(values.tolist()))])
        values, codes = values[np.argsort(order)], order[codes]
    is_label = ~np.isin(values, _LEFT_OUT.get(array.dtype.kind, []))
    if not is_label.all():
        codes = np.where(is_label, np.cumsum(is_label) - 1, -1)[codes]
    return codes, tuple(values[is_label].tolist())


def _encode_hashable(labels: Iterable[Any], order: Sequence[Hashable] = ()) -> tuple[Indices, tuple[Hashable, ...]]:
    items = [item.item() if isinstance(item, np.generic) else item for item in labels]
    try:
        distinct = {item for item in set(items) if not (is_missing(item) or item in (-1, "-1"))}
    except TypeError as error:
        raise DataError(f"labels must be hashable: {error}") from None
    known = [name for name in order if name in distinct]
    names = [*known, *_ascending(distinct.difference(known))]
    code = {name: i for i, name in enumerate(names)}
    return np.fromiter((code.get(item, -1) for item in items), dtype=np.intp, count=len(items)), tuple(names)


def _ascending(names: Collection[Any]) -> list[Hashable]:
    """Return names in ascending order, texts in their natural one; names of several types by type and text."""
    if all(isinstance(name, str) for name in names):
        return [*natural_order(names)]
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, _natural(str(name))))


def natural_order(texts: Collection[str]) -> list[str]:
    """Return texts in the order of people: by what they are worth if all are numbers, else by the numbers in them.

    Examples
    --------
    >>> natural_order(["c10", "c2", "c1"]), natural_order(["10", "9.25", "9.5", "-1"])
    (['c1', 'c2', 'c10'], ['-1', '9.25', '9.5', '10'])
    """
    if not all(_PLAIN_NUMBER.fullmatch(text) for text in texts):
        return sorted(texts, key=_natural)
    return sorted(texts, key=lambda text: (float(text), text))


_PLAIN_NUMBER = re.compile(r"\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*", re.ASCII)


def _natural(text: str) -> tuple[bool, float, list[tuple[int, str]], str]:
    """Return what orders a text: its parts, which are texts and whole numbers by turns; the text parts equal ones.

    A text that begins with a number below zero comes first.
    """
    below = re.match("-[0-9]{1,300}", text)
    parts = [part.lstrip("0") if i % 2 else part for i, part in enumerate(re.split("([0-9]+)", text))]
    in_order = [(len(part) if i % 2 else 0, part) for i, part in enumerate(parts)]
    return below is None, 0.0 if below is None else float(below[0]), in_order, text


Names = Mapping[Hashable, Hashable] | Sequence[Hashable]


def named_clusters(labels: Sequence[Hashable], names: Names | None) -> tuple[Hashable, ...]:
    """Return a name for each label: `names` maps labels to names, or lists one name for each label."""
    if names is None:
        return tuple(labels)
    if isinstance(names, Mapping):
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(f"names for clusters that do not exist: {', '.join(unknown)}; clusters: {tuple(labels)}")
        return tuple(names.get(label, label) for label in labels)
    if len(names) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(names)}")
    return tuple(names)


def plain_names(
    labels: Sequence[Hashable], names: Names | None, printed: Callable[[Hashable], str]
) -> tuple[str | int | float | bool, ...]:
    """Return new names of clusters, as `given_names`; a DataError if two of them are equal."""
    plain = given_names(labels, names, printed)
    if len(set(plain)) < len(plain):
        raise DataError(f"clusters must have different names, got {list_words(_texts(plain))}")
    return plain


def given_names(
    labels: Sequence[Hashable], names: Names | None, printed: Callable[[Hashable], str]
) -> tuple[str | int | float | bool, ...]:
    """Return new names of clusters, from a mapping or a sequence; None keeps the names, as text or numbers.

    IN: printed: a label as it is printed, "cluster 0" for 0: a mapping may have labels so.
    """
    if isinstance(names, Mapping):
        names = _by_label(names, labels, printed)
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(
                f"names for labels that do not exist: {list_words(unknown)}; labels: {list_words(_texts(labels))}"
            )
        names = [names.get(label, label) for label in labels]
    all_names = labels if names is None else names
    if len(all_names) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(all_names)}")
    plain = tuple(map(plain_name, all_names))
    refuse_halves("the name of cluster", plain)
    return plain


def places_of(given: Iterable[Hashable], labels: Sequence[Hashable], printed: Callable[[Hashable], str]) -> list[int]:
    """Return the places of some labels, each once, in the order of all; a DataError names those that do not exist.

    IN: printed: a label as it is printed, "cluster 0" for 0, which stands for it.
    """
    by_print: dict[Hashable, Hashable] = {printed(label): label for label in labels}
    found = {name if name in labels else by_print.get(name, name) for name in given}
    unknown = [str(name) for name in found if name not in labels]
    if unknown:
        raise DataError(f"no cluster {list_words(unknown)}; the clusters are {list_words(_texts(labels))}")
    return [place for place, label in enumerate(labels) if label in found]


def _by_label(
    names: Mapping[Hashable, Hashable], labels: Sequence[Hashable], printed: Callable[[Hashable], str]
) -> dict[Hashable, Hashable]:
    by_print: dict[Hashable, Hashable] = {printed(label): label for label in labels}
    found = {name if name in labels else by_print.get(name, name): new for name, new in names.items()}
    if len(found) < len(names):
        raise DataError(
            f"names must have one name for each cluster, got two for one of them: {list_words(_texts([*names]))}"
        )
    return found


def _texts(names: Sequence[Hashable]) -> list[str]:
    return [str(name) for name in names]


def plain_name(name: Any) -> str | int | float | bool:
    """Return a name as text or a number."""
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if type(value) in (str, int, float, bool) else str(value)


def labels_of(estimator: Any, X: Any, n_rows: int) -> ArrayLike:
    """Return the labels that a fitted clusterer, mixture or pipeline gives the rows of `X`: predicted, or `labels_`."""
    if hasattr(estimator, "predict"):
        predicted: ArrayLike = estimator.predict(_of_type_of_fit(estimator, X))
        return predicted
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    labels: Array | None = getattr(last, "labels_", None)
    if labels is None:
        raise DataError(f"{type(last).__name__} has neither predict nor labels_; fit it first, or pass labels")
    if len(labels) != n_rows:
        raise DataError(f"{type(last).__name__} cannot predict; it was fitted on {len(labels)} rows, X has {n_rows}")
    return labels


def _of_type_of_fit(estimator: Any, X: Any) -> Any:
    """Return an array of floats in the type of the centres: k-means of scikit-learn refuses rows in the other one."""
    dtype = getattr(getattr(estimator, "cluster_centers_", None), "dtype", None)
    if (
        not isinstance(X, np.ndarray)
        or X.dtype not in (np.float32, np.float64)
        or dtype not in (np.float32, np.float64)
    ):
        return X
    return X.astype(dtype, copy=False)


def last_step(clusterer: Any) -> Any:
    """Return the last step of a pipeline, or the clusterer itself; a `FrozenEstimator` is unwrapped."""
    last = clusterer[-1] if hasattr(clusterer, "steps") else clusterer
    return out_of_frozen(last)


def centers_of(estimator: Any, n_columns: int) -> Floats | None:
    """Return the centres of a fitted clusterer, or the means of a mixture, shape (k, d); None if it has none.

    A clusterer of categories, such as `MixedKMeans`, has shares in their columns, and no means.
    """
    if getattr(estimator, "category_shares_", None):
        return None
    for name in ("cluster_centers_", "means_"):
        centers = getattr(estimator, name, None)
        if centers is not None and np.ndim(centers) == 2 and np.shape(centers)[1] == n_columns:
            return np.asarray(centers, dtype=np.float64)
    return None


def objective_of(estimator: Any) -> str | None:
    """Return the distance that a clusterer such as `KMedians` minimised; None if it has no attribute `objective`."""
    objective = getattr(estimator, "objective", None)
    return objective if objective in ("l1", "l2", "sqeuclidean") else None
