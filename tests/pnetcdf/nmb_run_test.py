#!/usr/bin/env python3
"""nmb-run itself: which files become NMB, exit codes, reports, division into blocks, IDs of blocks.

  nmb_run_test.py --replay PROGRAM --blocks PROGRAM --late PROGRAM --own PROGRAM --tools FOLDER --mpiexec "mpiexec -n"
                  [--netcdf PROGRAM]
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FAILED = []


def expect(what, got, wanted):
    if got != wanted:
        FAILED.append(what)
        print(f"{what}: found {got!r}, expected {wanted!r}")


def main():
    parser = argparse.ArgumentParser()
    for option in ["--replay", "--blocks", "--late", "--own", "--tools", "--mpiexec"]:
        parser.add_argument(option, required=True)
    parser.add_argument("--netcdf", help="a program that calls PnetCDF through netCDF-C")
    options = parser.parse_args()
    nmb_run = f"{options.tools}/nmb-run"
    folder = Path(tempfile.mkdtemp(prefix="nmb_run_test"))

    def run(command, **environment):
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60,
                              env=dict(os.environ, **environment))

    def replay(path, lines, ranks=1, run_by=(nmb_run,), **environment):
        (folder / "script").write_text("\n".join(lines).replace("@", str(path)) + "\n")
        done = run(options.mpiexec.split() + [str(ranks), *run_by, options.replay, "script", "log"], **environment)
        return done, (folder / "log.0").read_text().splitlines()

    def alike(name, lines, ranks=1, **environment):
        """The codes and inquiries of a program are those that PnetCDF gives."""
        logs = []
        for end in ("nc", "nmb"):
            replay(f"{name}.{end}", lines, ranks, **environment)
            logs.append([(folder / f"log.{i}").read_text() for i in range(ranks)])
        expect(f"{name}, {ranks} ranks", logs[1], logs[0])

    def is_nmb(path):
        return (folder / path).read_bytes()[:4] == b"\x89NMB"

    simple = ["* create @ 32", "* def_dim x 4", "* def_var v 4 1 0", "* enddef",
              "* put vara 1 int 0 0 0 1 4 5 1 0 4 1 1 4", "* close"]
    # Which files: the ending, a pattern, nothing.
    replay("a.nmb", simple)
    expect("a path that ends in .nmb", is_nmb("a.nmb"), True)
    replay("a.nc", simple)
    replay("plain.nc", simple, run_by=())
    expect("another path", (folder / "a.nc").read_bytes(), (folder / "plain.nc").read_bytes())
    replay("b.nc", simple, NMB_PNETCDF="x*:b*.nc")
    expect("a pattern of NMB_PNETCDF", is_nmb("b.nc"), True)
    replay("hint.nc", simple, PNETCDF_HINTS="cb_nodes=1; nmb = on")
    replay("hint.nmb", simple, PNETCDF_HINTS="nmb=off")
    expect("the hint of the environment", (is_nmb("hint.nc"), is_nmb("hint.nmb")), (True, False))
    # Opening goes by content.
    _, log = replay("b.nc", ["* open @ 0", "* get vara 1 int 0 0 0 1 4 0 0 0 4 1 1 4", "* close"])
    expect("values of an NMB file of any name", log[1], "2 get 0 5 6 7 8")
    _, log = replay("plain.nc", ["* open @ 0", "* get vara 1 int 0 0 0 1 4 0 0 0 4 1 1 4", "* close"])
    expect("values of a classic file", log[1], "2 get 0 5 6 7 8")
    run([f"{options.tools}/nmconvert", "b.nc", "view.nmb", "--hdf5-view", "on"])
    expect("a file with a view begins as HDF5", (folder / "view.nmb").read_bytes()[:4], b"\x89HDF")
    _, log = replay("view.nmb", ["* open @ 0", "* get vara 1 int 0 0 0 1 4 0 0 0 4 1 1 4", "* close"])
    expect("values of an NMB file with a view", log[1], "2 get 0 5 6 7 8")
    # The kind of the block is that of the mode.
    for mode, kind in [(0x100, "1"), (0x200, "2"), (0x20, "5")]:
        replay("kind.nmb", [f"* create @ {mode}"] + simple[1:])
        run([f"{options.tools}/nmconvert", "-f", "kind.nmb", "kind.nc", "--extract", "kind"])
        expect(f"kind of mode {mode:#x}", (folder / "kind.nc").read_bytes()[:4], b"CDF" + bytes([int(kind)]))
    # NC_BYTE takes 200 as a byte without a sign in CDF-1 and CDF-2, but not in CDF-5.
    for mode, code in [(0x100, "0"), (0x20, "-60")]:
        _, log = replay("bytes.nmb", [f"* create @ {mode}", "* def_dim x 4", "* def_var v 1 1 0", "* enddef",
                                      "* put vara 1 uchar 0 0 0 1 4 200 0 0 4 1 1 4", "* close"])
        expect(f"200 as NC_BYTE, mode {mode:#x}", log[4].split()[2], code)
    # Exit codes.
    expect("exit code of a program", run([nmb_run, "/bin/sh", "-c", "exit 7"]).returncode, 7)
    expect("a signal", run([nmb_run, "/bin/sh", "-c", "kill -9 $$"]).returncode, 137)
    expect("no program", run([nmb_run, "./nothing_here"]).returncode, 2)
    done = run([nmb_run, "/bin/true"])
    expect("no call was seen", (done.returncode, "no call of PnetCDF" in done.stderr), (0, True))
    done = run([nmb_run, "--report", "/bin/true"], TMPDIR=str(folder / "nowhere"))
    expect("no folder for the report", (done.returncode, "no call" in done.stderr, "there is no report" in done.stderr),
           (0, False, True))
    # A function that is looked up in PnetCDF itself is not caught, which is said; a script may have no #!.
    (folder / "look_up.py").write_text("import ctypes, glob\nfor path in glob.glob('/usr/lib/*/libpnetcdf.so*')[:1]:\n"
                                       "    ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL).ncmpi_inq_libvers()\n")
    done = run([nmb_run, sys.executable, "look_up.py"])
    expect("no call that creates or opens", (done.returncode, "no call of PnetCDF" in done.stderr), (0, True))
    (folder / "script").write_text("exit 7\n")
    (folder / "script").chmod(0o755)
    expect("a script without #!", run([nmb_run, "./script"]).returncode, 7)
    replay("absolute.nc", simple, NMB_PNETCDF=f"{folder}/abs*.nc")
    expect("a pattern with an absolute path", is_nmb("absolute.nc"), True)
    # A program that is linked statically, if the linker can make one.
    (folder / "static.c").write_text("int main(void) { return 0; }\n")
    if run(["cc", "-static", "static.c", "-o", "static"]).returncode == 0:
        expect("a static program", run([nmb_run, "./static"]).returncode, 2)
    done, _ = replay("report.nmb", simple, run_by=(nmb_run, "--report"))
    expect("a report", "1 puts of 16 bytes, 0 gets of 0 bytes, 1 process" in done.stderr, True)
    done, _ = replay("report.nmb", simple, 2, run_by=(nmb_run, "--report"))
    expect("a report of two ranks", ("2 puts of 32 bytes, 0 gets of 0 bytes, 2 processes" in done.stderr,
                                     done.stderr.count("report.nmb")), (True, 1))
    # netCDF-C that calls PnetCDF.
    if options.netcdf:
        for path, run_by in [("netcdf_c.nc", []), ("netcdf_c.nmb", [nmb_run])]:
            done = run(options.mpiexec.split() + ["2", *run_by, options.netcdf, path])
            expect(f"netCDF-C, {path}", (done.returncode, done.stderr), (0, ""))
        run([f"{options.tools}/nmconvert", "netcdf_c.nmb", "from_nmb.nc"])
        expect("the file of netCDF-C", (is_nmb("netcdf_c.nmb"), (folder / "from_nmb.nc").read_bytes()),
               (True, (folder / "netcdf_c.nc").read_bytes()))
    # Division by names, and the flat file again.
    divided = ["* create @ 32", "* def_dim g_a_x 2", "* def_dim y 3", "* def_var g_a_u 4 2 0 1", "* def_var g_b_u 4 1 1",
               "* def_var other 4 1 1", "* put_att 0 note text 2 3 0 1", "* put_att -1 title text 2 2 0 1", "* enddef",
               "* put vara 1 int 0 0 0 2 6 1 1 0 0 2 3 1 1 3 1 6", "* put vara 1 int 0 0 1 1 3 7 1 0 3 1 1 3", "* inq", "* close",
               "* open @ 0", "* inq", "* get vara 1 int 0 0 0 2 6 0 0 0 0 2 3 1 1 3 1 6", "* close"]
    for ranks in (1, 2):
        # All ranks put the same values.
        done, log = replay("divided.nmb", divided, ranks, NMB_BLOCKS="^g_([ab])_")
        expect(f"codes of a divided file, {ranks} ranks", [line.split()[2] for line in log if "inq" not in line],
               ["0"] * (len(divided) - 2))
        expect(f"values of a divided file, {ranks} ranks", log[15], "16 get 0 1 2 3 4 5 6")
        names = run([f"{options.tools}/nminspect", "ls", "divided.nmb"]).stdout.split()
        expect("blocks of a divided file", sorted(names), ["a", "b", "divided"])
        flat = {word for word in log[14].split()}
        expect("names of a divided file that is opened", {"g_a_x=2", "y=3", "g_a_u", "g_b_u", "other"} <= flat, True)
    # IDs and names of a divided file are those of the classic file, also after more is defined.
    alike("divided_ids", ["* create @ 32", "* def_dim t 0", "* def_dim unused 5", "* def_dim x 3", "* def_dim g_a_n 2",
                          "* def_dim g_c_unused 7", "* def_dim n 4", "* def_dim g_b_k 6", "* def_var first 4 1 2",
                          "* def_var g_a_u 4 2 0 3", "* def_var second 4 2 0 2", "* def_var g_b_u 4 2 0 2",
                          "* def_var g_a_w 4 2 5 3", "* def_var g_b_v 4 1 6", "* def_var g_divided_ids_u 4 1 2",
                          "* def_var u 4 1 2", "* put_att -1 title text 2 2 0 1", "* enddef", "* inq", "* close",
                          "* open @ 1", "* inq", "* redef", "* def_dim g_a_later 4", "* def_dim later 2",
                          "* def_var g_a_new 4 1 7", "* rename_var 3 g_b_other", "* rename_dim 3 g_a_m", "* enddef", "* inq",
                          "* redef", "* def_var g_d_new 4 2 3 8", "* def_var third 4 1 7", "* enddef", "* close",
                          "* open @ 0", "* inq", "* close"], NMB_BLOCKS="^g_([a-z_]+)_")
    names = run([f"{options.tools}/nminspect", "ls", "divided_ids.nmb"]).stdout.split()
    expect("blocks of the divided file", sorted(names), ["a", "b", "c", "d", "divided_ids"])
    _, log = replay("divided_ids.nmb", ["* open @ 1", "* rename_var 1 u_of_a", "* rename_dim 6 k", "* close"], NMB_BLOCKS="^g_([a-z_]+)_")
    expect("names that would leave their block", [line.split()[2] for line in log], ["0", "-214", "-214", "0"])
    # A memory type of pairs whose elements are exchanged.
    _, log = replay("pairs.nmb", simple[:4] + ["* put vara 1 int 2 0 0 1 4 5 1 0 4 1 1 4", "* get vara 1 int 0 0 0 1 4 0 0 0 4 1 1 4",
                                               "* get vara 1 int 2 0 0 1 4 0 0 0 4 1 1 4", "* close"])
    expect("a type that exchanges", log[5:7], ["6 get 0 6 5 8 7", "7 get 0 5 6 7 8"])
    # An abort keeps what was changed in data mode, and loses what was defined since redef.
    alike("abort", ["* create @ 32", "* def_dim x 4", "* def_var v 4 1 0", "* put_att -1 note text 2 3 0 1", "* enddef",
                    "* put vara 1 int 0 0 0 1 4 5 1 0 4 1 1 4", "* close", "* open @ 1", "* put_att -1 note text 2 3 7 1",
                    "* rename_var 0 w", "* redef", "* put_att -1 other text 2 3 0 1", "* def_dim y 2", "* abort",
                    "* open @ 0", "* inq", "* close"], 2)
    # Without PNETCDF_SAFE_MODE, the definitions of rank 0 count, in all formats.
    for mode in (0x100, 0x200, 0x20):
        alike("first", [f"* create @ {mode}", "* def_dim t 0", "* def_var v 4 1 0", "0 put_att 0 a int 4 1 7 0",
                        "1 put_att 0 b int 4 1 8 0", "* enddef", "* close", "* open @ 0", "* inq", "* close"], 2, PNETCDF_SAFE_MODE="0")
    # Paths: a colon that belongs to the name, the name of a file system, a link to no file, another working directory.
    for path in ["run_12:00.nmb", "./run_13:00.nmb"]:
        replay(path, simple)
        expect(path, is_nmb(path), True)
    replay("ufs:system.nmb", simple)
    expect("the name of a file system", is_nmb("system.nmb"), True)
    (folder / "link.nmb").symlink_to("linked.nmb")
    replay("link.nmb", simple)
    expect("a link to no file", ((folder / "link.nmb").is_symlink(), is_nmb("linked.nmb")), (True, True))
    (folder / "elsewhere").mkdir()
    replay("moved.nmb", simple[:1] + ["* chdir elsewhere"] + simple[1:])
    expect("another working directory", is_nmb("moved.nmb"), True)
    # A file of several blocks.
    _, log = replay("divided.nmb#a", ["* open @ 0", "* inq", "* close"])
    expect("one block of a file", log[1].split()[2:8], ["code", "0", "dims", "2", "vars", "1"])
    # What is not supported says so.
    for ranks in (1, 3):
        done = run(options.mpiexec.split() + [str(ranks), options.blocks, str(folder / "blocks.nmb"),
                                              str(folder / "blocks.nmb#station/south")])
        expect(f"IDs of blocks, {ranks} ranks", (done.returncode, done.stdout),
               (0, "3 blocks, the second is station/north, records 2 and 1\n"))
        _, log = replay("blocks.nmb", ["* open @ 0"])
        expect("a file of several blocks", log[0], "1 open -214")
    # Late changes of fill values, and file types of distributed arrays, are those of PnetCDF.
    for ranks in (1, 3, 4):
        on_pnetcdf, on_nmb = (run(options.mpiexec.split() + [str(ranks), nmb_run, options.late, f"late.{end}"]).stdout.splitlines()
                              for end in ("nc", "nmb"))
        expect(f"late changes, {ranks} ranks", on_nmb, on_pnetcdf)
    # Independent creation, also where processes compare arguments.
    for ranks in (1, 2, 5):
        for safe in "01":
            done = run(options.mpiexec.split() + [str(ranks), options.own, str(folder / "own.nmb")], PNETCDF_SAFE_MODE=safe)
            expect(f"independent creation, {ranks} ranks, safe mode {safe}", (done.returncode, done.stdout),
                   (0, "1 variables, 1 records, title runs\n"
                    + ("equal names that differ: NC_EMULTIDEFINE\n" if ranks > 1 else "")))
        names = run([f"{options.tools}/nminspect", "ls", "own.nmb"]).stdout.split()
        expect("blocks of an independent creation", names, ["/"] + [f"evt{i}" for i in range(ranks)])
    for path in ["a.nmb", "divided.nmb", "divided_ids.nmb", "abort.nmb", "first.nmb", "blocks.nmb", "late.nmb", "own.nmb"]:
        expect(f"nmverify {path}", run([f"{options.tools}/nmverify", path]).returncode, 0)
    print(f"{len(FAILED)} failures")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
