#!/usr/bin/python3
"""nmbench: each kernel in its smallest form, with each back end that is built, by one process and by two.

    tests/bench/nmbench_test.py --build FOLDER [--ranks N]

What the kernels wrote is read back and compared, by the same back end. Where a back end has no way to do a kernel, the
reason must be the one that is listed here. Then configurations of h5bench: what is run, and what is refused. Exit code 77: not
built.
"""

import argparse
import array
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom
from pathlib import Path

import netCDF4
import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "nmbench" / "launcher"))
import merging  # noqa: E402
import readme  # noqa: E402
import results  # noqa: E402
import sets  # noqa: E402
from programs import BACKENDS, Programs, disturbance  # noqa: E402

ENV = dict(os.environ, LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_rmaps_base_oversubscribe="1", HDF5_USE_FILE_LOCKING="FALSE")
# One process needs no network, whose set-up takes most of a small run's time.
ALONE_ENV = dict(ENV, OMPI_MCA_ess_singleton_isolated="1", OMPI_MCA_btl="self", OMPI_MCA_pml="ob1")
ONE_WRITES = "one file can be written by one process only"
NO_ARRAYS = "has no arrays that are read and written in parts"
NO_COMPRESSION = "does not compress values"
NOT_GROWING = "only records of arrays without any yet grow, by one process"

# The parameters of each kernel, in order. Steps with the same `file` share a file.
STEPS = [
    ("create", {"samples": 40, "values": True}, "samples"), ("open_one", {"samples": 40, "opens": 5}, "samples"),
    ("list", {"samples": 40}, "samples"), ("read_metadata", {"samples": 40}, "samples"), ("epoch", {"samples": 40}, "samples"),
    ("create", {"samples": 40}, "definitions"), ("read_metadata", {"samples": 40}, "definitions"),
    ("create", {"samples": 40, "shared": True}, "shared"), ("create", {"samples": 40, "shape": "one"}, "one"),
    ("write", {"steps": 2, "lengths": [60]}, "w"), ("read", {"steps": 2, "lengths": [60], "read": "PARTIAL", "partial": 17}, "w"),
    ("overwrite", {"steps": 2, "lengths": [60]}, "w"),
    ("write", {"steps": 2, "lengths": [60], "file_pattern": "STRIDED", "stride": 7, "block": 3, "block_count": 6}, "strided"),
    ("read", {"steps": 2, "lengths": [60], "file_pattern": "STRIDED", "read": "STRIDED", "stride": 7, "block": 3, "block_count": 6},
     "strided"),
    ("write", {"steps": 1, "lengths": [12, 10], "collective_data": False}, "w2"),
    *(("read", {"steps": 1, "lengths": [12, 10], "read": read, "blocks": [2, 2], "strides": [4, 3]}, "w2") for read in ("LDC", "CS")),
    ("write", {"steps": 1, "lengths": [6, 5, 4], "file_per_process": True}, "w3"),
    ("write", {"steps": 1, "lengths": [12, 10], "file_pattern": "INTERLEAVED"}, "ci"),
    ("write", {"steps": 1, "lengths": [12, 10], "memory_pattern": "INTERLEAVED"}, "ic"),
    ("write", {"steps": 1, "lengths": [60], "memory_pattern": "INTERLEAVED", "file_pattern": "INTERLEAVED"}, "ii"),
    ("write", {"steps": 1, "lengths": [60], "unlimited": True}, "grows"), ("append", {"steps": 1, "lengths": [60]}, "grows"),
    ("write", {"steps": 1, "lengths": [60], "deflate": 6, "chunk": [20]}, "deflated"),
    ("step_arrays", {"steps": 2, "arrays": 3, "rows": 2, "columns": 2, "dataset_rank": 2}, "m2"),
    ("step_arrays", {"steps": 2, "arrays": 3, "rows": 2, "columns": 2, "dataset_rank": 4, "slowest": "array"}, "m4"),
    ("decomposed", {"records": 3, "counts": [2, 3], "element_sizes": [8, 4], "small_arrays": 2}, "decomposed"),
    ("thread_create", {"samples": 40, "threads": 3}, "threads"), ("same_values", {"arrays": 20}, "same"), ("commits", {"blocks": 3, "steps": 4}, "commits"),
    ("small_arrays", {"step": "write", "bases": 2, "zones": 2}, "cgns"),
    ("thread_small_arrays", {"threads": 3, "bases": 2, "zones": 2}, "cgns"),
    *(("small_arrays", {"step": "read", "way": way, "bases": 2, "zones": 2}, "cgns") for way in ("each", "collective", "one_reads")),
]
ALONE = ("netcdf4", "hdf5", "lmdb")  # one process writes
READS = {"list", "read_metadata", "open_one", "epoch"}
UNVERIFIED = {"thread_small_arrays"}
CONFLICTS = {"nmb": "r4952_sr", "pnetcdf": "String match to name in use", "hdf5-parallel": "name already exists"}  # what is said
NO_THREADS = "has no ranks that are threads"
problems = []


def expected(backend, kernel, job, ranks):
    """The reason why the back end cannot do this; None: it can."""
    writes = kernel not in READS and kernel != "read" and job.get("step") != "read"
    if kernel.startswith("thread"):
        return NO_THREADS if backend != "nmb" else None if ranks == 1 else "ranks are threads of one process"
    if backend == "prototype" and kernel == "create":
        return "has no values of samples" if job.get("values") else "each process has a block of its own" if job.get("shared") else None
    if backend == "prototype" and kernel not in READS or backend == "lmdb" and kernel == "small_arrays":
        return NO_ARRAYS
    if kernel == "small_arrays":
        return None
    if backend in ALONE and writes and ranks > 1 and not job.get("file_per_process"):
        return ONE_WRITES
    if backend == "lmdb" and kernel not in READS | {"create"}:
        return NO_ARRAYS
    if backend == "netcdf4-parallel" and kernel in ("commits", "decomposed") and ranks > 1:
        return "written by collective calls only"
    if backend == "files" and kernel == "decomposed" and ranks == 1:
        return "has no file with arrays that grow and others"
    if backend == "files" and (kernel == "decomposed" or job.get("unlimited") or kernel == "append" or (kernel == "commits" and ranks > 1)):
        return NOT_GROWING
    if backend in ("nmb", "pnetcdf", "files") and job.get("deflate"):
        return NO_COMPRESSION
    return None


class Backend:
    def __init__(self, program, name, work, mpiexec):
        self.program, self.name, self.work, self.mpiexec = program, name, work, mpiexec

    def run(self, kernel, job, file, ranks):
        """(exit code, what was said, rows)"""
        job_file, out = self.work / "job.json", self.work / "out.json"
        job_file.write_text(json.dumps({**job, "kernel": kernel, "path": str(self.work / f"{self.name}.{file}")}))
        out.unlink(missing_ok=True)
        command = [*self.mpiexec, "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*command, self.program, job_file, out], capture_output=True, text=True, env=ENV if ranks > 1 else ALONE_ENV, timeout=120)
        return done.returncode, done.stdout + done.stderr, json.loads(out.read_text()) if done.returncode == 0 else []


def check(right, text):
    if not right:
        problems.append(text)
        print("WRONG:", text)


def run_kernels(backend, ranks):
    lost = set()  # files that could not be made
    done = 0
    for kernel, job, file in STEPS:
        job = dict(job)
        writes_first = kernel in ("create", "write", "step_arrays", "same_values", "commits", "decomposed") or job.get("step") == "write"
        alone = backend.name in ALONE and file in ("samples", "definitions") and kernel == "create"  # others read what it makes
        of = 1 if job.get("step") == "write" or alone else ranks
        if kernel == "decomposed":
            job["decompositions"] = write_decompositions(backend.work)
        if kernel == "step_arrays":
            job["process_columns"] = ranks
        if kernel not in UNVERIFIED and job.get("step") != "write":
            job["verify"] = True
        if file in lost:
            continue
        reason = expected(backend.name, kernel, job, of)
        code, said, rows = backend.run(kernel, job, file, of)
        where = f"{backend.name}, {ranks} processes, {kernel} {job}"
        if reason:
            check(code == (3 if of == 1 else code) and code != 0 and reason in said, f"{where}: expected {reason!r}, found {code} {said[-300:]!r}")
            if writes_first:
                lost.add(file)
            continue
        if code != 0:
            check(False, f"{where}: exit code {code}: {said[-300:]}")
            continue
        done += 1
        check(len(rows) == of, f"{where}: {len(rows)} rows")
        wrong = results.contradiction({"ranks": rows, "job": job, "kernel": kernel, "command_seconds": max(row["wall"] for row in rows)})
        check(not wrong, f"{where}: {wrong}")
        for row in rows:
            check(row.get("verified") or not job.get("verify"), f"{where}: nothing was compared")
            phases = sum(phase["wall"] for phase in row["phases"])
            check(abs(phases - row["total"]) <= 1e-6, f"{where}: phases take {phases}, their sum {row['total']}")
            most = row["total"] + sum(phase["metering"] for phase in row["phases"])
            check(row["total"] - 1e-6 <= row["wall"] <= most + 1e-6, f"{where}: phases take {phases}, {most} with what is metered, all {row['wall']}")
            if kernel.startswith("thread"):
                check(row["of_ranks"]["threads"] == 3 and row["of_ranks"]["messages_most"] > 0, f"{where}: {row['of_ranks']}")
            if kernel == "list":
                check(row["counts"]["names"] == 40, f"{where}: {row['counts']}")
            if kernel == "read_metadata":
                check(row["counts"]["variables"] == 640 and row["counts"]["dimensions"] == 960, f"{where}: {row['counts']}")
    return done


def write_decompositions(folder):
    """Of 40 elements in three shares, and of 4 rows of 6: alternating elements, and runs that cross the end of a row."""
    shares = {"D1": ([40], [[(e, 1) for e in range(first, 40, 3)] for first in range(3)]),
              "D2": ([4, 6], [[(0, 4), (10, 5)], [(4, 6), (20, 4)], [(15, 5)]])}
    for name, (lengths, runs) in shares.items():
        numbers = [len(lengths), *lengths, len(runs), *map(len, runs), *(number for share in runs for run in share for number in run)]
        (folder / name).write_bytes(array.array("Q", numbers).tobytes())
    return [str(folder / name) for name in shares]


def check_e3sm(nmbench, work):
    """A file of E3SM-IO's form with three decompositions, whose shares are few elements each."""
    with netCDF4.Dataset(work / "map.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        for name, lengths, shares in (("D1", [6], [[(0, 3)], [(3, 3)]]), ("D2", [6], [[(0, 1), (2, 1), (4, 1)], [(1, 1), (3, 1), (5, 1)]]),
                                      ("D3", [2, 6], [[(0, 2), (8, 4)], [(2, 6)]])):
            runs = [run for share in shares for run in share]
            file.createDimension(f"{name}.total", len(runs))
            file.setncattr(f"{name}.dims", numpy.array(lengths, "i4"))
            for what, values, dim in (("nreqs", list(map(len, shares)), "shares"), ("offsets", [a for a, _ in runs], f"{name}.total"),
                                      ("lengths", [b for _, b in runs], f"{name}.total")):
                if dim not in file.dimensions:
                    file.createDimension(dim, len(values))
                file.createVariable(f"{name}.{what}", "i4", (dim,))[:] = values
    document = {"mpi": {"command": "mpirun", "ranks": "1"}, "directory": ".", "benchmarks": [
        {"benchmark": "e3sm", "file": "e.h5", "configuration": {"k": "", "r": "2", "map": "map.nc"}}]}
    (work / "e3sm.json").write_text(json.dumps(document))
    done = subprocess.run([nmbench, "e3sm.json", "--out", "e3sm", "--peers", "nmb", "--runs", "1", "--verify"], cwd=work, capture_output=True, text=True,
                          env=ENV, timeout=300)
    check(done.returncode == 0, f"e3sm: {done.returncode} {done.stdout} {done.stderr}")
    rows = json.loads((work / "e3sm" / "results.json").read_text())["rows"]
    # h0: 1, 323 and 63 arrays, one record; h1: 1, 22 and 1 arrays, two records.
    wanted = [8 * 6 + 4 * (323 * 6 + 63 * 12), 2 * (8 * 6 + 4 * (22 * 6 + 12))]
    check([row["ranks"][0]["bytes"] for row in rows] == wanted and all(row["ranks"][0]["verified"] for row in rows), f"e3sm: {rows}")
    for key, value, word in (("x", "blob", "x: "), ("k", "1", "--keep"), ("map", "none.nc", "none.nc")):
        settings = {**document["benchmarks"][0]["configuration"], key: value}
        (work / "e3sm.json").write_text(json.dumps({**document, "benchmarks": [{"benchmark": "e3sm", "file": "e.h5", "configuration": settings}]}))
        done = subprocess.run([nmbench, "e3sm.json", "--out", "e3sm"], cwd=work, capture_output=True, text=True, env=ENV, timeout=60)
        check(done.returncode == 2 and word in done.stderr, f"e3sm: {key}: {done.returncode} {done.stderr}")


def check_readme(nmbench, work):
    """A page is made; and of each page, the program knows all options that it is called with."""
    done = subprocess.run([nmbench, "run", "readme", "tag_queries", "--scale", "0.01", "--out", "pages"], cwd=work, capture_output=True, text=True, env=ENV,
                          timeout=300)
    check(done.returncode == 0 and "| " in (work / "pages" / "tag_queries.md").read_text(), f"run readme: {done.returncode} {done.stdout} {done.stderr}")
    done = subprocess.run([nmbench, "run", "readme", "digest", "--ranks", "4"], cwd=work, capture_output=True, text=True, env=ENV, timeout=60)
    check(done.returncode == 2 and "--ranks is not possible" in done.stderr, f"run readme: --ranks: {done.returncode} {done.stderr}")
    done = subprocess.run([nmbench, "run", "readme", "colours", "--out", "pages"], cwd=work, capture_output=True, text=True, env=ENV, timeout=60)
    check(done.returncode == 2 and "no page 'colours'" in done.stderr, f"run readme: no page: {done.returncode} {done.stderr}")
    paths = {"tests": Path(__file__).resolve().parent, "build": Path(), "work": Path(), "out": Path()}
    for page in readme.PAGES.values():
        command = page.command(paths, 0.1, 1)
        program = next((Path(word) for word in command if word.endswith(".py")), None)
        text = program.read_text() if program else ""
        for word in command if program else []:
            check(not word.startswith("--") or f'"{word}"' in text, f"run readme: {page.name}: {program} has no {word}")


def check_differences(backend):
    """Other values, names or lengths than those that were written are found by each kernel that reads."""
    path = backend.work / f"{backend.name}.damaged"

    def damaged(of, kernel, job, expected):
        old = of.read_bytes()
        place = 100 if of == path else len(old) - 1 if kernel != "read_metadata" else old.index(b"y_i_v")
        of.write_bytes(old[:place] + bytes([old[place] ^ 1]) + old[place + 1:])
        code, said, _ = backend.run(kernel, {**job, "verify": True}, "damaged", 1)
        check(code == 1 and f"what was read back differs: {expected}" in said, f"{kernel}: a changed byte was not found: {code} {said}")
        of.write_bytes(old)

    job = {"steps": 1, "lengths": [60]}
    backend.run("write", job, "damaged", 1)
    damaged(path, "read", job, "particles")
    code, said, _ = backend.run("read", {**job, "colour": 1}, "damaged", 1)
    check(code == 1 and "no parameter colour" in said, f"an unknown parameter was not found: {code} {said}")
    backend.run("small_arrays", {"step": "write", "bases": 1, "zones": 10}, "damaged", 1)
    damaged(path, "small_arrays", {"step": "read", "bases": 1, "zones": 10}, "Range")
    path.unlink()
    job = {"samples": 1}
    backend.run("create", {**job, "values": True}, "damaged", 1)
    for kernel, expected in (("epoch", "values of y_s_y"), ("read_metadata", "names, types or lengths")):
        damaged(next(path.iterdir()), kernel, job, expected)
    damaged(next(path.iterdir()), "open_one", {**job, "opens": 100}, "values of y_s_y")
    code, said, _ = backend.run("epoch", {"samples": 2, "verify": True}, "damaged", 1)
    check(code == 1, f"epoch: a missing sample was not found: {said}")


def check_conflict(backend):
    """Two processes that define the same name in different ways are found by all that share a file."""
    code, said, _ = backend.run("create", {"samples": 40, "conflict": True}, "conflict", 2)
    check(code != 0 and CONFLICTS[backend.name] in said, f"{backend.name}: a conflict was not found: {code} {said}")


def configuration(**changes):
    pattern = {"MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG", "TIMESTEPS": "2", "DELAYED_CLOSE_TIMESTEPS": "1", "NUM_DIMS": "1",
               "COLLECTIVE_DATA": "YES", "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 ms", "DIM_1": "1 K", "DIM_2": "1", "DIM_3": "1",
               "CSV_FILE": "out.csv", "MODE": "SYNC"}
    top = {"mpi": {"command": "mpirun", "ranks": "4", "configuration": "-n 1"}, "vol": {}, "file-system": {}, "directory": "data"}
    pattern.update({key: value for key, value in changes.items() if key.isupper()})
    top.update({key.replace("_", "-"): value for key, value in changes.items() if key.islower() and key not in ("benchmark", "entry")})
    names = changes.get("benchmark", ["write", "read"])
    top["benchmarks"] = [{"benchmark": name, "file": "test.h5", "configuration": pattern, **changes.get("entry", {})} for name in names]
    return top


def check_schema(document, schema):
    """results.json has all required properties, each of its type."""
    types = {"object": dict, "array": list, "number": (int, float), "integer": int, "boolean": bool, "string": str, "null": type(None)}

    def walk(value, rule, where):
        if "$ref" in rule:
            rule = schema["$defs"][rule["$ref"].rpartition("/")[2]]
        allowed = rule.get("type", [])
        allowed = [allowed] if isinstance(allowed, str) else allowed
        check(not allowed or any(isinstance(value, types[name]) for name in allowed), f"{where}: found {value!r}, expected {allowed}")
        check("const" not in rule or value == rule["const"], f"{where}: found {value!r}")
        check("enum" not in rule or value in rule["enum"], f"{where}: found {value!r}")
        if isinstance(value, dict):
            for key in rule.get("required", ()):
                check(key in value, f"{where}: no {key}")
            for key, inner in rule.get("properties", {}).items():
                if key in value:
                    walk(value[key], inner, f"{where}.{key}")
        if isinstance(value, list) and "items" in rule:
            for place, item in enumerate(value):
                walk(item, rule["items"], f"{where}[{place}]")

    walk(document, schema, "results.json")


def check_list(nmbench, backends):
    """Each back end is listed, and those that are not built are named."""
    done = subprocess.run([nmbench, "list"], capture_output=True, text=True, env=ENV)
    listed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("run "))
    check(set(backends) <= set(listed), f"nmbench list: {done.stdout}")
    for name, title in listed.items():
        check((name in backends) != title.endswith(": not built"), f"nmbench list: {name} {title}")
        if name not in backends:
            print(f"{name}: not built, not tested")


def runs(process):
    """Whether a process has not ended. One that nobody has waited for yet is still listed."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_interrupted(nmbench, work):
    """If nmbench is terminated, it ends its program."""
    (work / "i.json").write_text(json.dumps(configuration(benchmark=["write"], EMULATED_COMPUTE_TIME_PER_TIMESTEP="60 s")))
    started = subprocess.Popen([nmbench, "i.json", "--out", "interrupted", "--peers", "files"], cwd=work, env=ENV, stdout=subprocess.DEVNULL)
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    child = ""
    for _ in range(300):
        child = next((pid for pid in children.read_text().split() if Path(f"/proc/{pid}/cmdline").read_text().partition("\0")[0].endswith("nmbench-files")), "")
        if child:
            break
        time.sleep(0.1)
    started.terminate()
    code = started.wait(30)
    document = json.loads((work / "interrupted" / "results.json").read_text())
    check(document["rows"] == [] and document["schema"], "interrupted: results.json")
    check(code == 143 and child, f"interrupted: exit code {started.returncode}, child {child!r}")
    for _ in range(100):
        if not runs(child):
            return
        time.sleep(0.1)
    check(False, "interrupted: the program goes on")


def check_h5bench(nmbench, work):
    def run(document, *options):
        (work / "c.json").write_text(json.dumps(document))
        return subprocess.run([nmbench, "c.json", "--out", "out", "--peers", "nmb,files", "--runs", "2", *options], cwd=work,
                              capture_output=True, text=True, env=ENV, timeout=300)

    done = run(configuration(), "--verify")
    check(done.returncode == 0, f"h5bench: {done.returncode} {done.stdout} {done.stderr}")
    document = json.loads((work / "out" / "results.json").read_text())
    schema = Path(__file__).resolve().parents[2] / "tools" / "nmbench" / "launcher" / "results.schema.json"
    check_schema(document, json.loads(schema.read_text()))
    where = document["machine"]
    check("MPI" in where["mpi"] and where["build"].startswith("NMB ") and where["file_system"] and where["hints"]["HDF5_USE_FILE_LOCKING"] == "FALSE",
          f"results.json: machine {where}")
    check(len(document["rows"]) == 8, f"h5bench: {len(document['rows'])} rows")
    check(all(s["status"] == "ok" and s["verified"] for s in document["summaries"]), "h5bench: not all are right")
    check(all(row["ranks"][0]["bytes"] == 2 * 1024 * 32 for row in document["rows"]), "h5bench: bytes of particles")
    lines = (work / "out" / "nmb" / "1-write" / "out.csv").read_text().splitlines()
    names = [line.split(", ")[0] for line in lines]
    check(names == ["metric", "operation", "ranks", "collective data", "collective meta", "subfiling", "total compute time",
                    "total size", "raw time", "raw rate", "metadata time", "observed rate", "observed time"], f"h5bench's CSV: {names}")
    check("total size, 64.000, KB" in lines, f"h5bench's CSV: {lines}")
    with open(work / "out" / "summary.csv") as file:
        check(len(list(csv.DictReader(file))) == 4, "summary.csv: not 4 rows")
    check("too few runs" in (work / "out" / "index.html").read_text(), "index.html: says nothing of two runs")
    charts = list((work / "out" / "charts").glob("*.svg"))
    check(len(charts) == 2, f"{len(charts)} charts")
    for chart in charts:
        xml.dom.minidom.parse(str(chart))
    check(not list((work / "data").iterdir()) and not (work / "out" / "rows.jsonl").exists(), "files are left")
    done = run(configuration(), "--ranks", "1,2", "--runs", "1", "--peers", "nmb")
    check(done.returncode == 0, f"two numbers of ranks: {done.returncode} {done.stderr}")
    for ranks in (1, 2):
        lines = (work / "out" / "nmb" / "1-write" / f"{ranks}-ranks" / "out.csv").read_text().splitlines()
        check(f"ranks, {ranks}, " in lines, f"two numbers of ranks: {lines}")
    done = run(configuration(benchmark=["write_normal_dist"], DIM_1="50000", STDEV_DIM_1="2000", mpi={"configuration": "-n 2"}), "--verify")
    check(done.returncode == 0, f"write_normal_dist: {done.returncode} {done.stdout} {done.stderr}")
    lines = (work / "out" / "nmb" / "1-write_normal_dist" / "out.csv").read_text().splitlines()
    check("operation, write_var_normal_dist, " in lines and lines[3].startswith("Total number of particles, "), f"h5bench's CSV: {lines}")
    lengths = {row["ranks"][0]["bytes"] for row in json.loads((work / "out" / "results.json").read_text())["rows"]}
    check(len(lengths) == 1 and lengths != {2 * 50000 * 32}, f"write_normal_dist: bytes of the first process: {lengths}")
    done = run(configuration(benchmark=["read"], DIM_1="4000", READ_OPTION="PARTIAL", TO_READ_NUM_PARTICLES="1500"), "--verify", "--scale", "0.5")
    rows = json.loads((work / "out" / "results.json").read_text())["rows"]
    check([row["ranks"][0]["bytes"] for row in rows] == [2 * 1000 * 32] * 4, f"read of a part: {done.stdout} {done.stderr}")
    refusals = [
        ({"MODE": "ASYNC"}, "MODE ASYNC"), ({"benchmark": ["amrex"]}, "benchmark amrex"), ({"benchmark": ["exerciser"]}, "benchmark exerciser"),
        ({"file_system": {"lustre": {}}}, "file-system"), ({"SUBFILING": "YES"}, "SUBFILING"), ({"NUM_DIMS": "4"}, "NUM_DIMS"),
        ({"DIM_1": "none"}, "DIM_1"), ({"COLLECTIVE_DATA": "maybe"}, "COLLECTIVE_DATA"), ({"READ_OPTION": "ALL"}, "READ_OPTION"),
        ({"EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 year"}, "EMULATED_COMPUTE_TIME"), ({"colour": "red"}, "colour"),
        ({"vol": {"connector": "async under_vol=0;under_info={}"}}, "vol"), ({"mpi": {"ranks": "1", "nodes": "2"}}, "mpi: nmbench has no key nodes"),
        ({"entry": {"directory": "elsewhere"}}, "no key directory"), ({"CHUNK_DIM_1": "16"}, "CHUNK_DIM_1"),
    ]
    for changes, word in refusals:
        done = run(configuration(**changes))
        check(done.returncode == 2 and word in done.stderr, f"{changes}: expected exit code 2 and {word}, found {done.returncode} {done.stderr}")


def fake_row(seconds, variant="nmb", disturbed=False, kernel="write", size=100, **phases):
    """A run's row, as far as summaries need it. phases: seconds of other phases than `data`."""
    counts = dict.fromkeys(("cpu", "peak_rss", "heap", "reads", "read_bytes", "writes", "written_bytes", "messages", "collectives", "sent_bytes", "metering"), 0)
    counts |= {"mpi_seconds": 0.0, "mpi_file_seconds": 0.0}
    walls = {"data": seconds, **phases}
    rank = {"library": "", "total": sum(walls.values()), "wall": sum(walls.values()), "numbers": {}, "bytes": size,
            "phases": [{"name": name, "wall": wall, **counts} for name, wall in walls.items()]}
    return {"case": "c", "title": "", "step": "s", "kernel": kernel, "variant": variant, "variant_title": "", "backend": variant, "processes": 1,
            "status": "ok", "reason": "", "disturbed": disturbed, "job": {}, "file_bytes": size, "ranks": [rank]}


def check_summaries():
    """Comparisons of two ways by their runs."""
    own = [fake_row(seconds) for seconds in (1.0, 1.1, 1.2)]
    for others, disturbed, doubt in (((2.0, 2.1, 2.2), 0, ""), ((0.9, 1.15, 1.3), 0, "≈"), ((2.0, 2.1), 0, "too few runs"),
                                     ((2.0, 2.1, 2.2), 1, "too few runs")):
        rows = [fake_row(seconds, "files", disturbed=n < disturbed) for n, seconds in enumerate(others)]
        for first, second in ((own, rows), ([{**row, "variant": "nmb"} for row in rows], [{**row, "variant": "files"} for row in own])):
            said = results.doubt(results.summaries(first + second)[1])
            check(said == doubt, f"{others}, {disturbed} disturbed: found {said!r}, expected {doubt!r}")


def check_sets():
    """Parallel HDF5 waits for the device in each commit: it is beside those that do."""
    options = argparse.Namespace(peers=list(BACKENDS), scale=1.0, verify=False, ranks=[2], romio="")
    ways = [(v.name, v.env.get("OMPI_MCA_io")) for v in sets.array_variants(argparse.Namespace(peers=list(BACKENDS), romio="romio"), "pnetcdf", "files")]
    check(ways == [("pnetcdf", "ompio"), ("pnetcdf-romio", "romio"), ("files", None)], f"implementations of MPI-IO: {ways}")
    waits = [v.name for case in sets.commits(options) for v in case.variants if v.job.get("sync")]
    others = [v.name for case in sets.commits(options) for v in case.variants if not v.job.get("sync")]
    check("hdf5-parallel-sync" in waits and "hdf5-parallel" not in others, f"commits: {waits} wait, {others} do not")


def check_median_run():
    """h5bench's CSV is of the median of the quiet runs."""
    rows = [fake_row(seconds, disturbed=seconds > 5) for seconds in (3.0, 1.0, 2.0, 9.0)] + [{**fake_row(7.0), "status": "failed"}]
    check(results.slowest(results.median_run(rows)) == 2.0 and results.median_run([]) is None, "median run")


def check_disturbance():
    """The CPU time of the ranks does not count as that of others, also if the launcher did not start them (srun)."""
    def of(busy, children, *ranks):
        before, after = {"wall": 0.0, "own": 0.0, "busy": 0.0, "stolen": 0.0}, {"wall": 10.0, "own": children, "busy": busy, "stolen": 0.0}
        return disturbance(before, after, [{"host": host, "cpu_seconds": seconds} for host, seconds in ranks], "here")

    for found, disturbed, others in ((of(20.0, 0.1, ("here", 9.9), ("here", 9.9), ("there", 9.9)), False, 0.02), (of(20.0, 19.9, ("here", 9.0), ("here", 9.0)), False, 0.01),
                                     (of(20.0, 0.1, ("here", 9.9), ("there", 9.9)), True, 1.01), (of(20.0, 0.1, ("there", 9.9)), None, None)):
        check((found["disturbed"], found["others_cores"]) == (disturbed, others), f"disturbed: found {found}, expected {disturbed}, {others}")


def check_times():
    """Which phases a time and a rate are of."""
    check(results.slowest(fake_row(1.0, compute=5.0, close=0.5)) == 1.5, "the time has emulated computation in it")
    own = fake_row(1.0, kernel="create", create=1.0, end_define=1.0, close=1.0)
    own["ranks"][0]["numbers"] = {"writer_check": 0.5, "writer_metadata": 0.5, "writer_index": 0.4}
    check(results.contradiction({**own, "command_seconds": 4.5}) == "", f"parts: {results.parts(own)}")
    check("the command took 3 s" in results.contradiction({**own, "command_seconds": 3.0}), "a command that is shorter than its work")
    rank = own["ranks"][0]
    short = {**own, "command_seconds": 4.5, "ranks": [{**rank, "wall": 4.2}]}
    check("worked 4.2 s, its phases take 4 s" in results.contradiction(short), "a wall that is longer than its phases")
    rank["numbers"]["writer_check"] = 3.0
    check("the parts of the slowest process take 6 s" in results.contradiction({**own, "command_seconds": 4.5}), f"parts: {results.parts(own)}")
    for kernel, seconds in (("write", 2.0), ("read", 1.0), ("epoch", None)):
        raw = results.summaries([fake_row(1.0, kernel=kernel, metadata=9.0, compute=9.0, release=0.25, commit=0.25, close=0.5)])[0]["raw"]
        check(raw == seconds, f"raw time of {kernel}: found {raw}, expected {seconds}")


def check_fakes(nmbench, program, work):
    """A run fails if its program does wrong. A script around the true program does so here."""
    fakes = work / "fakes"
    fakes.mkdir()
    fake = fakes / "nmbench-files"
    (work / "f.json").write_text(json.dumps(configuration(benchmark=["write"])))

    def run(script, *options):
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        done = subprocess.run([nmbench, "f.json", "--out", "faked", "--peers", "files", "--runs", "1", "--programs", fakes, *options], cwd=work,
                              capture_output=True, text=True, env=ENV, timeout=60)
        return done, json.loads((work / "faked" / "results.json").read_text())["rows"][0]

    done, row = run(f'{program} "$1" "$2"; echo disk full >&2; truncate -s 1000 data/f.files.*')
    check(done.returncode == 1 and "65,536 bytes were put, but the file has 1,000" in row["reason"] and row["output"] == "disk full",
          f"lost bytes: {done.returncode} {row['reason']} {done.stderr}")
    done, row = run("trap 'echo >ended; exit 0' TERM; sleep 30 & wait", "--timeout", "0.5")
    check("not finished after 0.5 s" in row["reason"] and (work / "ended").exists(), f"timeout: {row['reason']} {done.stderr}")


def check_launches(nmbench, work):
    """Programs that are started in another way than they should are found."""
    def run(*options):
        return subprocess.run([nmbench, "run", "same-values", "--out", "launched", "--peers", "files", "--scale", "0.01", "--runs", "1", *options],
                              cwd=work, capture_output=True, text=True, env=ENV, timeout=300)

    for value in ("0", "-1", "nan", "inf", "much"):
        done = run("--scale", value)
        check(done.returncode == 2 and "--scale" in done.stderr, f"--scale {value}: expected exit code 2, found {done.returncode} {done.stderr}")
    done = run("--ranks", "2", "--launcher", "env X={ranks}")
    check(done.returncode == 1 and "processes of the MPI job: 1, expected 2" in done.stdout, f"one process instead of two: {done.returncode} {done.stdout} {done.stderr}")


def check_merges(programs, work):
    """Merges and recoveries by one stream and by two: the same bytes, and none is faster than a limited rate allows."""
    options = argparse.Namespace(peers=["nmb", "files", "netcdf4"], scale=0.02, runs=1)
    cases = {case.name: case for case in merging.merge(options) + merging.recovery(options)}
    scratch = work / "merge-job"
    scratch.mkdir()
    for name in ("copy-pack-nmb", "compress-union-nmb", "compress-tiles-nmb", "coded-join-nmb", "coded-tiles-cdf5", "small-join-cdf5",
                 "limited-join-cdf5", "limited-pack-nmb"):
        rows = []
        merging.run_case(cases.pop(f"merge-{name}"), programs, work, scratch, options, lambda *_: None, rows)
        for row in rows:
            check(row["status"] == "ok", f"merge {name}, {row['variant']}: {row['reason']}")
        ours = [row for row in rows if row["backend"] == "nmb" and row["ranks"]]
        check([row["ranks"][0].get("verified") for row in ours] == [True] * 3, f"merge {name}: not all were compared: {rows}")
        for row in ours if name.startswith("limited") else []:
            least = 2 * row["file_bytes"] / merging.RATE / (1 if row["variant"] == "nmb" else 2)
            check(row["ranks"][0]["total"] > 0.8 * least, f"merge {name}, {row['variant']}: {row['ranks'][0]['total']} s, expected {least}")
    for damage in ("cut", "damaged"):
        rows = []
        merging.run_case(cases[f"recovery-copy-{damage}"], programs, work, scratch, options, lambda *_: None, rows)
        check(len(rows) == 3 and all(row["status"] == "ok" for row in rows), f"recovery: {rows}")
    check(not list(work.glob("*.out")) and not (work / "inputs").exists(), "merges: files are left")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default="mpiexec")
    o = parser.parse_args()
    build = o.build.resolve()
    programs = next(iter(sorted(build.glob("lib*/**/nmbench-files"))), None)
    if not programs:
        print("skipped: nmbench is not built")
        return 77
    ENV.setdefault("NMB_PLUGIN_PATH", str(programs.parent.parent))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        backends = {program.name.removeprefix("nmbench-"): program for program in sorted(programs.parent.glob("nmbench-*"))}
        check_list(build / "bin" / "nmbench", backends)
        for name, program in backends.items():
            done = run_kernels(Backend(program, name, work, o.mpiexec.split()), o.ranks)
            print(f"{name}: {done} kernels by {o.ranks} processes", flush=True)
            if o.ranks == 2 and name in CONFLICTS:
                check_conflict(Backend(program, name, work, o.mpiexec.split()))
        if o.ranks == 1:
            check_differences(Backend(backends["files"], "files", work, []))
            check_interrupted(build / "bin" / "nmbench", work)
            check_summaries()
            check_times()
            check_disturbance()
            check_median_run()
            check_sets()
            if list((build / "lib").rglob("nmb-mpi-*.so")):
                check_merges(Programs(programs.parent, "", 120), work)
            check_fakes(build / "bin" / "nmbench", backends["files"], work)
            check_launches(build / "bin" / "nmbench", work)
            check_h5bench(build / "bin" / "nmbench", work)
            check_e3sm(build / "bin" / "nmbench", work)
            check_readme(build / "bin" / "nmbench", work)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
