#!/usr/bin/env python3
"""PnetCDF's own tests, examples and benchmarks, each without and with nmb-run: the same output but for times, and
files that ncmpidiff finds equal after nmconvert.

  own_programs.py --build FOLDER --nmb-run TOOL --tools FOLDER --mpiexec "mpiexec -n" --mpicc mpicc --work FOLDER [NAME...]

--build is a build of PnetCDF's source, with its programs compiled (make tests). Programs that test the layout of
PnetCDF's files, or what NMB cannot mean, are listed in own_programs.tsv with the reason. Values that a program never
wrote are what the file system gives in PnetCDF's files, and fill values in ours. So where ncmpidiff finds differences,
PnetCDF runs again on a file of garbage (garbage.c), and only values that are then the same must be those of NMB.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np

# Programs by folder: arguments and numbers of processes. {out} is a path in a folder of the run's own.
FOLDERS = {
    "test/testcases": ([1, 4], ["{out}/{name}.nc"]), "test/nonblocking": ([1, 4], ["{out}/{name}.nc"]),
    "test/header": ([4], ["{out}/{name}.nc"]), "test/cdf_format": ([1], ["{out}/{name}.nc"]),
    "test/F90": ([1, 4], ["{out}/{name}.nc"]), "test/CXX": ([1, 4], ["{out}/{name}.nc"]),
    "examples/C": ([4], ["-q", "{out}/{name}.nc"]), "examples/CXX": ([4], ["-q", "{out}/{name}.nc"]),
    "examples/F77": ([4], ["-q", "{out}/{name}.nc"]), "examples/F90": ([4], ["-q", "{out}/{name}.nc"]),
    "examples/tutorial": ([4], ["{out}/{name}.nc"]), "test/fandc": ([4], ["{out}/{name}.nc"]),
    "test/C": ([1], ["{out}/pres_temp_4D.nc"]), "test/nc_test": ([1], ["{out}/{name}.nc"]),
}
# Calls that differ from those of their folder.
CALLS = [
    ("test/nc_test/nc_test", 1, ["-d", "{out}"]), ("test/nc_test/nc_test", 1, ["-2", "-d", "{out}"]),
    ("test/nc_test/nc_test", 1, ["-5", "-d", "{out}"]), ("test/nf_test/nf_test", 1, ["-d", "{out}"]),
    ("test/nf_test/nf_test", 1, ["-5", "-d", "{out}"]), ("test/nf90_test/nf90_test", 1, ["-d", "{out}"]),
    ("test/nf90_test/nf90_test", 1, ["-5", "-d", "{out}"]),
    ("test/F90/tst_io", 1, ["{out}"]), ("test/F90/test_fill", 1, ["{out}/{name}.nc"]),
    ("test/cdf_format/test_inq_format", 1, ["{source}/test/cdf_format"]),
    ("test/cdf_format/tst_corrupt", 1, ["{source}/test/cdf_format"]),
    ("test/cdf_format/tst_open_cdf5", 1, ["{source}/test/cdf_format/bad_begin.nc5"]),
    ("examples/C/create_from_cdl", 4, ["-q", "-o", "{out}/{name}.nc", "{source}/examples/C/cdl_header.txt"]),
    ("benchmarks/C/aggregation", 4, ["-b", "-c", "-i", "-j", "{out}/{name}.nc"]),
    ("benchmarks/C/write_block_read_column", 4, ["{out}/{name}.nc"]),
    ("benchmarks/FLASH-IO/flash_benchmark_io", 4, ["-q", "-f", "{out}/flash."]),
    ("benchmarks/WRF-IO/wrf_io", 4, ["-q", "-y", "100", "-x", "100", "-i", "{source}/benchmarks/WRF-IO/wrf_header.txt",
                                     "-w", "{out}/wrf.nc", "-r", "{out}/wrf.nc"]),
]
# Programs that read what another one has written.
ORDER = {"pres_temp_4D_rd": "pres_temp_4D_wr", "get_vara": "put_vara"} | {
    f"pnetcdf-read-{way}": f"pnetcdf-write-{way}" for way in ("flexible", "from-master", "nb", "nfiles", "standard")}
IN_PLACE = "test/nf_test/nf_test", "test/nf90_test/nf90_test"  # open files of their own folder
TIMES = re.compile(r"[-+]?\d+\.\d+(e[-+]?\d+)?|\d+ (bytes|B)\b|\d{1,2}:\d{2}:\d{2}", re.I)


def is_program(path):
    if not os.access(path, os.X_OK) or path.is_dir() or path.suffix in (".sh", ".py", ".la", ".so"):
        return False
    return (path.parent / (path.name + ".o")).exists() or any(path.parent.glob(path.name + "*.o"))


def calls(build):
    for folder, (ranks, arguments) in FOLDERS.items():
        if not (build / folder).is_dir():
            continue
        names = sorted(p.name for p in (build / folder).iterdir() if is_program(p))
        for name in sorted(names, key=lambda n: (n in ORDER, n)):
            if any(call[0] == f"{folder}/{name}" for call in CALLS):
                continue
            for n in ranks:
                yield f"{folder}/{name}", n, arguments
    for path, n, arguments in CALLS:
        if (build / path).exists():
            yield path, n, arguments


def clean(text, out):
    lines = []
    for line in text.replace(str(out), "OUT").splitlines():
        line = TIMES.sub("#", line)
        # Sizes that depend on memory in use, times, and the hints of MPI-IO.
        if re.search(r"time|bandwidth|sec|heap|memory|malloc|MiB|MB/s|MPI File Info|nmb-run", line, re.I):
            continue
        lines.append(" ".join(line.split()))
    return sorted(lines)


def written_differs(file, on_garbage, converted, otherwise):
    """Compares values that were written: those that the same program gave twice. Returns what differs, or None."""
    if not on_garbage.exists():
        return otherwise
    with netCDF4.Dataset(file) as one, netCDF4.Dataset(on_garbage) as two, netCDF4.Dataset(converted) as ours:
        sets = (one, two, ours)
        if len({(d.data_model, tuple(d.dimensions), tuple(map(len, d.dimensions.values())), tuple(d.variables)) for d in sets}) > 1:
            return otherwise
        for d in sets:
            d.set_auto_maskandscale(False)
        before = 0
        for name in one.variables:
            a, b, c = (d[name] for d in sets)
            if str(a.__dict__) != str(c.__dict__) or a.dtype != c.dtype or a.dimensions != c.dimensions:
                return f"{file.name}: other definitions of {name}"
            # Values behind the end of the file were not written. The variables before this one take `before` bytes.
            inside = max(0, file.stat().st_size - before) // a.dtype.itemsize
            if not (a.dimensions and one.dimensions[a.dimensions[0]].isunlimited()):
                before += a.size * a.dtype.itemsize
            a, b, c = (np.atleast_1d(v[...]).view("u%d" % v.dtype.itemsize).ravel()[:inside] for v in (a, b, c))
            if not np.array_equal(a[a == b], c[a == b]):
                return f"{file.name}: other written values of {name}"
        if str(one.__dict__) != str(ours.__dict__):
            return f"{file.name}: other attributes"
    return None


def run(command, cwd, environment, timeout):
    try:
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace",
                              timeout=timeout)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        return -1, "no end within the time\n" + str(error.stdout)[-500:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--nmb-run", required=True)
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--mpicc", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.tools = options.tools.resolve()
    listed = {}
    table = Path(__file__).parent / "own_programs.tsv"
    for line in table.read_text().splitlines() if table.exists() else []:
        if line and not line.startswith("#"):
            name, reason = line.split("\t")
            listed[name] = reason
    diff = options.build / "src/utils/ncmpidiff/ncmpidiff"
    options.work.mkdir(parents=True, exist_ok=True)
    source = re.search(r"^abs_top_srcdir = (.*)$", (options.build / "Makefile").read_text(), re.M)[1]
    garbage = options.work / "garbage.so"
    subprocess.run([*options.mpicc.split(), "-shared", "-fPIC", Path(__file__).parent / "garbage.c", "-o", garbage], check=True)

    def differences(file, converted):
        """What ncmpidiff says of two files, or None."""
        code, text = run([str(diff), str(file), str(converted)], options.work, os.environ, 300)
        if code == 0 and "DIFF" not in text:
            return None
        return f"ncmpidiff {file.name}: {[l for l in text.splitlines() if 'DIFF' in l][:3] or text[:200]}"

    counted, good, excused, bad, useless = set(), set(), set(), set(), set()
    for path, ranks, arguments in calls(options.build):
        name = path.rsplit("/", 1)[1]
        if options.names and name not in options.names and path not in options.names:
            continue
        if path in listed:
            counted.add(path)
            excused.add(path)
            continue
        outcomes = {}
        for which in ("pnetcdf", "nmb"):
            out = options.work / which / path.replace("/", "_")
            if name not in ORDER:
                shutil.rmtree(out, ignore_errors=True)
            else:
                out = options.work / which / path.replace("/", "_").replace(name, ORDER[name])
            out.mkdir(parents=True, exist_ok=True)
            environment = dict(os.environ, PNETCDF_SAFE_MODE="0")
            if which == "nmb":
                environment["NMB_PNETCDF"] = "*"
            words = [word.format(out=out, name=ORDER.get(name, name), source=source) for word in arguments]
            command = options.mpiexec.split() + [str(ranks)] + ([options.nmb_run] if which == "nmb" else [])
            command += [str(options.build / path)] + words
            code, text = run(command, (options.build / path).parent if path in IN_PLACE else out, environment, options.timeout)
            outcomes[which] = (code, text, clean(text, out), out)
        label = f"{path} ({ranks} processes{' ' + arguments[0] if arguments[0].startswith('-') else ''})"
        code, text, lines, out = outcomes["pnetcdf"]
        if code != 0:
            useless.add(path)
            print(f"useless {label}: PnetCDF itself gives exit code {code}: {text.strip().splitlines()[-1:]}")
            continue
        counted.add(path)
        problems = []
        nmb_code, nmb_text, nmb_lines, nmb_out = outcomes["nmb"]
        if nmb_code != code:
            problems.append(f"exit code {nmb_code}")
        if nmb_lines != lines:
            here = [line for line in nmb_lines if line not in lines][:4]
            there = [line for line in lines if line not in nmb_lines][:2]
            problems.append(f"output: found {here}, expected {there}")
        again = None

        def run_on_garbage():
            folder = Path(str(out) + ".garbage")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(out, folder) if name in ORDER else folder.mkdir(parents=True)
            environment = dict(os.environ, PNETCDF_SAFE_MODE="0", LD_PRELOAD=str(garbage))
            words = [word.format(out=folder, name=ORDER.get(name, name), source=source) for word in arguments]
            run(options.mpiexec.split() + [str(ranks), str(options.build / path)] + words, folder, environment, options.timeout)
            return folder

        for file in sorted(out.iterdir()):
            other = nmb_out / file.name
            with open(file, "rb") as start:
                if start.read(3) != b"CDF":
                    continue
            if not other.exists():
                problems.append(f"no file {file.name}")
                continue
            converted = other.with_name(other.name + ".classic.nc")
            code, text = run([str(options.tools / "nmconvert"), "-f", str(other), str(converted)], nmb_out, os.environ, 300)
            if code != 0:
                problems.append(f"nmconvert {file.name}: {text.strip()[:200]}")
                continue
            differs = differences(file, converted)
            if differs:
                again = again or run_on_garbage()
                differs = written_differs(file, again / file.name, converted, differs)
            if differs:
                problems.append(differs)
            converted.unlink(missing_ok=True)
        if problems:
            bad.add(path)
            print(f"FAILED {label}: " + "; ".join(problems)[:900], flush=True)
        else:
            good.add(path)
    good -= bad
    for path in sorted(excused):
        print(f"listed {path}: {listed[path]}")
    print(f"{len(counted)} programs: {len(good)} the same, {len(excused)} listed, {len(bad)} failed; "
          f"{len(useless - counted)} are no use here")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
