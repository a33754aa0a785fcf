"""nmbench: runs the same work with NMB, PnetCDF, netCDF-C, HDF5, LMDB and plain files, and compares them.

    nmbench CONFIG.json          the benchmarks of a configuration of h5bench, with every back end
    nmbench run NAME             a built-in set: paper, shared, objects, cgns, same-values, arrays, commits, threads, merge,
                                 recovery, all
    nmbench run readme [PAGE...] the pages of benchmarks/ in the clone of NMB, from which its README has its figures
    nmbench list                 the back ends that are built, and the sets

Each kernel is one source, linked with each library. Runs of the back ends alternate; each run is a new process (or MPI job) with
a new file; a time is that of the slowest process; a figure is the median of the runs that nothing disturbed. FOLDER gets
index.html (charts and tables), results.json (all rows of all processes; until it is written, rows.jsonl), summary.csv, and for
h5bench its own CSV files, of the median run.

Exit codes: 0; 1: a run failed or read back other values than it wrote; 2: the configuration or the arguments ask for something
that nmbench cannot do. A back end that is not built, or has no way to do a kernel, is in the tables with its reason.

On a cluster:
    salloc -N 16 -n 1000 nmbench run paper --ranks 1000 --directory $SCRATCH/nmbench --out paper
In a job of Slurm, programs are started by `srun -n RANKS`; --launcher changes this. The folder of --directory must be on the
file system that is to be measured, and --ranks at most the processes of the job. Every back end must be built with the MPI of
the cluster (cmake -DNMBENCH_MPI=openmpi|mpich).

What to distrust:
  - times on a shared or virtual machine: look at `disturbed` and at the spread; nmbench sees only its own node;
  - more processes than cores: they wait for each other, and back ends that wait busily take the cores of the others;
  - MPI-IO: where arrays are written, PnetCDF, parallel netCDF-4 and parallel HDF5 run with both OMPIO and ROMIO of Open MPI; --hint
    sets hints of all of them;
  - reads: they follow writes and come from memory, so all reads are warm;
  - a close without waiting for the device: no back end waits, but for the commits of those whose title says so;
  - `communication` of other libraries: calls of MPI seen from outside, without what MPI-IO sends inside itself;
  - `check and layout` of PnetCDF: all of end-define but MPI, because it does not say what its check takes. At the application
    level, where each process defines everything, names are compared while they are defined (`create`);
  - PnetCDF's times for very many objects: they depend on the size of its tables of names (nmbench sets the paper's sizes).
    Releases before 1.13 have no such setting and are refused; --pnetcdf names a later libpnetcdf.so.
"""

import argparse
import json
import math
import shlex
import shutil
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import charts  # noqa: E402
import h5bench  # noqa: E402
import merging  # noqa: E402
import readme  # noqa: E402
import results  # noqa: E402
import sets  # noqa: E402
from cases import variants_in_turn  # noqa: E402
from programs import BACKENDS, Programs, bytes_of, remove  # noqa: E402


def fail(text):
    print(f"nmbench: {text}", file=sys.stderr)
    sys.exit(2)


def factor(text, none=False):
    value = float(text)
    if not math.isfinite(value) or value < 0 or (value == 0 and not none):
        raise argparse.ArgumentTypeError(f"found {text}, expected a number {'of at least' if none else 'greater than'} 0")
    return value


def library(text):
    path = Path(text).resolve()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{path}: there is no such library")
    return str(path)


def labelled(text):
    label, _, path = text.rpartition("=")
    path = library(path)
    return label or Path(path).parent.parent.name, path


def hint(text):
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected KEY=VALUE")
    return key, value


def positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of at least 1")
    return int(text)


def numbers(text):
    return [positive(word) for word in text.split(",")]


def words(allowed):
    def parse(text):
        for name in text.split(","):
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"there is no {name!r}; there are {', '.join(allowed)}")
        return text.split(",")
    return parse


def parse(arguments, programs_folder):
    parser = argparse.ArgumentParser(prog="nmbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("what", nargs="+", metavar="CONFIG.json | run NAME | list")
    parser.add_argument("--out", type=Path, default=Path("nmbench-out"), metavar="FOLDER", help="default: nmbench-out")
    parser.add_argument("--directory", type=Path, help="where data files are written; default: `directory` of a configuration, "
                                                       "else FOLDER/files")
    parser.add_argument("--peers", type=words(list(BACKENDS)), default=list(BACKENDS), metavar="NAME,...",
                        help="back ends; default: " + ",".join(BACKENDS))
    parser.add_argument("--pnetcdf", type=library, metavar="PATH", help="the libpnetcdf.so to use; default: the one that was found")
    parser.add_argument("--hint", type=hint, action="append", default=[], dest="hints", metavar="KEY=VALUE",
                        help="a hint of MPI-IO for PnetCDF, parallel netCDF-4 and parallel HDF5, e.g. cb_nodes=8")
    parser.add_argument("--library-level", type=labelled, action="append", default=[], dest="library_levels", metavar="[LABEL=]PATH",
                        help="a libpnetcdf.so in which each process defines its own objects (run paper)")
    parser.add_argument("--ranks", type=numbers, default=None, metavar="N,...",
                        help="numbers of processes; default: 1,2,4,8 (run threads: 4 to 16384), or those of a configuration")
    parser.add_argument("--runs", type=positive, default=None, help="of each; default 5 (run readme: what each page says)")
    parser.add_argument("--scale", type=factor, default=1.0, help="for a trial: the part of the usual number of objects or lengths")
    parser.add_argument("--sets", type=words(list(sets.SAMPLES)), default=["98M"], metavar="98M,1G", help="of run paper; default 98M")
    parser.add_argument("--with-hdf5", action="store_true", help="run paper with parallel HDF5 too, which takes minutes")
    parser.add_argument("--compute-scale", type=lambda text: factor(text, none=True), default=1.0, help="factor of h5bench's emulated computation; 0: none")
    parser.add_argument("--verify", action="store_true", help="read back what was written, outside of the measured time")
    parser.add_argument("--launcher", default="", metavar="COMMAND", help="starts programs, e.g. 'srun -n {ranks}'")
    parser.add_argument("--timeout", type=float, default=1800, metavar="SECONDS", help="of a run; default 1800")
    parser.add_argument("--keep", action="store_true", help="keep the data files of the last run")
    parser.add_argument("--programs", type=Path, default=programs_folder, help=argparse.SUPPRESS)
    o = parser.parse_args(arguments)
    if o.what[:2] == ["run", "readme"]:
        used = ("what", "out", "directory", "scale", "runs", "pnetcdf", "library_levels", "programs")
        others = [name for name, value in vars(o).items() if name not in used and value != parser.get_default(name)]
        if others:
            fail(f"run readme: --{others[0].replace('_', '-').replace('hints', 'hint')} is not possible: each page has its own settings")
    return o


def said_options(words):
    """The command line without folders, and with the names of libraries."""
    kept, words = [], list(words)
    while words:
        word = words.pop(0)
        name = word.partition("=")[0]
        if name in ("--out", "--directory"):
            words[:1] = [] if "=" not in word else words[:1]
        else:
            label, equals, path = word.rpartition("=")
            kept.append(label + equals + Path(path).name if "/" in word else word)
    return shlex.join(kept)


def options_of(o):
    return {key: str(value) if isinstance(value, Path) else value for key, value in vars(o).items()}


def lost_bytes(step, result, path):
    """Why the file cannot hold the values: some libraries print an error and go on, for example if the disk is full."""
    if step.kernel not in ("write", "overwrite", "append") or step.job.get("deflate"):
        return ""
    put, found = sum(rank["bytes"] for rank in result["ranks"]), bytes_of(path)
    return f"{put:,} bytes were put, but the file has {found:,}: {result['output'][-300:]}" if found < put else ""


def run_case(case, programs, folder, scratch, o, report, rows):
    """Adds the rows of all runs of a case."""
    names = {step.name: case.files.get(step.name, "file") for step in case.steps}
    missing = [variant for variant in case.variants if not programs.has(variant.backend)]
    present = [variant for variant in case.variants if variant not in missing]

    def job_of(step, variant):
        return {**step.job, **{key: value for key, value in variant.job.items() if key != "level" or step.kernel == "create"}}

    def row_of(step, variant, run, result, path):
        return {"case": case.name, "title": case.title, "step": step.name, "kernel": step.kernel, "variant": variant.name,
                "variant_title": variant.title, "backend": variant.backend, "processes": step.job.get("threads") or step.ranks or case.ranks, "run": run,
                "job": job_of(step, variant), "disturbed": False, "file_bytes": bytes_of(path) if path else 0, **result}

    for variant in missing:
        rows += [row_of(step, variant, 0, {"status": "missing", "reason": "not built: its library was not found", "ranks": []}, None)
                 for step in case.steps if step.measured]
    refused = set()  # variants whose first run said no: they are not asked again
    for run in range(o.runs):
        for variant in variants_in_turn(present, run):
            if variant.name in refused:
                continue
            paths = {file: folder / f"{case.name}.{variant.name}.{case.ranks}.{file}" for file in names.values()}
            stopped = ""
            for step in case.steps:
                if variant.only not in ("", step.name):
                    continue
                path = paths[names[step.name]]
                if step.kernel in ("create", "write", "step_arrays", "same_values", "commits", "decomposed", "thread_create") or step.job.get("step") == "write":
                    remove(path)
                if stopped:
                    result = {"status": "refused", "reason": f"{stopped} was not possible", "ranks": []}
                else:
                    job = {**job_of(step, variant), "kernel": step.kernel, "path": str(path)}
                    result = programs.run(variant.backend, step.ranks or case.ranks, job, scratch, variant.env)
                # Only what makes the file decides about the steps after it.
                makes = step.kernel in ("create", "write", "small_arrays") and (step is case.steps[0] or not step.measured)
                if result["status"] != "ok" and makes:
                    stopped = step.name
                    if result["status"] == "refused":
                        refused.add(variant.name)
                wrong = result["status"] == "ok" and (lost_bytes(step, result, path) or results.contradiction({**result, "job": job, "kernel": step.kernel}))
                if wrong:
                    result.update(status="failed", reason=wrong)
                if step.measured or result["status"] == "failed":
                    rows.append(row_of(step, variant, run, result, path))
                    report(rows[-1], step)
            if not o.keep or run + 1 < o.runs:
                for path in paths.values():
                    remove(path)


def write_h5bench(folder, case, rows, by_ranks):
    """h5bench's CSV file of each step that has one, of the median run of each variant. by_ranks: each number of ranks has its folder."""
    for step in case.steps:
        for variant in case.variants if step.csv else ():
            row = results.median_run([row for row in rows if (row["step"], row["variant"], row["processes"]) == (step.name, variant.name, case.ranks)])
            if row:
                into = folder / variant.name / step.name / (f"{case.ranks}-ranks" if by_ranks else "")
                into.mkdir(parents=True, exist_ok=True)
                results.h5bench_csv(into / Path(step.csv).name, step, row)


def run_readme(o, source, tree):
    if not source:
        fail("run readme: an installed nmbench has no programs of tests/bench: start bin/nmbench of a build with -DNMB_BUILD_BENCHMARKS=ON")
    unknown = [name for name in o.what[2:] if name not in readme.PAGES]
    if unknown:
        fail(f"run readme: there is no page {unknown[0]!r}; there are {', '.join(readme.PAGES)}")
    work = (o.directory or o.out / "files").resolve()
    for folder in (o.out, work):
        folder.mkdir(parents=True, exist_ok=True)
    libraries = ["--pnetcdf", o.pnetcdf] if o.pnetcdf else []
    for label, path in o.library_levels:
        libraries += ["--library-level", f"{label}={path}"]
    return readme.run(o.what[2:], Path(source), Path(tree), work, o.out.resolve(), o.scale, o.runs, libraries)


def main(arguments=None, programs_folder=None, build="", source="", tree=""):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    o = parse(arguments, programs_folder)
    if o.what[:2] == ["run", "readme"]:
        return run_readme(o, source, tree)
    o.runs = o.runs or 5
    if o.programs is None or not Path(o.programs).is_dir():
        fail("found no folder with the programs of the back ends")
    programs = Programs(o.programs, o.launcher, o.timeout, o.pnetcdf, o.hints)
    o.romio = programs.romio()
    known = {**sets.SETS, **merging.SETS, "all": sets.all_sets}
    if o.what == ["list"]:
        for name, title in BACKENDS.items():
            print(f"{name:14} {title}{'' if programs.has(name) else ': not built'}")
        for name, function in known.items():
            print(f"run {name:10} {function.__doc__.splitlines()[0]}")
        print(f"run readme     The pages {', '.join(readme.PAGES)}.")
        return 0
    directory = o.directory
    if o.what[0] == "run":
        if len(o.what) != 2 or o.what[1] not in known:
            fail(f"found {' '.join(o.what)!r}, expected run and one of {', '.join(known)}")
        o.ranks = o.ranks or ([4, 16, 64, 256, 1024, 4096, 16384] if o.what[1] == "threads" else [1, 2, 4, 8])
        cases = known[o.what[1]](o)
    else:
        if len(o.what) != 1:
            fail(f"found {' '.join(o.what)!r}, expected one configuration, `run NAME` or `list`")
        variants = sets.array_variants(o, *(name for name in BACKENDS if name != "prototype"))
        try:
            o.out.mkdir(parents=True, exist_ok=True)
            case, place, launcher, more = h5bench.read(o.what[0], variants, o.out.resolve(), programs.tool("nminspect"), o.compute_scale, o.scale)
        except h5bench.Refused as refused:
            fail(str(refused))
        directory = directory or Path(place)
        if not o.launcher and launcher:
            programs.launcher = f"{launcher} {' '.join(more)} -n {{ranks}}"
        elif not o.launcher:
            programs.launcher = programs.launcher.replace("-n {ranks}", " ".join([*more, "-n {ranks}"]))
        cases = []
        for ranks in o.ranks or [case.ranks]:
            cases.append(type(case)(case.name, case.title, ranks, case.steps, case.variants, case.files))
        if o.verify:
            for step in case.steps:
                step.job["verify"] = True
    directory = (directory or o.out / "files").resolve()
    for folder in (o.out, directory):
        folder.mkdir(parents=True, exist_ok=True)
    scratch = (directory / "nmbench-job")
    scratch.mkdir(exist_ok=True)  # all nodes must see it

    if not any(case.variants for case in cases):
        fail("none of --peers can do this")
    def report(row, step):
        said = f"{results.slowest(row):10.4f} s" if row["status"] == "ok" else f"{row['status']}: {row['reason']}"
        disturbed = {True: " (disturbed)", None: " (not known whether disturbed)"}.get(row["disturbed"], "") if row["status"] == "ok" else ""
        print(f"{row['case']} {row['step']}, {row['processes']} ranks, {row['variant']}, run {row['run'] + 1}: {said}{disturbed}",
              flush=True)
        lines.write(json.dumps(row) + "\n")
        lines.flush()

    rows, found = [], []
    where = {**results.machine(directory, programs.env), "build": build}
    kept = o.out / "rows.jsonl"  # if not even the end of this program can write results.json
    try:
        with open(kept, "w") as lines:
            for case in cases:
                run = merging.run_case if isinstance(case, merging.ToolCase) else run_case
                run(case, programs, directory, scratch, o, report, rows)
    finally:
        found = results.summaries(rows)
        where["mpi"] = results.mpi_of(rows)
        results.write_json(o.out / "results.json", rows, found, options_of(o), where)
        kept.unlink()
    for case in cases:
        write_h5bench(o.out, case, rows, by_ranks=len({case.ranks for case in cases}) > 1)
    results.write_csv(o.out / "summary.csv", found)
    charts.write_page(o.out, cases, found, f"nmbench {said_options(arguments or sys.argv[1:])}", where)
    shutil.rmtree(scratch)
    print(f"nmbench: {o.out / 'index.html'}")
    return 1 if any(row["status"] == "failed" for row in rows) else 0
