#!/usr/bin/python3
"""NMB files with an HDF5 view: netCDF-C and HDF5 show what the classic files hold that the blocks were made of, read as
they are and by their programs; what has no view is refused by name; views come and go with commits.

    hdf5_view_test.py --tools FOLDER

Classic files of NMB_CORPUS, a fortieth or with NMB_ALL=1 all, and samples of the workload beside it take part where they are
there. Skipped (exit code 77) without h5py and netCDF4-python.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import ALL, h5py, main, netCDF4, numpy, some  # noqa: E402
from view_comparison import Comparison  # noqa: E402

HDF5_PROGRAMS = all(shutil.which(p) for p in ("h5ls", "h5dump", "h5stat", "h5repack", "h5diff", "ncdump", "nccopy"))
CDF5_ONLY = ["u1", "u2", "u4", "i8", "u8"]


def every_type(path, kind, records):
    types = ["i1", "S1", "i2", "i4", "f4", "f8"] + (CDF5_ONLY if kind == "NETCDF3_64BIT_DATA" else [])
    with netCDF4.Dataset(path, "w", format=kind) as d:
        d.setncatts({"title": "every type", "empty": "", "numbers": numpy.arange(5, dtype="i4"), "one": numpy.float64(2.5)})
        for name, length in (("x", 3), ("y", 4), ("t", None), ("alone", 7)):
            d.createDimension(name, length)
        for t in types:
            scalar = d.createVariable(f"scalar_{t}", t, ())
            scalar[...] = b"c" if t == "S1" else 7
            fixed = d.createVariable(f"fixed_{t}", t, ("x", "y"), fill_value=b"-" if t == "S1" else 9)
            fixed[...] = numpy.full((3, 4), b"z") if t == "S1" else numpy.arange(12).reshape(3, 4)
            fixed.setncatts({"units": "K", "range": numpy.array([1, 2], "i2")})
            grows = d.createVariable(f"grows_{t}", t, ("t", "y"))
            for r in range(records):
                grows[r] = numpy.full(4, b"r") if t == "S1" else numpy.arange(4) + r
        d.createVariable("t", "f8", ("t",))[:] = numpy.arange(records)
        d.createVariable("x", "i2", ("x",))[:] = [3, 2, 1]


def one_record_variable(path):
    """Records without padding."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as d:
        d.createDimension("t", None)
        d.createDimension("three", 3)
        d.createVariable("odd", "i1", ("t", "three"))[:] = numpy.arange(210).reshape(70, 3) % 100


def names_that_need_care(path):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as d:
        for name, length in (("time", 2), ("\u00e9t\u00e9", 3), ("space dim", 2), ("lat", 5), ("n" * 200, 2)):
            d.createDimension(name, length)
        # Names of dimensions that they do not begin with, and a coordinate of two dimensions.
        d.createVariable("lat", "f4", ("time", "lat"))[...] = numpy.arange(10).reshape(2, 5)
        d.createVariable("time", "S1", ("time", "\u00e9t\u00e9"))[...] = numpy.full((2, 3), b"q")
        d.createVariable("\u00e9t\u00e9", "f8", ())[...] = 3
        for name in ("a-b.c", "with blank", "n" * 250, "\u65e5\u672c", "_FillValue_not", "Z", "a"):
            v = d.createVariable(name, "i4", ("space dim",))
            v[...] = [1, 2]
            v.setncattr("\u00fcnits", "gr\u00fcn")


def no_variables(path):
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as d:
        d.createDimension("t", None)
        d.createDimension("n", 4)
        d.note = "nothing here"


def many_records(path, records):
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as d:
        d.createDimension("t", None)
        d.createDimension("n", 2)
        d.createVariable("a", "i2", ("t",))[:] = numpy.arange(records) % 3000
        d.createVariable("b", "f4", ("t", "n"))[:] = numpy.arange(2 * records).reshape(records, 2)


def many_variables(path, count):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as d:
        for i in range(9):
            d.createDimension(f"d{i}", i + 1)
        for i in range(count):
            d.createVariable(f"v{(i * 7919) % count}", "i2", (f"d{i % 9}",))


def large(path):
    """Values of more than one piece, which lie in one run."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as d:
        d.createDimension("n", 900_000)
        d.createVariable("a", "i1", ())[...] = 1
        d.createVariable("big", "f4", ("n",))[...] = numpy.arange(900_000, dtype="f4")


def has_superblock(path):
    with path.open("rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


class ViewTest:
    def __init__(self, test):
        self.test = test
        self.comparison = Comparison()

    def path(self, name):
        return self.test.work / name

    def compare(self, path, sources, programs=True, values=True):
        self.test.run("nmverify", path)
        self.comparison.blocks(path, sources)
        if programs and HDF5_PROGRAMS:
            self.comparison.programs(path, self.test.work, values)

    def generated(self):
        made = {}
        for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
            for records in (0, 1, 5):
                made[f"{kind}_{records}.nc"] = lambda p, k=kind, r=records: every_type(p, k, r)
        made |= {"one.nc": one_record_variable, "names.nc": names_that_need_care, "none.nc": no_variables, "large.nc": large,
                 "records.nc": lambda p: many_records(p, 5000), "some.nc": lambda p: many_variables(p, 1015),
                 "more.nc": lambda p: many_variables(p, 1016), "many.nc": lambda p: many_variables(p, 2100)}
        sources = {}
        for number, (name, make) in enumerate(made.items()):
            make(self.path(name))
            out = self.path(name + ".nmb")
            self.test.run("nmconvert", self.path(name), out, "--hdf5-view", "on")
            self.compare(out, {"": self.path(name)}, programs=ALL or number % 4 == 1, values=name != "large.nc")
            if name not in ("some.nc", "more.nc"):
                sources[name[:-3]] = self.path(name)
        self.test.run("nmcat", *sources.values(), "-o", "all.nmb", "--hdf5-view", "on", "-j", "1")
        self.test.run("nmcat", *sources.values(), "-o", "two.nmb", "--hdf5-view", "on", "-j", "2")
        self.test.check(self.path("all.nmb").read_bytes() == self.path("two.nmb").read_bytes(), "other bytes on two threads")
        self.compare(self.path("all.nmb"), sources, values=False)
        self.paths(sources["one"], sources["names"])
        self.commits(sources)
        self.damage()

    def paths(self, one, two):
        """Blocks at all depths, in an order in which groups are complete late."""
        names = ["a", "a-", "a-/x", "a/b", "a/b/c/d", "a.b/c", "ab", "b/c", "b/c-d/e", "b/c/d"]
        self.path("tree").mkdir()
        inputs = []
        for i, name in enumerate(names):
            copy = self.path("tree") / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            while copy.is_dir() or copy.exists():
                copy = copy.with_name(copy.name + ".nc")
            copy = copy.with_name(copy.name + ".nc")
            shutil.copy((one, two)[i % 2], copy)
            inputs.append(copy)
        for i, name in enumerate(names):
            append = ["--append"] if i else []
            self.test.run("nmcat", inputs[i], "-o", "tree.nmb", "--block-name", name, *append, "--hdf5-view", "auto" if i % 3 else "on")
        self.compare(self.path("tree.nmb"), dict(zip(names, inputs)), values=False)

    def commits(self, sources):
        test, path = self.test, self.path("grows.nmb")
        test.run("nmcat", sources["one"], "-o", path)
        test.check(not has_superblock(path), "a superblock without a view")
        test.run("nmconvert", "--add-hdf5-view", path)
        self.compare(path, {"one": sources["one"]})
        same = path.read_bytes()
        test.run("nmconvert", "--add-hdf5-view", path)
        test.check(path.read_bytes() == same, "a view that was there is made again")
        # It stays as it is, and shows its own generation. That is told once.
        test.run("nmcat", sources["names"], "-o", path, "--append", "--hdf5-view", "off", says="the existing view shows generation 2")
        test.check(path.read_bytes()[:256] == same[:256], "another HDF5 superblock")
        self.shown(path, 2, ["one"])
        self.compare(path, {"one": sources["one"]})
        test.run("nmcat", sources["records"], "-o", path, "--append", "--hdf5-view", "off")
        test.check("HDF5 view" not in test.said, f"a view that stays behind is told again: {test.said}")
        self.shown(path, 2, ["one"])
        test.run("nmconvert", "--add-hdf5-view", path)
        self.shown(path, 5, ["names", "one", "records"])
        # Without the option, the view is renewed.
        test.run("nmcat", sources["large"], "-o", path, "--append")
        self.shown(path, 6, ["large", "names", "one", "records"])
        self.compare(path, {name: sources[name] for name in ("one", "names", "large", "records")}, values=False)
        # One that cannot be made leaves the one that is there.
        with netCDF4.Dataset(self.path("too_long.nc"), "w", format="NETCDF3_CLASSIC") as d:
            d.text = "x" * 70000
        test.run("nmcat", "too_long.nc", "-o", path, "--append", "--hdf5-view", "auto", says="found an attribute with its name")
        self.shown(path, 6, ["large", "names", "one", "records"])
        # A copy would show all blocks, or none.
        test.run("nmconvert", path, "repacked.nmb", "--repack", exit_code=2, says="use --hdf5-view off to write OUTPUT without a view")
        test.run("nmconvert", path, "without.nmb", "--repack", "--hdf5-view", "off")
        test.check(not has_superblock(self.path("without.nmb")), "--hdf5-view off keeps the view")
        test.run("nmconvert", path, "back.nc", "--extract", "large")
        test.check(self.path("back.nc").read_bytes() == sources["large"].read_bytes(), "other bytes come back")

    def shown(self, path, generation, groups):
        test = self.test
        test.run("nmverify", path)
        test.check(f"HDF5 view\tof generation {generation}\n" in test.run("nminspect", path), f"nminspect: not generation {generation}")
        test.check(f'"hdf5_view_generation": {generation},' in test.run("nminspect", "--json", path), "nminspect --json")
        with h5py.File(path) as file:
            test.check(sorted(file) == groups, f"found groups {sorted(file)}, expected {groups}")

    def damage(self):
        """Each byte of a view, and of what leads to it, is looked at."""
        whole = self.path("one.nc.nmb").read_bytes()
        at = whole.index(b"\x89NMBVIEW")
        for offset in some([*range(0, 256, 5), *range(at, at + 1500, 61)], 8):
            for bit in (1, 128):
                data = bytearray(whole)
                data[offset] ^= bit
                self.path("bad.nmb").write_bytes(data)
                self.test.run("nmverify", "bad.nmb", exit_code=1)

    def failures(self):
        """An append that fails leaves the view that is there."""
        test = self.test
        if not shutil.which("strace"):
            return
        test.run("nmcat", "one.nc", "-o", "kept.nmb", "--hdf5-view", "on")
        whole, other = self.path("kept.nmb").read_bytes(), 0
        for call in range(1, 40):
            self.path("kept.nmb").write_bytes(whole)
            done = subprocess.run(
                ["strace", "-f", "-o", "/dev/null", "-P", self.path("kept.nmb"), "-e", f"inject=pwrite64:error=ENOSPC:when={call}",
                 test.tools / "nmcat", "large.nc", "-o", "kept.nmb", "--append", "--hdf5-view", "on", "-j1"],
                cwd=test.work, capture_output=True, timeout=60,
            )
            if done.returncode == 0:
                break
            other += self.path("kept.nmb").read_bytes()[:256] != whole[:256]
            test.check(has_superblock(self.path("kept.nmb")), f"call {call}: the view is gone")
        test.check(4 < call < 39 and other <= 1, f"{call} calls, after {other} of which the view was another one")

    def refusals(self):
        test = self.test

        def refused(source, reason, *options, append=False):
            out = self.path("refused.nmb")
            test.run("nmcat", source, "-o", out, "--hdf5-view", "on", "-f", *options, exit_code=2, says=reason)
            test.check(not out.exists(), f"{source}: something was written")
            test.run("nmcat", source, "-o", out, "--hdf5-view", "auto", "-f", *options, says=reason)
            test.check(out.exists() and not has_superblock(out), f"{source}: auto leaves something")
            test.run("nmverify", out)
            before = out.read_bytes()
            test.run("nmcat", source, "-o", out, "--hdf5-view", "auto", "-f", "--strict", *options, exit_code=1, says="with --strict")
            test.check(out.read_bytes() == before, f"{source}: something was written where warnings are findings")
            test.run("nmconvert", "--add-hdf5-view", out, exit_code=2, says=reason)
            test.check(out.read_bytes() == before, f"{source}: another file after a view that was refused")
            out.unlink()

        refused("large.nc", "values in other files", "--link")
        with netCDF4.Dataset(self.path("long.nc"), "w", format="NETCDF3_CLASSIC") as d:
            d.text = "x" * 70000
        refused("long.nc", "attribute \"text\": found an attribute")
        deep = "a/" * 30000 + "a"
        refused("one.nc", "found a path of 30001 groups", "--block-name", deep)
        test.run("nmcat", "one.nc", "-o", "deep.nmb", "--block-name", deep, "--hdf5-view", "auto", "--mem", "200M")
        self.long_names(refused)
        with netCDF4.Dataset(self.path("scale.nc"), "w", format="NETCDF3_CLASSIC") as d:
            d.createVariable("v", "i4", ()).CLASS = "x"
        refused("scale.nc", "attribute \"CLASS\"")
        # A block and a variable of one name; records that grow, of which one lies in two places, are in the unit tests.
        shutil.copy(self.path("one.nc"), self.path("odd.nc"))
        test.run("nmcat", "one.nc", "-o", "clash.nmb", "--block-name", "a")
        test.run("nmcat", "odd.nc", "-o", "clash.nmb", "--append", "--block-name", "a/odd", "--hdf5-view", "on", exit_code=2,
                 says="object \"a/odd\": found two objects of one name")
        test.run("nmverify", "clash.nmb")
        test.run("nmcat", "odd.nc", "-o", "clash.nmb", "--append", "--block-name", "a/odd", "--hdf5-view", "auto", says="two objects")
        test.run("nmverify", "clash.nmb")
        test.run("nmcat", "one.nc", "-o", "shown.nmb", "--block-name", "a", "--hdf5-view", "on")
        before = self.path("shown.nmb").read_bytes()
        test.run("nmcat", "odd.nc", "-o", "shown.nmb", "--append", "--hdf5-view", "off", "--strict", exit_code=1,
                 says="the existing view shows generation 1")
        test.check(self.path("shown.nmb").read_bytes() == before, "another file where warnings are findings")
        test.run("nmverify", "shown.nmb")
        test.run("nmcat", "one.nc", "-o", "x.nc", "--hdf5-view", "on", exit_code=2, says="--hdf5-view")
        test.run("nmcat", "one.nc", "-o", "x.nmb", "--hdf5-view", "on", "--dry-run", exit_code=2, says="dry run")
        test.run("nmconvert", "one.nc", "x.nc", "--to", "cdf5", "--hdf5-view", "on", exit_code=2, says="an NMB output")
        test.run("nmconvert", "--add-hdf5-view", "one.nc", exit_code=2, says="one.nc")
        test.run("nmconvert", "--add-hdf5-view", "nowhere.nmb", exit_code=2)
        test.run("nmconvert", "--add-hdf5-view", "large.nc.nmb", "one.nc", exit_code=2, says="exclude each other")

    def compressed(self):
        """Pieces with deflate are shown as chunks where the writer knew of the view; else they are named."""
        test, source = self.test, self.path("deflated.nc")
        with netCDF4.Dataset(source, "w", format="NETCDF3_64BIT_DATA") as d:
            for name, length in (("t", None), ("y", 3000), ("x", 400), ("prime", 300007), ("n", 190000)):
                d.createDimension(name, length)
            d.createVariable("first", "f8", ())[...] = 1
            d.createVariable("y", "f8", ("y",))[:] = numpy.arange(3000)
            d.createVariable("flat", "f4", ("y", "x"))[:] = numpy.arange(1200000).reshape(3000, 400) % 97
            d.createVariable("noise", "f8", ("n",))[:] = numpy.random.default_rng(1).random(190000)
            d.createVariable("primes", "i4", ("prime",))[:] = numpy.arange(300007) // 9
            d.createVariable("t", "f8", ("t",))
            cube = d.createVariable("cube", "i2", ("t", "y", "x"))
            level = d.createVariable("level", "f4", ("t", "y"))
            for i in range(3):
                d["t"][i], cube[i], level[i] = i, numpy.arange(1200000).reshape(3000, 400) % (i + 11), numpy.arange(3000) + i

        def lines(name):
            return [line.split("\t")[:2] for line in test.run("nminspect", "view", name).splitlines()]

        out, plain = self.path("deflated.nmb"), self.path("plain.nmb")
        test.run("nmcat", source, "-o", plain)
        test.run("nmcat", source, "-o", out, "--compress", "deflate", "--hdf5-view", "on")
        test.check(lines(out) == [], f"deflated.nmb leaves out {lines(out)}")
        self.compare(out, {"deflated": source})
        test.check(out.stat().st_size < plain.stat().st_size * 0.45, f"deflated.nmb has {out.stat().st_size} bytes")
        with h5py.File(out) as file:
            found = {name: (v.compression, v.chunks) for name, v in file["deflated"].items() if isinstance(v, h5py.Dataset)}
            for name, chunks in (("flat", (600, 400)), ("cube", (1, 1000, 400)), ("y", (3000,))):
                test.check(found[name] == ("gzip", chunks), f"deflated.nmb: {name}: {found[name]}")
            test.check(found["primes"] == (None, None) and found["first"] == (None, None), f"deflated.nmb: {found}")
        test.run("nmconvert", out, "back.nc", "--extract", "deflated", "-f")
        test.check(self.path("back.nc").read_bytes() == source.read_bytes(), "deflated.nmb: other bytes come back")
        test.run("nmconvert", out, "copied.nmb", "--repack")
        self.compare(self.path("copied.nmb"), {"deflated": source}, programs=False, values=False)
        test.check(lines("copied.nmb") == [], f"copied.nmb leaves out {lines('copied.nmb')}")
        for codec in ("deflate", "zstd"):
            test.run("nmcat", source, "-o", "late.nmb", "--compress", codec, "-f")
            test.run("nmconvert", "--add-hdf5-view", "late.nmb", says='variable "deflated/flat" (pieces)')
            test.run("nmverify", "late.nmb")
            gone = {object for reason, object in lines("late.nmb") if reason == "pieces"}
            test.check({f'variable "deflated/{v}"' for v in ("flat", "cube", "y")} <= gone, f"late.nmb leaves out {gone}")
            with netCDF4.Dataset(self.path("late.nmb")) as file:
                group = file["deflated"]
                test.check(len(group.dimensions["y"]) == 3000 and "y" not in group.variables, f"late.nmb: {group}")
                test.check("noise" not in group.variables or len(group["noise"][:]) == 190000, "late.nmb: noise")

        # Values that cannot be compressed and begin at no multiple of 8 lie in two places.
        with netCDF4.Dataset(self.path("noise.nc"), "w", format="NETCDF3_64BIT_DATA") as d:
            d.createDimension("n", 190000)
            d.createVariable("odd", "i1", ())[...] = 1
            d.createVariable("noise", "f8", ("n",))[:] = numpy.random.default_rng(1).random(190000)
            d.createVariable("flat", "f4", ("n",))[:] = 1
        test.run("nmconvert", "noise.nc", "noise.nmb", "--compress", "deflate", "--hdf5-view", "on", says="(pieces)")
        test.run("nmverify", "noise.nmb")
        test.check(lines("noise.nmb") == [["pieces", 'variable "noise"']], f"noise.nmb leaves out {lines('noise.nmb')}")

    def long_names(self, refused):
        """netCDF reads names of 255 bytes, and no longer ones, in views and in netCDF-4 files."""
        test = self.test

        def make(name, length, kind):
            text = name * length
            with netCDF4.Dataset(self.path("names.nc"), "w", format="NETCDF3_CLASSIC") as d:
                d.createDimension("y", 2)
                d.createDimension(text if kind in ("dimension", "hidden") else "x", 3)
                if kind in ("variable", "hidden"):
                    d.createVariable(text, "f4", ("y", text) if kind == "hidden" else ("x",))[:] = 1
                if kind.endswith("attribute"):
                    (d if kind == "attribute" else d.createVariable("v", "f4", ())).setncattr(text, 1)

        def outputs(found, *options):
            refused("names.nc", found, *options)
            test.run("nmcat", "names.nc", "-o", "names.nmb", "-f", *options)
            for call in (("nmconvert", "names.nmb", "no.nc4", "--to", "nc4"), ("nmcat", "names.nc", "-o", "no.nc4", *options)):
                test.run(*call, exit_code=2, says=found)
                test.check(not self.path("no.nc4").exists(), f"{found}: no.nc4 was written")
            test.run("nmconvert", "names.nmb", "plain.h5", "--to", "hdf5", "-f")
            test.run("nmcat", "names.nc", "-o", "plain.h5", "-f", *options)
            with h5py.File(self.path("plain.h5")):
                pass

        for kind in ("dimension", "variable", "attribute", "variable attribute"):
            make("n", 256, kind)
            outputs("a name of 256 bytes")
            make("n", 255, kind)
            test.run("nmcat", "names.nc", "-o", "named.nmb", "-f", "--hdf5-view", "on")
            test.run("nmconvert", "named.nmb", "named.nc", "--to", "nc4", "-f")
            for path in ("named.nmb", "named.nc"):
                done = subprocess.run(["ncdump", "-h", path], cwd=test.work, capture_output=True, text=True)
                test.check(done.returncode == 0 and "n" * 255 in done.stdout, f"{kind}: ncdump {path}: {done.stderr}")
        make("n", 250, "hidden")
        outputs("a name of 265 bytes")
        make("n", 2, "variable")
        outputs("a name of 256 bytes", "--block-name", "a/" + "n" * 256 + "/b")

    def workload(self, corpus):
        generator = corpus.resolve().parent / "workload" / "gen_graphs.py"
        if not generator.exists():
            return
        folder = self.path("workload")
        subprocess.run([sys.executable, generator, "--out", folder, "--format", "cdf5", "--samples", "300", "--nfiles", "4",
                        "--max-hits", "120", "--data"], check=True, capture_output=True)
        sources = sorted(folder.iterdir())
        self.test.run("nmcat", *sources, "--split-names", r"^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}",
                      "-o", "samples.nmb", "--hdf5-view", "on")
        self.test.run("nmverify", "samples.nmb")
        names = self.test.run("nminspect", "ls", "samples.nmb").split()
        self.test.check(len(names) >= 300, f"found {len(names)} samples")
        some = {name: self.path(f"sample{i}.nc") for i, name in enumerate(names[:: max(1, len(names) // 10)])}
        for name, path in some.items():
            self.test.run("nmconvert", "samples.nmb", path, "--extract", name)
        self.comparison.blocks(self.path("samples.nmb"), some)
        if HDF5_PROGRAMS:
            self.comparison.programs(self.path("samples.nmb"), self.test.work, False)

    def corpus(self, corpus):
        sources, shown = [], 0
        for source in sorted(corpus.rglob("*")):
            if not source.is_file() or {"bad", "hostile"} & set(source.parts) or source.stat().st_size > 10_000_000:
                continue
            with source.open("rb") as stream:
                if stream.read(4) in (b"CDF\x01", b"CDF\x02", b"CDF\x05"):
                    sources.append(source)
        tried = some(sources, 40)
        for source in tried:
            out = self.path("corpus.nmb")
            self.test.run("nmconvert", source, out, "--hdf5-view", "auto", "-f", "--no-sync", exit_code=None)
            if self.test.exit_code != 0 or not has_superblock(out):
                continue
            shown += 1
            self.compare(out, {"": source}, programs=shown % 8 == 0, values=False)
        self.test.check(shown > len(tried) * 3 // 5, f"{shown} of {len(tried)} files of the collection have a view")


def check(test):
    view = ViewTest(test)
    view.generated()
    view.compressed()
    view.failures()
    view.refusals()
    if "NMB_CORPUS" in os.environ:
        view.workload(Path(os.environ["NMB_CORPUS"]))
        view.corpus(Path(os.environ["NMB_CORPUS"]))
    test.check(view.comparison.variables > 100, "too little was compared")
    test.problems += view.comparison.problems


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
