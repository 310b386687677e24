"""Templates that are compiled once and kept beside compiled modules, as compiling them takes longer than filling them.

Each begins with a digest of what follows, so one that is damaged counts as absent. Where the folder cannot be written,
each process compiles them anew.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from boxwood._files import replacing

_SEAL = sha256().digest_size


def compiled_templates(jinja2: Any) -> Any:
    """Return what a Jinja environment asks for compiled templates."""

    class CompiledTemplates(jinja2.BytecodeCache):  # type: ignore[misc]
        def get_cache_key(self, name: str, filename: str | None = None) -> str:
            return name

        def load_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                kept = _path(bucket.key, jinja2.__version__).read_bytes()
                if kept[:_SEAL] == sha256(kept[_SEAL:]).digest():
                    bucket.bytecode_from_string(kept[_SEAL:])  # which asks whether the template is the same

        def dump_bytecode(self, bucket: Any) -> None:
            if sys.dont_write_bytecode:
                return
            code = bucket.bytecode_to_string()
            with suppress(OSError):
                path = _path(bucket.key, jinja2.__version__)
                path.parent.mkdir(parents=True, exist_ok=True)
                with replacing(path) as temporary:
                    Path(temporary).write_bytes(sha256(code).digest() + code)

    return CompiledTemplates()


def _path(template: str, version: str) -> Path:
    """Return where a template is kept: by the rules of Python, for one version of it and of Jinja."""
    return Path(cache_from_source(__file__)).with_name(f"{template}.{sys.implementation.cache_tag}-jinja{version}")
