"""`explain` beside everything else that grows trees: price and agreement, on the same clusters with as many leaves.

`python -m benchmarks.quality [compare | given | outside | speed | worth]`; each part is a file here.
"""


def main() -> None:
    """Compare `explain` with its peers on every table; see `compare`."""
    from benchmarks.quality.compare import main as compare

    compare([])
