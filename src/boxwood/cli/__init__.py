"""The command `boxwood`."""

from boxwood.cli._verbs import VERBS, boxwood, main

__all__ = ["VERBS", "boxwood", "main"]
