#!/usr/bin/python3
"""nmverify --resume: a check that is killed again and again reports what a single check reports, and values that
were checked are not read again.

    nmverify_resume.py --tools FOLDER
"""

import json
import random
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from interrupt import header  # noqa: E402
from nmcat_ranks import SPLIT, launchers  # noqa: E402
from nmverify_ranks import nmverify  # noqa: E402
from tool_runs import main  # noqa: E402

OPTIONS = ("--resume", "report.jsonl", "-j", "2")


def lines(path, key):
    if not path.exists():
        return 0
    return path.read_bytes().count(f'"{key}":'.encode())


def kill_midway(tools, files, steps):
    """Starts the check and kills it after so many more steps. Whether it was killed."""
    report = tools.work / "report.jsonl"
    begin = lines(report, "checked") + lines(report, "end")
    run = subprocess.Popen([tools.folder / "nmverify", *files, *OPTIONS, "--rate", "8M"], cwd=tools.work,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while run.poll() is None and time.monotonic() < until:
        if lines(report, "checked") + lines(report, "end") >= begin + steps:
            break
        time.sleep(0.005)
    killed = run.poll() is None
    run.kill()
    run.wait()
    return killed


def read_bytes(tools, file, *arguments):
    """Bytes of the file that a run reads; 0 without strace."""
    if not shutil.which("strace"):
        return 0
    trace = tools.work / "trace"
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", "trace=pread64", "-P", tools.work / file,
                    tools.folder / "nmverify", *arguments], cwd=tools.work, capture_output=True)
    return sum(int(line.rsplit("= ", 1)[1]) for line in trace.read_text().splitlines() if line[-1].isdigit())


def check(tools, files):
    """Kills the check several times; then the reports of both kinds are those of a single check."""
    report = tools.work / "report.jsonl"
    report.unlink(missing_ok=True)
    one = {json_: nmverify(tools, [], *files, *json_) for json_ in ((), ("--json",))}
    killed = sum(kill_midway(tools, files, steps) for steps in (2, 1))
    tools.check(killed == 2, f"{files}: only {killed} of 2 runs were stopped")
    kept = report.read_bytes()
    for json_, expected in one.items():
        report.write_bytes(kept)
        for _ in range(2):  # the second time, all files are done
            found = nmverify(tools, [], *files, *OPTIONS, *json_)
            tools.check(found == expected, f"{files}: found {found}, expected {expected}"[:3000])
    report.write_bytes(kept[:-7])  # the last line is cut
    found = nmverify(tools, [], *files, *OPTIONS)
    tools.check(found == one[()], f"{files}, cut: found {found}, expected {one[()]}"[:3000])
    for launcher in launchers(tools)[1:]:
        report.write_bytes(kept)
        found = nmverify(tools, launcher, *files, *OPTIONS)
        tools.check(found == one[()], f"{launcher}: found {found}, expected {one[()]}"[:3000])


def check_links(tools):
    """Values in other files may change without a change of the file, so they are checked again."""
    work = tools.work
    shutil.copy(next((work / "graphs").iterdir()), work / "linked.nc")
    tools.run("nmcat", "--link", "linked.nc", "-o", "link.nmb")
    options = ("--resume", "links.jsonl")
    for _ in range(2):
        tools.run("nmverify", "link.nmb", *options)
    changed = bytearray((work / "linked.nc").read_bytes())
    changed[-9] ^= 1
    (work / "linked.nc").write_bytes(changed)
    tools.run("nmverify", "link.nmb", *options, exit_code=1)


def test(tools):
    work = tools.work
    tools.example("make_graph_samples", work / "graphs", "--files", "1", "--samples", "700")
    graphs = next((work / "graphs").iterdir())
    tools.run("nmcat", graphs, "-o", "sound.nmb", *SPLIT)
    tools.run("nmcat", graphs, "-o", "coded.nmb", *SPLIT, "--compress", "zstd", "--stats", "basic")
    chance = random.Random(3)
    for name in ("sound", "coded"):
        damaged = bytearray((work / f"{name}.nmb").read_bytes())
        for _ in range(60):
            damaged[chance.randrange(16384, len(damaged))] ^= 1
        (work / f"{name}_damaged.nmb").write_bytes(damaged)
    (work / "in.nc").write_bytes(header(0) + b"x")
    check(tools, ["sound_damaged.nmb", "in.nc", "coded_damaged.nmb", "missing.nmb", "sound.nmb"])
    # A check that was stopped reads only the rest of the values.
    report = work / "report.jsonl"
    report.unlink()
    all_bytes = read_bytes(tools, "sound.nmb", "sound.nmb", "-q")
    kill_midway(tools, ["sound.nmb"], 3)
    values = [json.loads(line) for line in report.read_bytes().split(b"\n")[:-1]]
    checked = max(line["checked"]["bytes_read"] for line in values if "checked" in line)
    rest = read_bytes(tools, "sound.nmb", "sound.nmb", *OPTIONS)
    if all_bytes:
        tools.check(rest < all_bytes - checked // 4, f"read {rest} of {all_bytes} bytes after {checked}")
        tools.check(read_bytes(tools, "sound.nmb", "sound.nmb", *OPTIONS) == 0, "a file that is done is read again")
    # A file that has changed is checked again; other options need another report.
    shutil.copy(work / "sound_damaged.nmb", work / "sound.nmb")
    tools.run("nmverify", "sound.nmb", *OPTIONS, exit_code=1)
    done = tools.run("nmverify", "sound.nmb", *OPTIONS, "--level", "blocks", exit_code=2)
    tools.check(b"other options" in done.stderr, f"found {done.stderr}")
    check_links(tools)
    for name in ("sound.nmb", "list"):  # never written to
        (work / "list").write_text("sound.nmb\n")
        before = (work / name).read_bytes()
        tools.run("nmverify", "--files-from", "list", "--resume", name, exit_code=2)
        tools.check((work / name).read_bytes() == before, f"{name} was changed")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
