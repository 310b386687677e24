"""The version of boxwood, which needs nothing else."""

__version__ = "0.1.0"
