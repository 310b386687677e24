"""The command `boxwood`, which is also `python -m boxwood`."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command and exit; a Ctrl-C while its packages are still being imported ends it quietly, too."""
    try:
        from boxwood.cli import main as command
    except KeyboardInterrupt:
        print("boxwood: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    command()


if __name__ == "__main__":
    main()
