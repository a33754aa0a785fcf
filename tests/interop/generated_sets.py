"""Runs a check for each of many generated sets of files, each in a folder of its own. Tests of such sets end with main()."""

import argparse
import tempfile
import warnings
from pathlib import Path

from tool_runs import ALL, Test, numpy


def main(description, check_set, few, many, least=0):
    """Calls check_set(test, number) for each set, and returns the exit code. few, many: the number of sets, and with
    NMB_ALL. check_set returns how much it compared; least: the least expected sum for each set."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="folder of the tools")
    parser.add_argument("--sets", type=int, default=many if ALL else few)
    parser.add_argument("--first", type=int, default=0, help="number of the first set")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # netCDF4-python warns of byte orders
    problems, compared = [], 0
    for number in range(arguments.first, arguments.first + arguments.sets):
        with tempfile.TemporaryDirectory() as work:
            test = Test(arguments.tools.resolve(), work)
            compared += check_set(test, number) or 0
        problems += test.problems
    if compared < int(least * arguments.sets):
        problems.append(f"compared {compared}, expected at least {least} for each of {arguments.sets} sets")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def define_axes(out, *axes):
    """Defines the dimensions of a tile with their coordinates. axes: name, begin and end in the whole, length of the whole."""
    for name, begin, end, length in axes:
        out.createDimension(name, end - begin)
        coordinate = out.createVariable(name, "f8", (name,))
        coordinate.domain_decomposition = numpy.array([1, length, begin + 1, end], "i4")
        coordinate[:] = numpy.arange(begin, end)
