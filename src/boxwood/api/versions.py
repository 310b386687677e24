"""`show_versions`: what a report of a bug needs to say of the machine. Imported late, as it reads many files."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata

from boxwood._version import __version__


def show_versions() -> None:
    """Print the versions of boxwood, of Python, and of the packages that boxwood uses; those that are missing, too.

    Put it into a report of a bug. It imports nothing, and says nothing of your data.

    Examples
    --------
    >>> import boxwood
    >>> boxwood.show_versions()
    boxwood       ...
    Python        3...
    ...
    """
    about = {
        "boxwood": __version__,
        "Python": " ".join(sys.version.split()),
        "system": platform.platform(),
        "processors": str(os.cpu_count()),
    }
    about |= {name: _version(name) for name in _packages()}
    longest = max(map(len, about))
    print("\n".join(f"{name.ljust(longest)}  {value}" for name, value in about.items()))


def _packages() -> list[str]:
    """Return the packages that boxwood needs, and then those of its extras."""
    try:
        lines = metadata.requires("boxwood") or []
    except metadata.PackageNotFoundError:  # a source tree that is not installed
        return []
    names = (re.match(r"[\w.-]+", line) for line in sorted(lines, key=lambda line: "extra ==" in line))
    return list(dict.fromkeys(found[0] for found in names if found))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
