"""Rule sets that are sound, and such with planted faults: leaves of a random tree, written as branches of a CASE."""

import numpy as np

WORDS = ("alpha", "bravo", "charlie", "delta")
FAULTS = ("never", "shadowed", "hole", "overlap", "missing values", "never met", "spelling", "stale date")
DAYS = [f"2026-{month:02}-{day:02}" for month in range(1, 9) for day in (3, 14, 25)]
NUMBERS, TEXTS, DATES = ("n0", "n1", "n2", "n3"), ("t0", "t1", "t2"), ("d0", "d1")


def sound(rng, n_leaves):
    """Return the leaves of a random tree: for each column a list of (sign, value) or a set of words."""
    leaves = [{}]
    for _ in range(60 * n_leaves):
        if len(leaves) >= n_leaves:
            break
        leaf = leaves.pop(int(rng.integers(len(leaves))))
        leaves += split(rng, leaf)
    return leaves


def split(rng, leaf):
    name = str(rng.choice([*NUMBERS, *TEXTS, *DATES]))
    if name in TEXTS:
        own = sorted(leaf.get(name, WORDS))
        if len(own) < 2:
            return [leaf]
        few = set(rng.choice(own, int(rng.integers(1, len(own))), replace=False).tolist())
        return [{**leaf, name: few}, {**leaf, name: set(own) - few}]
    low, high = leaf.get(name, (None, None))
    known = DAYS if name in DATES else list(range(1, 40))
    inside = [x for x in known if (low is None or x > low) and (high is None or x < high)]
    if len(inside) < 3:
        return [leaf]
    cut = inside[int(rng.integers(len(inside)))]
    return [{**leaf, name: (low, cut)}, {**leaf, name: (cut, high)}]


def condition(leaf, lower=">="):
    """Return a leaf as SQL; IN: lower: the sign of lower ends."""
    return " AND ".join(part for name, allowed in leaf.items() for part in parts(name, allowed, lower)) or "1 = 1"


def parts(name, allowed, lower=">="):
    if name in TEXTS:
        words = ", ".join(f"'{word}'" for word in sorted(allowed))
        return [f"{name} IN ({words})"]
    quote = "'" if name in DATES else ""
    ends = zip((lower, "<"), allowed, strict=True)
    return [f"{name} {sign} {quote}{end}{quote}" for sign, end in ends if end is not None]


def case(branches):
    """Return branches, pairs of a condition and a name, as a CASE."""
    lines = [f"  WHEN {text} THEN '{name}'" for text, name in branches]
    return "\n".join(["CASE", *lines, "  ELSE 'unknown'", "END"])


def table(rng, n=120):
    """Return rows in which all words are, and the first and the last day."""
    found = {name: [*rng.integers(-3, 44, n - 1).tolist(), None] for name in NUMBERS}
    found |= {name: [*WORDS, *rng.choice(WORDS, n - 5).tolist(), None] for name in TEXTS}
    return found | {name: ["2025-12-31", "2026-12-31", *rng.choice(DAYS, n - 3).tolist(), None] for name in DATES}


def plant(rng, leaves, branches, fault, taken):
    """Plant a fault into branches, and return the name of its branch; None if no leaf has room for it."""
    order = [i for i in rng.permutation(len(leaves)).tolist() if i not in taken]
    for i in order:
        found = PLANTS[fault](rng, leaves[i], branches, i)
        if found is not None:
            taken.add(i)
            return found
    return None


def _never(rng, leaf, branches, i):
    branches.append((f"{condition(leaf)} AND n0 > 9 AND n0 < 4", f"planted {i}"))
    return f"planted {i}"


def _shadowed(rng, leaf, branches, i):
    if not leaf:
        return None
    branches.append((f"{condition(leaf)} AND n3 IS NOT NULL", f"planted {i}"))
    return f"planted {i}"


def _hole(rng, leaf, branches, i):
    names = [name for name in NUMBERS if name in leaf and leaf[name][0] is not None]
    if not names:
        return None
    branches[i] = (condition(leaf, lower=">"), branches[i][1]) if not set(leaf) & set(DATES) else branches[i]
    return branches[i][1] if not set(leaf) & set(DATES) else None


def _overlap(rng, leaf, branches, i):
    names = [name for name in NUMBERS if name in leaf and leaf[name][1] is not None]
    if not names:
        return None
    low, high = leaf[names[0]]
    branches[i] = (condition({**leaf, names[0]: (low, high + 0.5)}), branches[i][1])
    return branches[i][1]


def _missing(rng, leaf, branches, i):
    names = [name for name in TEXTS if name in leaf]
    if not names:
        return None
    others = ", ".join(f"'{word}'" for word in sorted(set(WORDS) - leaf[names[0]]))
    rest = {name: allowed for name, allowed in leaf.items() if name != names[0]}
    branches[i] = (f"{condition(rest)} AND NOT {names[0]} IN ({others})", branches[i][1])
    return branches[i][1]


def _misspelt(change):
    def plant_word(rng, leaf, branches, i):
        names = [name for name in TEXTS if name in leaf]
        if not names:
            return None
        first, *others = sorted(leaf[names[0]])
        branches[i] = (condition({**leaf, names[0]: {change(first), *others}}), branches[i][1])
        return branches[i][1]

    return plant_word


def _stale(rng, leaf, branches, i):
    names = [name for name in DATES if name in leaf and leaf[name][1] is not None]
    if not names:
        return None
    branches[i] = (condition({**leaf, names[0]: (leaf[names[0]][0], "2029-05-01")}), branches[i][1])
    return branches[i][1]


PLANTS = {
    "never": _never,
    "shadowed": _shadowed,
    "hole": _hole,
    "overlap": _overlap,
    "missing values": _missing,
    "never met": _misspelt(lambda word: f"{word[:2]}x{word[2:]}"),
    "spelling": _misspelt(str.title),
    "stale date": _stale,
}


AT_BORDERS = {"hole", "overlap"}
ELSEWHERE = {"never", "shadowed"}


def apart(faults):
    """Return faults of which none undoes another: one at a border of leaves is there while no other leaf changes."""
    if not AT_BORDERS & {*faults}:
        return faults
    first = next(fault for fault in faults if fault in AT_BORDERS)
    return [fault for fault in faults if fault == first or fault in ELSEWHERE]


def planted(seed):
    """Return a CASE, its rows, and the faults that were planted as pairs of a kind and the name of a branch."""
    rng = np.random.default_rng(seed)
    leaves = sound(rng, int(rng.integers(3, 25)))
    branches = [(condition(leaf), f"leaf {i}") for i, leaf in enumerate(leaves)]
    faults, taken = [], set()
    for fault in apart(rng.choice(FAULTS, int(rng.integers(1, 4)), replace=False).tolist()):
        name = plant(rng, leaves, branches, fault, taken)
        if name is not None:
            faults.append((fault, name))
    return case(branches), table(rng), faults
