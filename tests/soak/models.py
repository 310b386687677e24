"""Damaged model files: either refused by a ModelError of one message, or everything works."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import OneHotEncoder

from boxwood import Explanation, explain, load
from boxwood.errors import DataError, ModelError
from boxwood.grow import METHODS
from boxwood.render import EXPORTERS
from boxwood.render.forms.exporters import Exporter
from tests.explanation.test_damaged_models import damaged, measured, use_facts
from tests.explanation.test_pipelines import goods, pipeline
from tests.models import read_model
from tests.soak.parts import Wrong

__all__ = ["attempt"]


@functools.cache
def documents() -> tuple[dict, ...]:
    """Models of every method, of a mixture, of categories, and with names of every kind."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)) + 9 * i for i in range(3)])
    y = np.repeat([0, 1, 2], 20)
    models = [explain(X, y, method=name) for name in METHODS]
    models += [
        explain(X, GaussianMixture(3, covariance_type="diag", random_state=0), method="mmdt"),
        explain(X, np.array(["a", "b", "c"])[y], max_leaf_nodes=5, standardize=True),
        explain(X, [True if c else 2.5 for c in y], sample_weight=rng.random(60), columns=["x", 'say "y"']),
        explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6),
        measured(X, y),
    ]
    for model in models[-3:]:
        model.profile()
    return tuple(json.loads(model.to_json()) for model in models)


def attempt(seed: int, folder: Path) -> str:
    """Damage the document of a model, or the bytes of its file, and use it if it is read."""
    rng = np.random.default_rng(seed)
    document = documents()[rng.integers(len(documents()))]
    if rng.random() < 0.6:
        kind, places = "values", []
        for _ in range(int(rng.integers(1, 4))):
            try:
                document, place = damaged(rng, document)
            except (ValueError, OverflowError):  # nothing is left to damage, or a number is too large to scale
                break
            places.append("/".join(map(str, place)))
        content = json.dumps(document).encode("utf-8", "surrogatepass")
        about = f"after damage at {', '.join(places)}"
    else:
        kind = list(BYTES)[rng.integers(len(BYTES))]
        content = BYTES[kind](rng, json.dumps(document).encode())
        about = f"after damage of bytes: {kind}"
    path = folder / "model.json"
    path.write_bytes(content)
    try:
        ex = load(path)
    except ModelError as error:
        if not str(error) or len(str(error)) > 400 or len(str(error).splitlines()) > 4:
            raise Wrong(f"a message of {len(str(error))} characters {about}: {str(error)[:300]}", "message") from None
        return f"{kind}: refused"
    except Exception as error:
        raise Wrong(f"{type(error).__name__} {about}: {error}", f"{type(error).__name__} {str(error)[:60]}") from error
    _use(ex, path, about)
    return f"{kind}: works"


def _flipped(rng: np.random.Generator, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _moved(rng: np.random.Generator, content: bytes) -> bytes:
    a, b, c = sorted(rng.integers(len(content), size=3).tolist())
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def _keys_twice(rng: np.random.Generator, content: bytes) -> bytes:
    at = content.index(b"{") + 1
    key = list(json.loads(content))[rng.integers(len(json.loads(content)))]
    return content[:at] + json.dumps(key).encode() + b": null, " + content[at:]


BYTES = {
    "flipped bits": _flipped,
    "cut off": lambda rng, content: content[: rng.integers(len(content))],
    "parts moved": _moved,
    "noise inside": lambda rng, content: _moved(rng, content + rng.bytes(20)),
    "a key twice": _keys_twice,
    "more behind": lambda rng, content: content + bytes(rng.integers(256, size=3).tolist()),
    "byte order mark": lambda rng, content: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda rng, content: content.decode().encode("utf-16"),
    "deep lists": lambda rng, content: content[:-1] + b', "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": lambda rng, content: b'{"x": ' * 100_000 + content + b"}" * 100_000,
}


def _form(form: Exporter, ex: Explanation) -> Any:
    """Return a form of an explanation, or None if it says that it cannot hold it."""
    try:
        return form.write(ex)
    except DataError:
        return None


def _use(ex: Explanation, path: Path, about: str) -> None:
    """Raise a `Wrong` if something does not work with an explanation that was read."""
    if read_model(ex.to_json()) != ex:
        raise Wrong(f"another model after JSON {about}", "another model")
    ex.save(path)
    if load(path) != ex:
        raise Wrong(f"another model after saving {about}", "another model")
    shown = [
        str(ex),
        repr(ex),
        ex.rules(),
        *(one for form in EXPORTERS.values() if (one := _form(form, ex)) is not None),
    ]
    shown += map(str, ex._kept.values())
    if not all(text.encode("utf-8") if isinstance(text, str) else text for text in shown):
        raise Wrong(f"an empty text {about}", "empty text")
    row = np.empty((1, len(ex.columns)), dtype=object)
    row[0] = [0.5 if j not in ex._coded_columns else "red" for j in range(len(ex.columns))]
    if len(ex.predict(row, missing="none")) != 1:
        raise Wrong(f"no cluster for a row {about}", "predict")
    use_facts(ex, row[0])
