#!/usr/bin/python3
"""nmconvert on threads and as processes of an MPI job: the same files and the same words as by one process.

    nmconvert_ranks.py --tools FOLDER
"""

import json
import os
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import launchers  # noqa: E402
from tool_runs import main  # noqa: E402


def nmconvert(tools, launcher, *arguments):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               ASAN_OPTIONS="detect_leaks=0")
    command = [*launcher, tools.folder / "nmconvert", *arguments, *([] if launcher else ["-j3"])]
    done = subprocess.run(command, cwd=tools.work, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, [line for line in done.stderr.splitlines() if line.startswith("nmconvert:")]


def expect(tools, launcher, arguments, code, words=()):
    found = nmconvert(tools, launcher, *arguments)
    tools.check(found == (code, list(words)), f"{launcher} {arguments}: found {found}, expected {(code, list(words))}")


def lines_of(text):
    """Lines of a report without what differs from run to run."""
    out = [json.loads(line) for line in text.splitlines()]
    for line in out:
        line.update(seconds=0, modified_out=0)
    return out


def test_list(tools, source):
    """Many files: one rank converts each, and rank 0 reports all."""
    folder = tools.work / "many"
    folder.mkdir()
    names = [f"{i}.nc" for i in range(30)] + ["a\\b\x1b.nc", "missing.nc", "text.nc"]
    for name in names[:-2]:
        shutil.copy(source, folder / name)
    shutil.copy(source, os.fsencode(folder) + b"/\xff.nc")
    (folder / "text.nc").write_text("no netCDF file\n")
    listed = b"".join(f"many/{name}\n".encode() for name in names) + b"many/\xff.nc\n"
    reports = []
    for launcher in launchers(tools):
        shutil.rmtree(tools.work / "out", ignore_errors=True)
        (tools.work / "report").unlink(missing_ok=True)
        command = [*launcher, tools.folder / "nmconvert", "--files-from", "-", "--out-dir", "out", "--report", "report",
                   "--jsonl", "--digest", "sha256", "--no-sync"]
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASAN_OPTIONS="detect_leaks=0")
        def run(*more, listed=listed):
            return subprocess.run([*command, *more], cwd=tools.work, env=env, input=listed, capture_output=True,
                                  timeout=120)
        done = run()
        tools.check(done.returncode == 2, f"{launcher} list: exit code {done.returncode}: {done.stderr}")
        words = [line for line in done.stderr.splitlines() if line.startswith(b"nmconvert:")]
        tools.check(len(words) == 3 and b"34 files: 32 done, 0 skipped, 2 failed" in words[-1],
                    f"{launcher} list: said {words}")
        reports.append(lines_of(done.stdout.decode()))
        tools.check(reports[-1] == reports[0], f"{launcher} list: another report than by threads")
        tools.check([line["output"] for line in reports[0]][30] == "out/many/a\\b\x1b.nmb", "a name is another")
        made = sorted(path.name for path in (tools.work / "out/many").iterdir())
        tools.check(len(made) == 32 and not any(name.startswith(".") for name in made), f"{launcher} list: {made}")
        journal = lines_of((tools.work / "report").read_text())
        tools.check(sorted(journal, key=str) == sorted(reports[0], key=str), f"{launcher} list: another journal")
        (tools.work / "out/many/7.nmb").unlink()
        again = lines_of(run("--resume").stdout.decode())
        statuses = {}
        for line in again:
            statuses.setdefault(line["status"], []).append(line["input"])
        tools.check(statuses["done"] == ["many/7.nc"] and len(statuses["skipped"]) == 31, f"{launcher}: {statuses}")
        # MPICH's launcher is killed if it hands on standard input, or its end, to a process that has ended.
        for _ in range(5):
            used = run("--to", "nmb", "--extract", "x", listed=b"")
            if used.returncode != -signal.SIGPIPE:
                break
        tools.check(used.returncode == 2, f"{launcher} usage: exit code {used.returncode}")
        if not launcher:
            continue
        # An interrupt of the job, which its launcher hands on.
        shutil.rmtree(tools.work / "out")
        (tools.work / "report").unlink()
        process = subprocess.Popen(command, cwd=tools.work, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        process.stdin.write(listed)
        process.stdin.close()
        while process.poll() is None and not (tools.work / "report").exists():
            pass
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        done = run("--resume")
        tools.check(b"2 failed" in done.stderr, f"{launcher} after an interrupt: said {done.stderr}")
        again = [dict(line, status="done") for line in lines_of(done.stdout.decode()) if line["status"] != "failed"]
        expected = [line for line in reports[0] if line["status"] != "failed"]
        tools.check(again == expected, f"{launcher} after an interrupt: another report")


def test(tools):
    # Large enough for every rank to have windows of the values, that of the last not whole.
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "1", "--samples", "100")
    source, = (tools.work / "graphs").iterdir()
    tools.example("make_graph_samples", tools.work / "small", "--files", "1", "--samples", "3")
    tools.check(source.stat().st_size > 5 << 20, "an input of more than 5 MiB")
    small, = (tools.work / "small").iterdir()
    test_list(tools, small)
    plain = tools.work / "plain.nc"
    tools.run("nmconvert", source, plain, "--to", "cdf5", "-j1")
    tools.run("nmconvert", source, tools.work / "alone.nmb", "-j1")
    cut = tools.work / "cut.nmb"
    cut.write_bytes((tools.work / "alone.nmb").read_bytes()[:-9000])
    wrong = bytearray((tools.work / "alone.nmb").read_bytes())
    wrong[len(wrong) * 2 // 3] ^= 1
    (tools.work / "wrong.nmb").write_bytes(wrong)
    for launcher in launchers(tools):
        expect(tools, launcher, [source, "ranks.nmb", "-f"], 0)
        tools.check_equal_bytes(tools.work / "alone.nmb", tools.work / "ranks.nmb", f"{launcher} to NMB")
        expect(tools, launcher, ["ranks.nmb", "back.nc", "-f"], 0)
        tools.check_equal_bytes(source, tools.work / "back.nc", f"{launcher} back")
        expect(tools, launcher, [source, "other.nc", "--to", "cdf5", "-f"], 0)
        tools.check_equal_bytes(plain, tools.work / "other.nc", f"{launcher} to CDF-5")
        expect(tools, launcher, ["ranks.nmb", "other.nc", "--to", "cdf5", "-f"], 0)
        tools.check_equal_bytes(plain, tools.work / "other.nc", f"{launcher} from NMB to CDF-5")
        for target in ("new.nc", "new.nmb"):
            expect(tools, launcher, ["missing.nc", target], 2,
                   ["nmconvert: missing.nc: cannot open: No such file or directory"])
        expect(tools, launcher, ["ranks.nmb", "back.nc"], 2,
               ["nmconvert: back.nc: the file exists; use -f to replace it"])
        for damaged, target in ((cut, "new.nc"), ("wrong.nmb", "new.nc"), ("wrong.nmb", "new.nmb")):
            code, words = nmconvert(tools, launcher, damaged, target)
            tools.check(code == 1 and len(words) == 1, f"{launcher} {damaged} to {target}: {code}, {words}")
            tools.check(not (tools.work / target).exists(), f"{launcher} {damaged}: a file is left")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
