"""`explain` beside everything else that grows trees: price and agreement, on the same clusters with as many leaves.

`python -m benchmarks.quality [PART]`; each part is a file here, and `--help` says what it shows. To add a part, write a
file with `add_options` and `main`, and give it a line in `PARTS` of `__main__`.
"""


def main() -> None:
    """Compare `explain` with its peers on every table; see `compare`."""
    from benchmarks.quality.__main__ import main as run

    run([])
