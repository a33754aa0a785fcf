#!/usr/bin/python3
"""nmcat --link: blocks whose values stay in the inputs. The library and the reference reader read the values of the
inputs from them; a source that is gone, cut, changed or replaced is named; the bytes are the same by threads and as an
MPI job.

    nmcat_link.py --tools FOLDER
"""

import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import launchers, nmcat  # noqa: E402
from tool_runs import Skip, classic_files, main  # noqa: E402

REFERENCE = Path(__file__).resolve().parents[2] / "spec" / "reference" / "nmb_reference.py"


def text_of(name):
    return struct.pack(">I", len(name)) + name.encode() + bytes(-len(name) % 4)


def classic(values, name="v"):
    """A CDF-2 file of one variable of bytes."""
    header = b"CDF\2" + bytes(4) + struct.pack(">II", 10, 1) + text_of("x") + struct.pack(">I", len(values))
    header += bytes(8) + struct.pack(">II", 11, 1) + text_of(name) + struct.pack(">II", 1, 0) + bytes(8)
    header += struct.pack(">II", 1, (len(values) + 3) // 4 * 4)
    return header + struct.pack(">Q", len(header) + 8) + values + bytes(-len(values) % 4)


def reference(path, level="--findings"):
    return subprocess.run([sys.executable, REFERENCE, level, path], capture_output=True, text=True, timeout=120)


def values_by_reference(path):
    """{block/variable: sha256}."""
    document = json.loads(reference(path, "--json").stdout)
    return {f"{b['name']}/{v['name']}": v.get("sha256") for b in document["blocks"] for v in b["variables"]}


def expect(tools, done, code, says, what):
    said = done.stderr if isinstance(done.stderr, str) else done.stderr.decode(errors="replace")
    out = done.stdout if isinstance(done.stdout, str) else done.stdout.decode(errors="replace")
    tools.check(done.returncode == code and says in said + out, f"{what}: exit code {done.returncode}, said {said + out!r}")


def make(folder, sizes):
    folder.mkdir(exist_ok=True)
    generator = random.Random(1)
    for i, size in enumerate(sizes):
        (folder / f"in{i}.nc").write_bytes(classic(generator.randbytes(size)))
    return [f"{folder.name}/in{i}.nc" for i in range(len(sizes))]


def check_same_values(tools, inputs):
    """Linked, solid, and solid made of linked: the same values; the last two the same bytes."""
    tools.run("nmcat", *inputs, "-o", "linked.nmb", "--link", "--no-provenance")
    tools.run("nmcat", *inputs, "-o", "solid.nmb", "--no-provenance")
    size = (tools.work / "linked.nmb").stat().st_size
    tools.check(size < 65536, f"linked.nmb: {size} bytes")
    tools.run("nmverify", "linked.nmb")
    expect(tools, reference(tools.work / "linked.nmb"), 0, "", "the reference reader of linked.nmb")
    linked, solid = (values_by_reference(tools.work / name) for name in ("linked.nmb", "solid.nmb"))
    tools.check(linked == solid and linked, f"found values {linked}, expected {solid}")
    tools.run("nmcat", "--external=beneath", "linked.nmb", "-o", "again.nmb", "--block-name", "{group}", "--no-provenance")
    tools.check_equal_bytes(tools.work / "again.nmb", tools.work / "solid.nmb", "made solid by nmcat")
    tools.run("nmconvert", "--external=beneath", "--repack", "linked.nmb", "repacked.nmb")
    tools.check_equal_bytes(tools.work / "repacked.nmb", tools.work / "solid.nmb", "made solid by nmconvert --repack")
    for path in inputs:
        tools.run("nmconvert", "--external=beneath", "linked.nmb", "back.nc", "--extract", Path(path).stem, "-f")
        tools.check_equal_bytes(tools.work / "back.nc", tools.work / path, f"extracted {path}")


def check_nmb_inputs(tools, inputs):
    """Inline values, data maps, coded pieces and holes of NMB files; links of links lead to the files in the end."""
    tools.run("nmcat", *inputs, "-o", "in/plain.nmb", "--no-provenance")
    tools.run("nmcat", *inputs, "-o", "in/coded.nmb", "--compress", "zstd", "--no-provenance")
    shutil.copy(tools.work / "in/in1.nc", tools.work / "in/zeros.nc")
    with (tools.work / "in/zeros.nc").open("r+b") as stream:
        stream.seek(200)
        stream.write(bytes(300000))
    tools.run("nmcat", "in/zeros.nc", "-o", "in/zeros.nmb", "--compress", "deflate", "--no-provenance")
    tools.run("nmcat", *inputs, "-o", "in/links.nmb", "--link", "--no-provenance")
    sources = ["in/coded.nmb", "in/links.nmb", "in/plain.nmb", "in/zeros.nmb"]
    tools.run("nmcat", *sources, "-o", "second.nmb", "--link", "--no-provenance")
    tools.run("nmcat", "--external=beneath", *sources, "-o", "second_solid.nmb", "--no-provenance")
    tools.run("nmverify", "second.nmb")
    expect(tools, reference(tools.work / "second.nmb"), 0, "", "the reference reader of second.nmb")
    linked, solid = (values_by_reference(tools.work / name) for name in ("second.nmb", "second_solid.nmb"))
    tools.check(linked == solid and len(linked) == 3 * len(inputs) + 1, f"found values {linked}, expected {solid}")
    tools.run("nmcat", "--external=beneath", "second.nmb", "-o", "again.nmb", "-f", "--block-name", "{group}", "--no-provenance")
    tools.check_equal_bytes(tools.work / "again.nmb", tools.work / "second_solid.nmb", "coded pieces made solid")
    # Nothing hangs on the file between.
    (tools.work / "in/links.nmb").unlink()
    tools.run("nmverify", "second.nmb")
    # A source whose values are damaged is not passed on.
    damaged = bytearray((tools.work / "in/coded.nmb").read_bytes())
    entry = json.loads(tools.run("nmcat", "in/coded.nmb", "-o", "x.nmb", "--link", "--json").stdout)
    tools.check(entry["linked_bytes"] > 0 and entry["value_bytes"] == 0, f"found report {entry}")
    at = max(i for i in range(len(damaged) - 40000) if damaged[i])
    for position in (at - 50000, at // 2):
        damaged[position] ^= 1
    (tools.work / "in/damaged.nmb").write_bytes(damaged)
    done = nmcat(tools, [], "in/damaged.nmb", "-o", "y.nmb", "--link")
    expect(tools, done, 1, "R-EX-5", "a damaged source")
    tools.check(not (tools.work / "y.nmb").exists(), "y.nmb: found a file")


def check_moved(tools, inputs):
    """A folder goes elsewhere with what is in it, the output included."""
    tools.run("nmcat", *inputs, "-o", "moved.nmb", "--link")
    other = tools.work / "other"
    shutil.copytree(tools.work / "in", other / "in")
    shutil.copy(tools.work / "moved.nmb", other / "moved.nmb")
    tools.run("nmverify", "other/moved.nmb")
    tools.run("nmverify", "moved.nmb", cwd=other)
    os.symlink("other/moved.nmb", tools.work / "alias.nmb")
    tools.run("nmverify", "alias.nmb")
    (other / "in/in0.nc").unlink()
    expect(tools, tools.run("nmverify", "alias.nmb", exit_code=1), 1, "R-FT-4", "the file itself, by a link to it")
    shutil.rmtree(other)


def check_changes(tools, inputs):
    """Each is named, by all tools that read values; what does not read them goes on."""
    tools.run("nmcat", *inputs, "-o", "view.nmb", "--link")
    name, source = "in/in1.nc", tools.work / "in/in1.nc"
    kept = source.read_bytes()
    outside = tools.work / "outside.nc"
    outside.write_bytes(kept)

    def restore():
        if source.is_symlink() or source.exists():
            source.unlink()
        source.write_bytes(kept)

    def check(rule, code, words, what):
        expect(tools, tools.run("nmverify", "view.nmb", exit_code=code), code, rule, f"nmverify, {what}")
        for command in (["nmconvert", "--external=beneath", "view.nmb", "back.nc", "--extract", "in1", "-f"],
                        ["nminspect", "dump", "view.nmb", "in1/v"],
                        ["nmcat", "--external=beneath", "view.nmb", "-o", "new.nmb"]):
            done = tools.run(*command, exit_code=code)
            expect(tools, done, code, name, f"{command[0]}, {what}")
            expect(tools, done, code, words, f"{command[0]}, {what}")
        tools.check(not (tools.work / "new.nmb").exists(), f"{what}: new.nmb is there")
        tools.run("nminspect", "ls", "view.nmb")
        tools.run("nminspect", "header", "view.nmb", "in1")
        tools.run("nmverify", "--level", "blocks", "view.nmb")
        tools.run("nminspect", "dump", "view.nmb", "in0/v")
        found = [line.split("\t")[0] for line in reference(tools.work / "view.nmb").stdout.splitlines()]
        tools.check(found == [rule], f"the reference reader, {what}: found {found}")
        restore()

    (tools.work / "back.nc").unlink(missing_ok=True)
    source.unlink()
    check("R-FT-4", 1, "found no such file", "a source that is gone")
    source.write_bytes(kept[:-4])
    check("R-FT-5", 1, "bytes, expected", "one that was cut")
    changed = bytearray(kept)
    changed[len(kept) // 2] ^= 1
    source.write_bytes(changed)
    check("R-EX-5", 1, "found values with checksum 0x", "one byte changed")
    source.unlink()
    os.symlink(outside, source)
    check("R-FT-4", 2, "symbolic link", "one replaced by a link")
    source.unlink()
    os.symlink(outside, source)
    tools.run("nmverify", "--external", "any", "view.nmb")
    tools.run("nmconvert", "--external=any", "view.nmb", "back.nc", "--extract", "in1", "-f")
    tools.check_equal_bytes(tools.work / "back.nc", outside, "by a link that is allowed")
    restore()
    source.unlink()
    os.mkfifo(source)
    check("R-FT-4", 2, "FIFO", "one replaced by a FIFO")
    expect(tools, tools.run("nmverify", "--external", "none", "view.nmb", exit_code=2), 2, "R-FT-4", "none allowed")
    # The bytes before the values are not part of the view.
    changed = bytearray(kept)
    changed[60] ^= 1
    source.write_bytes(changed)
    tools.run("nmverify", "view.nmb")
    restore()


def check_refusals(tools, inputs):
    (tools.work / "sub").mkdir()
    outside = ["../" + path for path in inputs]
    (tools.work / "text.nc").write_text("no netCDF file")
    for arguments, code, says in (
        ([*outside, "-o", "v.nmb", "--link"], 2, "a file that is not below the folder of the output"),
        ([*outside, "-o", "v.nmb", "--link", "--external", "none"], 2, "--link needs --external beneath or any"),
        ([*outside, "-o", "v.nmb", "--link", "--compress", "zstd"], 2, "--link and --compress exclude each other"),
        ([*outside, "-o", "v.nmb", "--link", "--split-names", "a(b)"], 2, "--link and --split-names exclude each other"),
        ([*outside, "-o", "v.nmb", "--link", "--mode", "union"], 2, "--link needs --mode pack; the mode is union"),
        ([*outside, "-o", "v.nmb", "--link", "--mode", "join"], 2, "--link needs --mode pack; the mode is join"),
        ([*outside, "-o", "v.nmb", "--link", "--mode", "tiles"], 2, "--link needs --mode pack; the mode is tiles"),
        ([*outside, "-o", "v.h5", "--link"], 2, "--link needs an output of kind nmb; OUT is hdf5"),
        ([*outside, "-o", "v.nmb", "--external", "some"], 2, "expected none, beneath or any"),
        (["../text.nc", "-o", "v.nmb", "--link", "--external", "any"], 2, "text.nc"),
    ):
        done = tools.run("nmcat", *arguments, exit_code=code, cwd=tools.work / "sub")
        expect(tools, done, code, says, " ".join(arguments[-3:]))
        tools.check(not (tools.work / "sub/v.nmb").exists(), f"{arguments[-3:]}: found a file")
    tools.run("nmcat", inputs[0], "-o", "base.nmb", "--inline", "0")
    tools.run("nmcat", "base.nmb", "-o", "of_base.nmb", "--link")
    before = (tools.work / "base.nmb").read_bytes()
    for arguments in (["-f"], ["--append", "--block-name", "again/{group}"]):
        done = tools.run("nmcat", "of_base.nmb", "-o", "base.nmb", "--link", *arguments, exit_code=2)
        expect(tools, done, 2, "is also a file to which the input of_base.nmb refers", f"values of the target, {arguments}")
        tools.check((tools.work / "base.nmb").read_bytes() == before, "base.nmb was changed")
    # Allowed to writer and reader: relative where the input was, else absolute.
    for files, path in ((outside, "../in/in0.nc"), ([tools.work / p for p in inputs], str((tools.work / "in/in0.nc").resolve()))):
        done = tools.run("nmcat", *files, "-o", "v.nmb", "-f", "--link", "--external", "any", "--json", cwd=tools.work / "sub")
        found = json.loads(done.stdout)["linked"][0]["file"]
        tools.check(found == path, f"found path {found}, expected {path}")
        expect(tools, tools.run("nmverify", "sub/v.nmb", exit_code=2), 2, "leads out of the folder", path)
        tools.run("nmverify", "--external=any", "sub/v.nmb")
        tools.run("nmcat", "sub/v.nmb", "-o", "solid2.nmb", "-f", "--external=any")


def check_append(tools, inputs):
    """New rows behind those that are there; without --link the table stays."""
    tools.run("nmcat", inputs[0], "-o", "grown.nmb", "--link")
    tools.run("nmcat", inputs[1], "-o", "grown.nmb", "--append")
    tools.run("nmcat", *inputs[1:], "-o", "grown.nmb", "--append", "--link", "--block-name", "more/{stem}")
    tools.run("nmverify", "grown.nmb")
    expect(tools, reference(tools.work / "grown.nmb"), 0, "", "the reference reader of grown.nmb")
    for i, path in enumerate(inputs):
        block = f"more/in{i}" if i else "in0"
        tools.run("nmconvert", "--external=beneath", "grown.nmb", "back.nc", "--extract", block, "-f")
        tools.check_equal_bytes(tools.work / "back.nc", tools.work / path, block)
    before = (tools.work / "grown.nmb").read_bytes()
    kept = (tools.work / inputs[1]).read_bytes()
    (tools.work / inputs[1]).write_bytes(kept + bytes(4))
    done = nmcat(tools, [], inputs[1], "-o", "grown.nmb", "--append", "--link", "--block-name", "{stem}/new")
    expect(tools, done, 1, "(from the file table of", "a source that has grown")
    (tools.work / inputs[1]).write_bytes(kept)
    tools.check((tools.work / "grown.nmb").read_bytes() == before, "grown.nmb was changed by a failure")
    # Paths are from the folder of the file, not of a symbolic link that leads to it.
    (tools.work / "elsewhere").mkdir()
    tools.run("nmcat", inputs[0], "-o", "elsewhere/real.nmb")
    os.symlink("elsewhere/real.nmb", tools.work / "symbolic.nmb")
    done = nmcat(tools, [], inputs[1], "-o", "symbolic.nmb", "--append", "--link")
    expect(tools, done, 2, "not below the folder of the output", "an input that is not below the file")
    tools.run("nmcat", inputs[1], "-o", "symbolic.nmb", "--append", "--link", "--external", "any")
    for name in ("symbolic.nmb", "elsewhere/real.nmb"):
        tools.run("nmverify", name, "--external", "any")


def check_ranks(tools, inputs):
    tools.run("nmcat", *inputs, "-o", "in/nested.nmb", "--link", "-f")
    every = [*inputs, "in/coded.nmb", "in/nested.nmb"]
    nmcat(tools, [], *every, "-o", "want.nmb", "--link", "-j1")
    tools.run("nmverify", "want.nmb")
    for launcher, jobs in [*((one, "1") for one in launchers(tools)), ([], "2"), ([], "7")]:
        done = nmcat(tools, launcher, *every, "-o", "ranks.nmb", "--link", "-f", "-j", jobs)
        expect(tools, done, 0, "", f"{launcher} -j{jobs}")
        tools.check_equal_bytes(tools.work / "ranks.nmb", tools.work / "want.nmb", f"{launcher} -j{jobs}")
    size = (tools.work / "want.nmb").stat().st_size
    plan = json.loads(tools.run("nmcat", *every, "-o", "none.nmb", "--link", "--dry-run", "--json").stdout)
    linked = [one["file"] for one in plan["linked"]]
    tools.check(plan["bytes_out"] == size and plan["value_bytes"] == 0 and linked == [*(p for p in inputs if "in3" not in p), "in/coded.nmb"],
                f"found plan {plan}, expected {size} bytes; in3 has no values")
    tools.run("nmcat", *every, "-o", "resumed.nmb", "--link", "--resume")
    tools.check_equal_bytes(tools.work / "resumed.nmb", tools.work / "want.nmb", "by --resume")


def check_hdf5(tools):
    """Arrays and chunks stay where they are, in an HDF5 file too; tables of chunks and strings are copied."""
    try:
        import h5py
        import numpy
    except ImportError as why:
        print(f"without HDF5 files: {why}")
        return
    with h5py.File(tools.work / "in/a.h5", "w") as file:
        file.attrs["title"] = "a title"
        file["plain"] = numpy.arange(700000, dtype="<f4")
        file["small"] = numpy.arange(3, dtype=">i2")
        group = file.create_group("group/inner")
        group.create_dataset("chunks", data=numpy.arange(200000) % 1000, chunks=(30000,), compression="gzip")
        group.create_dataset("stored", data=numpy.arange(90000, dtype="<i8"), chunks=(7000,))
        group["strings"] = ["one", "two", "", "four"]
        group.create_dataset("never", shape=(10, 10), chunks=(5, 5), fillvalue=7)
    inputs = ["in/a.h5", "in/in1.nc", "in/coded.nmb"]
    tools.run("nmcat", *inputs, "-o", "hdf5.nmb", "--link", "--no-provenance", "-j1")
    tools.run("nmcat", *inputs, "-o", "hdf5_solid.nmb", "--no-provenance")
    tools.run("nmverify", "hdf5.nmb", "hdf5_solid.nmb")
    expect(tools, reference(tools.work / "hdf5.nmb"), 0, "", "the reference reader of hdf5.nmb")
    linked, solid = (values_by_reference(tools.work / name) for name in ("hdf5.nmb", "hdf5_solid.nmb"))
    tools.check(linked == solid and "a/group/inner/chunks" in linked, f"found values {linked}, expected {solid}")
    size = (tools.work / "hdf5.nmb").stat().st_size
    tools.check(size < 65536, f"hdf5.nmb: {size} bytes")
    for launcher, jobs in [*((one, "1") for one in launchers(tools)), ([], "3")]:
        done = nmcat(tools, launcher, *inputs, "-o", "ranks.nmb", "--link", "--no-provenance", "-f", "-j", jobs)
        expect(tools, done, 0, "", f"HDF5, {launcher} -j{jobs}")
        tools.check_equal_bytes(tools.work / "ranks.nmb", tools.work / "hdf5.nmb", f"HDF5, {launcher} -j{jobs}")
    planned = json.loads(tools.run("nmcat", *inputs, "-o", "x.nmb", "-f", "--link", "--no-provenance", "--dry-run", "--json").stdout)
    tools.check(planned["bytes_out"] == size and planned["value_bytes"] > 0, f"found plan {planned}, expected {size} bytes")
    # Links of links: what was copied lies in the file between.
    tools.run("nmcat", "hdf5.nmb", "-o", "of_hdf5.nmb", "--link", "--block-name", "{group}")
    tools.run("nmverify", "of_hdf5.nmb")
    tools.check(values_by_reference(tools.work / "of_hdf5.nmb") == solid, "links of links of HDF5: other values")
    tools.run("nmcat", "in/a.h5", "-o", "only.nmb", "--link", "--block-name", "{group}")
    tools.run("nmconvert", "--external=beneath", "only.nmb", "back.h5")
    compare = Path(__file__).resolve().parents[1] / "interop" / "compare_files.py"
    done = subprocess.run([sys.executable, compare, tools.work / "in/a.h5", tools.work / "back.h5"], capture_output=True, text=True)
    tools.check(done.returncode == 0, f"back as HDF5: {done.stdout[-600:]}")
    kept = (tools.work / "in/a.h5").read_bytes()
    at = kept.index(struct.pack("<3f", 5000, 5001, 5002))
    (tools.work / "in/a.h5").write_bytes(kept[:at] + b"x" + kept[at + 1 :])
    expect(tools, tools.run("nmverify", "only.nmb", exit_code=1), 1, "R-EX-5", "an HDF5 file with another value")
    (tools.work / "in/a.h5").write_bytes(kept)


def check_many(tools):
    """More files than a process may have open."""
    folder = tools.work / "many"
    folder.mkdir()
    for i in range(3000):
        (folder / f"f{i:04}.nc").write_bytes(classic(f"value {i:06}".encode()))
    (tools.work / "list").write_text("".join(f"many/f{i:04}.nc\n" for i in range(3000)))

    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    for command in (["nmcat", "--files-from", "list", "-o", "many.nmb", "--link"], ["nmverify", "many.nmb"],
                    ["nmcat", "--external=beneath", "many.nmb", "-o", "many_solid.nmb", "--block-name", "{group}"],
                    ["nmcat", "many.nmb", "-o", "many_linked.nmb", "--block-name", "{group}", "--link"],
                    ["nmverify", "many_linked.nmb", "many_solid.nmb"]):
        done = subprocess.run([tools.folder / command[0], *command[1:]], cwd=tools.work, preexec_fn=limited, capture_output=True)
        expect(tools, done, 0, "", " ".join(command))
    found = tools.run("nminspect", "dump", "many.nmb", "f2999/v").stdout.decode()
    tools.check(str(ord("9")) in found, f"found values {found!r}")


def check_corpus(tools):
    """Real files: values by the library, by the reference reader, and as they were."""
    try:
        _, files = classic_files()
    except Skip as why:
        print(f"without real files: {why}")
        return
    folder = tools.work / "corpus"
    folder.mkdir()
    copies = []
    for i, path in enumerate(files):
        if path.stat().st_size > 8 << 20:
            continue
        copy = folder / f"{i:03}.nc"
        shutil.copy(path, copy)
        one = [tools.folder / "nmcat", copy, "-o", tools.work / "one.nmb", "-f", "--no-sync"]
        done = subprocess.run(one, capture_output=True)
        if done.returncode == 0:
            copies.append(f"corpus/{copy.name}")
    tools.run("nmcat", *copies, "-o", "corpus.nmb", "--link")
    tools.run("nmverify", "corpus.nmb")
    expect(tools, reference(tools.work / "corpus.nmb"), 0, "", "the reference reader of real files")
    for path in copies:
        tools.run("nmconvert", "--external=beneath", "corpus.nmb", "back.nc", "--extract", Path(path).stem, "-f", "--no-sync")
        tools.check_equal_bytes(tools.work / "back.nc", tools.work / path, path)
    tools.check(len(copies) > 10, f"found {len(copies)} real files")


def test(tools):
    inputs = make(tools.work / "in", [10, 300000, 3000000, 0, 1048576])
    check_same_values(tools, inputs)
    check_nmb_inputs(tools, inputs)
    check_moved(tools, inputs)
    check_changes(tools, inputs)
    check_refusals(tools, inputs)
    check_append(tools, inputs)
    check_ranks(tools, inputs)
    check_hdf5(tools)
    check_many(tools)
    check_corpus(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
