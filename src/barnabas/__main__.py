"""Runs the command line as `python -m barnabas`, for environments without the script on PATH."""

import sys

from barnabas.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
