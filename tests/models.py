"""Models as text, as a service or a table of models holds them."""

from io import StringIO

from boxwood import Explanation, load


def read_model(text: str) -> Explanation:
    """Return the explanation in a model file's text."""
    return load(StringIO(text))
