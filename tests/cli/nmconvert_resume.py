#!/usr/bin/python3
"""nmconvert --files-from: what reports say, and runs that are resumed after whatever ended them.

    nmconvert_resume.py --tools FOLDER
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tool_runs import main  # noqa: E402

FILES = 40
KEYS = ["schema", "input", "output", "to", "extract", "block_by", "statistics", "options", "status", "exit", "code",
        "message", "warnings", "losses", "conflicts", "without_statistics", "originals", "digested", "without_original",
        "original_bytes", "stored_twice", "view_note", "bytes_in", "modified_in", "bytes_out", "modified_out", "seconds", "sha256_in", "sha256_out"]


def classic(values):
    """A CDF-1 file of one byte variable."""
    word = lambda n: n.to_bytes(4, "big")  # noqa: E731
    head = (b"CDF\x01" + word(0) + word(10) + word(1) + word(1) + b"x\0\0\0" + word(len(values)) + bytes(8)
            + word(11) + word(1) + word(1) + b"v\0\0\0" + word(1) + word(0) + bytes(8) + word(1)
            + word(len(values) + -len(values) % 4))
    return head + word(len(head) + 4) + values + bytes(-len(values) % 4)


class Batch:
    """A list of files, and the outputs and the report of its conversion."""

    def __init__(self, tools, name, count=FILES, size=100_000):
        self.tools, self.folder = tools, tools.work / name
        (self.folder / "in").mkdir(parents=True)
        numbers = random.Random(name)
        self.names = [f"in/f{i}.nc" for i in range(count)]
        for path in self.names:
            (self.folder / path).write_bytes(classic(numbers.randbytes(numbers.randrange(size))))
        (self.folder / "list").write_text("".join(f"{path}\n" for path in self.names))
        self.report = self.folder / "report"

    def command(self, *more):
        return [self.tools.folder / "nmconvert", "--files-from", "list", "--out-dir", "out", "--report", "report",
                "--jsonl", *more]

    def run(self, *more, code=0, limit=None):
        done = subprocess.run(self.command(*more), cwd=self.folder, capture_output=True, text=True, timeout=120,
                              preexec_fn=limit)
        self.tools.check(done.returncode == code, f"{self.folder.name} {more}: exit code {done.returncode}, expected "
                         f"{code}: {done.stderr}")
        return done, [json.loads(line) for line in done.stdout.splitlines()]

    def resume(self, statuses, *more, code=0):
        """Resumes and checks how many files have which status, in the order of the list."""
        done, lines = self.run("--resume", *more, code=code)
        found = {}
        for line in lines:
            found[line["status"]] = found.get(line["status"], 0) + 1
        self.tools.check(found == statuses, f"{self.folder.name}: resumed {found}, expected {statuses}: {done.stderr}")
        self.tools.check([line["input"] for line in lines] == self.names, f"{self.folder.name}: another order of lines")
        return lines

    def outputs(self):
        return {path.name: path.read_bytes() for path in (self.folder / "out" / "in").glob("*")}

    def stamps(self):
        return {path.name: path.stat().st_mtime_ns for path in (self.folder / "out" / "in").glob("*")}

    def reported(self):
        return [json.loads(line) for line in self.report.read_text().splitlines()]

    def left_over(self):
        """Hidden files that a run left."""
        return [path.name for path in (self.folder / "out").rglob(".*")]


def test_lines(tools):
    batch = Batch(tools, "lines")
    for more in (("-j1",), ("-j7", "-f"), ("-j3", "-f", "--no-sync", "--digest", "sha256")):
        _, lines = batch.run(*more)
        tools.check([line["input"] for line in lines] == batch.names, f"{more}: another order of lines")
        for line in lines + batch.reported()[-FILES:]:
            tools.check(list(line) == KEYS, f"{more}: found keys {list(line)}")
            tools.check(line["bytes_in"] == (batch.folder / line["input"]).stat().st_size, f"{more}: bytes_in")
            tools.check(line["bytes_out"] == (batch.folder / line["output"]).stat().st_size, f"{more}: bytes_out")
    tools.check(len(batch.reported()) == 3 * FILES, "a line a file is added to the report")


def test_proofs(tools, *more):
    batch = Batch(tools, "proofs" + "".join(more))
    skipped = {"skipped": FILES}
    one_done = {"skipped": FILES - 1, "done": 1}
    batch.resume({"done": FILES}, *more)
    first, stamps, report = batch.outputs(), batch.stamps(), batch.report.read_bytes()
    batch.resume(skipped, *more)
    tools.check(batch.stamps() == stamps, "a file that was skipped is another")
    tools.check(batch.report.read_bytes() == report, "a file that was skipped is in the report again")
    # An output that is missing, or of another length.
    (batch.folder / "out/in/f3.nmb").unlink()
    batch.resume(one_done, *more)
    target = batch.folder / "out/in/f4.nmb"
    target.write_bytes(first["f4.nmb"][:-1])
    batch.resume({"skipped": FILES - 1, "failed": 1}, *more, code=2)
    tools.check(target.read_bytes() == first["f4.nmb"][:-1], "somebody's file was replaced")
    batch.resume(one_done, *more, "-f")
    tools.check(batch.outputs() == first, "other outputs than by the first run")
    # Another output of the same length is seen by its SHA-256 alone.
    wrong = bytearray(first["f4.nmb"])
    wrong[-5000] ^= 1
    target.write_bytes(wrong)
    batch.resume(one_done if more else skipped, *more, "-f")
    target.write_bytes(first["f4.nmb"])
    # An input that was touched, and one that was changed.
    source = batch.folder / "in/f5.nc"
    os.utime(source, ns=(1, 1))
    batch.resume(skipped if more else one_done, *more)
    source.write_bytes(classic(b"other"))
    batch.resume(one_done, *more)
    tools.run("nmconvert", "in/f5.nc", "f5.nmb", *[word for word in more if word in ("--digest", "sha256")], cwd=batch.folder)
    tools.check_equal_bytes(batch.folder / "f5.nmb", batch.folder / "out/in/f5.nmb", "of an input that changed")
    source.unlink()
    batch.resume({"skipped": FILES - 1, "failed": 1}, *more, code=2)
    source.write_bytes(classic(b"other"))
    batch.resume(one_done if not more else skipped, *more)
    # Lines that are cut, for another kind, or no lines of a report.
    batch.report.write_bytes(report[:-20])
    batch.resume({"skipped": FILES - 2, "done": 2}, *more, "-f")
    for line in batch.report.read_text().splitlines():
        json.loads(line)
    batch.report.write_bytes(report.replace(b'"to":"nmb"', b'"to":"cdf1"'))
    batch.resume({"done": FILES}, *more)
    batch.report.write_bytes(report.splitlines(True)[0] + b"\n[[[[\nnull\n" + b"x" * (3 << 20) + b"\n" + report)
    batch.resume(one_done, *more, "-f")
    batch.report.write_bytes(report[:7])
    batch.resume({"done": FILES}, *more)
    # Other options make other outputs.
    batch.resume({"done": FILES}, *more, "--hdf5-view", "on", "-f")
    batch.resume(skipped, *more, "--hdf5-view", "on")
    batch.resume({"done": FILES}, *more, "--compress", "zstd", "-f")
    batch.resume({"done": FILES}, *more, "-f")


def test_no_digests(tools):
    """SHA-256 that this call asks for are no part of what was done, and outputs that have them are made again without."""
    batch = Batch(tools, "no_digests", 5)
    batch.resume({"done": 5})
    batch.resume({"done": 5}, "--digest", "sha256")
    batch.resume({"skipped": 5}, "--digest", "sha256")
    batch.resume({"done": 5})
    batch.resume({"skipped": 5})
    batch.resume({"done": 5}, "--digest", "xxh128", "-f")
    batch.resume({"skipped": 5}, "--digest", "xxh128")


def test_digests_of_originals(tools):
    """An output with originals is made again if --digest is added or removed."""
    batch = Batch(tools, "originals", 3)
    for path in batch.names:
        tools.run("nmconvert", path, "made.h5", cwd=batch.folder)
        (batch.folder / "made.h5").replace(batch.folder / path)
    for more in ((), ("--digest", "sha256"), ()):
        lines = batch.resume({"done": 3}, *more)
        tools.check([line["originals"] for line in lines] == [1] * 3, f"originals {more}: {lines}")
        batch.resume({"skipped": 3}, *more)
        digest = tools.run("nminspect", "files", "out/in/f0.nmb", cwd=batch.folder).stdout.decode().split("\t")[4]
        tools.check((digest == "-") == (not more), f"originals {more}: the SHA-256 is {digest}")


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_killed(tools, number):
    """Killed anywhere and resumed until it is done: the outputs of an undisturbed run."""
    whole = Batch(tools, f"undisturbed{number}", 300)
    whole.run()
    batch = Batch(tools, f"undisturbed{number}/killed", 300)
    for path in whole.names:  # the same inputs
        (batch.folder / path).write_bytes((whole.folder / path).read_bytes())
    ended = 0
    for attempt in range(8):
        before = lines_of(batch.report)
        process = subprocess.Popen(batch.command("--resume", f"-j{1 + attempt % 3}"), cwd=batch.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and lines_of(batch.report) < before + 5 + attempt:
            time.sleep(0.0005)
        process.send_signal(number)
        out, said = process.communicate(timeout=60)
        if process.returncode == 0:
            continue
        ended += 1
        expected = -number if number == signal.SIGKILL else 128 + number
        tools.check(process.returncode == expected, f"signal {number}: exit code {process.returncode}: {said}")
        if number == signal.SIGKILL:
            continue
        tools.check("interrupted; finished files are in the report" in said, f"signal {number}: said {said}")
        tools.check(not batch.left_over(), f"signal {number}: left over {batch.left_over()}")
        done = {line["output"] for line in batch.reported()}
        found = {f"out/in/{name}" for name in batch.outputs()}
        tools.check(done == found, f"signal {number}: reported and there are not the same: {done ^ found}")
        for line in out.splitlines():
            tools.check(json.loads(line)["status"] in ("done", "skipped"), f"signal {number}: {line}")
    tools.check(ended >= 3, f"signal {number}: ended {ended} runs, expected at least 3")
    batch.run("--resume")
    tools.check(batch.outputs() == whole.outputs(), f"signal {number}: other outputs than of an undisturbed run")
    lines = batch.reported()
    tools.check({line["status"] for line in lines} == {"done"}, f"signal {number}: the report has failures")
    tools.check({line["input"] for line in lines} == set(batch.names), f"signal {number}: files without a line")
    batch.resume({"skipped": 300})


def test_limits(tools):
    """Files that do not fit, and a report that does not."""
    batch = Batch(tools, "limits", 6)
    (batch.folder / batch.names[2]).write_bytes(classic(bytes(400_000)))

    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    _, lines = batch.run(code=2, limit=limit_files)
    tools.check([line["status"] for line in lines] == ["done"] * 2 + ["failed"] + ["done"] * 3, f"limit: {lines}")
    tools.check(lines[2]["code"] == "no_space", f"limit: found code {lines[2]['code']}")
    tools.check(not batch.left_over(), "limit: a file is left over")
    batch.resume({"skipped": 5, "done": 1})
    # The report has room for some lines, the last of them in part.
    # nmconvert stops when it cannot write the report. Until then it may convert some more files, but not a hundred.
    small = Batch(tools, "limits_of_report", 100, 1)
    line = len(json.dumps(lines[0]))

    def limit_report():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    small.report.write_text(batch.report.read_text().splitlines()[0] + "\n" + " " * (30_000 - 4 * line) + "\n")
    done, lines = small.run("-j1", code=2, limit=limit_report)
    tools.check("report: cannot write: File too large" in done.stderr, f"report: said {done.stderr}")
    tools.check(0 < len(lines) < 100, f"report: found {len(lines)} lines, expected it to stop")
    tools.check(small.report.read_bytes().endswith(b"\n"), "report: a line is cut")
    small.run("--resume")
    tools.check(len(small.outputs()) == 100, "report: not all is done")


def test_two_runs(tools):
    batch = Batch(tools, "two", 400)
    process = subprocess.Popen(batch.command(), cwd=batch.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and lines_of(batch.report) == 0:
        time.sleep(0.001)
    if process.poll() is None:
        done, _ = batch.run("--resume", code=2)
        tools.check("another run writes this report" in done.stderr, f"two runs: said {done.stderr}")
    tools.check(process.wait(timeout=60) == 0, f"two runs: exit code {process.returncode}")


def test_large(tools):
    """Large files among small ones: the same outputs, in the same order."""
    batch = Batch(tools, "large", 6)
    for i in (1, 4):
        (batch.folder / batch.names[i]).write_bytes(classic(random.Random(i).randbytes(65 << 20)))
    _, lines = batch.run("-j3", "--no-sync")
    tools.check([line["input"] for line in lines] == batch.names, "large: another order of lines")
    for i in (0, 1, 4):
        tools.run("nmconvert", batch.names[i], f"{i}.nmb", cwd=batch.folder)
        tools.check_equal_bytes(batch.folder / f"{i}.nmb", batch.folder / f"out/in/f{i}.nmb", f"large: file {i}")


def test_few_descriptors(tools):
    batch = Batch(tools, "descriptors", 60, 1000)
    batch.run("-j50", limit=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))


def test(tools):
    test_lines(tools)
    test_proofs(tools)
    test_proofs(tools, "--digest", "sha256")
    test_no_digests(tools)
    test_digests_of_originals(tools)
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        test_killed(tools, number)
    test_limits(tools)
    test_two_runs(tools)
    test_large(tools)
    test_few_descriptors(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
