#!/usr/bin/python3
"""nmcat --dry-run: says what the run that follows does, by exit code, words and numbers, and writes nothing.

    nmcat_dry_run.py --tools FOLDER
"""

import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import SPLIT, launchers, nmcat, words_of  # noqa: E402
from tool_runs import main  # noqa: E402

MOST_LINES = 40
TOTALS = ("blocks", "objects", "dimensions", "attributes", "records", "samples")
OF_RANKS = ("ranks", "peak_memory", "stripe_count", "lustre")


def contents(folder):
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.iterdir()}


class Case:
    """Runs of nmcat in a folder of its own."""

    def __init__(self, tools, launcher=()):
        self.tools = tools
        self.launcher = list(launcher)
        self.folder = tools.work / "out"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.target = self.folder / "out.nmb"

    def plan(self, *arguments):
        before = contents(self.folder)
        done = nmcat(self.tools, self.launcher, *arguments, "-o", self.target, "--json", "--dry-run")
        what = " ".join(map(str, (*self.launcher, "nmcat", *arguments[-4:])))
        self.tools.check(contents(self.folder) == before, f"{what}: the folder has changed: {contents(self.folder)}")
        return done, json.loads(done.stdout) if done.stdout else None, what

    def check(self, *arguments, exit_code=0):
        """A dry run and then a run: the same words and exit code; what was planned is in the file. The plan."""
        check = self.tools.check
        dry, plan, what = self.plan(*arguments)
        real = nmcat(self.tools, self.launcher, *arguments, "-o", self.target, "--json")
        check(real.returncode == exit_code, f"{what}: exit code {real.returncode}, expected {exit_code}: {real.stderr}")
        check(dry.returncode == exit_code, f"{what}: dry: exit code {dry.returncode}, expected {exit_code}: {dry.stderr}")
        check(words_of(dry) == words_of(real), f"{what}: found {words_of(dry)}, expected {words_of(real)}")
        if not real.stdout:
            check(plan is None, f"{what}: found a report, expected none")
            return None
        made = json.loads(real.stdout)
        check(not plan["done"], f"{what}: a dry run is done")
        told = plan.pop("plan", None)
        made.pop("done"), plan.pop("done")
        check(plan == made, f"{what}: found {plan}, expected {made}")
        check((told is not None) == (exit_code == 0), f"{what}: found plan {told}")
        if exit_code != 0:
            return None
        size = self.target.stat().st_size
        check(plan["bytes_out"] == size, f"{what}: found {plan['bytes_out']} bytes planned, expected {size}")
        summary = json.loads(self.tools.run("nminspect", "summary", "--json", self.target).stdout)
        for key in TOTALS:
            check(plan[key] == summary[key], f"{what}: found {plan[key]} {key} planned, expected {summary[key]}")
        parts = plan["value_bytes"] + told["metadata_bytes"] + told["index_bytes"]
        gaps = size - parts - 20 * 1024 - 4096 * (plan["blocks"] + 1)
        check(parts < size and gaps < 0, f"{what}: found parts of {parts} bytes, expected nearly {size}")
        listed = self.tools.run("nminspect", "ls", self.target).stdout.decode().split()
        check(len(told["first_blocks"]) == min(10, len(listed)), f"{what}: found names {told['first_blocks']}")
        check(set(told["first_blocks"]) <= set(listed), f"{what}: found names {told['first_blocks']}")
        by_input = [one["blocks"] for one in told["inputs"]]
        check(sum(by_input) == plan["blocks"] and len(by_input) == plan["inputs"], f"{what}: found inputs {by_input}")
        self.target.unlink()
        plan.pop("output")
        return {**plan, **told}


def check_target(tools, files):
    """Targets that are there, and folders that are not."""
    case = Case(tools)
    case.target.write_text("somebody's\n")
    case.check(*files, exit_code=2)
    done = case.plan(*files, "-f")[0]
    tools.check(done.returncode == 0, f"with -f: exit code {done.returncode}: {done.stderr}")
    tools.check(case.target.read_text() == "somebody's\n", "with -f: the target has changed")
    case.target = tools.work / "no_such_folder" / "out.nmb"
    case.check(*files, exit_code=2)
    case.target = case.folder / "out.nmb" / "out.nmb"
    case.check(*files, exit_code=2)
    if os.geteuid() == 0:
        return
    case = Case(tools)
    case.folder.chmod(0o555)
    case.check(*files, exit_code=2)
    case.folder.chmod(0o755)


def check_text(tools, files):
    """On one screen, however many the inputs and blocks are."""
    case = Case(tools)
    done = nmcat(tools, [], *files, *SPLIT, "-o", case.target, "--dry-run", "-j2")
    lines = dict(line.split("\t") for line in done.stdout.splitlines())
    tools.check(done.stderr == "" and len(done.stdout.splitlines()) < MOST_LINES, f"found {done.stdout}{done.stderr}")
    for key in ("inputs", "size", "values", "metadata", "index", "memory", *TOTALS):
        tools.check(lines.get(key), f"found no {key} in {done.stdout}")
    expected = f"lfs setstripe -c 2 -S 1M {case.folder} (-c must not exceed the number of OSTs)"
    tools.check(lines.get("on Lustre") == expected, f"found {lines.get('on Lustre')}, expected {expected}")


def test(tools):
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "5", "--samples", "200")
    files = sorted((tools.work / "graphs").iterdir())
    tools.run("nmcat", *files[:3], *SPLIT, "-o", "merged.nmb")
    mixed = [files[0], tools.work / "merged.nmb", files[4]]
    (tools.work / "text.nc").write_text("no netCDF file\n")
    cut = tools.work / "cut.nc"
    cut.write_bytes(files[2].read_bytes()[:5000])
    good = {
        "whole": files,
        "split": [*files, *SPLIT],
        "mixed": mixed,
        "coded": [*files, "--compress", "zstd"],
        "coded and split": [*files, *SPLIT, "--inline", "0", "--compress", "deflate:1"],
        "not compressed": [*mixed, "--metadata-codec", "none", "--inline", "0"],
    }
    for what, arguments in good.items():
        plans = [Case(tools).check(*arguments, f"-j{threads}") for threads in (1, 2, 5)]
        plans += [Case(tools, launcher).check(*arguments) for launcher in launchers(tools) if launcher]
        for plan in plans:
            for key in OF_RANKS:
                plan.pop(key)
        tools.check(all(plan == plans[0] for plan in plans), f"{what}: plans differ: {plans}")
    for launcher in launchers(tools):
        case = Case(tools, launcher)
        case.check(*files, *SPLIT, files[0], files[3], exit_code=1)
        case.check(*files, files[4], files[0], exit_code=1)
        case.check(*files, "missing.nc", exit_code=2)
        case.check(files[0], "text.nc", *files[1:], cut, exit_code=2)
        case.check(*files, "--split-names", "(", exit_code=2)
        case.target.write_text("somebody's\n")
        case.check(*files, exit_code=2)
    check_target(tools, files)
    check_text(tools, files)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
