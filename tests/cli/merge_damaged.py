#!/usr/bin/python3
"""Every damaged classic file of a collection, by every tool: exit code, rule and offset, one by one, in
little time and memory, and nothing is left behind.

    merge_damaged.py --tools FOLDER

Skipped (exit code 77) without NMB_CORPUS.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import classic_files, main  # noqa: E402

MOST_SECONDS = 2.0  # of the processor
MOST_MEMORY = 64 << 20  # bytes, and twice the file's
# For each file: the first rule that it breaks, and the offset. R-CH-6 alone hinders no reading.
FAULTS = {
    "bad/netcdf-c-pr/pr3377_193byte_4GBname.nc": ("R-CH-3", 8),
    "bad/pnetcdf-cdf_format/bad_begin.nc5": ("R-CH-16", 212),
    "bad/pnetcdf-cdf_format/bad_dimid.nc2": ("R-CH-10", 92),
    "bad/pnetcdf-cdf_format/bad_dimid.nc5": ("R-CH-10", 140),
    "bad/pnetcdf-cdf_format/bad_nattrs.nc1": ("R-CH-4", 144),
    "bad/pnetcdf-cdf_format/bad_nattrs.nc2": ("R-CH-4", 148),
    "bad/pnetcdf-cdf_format/bad_ndims.nc2": ("R-CH-4", 12),
    "bad/pnetcdf-cdf_format/bad_ndims.nc5": ("R-CH-4", 16),
    "bad/pnetcdf-cdf_format/bad_xtype.nc1": ("R-CH-9", 52),
    "bad/pnetcdf-cdf_format/bad_xtype.nc2": ("R-CH-9", 52),
    "bad/pnetcdf-cdf_format/bad_xtype.nc5": ("R-CH-9", 80),
    "bad/pnetcdf-ncvalidator/bad_large_rec_2_vars.nc2": ("R-CH-15", 104),
    "bad/pnetcdf-ncvalidator/bad_nvars.nc1": ("R-CH-4", 28),
    "bad/pnetcdf-ncvalidator/bad_padding_name_dim.nc5": ("R-CH-6", 39),
    "bad/pnetcdf-ncvalidator/bad_padding_name_gattr.nc5": ("R-CH-6", 55),
    "bad/pnetcdf-ncvalidator/bad_padding_name_var.nc5": ("R-CH-17", 104),
    "bad/pnetcdf-ncvalidator/bad_padding_value_gattr.nc2": ("R-CH-6", 46),
    "bad/pnetcdf-ncvalidator/bad_padding_value_vattr.nc5": ("R-CH-17", 132),
    "bad/pnetcdf-ncvalidator/bad_tag_dimension.nc1": ("R-CH-3", 8),
    "bad/pnetcdf-ncvalidator/bad_tag_gattr.nc1": ("R-CH-3", 16),
    "bad/pnetcdf-ncvalidator/bad_tag_variable.nc2": ("R-CH-3", 24),
    "bad/pnetcdf-ncvalidator/bad_tag_variable.nc5": ("R-CH-3", 36),
    "bad/pnetcdf-ncvalidator/bad_tag_vattr.nc1": ("R-CH-3", 44),
    "bad/pnetcdf-ncvalidator/bad_tag_vattr.nc2": ("R-CH-3", 44),
    "hostile/Unidata+netcdf-c/bad_cdf5_begin.nc": ("R-CH-16", 212),
}


def run(tools, command, path):
    """The exit code and the messages of a run within the limits."""
    process = subprocess.Popen(
        [tools.folder / command[0], *command[1:]], cwd=tools.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said = process.stdout.read().decode()
    process.stdout.close()
    status, usage = os.wait4(process.pid, 0)[1:]
    process.returncode = os.waitstatus_to_exitcode(status)
    what = f"{path}: {command[0]}"
    tools.check(usage.ru_utime + usage.ru_stime < MOST_SECONDS, f"{what}: takes too long")
    most = MOST_MEMORY + 2 * path.stat().st_size
    tools.check(usage.ru_maxrss * 1024 < most, f"{what}: takes {usage.ru_maxrss} KiB")
    return process.returncode, said


def test(tools):
    corpus, files = classic_files("bad", "hostile")
    found = {str(path.relative_to(corpus)): path for path in files}
    tools.check(sorted(found) == sorted(FAULTS), f"other files: {sorted(set(found) ^ set(FAULTS))}")
    for name, path in found.items():
        rule, offset = FAULTS.get(name, ("", 0))
        readable = rule == "R-CH-6"
        commands = {
            "nmverify": ("nmverify", path),
            "nminspect": ("nminspect", path),
            "nmcat": ("nmcat", path, "-o", "cat.nmb"),
            "to NMB": ("nmconvert", path, "made.nmb"),
            "to CDF-5": ("nmconvert", path, "made.nc", "--to", "cdf5"),
            "strict": ("nmcat", path, "-o", "strict.nmb", "--strict"),
        }
        for what, command in commands.items():
            expected = 0 if readable and what not in ("nmverify", "strict") else 1
            code, said = run(tools, command, path)
            tools.check(code == expected, f"{name}: {what}: exit code {code}, expected {expected}: {said}")
            if what != "nminspect" or not readable:
                told = f"at {offset}: " in said and f"({rule})" in said
                tools.check(told, f"{name}: {what}: found {said!r}, expected {rule} at {offset}")
        written = sorted(path.name for path in tools.work.iterdir())
        expected = ["cat.nmb", "made.nc", "made.nmb"] if readable else []
        tools.check(written == expected, f"{name}: found files {written}, expected {expected}")
        for left in written:
            (tools.work / left).unlink()


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
