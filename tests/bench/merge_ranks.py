#!/usr/bin/python3
"""Merging by the processes of an MPI job, at the sizes that people have; one command each, which prints a table, keeps it in
benchmarks/merge_ranks.md and ends with 1 if something does not hold.

    tests/bench/merge_ranks.py rehearsal --tools build/release/tools --work FOLDER
    tests/bench/merge_ranks.py opens --tools build/release/tools --work FOLDER
    tests/bench/merge_ranks.py modes --tools build/release/tools --work FOLDER

rehearsal: 100,000 files of 20 GB become one and all of its bytes are verified, by 2 processes that may have 256 files open.
opens: how often each of 36,000 small inputs is opened: classic, NMB and HDF5 files, each merged in each mode, counted by strace.
modes: 256 inputs of 20 MB, merged in each mode by 1, 2 and 4 processes: the same bytes, and in what time, beside `cat` of two
halves at once into one file. Times want an idle machine; nobody waits for the device.

--files and --megabytes choose other sizes. FOLDER needs room for the inputs and twice the output; all is removed at the end.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy

SIZES = {"rehearsal": (100_000, 20_000), "opens": (36_000, 150), "modes": (256, 5_120)}
KINDS = {"classic": "classic", "nmb": "NMB", "hdf5": "HDF5"}
MODES = ("pack", "union", "join", "tiles")
MOST_MEMORY = 512e6  # bytes of a process
WARM_BYTES = 3_000_000_000
SKIPPED = 77
DOCS = Path(__file__).resolve().parents[2] / "benchmarks" / "merge_ranks"

# Says what a process and those that it started took; the largest memory of any one of them, in KiB as the system tells it.
AS_RANK = """
import json, os, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
status, used = os.wait4(pid, 0)[1:]
with open(os.path.join(sys.argv[1], str(pid)), "w") as out:
    json.dump({"cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss * 1024,
               "rank": int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", 0)))}, out)
sys.exit(os.waitstatus_to_exitcode(status))
"""

INT, DOUBLE = 4, 6  # types of classic files, with their sizes below
SIZE = {INT: 4, DOUBLE: 8}


def classic(dimensions, variables, records, attributes=()):
    """The header of a CDF-2 file. dimensions: (name, length), None: unlimited; variables: (name, type, dimensions,
    attributes) as they lie in the file; attributes: (name, values of int32)."""

    def name(text):
        return struct.pack(">I", len(text)) + text.encode().ljust((len(text) + 3) // 4 * 4, b"\0")

    def items(tag, each):
        return struct.pack(">II", tag if each else 0, len(each)) + b"".join(each)

    def attribute_list(given):
        return items(12, [name(n) + struct.pack(f">II{len(v)}i", INT, len(v), *v) for n, v in given])

    lengths = [length for _, length in dimensions]

    def of_record(variable):
        return variable[2][:1] != () and lengths[variable[2][0]] is None

    def values(variable):
        shape = [lengths[d] for d in variable[2][1 if of_record(variable) else 0:]]
        return int(numpy.prod(shape, dtype=int)) * SIZE[variable[1]]

    def encode(begins):
        head = b"CDF\x02" + struct.pack(">I", records)
        head += items(10, [name(n) + struct.pack(">I", length or 0) for n, length in dimensions])
        head += attribute_list(attributes)
        return head + items(11, [
            name(v[0]) + struct.pack(f">I{len(v[2])}I", len(v[2]), *v[2]) + attribute_list(v[3])
            + struct.pack(">IIQ", v[1], (values(v) + 3) // 4 * 4, begin) for v, begin in zip(variables, begins)])

    at, begins = len(encode([0] * len(variables))), []
    for variable in variables:
        begins.append(at)
        at += values(variable)
    return encode(begins)


def doubles(first, count):
    return numpy.arange(first, first + count, dtype=">f8").tobytes()


class Inputs:
    """Files that go together in a mode: their fields have random values, each file other ones."""

    def __init__(self, options, folder, columns=1):
        """columns: of tiles, beside each other; rows of tiles lie one after the other in what is made of them."""
        self.folder, self.files, self.columns = folder, options.files, columns
        cells = options.megabytes * 250_000 // options.files
        self.width = 1024 if cells >= 1 << 20 else 64
        self.height = max(1, cells // self.width)
        self.cells = self.width * self.height
        self.pool = numpy.random.default_rng(1).integers(-(1 << 30), 1 << 30, 2 * self.cells + 4096, dtype="i4").astype(">i4")

    def path(self, i, ending):
        return self.folder / f"in{i:06}.{ending}"

    def field(self, i):
        first = i * 37 % (self.pool.size - self.cells)
        return self.pool[first:first + self.cells]

    def described(self, mode, i):
        """dimensions, variables, records and values of a file."""
        field, cells = self.field(i).tobytes(), self.cells
        if mode == "tiles":
            width, height, columns = self.width, self.height, self.columns
            y, x = i // columns * height, i % columns * width
            parts = [[1, -(-self.files // columns) * height, y + 1, y + height], [1, columns * width, x + 1, x + width]]
            axes = [(name, DOUBLE, (d,), [("domain_decomposition", part)]) for d, (name, part) in enumerate(zip("yx", parts), 1)]
            return ([("time", None), ("y", height), ("x", width)], [*axes, ("t", INT, (0, 1, 2), [])], 1,
                    [doubles(y, height), doubles(x, width), field], [("NumFilesInSet", [self.files])])
        if mode == "union":
            return [("cell", cells)], [("mask", INT, (), []), (f"v{i:06}", INT, (0,), [])], 0, [b"\0\0\0\1", field], []
        return ([("time", None), ("cell", cells)], [("time", DOUBLE, (0,), []), ("t", INT, (0, 1), [])], 1,
                [doubles(i, 1), field], [])

    def make(self, mode, kind, tools):
        paths = self.make_now(mode, kind, tools)
        for path in paths:
            os.utime(path, (1e9, 1e9))  # of files that were changed just now a second look is taken
        return paths

    def make_now(self, mode, kind, tools):
        self.folder.mkdir(parents=True)
        if kind == "hdf5":
            return [self.make_hdf5(mode, i) for i in range(self.files)]
        paths = []
        for i in range(self.files):
            dimensions, variables, records, values, attributes = self.described(mode, i)
            paths.append(self.path(i, "nc"))
            with paths[-1].open("wb") as out:
                out.write(classic(dimensions, variables, records, attributes))
                out.writelines(values)
        if kind == "nmb":
            converted = self.folder.with_name(self.folder.name + "_nmb")
            names = self.folder.with_name("names")
            names.write_text("".join(f"{path.name}\n" for path in paths))
            converted.mkdir()
            subprocess.run([tools / "nmconvert", "--files-from", names, "--out-dir", converted, "--no-sync", "--no-check",
                            "--no-progress", "-q"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
            shutil.rmtree(self.folder)
            converted.rename(self.folder)
            paths = [self.path(i, "nmb") for i in range(self.files)]
        return paths

    def make_hdf5(self, mode, i):
        import netCDF4

        dimensions, variables, _, values, attributes = self.described(mode, i)
        path = self.path(i, "nc4")
        with netCDF4.Dataset(path, "w") as out:
            for name, length in dimensions:
                out.createDimension(name, length)
            for (name, kind, shape, own), bytes_ in zip(variables, values):
                names = tuple(dimensions[d][0] for d in shape)
                variable = out.createVariable(name, {INT: "i4", DOUBLE: "f8"}[kind], names)
                for attribute, given in own:
                    variable.setncattr(attribute, numpy.array(given, "i4"))
                numbers = numpy.frombuffer(bytes_, {INT: ">i4", DOUBLE: ">f8"}[kind])
                variable[...] = numbers.reshape([length or 1 for length in (dimensions[d][1] for d in shape)])
            for attribute, given in attributes:
                out.setncattr(attribute, numpy.array(given, "i4"))
        return path


class Job:
    """Runs tools as processes of an MPI job, and keeps what does not hold."""

    def __init__(self, options):
        self.tools, self.work = options.tools.resolve(), options.work.resolve()
        self.launcher, self.open_files = options.mpiexec, options.open_files
        self.problems, self.rows = [], []
        self.env = dict(os.environ, LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                        OMPI_MCA_hwloc_base_binding_policy="none")

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)
            print("NOT SO:", problem, flush=True)

    def run(self, ranks, words, trace=None, exit_code=0):
        """Seconds, and of each rank what it took. trace: a folder for what strace says of each rank."""
        about = self.work / "about"
        about.mkdir()
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.open_files, self.open_files))
        command = [*self.launcher, "-n", str(ranks), "/usr/bin/python3", "-S", "-E", "-c", AS_RANK, about]
        if trace:
            calls = "--seccomp-bpf -qq -e trace=open,openat,openat2,creat"
            command += ["sh", "-c", f'exec strace -f {calls} -o {trace}/$$ "$@"', "sh"]
        command += [self.tools / words[0], *words[1:]]
        begin = time.monotonic()
        done = subprocess.run(command, env=self.env, preexec_fn=limit, cwd=self.work, capture_output=True, text=True)
        seconds = time.monotonic() - begin
        costs = sorted((json.loads(path.read_text()) for path in about.iterdir()), key=lambda cost: cost["rank"])
        shutil.rmtree(about)
        if done.returncode != exit_code or len(costs) != ranks:
            raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}, {len(costs)} ranks\n{done.stdout[-2000:]}"
                               f"{done.stderr[-4000:]}")
        return {"wall": seconds, "cpu": [cost["cpu"] for cost in costs], "rss": max(cost["rss"] for cost in costs)}

    def opens(self, ranks, words, inputs):
        """How often each input was opened."""
        trace = self.work / "trace"
        trace.mkdir()
        self.run(ranks, words, trace)
        counts = collections.Counter()
        at_input = re.compile(re.escape(f'"{inputs}/') + r'([^"]*)"')
        for path in trace.iterdir():
            with path.open(errors="replace") as lines:
                for line in lines:
                    if found := at_input.search(line):
                        counts[found[1]] += 1
        shutil.rmtree(trace)
        return counts

    def row(self, **columns):
        self.rows.append(columns)
        print("  ".join(f"{name} {value}" for name, value in columns.items()), flush=True)


def sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else digest(file)


def digest(file):
    sum_ = hashlib.sha256()
    while part := file.read(1 << 22):
        sum_.update(part)
    return sum_.hexdigest()


def seconds(number):
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def megabytes(number):
    return f"{number / 1e6:,.0f}"


def listed(job, paths):
    names = job.work / "list"
    names.write_text("".join(f"{path}\n" for path in paths))
    return names


def merge(mode, names, out, *more):
    return ["nmcat", "--mode", mode, "--files-from", names, "-o", out, "-f", "--no-sync", "--no-progress", "-j1", *more]


def check_opens(job, counts, options, what, most=2):
    """No input more often, but those where two pieces of the output meet, of 1 MiB, or the shares of two processes.
    most: 3 for HDF5 files, once of these by the process that runs the HDF5 library; in a join once for each of the two
    variables, which are stored in chunks."""
    more = [count for count in counts.values() if count > most]
    files = options.files
    job.check(len(counts) == files and len(more) <= options.megabytes + options.ranks and max(more, default=most) <= most + 1,
              f"{what}: {len(counts)} of {files} inputs opened, {len(more)} of them more than {most} times, at most "
              f"{max(counts.values(), default=0)} times")


def taken(value):
    return ", ".join(seconds(cpu) for cpu in value["cpu"])


def rehearsal(job, options):
    room, wanted = shutil.disk_usage(job.work).free, options.megabytes * 2.05e6
    if room < wanted:
        raise RuntimeError(f"{job.work}: found room for {room / 1e9:.1f} GB, expected {wanted / 1e9:.1f} GB")
    made = Inputs(options, job.work / "inputs")
    paths = made.make(options.mode, "classic", job.tools)
    size = sum(path.stat().st_size for path in paths)
    names, out = listed(job, paths), job.work / "all.nmb"
    what = f"{options.mode} of {options.files:,} files"
    begin = time.monotonic()
    subprocess.run(["xargs", "-a", names, "cat"], stdout=out.open("wb"), check=True)
    copied = time.monotonic() - begin
    out.unlink()
    job.row(what="`cat` of all", seconds=seconds(copied), cpu="", memory_mb="", opens="")
    merged = job.run(options.ranks, merge(options.mode, names, out))
    job.row(what=f"{what}, {size / 1e9:.3g} GB, by {options.ranks} processes", seconds=seconds(merged["wall"]),
            cpu=taken(merged), memory_mb=megabytes(merged["rss"]), opens="")
    job.check(out.stat().st_size >= size * 0.9, f"{what}: {out.stat().st_size} bytes of {size}")
    verified = job.run(options.ranks, ["nmverify", out, "-j1"])
    job.row(what=f"all of it verified by {options.ranks} processes", seconds=seconds(verified["wall"]), cpu=taken(verified),
            memory_mb=megabytes(verified["rss"]), opens="")
    if options.mode == "pack":
        # What comes back is what was given.
        for path in paths[::max(1, len(paths) // 20)]:
            back = job.work / "back.nc"
            subprocess.run([job.tools / "nmconvert", "--extract", path.stem, out, back, "-f", "--no-sync", "--to", "cdf2"],
                           check=True, stdout=subprocess.DEVNULL)
            job.check(back.read_bytes() == path.read_bytes(), f"{path.name}: other bytes come back")
            back.unlink()
    out.unlink()
    for done in (merged, verified):
        job.check(done["rss"] <= MOST_MEMORY, f"{what}: {megabytes(done['rss'])} MB in memory, expected at most "
                  f"{megabytes(MOST_MEMORY)}")
    counts = job.opens(options.ranks, merge(options.mode, names, out), made.folder)
    job.row(what="inputs opened, in a run of its own", seconds="", cpu="", memory_mb="",
            opens=f"{sum(counts.values()):,}, at most {max(counts.values())} each")
    check_opens(job, counts, options, what)


def opens(job, options):
    for kind, text in KINDS.items():
        for mode in ("pack", "join") if options.quick else MODES:
            made = Inputs(options, job.work / "inputs")
            paths = made.make(mode, kind, job.tools)
            names = listed(job, paths)
            for ranks in (options.ranks,) if options.quick else (1, options.ranks):
                out = job.work / "all.nmb"
                what = f"{mode} of {options.files:,} {text} files by {ranks}"
                counts = job.opens(ranks, merge(mode, names, out), made.folder)
                job.row(kind=text, mode=mode, processes=ranks, opens=f"{sum(counts.values()):,}",
                        mean=f"{sum(counts.values()) / options.files:.3f}", most=max(counts.values()))
                check_opens(job, counts, options, what, 2 if kind != "hdf5" else 4 if mode == "join" else 3)
                out.unlink()
            shutil.rmtree(made.folder)


def cat_halves(paths, work):
    """Seconds of `cat` of all, of two halves at once into one file, and of these into a file each. Processes that merge
    write one file, of which many file systems let one process write at a time."""
    middle = sum(path.stat().st_size for path in paths[:len(paths) // 2])

    def run(parts):
        """parts: each list of files, where it goes and at which position."""
        for _, out, _ in parts:
            out.unlink(missing_ok=True)
        begin = time.monotonic()
        running = []
        for names, out, position in parts:
            descriptor = os.open(out, os.O_WRONLY | os.O_CREAT, 0o666)
            os.lseek(descriptor, position, os.SEEK_SET)
            running.append(subprocess.Popen(["xargs", "-a", names, "cat"], stdout=descriptor))
            os.close(descriptor)
        if any([each.wait() for each in running]):
            raise RuntimeError("cat failed")
        took = time.monotonic() - begin
        for out in {out for _, out, _ in parts}:
            out.unlink()
        return took

    lists = []
    for i, part in enumerate((paths, paths[:len(paths) // 2], paths[len(paths) // 2:])):
        lists.append(work / f"list{i}")
        lists[-1].write_text("".join(f"{path}\n" for path in part))
    one, other = work / "cat0", work / "cat1"
    run([(lists[0], one, 0)])
    return (run([(lists[0], one, 0)]), run([(lists[1], one, 0), (lists[2], one, middle)]),
            run([(lists[1], one, 0), (lists[2], other, 0)]))


def warm(options):
    """Memory that the machine has: virtual ones give what was freed back to their hosts, and the next to use it pays."""
    if options.times:
        b"\1" * WARM_BYTES


def modes(job, options):
    """The plan is what a run without writing takes: the CPU of the first process is what no other does."""
    shapes = {"join": [("pack", "nmb"), ("join", "nmb"), ("join", "cdf5")], "union": [("union", "nmb"), ("union", "cdf5")],
              "tiles": [("tiles", "nmb"), ("tiles", "cdf5")]}
    for shape, merges in shapes.items():
        made = Inputs(options, job.work / "inputs", columns=2)
        paths = made.make(shape, "classic", job.tools)
        names = listed(job, paths)
        for mode, to in merges:
            out = job.work / f"all.{to}"
            what = f"{mode} to {to}"
            words = merge(mode, names, out, "--to", to)
            sums, walls = set(), collections.defaultdict(list)
            cats = []
            for turn in range(1 if options.quick else options.runs):
                warm(options)
                cats.append(cat_halves(paths, job.work))
                for ranks in (1, 2, 4):
                    warm(options)
                    if options.times:
                        job.run(ranks, words)
                        out.unlink()
                    took = job.run(ranks, words)
                    walls[ranks].append(took)
                    if turn == 0:
                        sums.add(sha256(out))
                    out.unlink()
            job.check(len(sums) == 1, f"{what}: other bytes by another number of processes")
            middle = {ranks: float(numpy.median([took["wall"] for took in each])) for ranks, each in walls.items()}
            ratio = float(numpy.median([b["wall"] / a["wall"] for a, b in zip(walls[1], walls[2])]))
            cat_ratio = float(numpy.median([into_one / all_ for all_, into_one, _ in cats]))
            two_files = float(numpy.median([into_two / all_ for all_, _, into_two in cats]))
            plan = "" if to != "nmb" else seconds(job.run(1, [*words, "--dry-run"])["cpu"][0])
            job.row(mode=mode, to=to, **{f"s_{ranks}": seconds(wall) for ranks, wall in middle.items()},
                    ratio_2_to_1=f"{ratio:.2f}", cat_ratio=f"{cat_ratio:.2f}", cat_two_files=f"{two_files:.2f}",
                    cpu_1=taken(walls[1][-1]), cpu_2=taken(walls[2][-1]), cpu_4=taken(walls[4][-1]), plan=plan,
                    memory_mb=megabytes(max(took["rss"] for each in walls.values() for took in each)),
                    same="yes" if len(sums) == 1 else "no")
            if options.times and cat_ratio <= 0.6:
                job.check(ratio <= 0.6, f"{what}: two processes take {ratio:.2f} of one's time, expected at most 0.6")
        shutil.rmtree(made.folder)


def markdown(rows):
    lines = ["| " + " | ".join(name.replace("_", " ") for name in rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return "\n".join(lines + ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows])


def keep(command, options, job):
    """The tables of all commands, each as it was run last."""
    path = options.docs.with_suffix(".json")
    all_ = json.loads(path.read_text()) if path.exists() else {}
    about = (f"{options.files:,} files with {options.megabytes:,} MB in all; the load of the machine was "
             f"{os.getloadavg()[0]:.1f} at the end")
    all_[command] = {"about": about, "rows": job.rows, "problems": job.problems}
    path.write_text(json.dumps(all_, indent=1) + "\n")
    text = ["# Merging by the processes of an MPI job", "", "`tests/bench/merge_ranks.py` wrote this page and describes the runs.", ""]
    for name, told in all_.items():
        text += [f"## {name.capitalize()}", "", told["about"] + ".", "", markdown(told["rows"]), ""]
        text += [f"- not so: {problem}" for problem in told["problems"]] + ([""] if told["problems"] else [])
    options.docs.with_suffix(".md").write_text("\n".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=SIZES)
    parser.add_argument("--tools", type=Path, required=True, help="the folder of nmcat")
    parser.add_argument("--work", type=Path, required=True, help="a folder that is not there; it is removed at the end")
    parser.add_argument("--files", type=int, help="number of inputs")
    parser.add_argument("--megabytes", type=int, help="their size in all")
    parser.add_argument("--ranks", type=int, default=2, help="processes of rehearsal and opens (default 2)")
    parser.add_argument("--open-files", type=int, default=256, help="that a process may have, those of the MPI library among "
                        "them (default 256)")
    parser.add_argument("--mode", choices=MODES, default="pack", help="of rehearsal (default pack)")
    parser.add_argument("--runs", type=int, default=3, help="of modes: turns, of which medians are shown (default 3)")
    parser.add_argument("--times", action="store_true", help="of modes: the time of two processes counts, at most 0.6 of one's "
                        "where `cat` of two halves at once into one file takes no more of its own")
    parser.add_argument("--quick", action="store_true", help="of opens: pack and join alone, not by one process; of modes: one "
                        "turn")
    parser.add_argument("--mpiexec", type=str.split, default=["mpiexec.openmpi", "--oversubscribe"], metavar="COMMAND",
                        help="default: mpiexec.openmpi --oversubscribe")
    parser.add_argument("--docs", type=Path, help="where tables are kept, as .md and .json (default: benchmarks/merge_ranks for the "
                        "full size, else nowhere)")
    options = parser.parse_args()
    full = SIZES[options.command]
    if options.docs is None and options.files is None and options.megabytes is None:
        options.docs = DOCS
    options.files, options.megabytes = options.files or full[0], options.megabytes or full[1]
    missing = [name for name in (options.mpiexec[0], "strace") if not shutil.which(name)]
    if missing or not list((options.tools.parent / "lib").rglob("nmb-mpi-*.so")):
        print("skipped: there is no", ", ".join(missing) or "plug-in for MPI")
        return SKIPPED
    options.work.mkdir(parents=True)
    job = Job(options)
    try:
        globals()[options.command](job, options)
    finally:
        shutil.rmtree(options.work)
    if options.docs:
        keep(options.command, options, job)
    return 1 if job.problems else 0


if __name__ == "__main__":
    sys.exit(main())
