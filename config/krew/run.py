"""Runs olm from folders of libraries: `run.py FOLDER FOLDER [ARGUMENT...]`."""

import sys

sys.path[:0] = sys.argv[1:3]
sys.argv[:] = ["kubectl-olm", *sys.argv[3:]]

from olm_cli.start import main  # noqa: E402 - found where the line above says

main()
