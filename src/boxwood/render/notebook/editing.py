"""`Editing`: an explanation that is changed step by step, what the front end asks of it, and what it answers.

A message is a dict with the word `do` and what that needs. Columns and clusters are numbers, so that no name comes back
from the front end. The answer has `said`, a sentence; `wrong`, if what was asked for was refused; or `places`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Generic

from boxwood._validation import position
from boxwood.errors import DataError
from boxwood.explanation.change.change import (
    merge_clusters,
    move_cut,
    prune,
    rename_clusters,
    replace_cut,
    split,
    without,
)
from boxwood.explanation.change.cuts import categories_of_column, node_of_cut, say_ends_of_cut
from boxwood.explanation.change.places import Places, places_of_end, places_of_question
from boxwood.explanation.measured_tree import Tree
from boxwood.explanation.records import Edit
from boxwood.render.forms.text import tells_price
from boxwood.render.page.live import live_tree, on_axis
from boxwood.words.measured import cost_of_edit
from boxwood.words.values import count_of, number, percent, price

Message = Mapping[str, Any]
LONG = 0.2  # seconds from which it is said how long a change took


class Editing(Generic[Tree]):
    """An explanation, the steps that led to it, and those that were undone.

    Parameters
    ----------
    explanation : Explanation
        Where changes begin.

    Attributes
    ----------
    taken : Explanation
        As it was when it was last taken; the first one before that.
    """

    def __init__(self, explanation: Tree) -> None:
        self._done, self._undone = [explanation], list[Tree]()
        self.taken = explanation

    @property
    def explanation(self) -> Tree:
        """The explanation with all changes that are not undone."""
        return self._done[-1]

    def view(self) -> dict[str, Any]:
        """Return all that the front end draws."""
        can = {"undo": len(self._done) > 1, "redo": bool(self._undone), "take": self.explanation is not self.taken}
        return live_tree(self.explanation, self._done[0]) | {"can": can}

    def answer(self, message: Message) -> dict[str, Any]:
        """Do what a message asks for, and return what is said of it; what cannot be done changes nothing."""
        steps, changes = self._steps(), self._changes()
        do = message.get("do")
        try:
            if do in steps:
                return steps[do](message)
            if do in changes:
                return self._change(changes[do], message)
        except (DataError, TypeError, ValueError, KeyError) as error:
            return {"wrong": str(error) if not isinstance(error, KeyError) else f"the message lacks {error}"}
        return {"wrong": f"nothing is called {do!r}"}

    # ------------------------------------------------------------------------------------------------------- steps

    def _steps(self) -> dict[Any, Callable[[Message], dict[str, Any]]]:
        return {
            "places": self._places_of_end,
            "ask": self._places_of_question,
            "undo": self._undo,
            "redo": self._redo,
            "take": self._take,
        }

    def _undo(self, message: Message) -> dict[str, Any]:
        if len(self._done) == 1:
            return {"wrong": "there is no change to undo"}
        self._undone.append(self._done.pop())
        return {"said": f"undone: {self._undone[-1].changes[-1].line}"}

    def _redo(self, message: Message) -> dict[str, Any]:
        if not self._undone:
            return {"wrong": "no change was undone"}
        self._done.append(self._undone.pop())
        return {"said": f"done again: {self.explanation.changes[-1].line}"}

    def _take(self, message: Message) -> dict[str, Any]:
        self.taken = self.explanation
        lines = count_of(len(self.taken.changes), "change")
        return {"said": f"taken: the widget's .explanation has this tree, and .explanation.changes has {lines}"}

    # ----------------------------------------------------------------------------------------------------- changes

    def _changes(self) -> dict[Any, Callable[[Message], Tree]]:
        return {
            "move": self._move,
            "replace": self._replace,
            "split": self._split,
            "drop": lambda message: prune(self.explanation, message["node"]),
            "merge": self._merge,
            "rename": self._rename,
            "without": lambda message: without(self.explanation, [self._column(message)]),
        }

    def _change(self, change: Callable[[Message], Tree], message: Message) -> dict[str, Any]:
        began = time.perf_counter()
        changed = change(message)
        seconds = time.perf_counter() - began
        if changed is self.explanation or len(changed.changes) == len(self.explanation.changes):
            return {"said": "that changes nothing"}
        self._done.append(changed)
        self._undone.clear()
        took = f" (counted in {seconds:.1f} s)" if seconds > LONG else ""
        return {"said": f"{cost_of_edit(changed.changes[-1])}{took}"}

    def _move(self, message: Message) -> Tree:
        ex, node = self.explanation, node_of_cut(self.explanation, message["node"])
        at = dict(say_ends_of_cut(ex, node))[bool(message["upper"])]
        return move_cut(ex, ex.columns[int(ex.tree.feature[node])], at, message["to"])

    def _replace(self, message: Message) -> Tree:
        return replace_cut(self.explanation, message["node"], self._column(message), self._value(message))

    def _split(self, message: Message) -> Tree:
        return split(self.explanation, message["leaf"], self._column(message), self._value(message))

    def _merge(self, message: Message) -> Tree:
        clusters = [self._cluster(i) for i in message["clusters"]]
        return merge_clusters(self.explanation, clusters, message.get("name") or None)

    def _rename(self, message: Message) -> Tree:
        return rename_clusters(self.explanation, {self._cluster(message["cluster"]): message["name"]}, False)

    def _column(self, message: Message) -> str:
        return self.explanation.columns[position("column", message["column"], len(self.explanation.columns))]

    def _cluster(self, i: Any) -> Any:
        return self.explanation.names[position("cluster", i, self.explanation.n_clusters)]

    def _value(self, message: Message) -> Any:
        """Return the value of a new cut: that of the message, or the words whose numbers it has."""
        known = categories_of_column(self.explanation, self.explanation.columns.index(self._column(message)))
        if known is None:
            return message["value"]
        return [known.values[position("word", i, len(known.values))] for i in message["words"]]

    # ------------------------------------------------------------------------------------------------------ places

    def _places_of_end(self, message: Message) -> dict[str, Any]:
        node = node_of_cut(self.explanation, message["node"])
        return self._say_places(places_of_end(self.explanation, node, bool(message["upper"])), node)

    def _places_of_question(self, message: Message) -> dict[str, Any]:
        ex = self.explanation
        node = position("node", message["node"], ex.tree.n_nodes)
        return self._say_places(places_of_question(ex, node, self._column(message)), None)

    def _say_places(self, places: Places | None, node: int | None) -> dict[str, Any]:
        """Return the places of a cut with what the rules would do there; IN: node: on whose axis they are drawn."""
        if places is None:
            return {"places": None, "said": "the numbers come once the change is made"}
        ex = self.explanation
        if len(places.values) < 2 and node is not None:
            return {"places": None, "said": "there is no other value to which this end could move"}
        return {
            "places": {
                "values": list(places.values),
                "at": None if node is None else on_axis(ex, node, places.ends),
                "said": [one if isinstance(one, str) else number(one) for one in places.values],
                "numbers": self._numbers(places),
                "cost": [cost_of_edit(self._edit(places, i)) for i in range(len(places.values))],
                "now": places.now,
            }
        }

    def _tells_price(self, places: Places) -> bool:
        return places.price is not None and tells_price(self.explanation)

    def _numbers(self, places: Places) -> dict[str, list[str]]:
        """Return the numbers that stand above the tree, for each place."""
        found = {"Agreement": [percent(one) for one in places.agreement.tolist()]}
        if places.price is not None and self._tells_price(places):
            found["Price"] = [price(one) for one in places.price.tolist()]
        return found

    def _edit(self, places: Places, i: int) -> Edit:
        ex, now = self.explanation, 0.0 if places.price is None else float(places.price[i])
        agreement, tells = (ex.agreement, float(places.agreement[i])), self._tells_price(places)
        return Edit("", *agreement, ex.price, now, places.moved[i], by_agreement=not tells)
