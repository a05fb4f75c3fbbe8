"""Runs the command line as `python -m harkara`."""

from harkara.cli import main

if __name__ == "__main__":
    main()
