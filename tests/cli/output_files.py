#!/usr/bin/python3
"""No tool writes to one of its inputs, to a file that an input refers to, or to one file twice: each option that takes
an output is tried with each such file, by each spelling. The exit code is 2, a message names the output, and every file
stays as it is. The options are those that --help lists: one that CALLS does not know makes this fail. Without NMB_ALL=1
each call is tried with two spellings, the file's name and another in turn.

    output_files.py --tools FOLDER
"""

import hashlib
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import ALL, Skip, main  # noqa: E402

# Names of values in --help that are not paths.
NO_PATHS = set(
    "KIND MODE TEMPLATE DIM [BLOCK/]VARIABLE WHAT REGEX RULE ORDER CODEC CODEC[:LEVEL] LEVEL BYTES N KEY=VALUE HOW "
    "WHICH WHEN LAYOUT BLOCK [VAR:]DIM:LEN,... KEY VIEW SLAB GLOB EXPR A[,R] BLOCK/VAR "
    "BLOCK/VARIABLE K/N NAME=VALUE GENERATION SEED NAME,... DIM=START:COUNT:STRIDE,... FROM,TO WEST,EAST,SOUTH,NORTH".split()
)
# All options and arguments whose value is a path: what becomes of the file.
READS, WRITES, IN_PLACE = "reads", "writes", "writes in place"
PATHS = {
    "nmcat": {"INPUT": READS, "--files-from": READS, "--blocks-from": READS, "--output": WRITES, "--report": WRITES},
    "nmconvert": {"INPUT": READS, "--files-from": READS, "OUTPUT": WRITES, "--output": WRITES, "--out-dir": WRITES,
                  "--report": WRITES, "--add-hdf5-view": IN_PLACE},
    "nminspect": {"FILE": READS, "OTHER": READS, "--svg": WRITES, "--html": WRITES},
    "nmverify": {"FILE": READS, "--files-from": READS, "--against": READS, "--against-from": READS,
                 "--recover": WRITES, "--resume": IN_PLACE},
}  # fmt: skip


def paths_of(tools, name):
    """{option: what its value is called} of those whose value may be a path, by --help."""
    text = tools.run(name, "--help").stdout.decode()
    found = {}
    for table in re.findall(r"^Usage: .*?\n\n(.*?)\n\n", text + "\n\n", re.DOTALL | re.MULTILINE):
        for line in table.splitlines():
            option = re.match(r"  (-[-\w]+(?:,-[-\w]+)*)(?: (\S+))?", line)
            argument = re.match(r"  ([A-Z]\S*)", line)
            if option and option[2]:
                found[option[1].split(",")[-1]] = option[2]
            elif argument:
                found[argument[1]] = argument[1]
    return {option: word for option, word in found.items() if word not in NO_PATHS}


def check_options(tools):
    """Every option that takes a path is known, and every output is tried."""
    for name in PATHS:
        found, known = set(paths_of(tools, name)), set(PATHS[name])
        for option in sorted(found - known):
            tools.check(False, f"{name} {option}: no case says whether it writes to a file; add it to PATHS, and an "
                               f"output to CALLS")
        tools.check(not known - found, f"{name}: --help does not list {sorted(known - found)}")
        tried = {option for tool, option, *_ in CALLS if tool == name}
        wanted = {option for option, what in PATHS[name].items() if what == WRITES}
        tools.check(tried == wanted, f"{name}: tried {sorted(tried)}, expected {sorted(wanted)}")


# --- the files ---


def text_of(name):
    return struct.pack(">I", len(name)) + name.encode() + bytes(-len(name) % 4)


def classic(values, name="v"):
    """A CDF-1 file of one variable of bytes."""
    header = b"CDF\1" + bytes(4) + struct.pack(">II", 10, 1) + text_of("x") + struct.pack(">I", len(values))
    header += bytes(8) + struct.pack(">II", 11, 1) + text_of(name) + struct.pack(">II", 1, 0) + bytes(8)
    header += struct.pack(">II", 1, (len(values) + 3) // 4 * 4)
    return header + struct.pack(">I", len(header) + 4) + values + bytes(-len(values) % 4)


def make(tools, folder):
    """Inputs, and what they refer to: see CALLS."""
    try:
        import h5py
    except ImportError:
        raise Skip("no Python module h5py") from None
    folder.mkdir()
    run = lambda *call: tools.run(*call, cwd=folder)  # noqa: E731
    for name in ("a", "b"):
        (folder / f"{name}.nc").write_bytes(classic(name.encode() * 8000, name))
    run("nmcat", "a.nc", "-o", "p.nmb")
    run("nmcat", "a.nc", "b.nc", "--link", "-o", "view.nmb")
    with h5py.File(folder / "h.h5", "w") as file:
        file["h"] = range(100)
    with h5py.File(folder / "src.h5", "w") as file:
        file["s"] = range(100)
    (folder / "raw.bin").write_bytes(bytes(400))
    with h5py.File(folder / "raw.h5", "w") as file:
        file.create_dataset("r", (100,), "i4", external=[("raw.bin", 0, 400)])
    for name, source, data_set in (("virtual", "src.h5", "s"), ("nested", "virtual.h5", "v")):
        layout = h5py.VirtualLayout((100,), "i8")
        layout[:] = h5py.VirtualSource(source, data_set, (100,))
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file.create_virtual_dataset("v", layout)
    with h5py.File(folder / "linked.h5", "w") as file:
        file["far"] = h5py.ExternalLink("src.h5", "s")
    # Files that lead to others at several steps, from folder to folder, and back to where they begin.
    (folder / "deep").mkdir()
    for name, target in (("deep/to_virtual", "../nested.h5"), ("to_raw", "raw.h5"), ("to_link", "deep/to_virtual.h5"),
                         ("to_nmb", "nested.nmb"), ("round", "deep/back.h5"), ("deep/back", "../round.h5")):  # fmt: skip
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file["far"] = h5py.ExternalLink(target, "/")
    with h5py.File(folder / "deep/back.h5", "a") as file:
        file["on"] = h5py.ExternalLink("../to_link.h5", "/")
    # HDF5 looks beside a link, not beside what it leads to.
    (folder / "deep/linked.h5").symlink_to("../linked.h5")
    shutil.copy(folder / "src.h5", folder / "deep/src.h5")
    with h5py.File(folder / "to_symlink.h5", "w") as file:
        file["far"] = h5py.ExternalLink("deep/linked.h5", "far")
    run("nmcat", "nested.h5", "to_link.h5", "-o", "nested.nmb")
    with h5py.File(folder / "gone.h5", "w") as file:
        file.create_dataset("r", (100,), "i1", external=[("gone.bin", 0, 100)])
    # Files that lead at several steps to others that do not exist.
    shutil.copy(folder / "a.nc", folder / "gone.nc")
    run("nmcat", "gone.nc", "--link", "-o", "gone.nmb")
    (folder / "gone.nc").unlink()
    for name, source in (("gone_virtual", "gone_source.h5"), ("to_gone_virtual", "gone_virtual.h5")):
        layout = h5py.VirtualLayout((100,), "i8")
        layout[:] = h5py.VirtualSource(source, "v", (100,))
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file.create_virtual_dataset("v", layout)
    for name, target in (("to_gone_raw", "gone.h5"), ("deep/to_gone_raw", "../to_gone_raw.h5"), ("gone_link", "deep/gone_target.h5"),
                         ("to_gone_link", "gone_link.h5"), ("to_gone_table", "gone.nmb")):  # fmt: skip
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file["far"] = h5py.ExternalLink(target, "/")
    run("nmconvert", "raw.h5", "raw.nmb")
    (folder / "list").write_text("a.nc\nb.nc\n")
    (folder / "list.nmb").write_text("list.nc\n")
    (folder / "list.nc").write_bytes(classic(b"l"))
    for name in ("old.nmb", "old.h5", "old.json"):
        (folder / name).write_text("what was there\n")
    for name in (".out.nmb.part", ".out.nmb.journal", ".cut.nmb.part"):
        (folder / name).write_bytes(classic(b"hidden"))
    with h5py.File(folder / "hidden.h5", "w") as file:
        file.create_dataset("r", (100,), "i1", external=[(".cut.nmb.part", 0, 100)])
    # A report that lines may be added to, and that an HDF5 file takes for its raw data.
    run("nmconvert", "--files-from", "list", "--out-dir", "made", "--report", "lines.jsonl", "-q")
    with h5py.File(folder / "lines.h5", "w") as file:
        file.create_dataset("r", (100,), "i1", external=[("lines.jsonl", 0, 100)])
    (folder / "lines").write_text("lines.h5\n")
    (folder / "leads").write_text("to_link.h5\n")
    (folder / "views").write_text("view.nmb\na.nmb\n")
    (folder / "sources").write_text("far.he5\nsrc.nc\n")
    shutil.copy(folder / "virtual.h5", folder / "far.he5")
    shutil.copy(folder / "a.nc", folder / "src.nc")
    shutil.copy(folder / "p.nmb", folder / "a.nmb")
    (folder / "both").write_text("a.nc\na.nmb\n")
    (folder / "sub").mkdir()
    (folder / "there").symlink_to(".")
    # Folders that are one, and files that are one.
    for name in ("one", "made/one"):
        (folder / name).mkdir()
        (folder / name / "c.nc").write_bytes(classic(b"c"))
    (folder / "two").symlink_to("one")
    (folder / "made/two").symlink_to("one")
    (folder / "twice").write_text("one/c.nc\ntwo/c.nc\n")


def spellings(folder, name):
    """Names of the file, which need not exist; links to it are made."""
    path = folder / name
    yield "its name", name
    yield "./", f"./{name}"
    yield "..", f"sub/../{name}"
    yield "a folder that is a link", f"there/{name}"
    yield "an absolute path", str(path)
    flat = name.replace("/", "_")
    soft = f"soft_{flat}"
    if not (folder / soft).is_symlink():
        (folder / soft).symlink_to(name)
    yield "a symbolic link", soft
    yield "a symbolic link in a linked folder", f"there/{soft}"
    if path.exists():
        hard = f"hard_{flat}"
        if not (folder / hard).exists():
            os.link(path, folder / hard)
        yield "a hard link", hard


def state(folder):
    """What each file is; times of folders do not count."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        if stat.S_ISLNK(about.st_mode):
            found[path] = os.readlink(path)
        elif stat.S_ISREG(about.st_mode):
            found[path] = (about.st_ino, about.st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            found[path] = "folder"
    return found


# --- the calls ---

KINDS = ("nmb", "nc4", "hdf5")
# (file, input that leads to it by way of others)
DEEP = (
    ("src.h5", "nested.h5"),
    ("virtual.h5", "deep/to_virtual.h5"),
    ("src.h5", "deep/to_virtual.h5"),
    ("raw.bin", "to_raw.h5"),
    ("src.h5", "to_link.h5"),
    ("src.h5", "nested.nmb"),
    ("src.h5", "to_nmb.h5"),
    ("src.h5", "round.h5"),
    ("deep/src.h5", "to_symlink.h5"),
)
# The same of files that do not exist.
GONE = (
    ("gone.bin", "to_gone_raw.h5"),
    ("gone.bin", "deep/to_gone_raw.h5"),
    ("gone_source.h5", "to_gone_virtual.h5"),
    ("deep/gone_target.h5", "to_gone_link.h5"),
    ("gone.nc", "to_gone_table.h5"),
)


def calls():
    """(tool, option, the file that is read or written already, call): in the call OUT is a spelling of the file."""
    # nmcat OUT: an input, alone and as one of two, by each way to write.
    for force in ([], ["-f"]):
        for kind in KINDS:
            for name in ("a.nc", "h.h5", "p.nmb"):
                yield "nmcat", "--output", name, [name, "-o", "OUT", "--to", kind, *force]
        for more in (["--link"], ["--resume"], ["--dry-run"], ["--compress", "zstd"], ["-j", "1"], ["--append"],
                     ["--mode", "union"], ["--mode", "union", "--to", "cdf5"], ["--mode", "join", "--to", "cdf5"],
                     ["--mode", "tiles"], ["--report", "new.json"]):  # fmt: skip
            if not (force and "--append" in more):
                to = [] if "--to" in more else ["--to", "nmb"]
                yield "nmcat", "--output", "b.nc", ["a.nc", "b.nc", "-o", "OUT", *to, *more, *force]
        yield "nmcat", "--output", "p.nmb", ["p.nmb", "-o", "OUT", "--link", *force]
        for kind in KINDS:
            yield "nmcat", "--output", "list", ["--files-from", "list", "-o", "OUT", "--to", kind, *force]
        yield "nmcat", "--output", "list", ["--files-from", "-", "-o", "OUT", "--to", "nmb", *force]
    yield "nmcat", "--output", "p.nmb", ["p.nmb", "-o", "OUT", "--append"]
    yield "nmcat", "--output", "p.nmb", ["b.nc", "p.nmb", "-o", "OUT", "--append"]
    # Files to which inputs refer.
    for more in ([], ["--link"], ["--external", "any"], ["--mode", "union"], ["--resume"]):
        yield "nmcat", "--output", "b.nc", ["view.nmb", "-o", "OUT", "--to", "nmb", "-f", *more]
    for kind in KINDS:
        for name, input_ in (("b.nc", "view.nmb"), ("raw.bin", "raw.h5"), ("raw.bin", "raw.nmb"),
                             ("src.h5", "virtual.h5"), ("src.h5", "linked.h5")):  # fmt: skip
            yield "nmcat", "--output", name, [input_, "-o", "OUT", "--to", kind, "-f"]
    # An original, and a block in its place.
    for force in ([], ["-f"]):
        for name, input_ in (("p.nmb", "p.nmb"), ("raw.nmb", "raw.nmb"), ("b.nc", "view.nmb"), ("raw.bin", "raw.nmb")):
            yield "nmconvert", "--output", name, [input_, "--original", "/", "-o", "OUT", *force]
        yield "nmconvert", "--output", "a.nc", ["a.nc", "-o", "OUT", "--to", "nmb", *force]
    # At several steps.
    for kind in KINDS:
        for name, input_ in DEEP:
            yield "nmcat", "--output", name, [input_, "-o", "OUT", "--to", kind, "-f"]
    for name, input_ in DEEP:
        yield "nmcat", "--report", name, [input_, "-o", "new.nmb", "-f", "--report", "OUT"]
        yield "nmcat", "--report", name, ["a.nc", input_, "-o", "new.nmb", "--dry-run", "-f", "--report", "OUT"]
        yield "nmcat", "--output", name, [input_, "a.nc", "-o", "OUT", "--to", "nmb", "-f", "--resume"]
    # A file that does not exist but is referred to.
    yield "nmcat", "--output", "gone.bin", ["gone.h5", "-o", "OUT", "--to", "nmb"]
    for name, input_ in GONE:
        for kind in KINDS:
            yield "nmcat", "--output", name, [input_, "-o", "OUT", "--to", kind]
            yield "nmconvert", "OUTPUT", name, [input_, "OUT", "--to", kind]
        yield "nmcat", "--report", name, [input_, "-o", "new.nmb", "--report", "OUT"]
        yield "nmcat", "--output", name, ["a.nc", input_, "-o", "OUT", "--to", "nmb", "--resume"]
        yield "nmconvert", "OUTPUT", name, [input_, "OUT", "--external", "any", "--to", "nmb"]
    # The files of --resume.
    for name in (".out.nmb.part", ".out.nmb.journal"):
        yield "nmcat", "--output", name, ["OUT", "-o", "out.nmb", "--resume"]
        yield "nmcat", "--output", name, ["--files-from", "OUT", "-o", "out.nmb", "--resume"]
        yield "nmcat", "--report", name, ["a.nc", "-o", "out.nmb", "--resume", "--report", "OUT"]
    yield "nmcat", "--output", ".cut.nmb.part", ["hidden.h5", "-o", "cut.nmb", "--resume"]
    # nmcat --report
    for kind in KINDS:
        to = ["--to", kind]
        for name in ("a.nc", "h.h5", "p.nmb"):
            yield "nmcat", "--report", name, [name, "-o", "new", *to, "--report", "OUT"]
        yield "nmcat", "--report", "list", ["--files-from", "list", "-o", "new", *to, "--report", "OUT"]
        yield "nmcat", "--report", "old.nmb", ["a.nc", "-o", "old.nmb", "-f", *to, "--report", "OUT"]
        yield "nmcat", "--report", "new", ["a.nc", "-o", "new", *to, "--report", "OUT"]
        yield "nmcat", "--report", "a.nc", ["view.nmb", "-o", "new", *to, "-f", "--report", "OUT"]
        yield "nmcat", "--report", "raw.bin", ["raw.h5", "-o", "new", *to, "-f", "--report", "OUT"]
    for more in (["--dry-run"], ["--digest", "sha256"], ["--mode", "union"], ["-j", "1"], ["--json"]):
        yield "nmcat", "--report", "b.nc", ["a.nc", "b.nc", "-o", "new.nmb", *more, "--report", "OUT"]
        yield "nmcat", "--report", "new.nmb", ["a.nc", "b.nc", "-o", "new.nmb", *more, "--report", "OUT"]
        yield "nmcat", "--report", "src.h5", ["virtual.h5", "-o", "new.nmb", *more, "-f", "--report", "OUT"]
    yield "nmcat", "--report", "p.nmb", ["b.nc", "-o", "p.nmb", "--append", "--report", "OUT"]
    yield "nmcat", "--report", "a.nc", ["h.h5", "-o", "view.nmb", "--append", "--report", "OUT"]
    # nmconvert OUTPUT
    for force in ([], ["-f"]):
        for kind in KINDS + ("cdf1", "cdf5"):
            for name in ("a.nc", "h.h5", "p.nmb"):
                yield "nmconvert", "OUTPUT", name, [name, "OUT", "--to", kind, *force]
        for more in (["--extract", "a"], ["--repack", "--to", "nmb"], ["--compress", "zstd", "--to", "nmb"]):
            yield "nmconvert", "OUTPUT", "p.nmb", ["p.nmb", "OUT", *(more if "--to" in more else ["--to", "cdf1", *more]), *force]
        yield "nmconvert", "OUTPUT", "h.h5", ["h.h5", "OUT", "--to", "nmb", "--external", "any", *force]
        yield "nmconvert", "OUTPUT", "h.h5", ["h.h5", "OUT", "--layout", "cmip7", "--to", "nc4", *force]
        yield "nmconvert", "OUTPUT", "a.nc", ["a.nc", "OUT", "--to", "nmb", "--digest", "sha256", *force]
    for kind in KINDS + ("cdf5",):
        for name, input_ in (("raw.bin", "raw.h5"), ("raw.bin", "raw.nmb"), ("src.h5", "virtual.h5"),
                             ("src.h5", "linked.h5"), ("b.nc", "view.nmb")):  # fmt: skip
            lossy = ["--lossy"] if kind != "nmb" or input_.endswith(".nmb") else []
            yield "nmconvert", "OUTPUT", name, [input_, "OUT", "--to", kind, "-f", *lossy]
    yield "nmconvert", "OUTPUT", "b.nc", ["view.nmb", "OUT", "--extract", "a", "--to", "cdf1", "-f"]
    yield "nmconvert", "OUTPUT", "b.nc", ["view.nmb", "OUT", "--external", "none", "--to", "nmb", "-f"]
    for name in ("src.h5", "virtual.h5"):
        yield "nmconvert", "OUTPUT", name, ["nested.h5", "OUT", "--external", "any", "--to", "nmb", "-f"]
        yield "nmconvert", "OUTPUT", name, ["nested.h5", "OUT", "--layout", "cmip7", "--to", "nc4", "-f"]
    for name, input_ in DEEP:
        for kind in KINDS + ("cdf5",):
            yield "nmconvert", "OUTPUT", name, [input_, "OUT", "--to", kind, "-f", *(["--lossy"] if kind == "cdf5" else [])]
        if not input_.endswith(".nmb"):
            yield "nmconvert", "OUTPUT", name, [input_, "OUT", "--external", "any", "--to", "nmb", "-f"]
    yield "nmconvert", "--report", "src.h5", ["--files-from", "leads", "--out-dir", "new", "--report", "OUT"]
    yield "nmconvert", "OUTPUT", "gone.bin", ["gone.h5", "OUT", "--to", "nmb"]
    # nmconvert --out-dir: OUT is the folder. An output that is an input, the list, another input's source, the report,
    # or another output, new or not.
    for force in ([], ["-f"], ["-f", "--report", "new.jsonl"], ["-f", "--report", "new.jsonl", "--resume"]):
        for out in (".", "./", "sub/..", "there", "ABSOLUTE"):
            for name, *more in (["list", "--to", "cdf1"], ["both"], ["list.nmb"], ["views"], ["sources", "--to", "hdf5"]):
                # Nothing is replaced without -f: the output fails, the other file may be converted.
                if not force and name in ("views", "sources"):
                    continue
                yield "nmconvert", "--out-dir", out, ["--files-from", name, "--out-dir", "OUT", *more, *force]
        for out in ("made", "./made", "there/made", "ABSOLUTE/made", "soft_made"):
            yield "nmconvert", "--out-dir", out, ["--files-from", "twice", "--out-dir", "OUT", *force]
    # nmconvert --report
    for name in ("a.nc", "b.nc", "list", "new/a.nmb", "new/b.nmb"):
        for more in ([], ["-f"], ["--resume"], ["-j", "1"]):
            yield "nmconvert", "--report", name, ["--files-from", "list", "--out-dir", "new", "--report", "OUT", *more]
    yield "nmconvert", "--report", "made/a.nmb", ["--files-from", "list", "--out-dir", "made", "-f", "--report", "OUT"]
    yield "nmconvert", "--report", "list", ["--files-from", "-", "--out-dir", "new", "--report", "OUT"]
    yield "nmconvert", "--report", "lines.jsonl", ["--files-from", "lines", "--out-dir", "new", "--report", "OUT"]
    # nminspect layout
    for option in ("--svg", "--html"):
        for force in ([], ["-f"]):
            yield "nminspect", option, "p.nmb", ["layout", option, "OUT", "p.nmb", *force]
            yield "nminspect", option, "a.nc", ["layout", option, "OUT", "a.nc", *force]
        for name, input_ in (("b.nc", "view.nmb"), ("raw.bin", "raw.nmb")):
            yield "nminspect", option, name, ["layout", option, "OUT", input_, "-f"]
    # nmverify --recover
    for force in ([], ["-f"]):
        yield "nmverify", "--recover", "p.nmb", ["--recover", "OUT", "p.nmb", *force]
    for name, input_ in (("b.nc", "view.nmb"), ("raw.bin", "raw.nmb")):
        yield "nmverify", "--recover", name, ["--recover", "OUT", input_, "-f"]


CALLS = list(calls())


def run(tools, folder, tool, call):
    with (folder / "list").open("rb") as listed:
        return subprocess.run([tools.folder / tool, *call], cwd=folder, stdin=listed, capture_output=True, text=True,
                              errors="replace", timeout=120)  # fmt: skip


def check_call(tools, folder, before, call, how):
    """false: files were changed."""
    tool, words = call
    done = run(tools, folder, tool, words)
    what = f"{tool} {' '.join(words)} ({how})"
    tools.check(done.returncode == 2, f"{what}: exit code {done.returncode}, expected 2: {done.stderr.strip()}")
    # An output that is a symbolic link is refused before inputs are read.
    says = "is also|the target is a symbolic link|the file exists" if "symbolic" in how else "is also"
    tools.check(re.search(f"^{tool}: .*({says})", done.stderr, re.M), f"{what}: said {done.stderr.strip()!r}")
    after = state(folder)
    changed = sorted(str(path.relative_to(folder)) for path in before.keys() | after.keys()
                     if before.get(path) != after.get(path))  # fmt: skip
    tools.check(not changed, f"{what}: changed {changed}")
    return not changed


def check_refusals(tools):
    pristine = tools.work / "pristine"
    make(tools, pristine)
    folder = tools.work / "files"

    def restore():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(pristine, folder, symlinks=True)

    restore()
    ran = 0
    for number, (tool, option, name, words) in enumerate(CALLS):
        if option == "--out-dir":
            (folder / "soft_made").unlink(missing_ok=True)
            (folder / "soft_made").symlink_to("made")
            variants = [("a folder", name.replace("ABSOLUTE", str(folder)))]
        else:
            variants = list(spellings(folder, name))
            if not ALL:
                variants = [variants[0], variants[1 + number % (len(variants) - 1)]]
        before = state(folder)
        for how, path in variants:
            ran += 1
            if check_call(tools, folder, before, (tool, [path if word == "OUT" else word for word in words]), how):
                continue
            restore()
            if option == "--out-dir":
                (folder / "soft_made").symlink_to("made")
            else:
                list(spellings(folder, name))
            before = state(folder)
    print(f"{ran} calls")


def check_made_again(tools):
    """--resume replaces outputs of inputs that changed, without -f too."""
    folder = tools.work / "again"
    folder.mkdir()
    (folder / "x.nc").write_bytes(classic(b"x" * 8000))
    (folder / "list").write_text("x.nmb\n")
    (folder / "more").write_text("view.nmb\nx.nmb\n")
    for call in (["nmcat", "x.nc", "-o", "x.nmb"],
                 ["nmconvert", "--files-from", "list", "--out-dir", "out", "--report", "r.jsonl"],
                 ["nmcat", "out/x.nc", "-o", "view.nmb", "--link"]):  # fmt: skip
        tools.run(*call, cwd=folder)
    os.utime(folder / "x.nmb", (1, 1))
    again = ["--files-from", "more", "--out-dir", "out", "--report", "r.jsonl", "--resume"]
    check_call(tools, folder, state(folder), ("nmconvert", again), "an output that is made again")


def check_allowed(tools):
    """Similar paths that are different files are allowed."""
    folder = tools.work / "allowed"
    make(tools, folder)
    run_here = lambda *call, **more: tools.run(*call, cwd=folder, **more)  # noqa: E731
    (folder / "sub" / "a.nc").write_bytes(classic(b"other"))
    os.link(folder / "a.nc", folder / "sub" / "again.nc")
    run_here("nmcat", "a.nc", "sub/again.nc", "-o", "sub/a.nc", "--to", "nmb", "-f")
    run_here("nmcat", "b.nc", "-o", "new.nmb", "--report", "sub/new.nmb")
    run_here("nmcat", "b.nc", "-o", "new.nmb", "-f", "--report", "sub/new.nmb")
    tools.check(json.loads((folder / "sub/new.nmb").read_text())["done"], "a report that is replaced")
    run_here("nmcat", "b.nc", "-o", "p.nmb", "--append", "--report", "appended.json")
    run_here("nmcat", "--external=beneath", "view.nmb", "-o", "old.nmb", "-f", "--report", "old.json")
    run_here("nmcat", "view.nmb", "-o", "linked.nmb", "--link")
    run_here("nmconvert", "raw.h5", "old.nmb", "-f")
    run_here("nmconvert", "nested.h5", "old.h5", "-f", "--external", "any")
    run_here("nmconvert", "--add-hdf5-view", "p.nmb")
    for _ in range(2):
        run_here("nmconvert", "--files-from", "list", "--out-dir", "made", "--report", "lines.jsonl", "--resume", "-q")
    run_here("nmconvert", "--files-from", "list", "--out-dir", "made", "--report", "lines.jsonl", "-f", "-q")


def test(tools):
    check_options(tools)
    check_refusals(tools)
    check_made_again(tools)
    check_allowed(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
