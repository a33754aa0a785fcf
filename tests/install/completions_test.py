#!/usr/bin/python3
"""The completions of the tools: bash completes commands, options, words and files at a terminal as they should; zsh and fish
find no error in theirs, where they are installed; each script has each option of --help.

    completions_test.py --completions FOLDER --tools FOLDER
"""

import argparse
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOLS = ("nmcat", "nmconvert", "nminspect", "nmverify")
# A typed line, and the line that bash shows after one Tab. The folder has the files run1.nmb, run2.nmb and "a b.nc", and the
# folder made.
TYPED = (
    ("nminspect lay", "nminspect layout "),
    ("nminspect layout --sv", "nminspect layout --svg "),
    ("nminspect layout --color=alw", "nminspect layout --color=always "),
    ("nminspect layout --color ne", "nminspect layout --color never "),
    ("nminspect layout run1", "nminspect layout run1.nmb "),
    ("nminspect run1", "nminspect run1.nmb "),
    ("nminspect layout --html ru", "nminspect layout --html run"),
    ("nminspect -q count --wh", "nminspect -q count --what "),
    ("nminspect count --what samp", "nminspect count --what samples "),
    ("nminspect layout --limit r", "nminspect layout --limit r"),
    ("nmcat --mode uni", "nmcat --mode union "),
    ("nmcat --mode=til", "nmcat --mode=tiles "),
    ("nmcat a", "nmcat a\\ b.nc "),
    ("nmcat --block-na", "nmcat --block-name "),
    ("nmcat --files-from run1", "nmcat --files-from run1.nmb "),
    ("nmconvert --out-dir m", "nmconvert --out-dir made/"),
    ("nmverify --lev", "nmverify --level "),
    ("nmverify --level bl", "nmverify --level blocks "),
    ("nmverify --recover ru", "nmverify --recover run"),
)
END = "@END@"


class Shell:
    """bash at a terminal. Control-x v writes the line as it is, and forgets it."""

    def __init__(self, folder, scripts):
        rc = folder.parent / "rc"
        rc.write_text(
            "".join(f"source '{script}'\n" for script in scripts)
            + "bind 'set enable-bracketed-paste off'\nbind 'set bell-style none'\n"
            + f"show() {{ printf '\\n%s{END}\\n' \"$READLINE_LINE\"; READLINE_LINE=; }}\nbind -x '\"\\C-xv\": show'\nPS1=\n",
            encoding="utf-8")
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve("/bin/bash", ["bash", "--noprofile", "--rcfile", str(rc), "-i"],
                      {"PATH": "/usr/bin:/bin", "TERM": "dumb", "HOME": str(folder), "LANG": "C.UTF-8"})
        self.pid = pid
        self.line("")

    def line(self, typed):
        """The line after `typed`; the text is read until its end, so that nothing is left."""
        os.write(self.terminal, (typed + "\x18v").encode())
        text, until = "", time.monotonic() + 20
        while END not in text:
            if not select.select([self.terminal], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(f"bash says {text!r}")
            text += os.read(self.terminal, 1 << 16).decode(errors="replace")
        return text.split(END)[0].replace("\r", "").rpartition("\n")[2]

    def close(self):
        os.write(self.terminal, b"exit\n")
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def options_of(tools, name):
    """All long options of a tool and of its commands."""
    said = subprocess.run([tools / name, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  (?:-\w,)?--([a-z0-9-]+)[ \n]", said, re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--completions", required=True, type=Path)
    parser.add_argument("--tools", required=True, type=Path)
    arguments = parser.parse_args()
    completions, problems = arguments.completions.resolve(), []
    for name in TOOLS:
        for script, mark in ((f"bash/{name}", "--"), (f"zsh/_{name}", "--"), (f"fish/{name}.fish", "-l ")):
            text = (completions / script).read_text(encoding="utf-8")
            for option in options_of(arguments.tools.resolve(), name):
                if not re.search(rf"(?<![\w-]){mark}{option}(?![\w-])", text):
                    problems.append(f"{script}: no --{option}")
        for shell, script in (("bash", f"bash/{name}"), ("zsh", f"zsh/_{name}"), ("fish", f"fish/{name}.fish")):
            if not shutil.which(shell):
                print(f"{shell} is not installed: {script} is not checked")
                continue
            done = subprocess.run([shell, "-n", completions / script], capture_output=True, text=True)
            if done.returncode or done.stderr:
                problems.append(f"{shell} -n {script}: {done.stderr}")
    with tempfile.TemporaryDirectory(prefix="nmb_completions_") as work:
        folder = Path(work) / "files"
        (folder / "made").mkdir(parents=True)
        for name in ("run1.nmb", "run2.nmb", "a b.nc"):
            (folder / name).write_text("")
        shell = Shell(folder, [completions / f"bash/{name}" for name in TOOLS])
        for typed, expected in TYPED:
            found = shell.line(typed + "\t")
            if found != expected:
                problems.append(f"bash: {typed!r} becomes {found!r}, expected {expected!r}")
        shell.close()
    print(f"{len(TYPED)} lines")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
