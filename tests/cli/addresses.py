#!/usr/bin/python3
"""How users name blocks, variables and files, and what the tools answer: names with characters of several bytes, names
that are listed and read back, numbers beside texts, counts beside lists, sets of blocks, and messages.

    addresses.py --tools FOLDER

netCDF4-python and h5py write the inputs and read the results; Python's re and ncdump are the peers.
"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import launchers, nmcat  # noqa: E402
from tool_runs import Skip, main, netcdf4  # noqa: E402


def text(done):
    return done.stdout.decode()


def lines(tools, *arguments):
    return text(tools.run(*arguments)).splitlines()


def says(tools, expected, *arguments, exit_code=2):
    found = tools.run(*arguments, exit_code=exit_code).stderr.decode()
    tools.check(expected in found, f"{' '.join(map(str, arguments))}: said {found!r}, expected {expected!r}")


def classic(netcdf, path, variables=("v",), attributes=(), format="NETCDF3_64BIT_DATA"):
    with netcdf.Dataset(path, "w", format=format) as file:
        file.createDimension("x", 2)
        for number, name in enumerate(variables):
            file.createVariable(name, "f8", ("x",))[:] = [number, number + 1]
        file.setncatts(dict(attributes))


def check_characters(tools, netcdf):
    """Regular expressions match characters of UTF-8, as Python's re and as ls -e do."""
    names = ["é1_t", "é1_u", "ab_t", "日本_t", "日本_u"]
    classic(netcdf, tools.work / "split.nc", names)
    for expression in ("^(..)_", "^(.)", "^([^_]*)_", "^(é|..)", "^(\\X)", "^([é日a])"):
        if "\\X" in expression:
            groups = {name: name[0] for name in names}
        else:
            groups = {name: re.search(expression, name)[1] for name in names}
        tools.run("nmcat", "split.nc", "-o", "split.nmb", "--split-names", expression, "--block-name", "{group}", "-f")
        found = [name for name in lines(tools, "nminspect", "ls", "split.nmb") if name != "/"]
        tools.check(sorted(found) == sorted(set(groups.values())), f"--split-names {expression}: {found}")
        tools.run("nmverify", "split.nmb", "-q")
        tools.run("nmconvert", "split.nc", "prefix.nmb", "--block-by", f"prefix:{expression}", "-f")
        found = [name.split("/")[-1] for name in lines(tools, "nminspect", "ls", "prefix.nmb") if name != "/"]
        tools.check(sorted(found) == sorted(set(groups.values())), f"prefix:{expression}: {found}")
    for number, name in enumerate(["é1", "日本", "ab"]):
        classic(netcdf, tools.work / f"{name}_{number}.nc")
    tools.run("nmcat", "é1_0.nc", "日本_1.nc", "ab_2.nc", "-o", "tags.nmb", "--tag-names", "^(..)_", "--tag", "site:text={1}")
    found = lines(tools, "nminspect", "ls", "--tags", "tags.nmb")
    tools.check(found == ['site="ab"\tab_2', 'site="é1"\té1_0', 'site="日本"\t日本_1'], f"--tag-names: {found}")
    found = lines(tools, "nminspect", "ls", "tags.nmb", "-e", "^.._[01]")
    tools.check(found == ["é1_0", "日本_1"], f"ls -e: {found}")
    says(tools, "regular expression", "nmcat", "split.nc", "-o", "no.nmb", "--split-names", "^(\\C)")


def check_kinds_of_tags(tools, netcdf):
    """A tag that is text in one block and a number in others."""
    for number, run in enumerate((7, "seven", 8, "8x")):
        classic(netcdf, tools.work / f"kind{number}.nc", attributes={"run": run})
    files = [f"kind{number}.nc" for number in range(4)]
    tools.run("nmcat", *files, "-o", "kinds.nmb", "--tag", "run=@run")
    tools.run("nmcat", *files, "-o", "untagged.nmb")
    expected = {"run == 7": ["kind0"], "run > 7": ["kind2"], "!(run > 7)": ["kind0"], "run == 'seven'": ["kind1"],
                "run != 'seven'": ["kind3"], "run == 7 || run == '8x'": ["kind0", "kind3"], "run == 1": []}
    for path in ("kinds.nmb", "untagged.nmb"):
        for query, blocks in expected.items():
            done = tools.run("nminspect", "find", path, query)
            tools.check(text(done).split() == blocks, f"find {path} {query}: {text(done)}")
            note = b"because the expression compares a number with text there" in done.stderr
            tools.check(note, f"find {path} {query}: {done.stderr}")
            if not blocks:
                continue
            done = tools.run("nmcat", path, "-o", "some.nmb", "--where", query, "-f")
            tools.check(lines(tools, "nminspect", "ls", "some.nmb") == blocks, f"--where {query}")
    tools.run("nmcat", "kind1.nc", "kind3.nc", "-o", "texts.nmb", "--tag", "run=@run")
    says(tools, "cannot compare a number with text: run; compare two numbers or two texts", "nminspect", "find", "texts.nmb", "run == 7")
    says(tools, "cannot compare a number with text: run", "nmcat", "texts.nmb", "-o", "no.nmb", "--where", "run == 7")
    tools.check(not (tools.work / "no.nmb").exists(), "a wrong query wrote a file")
    for launcher in launchers(tools):
        for query, code in (("run == 7", 0), ("run == 'seven'", 0), ("run == 1", 2)):
            done = nmcat(tools, launcher, *files, "-o", "ranks.nmb", "--where", query, "-f")
            tools.check(done.returncode == code, f"{launcher} {query}: {done.stderr}")
        done = nmcat(tools, launcher, "kind1.nc", "kind3.nc", "-o", "ranks.nmb", "--where", "run == 7", "-f")
        tools.check(done.returncode == 2 and done.stderr.count("cannot compare a number with text: run") == 1, f"{launcher}: {done.stderr}")


def check_escaped_names(tools, netcdf):
    """Names that ls and find escape are read back by --blocks-from."""
    stems = ["tab\there", "back\\slash", "line\nfeed", "cafe\u202eright", "plain", "x41", "\\x41"]
    for number, stem in enumerate(stems):
        classic(netcdf, tools.work / "one.nc", attributes={"n": number})
        os.rename(tools.work / "one.nc", tools.work / f"{stem}.nc")
    tools.run("nmcat", *(f"{stem}.nc" for stem in stems), "-o", "names.nmb")
    for command in (["ls", "names.nmb"], ["find", "names.nmb", "n >= 0"]):
        listed = text(tools.run("nminspect", *command))
        tools.check(len(listed.splitlines()) == len(stems), f"{command}: {listed}")
        for line in listed.splitlines():
            done = nmcat(tools, [], "names.nmb", "-o", "picked.nmb", "-f", "--blocks-from", "-", listed=line + "\n")
            tools.check(done.returncode == 0, f"{line}: {done.stderr}")
            tools.check(text(tools.run("nminspect", "ls", "picked.nmb")).splitlines() == [line], f"{line}: other blocks")
        done = nmcat(tools, [], "names.nmb", "-o", "picked.nmb", "-f", "--blocks-from", "-", listed=listed)
        tools.check(text(tools.run("nminspect", "ls", "picked.nmb")) == listed, f"all names: {done.stderr}")
    done = nmcat(tools, [], "names.nmb", "-o", "picked.nmb", "-f", "--blocks-from", "-", "-0", listed="back\\slash\0line\nfeed\0")
    tools.check(done.returncode == 0, f"-0: {done.stderr}")
    done = nmcat(tools, [], "names.nmb", "-o", "no.nmb", "--blocks-from", "-", listed="back\\slash\n")
    tools.check(done.returncode == 2 and "use -0 for a list of names as they are" in done.stderr, f"raw name: {done.stderr}")


def check_digests(tools, netcdf):
    """Runs that record no digest say so, and why."""
    for number in range(2):
        with netcdf.Dataset(tools.work / f"part{number}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createVariable("v", "f8", ("time",))[:] = [number]
    files = ["part0.nc", "part1.nc"]
    for options, why in ((["--mode", "join"], "--digest needs --mode pack; the mode is join"),
                         (["--compress", "zstd"], "--digest and --compress exclude each other"),
                         (["--no-originals"], "--digest needs originals")):
        says(tools, why, "nmcat", *files, "-o", "d.nmb", "--digest", "sha256", *options)
        done = tools.run("nmcat", *files, "-o", "d.nmb", "--digest", "sha256", *options, "--json", "-f")
        tools.check(len(json.loads(done.stdout)["sources"]) == 2, f"{options}: {done.stdout}")
        (tools.work / "d.nmb").unlink()


def check_made_up_names(tools, netcdf):
    """A dimension of a classic file may be called phony_dim_N; its name survives in HDF5. Names that netCDF makes up for
    HDF5 inputs do not become data sets."""
    try:
        import h5py
    except ImportError:
        raise Skip("no Python module h5py") from None
    for number in range(2):
        with netcdf.Dataset(tools.work / f"phony{number}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("t", None)
            file.createDimension("phony_dim_7", 3)
            file.createDimension("phony_dim_0", 3)
            file.createVariable("v", "f8", ("t", "phony_dim_7", "phony_dim_0"))[:] = [[[number] * 3] * 3]
    tools.run("nmconvert", "phony0.nc", "phony.nmb")
    tools.run("nmcat", "phony0.nc", "-o", "packed.nmb")
    for command in (["nmconvert", "phony0.nc", "out.h5", "--to", "hdf5"], ["nmconvert", "phony.nmb", "out.h5"],
                    ["nmcat", "--mode", "join", "phony0.nc", "phony1.nc", "-o", "out.h5"],
                    ["nmcat", "--mode", "union", "phony.nmb", "-o", "out.h5"], ["nmcat", "phony0.nc", "-o", "out.h5"],
                    ["nmcat", "packed.nmb", "-o", "out.h5", "--block-name", "{group}"]):
        tools.run(*command, "-f")
        with netcdf.Dataset(tools.work / "out.h5") as file:
            place = file["phony0"] if "phony0" in file.groups else file
            tools.check(place["v"].dimensions == ("t", "phony_dim_7", "phony_dim_0"), f"{command}: {place['v'].dimensions}")
            tools.check((place["v"][0] == 0).all(), f"{command}: other values")
    for number in range(2):
        with h5py.File(tools.work / f"plain{number}.h5", "w") as file:
            file.create_dataset("v", data=[[1.0, 2.0]], maxshape=(None, 2))
    tools.run("nmcat", "--mode", "join", "--along", "axis:0", "plain0.h5", "plain1.h5", "-o", "plain.h5")
    with h5py.File(tools.work / "plain.h5") as file:
        tools.check(list(file) == ["v"], f"plain.h5: {list(file)}")


def old_netcdf4(h5py, path):
    """A file as netCDF-4 wrote it before _NCProperties: dimensions in the root group, variables in groups."""
    import numpy

    with h5py.File(path, "w") as file:
        for name, length in (("x", 6), ("y", 12)):
            scale = file.create_dataset(name, (length,), ">f4")
            scale.make_scale()
            del scale.attrs["NAME"]
            scale.attrs["NAME"] = numpy.bytes_(f"This is a netCDF dimension but not a netCDF variable.{length:10d}")
        for group in ("grp1", "grp2"):
            data = file.create_dataset(f"{group}/data", (6, 12), "<u8" if group == "grp1" else "<i4")
            data[...] = 5
            data.dims[0].attach_scale(file["x"])
            data.dims[1].attach_scale(file["y"])


def check_old_netcdf4(tools, netcdf):
    import h5py

    old_netcdf4(h5py, tools.work / "old.nc")
    if shutil.which("ncdump"):
        expected = subprocess.run(["ncdump", "-h", "old.nc"], cwd=tools.work, capture_output=True, check=True).stdout.decode()
        found = text(tools.run("nminspect", "header", "old.nc"))
        tools.check(found == expected, f"header: {found}, expected {expected}")
    # count returns the number of lines that ls prints.
    tools.run("nmcat", "old.nc", "-o", "X.nmb", "--block-name", "X/{group}")
    classic(netcdf, tools.work / "c.nc", ["a", "b"])
    tools.run("nmcat", "c.nc", "-o", "X.nmb", "--append", "--block-name", "X/c")
    for path in ("old.nc", "X.nmb", "c.nc"):
        for pattern in ([], ["**"], ["X/*"], ["X/**"], ["*"], ["X/grp1/*"], ["**/data"], ["**/[xa]"], ["-e", "a$"], ["X/c/*"]):
            listed = lines(tools, "nminspect", "ls", path, "--what", "objects", *pattern)
            count = int(text(tools.run("nminspect", "count", path, "--what", "objects", *pattern)))
            tools.check(count == len(listed), f"{path} {pattern}: count {count}, ls {listed}")
    tools.check(text(tools.run("nminspect", "count", "X.nmb")) == "4\n", "count without a pattern")
    stored = lines(tools, "nminspect", "ls", "X.nmb", "--what", "objects", "--view", "stored")
    tools.check(len(stored) == 6, f"ls --view stored: {stored}")
    # BLOCK/* lists the variables of a block that has no blocks below it.
    tools.check(lines(tools, "nminspect", "ls", "X.nmb", "X/grp1/*") == ["X/grp1/data"], "ls BLOCK/*")
    tools.check(lines(tools, "nminspect", "ls", "X.nmb", "X/c/*") == ["X/c/a", "X/c/b"], "ls BLOCK/*")
    tools.check(lines(tools, "nminspect", "ls", "X.nmb", "X/*") == ["X/c", "X/grp1", "X/grp2"], "ls of blocks")
    tools.check(lines(tools, "nminspect", "ls", "X.nmb", "nosuch/*") == [], "ls of nothing")
    listed = json.loads(text(tools.run("nminspect", "ls", "--json", "X.nmb", "X/c/*")))
    tools.check([row["name"] for row in listed["objects"]] == ["X/c/a", "X/c/b"], f"ls --json: {listed}")


def check_sets(tools, netcdf):
    """--shard with a seed: each block is in one set, whatever else is packed; shares are about right."""
    for number in range(200):
        shutil.copy(tools.work / "c.nc", tools.work / f"s{number:03}.nc")
    inputs = [f"s{number:03}.nc" for number in range(200)]
    tools.run("nmcat", *inputs, "-o", "sets.nmb")
    shares = "train:80,val:10,test:10"

    def chosen(path, *options):
        tools.run("nmcat", *([path] if isinstance(path, str) else path), "-o", "set.nmb", "-f", *options)
        return lines(tools, "nminspect", "ls", "set.nmb")

    whole = [name[:-3] for name in inputs]
    for seed in (["--seed", "1"], ["--seed", "2"], []):
        sets = [chosen("sets.nmb", "--shard", f"{name}/{shares}", *seed) for name in ("train", "val", "test")]
        tools.check(sorted(sum(sets, [])) == whole, f"{seed}: sets {sets}")
        sizes = [len(one) for one in sets]
        tools.check(sizes == [160, 20, 20] if not seed else 140 < sizes[0] < 180 and min(sizes) > 8, f"{seed}: sizes {sizes}")
        if not seed:
            continue
        tools.check(sets[1] != chosen("sets.nmb", "--shard", f"val/{shares}"), f"{seed}: not shuffled")
        tools.check(chosen(inputs[::-1], "--shard", f"val/{shares}", *seed) == sets[1], f"{seed}: other order of inputs")
        tools.check(chosen(inputs[:50], "--shard", f"val/{shares}", *seed) == [name for name in sets[1] if name < "s050"], f"{seed}: fewer inputs")
        (tools.work / "list").write_text("\n".join(whole[:50]) + "\n")
        tools.check(chosen("sets.nmb", "--blocks-from", "list", "--shard", f"val/{shares}", *seed) == [name for name in sets[1] if name < "s050"], f"{seed}: list")
        parts = [chosen("sets.nmb", "--shard", f"{k}/10", *seed) for k in range(1, 11)]
        tools.check(sorted(sum(parts[:8], [])) == sets[0] and parts[8] == sets[1], f"{seed}: parts of 10")
    for shard in ("nosuch/" + shares, "train/train:80,train:20", "train/train:0,val:1", "train/train", "train/train:80,", "a/:1", "a/a:1,b:x"):
        says(tools, f"found --shard {shard}, expected K/N", "nmcat", "sets.nmb", "-o", "no.nmb", "--shard", shard)
    says(tools, "--seed needs --shard", "nmcat", "sets.nmb", "-o", "no.nmb", "--seed", "1")
    for launcher in launchers(tools):
        done = nmcat(tools, launcher, *inputs, "-o", "ranks.nmb", "--shard", f"val/{shares}", "--seed", "2", "-f")
        tools.check(done.returncode == 0 and lines(tools, "nminspect", "ls", "ranks.nmb") == sets_of(tools, inputs, shares), f"{launcher}: {done.stderr}")


def sets_of(tools, inputs, shares):
    tools.run("nmcat", *inputs, "-o", "alone.nmb", "--shard", f"val/{shares}", "--seed", "2", "-f", "-j1")
    return lines(tools, "nminspect", "ls", "alone.nmb")


def check_messages(tools, netcdf):
    says(tools, "found max(v), expected v.max", "nminspect", "find", "kinds.nmb", "max(v) > 1")
    says(tools, "found min(a b), expected `a b`.min", "nminspect", "find", "kinds.nmb", "1 < min( a b )")
    says(tools, "the shape is 2", "nminspect", "dump", "c.nc", "a", "--slab", "5")
    says(tools, "the shape is 2", "nminspect", "dump", "c.nc", "a", "--slab", "0,0")
    for command in (["nmcat", "c.nc", "-o", "-"], ["nmconvert", "c.nc", "-"], ["nmconvert", "c.nc", "-o", "-", "--to", "nmb"],
                    ["nmcat", "c.nc", "-o", "-", "--to", "nc4"]):
        says(tools, "found the output -, but no file is written to standard output", *command)
    tools.check(not (tools.work / "-").exists(), "a file called -")
    with netcdf.Dataset(tools.work / "less.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
    says(tools, "--missing fill", "nmcat", "--mode", "join", "part0.nc", "less.nc", "-o", "no.nmb", exit_code=1)
    done = tools.run("nmverify", "--set", "--mode", "join", "part0.nc", "less.nc", exit_code=1)
    tools.check(b"nothing was written" not in done.stderr and b"1 conflict" in done.stderr, f"--set: {done.stderr}")
    for launcher in launchers(tools):
        for arguments in (["--nosuch"], ["c.nc", "-o", "out.xyz"], ["-h"]):
            done = nmcat(tools, launcher, *arguments)
            said = done.stdout + done.stderr
            word = {"--nosuch": "shows usage", "c.nc": "cannot determine the kind", "-h": "Usage: nmcat"}[arguments[0]]
            tools.check(said.count(word) == 1, f"{launcher} {arguments}: {said}")
    # The short help has no cut sentences.
    for name in ("nmcat", "nmconvert", "nmverify"):
        cut = [line for line in lines(tools, name, "-h") if line.endswith(" ...") and not line.endswith(", ...")]
        tools.check(not cut, f"{name} -h: {cut}")
    for name in ("ls", "count", "find", "dump", "stats", "header", "summary", "diff", "digest", "layout"):
        cut = [line for line in lines(tools, "nminspect", name, "-h") if line.endswith(" ...") and not line.endswith(", ...")]
        tools.check(not cut, f"nminspect {name} -h: {cut}")


def test(tools):
    netcdf = netcdf4()
    check_characters(tools, netcdf)
    check_kinds_of_tags(tools, netcdf)
    check_escaped_names(tools, netcdf)
    check_digests(tools, netcdf)
    check_made_up_names(tools, netcdf)
    check_old_netcdf4(tools, netcdf)
    check_sets(tools, netcdf)
    check_messages(tools, netcdf)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
