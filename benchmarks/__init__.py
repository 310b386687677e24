"""Benchmarks: what is claimed about speed and about the quality of trees, measured.

`python -m benchmarks` runs them all, `python -m benchmarks NAME ...` some of them. Times are medians of runs that take
turns; only their ratios within one run mean something, since machines differ and are shared.
"""
