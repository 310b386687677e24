"""What is printed of the cases: who beats `explain`, by how much, and the means."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.quality.judge import CHEAPER, Outcome
from benchmarks.quality.peers import PEERS
from benchmarks.timing import print_table


class Case(NamedTuple):
    """A case, the leaves for each cluster, what `explain` made of it, and its peers."""

    key: str
    times: int
    ours: Outcome
    method: str
    peers: dict[str, Outcome]


def print_report(cases: Sequence[Case]) -> None:
    """Print the comparison for each number of leaves."""
    cases = sorted(cases)
    for times in sorted({case.times for case in cases}):
        chosen = [case for case in cases if case.times == times]
        print(f"\n== {times} leaves for each cluster: {len(chosen)} cases")
        _print_peers(chosen)
        _print_beaten(chosen)


def _print_peers(cases: Sequence[Case]) -> None:
    rows = [_line("explain", [(case.ours, case.ours) for case in cases])]
    for name in dict.fromkeys(name for case in cases for name in case.peers):
        rows.append(_line(name, [(case.peers[name], case.ours) for case in cases if name in case.peers]))
    header = ["", "cases", "price", "to explain's", "cheaper", "dearer", "agreement", "explain's", "beats it", "CPU s"]
    print_table("means; price is the geometric mean of prices above 1", header, rows)


def _line(name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> list[str]:
    prices = np.log([[max(each.price, 1.0) for each in pair] for pair in pairs])
    gains = np.array([peer.gain_over(ours) for peer, ours in pairs])
    return [
        name,
        str(len(pairs)),
        f"{np.exp(prices[:, 0].mean()):.4f}",
        f"{np.exp((prices[:, 0] - prices[:, 1]).mean()):.4f}",
        str((gains > CHEAPER).sum()),
        str((gains < -CHEAPER).sum()),
        f"{np.mean([peer.agreement for peer, _ in pairs]):.4f}",
        f"{np.mean([ours.agreement for _, ours in pairs]):.4f}",
        str(sum(peer.beats(ours) for peer, ours in pairs)),
        f"{sum(peer.seconds for peer, _ in pairs):.1f}",
    ]


def _print_beaten(cases: Sequence[Case]) -> None:
    beaten = []
    for case in cases:
        name, best = min(
            ((name, peer) for name, peer in case.peers.items() if name in PEERS and peer.beats(case.ours)),
            key=lambda each: each[1].price,
            default=("", None),
        )
        if best is not None:
            beaten.append((best.gain_over(case.ours), case, name, best))
    print(f"beaten in {len(beaten)} of {len(cases)} cases ({len(beaten) / len(cases):.1%}): cheaper by more than")
    print(f"{CHEAPER:.2%} with at least its agreement and no more leaves than asked for")
    for gain, case, name, best in sorted(beaten, key=lambda each: -each[0]):
        print(
            f"  {case.key}: by {name}, {gain:.2%}: price {case.ours.price:.4f} -> {best.price:.4f}, "
            f"agreement {case.ours.agreement:.4f} -> {best.agreement:.4f} ({case.method})"
        )
