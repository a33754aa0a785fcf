#!/usr/bin/python3
"""HDF5 and netCDF-4 files of NMB_CORPUS as NMB files with a view with copies: what HDF5 and netCDF programs show of each
view is what they show of the source, except for the objects that nminspect names as left out.

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
from tool_runs import ALL, h5py, main  # noqa: E402
from view_pairs import SHOWN, Pairs  # noqa: E402

LIST = Path(__file__).with_name("view_left_out.tsv")


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


class ViewCorpus:
    def __init__(self, test):
        self.test, self.shown, self.all, self.left_out, self.pairs = test, 0, 0, [], Pairs()

    def file(self, path, corpus):
        test, out = self.test, self.test.work / "out.nmb"
        name = path.relative_to(corpus) if path.is_relative_to(corpus) else path.name
        done = subprocess.run([test.tools / "nmconvert", path, out, "-f", "--hdf5-view", "on", "--view-copies", "--no-sync"], capture_output=True, text=True)
        if done.returncode != 0:
            if "HDF5 view" in done.stderr or done.returncode < 0 or done.returncode > 3:
                test.problems.append(f"{name}: nmconvert: {done.stderr}")
            return
        test.run("nmverify", out)
        said = test.run("nminspect", "view", "--json", out)
        if test.exit_code != 0:
            return
        left_out = json.loads(said)["left_out"]
        self.left_out += [(str(name), one["reason"], one["kind"], one["path"], one.get("attribute", "")) for one in left_out]
        try:
            count = objects_of(path)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            print(f"{name}: not counted: {error}")
            return
        self.all += count
        self.shown += count - sum(one["reason"] not in SHOWN for one in left_out)
        # Comparing takes most of the time, above all by h5dump, ncdump, h5repack and xarray.
        number = zlib.crc32(str(name).encode())
        if ALL or number % 6 == 0:
            self.pairs.compare(str(name), path, out, left_out, programs=ALL or number % 12 == 0)


def check(test):
    corpus = Path(os.environ["NMB_CORPUS"]).resolve()
    run = ViewCorpus(test)
    for path in FILES or hdf5_files(corpus):
        run.file(path, corpus)
    run.pairs.print()
    test.problems += run.pairs.problems
    print(f"{run.shown} of {run.all} objects shown ({100 * run.shown / max(run.all, 1):.1f} %)")
    found = sorted("\t".join(one) for one in run.left_out)
    if FILES:
        print("\n".join(found))
        return
    test.check(run.shown >= 0.9 * run.all, "fewer than 90 % of all objects are shown")
    known = set(LIST.read_text().splitlines()[1:]) if LIST.exists() else set()
    for line in found:
        test.check(line in known, f"left out, but not in {LIST.name}: {line}")
    if "NMB_UPDATE" in os.environ:
        LIST.write_text("# Objects of files in NMB_CORPUS that views leave out: file, reason, kind, path, attribute. Lines may only be removed.\n"
                        + "".join(line + "\n" for line in found))


if __name__ == "__main__":
    if "NMB_CORPUS" not in os.environ:
        print("skipped: NMB_CORPUS is not set")
        sys.exit(77)
    FILES = [Path(a).resolve() for a in sys.argv[3:]]
    del sys.argv[3:]
    sys.exit(main(__doc__, check))
