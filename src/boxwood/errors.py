"""The errors and warnings of boxwood.

::

    ValueError
    └── DataError            the data cannot be used as asked
        └── ModelError       a file or text is not a boxwood model
    UserWarning
    ├── StoppedEarlyWarning  a tree has fewer leaves than asked for, because no cut gains
    └── CacheNote            compiled code cannot be kept on disk; every process compiles again
"""

from boxwood._messages import shorten_message

__all__ = ["CacheNote", "DataError", "ModelError", "StoppedEarlyWarning"]


class DataError(ValueError):
    """The data cannot be used as asked; the message says what was expected, what was given and what to do."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shorten_message(message))


class ModelError(DataError):
    """A file or a text is not a boxwood model, or is one of a format this version does not read."""


class StoppedEarlyWarning(UserWarning):
    """A tree has fewer leaves than were asked for, because no further cut was found that gains."""


class CacheNote(UserWarning):
    """Compiled code cannot be kept on disk, so every process compiles again."""
