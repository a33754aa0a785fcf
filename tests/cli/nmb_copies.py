#!/usr/bin/python3
"""The content of NMB files that nmconvert and nmcat keep in addition to definitions and values: statistics, tags, the
HDF5 view. Content that they cannot keep is refused or reported, never dropped silently.

    nmb_copies.py --tools FOLDER
"""

import json
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import check_same, launchers  # noqa: E402
from tool_runs import main  # noqa: E402

SPEC = Path(__file__).resolve().parent.parent.parent / "spec"
sys.path.insert(0, str(SPEC / "reference"))
import nmb_reference as reference  # noqa: E402

TAGS_OF_A = {("a", "mask", 3, 2**64 - 1, b""), ("a", "run", 2, 2**64 - 4, b""), ("a", "site", 1, 0, "Überlingen".encode())}


def vector(tools, name, output=None):
    path = tools.work / (output or f"{name}.nmb")
    subprocess.run([sys.executable, SPEC / "vectors" / "assemble.py", SPEC / "vectors" / f"{name}.txt", path], check=True)
    return path


def tags_of(tools, path):
    """(block, name, kind, value, bytes) of each row that counts, as the reference reader finds them."""
    rows = {}

    def read_table(file, name):
        found = original(file, name)
        if name == "tags":
            rows.update(found)
        return found

    original, reference.read_table = reference.read_table, read_table
    document, _ = reference.document_of(path.read_bytes(), False, str(path.parent))
    reference.read_table = original
    tools.check(not document["findings"], f"{path}: the reference reader finds {document['findings']}")
    names = {block["order"]: block["name"] for block in document["blocks"]}
    return {(names[order], name.decode() if isinstance(name, bytes) else name, row.row["kind"], row.row["minimum"], bytes(row.data))
            for order, of_block in rows.items() if order in names for name, row in of_block.items()}


def run(tools, arguments, code, *words):
    """The call's exit code, and words on standard error; a call that fails leaves no output."""
    output = tools.work / "out.nmb"
    output.unlink(missing_ok=True)
    done = tools.run(*arguments, exit_code=code)
    said = done.stderr.decode()
    for word in words:
        tools.check(word in said, f"{arguments}: {said!r}, expected {word!r}")
    if code == 0:
        tools.run("nmverify", "-q", "out.nmb")
        if not words:
            tools.check(not said, f"{arguments}: {said!r}, expected nothing")
    else:
        tools.check(not output.exists(), f"{arguments}: found an output")
    return done


def check_tags(tools):
    vector(tools, "tags")
    for arguments in (("nmconvert", "--repack", "tags.nmb", "out.nmb"), ("nmconvert", "tags.nmb", "out.nmb"),
                      ("nmcat", "tags.nmb", "-o", "out.nmb", "--block-name", "{group}"),
                      ("nmconvert", "tags.nmb", "out.nmb", "--stats", "basic")):
        run(tools, arguments, 0)
        found = tags_of(tools, tools.work / "out.nmb")
        tools.check(found == TAGS_OF_A, f"{arguments}: tags {found}")
    tools.run("nmcat", "tags.nmb", "-o", "dry.nmb", "--dry-run")
    # Behind blocks that have tags already: often, so that trees are taken in.
    run(tools, ("nmcat", "tags.nmb", "-o", "out.nmb", "--block-name", "0/{group}"), 0)
    for i in range(1, 9):
        tools.run("nmcat", "tags.nmb", "-o", "out.nmb", "--append", "--block-name", f"{i}/{{group}}")
        tools.run("nmverify", "-q", "out.nmb")
    wanted = {(f"{i}/a", *row[1:]) for i in range(9) for row in TAGS_OF_A}
    found = tags_of(tools, tools.work / "out.nmb")
    tools.check(found == wanted, f"appended: tags {found}")
    # Blocks that do not stay whole.
    for options in (("--block-by", "vars:1"), ("--block-by", "one")):
        call = ("nmconvert", "tags.nmb", "out.nmb", *options)
        run(tools, call, 1, "tags: of 1 block not copied whole are left out", "--lossy")
        run(tools, (*call, "--lossy"), 0, "tags: of 1 block not copied whole are left out")
    union = ("nmcat", "tags.nmb", "tags.nmb", "--mode", "union", "-o", "out.nmb")
    run(tools, union, 0, "tags: of 1 block not copied whole are left out")
    run(tools, (*union, "--strict"), 1, "tags: of 1 block")


def check_losses(tools):
    """Refused by name, or with --lossy reported by name in text and JSON."""
    for name, words in (
        ("future_compatible_bit", ["compatible feature bit"]),
        ("future_read_only_bit", ["read-only compatible feature bit"]),
        ("future_global_section", ["global section of type"]),
        ("future_column", ["column", "of pages of the index"]),
        ("future_columns_of_statistics", ["of pages of statistics"]),
        ("future_places_of_the_superblock", ["structure number 0 after the superblock"]),
    ):
        vector(tools, name)
        call = ("nmconvert", "--repack", f"{name}.nmb", "out.nmb")
        run(tools, call, 1, *words, "the output cannot hold ", "; use --lossy to write the rest; nothing was written")
        done = run(tools, (*call, "--lossy", "--json"), 0, *words)
        losses = "\n".join(json.loads(done.stdout)["losses"])
        for word in words:
            tools.check(word in losses, f"{call} --json: {losses!r}, expected {word!r}")
        done = run(tools, ("nmcat", f"{name}.nmb", "-o", "out.nmb", "--json"), 0, *words)
        losses = "\n".join(json.loads(done.stdout)["losses"])
        for word in words:
            tools.check(word in losses, f"nmcat {name} --json: {losses!r}, expected {word!r}")
        run(tools, ("nmcat", f"{name}.nmb", "-o", "out.nmb", "--strict"), 1, *words)
    # Sections of bodies that this version does not know, and values, come with the block.
    for name in ("future_body_section", "extended_unknown_section", "future_filter"):
        vector(tools, name)
        run(tools, ("nmconvert", "--repack", f"{name}.nmb", "out.nmb"), 0)
    # Blocks that cannot be read are refused by name and bit.
    for name in ("future_need_of_a_kind", "future_need_of_a_body_codec"):
        vector(tools, name)
        for call in (("nmconvert", "--repack", f"{name}.nmb", "out.nmb"), ("nmconvert", "--repack", "--lossy", f"{name}.nmb", "out.nmb"),
                     ("nmcat", f"{name}.nmb", "-o", "out.nmb")):
            run(tools, call, 2, 'block "a" needs', "need bit")


def statistics_of(tools, path):
    return json.loads(tools.run("nminspect", "stats", "--json", path).stdout)["blocks"]


def check_statistics(tools):
    for name in ("statistics", "statistics_taken", "statistics_tree", "statistics_holes", "statistics_of_no_block",
                 "growth_of_a_counted_block"):
        path = vector(tools, name)
        rows = subprocess.run([tools.folder / "nminspect", "stats", "--json", path], capture_output=True, timeout=60)
        if rows.returncode:
            continue  # it has none that count
        wanted = json.loads(rows.stdout)["blocks"]
        for call in (("nmconvert", "--repack", f"{name}.nmb", "out.nmb"), ("nmconvert", f"{name}.nmb", "out.nmb", "--compress", "zstd"),
                     ("nmcat", f"{name}.nmb", "-o", "out.nmb", "--block-name", "{group}"),
                     ("nmcat", f"{name}.nmb", "-o", "out.nmb", "--block-name", "{group}", "--link")):
            run(tools, call, 0)
            found = statistics_of(tools, "out.nmb")
            tools.check(found == wanted, f"{call}: statistics {found}, expected {wanted}")
        run(tools, ("nmconvert", "--repack", f"{name}.nmb", "out.nmb", "--stats", "none"), 0)
        tools.run("nminspect", "stats", "out.nmb", exit_code=2)
    # Statistics that do not match the values: a copy reads no values, so it keeps them. nmverify names them, and --stats
    # computes them again.
    vector(tools, "R-ST-3_minimum")
    for options, exit_code in ((), 1), (("--stats", "basic"), 0):
        tools.run("nmconvert", "--repack", "R-ST-3_minimum.nmb", "out.nmb", "-f", *options)
        done = tools.run("nmverify", "out.nmb", exit_code=exit_code)
        tools.check(exit_code == 0 or b'"a", variable v: found another minimum' in done.stdout, f"{options}: {done.stdout}")
    # The same bytes as those of a file whose values are counted.
    vector(tools, "statistics")
    counted = ("nmcat", "statistics.nmb", "-o", "counted.nmb", "--stats", "histogram", "--no-provenance", "--block-name", "{group}")
    tools.run(*counted)
    run(tools, ("nmcat", "counted.nmb", "-o", "out.nmb", "--no-provenance", "--block-name", "{group}"), 0)
    tools.check_equal_bytes(tools.work / "counted.nmb", tools.work / "out.nmb", "statistics kept and counted")
    plan = tools.run("nmcat", "counted.nmb", "-o", "dry.nmb", "--dry-run", "--json", "--no-provenance", "--block-name", "{group}")
    length = json.loads(plan.stdout)["bytes_out"]
    tools.check(length == (tools.work / "out.nmb").stat().st_size, f"a dry run says {length} bytes")
    # Blocks that are divided or united.
    run(tools, ("nmconvert", "counted.nmb", "out.nmb", "--block-by", "vars:1"), 0, "the statistics of 2 blocks not copied whole")
    # A damaged table is reported, but prevents nothing.
    vector(tools, "R-TB-1_state")
    run(tools, ("nmcat", "R-TB-1_state.nmb", "-o", "out.nmb"), 0, "not kept because their table cannot be read", "R-TB-1")
    run(tools, ("nmconvert", "--repack", "R-TB-1_state.nmb", "out.nmb"), 1, "not kept because their table cannot be read", "R-TB-1")


def check_view(tools):
    def has_view(path):
        return json.loads(tools.run("nminspect", "--json", path).stdout)["hdf5_view"]

    for name in ("hdf5_view", "hdf5_view_of_an_older_generation", "hdf5_view_renewed"):
        vector(tools, name)
        for options, wanted in (((), True), (("--hdf5-view", "off"), False), (("--hdf5-view", "on"), True)):
            run(tools, ("nmconvert", "--repack", f"{name}.nmb", "out.nmb", *options), 0)
            tools.check(has_view("out.nmb") == wanted, f"{name} {options}: a view is {'missing' if wanted else 'there'}")
    vector(tools, "statistics")
    run(tools, ("nmconvert", "--repack", "statistics.nmb", "out.nmb"), 0)
    tools.check(not has_view("out.nmb"), "a view that nobody asked for")
    # A block that came later, and cannot be shown.
    name = b"x" * 256
    (tools.work / "long.nc").write_bytes(b"CDF\1" + struct.pack(f">4I256sI{4 * 4}x", 0, 10, 1, len(name), name, 4))
    tools.run("nmcat", "long.nc", "-o", "hdf5_view.nmb", "--append")
    run(tools, ("nmconvert", "--repack", "hdf5_view.nmb", "out.nmb"), 2, "use --hdf5-view off to write OUTPUT without a view")
    run(tools, ("nmconvert", "--repack", "hdf5_view.nmb", "out.nmb", "--hdf5-view", "off"), 0)


def check_ranks(tools):
    for launcher in launchers(tools):
        check_same(tools, launcher, tools.work / "tags.nmb", tools.work / "counted.nmb", tools.work / "statistics_tree.nmb")


def test(tools):
    check_tags(tools)
    check_losses(tools)
    check_statistics(tools)
    check_view(tools)
    check_ranks(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
