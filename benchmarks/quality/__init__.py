"""`explain` beside everything else that grows trees: price and agreement, on the same clusters with as many leaves.

`python -m benchmarks.quality --help` lists the parts and their options.
"""
