#!/usr/bin/python3
"""Statistics that nmcat and nmconvert keep with --stats: those that numpy finds, whoever counted them, and gone
with the values that they were of.

    statistics.py --tools FOLDER
"""

import fractions
import itertools
import json
import math
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import SPLIT, check_same, launchers  # noqa: E402
from tool_runs import EVERY, FIRST, Skip, classic_files, main, netcdf4  # noqa: E402

MOST_VALUES = 20_000_000


def told(tools, path, *arguments, may_lack=False):
    """may_lack: maybe nothing of the file could be counted."""
    if may_lack:
        command = [tools.folder / "nminspect", "stats", path]
        done = subprocess.run(command, cwd=tools.work, capture_output=True, timeout=120)
        if done.returncode == 2 and b"no stored statistics" in done.stderr:
            return {"blocks": []}
    done = tools.run("nminspect", "stats", "--json", path, *arguments)
    return json.loads(done.stdout) if done.returncode == 0 else {"blocks": []}


def default_fill(numpy, dtype):
    """Of netCDF, for types of two bytes or more."""
    values = {"i2": -32767, "i4": -2147483647, "i8": -9223372036854775806, "u2": 65535, "u4": 4294967295,
              "u8": 18446744073709551614, "f4": 9.969209968386869e36, "f8": 9.969209968386869e36}
    word = dtype.kind + str(dtype.itemsize)
    return numpy.array(values[word], dtype) if word in values else None


def counted(numpy, values, missing):
    """What statistics tell of values, and those that are neither missing nor NaN."""
    kind = values.dtype.kind
    out = numpy.zeros(values.shape, bool)
    for value in missing:
        out |= values == value
        if kind == "f" and numpy.isnan(value):
            out |= numpy.isnan(values)
    nan = numpy.isnan(values) & ~out if kind == "f" else numpy.zeros(values.shape, bool)
    left = values[~out & ~nan]
    result = {"elements": values.size, "missing": int(out.sum()), "nan": int(nan.sum()), "min": None, "max": None}
    if left.size and kind != "S":
        result["min"], result["max"] = left.min().item(), left.max().item()
    return result, left


def expected(numpy, variable):
    """What numpy makes of the values of a netCDF4 variable."""
    values = numpy.asarray(variable[...])
    return counted(numpy, values, missing_of(numpy, variable, values.dtype))


def missing_of(numpy, variable, dtype):
    stated = {}
    for name in ("_FillValue", "missing_value"):
        if name in variable.ncattrs():
            value = numpy.asarray(variable.getncattr(name))
            if (value.dtype.kind, value.dtype.itemsize, value.size) == (dtype.kind, dtype.itemsize, 1):
                stated[name] = value.reshape(())
    missing = list(stated.values())
    if "_FillValue" not in stated and default_fill(numpy, dtype) is not None:
        missing.append(default_fill(numpy, dtype))
    return missing


def number(value):
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value)


def same(dtype, found, value):
    if found is None or value is None:
        return found is value
    return dtype.type(number(found)) == dtype.type(value)


def check_against_numpy(tools, netcdf, numpy, path, label, block="", **about):
    document = told(tools, path, *([block] if block else []))
    with netcdf.Dataset(about.get("source", path)) as source:
        source.set_auto_maskandscale(False)
        source.set_auto_chartostring(False)
        found = {v["variable"]: v for b in document["blocks"] for v in b.get("variables", [])}
        tools.check(len(found) == len(source.variables), f"{label}: {len(found)} of {len(source.variables)} variables")
        for name, variable in source.variables.items():
            if name not in found or not found[name]["computed"]:
                continue
            if variable.size > MOST_VALUES:
                continue
            wanted, left = expected(numpy, variable)
            here = found[name]
            for key in ("elements", "missing", "nan"):
                tools.check(here[key] == wanted[key], f"{label}: {name}: {key} {here[key]}, numpy {wanted[key]}")
            for key in ("min", "max"):
                tools.check(
                    same(variable.dtype, here[key], wanted[key]),
                    f"{label}: {name}: {key} {here[key]}, numpy {wanted[key]}",
                )
            check_histogram(tools, numpy, f"{label}: {name}", here.get("histogram") or [], left)
            if "parts" in here or document["blocks"][0]["level"] == "parts":
                check_parts(tools, numpy, f"{label}: {name}", here.get("parts", []), variable)


def parts_of(numpy, variable):
    """The values of each part: runs of 4,096 values, or chunks, 2^n of them in each part."""
    values = numpy.asarray(variable[...])
    chunk = variable.chunking() if variable.group().data_model.startswith("NETCDF4") else None
    if not values.size or values.dtype.kind == "S":
        return []
    if chunk in (None, "contiguous"):
        flat = values.reshape(-1)
        units = [flat[at:at + 4096] for at in range(0, flat.size, 4096)]
    else:
        grid = [range(0, length, step) for length, step in zip(values.shape, chunk)]
        units = [values[tuple(slice(at, at + step) for at, step in zip(corner, chunk))].reshape(-1)
                 for corner in itertools.product(*grid)]
    together = 1
    while len(units) > 1024 * together:
        together *= 2
    return [numpy.concatenate(units[at:at + together]) for at in range(0, len(units), together)] if len(units) > 1 else []


def check_parts(tools, numpy, label, parts, variable):
    missing = missing_of(numpy, variable, numpy.asarray(variable[...]).dtype)
    wanted = [counted(numpy, values, missing) for values in parts_of(numpy, variable)]
    if not any(left.size for _, left in wanted):
        wanted = []
    tools.check(len(parts) == len(wanted), f"{label}: {len(parts)} parts, expected {len(wanted)}")
    for number, (part, (expected_part, left)) in enumerate(zip(parts, wanted)):
        same_range = all(same(left.dtype, part[key], expected_part[key]) for key in ("min", "max"))
        tools.check(same_range and part["ordered"] == left.size, f"{label}: part {number}: {part}, numpy {expected_part}")


def check_histogram(tools, numpy, label, buckets, left):
    """Each bucket holds the values between its ends; no value is left out."""
    if not buckets or left.dtype.kind == "S":
        return
    tools.check(sum(b[2] for b in buckets) == left.size, f"{label}: {sum(b[2] for b in buckets)} of {left.size}")
    if left.dtype.itemsize == 8 and left.dtype.kind != "f" and numpy.abs(left.astype("f8")).max() > 2**52:
        return  # numpy compares such integers as rounded numbers
    values = left.astype("f8")
    for low, high, count in buckets:
        inside = int(((values >= number(low)) & (values <= number(high))).sum())
        tools.check(inside == count, f"{label}: {inside} values from {low} to {high}, found {count}")


def make_files(netcdf, numpy, folder):
    """Classic files of all types, with missing values of every kind; records; more than a piece."""
    random = numpy.random.default_rng(1)
    out = []
    for index, kind in enumerate(("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")):
        path = folder / f"made{index}.nc"
        with netcdf.Dataset(path, "w", format=kind) as file:
            file.createDimension("t", None)
            file.createDimension("x", 70_001)
            file.createDimension("y", 3)
            types = ["i1", "i2", "i4", "f4", "f8"] + (["u1", "u2", "u4", "i8", "u8"] if index == 2 else [])
            for code in types:
                dtype = numpy.dtype(code)
                if dtype.kind == "f":
                    values = random.normal(280, 10, 70_001).astype(dtype)
                    values[5:40:7] = numpy.nan
                    values[100:103] = [numpy.inf, -numpy.inf, -0.0]
                else:
                    about = numpy.iinfo(dtype)
                    values = random.integers(about.min, about.max, 70_001, dtype=dtype, endpoint=True)
                plain = file.createVariable(f"{code}_plain", code, ("x",))
                plain.set_auto_maskandscale(False)
                plain[:] = values
                filled = file.createVariable(f"{code}_filled", code, ("x",), fill_value=values[7])
                filled.set_auto_maskandscale(False)
                filled.missing_value = values[9]
                filled[:] = values
                records = file.createVariable(f"{code}_records", code, ("t", "y"))
                records.set_auto_maskandscale(False)
                records[0:501] = values[:1503].reshape(501, 3)
                file.createVariable(f"{code}_never", code, ("x",))
            text = file.createVariable("text", "S1", ("x",))
            text[:] = numpy.frombuffer(random.integers(65, 90, 70_001, dtype="u1").tobytes(), "S1")
        out.append(path)
    return out


def check_values(tools, netcdf, numpy):
    files = make_files(netcdf, numpy, tools.work)
    for path in files:
        for level, codecs in (("basic", ["zstd"]), ("histogram", [""]), ("parts", ["", "zstd", "deflate"])):
            for arguments in (("--compress", codec) if codec else () for codec in codecs):
                tools.run("nmconvert", path, "one.nmb", "-f", "--stats", level, "-j", "1", *arguments)
                tools.run("nmverify", "-q", "one.nmb")
                label = f"{path.name} {level} {' '.join(arguments)}"
                check_against_numpy(tools, netcdf, numpy, tools.work / "one.nmb", label, source=path)
                tools.run("nmconvert", path, "two.nmb", "-f", "--stats", level, "-j", "3", *arguments)
                tools.check_equal_bytes(tools.work / "one.nmb", tools.work / "two.nmb", f"{label}: -j 3")
    # Blocks that are divided, joined or copied from NMB files.
    tools.run("nmcat", files[0], files[1], "-o", "pack.nmb", "--stats", "parts", "--no-provenance")
    tools.run("nmcat", "pack.nmb", "-o", "again.nmb", "--block-name", "{group}", "--stats", "parts", "--no-provenance")
    tools.check_equal_bytes(tools.work / "pack.nmb", tools.work / "again.nmb", "packed again")
    tools.run("nmcat", "pack.nmb", "-o", "kept.nmb", "--block-name", "{group}", "--no-provenance")
    tools.check_equal_bytes(tools.work / "pack.nmb", tools.work / "kept.nmb", "statistics kept")
    tools.run("nmcat", "pack.nmb", "-o", "without.nmb", "--block-name", "{group}", "--stats", "none")
    tools.run("nminspect", "stats", "without.nmb", exit_code=2)
    tools.run("nmcat", files[0], "-o", "split.nmb", "--split-names", "^([a-z][0-9])_", "--block-name", "{group}",
              "--unmatched", "keep", "--stats", "basic")
    tools.run("nmverify", "-q", "split.nmb")
    rows = {v["variable"]: v for b in told(tools, "split.nmb", "f4")["blocks"] for v in b["variables"]}
    tools.check(rows.get("never", {}).get("missing") == 70_001, f"divided: {rows.get('never')}")
    tools.run("nmcat", "--mode", "join", files[0], files[0], "-o", "join.nmb", "--stats", "basic", exit_code=0)
    tools.run("nmverify", "-q", "join.nmb")
    return files


def moments(left):
    """Mean and standard deviation of finite values, each rounded once."""
    if not len(left):
        return None, None
    if left.dtype.kind == "f":
        unit = 2**1074
        values = [top * (unit // bottom) for top, bottom in (float(v).as_integer_ratio() for v in left)]
    else:
        unit = 1
        values = [int(v) for v in left]
    total, squares, count = sum(values), sum(v * v for v in values), len(values)
    variance = fractions.Fraction(squares * count - total * total, (count * unit) ** 2)
    return float(fractions.Fraction(total, count * unit)), variance


def check_moments(tools, netcdf, numpy):
    """Statistics of the values of files of all kinds: exact, whoever counts them."""
    random = numpy.random.default_rng(3)
    columns = {
        "near": random.normal(280, 10, 3000),
        "far_from_0": 1e9 + random.normal(0, 1e-3, 3000),
        "cancels": numpy.array([1e308, 3.25, -1e308] * 1000),
        "tiny": random.normal(0, 1, 3000) * 5e-315,
        "huge": random.normal(0, 1, 3000) * 1e307,
        "single": random.normal(-7, 3, 3000).astype("f4"),
        "same": numpy.full(3000, 0.1),
        "large_integers": random.integers(-(2**63) + 5, 2**63 - 5, 3000),
        "bytes": random.integers(-128, 127, 3000).astype("i1"),
        "infinite": numpy.append(random.normal(0, 1, 2999), numpy.inf),
    }
    columns["with_missing"] = columns["near"].copy()
    columns["with_missing"][::7] = -999.0
    columns["with_missing"][3] = numpy.nan
    for kind in ("NETCDF3_64BIT_DATA", "NETCDF4"):
        name = f"moments_{kind}.nc"
        with netcdf.Dataset(tools.work / name, "w", format=kind) as file:
            file.createDimension("x", 3000)
            file.createDimension("t", None)
            options = {"zlib": True, "chunksizes": (700,)} if kind == "NETCDF4" else {}
            for column, values in columns.items():
                fill = {"fill_value": -999.0} if column == "with_missing" else {}
                variable = file.createVariable(column, values.dtype, ("x",), **fill, **options)
                variable.set_auto_maskandscale(False)
                variable[:] = values
            file.createVariable("never", "f4", ("x",))
            file.createVariable("records", "i2", ("t", "x"))[:] = numpy.arange(9000).reshape(3, 3000)
        tools.run("nmconvert", name, "moments.nmb", "-f", "--stats", "basic")
        found = [
            [b["variables"] for b in told(tools, path, "--values", "-j", jobs)["blocks"]]
            for path in (name, "moments.nmb") for jobs in ("1", "3")
        ]
        tools.check(all(one == found[0] for one in found), f"{name}: other statistics of another file or number of threads")
        stored = [b["variables"] for b in told(tools, "moments.nmb")["blocks"]]
        common = "variable", "elements", "missing", "nan", "min", "max"
        tools.check([[v[key] for key in common] for v in stored[0]] == [[v[key] for key in common] for v in found[0][0]], name)
        for here in found[0][0]:
            if here["variable"] in ("never", "infinite"):
                tools.check(here["mean"] is None and here["standard_deviation"] is None, f"{name}: {here}")
                continue
            values = columns.get(here["variable"], numpy.arange(9000, dtype="i2"))
            mean, variance = moments(values[(values != -999) & (values == values)])
            tools.check(here["mean"] == mean, f"{name}: {here}: expected mean {mean}")
            # The square of a rounded root: within two roundings of the variance.
            error = abs(fractions.Fraction(here["standard_deviation"]) ** 2 - variance)
            least = fractions.Fraction(here["standard_deviation"]) * fractions.Fraction(5e-324) * 2
            tools.check(error <= variance / 2**51 + least, f"{name}: {here}: another standard deviation")
    rows = tools.run("nminspect", "stats", name, "--histogram").stdout.decode().splitlines()
    tools.check(max(row.count("#") for row in rows) == 40, f"{name}: no bar of 40 characters: {rows[:3]}")
    tools.run("nminspect", "stats", name, "nosuch", exit_code=2)


def check_links(tools, files):
    """Values that stay in other files are counted where they are."""
    names = [path.name for path in files]
    tools.run("nmconvert", names[0], "coded.nmb", "-f", "--compress", "zstd")
    for sources in (names, ["coded.nmb"]):
        for name, arguments in (("solid.nmb", ()), ("linked.nmb", ("--link",))):
            tools.run("nmcat", *sources, "-o", name, "-f", "--block-name", "b{index}", "--stats", "histogram", *arguments)
        tools.run("nmverify", "-q", "linked.nmb")
        solid, linked = (told(tools, name)["blocks"] for name in ("solid.nmb", "linked.nmb"))
        tools.check(solid and solid == linked, f"{sources}: linked values have other statistics")


def check_ranks(tools, files):
    """One process, threads and processes of an MPI job write the same file."""
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "3", "--samples", "60")
    graphs = sorted((tools.work / "graphs").iterdir())
    for launcher in launchers(tools):
        for level in ("basic", "histogram"):
            check_same(tools, launcher, *files, "--stats", level)
            check_same(tools, launcher, *graphs, *SPLIT, "--stats", level)
        check_same(tools, launcher, *files, "--stats", "histogram", "--compress", "zstd")
        check_same(tools, launcher, *graphs, *SPLIT, "--inline", "0", "--stats", "basic")


def check_refusals(tools, files):
    for arguments, words in (
        (("nmcat", files[0], "-o", "out.nc", "--mode", "join", "--stats", "basic"), "--stats"),
        (("nmcat", files[0], "-o", "out.nmb", "--dry-run", "--stats", "basic"), "--dry-run"),
        (("nmcat", files[0], "-o", "out.nmb", "--stats", "all"), "--stats"),
        (("nmconvert", files[0], "out.nc", "--to", "cdf5", "--stats", "basic"), "--stats"),
        (("nminspect", "stats", "one.nmb", "no_such_block"), "no block"),
        (("nminspect", "stats", "split.nmb", "--histogram"), "no stored histogram"),
    ):
        done = tools.run(*arguments, exit_code=2)
        tools.check(words in done.stderr.decode(), f"{arguments}: {done.stderr.decode()!r}, expected {words!r}")


def check_append(tools, files):
    """Blocks that are added without statistics have none; the others keep theirs."""
    tools.run("nmcat", files[0], "-o", "append.nmb", "--stats", "basic", "--block-name", "a")
    tools.run("nmcat", files[1], "-o", "append.nmb", "--append", "--block-name", "b")
    done = tools.run("nminspect", "stats", "append.nmb")
    tools.check(b"1 of 2 blocks have no statistics" in done.stderr, f"appended: {done.stderr!r}")
    levels = {b["block"]: b["level"] for b in told(tools, "append.nmb")["blocks"]}
    tools.check(levels == {"a": "basic", "b": None}, f"appended: {levels}")
    tools.run("nminspect", "stats", "append.nmb", "b", exit_code=2)
    tools.run("nmverify", "-q", "append.nmb")
    tools.run("nmcat", files[1], "-o", "append.nmb", "--append", "--block-name", "c", "--stats", "histogram")
    levels = {b["block"]: b["level"] for b in told(tools, "append.nmb")["blocks"]}
    tools.check(levels == {"a": "basic", "b": None, "c": "histogram"}, f"appended: {levels}")
    tools.run("nmverify", "-q", "append.nmb")


def check_corpus(tools, netcdf, numpy):
    _, files = classic_files(but=("bad", "hostile"))
    for path in files:
        if path.stat().st_size > 50 << 20:
            continue
        done = tools.run("nmconvert", path, "corpus.nmb", "-f", "--stats", "histogram", exit_code=0)
        if done.returncode:
            continue
        tools.run("nmverify", "-q", "corpus.nmb")
        try:
            check_against_numpy(tools, netcdf, numpy, tools.work / "corpus.nmb", path.name, source=path)
        except (OSError, RuntimeError, UnicodeDecodeError) as error:
            print(f"{path.name}: not read by netCDF4: {error}")


def expected_of_data_set(numpy, data):
    """The same of an HDF5 data set: without _FillValue the fill value that its creator has set is missing."""
    values, dtype = data[...], data.dtype
    stated = {}
    for name in ("_FillValue", "missing_value"):
        if name in data.attrs and data.attrs.get_id(name).dtype == dtype and numpy.size(data.attrs[name]) == 1:
            stated[name] = numpy.asarray(data.attrs[name]).reshape(())
    missing = list(stated.values())
    if "_FillValue" not in stated and dtype.itemsize > 1:
        if data.id.get_create_plist().fill_value_defined() == 2:
            missing.append(numpy.asarray(data.fillvalue))
        elif dtype.byteorder == ">":
            missing.append(default_fill(numpy, dtype))
    return counted(numpy, values, missing)


def check_hdf5_file(tools, numpy, h5py, path, label, may_lack=False):
    """Numbers of the sizes that netCDF has, wherever they are stored; how many data sets were compared."""
    tools.run("nmverify", "-q", "hdf5.nmb")
    compared = 0
    with h5py.File(path) as file:
        for block in told(tools, "hdf5.nmb", may_lack=may_lack)["blocks"]:
            for here in block.get("variables") or []:
                data = file["/" + "/".join(filter(None, (block["block"], here["variable"])))]
                if not here["computed"] or here["type"] == "char" or data.size > MOST_VALUES:
                    continue
                wanted, left = expected_of_data_set(numpy, data)
                what = f"{label}: {data.name}"
                for key in ("elements", "missing", "nan"):
                    tools.check(here[key] == wanted[key], f"{what}: {key} {here[key]}, numpy {wanted[key]}")
                for key in ("min", "max"):
                    equal = same(data.dtype.newbyteorder("="), here[key], wanted[key])
                    tools.check(equal, f"{what}: {key} {here[key]}, numpy {wanted[key]}")
                check_histogram(tools, numpy, what, here.get("histogram") or [], left)
                compared += 1
    return compared


def check_hdf5(tools, numpy):
    try:
        import h5py
    except ImportError:
        raise Skip("no Python module h5py") from None
    random = numpy.random.default_rng(2)
    with h5py.File(tools.work / "made.h5", "w") as file:
        for code in ("<f4", ">f4", "<f8", ">i2", "<i8", "<u8", "|i1", "|u1", "<u2"):
            values = random.normal(50, 30, (101, 67)) if "f" in code else random.integers(0, 100, (101, 67))
            values = values.astype(code)
            name = code.strip("|").replace("<", "le_").replace(">", "be_")
            file.create_dataset(f"plain/{name}", data=values)
            file.create_dataset(f"chunks/{name}", data=values, chunks=(17, 20), compression="gzip", shuffle=True)
            part = file.create_dataset(f"part/{name}", (101, 67), code, chunks=(30, 67), fillvalue=values[3, 4])
            part[50:70, :10] = values[50:70, :10]
            filled = file.create_dataset(f"filled/{name}", data=values)
            filled.attrs.create("_FillValue", values[0, 0], dtype=code)
            filled.attrs.create("missing_value", values[1:2, 1], dtype=code)
            file.create_dataset(f"never/{name}", (5, 6), code)
            file.create_dataset(f"never/{name}_set", (5, 6), code, fillvalue=values[0, 1])
        file.create_dataset("strings", data=["a", "b"])
    for arguments in ((), ("-j", "3")):
        done = tools.run("nmconvert", "made.h5", "hdf5.nmb", "-f", "--stats", "histogram", *arguments)
        tools.check(b"1 variable without statistics" in done.stderr, f"made.h5: {done.stderr!r}")
        compared = check_hdf5_file(tools, numpy, h5py, tools.work / "made.h5", "made.h5")
        tools.check(compared == 54, f"made.h5: {compared} data sets compared, expected 54")
    # Linked, chunks and strings are copied between values that are not.
    for name, arguments in (("solid5.nmb", ()), ("linked5.nmb", ("--link",))):
        tools.run("nmcat", "made.h5", "-o", name, "-f", "--stats", "histogram", *arguments)
        tools.run("nmverify", "-q", name)
    solid, linked = (told(tools, name)["blocks"] for name in ("solid5.nmb", "linked5.nmb"))
    tools.check(solid and solid == linked, "made.h5: linked values have other statistics")
    # A damaged chunk is found, because its values are counted.
    with h5py.File(tools.work / "damaged.h5", "w") as file:
        file.create_dataset("v", data=numpy.full(1000, 0xABCD, "<u2"), chunks=(1000,), fletcher32=True)
        file.create_dataset("w", data=numpy.arange(10))
    data = (tools.work / "damaged.h5").read_bytes()
    (tools.work / "damaged.h5").write_bytes(data.replace(b"\xcd\xab\xcd\xab", b"\xcd\xab\xcd\xaa", 1))
    done = tools.run("nmconvert", "damaged.h5", "hdf5.nmb", "-f", "--stats", "basic", exit_code=1)
    tools.check(b"variable v" in done.stderr and b"R-XC-1" in done.stderr, f"damaged.h5: {done.stderr!r}")
    # Several missing values have no place in a row of statistics.
    with h5py.File(tools.work / "missing.h5", "w") as file:
        file.create_dataset("v", data=numpy.arange(5, dtype="<i4")).attrs["missing_value"] = numpy.array([1, 2], "<i4")
    done = tools.run("nmconvert", "missing.h5", "hdf5.nmb", "-f", "--stats", "basic")
    tools.check(b"1 variable without statistics" in done.stderr, f"missing.h5: {done.stderr!r}")
    folder = os.environ.get("NMB_CORPUS")
    files = [] if not folder else [p for k in ("netcdf4", "hdf5") for p in sorted((Path(folder) / k).rglob("*"))]
    for path in files[FIRST::EVERY]:
        if not path.is_file() or path.stat().st_size > 5 << 20 or not h5py.is_hdf5(path):
            continue
        done = subprocess.run(
            [tools.folder / "nmconvert", path, "hdf5.nmb", "-f", "--stats", "histogram"],
            cwd=tools.work, capture_output=True, timeout=120,
        )
        if done.returncode:
            continue  # what cannot be taken over is another test's
        try:
            check_hdf5_file(tools, numpy, h5py, path, path.name, may_lack=True)
        except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            print(f"{path.name}: not read by h5py: {error}")


def check_dimensions(tools, netcdf, numpy):
    """The data set of a dimension without a variable is not a variable for users of netCDF."""
    with netcdf.Dataset(tools.work / "dims.nc", "w") as file:
        file.createDimension("x", 5)
        file.createDimension("time", None)
        file.createDimension("seen", 4)
        file.createVariable("a", "f8", ("time", "x"))[:] = numpy.ones((3, 5))
        file.createVariable("seen", "f4", ("seen",))[:] = range(4)
        file.createGroup("only").createDimension("y", 3)
    for level in ("basic", "histogram"):
        done = tools.run("nmconvert", "dims.nc", "dims.nmb", "-f", "--stats", level)
        tools.check(b"without statistics" not in done.stderr, f"dims.nc: {done.stderr!r}")
        tools.run("nmverify", "-q", "dims.nmb")
        blocks = {b["block"]: [v["variable"] for v in b["variables"]] for b in told(tools, "dims.nmb")["blocks"]}
        tools.check(blocks == {"": ["seen", "a"]} or blocks == {"": ["a", "seen"]}, f"dims.nc: statistics of {blocks}")
        rows = tools.run("nminspect", "stats", "dims.nmb").stdout.decode()
        tools.check(sorted(line.split()[0] for line in rows.splitlines()) == ["a", "seen"], f"dims.nc: {rows}")
    for name in ("x.max", "time.elements", "y.missing"):
        tools.run("nminspect", "find", "dims.nmb", f"{name} == 0", exit_code=2)
    tools.check(tools.run("nminspect", "find", "dims.nmb", "seen.max == 3").stdout != b"", "seen.max == 3: not found")
    # A block with x as a dimension has no statistics of x that a warning could miss.
    with netcdf.Dataset(tools.work / "coordinate.nc", "w") as file:
        file.createDimension("x", 5)
        file.createVariable("x", "f4", ("x",))[:] = range(5)
    tools.run("nmcat", "dims.nc", "coordinate.nc", "-o", "both.nmb", "--stats", "basic")
    done = tools.run("nminspect", "find", "both.nmb", "x.max == 4")
    tools.check(done.stdout.split() == [b"coordinate"] and done.stderr == b"", f"x.max == 4: {done.stdout!r}, {done.stderr!r}")


def test(tools):
    netcdf = netcdf4()
    import numpy

    check_dimensions(tools, netcdf, numpy)
    files = check_values(tools, netcdf, numpy)
    check_moments(tools, netcdf, numpy)
    check_refusals(tools, files)
    check_append(tools, files)
    check_links(tools, files)
    check_ranks(tools, files)
    check_hdf5(tools, numpy)
    try:
        check_corpus(tools, netcdf, numpy)
    except Skip as why:
        print(f"skipped: {why}")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
