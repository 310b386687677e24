"""`python -m benchmarks.quality`."""

from benchmarks.quality.compare import main

if __name__ == "__main__":
    main()
