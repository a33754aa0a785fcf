#!python
"""Starts the tool of the package nmb that has the name of this script."""

import importlib.util
import os
import sys

found = importlib.util.find_spec("nmb")
if found is None or not found.submodule_search_locations:
    sys.exit(f"{sys.argv[0]}: the package nmb is not installed for {sys.executable}")
program = os.path.join(found.submodule_search_locations[0], "_bin", os.path.basename(sys.argv[0]))
os.execv(program, [program, *sys.argv[1:]])
