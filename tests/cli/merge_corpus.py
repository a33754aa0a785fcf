#!/usr/bin/python3
"""Classic files of a collection through nmcat and nmconvert, and back: the same bytes.

    merge_corpus.py --tools FOLDER

One by one; all in one file, and that file merged again; and as files of another kind, compared by
netCDF-C. Skipped (exit code 77) without NMB_CORPUS and without netCDF-C's Python module.
"""

import sys

sys.dont_write_bytecode = True
from tool_runs import classic_files, differences, main, netcdf4  # noqa: E402

BUT = ("bad", "hostile")  # damaged files


def check_one(tools, path):
    tools.run("nmcat", path, "-o", "cat.nmb", "-f", "--block-name", "of/{index}")
    tools.run("nmverify", "cat.nmb")
    tools.run("nmconvert", "cat.nmb", "back.nc", "-f", "--extract", "of/0")
    tools.check_equal_bytes(path, tools.work / "back.nc", f"{path}: nmcat and back")
    tools.run("nmconvert", path, "made.nmb", "-f")
    tools.run("nmverify", "made.nmb")
    tools.run("nmconvert", "made.nmb", "back.nc", "-f")
    tools.check_equal_bytes(path, tools.work / "back.nc", f"{path}: nmconvert and back")


def check_kinds(tools, path, netcdf):
    """From an NMB file and from the file itself: what netCDF-C reads is the same."""
    for kind in ("cdf1", "cdf2", "cdf5"):
        done = tools.folder / "nmconvert", path, "direct.nc", "-f", "--to", kind
        if path.read_bytes()[3] == 5 and kind != "cdf5" and has_new_types(netcdf, path):
            tools.run(*done, exit_code=1)
            continue
        tools.run(*done)
        found = (tools.work / "direct.nc").read_bytes()[3]
        tools.check(found == int(kind[3]), f"{path}: found kind CDF-{found}, expected {kind}")
        for difference in differences(netcdf, path, tools.work / "direct.nc"):
            tools.problems.append(f"{path} as {kind}: {difference} differ")
        if found != path.read_bytes()[3]:
            tools.run("nmconvert", "made.nmb", "extracted.nc", "-f", "--to", kind)
            tools.check_equal_bytes(tools.work / "direct.nc", tools.work / "extracted.nc", f"{path} as {kind}")


def has_new_types(netcdf, path):
    """Types that only CDF-5 has."""
    new = {"u1", "u2", "u4", "i8", "u8"}
    with netcdf.Dataset(path) as file:
        owners = [file, *file.variables.values()]
        types = [v.dtype for v in file.variables.values()]
        types += [getattr(o.getncattr(a), "dtype", None) for o in owners for a in o.ncattrs()]
    return any(type is not None and type.str[1:] in new for type in types)


def check_all(tools, corpus, files):
    names = [str(path.relative_to(corpus)) for path in files]
    tools.run("nmcat", *names, "-o", tools.work / "all.nmb", "--block-name", "{path}", cwd=corpus)
    tools.run("nmverify", "all.nmb")
    tools.run("nmcat", "all.nmb", files[0], "-o", "again.nmb", "--block-name", "again/{stem}/{group}")
    tools.run("nmverify", "again.nmb")
    for path, name in zip(files, names):
        for file, block in (("all.nmb", name), ("again.nmb", f"again/all/{name}")):
            tools.run("nmconvert", file, "back.nc", "-f", "--extract", block)
            tools.check_equal_bytes(path, tools.work / "back.nc", f"{path} from {file}")


def test(tools):
    corpus, files = classic_files(but=BUT)
    netcdf = netcdf4()
    for path in files:
        check_one(tools, path)
        check_kinds(tools, path, netcdf)
    check_all(tools, corpus, files)
    tools.check(len(files) > 0, "no files")
    print(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
