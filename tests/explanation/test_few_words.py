"""Long lists of words: "auto" does without where they are worth little, and keeps names that carry the answer."""

import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.explanation.choose import on_table
from tests.scale import law

TOLD = "would be right for"


def towns(seed, n=600, noise=0.03):
    """Return towns along a street, the place of each house, and labels that its place says, with some noise."""
    rng = np.random.default_rng(seed)
    place = rng.random(n).round(4)
    town = np.clip((place * 30 + rng.normal(size=n) * 0.3).astype(int), 0, 29)
    labels = np.where((place > 0.5) ^ (rng.random(n) < noise), "east", "west")
    return pd.DataFrame({"town": [f"t{i:02}" for i in rng.permutation(30)[town]], "place": place}), labels


def used(ex):
    return {ex.columns[j] for j in ex.tree.features}


@law(12)
def test_a_long_list_that_says_what_a_number_says_is_left_out(seed):
    frame, labels = towns(seed)
    ex = bw.explain(frame, labels, max_leaf_nodes=2)
    by_town = bw.explain(frame, labels, max_leaf_nodes=2, forbidden=["place"])
    assert used(ex) == {"place"}
    assert ex.agreement >= by_town.agreement - 0.015
    assert bw.explain(frame, labels, max_leaf_nodes=2, preferred=["town"]).agreement >= ex.agreement - 0.015
    assert not any(TOLD in note for note in ex.notes) or by_town.agreement > ex.agreement


def test_a_note_says_what_the_list_was_right_for():
    frame, labels = towns(0)
    right = frame["place"] > 0.5
    odd = frame["town"] == frame["town"][np.argmin(np.abs(frame["place"] - 0.3))]
    labels = np.where(right ^ (odd & (np.arange(len(frame)) % 3 > 0)), "east", "west")
    ex = bw.explain(frame, labels, max_leaf_nodes=2)
    kept = bw.explain(frame, labels, max_leaf_nodes=2, preferred=["town"])
    in_time = bw.explain(frame, labels, max_leaf_nodes=2, time_limit=60)  # that leaves out the second tree
    [note] = [note for note in ex.notes if TOLD in note]
    assert used(ex) == {"place"}
    assert used(kept) == used(in_time) == {"town"}
    assert note.startswith(f"rules on town would be right for {kept.agreement - ex.agreement:.1%} more of the rows")


def test_names_that_carry_the_answer_are_kept(monkeypatch):
    grow, forbidden = on_table.grow_for, []

    def grown(task, *args, **options):
        forbidden.extend(task.budget.forbidden)
        return grow(task, *args, **options)

    monkeypatch.setattr(on_table, "grow_for", grown)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 400)
    labels = np.array(["north", "south", "west"])[codes % 3]
    frame = pd.DataFrame({"team": [f"t{code}" for code in codes], "x": rng.normal(size=400) + (codes % 3 == 0)})
    ex = bw.explain(frame, labels, max_leaf_nodes=3)
    assert used(ex) == {"team"}
    assert ex.agreement == 1
    assert not forbidden  # CART without them is so far off that no tree is looked for there


def test_the_order_of_columns_and_rows_and_the_names_of_words_do_not_matter():
    frame, labels = towns(2)
    found = bw.explain(frame, labels, max_leaf_nodes=2)
    rng = np.random.default_rng(0)
    order, names = rng.permutation(len(frame)), rng.permutation(30)
    other = frame.assign(town=[f"n{names[int(word[1:])]}" for word in frame["town"]])[["place", "town"]]
    again = bw.explain(other.iloc[order].reset_index(drop=True), labels[order], max_leaf_nodes=2)
    assert used(again) == used(found)
    assert (again.predict(other) == found.predict(frame)).all()
