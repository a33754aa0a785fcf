"""Functions for benchmarks: they measure commands whose runs alternate, and describe the machine."""

import json
import os
import platform
import subprocess

import numpy

WARM_BYTES = 7_000_000_000


def cost(bench_run, command, **options):
    """wall and cpu in seconds, rss_mb of a command. bench_run: the program of a build with benchmarks."""
    done = subprocess.run([bench_run, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stderr.splitlines()[-1])


def middle(values):
    return None if values is None else float(numpy.median(values))


def by_name(runs):
    """Returns an array for each kind of cost, with an element for each run."""
    return {key: numpy.array([run[key] for run in runs]) for key in runs[0] if isinstance(runs[0][key], (int, float))}


def timed(before, function):
    """The cost of a run. before: what makes room for what it writes; None: it writes nothing, and what counts is the second
    run in a row. Virtual machines give free memory back to their hosts, but none of the pieces that a program has left small:
    what was run last would decide what the next one pays for memory."""
    if not before:
        function()
        return function()
    before()
    b"\1" * WARM_BYTES
    return function()


def in_turn(count, before, *functions):
    """The costs of functions that run in turn, each with an element for a turn."""
    costs = [[] for _ in functions]
    for i in range(count):
        order = range(len(functions))
        for which in order if i % 2 == 0 else reversed(order):
            costs[which].append(timed(before, functions[which]))
    return [by_name(each) for each in costs]


def repeated(count, before, function):
    return by_name([timed(before, function) for _ in range(count)])


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.system() + " " + platform.release(),
            "load": os.getloadavg()[0]}


def machine_in_words():
    return "a machine with {cpu}, {cores} cores and {system}".format(**machine())


def write_values(path, kind, megabytes):
    """A file with contiguous random numbers in variables of different types and sizes. kind: the format, as netCDF4 calls it."""
    import netCDF4

    rng = numpy.random.default_rng(1)
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.set_fill_off()
        for number, (type_, share) in enumerate((("f8", 0.5), ("f4", 0.25), ("f8", 0.15), ("i4", 0.1))):
            size = numpy.dtype(type_).itemsize
            length = max(1, int(megabytes * 2**20 * share / size / 1000))
            out.createDimension(f"n{number}", length)
            out.createDimension(f"m{number}", 1000)
            v = out.createVariable(f"v{number}", type_, (f"n{number}", f"m{number}"), contiguous=True)
            for first in range(0, length, 10000):
                rows = min(10000, length - first)
                v[first : first + rows] = (rng.normal(size=(rows, 1000)) * 1000).astype(type_)
