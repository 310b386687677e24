"""`python -m boxwood` is the command `boxwood`."""

from boxwood.cli import main

if __name__ == "__main__":
    main()
