"""The heads of tables that have a rule on each line, said once for text, Markdown and the page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class RuleHead(NamedTuple):
    """The head of a column, and what the column holds where that does not go without saying."""

    text: str
    meaning: str = ""


RULE_HEADS: Mapping[str, RuleHead] = MappingProxyType(
    {
        "cluster": RuleHead("cluster"),
        "size": RuleHead("size"),
        "share": RuleHead("share"),
        "matched": RuleHead("matched", "how many rows fulfil the rule"),
        "found": RuleHead("found", "the share of the cluster's rows among them, of all its rows"),
        "precision": RuleHead("precision", "the share of the rows matched that are in the cluster"),
        "rule": RuleHead("rule"),
    }
)


def head_texts(*keys: str) -> list[str]:
    """Return the heads of the columns with these keys; of all where none is given."""
    return [RULE_HEADS[key].text for key in keys or RULE_HEADS]


def legend() -> str:
    """Return a sentence for each head whose meaning does not go without saying."""
    return " ".join(f"{head.text.capitalize()}: {head.meaning}." for head in RULE_HEADS.values() if head.meaning)
