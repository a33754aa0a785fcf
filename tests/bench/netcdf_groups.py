#!/usr/bin/env python3
"""Times netCDF-C on a file of many groups, as netCDF-4 and as NMB by nmb-run: `ncdump -h` of the whole file, and opening the file
and reading one variable of one group. Prints seconds and their ratio; ends with 1 if NMB takes more than 0.05 of the time.

    tests/bench/netcdf_groups.py --tools FOLDER --work FOLDER [--groups 35530]

A group has 24 dimensions and 16 variables. netCDF4-python needs hours to make 35,530 of them; the ratio is smaller the more
there are. Each time is the least of three, and contains the start of the program.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

MOST = 0.05
# netCDF4-python visits all groups; a C program opens one.
ONE = r"""
#include <netcdf.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int file, group, variable;
  float values[16];
  if (argc != 3 || nc_open(argv[1], NC_NOWRITE, &file) || nc_inq_grp_full_ncid(file, argv[2], &group) ||
      nc_inq_varid(group, "var_3", &variable) || nc_get_var_float(group, variable, values))
    return 1;
  printf("%g\n", values[0]);
  return nc_close(file);
}
"""


def make(path, count):
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        for i in range(count):
            group = file.createGroup(f"r{i // 120:04d}_evt{i:05d}")
            for d in range(24):
                group.createDimension(f"dim_{d}", 1 + (i + d) % 7)
            for v in range(16):
                group.createVariable(f"var_{v}", "f4", (f"dim_{v}",))
        # Values come after all definitions: netCDF-C visits the whole file between them.
        for group in file.groups.values():
            for v, variable in enumerate(group.variables.values()):
                variable[:] = v


def least(command):
    seconds = []
    for _ in range(3):
        before = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - before)
    return min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--groups", type=int, default=35_530)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    native, ours, program = (options.work / name for name in (f"{options.groups}.nc", f"{options.groups}.nmb", "one"))
    if not native.exists():
        make(native, options.groups)
    subprocess.run([options.tools / "nmconvert", "-f", "-q", "--hdf5-view", "off", native, ours], check=True)
    subprocess.run(["cc", "-O2", "-x", "c", "-", "-o", program, "-lnetcdf"], input=ONE, text=True, check=True)
    last = options.groups - 1
    group = f"/r{last // 120:04d}_evt{last:05d}"
    failed = False
    for name, command in (("ncdump -h", ["ncdump", "-h"]), ("one group", [program])):
        arguments = [group] if name == "one group" else []
        there = least([*command, native, *arguments])
        here = least([options.tools / "nmb-run", *command, ours, *arguments])
        print(f"{options.groups} groups, {name}: netCDF-4 {there:.3f} s, NMB {here:.3f} s, ratio {here / there:.4f}")
        failed = failed or here > MOST * there
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
