#!/usr/bin/python3
"""nmcat --report and --digest: the file has what --json says, also of runs that fail; digests are those of the files.

    nmcat_report.py --tools FOLDER
"""

import hashlib
import json
import sys

sys.dont_write_bytecode = True
from nmcat_faults import make  # noqa: E402
from tool_runs import main  # noqa: E402


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test(tools):
    work = tools.work
    make(work / "a.nc", 0, 3, 100)
    make(work / "b.nc", 100, 3, 100)
    said = tools.run("nmcat", "a.nc", "b.nc", "-o", "out.nmb", "--report", "r.json", "--json").stdout
    tools.check(said == (work / "r.json").read_bytes(), "r.json: other than what --json says")
    for mode, target in (("pack", "two.nmb"), ("tiles", "two.nc"), ("pack", "two.h5")):
        said = tools.run("nmcat", "--mode", mode, "a.nc", "b.nc", "-o", target, "--report", "r.json", "--digest", "sha256").stdout
        report = json.loads((work / "r.json").read_text())
        tools.check(said == b"", f"{target}: said {said!r}")
        tools.check(report["sources"] == [{"file": name, "sha256": sha256(work / name)} for name in ("a.nc", "b.nc")],
                    f"{target}: found sources {report['sources']}")
        tools.check(report["sha256_out"] == sha256(work / target), f"{target}: found sha256_out {report['sha256_out']}")
    # Failures are reported, too.
    tools.run("nmcat", "a.nc", "a.nc", "-o", "no.nmb", "--report", "r.json", "--digest", "sha256", exit_code=1)
    report = json.loads((work / "r.json").read_text())
    tools.check(not report["done"] and [one["kind"] for one in report["conflicts"]] == ["block name"], f"conflict: {report}")
    tools.run("nmcat", "a.nc", "nowhere.nc", "-o", "no.nmb", "--report", "r.json", exit_code=2)
    report = json.loads((work / "r.json").read_text())
    tools.check("nowhere.nc" in report["errors"][0], f"nowhere: {report}")
    tools.run("nmcat", "a.nc", "-o", "x.nmb", "--report", "nowhere/r.json", exit_code=2)
    tools.run("nmcat", "a.nc", "-o", "y.nmb", "--digest", "sha256", "--no-originals", exit_code=2)
    left = sorted(path.name for path in work.iterdir() if path.name.startswith((".", "no.", "y.")))
    tools.check(not left, f"left {left}")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
