#!/usr/bin/python3
"""Compares HDF5, netCDF-4 and classic files with NMB files whose HDF5 views show them, by programs that know nothing of NMB: h5py,
netCDF4-python, xarray with both engines, h5dump, ncdump, and h5repack followed by h5diff.

    view_pairs.py FOLDER

FOLDER has pairs.json: a list of objects with `source`, `view` and `left_out` (of `nminspect view --json`). Paths are
relative to FOLDER. Prints what differs, and how many comparisons each program made. Exit code 0: nothing differs.
"""

import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare_files  # noqa: E402
from file_kind import CannotRun, kind_of  # noqa: E402

SAME, DIFFERENT = 10, 11
XARRAY = f"""
import sys, warnings, xarray
warnings.simplefilter("ignore")
a, b = (xarray.open_dataset(path, engine=sys.argv[1], decode_cf=False).load() for path in sys.argv[2:4])
same = a.identical(b)
if not same:
    print(a, b)
sys.exit({SAME} if same else {DIFFERENT})
"""
MOST_DUMPED = 2 << 20  # bytes of files of which all values are printed
# Files whose copies h5repack 1.10 makes unreadable: of a fill value of variable length in a data set without values, it copies
# the address in place of the text. HDF5 1.14 copies the text.
NOT_REPACKED = {"ref_tst_econst2.nc4.nc"}
SHOWN = ("reference",)  # reasons of objects that the view shows with a change


def follows(where, field, a, b, paths):
    """Whether a difference follows from objects that are left out, or from copies, which are in chunks of whole rows."""
    if str(a).startswith("unreadable"):
        return True  # the library refuses the source, but not the view
    if field in ("chunk shape", "netCDF chunks") or field.startswith("filter mask"):
        return True
    link = re.fullmatch(r"link (.*)", field)
    if link and b == "absent":
        return f"{where}/{link.group(1)}".strip("/") in paths
    if field == "netCDF order of variables":
        names = [n for n in re.findall(r"'([^']*)'", str(a)) if f"{where}/{n}".strip("/") not in paths]
        return names == re.findall(r"'([^']*)'", str(b))
    if field == "user block":
        return "" in paths
    if field == "reference count":
        return any(p for p in paths)
    if field.startswith("attribute ") and "<null reference>" in str(b):
        return any(f"dataset=/{p}," in str(a) or f"object=/{p}" in str(a) for p in paths)
    return where in paths or any(where.startswith((p + "@", p + "/")) for p in paths if p)


def said(*command):
    """The exit code and the lines of a program, or (None, reason)."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=15)
    except subprocess.TimeoutExpired:
        return None, ["takes too long"]
    return done.returncode, done.stdout.decode(errors="backslashreplace").splitlines()


class Pairs:
    def __init__(self):
        self.problems, self.counts, self.uncompared = [], collections.Counter(), []

    def compare(self, name, source, view, left_out, programs=True):
        paths = {one["path"] for one in left_out if one["kind"] in ("variable", "named datatype", "link", "user block")}
        if kind_of(source) == "classic":
            self.ncdump(name, source, view, bool(left_out))
            self.xarray(name, source, view, bool(left_out))
            return
        try:
            differences = compare_files.compare(source, view)
        except CannotRun as error:
            self.uncompared.append(f"{name}: {error}")
            return
        self.counts["h5py and netCDF4-python"] += 1
        for where, field, a, b in differences.found:
            if not follows(where.strip("/"), field, a, b, paths):
                self.problems.append(f"{name}: {where}: {field}: {a!s:.200} in the source, {b!s:.200} in the view")
        if not programs:
            return
        # A user block and attributes that are left out change nothing that the next programs show of values.
        hidden = [one for one in left_out if one["kind"] != "user block" and one["reason"] not in SHOWN]
        for compare in (self.ncdump, self.h5dump, self.repack, self.xarray):
            try:
                compare(name, source, view, bool(hidden))
            except Exception as error:
                self.problems.append(f"{name}: {compare.__name__}: {type(error).__name__}: {error}")

    def texts(self, name, what, show, source, view, is_partial):
        """Compares show(source) with show(view), of said(). If the source cannot be shown, nothing is compared."""
        a = show(source)
        if a[0] != 0:
            return
        b = show(view)
        # Programs print memory that nobody set in place of values that were never written and have no fill value.
        if a != b and any(show(source) != a for _ in range(3)):
            return
        self.counts[what] += 1
        if b[0] != 0:
            self.problems.append(f"{name}: {what}: exit code {b[0]} for the view: {b[1][-3:]}")
        elif not is_partial and a[1] != b[1]:
            i = next((i for i, pair in enumerate(zip(a[1], b[1])) if pair[0] != pair[1]), min(len(a[1]), len(b[1])))
            self.problems.append(f"{name}: {what}: line {i + 2}: {a[1][i : i + 2]} in the source, {b[1][i : i + 2]} in the view")

    def ncdump(self, name, source, view, is_partial):
        if not shutil.which("ncdump"):
            return
        for option in (["-h"], [])[: 2 if source.stat().st_size <= MOST_DUMPED else 1]:
            def show(path):
                code, lines = said("ncdump", *option, path)
                return code, lines[1:]

            self.texts(name, " ".join(["ncdump", *option]), show, source, view, is_partial)

    def h5dump(self, name, source, view, is_partial):
        if not shutil.which("h5dump") or source.stat().st_size > MOST_DUMPED:
            return

        def show(path):
            code, lines = said("h5dump", path)
            # Without the name of the file, addresses to which references lead, and empty lines of a user block.
            lines = [line.replace(str(path), "FILE") for line in lines[1:] if line.strip()]
            lines = [re.sub(r"(DATASET|GROUP|DATATYPE|unknown) \d+", r"\1", line) for line in lines]
            # Where h5dump begins a new line depends on the digits of addresses.
            return code, re.sub(r",\n\s*\(\d[\d,]*\): ", ", ", "\n".join(lines)).split("\n")

        self.texts(name, "h5dump", show, source, view, is_partial)

    def repack(self, name, source, view, is_partial):
        """h5repack copies the view, and h5diff finds no difference between the copy and the source."""
        if not shutil.which("h5repack") or not shutil.which("h5diff"):
            return
        with tempfile.TemporaryDirectory() as folder:
            copies = [Path(folder) / name for name in ("source.h5", "view.h5")]
            if said("h5repack", source, copies[0])[0] != 0 or said("h5diff", source, copies[0])[0] != 0:
                return
            if Path(source).name in NOT_REPACKED and b"1.10." in subprocess.run(["h5repack", "--version"], capture_output=True).stdout:
                return
            self.counts["h5repack and h5diff"] += 1
            code, lines = said("h5repack", view, copies[1])
            if code != 0:
                self.problems.append(f"{name}: h5repack of the view: exit code {code}: {lines[-3:]}")
                return
            code, lines = said("h5diff", source, copies[1])
            if code != 0 and not is_partial:
                self.problems.append(f"{name}: h5diff of the source and the repacked view: exit code {code}: {lines[:3]}")

    def xarray(self, name, source, view, is_partial):
        """In processes of their own, because netCDF-C crashes after some errors."""
        for engine in ("netcdf4", "h5netcdf"):
            code, lines = said(sys.executable, "-c", XARRAY, engine, source, view)
            if code not in (SAME, DIFFERENT):
                code = said(sys.executable, "-c", XARRAY, engine, source, source)[0]
                if code == SAME:
                    self.problems.append(f"{name}: xarray, {engine}, cannot read the view")
                continue
            self.counts[f"xarray, {engine}"] += 1
            if code == DIFFERENT and not is_partial:
                self.problems.append(f"{name}: xarray, {engine}: {lines}"[:600])

    def print(self):
        for what, count in self.counts.items():
            print(f"{count:5} {what}")
        for line in self.uncompared:
            print(f"not compared: {line}")
        for problem in self.problems:
            print(problem)


def main():
    folder = Path(sys.argv[1])
    pairs = Pairs()
    for one in json.loads((folder / "pairs.json").read_text()):
        pairs.compare(one["source"], folder / one["source"], folder / one["view"], one["left_out"])
    pairs.print()
    return 1 if pairs.problems else 0


if __name__ == "__main__":
    sys.exit(main())
