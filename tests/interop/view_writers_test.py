#!/usr/bin/python3
"""HDF5 and netCDF programs that open an .nmb file for writing change no byte of it, nor touch it: with a view that shows
the newest generation, an older one, without a view, and where an HDF5 file is packed at a place where HDF5 looks for one.

    view_writers_test.py --tools FOLDER

Skipped (exit code 77) without h5py, netCDF4-python, xarray, h5netcdf, NCO and HDF5's programs.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

PROGRAMS = ("ncatted", "ncks", "ncrename", "h5clear", "h5repack", "h5copy")
SIGNATURE = b"\x89HDF\r\n\x1a\n"
PLACES = (32768, 65536, 131072, 262144)  # at 16384 lies a block

OPENS = {
    "h5py": "f = h5py.File(path, mode); f['added'] = [1, 2, 3]; f.close()",
    "h5py, a table that grows": "f = h5py.File(path, mode); f.create_dataset('log', (1,), maxshape=(None,)).resize((9,)); f.close()",
    "h5py, newest format": "f = h5py.File(path, mode, libver='latest'); f['added'] = 1; f.swmr_mode = True; f.close()",
    "h5py in memory": "f = h5py.File(path, mode, driver='core', backing_store=True); f['added'] = 1; f.close()",
    "netCDF4": "d = netCDF4.Dataset(path, mode); d.added = 1; d.createDimension('n', 3); d.close()",
    "h5netcdf": "f = h5netcdf.File(path, mode); f.attrs['added'] = 1; f.close()",
}
SOME = ("h5py, a", "h5py, r+", "netCDF4, r+", "ncatted", "ncks -A", "h5clear -s", "h5clear, all")
XARRAY = "xarray.Dataset({'added': ('n', [1, 2])}).to_netcdf(path, mode='a', engine=mode)"


def forked(code, path, mode):
    """Runs Python in a process of its own, which has the modules already; whether it came to its end."""
    process = os.fork()
    if process == 0:
        try:
            signal.alarm(120)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            exec(code, {**globals(), "path": str(path), "mode": mode})
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(process, 0)[1] == 0


def ran(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=120).returncode == 0


def calls(path, folder):
    """{what: call that tells whether it succeeded} of programs that write in place."""
    made = {f"{what}, {mode}": lambda code=code, mode=mode: forked(code, path, mode)
            for what, code in OPENS.items() for mode in ("a", "r+")}
    made |= {f"xarray, {engine}": lambda engine=engine: forked(XARRAY, path, engine) for engine in ("netcdf4", "h5netcdf")}
    commands = {
        "ncatted": ("ncatted", "-h", "-a", "added,global,o,c,text", path),
        "ncatted -O": ("ncatted", "-O", "-h", "-a", "added,global,o,c,text", path),
        "ncrename": ("ncrename", "-h", "-v", ".v,w", path),
        "ncks -A": ("ncks", "-h", "-A", "source.nc", path),
        "h5clear -s": ("h5clear", "-s", path),
        "h5clear -m": ("h5clear", "-m", path),
        "h5clear --increment": ("h5clear", "--increment", path),
        "h5clear --increment=4096": ("h5clear", "--increment=4096", path),
        "h5clear, all": ("h5clear", "-s", "-m", "--increment=1", path),
        "h5repack": ("h5repack", path, path),
        "h5copy": ("h5copy", "-i", "other.h5", "-o", path, "-s", "q", "-d", "q"),
    }
    return made | {what: lambda command=command: ran(command, folder) for what, command in commands.items()}


class Writers:
    def __init__(self, test):
        self.test = test

    def path(self, name):
        return self.test.work / name

    def plain(self):
        """What is tried here writes to a file that nothing guards: it does not fail for another reason."""
        path = self.path("plain.nc")
        for what in [*OPENS, "xarray, netcdf4", "xarray, h5netcdf"]:
            for whole in [what] if what in calls(path, self.test.work) else [f"{what}, a", f"{what}, r+"]:
                if what == "h5py, newest format":  # its swmr_mode needs a file that was made for it
                    with h5py.File(path, "w", libver="latest"):
                        pass
                else:
                    with netCDF4.Dataset(path, "w"):
                        pass
                self.test.check(calls(path, self.test.work)[whole](), f"{whole}: failed to write to a file without a guard")

    def unharmed(self, path, some=None):
        """A copy is tried, which nothing but these programs touches; some: by these alone."""
        data = path.read_bytes()
        copy = self.path("tried.nmb")
        for what, succeeds in calls(copy, self.test.work).items():
            if some and what not in some:
                continue
            copy.write_bytes(data)
            before = copy.stat()
            wrote = succeeds()
            where = f"{path.name}: {what}"
            self.test.check(not wrote, f"{where}: it says that it wrote")
            self.test.check(hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(data).digest(), f"{where}: other bytes")
            # Not even bytes that are written back.
            self.test.check(copy.stat().st_mtime_ns == before.st_mtime_ns, f"{where}: the file was written to")
        self.test.run("nmverify", copy)
        # It tells, and does not write.
        subprocess.run(["h5clear", "--filesize", copy], cwd=self.test.work, capture_output=True, timeout=120)
        self.test.check(copy.read_bytes() == data, f"{path.name}: h5clear --filesize: other bytes")

    def views(self):
        run = self.test.run
        self.source("source.nc", 7)
        self.source("more.nc", 9)
        with h5py.File(self.path("other.h5"), "w") as file:
            file["q"] = [1, 2, 3]
        for name, view in (("none", "off"), ("fresh", "on")):
            run("nmconvert", "source.nc", f"{name}.nmb", "--hdf5-view", view)
            run("nmcat", "source.nc", "more.nc", "-o", f"{name}_packed.nmb", "--hdf5-view", view)
        for name in ("fresh", "fresh_packed"):
            stale = name.replace("fresh", "stale") + ".nmb"
            shutil.copy(self.path(name + ".nmb"), self.path(stale))
            run("nmcat", "more.nc", "-o", stale, "--append", "--hdf5-view", "off", "--block-name", "later")
        for path in sorted(self.test.work.glob("*.nmb")):
            self.unharmed(path)

    def source(self, name, value):
        with netCDF4.Dataset(self.path(name), "w", format="NETCDF3_CLASSIC") as d:
            d.createDimension("t", None)
            d.createDimension("x", 100)
            d.createVariable("v", "f4", ("t", "x"))[:] = numpy.full((5, 100), value)
            d.createVariable("w", "i4", ("x",))[:] = numpy.arange(100)

    def packed(self):
        """An HDF5 file among the values, at each of the places where HDF5 looks for one."""
        with h5py.File(self.path("inner.h5"), "w") as file:
            file["stolen"] = numpy.arange(1000)
        inner = self.path("inner.h5").read_bytes()
        # Blocks from HDF5 have no view.
        for holder, view in (("nc", "off"), ("nc", "on"), ("h5", "off")):
            for place in PLACES:
                path = self.path(f"packed_{place}_{holder}_{view}.nmb")
                if not self.pack(inner, place, path, holder, view):
                    self.test.check(False, f"no value begins at {place}")
                    continue
                self.test.run("nmverify", path)
                if view == "off":
                    self.test.check(self.is_stolen_unguarded(path), f"{path.name}: it would be safe without a guard")
                with_h5py = subprocess.run([sys.executable, "-c", f"import h5py; print(list(h5py.File({str(path)!r})))"],
                                           capture_output=True, text=True)
                self.test.check("stolen" not in with_h5py.stdout, f"{path.name}: HDF5 shows the packed file")
                self.unharmed(path, SOME)
                path.unlink()

    def pack(self, inner, place, path, holder, view):
        """Of a block whose values lie across `place`; false: it cannot be."""
        room = max(place * 2, 2 << 20)  # values of 1 MiB and more begin at a multiple of 4096
        marker = bytes(range(1, 200)) * 4
        for shift, what in ((0, marker), (None, inner)):
            if shift is None:
                at = path.read_bytes().index(marker)
                if at > place:
                    return False
                shift = place - at
            values = numpy.zeros(room, "i1")
            values[shift : shift + len(what)] = numpy.frombuffer(what, "i1")
            source = self.path(f"blob.{holder}")
            if holder == "h5":
                with h5py.File(source, "w") as file:
                    file["blob"] = values
            else:
                with netCDF4.Dataset(source, "w", format="NETCDF3_64BIT_OFFSET") as d:
                    d.createDimension("n", room)
                    d.createVariable("blob", "i1", ("n",))[:] = values
            self.test.run("nmcat", source, "-o", path, "-f", "--hdf5-view", view)
        return path.read_bytes()[place : place + 8] == SIGNATURE

    def is_stolen_unguarded(self, path):
        """Proves that the guard is needed: without it, HDF5 opens the packed file."""
        bare = self.path("bare")
        data = bytearray(path.read_bytes())
        data[1024:1040] = bytes(16)
        bare.write_bytes(data)
        done = subprocess.run([sys.executable, "-c", f"import h5py; print(list(h5py.File({str(bare)!r})))"], capture_output=True,
                              text=True)
        return "stolen" in done.stdout


def check(test):
    writers = Writers(test)
    writers.plain()
    writers.views()
    writers.packed()


if __name__ == "__main__":
    try:
        import h5netcdf  # noqa: F401: used by OPENS
        import xarray  # noqa: F401: used by XARRAY
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    for program in PROGRAMS:
        if not shutil.which(program):
            print(f"skipped: no {program}")
            sys.exit(77)
    sys.exit(main(__doc__, check))
