#!/usr/bin/env python3
"""Compares xarray with the engine nmb with what people use for the same data. Prints the results and ends with 1 if a goal is
not reached or a value is wrong.

    PYTHON tests/bench/xarray_jobs.py all --tools build/bench/tools --work FOLDER --page benchmarks/xarray_jobs.md

PYTHON is that of an environment with nmb, xarray, dask and distributed, as tests/python/environments.py makes it. The inputs
are made once, in FOLDER/xarray_jobs, and stay there.

days: daily compressed netCDF-4 files, each with a grid of 90 x 180 and two variables. nmcat joins them, xarray opens the
result, and computes the series of one grid point and the difference of a month's mean and the mean of all days. Beside
open_mfdataset(parallel=True) of the files, with the engine and the scheduler of dask that are the fastest for 300 files,
or with those that --peer names. Goals: opening takes at most 0.02 of the time, all steps with nmcat at most 0.3. The values
are equal. Then the files are packed, and one of them is written again; its bytes are the same.
groups: open_dataset(group=) of one of the blocks of an NMB file, with 16 variables each, beside the engine netcdf4 and a
netCDF-4 file with a tenth of the groups, because opening one with all of them does not end. Goal: at most 0.05 of the time.
stack: nmb.xarray.stack() of all these blocks and four variables. Goal: it returns within 2 seconds, without values.

--days and --blocks choose other sizes, --rounds the number of measurements, of which the medians are compared. The sides take
turns. Each measurement is a new process; what it imports, and the start of workers of dask, are not counted. --page FILE
keeps the results; jobs that are not measured keep theirs.
"""

import argparse
import filecmp
import itertools
import json
import multiprocessing
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy

sys.dont_write_bytecode = True
import xarray_inputs  # noqa: E402
from measure import machine_in_words  # noqa: E402

JOBS = ("days", "groups", "stack")
GOALS = {"opening": 0.02, "whole": 0.3, "groups": 0.05, "stack": 1}
STACK_SECONDS = 2
ENGINES, SCHEDULERS = ("netcdf4", "h5netcdf"), ("synchronous", "threads", "processes", "distributed")
POINT, MONTH, DAYS_IN_CHUNK, DAY = (40, 90), "1990-01", 100, 137
STACKED = ("x_u", "y_s_v", "n_sp", "y_i_y")
OPENED = 20  # groups that one process opens
TRIED = 300  # files


# --- what is measured, each in a process of its own ---


def steps(open_):
    """Opens a data set, reads one point's series, and computes a map. Returns seconds and values."""
    times = {}

    def timed(name, function):
        start = time.perf_counter()
        out = function()
        times[name] = time.perf_counter() - start
        return out

    ds = timed("open", open_)
    series = timed("series", lambda: ds.tas[:, *POINT].values)
    anomaly = timed("map", lambda: (ds.tas.sel(time=MONTH).mean("time", dtype="f8") - ds.tas.mean("time", dtype="f8")).values)
    return times, series, anomaly


def joined_steps(path):
    import dask.array  # noqa: F401
    import xarray as xr

    import nmb.xarray  # noqa: F401

    return steps(lambda: xr.open_dataset(path, engine="nmb", chunks={"time": DAYS_IN_CHUNK}))


def files_steps(paths, engine, scheduler):
    import dask.array
    import xarray as xr

    def open_():
        return xr.open_mfdataset(
            paths, engine=engine, parallel=True, combine="nested", concat_dim="time", data_vars="minimal", coords="minimal",
            compat="override", join="override")

    # So that files stay open: each would be opened again for each step.
    xr.set_options(file_cache_maxsize=len(paths) + 10)
    if scheduler == "distributed":
        import distributed

        # A thread each, because the netCDF library can be used by one at a time only.
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                client.run(xr.set_options, file_cache_maxsize=len(paths) + 10)
                return steps(open_)
    with dask.config.set(scheduler=scheduler):
        return steps(open_)


def group_times(path, engine, names):
    """Seconds of open_dataset() of each group, and the values of the last one."""
    import xarray as xr

    times = []
    for name in names:
        start = time.perf_counter()
        ds = xr.open_dataset(path, group=name, engine=engine)
        times.append(time.perf_counter() - start)
    return times, ds.load()


def stack_time(path, variables):
    import nmb.xarray

    start = time.perf_counter()
    ds = nmb.xarray.stack(path, variables)
    seconds = time.perf_counter() - start
    assert not any(ds[name].variable._in_memory for name in variables), "stack() read values"
    return seconds


def stack_values(path, variables, folder, count):
    """Whether the values of some blocks are those of their files."""
    import netCDF4

    import nmb.xarray

    ds = nmb.xarray.stack(path, variables)
    names = ds.block.values.tolist()
    offsets = {name: ds[f"{ds[name].dims[0]}_offset"].values for name in variables if ds[name].dims[0] != "block"}
    for number in numpy.random.default_rng(1).integers(0, len(names), count):
        with netCDF4.Dataset(folder / f"{names[number].partition('_')[2]}.nc") as file:
            for name in variables:
                rows = slice(*offsets[name][number : number + 2]) if name in offsets else number
                if not numpy.array_equal(ds[name][rows].values, file[name][...]):
                    return False
    return True


def _call(pipe, function, arguments):
    warnings.simplefilter("ignore")
    pipe.send(function(*arguments))


def apart(function, *arguments, seconds=3600):
    """Calls a function in a new interpreter. None if that crashed or took longer."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(there, function, arguments))
    process.start()
    there.close()
    out = None
    try:
        if here.poll(seconds):
            out = here.recv()
    except EOFError:
        pass
    else:
        if out is None:
            process.kill()
    process.join()
    return out


class Jobs:
    def __init__(self, arguments):
        self.tools, self.work = arguments.tools.resolve(), arguments.work.resolve() / "xarray_jobs"
        self.work.mkdir(parents=True, exist_ok=True)
        self.count_days, self.count_blocks, self.rounds = arguments.days, arguments.blocks, arguments.rounds
        self.peer, self.rows, self.trials, self.problems = arguments.peer, [], {}, []

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)

    def add(self, goal, job, ours, peer, seconds, **more):
        ratio = ours / seconds
        most = GOALS[goal]
        self.rows.append({"job": job, "ours": ours, "peer": peer, "seconds": seconds, "ratio": ratio, "goal": most, **more})
        self.check(ratio <= most, f"{job}: {ours:.4g} s beside {seconds:.4g} s of {peer}: {ratio:.4f}, the goal is {most}")

    def tool(self, name, *words, paths=None):
        """Seconds of one of our tools, which does not wait for the device. paths: inputs of nmcat."""
        listed = ("--files-from", "-") if paths else ()
        start = time.perf_counter()
        subprocess.run([self.tools / name, "-q", "--no-sync", *words, *listed], check=True, cwd=self.work, text=True,
                       input="".join(f"{path}\n" for path in paths or ()))  # fmt: skip
        return time.perf_counter() - start

    def turns(self, ours, peer):
        """Results of both sides, in turns whose order alternates."""
        results = [], []
        for number in range(self.rounds):
            for which in (0, 1) if number % 2 else (1, 0):
                results[which].append((ours, peer)[which]())
        return results

    # --- days ---

    def fastest(self, paths):
        """Tries engines and schedulers for some files."""
        best, expected = "", None
        for engine, scheduler in itertools.product(ENGINES, SCHEDULERS):
            least = self.trials.get(best, 60)
            found = apart(files_steps, paths, engine, scheduler, seconds=20 + 3 * least)
            took = sum(found[0].values()) if found else None
            name = f"{engine}, {scheduler}"
            self.trials[name] = took
            if took is None:
                continue
            expected = found[1] if expected is None else expected
            self.check(numpy.array_equal(found[1], expected), f"{name}: other values than the first")
            if took < least or not best:
                best = name
        return best

    def days(self):
        paths = xarray_inputs.days(self.work / f"days_{self.count_days}", self.count_days)
        for path in paths:  # so that the cache of the system has them
            path.read_bytes()
        peer = self.peer or self.fastest(paths[:TRIED])
        engine, scheduler = peer.split(", ")

        def ours():
            seconds = self.tool("nmcat", "--mode", "join", "-o", "joined.nmb", "-f", paths=paths)
            times, series, anomaly = apart(joined_steps, self.work / "joined.nmb")
            return {"nmcat": seconds, **times}, series, anomaly

        found, others = self.turns(ours, lambda: apart(files_steps, paths, engine, scheduler))
        _, series, anomaly = others[0]
        self.check(series.shape == (len(paths),), "days: a series of another length")
        for times, one, two in found:
            self.check(numpy.array_equal(one, series), "days: another series")
            self.check(numpy.allclose(two, anomaly, rtol=0, atol=1e-10), "days: another map")
        one, other = ({key: statistics.median(times[key] for times, *_ in side) for key in side[0][0]} for side in (found, others))
        whole = [statistics.median(sum(times.values()) for times, *_ in side) for side in (found, others)]
        what, peer = f"{len(paths):,} daily files", f"open_mfdataset, {peer}"
        self.add("opening", f"{what}: opening", one["open"], peer, other["open"])
        self.add("whole", f"{what}: all steps, with nmcat", whole[0], peer, whole[1], steps=one, peers=other)
        packed = self.tool("nmcat", "-o", "packed.nmb", "-f", paths=paths)
        day = paths[min(DAY, len(paths) - 1)]
        original = self.tool("nmconvert", "--original", day.stem, "packed.nmb", "-o", day.name, "-f")
        self.check(filecmp.cmp(day, self.work / day.name, shallow=False), f"days: {day.name} comes back with other bytes")
        self.rows[-1] |= {"packed": packed, "original": original}
        for name in ("joined.nmb", "packed.nmb", day.name):
            (self.work / name).unlink()

    # --- groups ---

    def samples(self):
        """The NMB file with all blocks."""
        paths = xarray_inputs.samples(self.work / "samples", self.count_blocks)
        packed = self.work / f"samples_{self.count_blocks}.nmb"
        if not packed.exists():
            self.tool("nmcat", "-o", packed, "--block-name", "{index}_{stem}", paths=paths)
        return packed

    def groups(self):
        count = max(2, self.count_blocks // 10)
        native = self.work / f"groups_{count}.nc"
        if not native.exists():
            unfinished = native.with_suffix(".part")
            xarray_inputs.write_groups(unfinished, count)
            unfinished.rename(native)
        names = [xarray_inputs.sample_name(int(n)) for n in numpy.random.default_rng(2).integers(0, count, OPENED)]
        packed = self.samples()
        found, others = self.turns(lambda: apart(group_times, packed, "nmb", names),
                                   lambda: apart(group_times, native, "netcdf4", names[-1:]))
        self.check(all(ds.identical(others[0][1]) for _, ds in found), "groups: other values")
        self.add("groups", f"one of {self.count_blocks:,} groups", statistics.median(sum((times for times, _ in found), [])),
                 f"netcdf4, one of {count:,} groups", statistics.median(times[0] for times, _ in others),
                 first=statistics.median(times[0] for times, _ in found))

    def stack(self):
        packed = self.samples()
        self.check(apart(stack_values, packed, STACKED, self.work / "samples", 200), "stack: other values")
        seconds = statistics.median(apart(stack_time, packed, STACKED) for _ in range(self.rounds))
        what = f"stack() of {self.count_blocks:,} blocks and {len(STACKED)} variables"
        self.add("stack", what, seconds, "the limit", STACK_SECONDS)


def table(titles, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (titles, *rows)]
    return [lines[0], "|---" * len(titles) + "|", *lines[1:]]


def short(seconds):
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"


def keep(page, rows, trials):
    """Adds the rows to those of the page, and writes it again."""
    path = page.with_suffix(".json")
    known = json.loads(path.read_text()) if path.exists() else {"rows": {}, "trials": {}}
    known["rows"] |= {row["job"]: row for row in rows}
    known["trials"] = trials or known["trials"]
    path.write_text(json.dumps(known, indent=1) + "\n")
    rows = known["rows"].values()
    lines = [
        "# xarray", "",
        "This page compares xarray with the engine `nmb` with what people use for the same data. `tests/bench/xarray_jobs.py` "
        f"measured all times and wrote this page on {machine_in_words()}; its help describes the jobs. Each time is the median of "
        "several runs that took turns, each in a new process. A goal is the largest ratio that the two times should have.", "",
        *table(("job", "ours", "beside", "ratio", "goal", "met"), (
            (row["job"], short(row["ours"]), f"{row['peer']}: {short(row['seconds'])}", f"{row['ratio']:.2g}", row["goal"],
             "yes" if row["ratio"] <= row["goal"] else "no") for row in rows))]
    for row in rows:
        if "steps" in row:
            names = list(row["steps"])
            lines += [
                "", "## Daily files, step by step", "",
                *table(("", *names), (
                    ("ours", *(short(row["steps"][name]) for name in names)),
                    (row["peer"], *(short(row["peers"][name]) if name in row["peers"] else "" for name in names)))), "",
                f"Packing the files without joining them takes {short(row['packed'])}; one of them is then written again, byte for "
                f"byte, in {short(row['original'])}."]
        if "first" in row:
            lines += ["", f"The first group that a process opens takes {short(row['first'])}."]
    if known["trials"]:
        lines += [
            "", "## Engines and schedulers", "",
            f"The fastest way to open and use {TRIED} daily files by `open_mfdataset(parallel=True)` was chosen above. "
            "\"Failed\" means that the process crashed, or was stopped because it took much longer than the fastest.",
            "",
            *table(("engine, scheduler of dask", "seconds"), (
                (name, "failed" if took is None else f"{took:.3g}") for name, took in known["trials"].items()))]
    page.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["all", *JOBS])
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--days", type=int, default=10000)
    parser.add_argument("--blocks", type=int, default=35530)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", choices=[f"{engine}, {one}" for engine in ENGINES for one in SCHEDULERS])
    parser.add_argument("--page", type=Path, metavar="FILE", help="keep the results here, and in a .json file beside it")
    arguments = parser.parse_args()
    jobs = Jobs(arguments)
    for command in JOBS if arguments.command == "all" else (arguments.command,):
        shown = len(jobs.rows)
        getattr(jobs, command)()
        for row in jobs.rows[shown:]:
            print("\t".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if jobs.trials:
        print("trials", jobs.trials)
    if arguments.page:
        keep(arguments.page, jobs.rows, jobs.trials)
    for problem in jobs.problems:
        print(problem)
    return 1 if jobs.problems else 0


if __name__ == "__main__":
    sys.exit(main())
