#!/usr/bin/python3
"""Chunks of HDF5 data sets that cannot be decoded. nmcat and nmconvert copy their bytes, warn even with -q, and with
--strict write nothing. An NMB file marks the variable, so that every later copy warns from its definitions. An NMB file
without the mark is checked when it becomes HDF5. Chunks that nothing can check are a warning without a mark.

    damaged_chunks.py --tools FOLDER
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import check_same, launchers, nmcat  # noqa: E402
from tool_runs import Skip, main  # noqa: E402

VECTORS = Path(__file__).resolve().parents[2] / "spec" / "vectors"
TOLD = "cannot be decoded"


def make(path, damaged):
    """Chunks 0 to 3 of /group/v; `damaged` are their numbers. A name that ends in sum: /group/sum is damaged instead."""
    try:
        import h5py
        import numpy
    except ImportError:
        raise Skip("no Python module h5py") from None
    with h5py.File(path, "w") as file:
        v = file.create_dataset("group/v", data=numpy.arange(20000, dtype="f8"), chunks=(5000,), compression="gzip")
        s = file.create_dataset("group/sum", data=numpy.arange(2000), chunks=(500,), fletcher32=True)
        of = s if path.stem.endswith("sum") else v
        places = [of.id.get_chunk_info(number) for number in damaged]
    content = bytearray(path.read_bytes())
    for place in places:
        content[place.byte_offset + place.size // 2] ^= 0xFF
    path.write_bytes(content)


def unmarked(tools, output, chunk_filter):
    """An NMB file of another writer: a chunk of variable a/v cannot be decoded, and no property says so."""
    text = tools.work / "vector.txt"
    text.write_text(f"""# made by damaged_chunks.py
expect valid
generation
  block "a"
    kind 6
    type integer 4  u8 0 1 0 0  u32 0 32 0
    dim "x" 4
    var "v" 256 ("x")
    chunks 4
    filter {chunk_filter}
    chunk hex 0001020304050607
""")
    subprocess.run([sys.executable, VECTORS / "assemble.py", text, tools.work / output], check=True)


def refused(tools, words):
    """With --strict, nothing is written."""
    out = tools.work / next(word for word in words if word.startswith("out."))
    out.unlink(missing_ok=True)
    done = tools.run(*words, "--strict", exit_code=1)
    tools.check(not out.exists(), f"{words} --strict: wrote a file")
    return done.stderr.decode()


def warned(tools, words, *told):
    """One warning, with -q too; nothing is written with --strict."""
    for more in (), ("-q",):
        said = tools.run(*words, "-f", *more).stderr.decode()
        lines = [line for line in said.splitlines() if TOLD in line]
        good = len(lines) == 1 and lines[0].startswith(f"{words[0]}: warning: ") and all(t in lines[0] for t in told)
        tools.check(good, f"{words} {more}: said {said!r}, expected {told}")
    said = refused(tools, words)
    tools.check(TOLD in said, f"{words} --strict: said {said!r}")


def check_hdf5_inputs(tools):
    for name, damage in (("good.h5", []), ("bad.h5", [1, 3]), ("bad.nc", [2]), ("bad_sum.h5", [2])):
        make(tools.work / name, damage)
    calls = (["nmcat", "IN", "-o", "out.nmb"], ["nmcat", "IN", "-o", "out.nmb", "--no-originals", "-j1"],
             ["nmconvert", "IN", "out.nmb"], ["nmconvert", "IN", "out.nmb", "--no-check", "-j1"],
             ["nmconvert", "IN", "out.h5"], ["nmcat", "IN", "-o", "out.h5"],
             ["nmcat", "good.h5", "IN", "-o", "out.nmb", "--dry-run"])  # fmt: skip
    for name, told in (("bad.h5", '"/group/v": 2 chunks cannot be decoded (first: chunk 1: '),
                       ("bad.nc", '"/group/v": 1 chunk cannot be decoded (first: chunk 2: '),
                       ("bad_sum.h5", '"/group/sum": 1 chunk cannot be decoded (first: chunk 2: ')):  # fmt: skip
        for call in calls:
            warned(tools, [name if word == "IN" else word for word in call], f"{name}: variable {told}", "undamaged copy")
    for call in calls[:-1]:
        said = tools.run(*["good.h5" if word == "IN" else word for word in call], "-f", "--strict").stderr.decode()
        tools.check(TOLD not in said, f"{call}: said {said!r}")


def take_filter_away(path):
    """Replaces the filter lzf by 405, which nobody has. The number of a filter is stored 8 bytes before its name."""
    content = bytearray(path.read_bytes())
    at = content.index(b"lzf\0") - 8
    content[at : at + 2] = (405).to_bytes(2, "little")
    path.write_bytes(content)


def check_unknown_filters(tools):
    """Nobody decodes filter 405, but NMB checks fletcher32 behind it, and decodes chunks to which it was not applied. If
    nothing can check a chunk, nmcat and nmconvert warn, and with --strict write nothing."""
    import h5py
    import numpy

    unchecked = "found chunks that were not decoded (filter 405 (lzf"
    values = numpy.arange(4000, dtype="i4").reshape(40, 100) // 50

    def write(name, damage=None, skips=False, **options):
        """damage: a function of the bytes of chunk 2 of /v. skips: the writer did not apply the filter to that chunk."""
        with h5py.File(tools.work / name, "w") as file:
            v = file.create_dataset("v", data=values, chunks=(10, 100), **options)
            if skips:
                v.id.write_direct_chunk((20, 0), bytes(v[20:30].tobytes()), filter_mask=1)
            place = v.id.get_chunk_info(2)
        content = bytearray((tools.work / name).read_bytes())
        if damage:
            part = slice(place.byte_offset, place.byte_offset + place.size)
            content[part] = damage(content[part])
        (tools.work / name).write_bytes(content)
        take_filter_away(tools.work / name)

    def flipped(stored):
        stored[len(stored) // 2] ^= 0xFF
        return stored

    def calls(name):
        return (["nmcat", name, "-o", "out.nmb"], ["nmcat", name, "-o", "out.nmb", "--no-originals", "-j1"],
                ["nmcat", name, "-o", "out.h5"], ["nmconvert", name, "out.nmb"], ["nmconvert", name, "out.h5", "--no-check"],
                ["nmcat", name, "-o", "out.h5", "--mode", "union"])  # fmt: skip

    lzf = {"compression": "lzf"}
    write("sums.h5", fletcher32=True, **lzf)
    write("none.h5", **lzf)
    write("skipped.h5", skips=True, **lzf)
    write("bad_sums.h5", flipped, fletcher32=True, **lzf)
    write("bad_none.h5", flipped, **lzf)
    write("zeros.h5", lambda stored: bytes(len(stored)), fletcher32=True, **lzf)
    tools.run("nmverify", "sums.h5", "--strict")
    for call in calls("sums.h5"):
        tools.run(*call, "-f", "--strict")
    for call in calls("bad_sums.h5"):
        warned(tools, call, 'bad_sums.h5: variable "/v": 1 chunk cannot be decoded (first: chunk 2: found a chunk with a wrong checksum')
        if "out.nmb" in call:
            tools.run(*call, "-f", "-q")
            for file in "bad_sums.h5", "out.nmb":
                said = tools.run("nmverify", file, exit_code=1).stdout.decode()
                tools.check("variable v, chunk 2: found a chunk with a wrong checksum" in said and "R-XC-1" in said, f"nmverify {file}: {said}")
            said = tools.run("nmcat", "out.nmb", "-o", "more.nmb", "-f", "-q").stderr.decode()
            tools.check(said.count(TOLD) == 1, f"a copy of {call}: said {said!r}")
    # The checksum of zeros is 0, so zeros are not checked by it.
    for name, chunks in ("none.h5", 4), ("bad_none.h5", 4), ("skipped.h5", 3), ("zeros.h5", 1):
        number = f"): {chunks}, variables: 1, "
        said = tools.run("nmverify", name).stdout.decode()
        tools.check(unchecked in said and number in said, f"nmverify {name}: said {said}")
        tools.run("nmverify", name, "--strict", exit_code=1)
        for call in calls(name):
            said = tools.run(*call, "-f").stderr.decode()
            good = said.count(unchecked) == 1 and f"{call[0]}: warning: {name}: {unchecked}" in said and number in said
            tools.check(good, f"{call}: said {said!r}")
            tools.check(not tools.run(*call, "-f", "-q").stderr, f"{call} -q: said something")
            said = refused(tools, call)
            tools.check(unchecked in said and TOLD not in said, f"{call} --strict: said {said!r}")
    # A copy of an NMB file decodes nothing; an HDF5 file is made only of checked chunks.
    tools.run("nmconvert", "none.h5", "none.nmb", "-q")
    tools.run("nmcat", "none.nmb", "-o", "out.nmb", "-f", "--strict")
    for call in ["nmconvert", "none.nmb", "out.h5"], ["nmcat", "none.nmb", "-o", "out.h5"]:
        said = tools.run(*call, "-f").stderr.decode()
        tools.check(said.count(f"none.nmb: {unchecked}") == 1, f"{call}: said {said!r}")
        tools.check(unchecked in refused(tools, call), f"{call} --strict: said another")
    tools.run("nmconvert", "none.nmb", "out.h5", "-f", "--strict", "--no-check")
    # Chunks that keep their layout are copied.
    for name, told in ("bad_sums.h5", TOLD), ("bad_none.h5", unchecked):
        said = tools.run("nmconvert", name, "out.nc", "--layout", "cmip7", "-f").stderr.decode()
        tools.check(said.count(told) == 1, f"{name} --layout cmip7: said {said!r}")


def check_indexes(tools):
    """A chunk index that cannot be read, or that places a chunk elsewhere, is damage, not values never written."""
    import h5py
    import numpy

    def refused_everywhere(what, content, told):
        (tools.work / "index.h5").write_bytes(content)
        for words in (
            ("nmverify", "index.h5"), ("nmconvert", "index.h5", "index.nmb"), ("nmconvert", "index.h5", "index.nmb", "--no-originals"),
            ("nmconvert", "index.h5", "index_out.h5", "--compress", "deflate"), ("nmcat", "index.h5", "-o", "index.nmb", "--compress", "zstd"),
            ("nminspect", "digest", "index.h5"),
        ):  # fmt: skip
            done = tools.run(*words, exit_code=1)
            said = (done.stdout + done.stderr).decode()
            tools.check(told in said, f"{what}: {words}: said {said!r}, expected {told!r}")

    shapes = {  # of the data set, with the structures of its index
        "TREE": dict(libver="earliest"),
        "FAHD FADB": dict(libver="latest"),
        "EAHD EAIB EADB": dict(libver="latest", maxshape=(None, 4)),
        "BTHD BTLF": dict(libver="latest", maxshape=(None, None)),
    }
    for text in False, True:
        for magics, options in shapes.items():
            options = dict(options)
            path = tools.work / "indexed.h5"
            with h5py.File(path, "w", libver=options.pop("libver")) as file:
                values = [[f"s{i}{j}" for j in range(4)] for i in range(40)] if text else numpy.arange(1, 161.0).reshape(40, 4)
                kind = h5py.string_dtype() if text else "f8"
                file.create_dataset("v", (40, 4), kind, data=values, chunks=(1, 4), **options)
            tools.run("nmconvert", "indexed.h5", "index.nmb", "--no-originals", "-f")
            (tools.work / "index.nmb").unlink()
            for magic in magics.split():
                content = bytearray(path.read_bytes())
                at = content.rfind(magic.encode())
                tools.check(at > 0, f"{options}: found no {magic}")
                content[at] ^= 1
                refused_everywhere(magic, content, "/v")
                if magic == "TREE" and not text:
                    content[at] ^= 1
                    content[at + 24 + 40 * 3 + 10] ^= 64  # the position of chunk 3
                    refused_everywhere("a position", content, "found 39 chunks at their positions, expected 40")


def check_variable_length(tools):
    """HDF5 decodes chunks with values of variable length. If it cannot, the variable has no values; the rest is kept."""
    import h5py
    import numpy

    kinds = {
        "strings": h5py.string_dtype(), "sequences": h5py.vlen_dtype("i4"), "references": h5py.ref_dtype,
        "lists": h5py.vlen_dtype(h5py.ref_dtype), "pairs": numpy.dtype([("dataset", h5py.ref_dtype), ("dimension", "i4")]),
    }  # fmt: skip
    for kind, dtype in kinds.items():
        path = tools.work / f"{kind}.h5"
        with h5py.File(path, "w") as file:
            n = file.create_dataset("n", data=numpy.arange(5))
            v = file.create_dataset("g/v", (40,), dtype, chunks=(10,), compression="gzip")
            for i in range(40):
                v[i] = {"strings": f"s{i}", "sequences": numpy.arange(i % 4, dtype="i4"), "references": n.ref,
                        "lists": numpy.array([n.ref] * (i % 3), h5py.ref_dtype), "pairs": (n.ref, i)}[kind]  # fmt: skip
            file.flush()
            place = v.id.get_chunk_info(1)
        content = bytearray(path.read_bytes())
        content[place.byte_offset + place.size // 2] ^= 0xFF
        path.write_bytes(content)
        why = "were not decoded, because stored values are damaged ("
        told = f'{path.name}: variable "/g/v": its values {why}'
        tools.run("nmverify", path.name, exit_code=1)
        tools.run("nmverify", "--level", "index", path.name, exit_code=1)
        # With the original, nothing is lost. A copy warns again.
        for words in ["nmcat", path.name, "-o", "out.nmb", "--block-name", "{group}"], ["nmconvert", path.name, "out.nmb"]:
            for more in ["-f"], ["-f", "-q"]:
                said = tools.run(*words, *more).stderr.decode()
                tools.check(said.count("warning: " + told) == 1, f"{words} {more}: said {said!r}")
            done = tools.run("nmverify", "out.nmb")
            tools.check(why in (done.stdout + done.stderr).decode(), f"nmverify out.nmb after {words}: {done}")
            said = tools.run("nmcat", "out.nmb", "-o", "copy.nmb", "--block-name", "{group}", "-f", "-q").stderr.decode()
            tools.check('g/v": its values ' + why in said, f"{words}: a copy said {said!r}")
            tools.run("nmconvert", "out.nmb", "back.h5", "--original", "/", "-f")
            tools.check((tools.work / "back.h5").read_bytes() == path.read_bytes(), f"{words}: another original")
            tools.check(b"0, 1, 2" in tools.run("nminspect", "dump", "out.nmb", "n").stdout, f"{words}: other values of n")
            done = tools.run("nminspect", "dump", "out.nmb", "g/v", exit_code=2)
            tools.check(why in done.stderr.decode(), f"{words}: dump said {done}")
            tools.check(told in refused(tools, words), f"{words} --strict: does not name the variable")
        # Elsewhere the values are a loss.
        for words in (["nmcat", path.name, "-o", "out.nmb", "--no-originals"], ["nmcat", path.name, "-o", "out.nmb", "--mode", "union"],
                      ["nmconvert", path.name, "out.nmb", "--no-originals"], ["nmconvert", path.name, "out.h5"],
                      ["nmcat", "copy.nmb", "-o", "out.h5", "--block-name", "{group}"]):  # fmt: skip
            out = tools.work / next(word for word in words if word.startswith("out."))
            out.unlink(missing_ok=True)
            said = tools.run(*words, exit_code=1).stderr.decode()
            tools.check('g/v": ' in said and why in said and not out.exists(), f"{words}: said {said!r}")
            said = refused(tools, [*words, "--lossy"])
            tools.check(said.count(why) == 1, f"{words} --lossy --strict: said {said!r}")
            said = tools.run(*words, "--lossy", "-q").stderr.decode()
            tools.check(said.count(f"{words[0]}: warning: ") == said.count(why) == 1, f"{words} --lossy: said {said!r}")
        with h5py.File(tools.work / "out.h5") as file:
            tools.check(file["n"][()].tolist() == list(range(5)), "out.h5: other values of n")


def check_series(tools):
    """One file for each variable, from files whose chunks are copied."""
    import netCDF4
    import numpy

    for number in range(2):
        with netCDF4.Dataset(tools.work / f"step{number}.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 1000)
            time = file.createVariable("time", "f8", ("time",))
            time.units = "days since 2000-01-01"
            time[:] = [number]
            v = file.createVariable("v", "f4", ("time", "x"), zlib=True, chunksizes=(1, 1000))
            v[:] = numpy.arange(1000)[None, :]
    import h5py

    with h5py.File(tools.work / "step1.nc") as file:
        place = file["v"].id.get_chunk_info(0)
    content = bytearray((tools.work / "step1.nc").read_bytes())
    content[place.byte_offset + place.size // 2] ^= 0xFF
    (tools.work / "step1.nc").write_bytes(content)
    (tools.work / "list").write_text("step0.nc\nstep1.nc\n")
    words = ("nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", "series")
    for more, exit_code in (("-q", 0), ("--strict", 1)):
        done = tools.run(*words, "-f", more, exit_code=exit_code)
        told = b'step1.nc: variable "/v": 1 chunk cannot be decoded'
        tools.check(done.stderr.count(told) == 1, f"{words} {more}: said {done.stderr}")


def check_layout(tools):
    """Chunks that already have the layout of CMIP7 are copied."""
    import h5py
    import numpy

    path = tools.work / "layout.nc"
    with h5py.File(path, "w") as file:
        values = numpy.arange(200000, dtype="<f4").reshape(200, 1000)
        filters = {"compression": "gzip", "compression_opts": 4, "shuffle": True, "fletcher32": True}
        place = file.create_dataset("v", data=values, chunks=values.shape, **filters).id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[place.byte_offset + place.size // 2] ^= 0xFF
    path.write_bytes(content)
    warned(tools, ["nmconvert", "layout.nc", "out.nc", "--layout", "cmip7"], 'layout.nc: variable "/v": 1 chunk cannot be decoded')


def check_marks(tools):
    """Later copies know the damage from the mark, also with --no-check."""
    tools.run("nmcat", "bad.h5", "-o", "marked.nmb", "--block-name", "{group}")
    tools.run("nmconvert", "good.h5", "good.nmb")
    tools.run("nmcat", "good.h5", "-o", "other.nmb", "--block-name", "other/{group}")
    for call in (["nmconvert", "--repack", "marked.nmb", "out.nmb"], ["nmcat", "marked.nmb", "other.nmb", "-o", "out.nmb"],
                 ["nmcat", "marked.nmb", "-o", "out.nmb", "--mode", "union"], ["nmcat", "marked.nmb", "-o", "out.h5"],
                 ["nmcat", "other.nmb", "marked.nmb", "-o", "out.nmb", "--where", "count > 0"],
                 ["nmconvert", "marked.nmb", "out.h5"], ["nmconvert", "marked.nmb", "out.h5", "--no-check"],
                 ["nmconvert", "marked.nmb", "out.h5", "--extract", "group"]):  # fmt: skip
        if "--where" in call:
            call = call[:-2]
        warned(tools, call, "marked.nmb: variable ", 'group/v": ')
        if "out.nmb" in call:
            tools.run(*call, "-f")
            done = tools.run("nmverify", "out.nmb", exit_code=1)
            tools.check(b"variable v, chunk 1: " in done.stdout + done.stderr, f"nmverify out.nmb: said {done}")
            done = tools.run("nmverify", "--level", "blocks", "out.nmb")
            tools.check(TOLD in (done.stdout + done.stderr).decode(), f"{call}: no mark: {done}")
            tools.run("nmcat", "out.nmb", "-o", "again.nmb", "--strict", exit_code=1)
    # The original has the chunks too; the damage is no loss of the original.
    tools.run("nmconvert", "marked.nmb", "whole.h5", "--original", "/")
    tools.check((tools.work / "whole.h5").read_bytes() == (tools.work / "bad.h5").read_bytes(), "another original")


def check_no_mark(tools):
    """A copy decodes nothing; what becomes HDF5, and what is recovered, is decoded."""
    for chunk_filter in '1 1 "deflate" 6', '3 0 "fletcher32"', *(f'405 0 "lzf"\n    filter 3 0 "fletcher32"{more}' for more in ("", '\n    filter 1 1 "deflate" 6')):
        unmarked(tools, "other.nmb", chunk_filter)
        told = 'other.nmb: variable "/a/v": 1 chunk cannot be decoded'
        warned(tools, ["nmconvert", "other.nmb", "out.h5"], told)
        warned(tools, ["nmcat", "other.nmb", "-o", "out.h5", "--block-name", "{group}"], told)
        tools.run("nmcat", "other.nmb", "-o", "out.nmb", "--strict", "-f")
        (tools.work / "saved.nmb").unlink(missing_ok=True)
        for words in ["--plan"], ["--recover", "saved.nmb"]:
            said = tools.run("nmverify", "other.nmb", *words, exit_code=3).stdout.decode()
            tools.check(TOLD in said and "nothing is lost" not in said, f"nmverify {words}: said {said!r}")


def check_unions(tools):
    """A lost variable is not missing too. A chunk that cannot be decoded is of the file that has it."""
    import h5py
    import numpy

    def make_part(name, number, outside=False):
        with h5py.File(tools.work / name, "w") as file:
            t = file.create_dataset("time", data=numpy.arange(3.0) + 3 * number, maxshape=(None,), chunks=(3,))
            t.make_scale("time")
            more = {"external": [("values.bin", 0, 24)]} if outside else {"chunks": (3,), "compression": "gzip"}
            w = file.create_dataset("w", (3,), "f8", **more)
            w.dims[0].attach_scale(t)
            if not outside:
                w[:] = numpy.arange(3.0)
            return None if outside else w.id.get_chunk_info(0)

    numpy.arange(3.0).tofile(tools.work / "values.bin")
    make_part("in0.h5", 0)
    place = make_part("in1.h5", 1)
    make_part("outside.h5", 1, True)
    for files in ("in0.h5", "outside.h5"), ("outside.h5", "in0.h5"):
        for more in ([], ["--missing", "fill"]):
            said = tools.run("nmcat", *files, "-o", "out.nmb", "-f", "--mode", "join", *more, exit_code=1).stderr.decode()
            good = said.count('loss variable "w"') == 1 and "missing" not in said and "extra" not in said and ": 1 conflict;" in said
            tools.check(good, f"join {files} {more}: said {said!r}")
    content = bytearray((tools.work / "in1.h5").read_bytes())
    content[place.byte_offset + place.size // 2] ^= 0xFF
    (tools.work / "in1.h5").write_bytes(content)
    for more in (["--stats", "basic"], ["--stats", "basic", "-j1"], ["--chunk", "time:2"]):
        said = tools.run("nmcat", "in0.h5", "in1.h5", "-o", "out.nmb", "-f", "--mode", "join", *more, exit_code=1).stderr.decode()
        last = said.splitlines()[-1]
        tools.check("in1.h5: " in last and "in0.h5" not in last, f"join {more}: said {said!r}")


def check_ranks(tools):
    """All ranks agree on damage, and on values that only a dropped original has."""
    import h5py

    with h5py.File(tools.work / "lzf.h5", "w") as file:
        file.create_dataset("names", data=["a", "b"], dtype=h5py.string_dtype(), chunks=(1,), compression="lzf")
    take_filter_away(tools.work / "lzf.h5")
    files = ("good.h5", "bad.h5", "marked.nmb", "lzf.h5")
    for launcher in launchers(tools):
        check_same(tools, launcher, *files)
        check_same(tools, launcher, *files, "--strict")
        check_same(tools, launcher, *files, "--no-originals")
        check_same(tools, launcher, "bad.h5", "lzf.h5", "--mode", "union")
        check_same(tools, launcher, "none.h5", "bad_sums.h5", "zeros.h5", "skipped.h5")
    tools.check(nmcat(tools, [], *files, "-o", "x.nmb", "--no-originals").returncode == 1, "lost values are not refused")


def check(tools):
    check_hdf5_inputs(tools)
    check_unknown_filters(tools)
    check_indexes(tools)
    check_variable_length(tools)
    check_layout(tools)
    check_series(tools)
    check_marks(tools)
    check_no_mark(tools)
    check_unions(tools)
    check_ranks(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
