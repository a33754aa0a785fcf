#!/usr/bin/python3
"""Runs the tools as users do, and compares their output with the stored output.

    run_cases.py --tools FOLDER [--rewrite] CASE...

A case is a text in which lines that begin with two spaces are commands and their output:

      $ nminspect count records.nmb     a line for bash, in a folder of its own
      3                                 standard output and standard error, expected
      <>                                an empty line; <1b>: a byte that a terminal would obey
      [1]                               the exit code, where it is not 0

Other lines are for the reader, but for "Needs: PROGRAM...", without which the case is skipped (exit
code 77). NAME.nmb and NAME.nc are assembled where a command mentions them and tests/cli or
spec/vectors has a NAME.txt. `on_terminal COMMAND` gives a command a terminal to write to. --rewrite
stores what the tools said; a reader of the difference says whether it is right.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parent.parent / "spec" / "vectors"
EXAMPLES = HERE.parent.parent / "examples"
SKIPPED = 77
ON_TERMINAL = """#!/bin/sh
exec "$PYTHON" -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@"
"""


def assemble(text, folder):
    """Makes the files that `text` mentions and there are vectors of."""
    for name, ending in sorted(set(re.findall(r"\b([\w-]+)\.(nmb|nc)\b", text))):
        for source in (HERE / f"{name}.txt", VECTORS / f"{name}.txt"):
            if source.exists():
                command = [sys.executable, VECTORS / "assemble.py", source, folder / f"{name}.{ending}"]
                subprocess.run(command, check=True)
                break


def run(command, folder, tools):
    environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm", PYTHON=sys.executable)
    environment["PATH"] = f"{folder / 'bin'}:{tools}:{EXAMPLES}:{environment['PATH']}"
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder / "files",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    text = done.stdout.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    # Shows the bytes that a terminal would obey.
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda m: f"<{ord(m[0]):02x}>", text)
    lines = text.splitlines()
    if done.returncode:
        lines.append(f"[{done.returncode}]")
    return lines


def replay(case, tools):
    """The case's text with the output that its commands give now."""
    text = case.read_text(encoding="utf-8")
    out = []
    with tempfile.TemporaryDirectory(prefix="nmb_cli_") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        (folder / "bin").mkdir()
        script = folder / "bin" / "on_terminal"
        script.write_text(ON_TERMINAL, encoding="utf-8")
        script.chmod(0o755)
        assemble(text, folder / "files")
        for line in text.splitlines():
            if line.startswith("  $ "):
                out.append(line)
                out += [f"  {said or '<>'}" for said in run(line[4:], folder, tools)]
            elif not line.startswith("  "):
                out.append(line)
    return text, "\n".join(out) + "\n"


def missing_programs(case):
    words = re.findall(r"^Needs: (.*)$", case.read_text(encoding="utf-8"), re.M)
    return [program for line in words for program in line.split() if not shutil.which(program)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("case", nargs="+", type=Path)
    arguments = parser.parse_args()
    result = 0
    for case in arguments.case:
        if missing := missing_programs(case):
            print(f"{case.name}: skipped: {', '.join(missing)} not installed")
            result = result or SKIPPED
            continue
        stored, now = replay(case, arguments.tools.resolve())
        # Another version of a compression library makes blocks of another length.
        same = (lambda text: re.sub(r"(: reads \d+), bytes \d+$", r"\1", text, flags=re.M)) if case.suffix == ".md" else str
        if same(stored) == same(now):
            continue
        if arguments.rewrite:
            case.write_text(now, encoding="utf-8")
            print(f"{case.name}: rewritten")
            continue
        sys.stdout.writelines(
            line + "\n"
            for line in difflib.unified_diff(
                stored.splitlines(), now.splitlines(), f"{case.name} expected", "found", lineterm=""
            )
        )
        result = 1
    return result


if __name__ == "__main__":
    sys.exit(main())
