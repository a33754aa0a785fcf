#!/usr/bin/python3
"""Every command of nminspect on damaged and malicious files: an exit code of 0, 1 or 2 within bounds of
time and memory, and a diagnostic of one line with every other exit code than 0.

    damaged_files.py --tools FOLDER

Assembles the invalid vectors, and reads the files below $NMB_CORPUS/bad where that is set.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
VECTORS = Path(__file__).resolve().parents[2] / "spec" / "vectors"
sys.path.insert(0, str(VECTORS))
import assemble  # noqa: E402
from tool_runs import ALL, EVERY, FIRST  # noqa: E402

MOST_MEMORY = 2 << 30  # bytes of address space
COMMANDS = (
    ["summary"], ["count", "-e", "."], ["ls", "-l"], ["ls", "--what=objects", "--json"], ["header"], ["digest", "-j2"]
)


# Under sanitizers shadow memory takes the address space: memory is not limited there. Unit tests see all vectors.
SANITIZED = "NMB_SANITIZED" in os.environ
STEP = EVERY if ALL or not SANITIZED else 4 * EVERY


def problem(nminspect, command, path):
    try:
        done = subprocess.run([nminspect, *command[:1], path, *command[1:]], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "takes more than 60 s"
    if done.returncode not in (0, 1, 2):
        return f"exit code {done.returncode}"
    lines = [line for line in done.stderr.splitlines() if b": warning: " not in line]
    if len(lines) != (done.returncode != 0):
        return f"exit code {done.returncode} with {len(lines)} diagnostics"
    if b"out of memory" in done.stderr:
        return "out of memory"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    arguments = parser.parse_args()
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    problems = 0
    with tempfile.TemporaryDirectory(prefix="nmb_cli_") as folder:
        files = []
        for text in sorted(VECTORS.glob("R-*.txt"))[FIRST::STEP]:
            files.append(Path(folder) / text.stem)
            assemble.main([text, files[-1]])
        if corpus := os.environ.get("NMB_CORPUS"):
            found = sorted(path for path in (Path(corpus) / "bad").rglob("*") if path.is_file())
            files += found[FIRST::STEP]
        else:
            print("without the files of NMB_CORPUS, which is not set")
        for path in files:
            for command in COMMANDS:
                if found := problem(arguments.tools / "nminspect", command, path):
                    print(f"{path}: {' '.join(command)}: {found}")
                    problems += 1
    print(f"{len(files)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
