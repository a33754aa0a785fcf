#!/usr/bin/python3
"""Uses the tools in a terminal of 100 x 30 characters (tmux): checks what the screen shows, and makes pictures for docs/pictures.

    terminal_pictures.py --tools FOLDER [--examples FOLDER] [--out FOLDER] [--samples N]

The files are a small file of graph samples, and a climate file and a CGNS file from NMB_CORPUS. Without NMB_CORPUS, only the
first is used. The script uses the pager with its keys, and compares

- tables with the same tables in a pipe, whose columns are separated by tabs
- headers with ncdump
- colours with the options --color and NO_COLOR, and with output to a pipe
- progress lines with the screen after the command, also if the user interrupts it.

--out gets the pictures docs/pictures/terminal_*.svg; these have 35,530 samples. Skipped (exit code 77) without tmux, less or ncdump.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from terminal import PROMPT, Terminal, picture  # noqa: E402

WIDTH, HEIGHT = 100, 30
CLIMATE = "classic/NCAR+geocat-datafiles/atm_phy_mag0004_1985.nc"
CGNS = "cgns/CGNS+CGNS/cgnslib_vers-4400.cgns"
SPLIT = ["--split-names", "^_grp_(r([0-9]+)_sr([0-9]+)_evt([0-9]+))_", "--block-name", "{group}"]
TAGS = ["--tag", "run={2}", "--tag", "event={4}"]
MOST_BYTES = 60_000  # of a picture
PLACE = "'Base/Zone 1/GridCoordinates/CoordinateX'"
FRAMES = {  # pictures: file, commands
    "terminal_workload": ("samples.nmb", ["nminspect samples.nmb", "nminspect layout samples.nmb"]),
    "terminal_climate": ("climate.nc", ["nminspect climate.nc", "nminspect ls -l --limit 5 climate.nc", "nminspect header climate.nc | head -12"]),
    "terminal_cgns": ("mesh.cgns", ["nminspect ls -l mesh.cgns 'Base/Zone 1/*'", f"nminspect header mesh.cgns {PLACE}",
                                    f"nminspect stats --histogram mesh.cgns {PLACE}"]),
}


class Screen:
    """The terminal, the tools and the problems that were found. All checks use them."""

    def __init__(self, tools, work):
        self.tools, self.work, self.problems = tools, work, []
        self.terminal = Terminal(WIDTH, HEIGHT, work, tools)

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)
            print(f"wrong: {problem}\n  the screen shows\n    " + "\n    ".join(self.terminal.text()))

    def piped(self, *words):
        """Standard output of a tool that does not write to a terminal. Bytes that are not text are shown as less does."""
        out = subprocess.run([self.tools / words[0], *words[1:]], cwd=self.work, check=True, stdout=subprocess.PIPE).stdout
        return re.sub(r"\\x([89a-f][0-9a-f])", lambda byte: f"<{byte[1].upper()}>", out.decode(errors="backslashreplace"))

    def make(self, tool, *words):
        self.piped(tool, *words)

    def shows_table(self, words, titles):
        """A table has the cells of the same table in a pipe, below titles, and no row is wider than the screen."""
        command = " ".join(words)
        rows = [line.split("\t") for line in self.piped(*words).splitlines()]
        shown = [line for line in self.terminal.run(command)[1:-1] if line]
        self.check(re.split(r" {2,}", shown[0].strip()) == titles, f"{command}: titles {shown[0]}")
        cells = [re.split(r" {2,}", line.strip()) for line in shown[1:]]
        self.check(cells == rows, f"{command}: found rows {cells}, expected {rows}")
        starts = {line.rindex(row[-1]) for line, row in zip(shown[1:], rows)}
        self.check(len(starts) == 1, f"{command}: the last column begins at {starts}")

    def pages(self, words, expected):
        """Long text is shown screen by screen; q leaves the pager, and the text stays."""
        command, terminal = " ".join(words), self.terminal
        terminal.clear()
        terminal.start(command)
        terminal.wait(lambda: terminal.text()[-1] == ":", f"the pager of {command}")
        first = terminal.text()[:-1]
        self.check(len(first) == HEIGHT - 1 and first == expected[: len(first)], f"{command}: the first page")
        terminal.keys("Space")
        last = min(len(expected), 2 * len(first))
        terminal.wait(lambda: terminal.text()[-2] == expected[last - 1], f"the second page of {command}")
        second = terminal.text()[:-1]
        self.check(second == expected[last - len(second) : last], f"{command}: the second page")
        terminal.keys("q")
        terminal.wait(terminal.is_idle, "a prompt after the pager")
        self.check(terminal.text()[:-1] == second, f"{command}: the text after the pager")


def lines_of(text):
    """The lines of a text as a terminal shows them."""
    out = []
    for line in text.expandtabs().splitlines():
        parts = [line[i : i + WIDTH] for i in range(0, len(line), WIDTH)] or [""]
        out += [part.rstrip() for part in parts]
    return out


def check_header(screen, name):
    """The pager shows the text that a pipe gets, and that ncdump prints for the files that it reads."""
    expected = screen.piped("nminspect", "header", name)
    if name.endswith(".nc"):
        peer = subprocess.run(["ncdump", "-h", screen.work / name], check=True, capture_output=True, text=True).stdout
        screen.check(expected == peer, f"{name}: another header than that of ncdump")
    screen.pages(["nminspect", "header", name], lines_of(expected))


def check_pager_of_table(screen, name, titles):
    """A listing that is longer than the screen has its titles once, and all its rows."""
    words = ["nminspect", "ls", "-l", name]
    terminal = screen.terminal
    rows = [line.split("\t") for line in screen.piped(*words).splitlines()]
    terminal.clear()
    terminal.start(" ".join(words))
    terminal.wait(lambda: terminal.text()[-1] == ":", "the pager of ls -l")
    shown = terminal.text()
    screen.check(re.split(r" {2,}", shown[0].strip()) == titles, f"ls -l {name}: titles {shown[0]}")
    cells = [re.split(r" {2,}", line.strip()) for line in shown[1:-1]]
    screen.check(cells == rows[: len(cells)], f"ls -l {name}: the first rows")
    terminal.keys("G")
    terminal.wait(lambda: "(END)" in terminal.text()[-1], "the end of ls -l")
    screen.check(re.split(r" {2,}", terminal.text()[-2].strip()) == rows[-1], f"ls -l {name}: the last row")
    terminal.keys("q")
    terminal.wait(terminal.is_idle, "a prompt after the pager")


def check_layout(screen, name):
    """The map fills the width; it has colours on a terminal only, unless the user says otherwise."""
    document = screen.piped("nminspect", "layout", "--json", name)
    for command, coloured in ((f"nminspect layout {name}", True), (f"NO_COLOR=1 nminspect layout {name}", False),
                              (f"nminspect layout --color never {name}", False), (f"TERM=dumb nminspect layout {name}", False)):
        shown = screen.terminal.run(command)
        rows = [line for line in shown if len(line) == WIDTH and re.fullmatch(r"[hscipmtvowx.?]+", line)]
        screen.check(len(rows) == 4, f"{command}: {len(rows)} full rows of the map")
        found = any("\x1b[" in line for line in screen.terminal.coloured())
        screen.check(found == coloured, f"{command}: found colours: {found}")
        kinds = {line[3:].split()[0] for line in shown if re.match(r"[hscipmtvowx.?]  \w", line)}
        screen.check(kinds and all(f'"kind":"{kind}' in document.replace('": "', '":"') for kind in kinds), f"{command}: kinds {kinds}")
    screen.check("\x1b" not in screen.piped("nminspect", "layout", name), "layout: codes of colours in a pipe")


def check_messages(screen):
    """The name of the tool and the kind of a message have colours on a terminal."""
    bold, yellow = "\x1b[1m", "\x1b[33m"
    terminal = screen.terminal
    for command, coloured in (("nminspect none.nmb", True), ("nminspect --color never none.nmb", False), ("nminspect none.nmb 2>&1 | cat", False),
                              ("nminspect --color always none.nmb 2>&1 | cat", True)):
        terminal.run(command)
        found = bold in "\n".join(terminal.coloured())
        screen.check(found == coloured, f"{command}: found colours: {found}")
    for tool in ("nmcat -o out.nmb", "nmconvert", "nmverify"):
        terminal.run(f"{tool} none.nc" + (" out.nmb" if tool == "nmconvert" else ""))
        screen.check(bold in "\n".join(terminal.coloured()), f"{tool}: a message without colours")
    terminal.run("nmcat --block-name same samples.nmb -o warned.nmb 2>&1 | grep -c warning; nmcat --help | head -3")
    screen.check(yellow not in "\n".join(terminal.coloured()), "a pipe got colours")


def watch(screen, command, pattern, interrupt=False):
    """Runs a command and checks the progress lines that it shows, which have `pattern` (None: it must show none)."""
    terminal = screen.terminal
    terminal.clear()
    terminal.start(command)
    seen = False
    until = time.monotonic() + 10
    while time.monotonic() < until and not (terminal.is_idle() and len(terminal.text()) > 1):
        last = terminal.text()[-1]
        if pattern and re.fullmatch(pattern, last):
            if interrupt and not seen:
                terminal.keys("C-c")
            seen = True
        elif not pattern:
            seen |= bool(re.search(r"\d s( left)?$", last))
        time.sleep(0.02)
    screen.check(terminal.is_idle(), f"{command}: no prompt")
    screen.check(seen == bool(pattern), f"{command}: found progress: {seen}")
    if not interrupt:
        rest = [line for line in terminal.text() if re.search(r"/s|\d s", line) and "$" not in line]
        screen.check(not rest, f"{command}: the progress line stays: {rest}")


def check_progress(screen):
    """A line shows the progress, and is gone at the end of the command. After Ctrl-C, the prompt has a line of its own."""
    slow = f"nmverify --rate {os.path.getsize(screen.work / 'slow.nmb') * 2}"
    line = r"slow\.nmb: [\d.]+ \w+ of [\d.]+ \w+, [\d.]+ \w+/s, \d+ s left"
    watch(screen, f"{slow} slow.nmb", line + r"(\^C)?", interrupt=True)
    watch(screen, f"{slow} slow.nmb", line)
    watch(screen, f"{slow} --no-progress slow.nmb", None)
    watch(screen, f"{slow} -q slow.nmb", None)


def check_time(screen):
    """While the process that reads HDF5 files works, a line shows the seconds."""
    plugins = screen.work / "plugins"
    plugins.mkdir()
    real = next(path for path in screen.tools.parent.rglob("nmb-hdf5") if path.is_file())
    (plugins / "nmb-hdf5").write_text(f'#!/bin/sh\nsleep 1.1\nexec {real} "$@"\n')
    (plugins / "nmb-hdf5").chmod(0o755)
    watch(screen, f"NMB_PLUGIN_PATH={plugins} nminspect count mesh.cgns", r"mesh\.cgns: 1 s")
    screen.check(screen.terminal.text()[1] == screen.piped("nminspect", "count", "mesh.cgns").strip(), "count after a progress line")


def make_samples(screen, examples, count):
    subprocess.run([examples / "make_graph_samples", screen.work / "graphs", "--files", "2", "--samples", str(count), "--sparse"], check=True,
                   stdout=subprocess.DEVNULL)
    graphs = sorted((screen.work / "graphs").iterdir())
    screen.make("nmcat", *graphs, "-o", "samples.nmb", *SPLIT, *TAGS, "--no-sync", "-q")
    return graphs


def check_samples(screen, examples):
    graphs = make_samples(screen, examples, 300)
    screen.make("nmcat", *graphs, "-o", "slow.nmb", "--no-sync", "-q")
    shutil.rmtree(screen.work / "graphs")
    blocks = screen.piped("nminspect", "ls", "samples.nmb").split()
    run, event = re.fullmatch(r"r(\d+)_sr\d+_evt(\d+)", blocks[7]).groups()
    terminal = screen.terminal
    shown = terminal.run("nminspect samples.nmb")
    screen.check([re.split(r" {2,}", line) for line in shown[1:-1]] == [line.split("\t") for line in screen.piped("nminspect", "samples.nmb").splitlines()],
                 "the summary")
    screen.check(terminal.run(f"nminspect find samples.nmb 'run == {run} && event == {event}'")[1:-1] == [blocks[7]], "find")
    titles = ["kind", "dims", "objects", "atts", "records", "samples", "header", "values", "name"]
    screen.shows_table(["nminspect", "ls", "-l", "--limit", "9", "samples.nmb"], titles)
    check_pager_of_table(screen, "samples.nmb", titles)
    check_layout(screen, "samples.nmb")
    screen.make("nmcat", "samples.nmb", "-o", "fewer.nmb", "--block-name", "{group}", "--exclude", blocks[3], "--no-sync", "-q")
    shown = terminal.run("nminspect diff samples.nmb fewer.nmb")
    screen.check(shown[1:-1] == [f"only in samples.nmb: block /{blocks[3]}"], "diff")
    check_messages(screen)
    check_progress(screen)


def check_climate(screen):
    check_pager_of_table(screen, "climate.nc", ["type", "shape", "values", "name"])
    check_header(screen, "climate.nc")
    check_layout(screen, "climate.nc")


def check_cgns(screen):
    check_header(screen, "mesh.cgns")
    check_time(screen)
    words = f"nminspect stats --histogram mesh.cgns {PLACE}"
    shown = screen.terminal.run(words)[1:-1]
    bars = [len(line) - len(line.rstrip("#")) for line in shown]
    expected = [int(line.split("\t")[3]) for line in screen.piped(*shlex.split(words)).splitlines()]
    longest = max(bars)
    screen.check(max(map(len, shown)) <= WIDTH and longest >= 10, "stats --histogram: rows wider than the screen")
    screen.check(all(abs(bar - longest * count / max(expected)) <= 1 for bar, count in zip(bars[1:], expected, strict=True)),
                 f"stats --histogram: bars of {bars} for {expected}")
    screen.make("nmcat", "mesh.cgns", "-o", "mesh.nmb", "--no-originals", "-q", "--no-sync")
    check_layout(screen, "mesh.nmb")
    screen.make("nmconvert", "mesh.nmb", "again.nmb", "--no-sync", "-q")
    screen.check(screen.terminal.run("nminspect diff mesh.nmb again.nmb")[1:-1] == [], "diff of equal files")


def take_pictures(screen, out):
    for name, (file, commands) in FRAMES.items():
        if not (screen.work / file).exists():
            continue
        lines = []
        for command in commands:
            screen.terminal.run(command)
            lines += screen.terminal.coloured()[:-1]
        text = picture(lines, WIDTH)
        screen.check(len(text) < MOST_BYTES, f"{name} has {len(text)} bytes")
        (out / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{out / name}.svg: {len(text)} bytes, {len(lines)} lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--examples", type=Path, help="folder of make_graph_samples (default: beside the tools)")
    parser.add_argument("--out", type=Path, help="folder for pictures (default: none are made)")
    parser.add_argument("--samples", type=int, default=35530, help="number of samples in the pictures")
    arguments = parser.parse_args()
    for missing in [name for name in ("tmux", "less", "ncdump") if not shutil.which(name)]:
        print(f"skipped: no {missing}")
        return 77
    tools = arguments.tools.resolve()
    examples = (arguments.examples or tools.parent / "examples").resolve()
    with tempfile.TemporaryDirectory(prefix="nmb_terminal_") as folder:
        screen = Screen(tools, Path(folder))
        with screen.terminal:
            check_samples(screen, examples)
            if "NMB_CORPUS" in os.environ:
                for source, name, check in ((CLIMATE, "climate.nc", check_climate), (CGNS, "mesh.cgns", check_cgns)):
                    shutil.copyfile(Path(os.environ["NMB_CORPUS"]) / source, screen.work / name)
                    check(screen)
            else:
                print("NMB_CORPUS is not set: no climate file and no CGNS file")
            if arguments.out:
                arguments.out.mkdir(parents=True, exist_ok=True)
                (screen.work / "samples.nmb").unlink()
                make_samples(screen, examples, arguments.samples)
                take_pictures(screen, arguments.out.resolve())
    print(f"{len(screen.problems)} problems")
    return 1 if screen.problems else 0


if __name__ == "__main__":
    sys.exit(main())
