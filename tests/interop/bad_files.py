#!/usr/bin/python3
"""Damaged and malicious HDF5 files of a collection: what the tools say to each, within limits of time and memory.

    bad_files.py --tools FOLDER [--corpus FOLDER] [--only GLOB] [--update]

For each file below bad/ and hostile/ that is not classic netCDF, each content once:
`nmconvert FILE out.nmb`, `nmcat FILE --block-name {group} -o out.nmb`, `nminspect FILE`, `nmverify FILE`. Checked
against tests/bad_expectations.tsv: the exit code, and what is said, or that the file is

    readable                 out.nmb is made and sound (but for chunks that do not decode), and `nmconvert out.nmb back.h5` gives an equal file
    readable, back: TEXT     out.nmb is made and sound, but nmconvert says why it cannot be HDF5 again
    readable, other: TEXT    it comes back, but compare_files.py cannot tell that it is equal, or it is not

and for every file: no tool ends by a signal or takes more than 2 s of CPU time (10 s where the table's column
`slow` says why); the tool takes at most 64 MiB of memory and twice the file, its HDF5 process what that is limited
to; a failure leaves nothing in the folder, and a target that existed as it was, with -f.

What HDF5 says is compared only with the version of HDF5 that the table was made with. --update writes the table
anew, for a person to review. Under sanitizers every sixth file is tried; all with NMB_ALL=1. Exit code 0, 1 (problems), 2 (could not run), 77 (skipped) without a collection.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import limited_run  # noqa: E402
from file_kind import CannotRun, kind_of  # noqa: E402
from round_trips import limit_memory  # noqa: E402

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent / "bad_expectations.tsv"
FOLDERS = "bad", "hostile"
SECONDS, SLOW_SECONDS, COMPARE_SECONDS = 2, 10, 60
SKIPPED = 77
COLUMNS = "sha256", "tools", "exit", "expected", "slow", "file"
TOOLS = {
    "nmconvert": lambda path: [path, "out.nmb"],
    "nmcat": lambda path: [path, "--block-name", "{group}", "-o", "out.nmb"],
    "nminspect": lambda path: [path],
    "nmverify": lambda path: [path],
}
WRITERS = "nmconvert", "nmcat"
# HDF5 1.10.8 itself reads behind what it allocated, or frees what is none, unless it is lucky; or, the second one,
# has so much to allocate that a sanitizer takes too long.
UNSEEN_ERRORS = (
    "cve-2021-46243.h5",
    "cve-2024-29165.h5",
    "cve-2024-32607-2.h5",
    "cve-2024-32608.h5",
    "cve-2024-32614.h5",
    "cve-2024-32617.h5",
)
# With these files, HDF5 1.10.8 reads memory that it has freed. It ends by a signal or with an error, as the content happens
# to be. The exit code is checked, the message is not.
FREED_MEMORY = ("cve-2024-32619.h5",)
HDF5_SAYS = re.compile(r"(^|: )HDF5: |found an error of the HDF5 library: ")
OLD = b"a target that existed"

# exit_code, expected: text as in the table
Outcome = collections.namedtuple("Outcome", "exit_code expected")


class Checks:
    def __init__(self, options):
        self.options = options
        self.header, self.table = read_table()
        self.hdf5 = hdf5_version()
        # Without its limit of memory HDF5 fails elsewhere.
        self.same_hdf5 = self.hdf5 in self.header and not limited_run.SANITIZED

    def check(self, path, digest):
        """(outcomes by tool, problems: texts) of one file."""
        outcomes, problems = {}, []
        for tool in TOOLS:
            row = self.table.get((digest, tool), {})
            limit = SLOW_SECONDS if row.get("slow") else SECONDS
            with tempfile.TemporaryDirectory(prefix="nmb_bad_") as work:
                outcome, found = self.run_tool(tool, path, Path(work), limit)
            outcomes[tool] = outcome
            if not self.options.update:
                found += self.differences(row, outcome)
            problems += [f"{tool}: {one}" for one in found]
        return outcomes, problems

    def run_tool(self, tool, path, work, limit):
        size = path.stat().st_size
        command = [self.options.tools / tool, *TOOLS[tool](path)]
        done = limited_run.run(command, work, limit)
        problems = limited_run.problems(done, size, limit)
        if tool in WRITERS and done.exit_code == 0:
            return Outcome(0, self.way_back(path, work)), problems
        if left := os.listdir(work):
            problems.append(f"left {left}")
        if tool in WRITERS:
            problems += self.keeps_target(command, work, limit)
        return Outcome(done.exit_code, message(done.said, path)), problems

    def keeps_target(self, command, work, limit):
        (work / "out.nmb").write_bytes(OLD)
        done = limited_run.run([*command, "-f"], work, limit)
        if done.exit_code == 0:
            return ["done with -f, but not without"]
        if os.listdir(work) != ["out.nmb"] or (work / "out.nmb").read_bytes() != OLD:
            return [f"with -f: found {os.listdir(work)}, expected the target as it was"]
        return []

    def way_back(self, path, work):
        verified = self.run(work, self.options.tools / "nmverify", "out.nmb")
        # The stored bytes of chunks are copied; nmverify names damaged chunks of the HDF5 file and of this file.
        findings = [line for line in verified.stdout.splitlines() if "(R-" in line or "(HDF5" in line]
        if verified.returncode and not (findings and all("(R-XC-1)" in line for line in findings)):
            return f"unsound: {message(verified.stdout + verified.stderr, path)}"
        back = self.run(work, self.options.tools / "nmconvert", "out.nmb", "back.h5")
        if back.returncode:
            errors = [line for line in back.stderr.splitlines() if not line.startswith("nmconvert: warning: ")]
            return f"readable, back: {message(os.linesep.join(errors), 'out.nmb')}"
        program = [sys.executable, HERE / "compare_files.py", path, "back.h5"]
        compared = self.run(work, *program, preexec_fn=limit_memory)
        if compared.returncode == 0:
            return "readable"
        said = (compared.stdout if compared.returncode == 1 else compared.stderr).strip().splitlines()
        return f"readable, other: {said[0] if said else compared.returncode}"

    @staticmethod
    def run(work, *command, **options):
        return subprocess.run(
            command, cwd=work, capture_output=True, text=True, errors="replace", timeout=COMPARE_SECONDS, **options
        )

    def differences(self, row, outcome):
        if not row:
            return [f"found no row in {TABLE.name}, which --update writes"]
        if limited_run.SANITIZED and is_sanitizers_way(outcome, row):
            return []
        if str(outcome.exit_code) != row["exit"]:
            return [f"exit code {outcome.exit_code}, expected {row['exit']}: {outcome.expected}"]
        if row["file"] in FREED_MEMORY:
            return []
        found, expected = outcome.expected, row["expected"]
        if not self.same_hdf5:
            found, expected = (HDF5_SAYS.split(text)[0] for text in (found, expected))
        return [] if found == expected else [f"found `{outcome.expected}`, expected `{row['expected']}`"]


def is_sanitizers_way(outcome, row):
    """What ends HDF5 by a signal ends it by a report of the sanitizer, and so does what only that sees."""
    if row["file"] in UNSEEN_ERRORS or "the HDF5 library ended by signal" in row["expected"]:
        return re.search("nmb-hdf5 ended with code 1, without a message|takes more time than is allowed", outcome.expected)
    return False


def message(said, path):
    """Without the names of the tool and of the file."""
    line = said.strip().splitlines()[0] if said.strip() else "nothing said"
    line = re.sub(r"^nm[a-z]+: ", "", line).removeprefix(f"{path}: ")
    line = re.sub(r"\.back\.h5\.[0-9a-f]*-[0-9]+\.part", "back.h5", line)
    return line.strip()


def hdf5_version():
    try:
        import h5py
    except ImportError:
        return "unknown"
    return h5py.version.hdf5_version


def read_table():
    """(the first line, (sha256, tool) -> row)"""
    if not TABLE.exists():
        return "", {}
    header, *lines = TABLE.read_text().splitlines()
    table = {}
    for line in lines:
        if line.startswith("#"):
            continue
        row = dict(zip(COLUMNS, line.split("\t"), strict=True))
        for tool in row["tools"].split():
            table[row["sha256"], tool] = row
    return header, table


def write_table(checks, results, complete):
    """results: digest -> (path, outcomes). Rows of files that were not looked at stay if not all were."""
    rows = {} if complete else dict(checks.table)
    for digest, (path, outcomes) in results.items():
        tools = collections.defaultdict(list)
        for tool, outcome in outcomes.items():
            tools[outcome].append(tool)
        for outcome, names in tools.items():
            for tool in names:
                old = checks.table.get((digest, tool), {})
                slow = old.get("slow", "")
                values = digest, " ".join(names), str(outcome.exit_code), outcome.expected, slow, path.name
                rows[digest, tool] = dict(zip(COLUMNS, values))
    lines = {"\t".join(row[column] for column in COLUMNS): None for row in rows.values()}
    lines = sorted(lines, key=lambda line: (line.rsplit("\t", 1)[1], line))
    header = [
        f"# HDF5 {checks.hdf5}: what the tools say to damaged and malicious files (tests/interop/bad_files.py).",
        "# " + "\t".join(COLUMNS),
    ]
    TABLE.write_text("\n".join([*header, *lines]) + "\n")


def files_of(corpus, only):
    """digest -> path, each content once; not classic netCDF."""
    out = {}
    for folder in FOLDERS:
        for path in sorted((corpus / folder).rglob("*")):
            if not path.is_file() or path.name == "INDEX.tsv":
                continue
            if only and not fnmatch.fnmatch(str(path.relative_to(corpus)), only):
                continue
            try:
                classic = kind_of(path) == "classic"
            except CannotRun:
                classic = False
            if not classic:
                out.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return out


def totals(results):
    """Lines: how many files end how."""
    counts = collections.Counter()
    for _, outcomes in results.values():
        for tool, outcome in outcomes.items():
            what = outcome.expected
            if not what.startswith("readable"):
                signal = "ended by signal" in what
                what = "HDF5 refuses" if HDF5_SAYS.search(what) else "HDF5 ended by a signal" if signal else "refused"
            counts[tool, outcome.exit_code, what.split(":")[0]] += 1
    return [f"{tool}: exit code {code}: {what}: {n}" for (tool, code, what), n in sorted(counts.items(), key=str)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=Path, help="folder of the tools")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("NMB_CORPUS"), help="default: NMB_CORPUS")
    parser.add_argument("--only", metavar="GLOB", help="paths in the collection")
    parser.add_argument("--update", action="store_true", help=f"write {TABLE.name} anew")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    options = arguments()
    if not options.corpus:
        print("skipped: no --corpus, and NMB_CORPUS is not set")
        return SKIPPED
    options.tools, options.corpus = options.tools.resolve(), options.corpus.resolve()
    files = files_of(options.corpus, options.only)
    missing = [tool for tool in TOOLS if not (options.tools / tool).exists()]
    if not files or missing:
        print(f"bad_files: found {len(files)} files and no {missing}, expected some and all tools", file=sys.stderr)
        return 2
    if limited_run.SANITIZED and "NMB_ALL" not in os.environ:
        files, whole = dict(list(files.items())[::6]), False
    else:
        whole = not options.only
    checks, results, problems = Checks(options), {}, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pairs = list(files.items())
        for (digest, path), (outcomes, found) in zip(pairs, pool.map(lambda p: checks.check(p[1], p[0]), pairs)):
            results[digest] = path, outcomes
            problems += len(found)
            for one in found:
                print(f"{path.relative_to(options.corpus)}: {one}", flush=True)
    if options.update:
        write_table(checks, results, complete=whole)
    elif whole:
        for digest, tool in checks.table.keys() - {(d, t) for d in files for t in TOOLS}:
            print(f"{checks.table[digest, tool]['file']}: {tool}: found a row in {TABLE.name}, but no such file")
            problems += 1
    print("\n".join(totals(results)))
    print(f"{len(files)} files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
