#!/usr/bin/python3
"""nmcat --split-names on samples of the workload and on record variables: every block holds its
variables of the source, as netCDF-C reads them there.

    split_names.py --tools FOLDER

Values of blocks are those that the reference reader finds (spec/reference). Skipped (exit code 77)
without netCDF-C's Python module.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import main, netcdf4  # noqa: E402

REFERENCE = Path(__file__).resolve().parents[2] / "spec" / "reference" / "nmb_reference.py"
SAMPLES = r"^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_"


def blocks_of(path):
    done = subprocess.run([sys.executable, REFERENCE, "--json", path], check=True, stdout=subprocess.PIPE)
    return {block["name"]: block for block in json.loads(done.stdout)["blocks"]}


def check_block(tools, file, block, expected):
    """expected: name: (sizes of dimensions by name, big-endian bytes of the values)."""
    found = {variable["name"]: variable for variable in block["variables"]}
    what = f"{file}: block {block['name']}"
    tools.check(list(found) == list(expected), f"{what}: found variables {list(found)}, expected {list(expected)}")
    for name, (sizes, values) in expected.items():
        if name not in found:
            continue
        digest = hashlib.sha256(values).hexdigest()
        tools.check(found[name]["sha256"] == digest, f"{what}: {name}: other values")
        tools.check(shape_of(found[name]) == sizes, f"{what}: {name}: other dimensions")


def shape_of(variable):
    return list(zip(variable["dimensions"], variable["shape"]))


def split(netcdf, path, expression):
    """Group: new name: (dimensions, values), of a classic file, in order of definition."""
    out = {}
    with netcdf.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        for name, variable in file.variables.items():
            match = re.match(expression, name)
            group, new = (match[1], name[match.end() :]) if match else ("", name)
            dimensions = [re.sub(expression, "", d) if match else d for d in variable.dimensions]
            values = variable[...]
            big = values.astype(values.dtype.newbyteorder(">")).tobytes()
            out.setdefault(group, {})[new] = (list(zip(dimensions, values.shape)), big)
    return out


def check_workload(tools, netcdf):
    tools.example("make_graph_samples", tools.work / "g", "--files", "3", "--samples", "20")
    inputs = sorted((tools.work / "g").glob("*.nc"))
    command = ("nmcat", *inputs, "--split-names", SAMPLES, "--block-name", "{group}", "-o")
    for threads in ("1", "2", "5"):
        tools.run(*command, f"events{threads}.nmb", "-j", threads)
        tools.check_equal_bytes(tools.work / "events1.nmb", tools.work / f"events{threads}.nmb", f"-j {threads}")
    tools.run("nmverify", "events1.nmb")
    found = blocks_of(tools.work / "events1.nmb")
    expected = {}
    for path in inputs:
        expected.update(split(netcdf, path, SAMPLES))
    tools.check(sorted(found) == sorted(expected), "workload: other blocks")
    for group in expected:
        check_block(tools, "workload", found[group], expected[group])
        tools.check(found[group]["samples"] == 1, f"workload: samples of {group}")
    # The same groups through extraction.
    group = sorted(expected)[7]
    tools.run("nmconvert", "events1.nmb", "sample.nc", "--extract", group)
    extracted = split(netcdf, tools.work / "sample.nc", "^$")[""]
    tools.check(extracted == expected[group], f"workload: extracted {group}")


def write_records(netcdf, path, kind, shift=0, history="made"):
    """Record variables of two groups, dimensions that groups share, attributes, one unmatched variable."""
    import numpy

    with netcdf.Dataset(path, "w", format=kind) as file:
        file.history = history
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createDimension("g_a_own", 5)
        for group in "ab":
            for name, type, dimensions in (
                ("t", "f4", ("time", "x")),
                ("flag", "i1", ("time",)),
                ("fixed", "f8", ("x",)),
            ):
                variable = file.createVariable(f"g_{group}_{name}", type, dimensions)
                variable.units = f"unit of {group}"
                shape = tuple(4 if d == "time" else 3 for d in dimensions)
                size = int(numpy.prod(shape))
                variable[:] = (numpy.arange(size) + shift + ord(group)).reshape(shape).astype(type)
        file.createVariable("g_a_alone", "i2", ("g_a_own",))[:] = numpy.arange(5) + shift
        file.createVariable("lone_short", "i2", ("time",))[:] = numpy.arange(4)


def check_records(tools, netcdf):
    expression = "^g_([a-z])_"
    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        source = tools.work / f"{kind}.nc"
        write_records(netcdf, source, kind)
        tools.run("nmcat", source, "-o", "no.nmb", "--split-names", expression, exit_code=1)
        out = f"{kind}.nmb"
        tools.run("nmcat", source, "-o", out, "--split-names", expression, "--unmatched=keep", "--samples=dim:time")
        tools.run("nmverify", out)
        found = blocks_of(tools.work / out)
        expected = split(netcdf, source, expression)
        names = {f"{kind}/a": "a", f"{kind}/b": "b", kind: ""}
        tools.check(sorted(found) == sorted(names), f"{kind}: found blocks {sorted(found)}")
        for name, group in names.items():
            check_block(tools, kind, found[name], expected[group])
            tools.check(found[name]["samples"] == 4, f"{kind}: samples of {name}")
            tools.run("nmconvert", out, "back.nc", "-f", "--extract", name)
            back = split(netcdf, tools.work / "back.nc", "^$")[""]
            tools.check(back == expected[group], f"{kind}: {name} extracted")
        with netcdf.Dataset(tools.work / "back.nc") as parent:
            tools.check(parent.history == "made", f"{kind}: attribute of the parent")
        tools.run("nmconvert", out, "a.nc", "-f", "--extract", f"{kind}/a")
        with netcdf.Dataset(tools.work / "a.nc") as a:
            tools.check(a["t"].units == "unit of a" and not a.ncattrs(), f"{kind}: attributes of a")


def check_parents(tools, netcdf):
    """Inputs that share a parent: equal global attributes go together, others do not."""
    for name, history in (("p", "made"), ("q", "made"), ("r", "another")):
        with netcdf.Dataset(tools.work / f"{name}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.history = history
            file.createVariable(f"g_{name}_v", "i4", ())[...] = 7
    command = ("nmcat", "--split-names", "^g_([a-z])_", "--block-name", "{group}", "-o")
    tools.run(*command, "pq.nmb", "p.nc", "q.nc")
    tools.check(sorted(blocks_of(tools.work / "pq.nmb")) == ["", "p", "q"], "p and q: other blocks")
    done = tools.run(*command, "pr.nmb", "p.nc", "r.nc", "--json", exit_code=1)
    conflicts = json.loads(done.stdout)["conflicts"]
    tools.check([(c["kind"], c["object"]) for c in conflicts] == [("attributes", "@history")], f"{conflicts}")
    tools.check(not (tools.work / "pr.nmb").exists(), "a file in spite of a conflict")
    tools.run("nmcat", "--split-names", "^g_([a-z])_", "-o", "apart.nmb", "p.nc", "r.nc")
    tools.check(sorted(blocks_of(tools.work / "apart.nmb")) == ["p", "p/p", "r", "r/r"], "p and r apart")


def check_clashes(tools, netcdf):
    """Names that are the same, or none, without what carries the group."""
    with netcdf.Dataset(tools.work / "clash.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("g_a_x", 2)
        file.createDimension("x", 3)
        for name, dimensions in (("g_a_u", ("g_a_x", "x")), ("g_b_v", ()), ("h_b_v", ()), ("g_c_", ())):
            file.createVariable(name, "i4", dimensions)
    done = tools.run(
        "nmcat", "clash.nc", "-o", "clash.nmb", "--split-names", "^[gh]_([a-z])_", "--json", exit_code=1
    )
    conflicts = [(c["kind"], c["object"]) for c in json.loads(done.stdout)["conflicts"]]
    expected = [("dimension name", "clash/a/x"), ("variable name", "clash/b/v"), ("variable name", "clash/c/")]
    tools.check(conflicts == expected, f"found conflicts {conflicts}, expected {expected}")


def test(tools):
    netcdf = netcdf4()
    check_workload(tools, netcdf)
    check_records(tools, netcdf)
    check_parents(tools, netcdf)
    check_clashes(tools, netcdf)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
