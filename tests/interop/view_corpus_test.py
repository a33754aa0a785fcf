#!/usr/bin/python3
"""HDF5 and netCDF-4 files of NMB_CORPUS as NMB files with a view, without and with copies: nminspect names all objects
that the views leave out. What HDF5 and netCDF programs show of each view with copies is what they show of the source,
except for these objects. Every fourth file takes part; with NMB_ALL=1, all.

    view_corpus_test.py --tools FOLDER [FILE...]

Skipped (exit code 77) without h5py, netCDF4-python or NMB_CORPUS.
"""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from tool_runs import ALL, h5py, main, some  # noqa: E402
from view_pairs import SHOWN, Pairs  # noqa: E402


def hdf5_files(corpus):
    for path in sorted(corpus.rglob("*")):
        if path.is_file() and not {"bad", "hostile"} & set(path.relative_to(corpus).parts) and h5py.is_hdf5(path):
            yield path


def objects_of(path):
    """The number of groups, data sets and named datatypes that links lead to, and of their attributes."""
    count = 0
    with h5py.File(path) as file:
        seen = set()

        def visit(group):
            nonlocal count
            for name in group:
                if group.id.links.get_info(name.encode("utf-8", "surrogateescape")).type != h5py.h5l.TYPE_HARD:
                    continue
                try:
                    one = group[name]
                except (KeyError, OSError, TypeError):
                    continue
                key = h5py.h5o.get_info(one.id).addr
                if key in seen:
                    continue
                seen.add(key)
                count += 1 + len(one.attrs)
                if isinstance(one, h5py.Group):
                    visit(one)

        count += 1 + len(file.attrs)
        seen.add(h5py.h5o.get_info(file["/"].id).addr)
        visit(file)
    return count


class Form:
    """A form of view: the option that makes it, and the list of what it may leave out."""

    def __init__(self, name, options, list_name):
        self.name, self.options, self.list = name, options, Path(__file__).with_name(list_name)
        self.shown, self.all, self.left_out = 0, 0, []

    def make(self, test, path, name):
        """Makes out.nmb with a view. Returns what the view leaves out, or None if the file is refused."""
        command = [test.tools / "nmconvert", path, test.work / "out.nmb", "-f", "--hdf5-view", "on", "--no-sync"]
        done = subprocess.run([*command, *self.options], capture_output=True, text=True)
        if done.returncode != 0:
            if "HDF5 view" in done.stderr or done.returncode < 0 or done.returncode > 3:
                test.problems.append(f"{name}: nmconvert: {done.stderr}")
            return None
        said = test.run("nminspect", "view", "--json", "out.nmb")
        if test.exit_code != 0:
            return None
        left_out = json.loads(said)["left_out"]
        self.left_out += [(str(name), one["reason"], one["kind"], one["path"], one.get("attribute", "")) for one in left_out]
        return left_out

    def count(self, objects, left_out):
        self.all += objects
        self.shown += objects - sum(one["reason"] not in SHOWN for one in left_out)

    def check(self, test):
        test.check(self.shown >= 0.9 * self.all, f"{self.name}: fewer than 90 % of all objects are shown")
        found = sorted("\t".join(one) for one in self.left_out)
        if "NMB_UPDATE" in os.environ:
            self.list.write_text("# Objects of files in NMB_CORPUS that views leave out: file, reason, kind, path, attribute. Lines may only be removed.\n"
                                 + "".join(line + "\n" for line in found))
        known = set(self.list.read_text().splitlines()[1:]) if self.list.exists() else set()
        for line in found:
            test.check(line in known, f"{self.name}: left out, but not in {self.list.name}: {line}")


class ViewCorpus:
    def __init__(self, test):
        self.test, self.pairs = test, Pairs()
        self.usual = Form("view", (), "view_left_out_default.tsv")
        self.copies = Form("view with copies", ("--view-copies",), "view_left_out.tsv")
        self.forms = (self.usual, self.copies)

    def file(self, path, corpus):
        test = self.test
        name = path.relative_to(corpus) if path.is_relative_to(corpus) else path.name
        try:
            count = objects_of(path)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            print(f"{name}: not counted: {error}")
            count = 0
        left_out = None
        for form in self.forms:
            left_out = form.make(test, path, name)
            if left_out is None:
                return
            if count:
                form.count(count, left_out)
        # Values are compared in the view with copies, which shows more.
        test.run("nmverify", "out.nmb")
        # Comparing takes most of the time, above all by h5dump, ncdump, h5repack and xarray.
        number = zlib.crc32(str(name).encode())
        if ALL or number % 6 == 0:
            self.pairs.compare(str(name), path, test.work / "out.nmb", left_out, programs=ALL or number % 36 == 0)


def check(test):
    corpus = Path(os.environ["NMB_CORPUS"]).resolve()
    run = ViewCorpus(test)
    for path in FILES or some(hdf5_files(corpus), 4):
        run.file(path, corpus)
    run.pairs.print()
    test.problems += run.pairs.problems
    for form in run.forms:
        print(f"{form.name}: {form.shown} of {form.all} objects shown ({100 * form.shown / max(form.all, 1):.1f} %)")
        if FILES:
            print("\n".join(sorted("\t".join(one) for one in form.left_out)))
        else:
            form.check(test)


if __name__ == "__main__":
    if "NMB_CORPUS" not in os.environ:
        print("skipped: NMB_CORPUS is not set")
        sys.exit(77)
    FILES = [Path(a).resolve() for a in sys.argv[3:]]
    del sys.argv[3:]
    sys.exit(main(__doc__, check))
