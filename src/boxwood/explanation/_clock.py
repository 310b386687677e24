"""A limit of time for a search."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """A time limit in seconds; None is none."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.stopped = False

    def has_passed(self) -> bool:
        """Return whether the time is over; remembers that it was."""
        self.stopped = self.stopped or (self.deadline is not None and time.monotonic() > self.deadline)
        return self.stopped
