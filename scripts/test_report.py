#!/usr/bin/python3
"""What a run of the tests took, and what it left out.

    scripts/test_report.py [--budget FILE] [-j TESTS] [--cores N] BUILD...

Each BUILD has Testing/tests.xml, which `ctest --output-junit` wrote. Prints the tests that were skipped, with the reason
that each gave; the ten slowest; and for each group the core-seconds. These are a test's seconds times the jobs that ctest
kept for it, times the share of a processor that a job had: N / TESTS, if more tests than processors ran. A group is a folder of tests/: that of a GoogleTest executable, else the first word of the
test's name; what is in no folder is in the group "other". Exit code 1: a skipped test gives no reason.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent.parent / "tests"
SLOWEST = 10
REASON = re.compile(r"skipped: (.*)|: Skipped\n(.*)")


class Test(NamedTuple):
    build: str
    name: str
    group: str
    seconds: float
    cores: float
    skipped: str | None  # why


def group_of(name, command):
    program = Path(command[0]).name
    word = program.removesuffix("_tests") if program.endswith("_tests") else name.partition("_")[0]
    return word if (TESTS / word).is_dir() else "other"


def read(build, jobs, cores):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True).stdout
    about = {test["name"]: test for test in json.loads(listed)["tests"]}
    tests = []
    for case in xml.etree.ElementTree.parse(build / "Testing" / "tests.xml").iter("testcase"):
        name = case.get("name")
        properties = {one["name"]: one["value"] for one in about[name].get("properties", ())}
        skipped = None
        if case.find("skipped") is not None:
            said = REASON.search(case.findtext("system-out", ""))
            skipped = (said[1] or said[2] or "") if said else ""
        tests.append(Test(build.name, name, group_of(name, about[name].get("command", [""])), float(case.get("time")),
                          min(properties.get("PROCESSORS", 1), jobs) * min(1, cores / jobs), skipped))  # fmt: skip
    return tests


def print_skipped(tests):
    """Whether each gave a reason."""
    names = collections.defaultdict(list)
    for test in tests:
        if test.skipped is not None:
            names[test.build, test.skipped].append(test.name)
    print(f"== {sum(map(len, names.values()))} tests skipped")
    for (build, why), skipped in sorted(names.items()):
        print(f"{build:5} {why or 'no reason given'}: {' '.join(skipped)}")
    return all(why for _, why in names)


def print_slowest(tests):
    print(f"== the {SLOWEST} slowest tests")
    for test in sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]:
        print(f"{test.seconds:8.1f} s  {test.build:5} {test.name}")


def read_limits(path):
    rows = (line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {(build, group): float(limit) for build, group, limit in rows}


def print_groups(tests, limits):
    """A group over its limit is for a reviewer to see: a slow or busy machine is no failure."""
    spent = collections.Counter()
    for test in tests:
        spent[test.build, test.group] += test.seconds * test.cores
    print("== core-seconds of the groups, and their limits")
    for (build, group), seconds in sorted(spent.items()):
        limit = limits.get((build, group))
        verdict = "no limit in tests/budget.tsv" if limit is None else "OVER THE LIMIT" if seconds > limit else ""
        print(f"{build:5} {group:10} {seconds:8.1f} of {limit or 0:6.0f}  {verdict}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=Path, default=TESTS / "budget.tsv")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count(), help="tests that ran at the same time")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="processors that they shared")
    parser.add_argument("builds", nargs="+", type=Path, metavar="BUILD")
    arguments = parser.parse_args()
    tests = [test for build in arguments.builds for test in read(build, arguments.jobs, arguments.cores)]
    explained = print_skipped(tests)
    print_slowest(tests)
    print_groups(tests, read_limits(arguments.budget))
    return 0 if explained else 1


if __name__ == "__main__":
    sys.exit(main())
