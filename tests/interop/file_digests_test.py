#!/usr/bin/python3
"""Digests of classic files that became blocks: nmcat and nmconvert record what hashlib and xxhash compute from the files,
with any number of threads and processes; copies keep them; nmconvert --original and nmverify check them; recovery keeps them
for blocks that are whole.

    file_digests_test.py --tools FOLDER

Skipped (exit code 77) without h5py, netCDF4-python, numpy and xxhash.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import main, netCDF4, numpy  # noqa: E402

try:
    import xxhash
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SPEC = Path(__file__).resolve().parents[2] / "spec"
sys.path[:0] = [str(SPEC / "vectors")]
import assemble  # noqa: E402


def classic(path, kind, records, length):
    with netCDF4.Dataset(path, "w", format=kind) as d:
        d.createDimension("t", None)
        d.createDimension("x", length)
        d.title = path.stem
        if length:
            d.createVariable("v", "f8", ("x",))[:] = numpy.arange(length) * 1.5
        r = d.createVariable("r", "i2", ("t",))
        r[:records] = numpy.arange(records)


def sources(work):
    """Classic files: values after the block, in one piece, in several pieces, none; bytes after the last value."""
    for name, kind, records, length in (("small", "NETCDF3_CLASSIC", 3, 5), ("middle", "NETCDF3_64BIT_OFFSET", 2, 20_000),
                                        ("large", "NETCDF3_64BIT_DATA", 7, 500_000), ("odd", "NETCDF3_CLASSIC", 1, 3)):
        classic(work / f"{name}.nc", kind, records, length)
    with open(work / "odd.nc", "ab") as stream:
        stream.write(b"trailing bytes")
    with netCDF4.Dataset(work / "bare.nc", "w", format="NETCDF3_CLASSIC") as d:
        d.title = "no values"
    return ["small", "middle", "large", "odd", "bare"]


class FileDigests:
    def __init__(self, test):
        self.test, self.work = test, test.work

    def listed(self, file):
        document = json.loads(self.test.run("nminspect", "files", "--json", file))
        return {one["block"]: one for one in document["originals"] if one["file"] is None}

    def right(self, file, names, with_sha256, block="{}"):
        """The file has the digests of these classic files, and nothing else."""
        listed = self.listed(file)
        self.test.check(sorted(listed) == sorted(block.format(n) for n in names), f"{file}: lists {sorted(listed)}")
        for name in names:
            data, one = (self.work / f"{name}.nc").read_bytes(), listed.get(block.format(name))
            if one is None:
                continue
            expected = {"bytes": len(data), "xxh3_128": xxhash.xxh3_128_hexdigest(data),
                        "sha256": hashlib.sha256(data).hexdigest() if with_sha256 else None}
            found = {key: one[key] for key in expected}
            self.test.check(found == expected, f"{file}: {name} has {found}, expected {expected}")

    def given_back(self, file, names, block="{}"):
        for name in names:
            self.test.run("nmconvert", file, "--original", block.format(name), "-f", "-o", "back.nc")
            self.test.check((self.work / "back.nc").read_bytes() == (self.work / f"{name}.nc").read_bytes(), f"{file}: {name} comes back changed")

    def recorded(self, names):
        run, inputs = self.test.run, [f"{n}.nc" for n in names]
        run("nmcat", *inputs, "-o", "sha.nmb", "--digest", "sha256", "-j", "1")
        run("nmcat", *inputs, "-o", "xxh.nmb", "--digest", "xxh128", "-j", "3", "--stats", "basic")
        run("nmcat", *inputs, "-o", "none.nmb")
        self.right("sha.nmb", names, True)
        self.right("xxh.nmb", names, False)
        self.right("none.nmb", [], False)
        for file in ("sha.nmb", "xxh.nmb"):
            run("nmverify", file)
            said = run("nmverify", "--originals", file)
            self.test.check("5 of 5 originals sound" in said, f"{file}: {said}")
            self.given_back(file, names)
        run("nmcat", *inputs, "-o", "threads.nmb", "--digest", "sha256", "-j", "4")
        self.same("threads.nmb", "sha.nmb")
        mpi = shutil.which("mpiexec.openmpi")
        if mpi and (self.test.tools.parent / "lib/nmb/nmb-mpi-openmpi.so").exists():
            done = subprocess.run([mpi, "--oversubscribe", "-n", "3", self.test.tools / "nmcat", *inputs, "-o", "ranks.nmb", "--digest", "sha256"],
                                  cwd=self.work, capture_output=True, text=True, timeout=120)
            self.test.check(done.returncode == 0, f"mpiexec: {done.stderr}")
            if done.returncode == 0:
                self.same("ranks.nmb", "sha.nmb")

    def same(self, a, b):
        self.test.check((self.work / a).read_bytes() == (self.work / b).read_bytes(), f"{a} and {b} have other bytes")

    def copies(self, names):
        """Blocks that are copied whole keep the digests; others do not get any."""
        run = self.test.run
        run("nmcat", "sha.nmb", "-o", "copy.nmb", "--block-name", "{group}")
        self.right("copy.nmb", names, True)
        run("nmcat", "xxh.nmb", "-o", "packed.nmb", "--compress", "zstd", "--block-name", "copy/{group}")
        self.right("packed.nmb", names, False, "copy/{}")
        self.given_back("packed.nmb", names, "copy/{}")
        run("nmverify", "packed.nmb")
        run("nmconvert", "--repack", "sha.nmb", "repacked.nmb")
        self.right("repacked.nmb", names, True)
        run("nmcat", "small.nc", "-o", "joined.nmb", "--mode", "union")
        self.right("joined.nmb", [], False)
        run("nmconvert", "middle.nc", "one.nmb", "--digest", "xxh128")
        self.right("one.nmb", ["middle"], False, "")
        run("nmcat", "small.nc", "-o", "grown.nmb", "--digest", "xxh128")
        run("nmcat", "large.nc", "odd.nc", "-o", "grown.nmb", "--append", "--digest", "xxh128")
        self.right("grown.nmb", ["small", "large", "odd"], False)
        classic(self.work / "again" / "odd.nc", "NETCDF3_CLASSIC", 4, 4)
        run("nmcat", "again/odd.nc", "-o", "grown.nmb", "--append", "--replace")
        self.right("grown.nmb", ["small", "large"], False)
        run("nmverify", "grown.nmb")
        for option in (["--compress", "zstd"], ["--mode", "union"], ["--no-originals"], ["--link"]):
            run("nmcat", "small.nc", "-o", "no.nmb", "--digest", "xxh128", *option, exit_code=2, says="--digest")
        for arguments in (["small.nc", "no.nmb", "--compress", "zstd"], ["small.nc", "no.nmb", "--to", "cdf5"], ["sha.nmb", "no.nmb"]):
            run("nmconvert", *arguments, "--digest", "xxh128", exit_code=2, says="--digest xxh128 needs")
        self.test.check(not (self.work / "no.nmb").exists(), "no.nmb was written")

    def wrong(self):
        """A wrong digest is a finding, and the file is not given back."""
        for vector, finding in (("R-OD-1_digest", "R-OD-1"), ("R-OD-3_sha256", "R-OD-3"), ("R-OD-1_values_changed", "R-OD-1")):
            data, _, _ = assemble.assemble((SPEC / "vectors" / f"{vector}.txt").read_text())
            (self.work / "wrong.nmb").write_bytes(data)
            said = self.test.run("nmverify", "--originals", "wrong.nmb", exit_code=1)
            self.test.check(finding in said and "0 of 1 original sound" in said, f"{vector}: nmverify says {said!r}")
            self.test.run("nmconvert", "wrong.nmb", "--original", "b", "-o", "wrong.nc", exit_code=1, says=finding)
            self.test.check(not (self.work / "wrong.nc").exists(), f"{vector}: wrong.nc was written")

    def recovered(self):
        """Recovery keeps the digests of blocks that are whole."""
        data = bytearray((self.work / "xxh.nmb").read_bytes())
        at = data.find((numpy.arange(400_000, 400_004) * 1.5).astype(">f8").tobytes())
        data[at] ^= 1  # a value of large.nc
        (self.work / "damaged.nmb").write_bytes(data)
        self.test.run("nmconvert", "damaged.nmb", "--original", "large", "-o", "large_back.nc", exit_code=1)
        self.test.run("nmverify", "--recover", "whole.nmb", "damaged.nmb", exit_code=3)
        self.right("whole.nmb", ["small", "middle", "odd", "bare"], False)
        self.test.run("nmverify", "--recover", "partial.nmb", "--partial", "damaged.nmb", exit_code=3)
        self.right("partial.nmb", ["small", "middle", "odd", "bare"], False)
        self.test.run("nmverify", "whole.nmb")
        self.test.run("nmverify", "partial.nmb")


def check(test):
    names = sources(test.work)
    (test.work / "again").mkdir()
    digests = FileDigests(test)
    digests.recorded(names)
    digests.copies(names)
    digests.wrong()
    digests.recovered()


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
