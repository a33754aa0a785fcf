#!/usr/bin/python3
"""union, join and tiles by the processes of an MPI job: the same file and the same words as by one process.

    nmcat_merge_ranks.py --tools FOLDER

Inputs are classic, netCDF-4 and NMB files; their values are large enough that all processes move some.
"""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import numpy  # noqa: E402
from nmcat_ranks import LAUNCHERS, launchers, nmcat, words_of  # noqa: E402
from tool_runs import ALL, main, netcdf4  # noqa: E402

FILES = 6
LEVELS, CELLS = 40, 1500


def values(seed, *shape):
    return numpy.random.default_rng(seed).integers(-1000, 1000, shape)


def write_step(netcdf, path, i, *, kind, unlimited=True, **other):
    """Some steps of a model: a record variable, a fixed one along time's place, and coordinates that all have."""
    with netcdf.Dataset(path, "w", format=kind) as file:
        steps = 3 + i % 2
        file.createDimension("time", None if unlimited else steps)
        file.createDimension("level", LEVELS)
        file.createDimension("cell", CELLS)
        file.history = f"step {i}"
        group = file.createGroup("ocean") if other.get("group") else file
        time = file.createVariable("time", "f8", ("time",))
        time.units = other.get("units", "days since 2000-01-01")
        time[:] = numpy.arange(steps) + 10.0 * i
        file.createVariable("cell", "f4", ("cell",))[:] = numpy.arange(CELLS) + other.get("shift", 0)
        t = group.createVariable("t", other.get("type", "f4"), ("time", "level", "cell"))
        t.long_name = f"temperature {i}"
        t[:] = values(i, steps, LEVELS, CELLS)
        shape = ("time", "level") if unlimited else ("level", "time")
        group.createVariable("s", "i2", shape)[:] = values(i + 100, *(len(file.dimensions[d]) for d in shape))
        if not other.get("lacks"):
            group.createVariable("u", "f8", ("time", "cell"))[:] = values(i + 200, steps, CELLS)


def write_steps(netcdf, folder, **how):
    folder.mkdir()
    paths = [folder / f"step{i}.nc" for i in range(FILES)]
    for i, path in enumerate(paths):
        write_step(netcdf, path, i, **{name: value(i) if callable(value) else value for name, value in how.items()})
    return paths


def write_halves(netcdf, folder, kind):
    """Each has some variables of its own, and one that all have."""
    folder.mkdir()
    paths = [folder / f"half{i}.nc" for i in range(FILES)]
    for i, path in enumerate(paths):
        with netcdf.Dataset(path, "w", format=kind) as file:
            file.createDimension("x", 300)
            file.createDimension("y", 500)
            file.createVariable("mask", "i4", ("y", "x"))[:] = values(1, 500, 300)
            file.createVariable(f"v{i}", "f8", ("y", "x"))[:] = values(i, 500, 300)
    return paths


def write_tiles(netcdf, folder):
    folder.mkdir()
    paths = [folder / f"ocean.nc.{i:04}" for i in range(FILES)]
    ny, nx = 200, 240
    for i, path in enumerate(paths):
        y, x = i // 3 * (ny // 2), i % 3 * (nx // 3)
        with netcdf.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.NumFilesInSet = numpy.int32(FILES)
            file.createDimension("time", None)
            for name, first, count, whole in (("y", y, ny // 2, ny), ("x", x, nx // 3, nx)):
                file.createDimension(name, count)
                axis = file.createVariable(name, "f4", (name,))
                axis.domain_decomposition = numpy.array([1, whole, first + 1, first + count], "i4")
                axis[:] = numpy.arange(first, first + count)
            file.createVariable("h", "f8", ("y", "x"))[:] = values(i, ny // 2, nx // 3)
            file.createVariable("t", "f4", ("time", "y", "x"))[:] = values(i + 50, 4, ny // 2, nx // 3)
    return paths


def write_own_groups(netcdf, folder):
    """Each has a group that all have, with values too many to be held in memory, and one of its own."""
    folder.mkdir()
    paths = [folder / f"own{i}.nc" for i in range(FILES)]
    for i, path in enumerate(paths):
        with netcdf.Dataset(path, "w") as file:
            file.note = f"file {i}"
            for name, length in (("all", 3000), (f"own{i}", 50 + i)):
                group = file.createGroup(name)
                group.createDimension("x", length)
                group.createVariable("x", "f8", ("x",))[:] = numpy.arange(length)
    return paths


def write_tables(netcdf, folder):
    folder.mkdir()
    paths = [folder / f"events{i}.nc" for i in range(FILES)]
    for i, path in enumerate(paths):
        with netcdf.Dataset(path, "w") as file:
            for name, rows in (("spill", 50), ("hits", 60000)):
                group = file.createGroup(name)
                group.createDimension("row", None)
                events = numpy.sort(values(i, rows) % 50) if name == "hits" else numpy.arange(50)
                group.createVariable("evt", "i4", ("row",))[:] = events
                group.createVariable("e", "f8", ("row",))[:] = values(i, rows)
    return paths


def write_chunks(netcdf, folder, steps, is_mixed=False):
    """Compressed chunks of 4 steps. Their bytes are copied if they fit the chunks of the output. is_mixed: every second file
    has other types and another byte order."""
    folder.mkdir()
    paths = [folder / f"chunks{i}.nc" for i in range(FILES)]
    for i, path in enumerate(paths):
        with netcdf.Dataset(path, "w") as file:
            for name, length in (("time", None), ("level", LEVELS), ("cell", CELLS)):
                file.createDimension(name, length)
            file.createVariable("time", "f8", ("time",))[:] = sum(map(steps, range(i))) + numpy.arange(steps(i))
            file.createVariable("cell", "f4", ("cell",), zlib=True, chunksizes=(500,))[:] = numpy.arange(CELLS)
            for name, kind, filters in (("t", "f4", {"zlib": True}), ("u", "i4", {}), ("w", "i2", {"fletcher32": True})):
                chunks = 4, LEVELS // 2, CELLS // 3
                if is_mixed and i % 2:
                    kind, filters = {"f4": "f8", "i4": "i2", "i2": "i4"}[kind], filters | {"endian": "big"}
                variable = file.createVariable(name, kind, ("time", "level", "cell"), chunksizes=chunks, **filters)
                variable[:] = values(i, steps(i), LEVELS, CELLS)
    return paths


def check_chunks(tools, netcdf):
    """Joins of compressed chunks by several processes, and by several threads. NMB_ALL=1: by 1, 2 and 5 processes, and
    with all options for both kinds of inputs."""
    ranks = ("1", "2", "5") if ALL else None
    recoding = ("--chunk", "time:3,t:cell:1000", "--compress", "deflate:2", "--shuffle")
    fit = write_chunks(netcdf, tools.work / "fit", lambda i: 4 + 4 * (i % 2))
    misfit = write_chunks(netcdf, tools.work / "misfit", lambda i: 3 + i % 3)
    for what, paths in (("fit", fit), ("misfit", misfit)):
        for options in ((), recoding) if ALL else (() if what == "misfit" else recoding,):
            call = ("--mode", "join", *options, *paths)
            for output in ("nmb", "nc4"):
                done = check(tools, f"join of chunks that {what} {options} to {output}", *call, output=output, ranks=ranks)
                tools.check(done.returncode == 0, f"join of chunks that {what} {options}: {done.stderr}")
            for threads in ("1", "4"):
                tools.run("nmcat", *call, "-o", f"threads{threads}.nmb", "-f", "-j", threads)
            made = [tools.work / f"threads{threads}.nmb" for threads in ("1", "4")]
            tools.check_equal_bytes(*made, f"join of chunks that {what} {options} by 4 threads")
        part = ("--variables", "t,w", "--slab", "time=1:2,level=5:30,cell=100:1200") if what == "fit" else ("--slab", "cell=500:500:2")
        for output in ("nmb", "nc4") if ALL else ("nmb",):
            done = check(tools, f"subset of chunks that {what} to {output}", "--mode", "join", *part, *paths, output=output, ranks=ranks)
            tools.check(done.returncode == 0, f"subset of chunks that {what}: {done.stderr}")
    mixed = write_chunks(netcdf, tools.work / "types", lambda i: 3 + i % 2, is_mixed=True)
    done = check(tools, "join of chunks of several types", "--mode", "join", "--on-mismatch", "widen", *mixed, output="nc4", ranks=ranks)
    tools.check(done.returncode == 0, f"join of chunks of several types: {done.stderr}")
    # An error in a chunk that another process decodes is the same error. h5py finds the place of the chunk.
    try:
        import h5py
    except ImportError:
        return
    data = bytearray(misfit[1].read_bytes())
    with h5py.File(misfit[1]) as file:
        place = file["t"].id.get_chunk_info(1)
    data[place.byte_offset + place.size // 3 : place.byte_offset + place.size // 3 + 50] = b"\xff" * 50
    misfit[1].write_bytes(data)
    done = check(tools, "join of a damaged chunk", "--mode", "join", *misfit, output="nc4", ranks=ranks)
    tools.check(done.returncode == 1 and "variable t: chunk 1" in done.stderr, f"join of a damaged chunk: {done.returncode}: {done.stderr}")


def check(tools, what, *arguments, output="nmb", ranks=None):
    """ranks: numbers of processes. None: some that differ between the MPI libraries."""
    one = nmcat(tools, [], *arguments, "-o", f"one.{output}", "-j1", "--json", "-f")
    for launcher in launchers(tools)[1:]:
        for count in ranks or (("2", "4") if launcher[0] == LAUNCHERS["openmpi"][0] else ("3",)):
            many = nmcat(tools, [*launcher[:-1], count], *arguments, "-o", f"many.{output}", "--json", "-f")
            here = f"{what} by {count} processes of {launcher[0]}"
            tools.check(
                one.returncode == many.returncode,
                f"{here}: exit code {many.returncode}, expected {one.returncode}: {words_of(many)}",
            )
            expected = [line.replace(f"one.{output}", f"many.{output}") for line in words_of(one)]
            tools.check(words_of(many) == expected, f"{here}: found {words_of(many)}, expected {expected}")
            tools.check(many.stdout == one.stdout.replace(f"one.{output}", f"many.{output}"), f"{here}: another report")
            made = [tools.work / f"{name}.{output}" for name in ("one", "many")]
            if one.returncode == 0 and many.returncode == 0:
                tools.check_equal_bytes(*made, here)
                made[1].unlink()
            else:
                tools.check(not any(path.exists() for path in made), f"{here}: a file is left")
            hidden = [path.name for path in tools.work.iterdir() if path.name.startswith(".")]
            tools.check(not hidden, f"{here}: {hidden} is left")
    (tools.work / f"one.{output}").unlink(missing_ok=True)
    return one


def check_opens(tools, netcdf):
    """No input is opened more than twice, but where the shares of two processes meet."""
    if not shutil.which("strace"):
        return
    folder = tools.work / "small"
    folder.mkdir()
    paths = [folder / f"small{i:02}.nc" for i in range(100)]
    for i, path in enumerate(paths):
        with netcdf.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createDimension("x", 4000)
            file.createVariable("time", "f8", ("time",))[:] = [i]
            file.createVariable("x", "i2", ("x",))[:] = numpy.arange(4000) % 100
            file.createVariable("v", "f4", ("time", "x"))[:] = values(i, 1, 4000)
    # Few of them are open at a time.
    few = ["prlimit", "--nofile=90:90", "strace", "-f", "-qq", "-e", "trace=openat", "-o"]
    for launcher in launchers(tools):
        ranks = 3 if launcher else 1
        for mode in ("pack", "join"):
            trace = tools.work / "trace"
            trace.mkdir()
            command = [*launcher, "sh", "-c", f'exec {" ".join(few)} {trace}/$$ "$@"', "sh", tools.folder / "nmcat"]
            command += ["--mode", mode, *paths, "-o", "small.nmb", "-f", "--no-sync"] + ([] if launcher else ["-j1"])
            env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
            done = subprocess.run(command, cwd=tools.work, env=env, capture_output=True, text=True, timeout=120)
            here = f"{mode} of small inputs by {' '.join(launcher) or 'one process'}"
            tools.check(done.returncode == 0, f"{here}: exit code {done.returncode}: {words_of(done)[:3]}")
            opens = "".join(path.read_text() for path in trace.iterdir()).count(f"{folder}/small")
            most = 2 * len(paths) + 2 * (ranks - 1)
            tools.check(len(paths) < opens <= most, f"{here}: {opens} inputs opened, expected at most {most}")
            shutil.rmtree(trace)


def test(tools):
    netcdf = netcdf4()
    work = tools.work
    check_opens(tools, netcdf)
    check_chunks(tools, netcdf)
    classic = write_steps(netcdf, work / "classic", kind="NETCDF3_64BIT_OFFSET")
    fixed = write_steps(netcdf, work / "fixed", kind="NETCDF3_64BIT_DATA", unlimited=False)
    grouped = write_steps(netcdf, work / "grouped", kind="NETCDF4", group=True)
    flat = write_steps(netcdf, work / "flat", kind="NETCDF4")
    mixed = write_steps(
        netcdf,
        work / "mixed",
        kind=lambda i: ("NETCDF3_CLASSIC", "NETCDF4")[i % 2],
        type=lambda i: ("i2", "f4")[i // 2 % 2],
        lacks=lambda i: i == 4,
    )
    wrong = write_steps(
        netcdf,
        work / "wrong",
        kind="NETCDF3_CLASSIC",
        units=lambda i: "hours since 2000-01-01" if i in (2, 5) else "days since 2000-01-01",
        shift=lambda i: i == 4,
        lacks=lambda i: i == 3,
    )
    moved = write_steps(
        netcdf, work / "moved", kind=lambda i: ("NETCDF3_CLASSIC", "NETCDF4")[i % 2], units=lambda i: f"days since 2000-01-{1 + 2 * i:02}"
    )
    packed = work / "packed.nmb"
    tools.run("nmcat", *grouped[:3], "-o", packed, "--block-name", "{index}/{group}")
    nmb = []
    for path in grouped:
        nmb.append(work / f"{path.stem}.nmb")
        tools.run("nmcat", path, "-o", nmb[-1], "--block-name", "{group}", "--compress", "zstd")
    tables = write_tables(netcdf, work / "tables")
    own = write_own_groups(netcdf, work / "own")
    counted = []
    for path in own:
        counted.append(path.with_suffix(".nmb"))
        tools.run("nmcat", path, "-o", counted[-1], "--block-name", "{group}", "--stats", "basic")
    tiles = write_tiles(netcdf, work / "tiles")
    halves = {kind: write_halves(netcdf, work / kind, kind) for kind in ("NETCDF3_CLASSIC", "NETCDF4")}

    def sound(what, *arguments, **other):
        done = check(tools, what, *arguments, **other)
        tools.check(done.returncode == 0, f"{what}: exit code {done.returncode}: {done.stderr}")

    def also(*arguments, **other):
        """With NMB_ALL=1 alone: other cases see nearly the same code."""
        if ALL:
            sound(*arguments, **other)

    sound("join of classic files", "--mode", "join", *classic)
    also("join along a fixed dimension", "--mode", "join", "--along", "time", *fixed)
    sound("join of subsets of classic files", "--mode", "join", "--time", "2000-01-02,2000-02-12", "--slab", "cell=7:490:3", *classic)
    sound("join of subsets of groups", "--mode", "join", "--along", "time", "--slab", "level=3:20,time=1:2", *grouped)
    sound("pack of subsets", "--variables", "t,u", "--slab", "time=0", *classic)
    also("subset of NMB files to classic", "--mode", "join", "--along", "time", "--variables", "t", "--slab", "level=1:7", *nmb, output="nc")
    sound("join of groups", "--mode", "join", "--along", "time", *grouped)
    sound("join of NMB files", "--mode", "join", "--along", "time", *nmb)
    sound("join that widens and fills", "--mode", "join", "--on-mismatch=widen", "--missing=fill", *mixed)
    sound("join that rebases times", "--mode", "join", "--time-units=rebase", "--sort", "values:time", *moved[::-1])
    sound("join that rebases times to netCDF-4", "--mode", "join", "--time-units=rebase", *moved, output="nc4")
    sound("join with a key", "--mode", "join", "--along", "axis:0", "--key", "evt", *tables)
    also("join that compresses", "--mode", "join", "--compress", "zstd", *classic)
    sound("join with statistics", "--mode", "join", "--stats", "basic", *classic)
    for kind, paths in halves.items():
        sound(f"union of {kind}", "--mode", "union", *paths)
    sound("union with a view", "--mode", "union", "--hdf5-view", "on", *halves["NETCDF3_CLASSIC"])
    also("union of groups of one input alone", "--mode", "union", *own)
    sound("union of NMB files with statistics", "--mode", "union", *counted)
    check(tools, "union of some with the same groups", "--mode", "union", "--unique", "{group}", *counted[:3], *own[3:])
    sound("tiles", "--mode", "tiles", *tiles)
    also("tiles with gaps", "--mode", "tiles", "--missing=fill", *tiles[:3], *tiles[4:])
    sound("pack of groups", *grouped)
    for kind in ("cdf1", "cdf2", "cdf5") if ALL else ("cdf5",):
        sound(f"join to {kind}", "--mode", "join", "--to", kind, *classic, output="nc")
    also("join of groups to classic", "--mode", "join", "--to", "cdf2", *flat, output="nc")
    also("join along a fixed dimension to classic", "--mode", "join", "--along", "time", *fixed, output="nc")
    also("union to classic", "--mode", "union", *halves["NETCDF3_CLASSIC"], output="nc")
    sound("union of netCDF-4 to classic", "--mode", "union", *halves["NETCDF4"], output="nc")
    sound("tiles to classic", "--mode", "tiles", "--missing=fill", *tiles[:3], *tiles[4:], output="nc")
    also("one file to classic", "--mode", "join", classic[0], output="nc")
    check(tools, "join of blocks to classic", "--mode", "join", "--along", "time", *grouped, output="nc")
    conflicts = check(tools, "join with conflicts", "--mode", "join", *wrong)
    tools.check(conflicts.returncode == 1, f"join with conflicts: exit code {conflicts.returncode}")
    tools.check(len(words_of(conflicts)) > 3, f"join with conflicts: {conflicts.stderr}")
    check(tools, "join without what does not go", "--mode", "join", "--on-mismatch=skip", "--atts=list", *wrong)
    check(tools, "join with times that are not exact", "--mode", "join", "--time-units=rebase", *wrong[:3])
    check(tools, "union with conflicts", "--mode", "union", *wrong)
    check(tools, "join with a missing input", "--mode", "join", *classic[:5], "missing.nc", classic[5])


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
