#!/usr/bin/python3
"""Drives the page of `nminspect layout --html` in a headless Chromium, light and dark, and by the keyboard alone: what it
shows against `nminspect layout --json` and --jsonl, how long it draws 35,530 blocks, and that it makes no request and no
complaint. Shows `nminspect layout` in tmux too. Leaves screenshots, and what tmux shows, in FOLDER.

    layout_page_test.py --tools FOLDER [--examples FOLDER] [--out FOLDER]

Skipped (exit code 77) without Chromium (Debian's package chromium) or tmux.
"""

import argparse
import fnmatch
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import chromium  # noqa: E402
from terminal import Terminal  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
SPLIT = ["--split-names", "^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}"]
SAMPLES = 35530
MOST_MILLISECONDS = 50
MOST_BYTES = 4_000_000  # of the page of the samples


class Test:
    def __init__(self, tools, examples, work, out):
        self.tools, self.examples, self.work, self.out, self.problems = tools, examples, work, out, []

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)
            print(f"wrong: {problem}")

    def run(self, tool, *words):
        return subprocess.run([self.tools / tool, *words], cwd=self.work, check=True, capture_output=True, text=True).stdout

    def layout(self, name):
        """The document and the regions of a file, and its page."""
        page = self.work / f"{Path(name).stem}.html"
        self.run("nminspect", "layout", name, "--html", page, "--no-sync")
        regions = [json.loads(line) for line in self.run("nminspect", "layout", name, "--jsonl").splitlines()]
        return json.loads(self.run("nminspect", "layout", name, "--json")), regions, page

    def samples(self):
        graphs = self.work / "graphs"
        subprocess.run([self.examples / "make_graph_samples", graphs, "--files", "4", "--samples", str(SAMPLES), "--sparse"], check=True)
        self.run("nmcat", *sorted(graphs.iterdir()), "-o", "samples.nmb", *SPLIT, "--no-sync", "-q")
        shutil.rmtree(graphs)
        return "samples.nmb"

    def hostile(self):
        subprocess.run([sys.executable, ROOT / "spec/vectors/assemble.py", ROOT / "tests/cli/hostile_names.txt", self.work / "hostile.nmb"], check=True)
        name = "<img src=x onerror=alert(1)>\u202e'\".nmb"
        (self.work / "hostile.nmb").rename(self.work / name)
        return name

    def small(self):
        """A file of a few blocks, with dead space."""
        subprocess.run([self.examples / "make_graph_samples", self.work / "few", "--files", "3", "--samples", "6"], check=True)
        files = sorted((self.work / "few").iterdir())
        self.run("nmcat", *files, "-o", "few.nmb", "-q")
        self.run("nmcat", files[1], "-o", "few.nmb", "--append", "--replace", "-q")
        return "few.nmb"


def number(text):
    return int(text.replace(",", ""))


class PageUser:
    """Reads and uses a page as its users do."""

    def __init__(self, test, browser, page, regions):
        self.test, self.browser, self.regions = test, browser, regions
        browser.open(page)

    def text(self, name):
        return self.browser.value(f"document.getElementById('{name}').textContent")

    def focused(self):
        return self.browser.value("document.activeElement.id || document.activeElement.dataset.kind || ''")

    def region(self):
        """The number of the region that the page shows in words; its words are those of the line of nminspect."""
        shown = number(self.text("d-number").split(" of ")[0]) - 1
        region = self.regions[shown]
        begin, end = map(number, self.text("d-place").split(" to "))
        name = self.text("d-name")
        same = (begin, end - begin, self.text("d-kind")) == (region["position"], region["bytes"], region["kind"])
        if re.fullmatch(r"[\w/.]*", region.get("name", "")):
            same = same and name == region.get("name", "–")
        self.test.check(same, f"region {shown}: the page shows {name} at {begin} to {end}, nminspect {region}")
        return shown

    def tab_to(self, name):
        for _ in range(40):
            if self.focused() == name:
                return True
            self.browser.key("Tab")
        return False


def check_legend(test, user, document):
    shown = user.browser.value(
        "[...document.querySelectorAll('#legend button')].map(b => [b.dataset.kind, b.querySelector('.more').textContent])")
    found = {kind: number(re.search(r"in ([\d,]+) region", more)[1]) for kind, more in shown}
    test.check(found == {one["kind"]: one["regions"] for one in document["kinds"]}, f"legend: {shown}")
    facts = user.text("facts")
    test.check(f"{document['size']:,} bytes" in facts and f"{document['regions']:,} region" in facts, f"heading: {facts}")


def check_names(test, user):
    """Everything that can have the focus has a name and shows the focus."""
    browser = user.browser
    seen = []
    for _ in range(40):
        browser.key("Tab")
        name = user.focused()
        if not name or name in seen:
            break
        seen.append(name)
        said, outline = browser.value(
            "(e => [e.getAttribute('aria-label') || e.textContent, getComputedStyle(e).outlineStyle])(document.activeElement)")
        test.check(bool(said.strip()), f"{name} has no name")
        test.check(outline not in ("none", ""), f"{name} does not show the focus")
    test.check({"search", "in", "out", "fit", "map"} <= set(seen), f"Tab leads to {seen}")


def check_keys(test, user):
    browser = user.browser
    test.check(user.tab_to("map"), "Tab does not lead to the map")
    browser.key("Home")
    test.check(user.region() == 0, "Home does not lead to the first region")
    for key, step in (("ArrowRight", 1), ("ArrowRight", 1), ("ArrowLeft", -1)):
        before = user.region()
        browser.key(key)
        test.check(user.region() == before + step, f"{key} leads from {before} to {user.region()}")
    spoken = user.text("spoken")
    test.check(user.text("d-kind") in spoken, f"the page says {spoken}")
    before = user.region()
    browser.key("ArrowDown")
    below = user.region()
    test.check(below > before, f"a row below {before} is {below}")
    browser.key("ArrowUp")
    test.check(user.region() < below, f"a row above {below} is {user.region()}")
    browser.key("End")
    test.check(user.region() == len(user.regions) - 1, "End does not lead to the last region")
    for key in ("+", "+", "-", "PageUp", "PageDown", "0"):
        browser.key(key)
        user.region()
    browser.key("ArrowLeft", shift=True)


def check_search(test, user, pattern):
    """The number of matches is that of Python; Enter leads from match to match."""
    browser = user.browser
    names = {(one["part"], one["name"]) for one in user.regions if "name" in one}
    wild = "*" in pattern
    expected = sum(fnmatch.fnmatchcase(name, pattern) if wild else pattern in name for _, name in names)
    browser.key("/")
    test.check(user.focused() == "search", "/ does not lead to the search")
    browser.type(pattern)
    said = user.text("found")
    test.check(said == f"{expected:,} of {len(names):,} names", f"{pattern}: the page says {said}, expected {expected} of {len(names)}")
    found = []
    for _ in range(3):
        browser.key("Enter")
        found.append(user.regions[user.region()].get("name", ""))
        test.check(fnmatch.fnmatchcase(found[-1], pattern if wild else f"*{pattern}*"), f"{pattern}: Enter leads to {found[-1]}")
    test.check(len(set(found)) == min(3, expected), f"{pattern}: Enter leads to {found}")


def check_mouse(test, user):
    browser = user.browser
    x, y, width, height = browser.value("(b => [b.left, b.top, b.width, b.height])(document.getElementById('map').getBoundingClientRect())")
    at = {"x": x + width / 2, "y": y + height / 2}
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
    browser.settle()
    over = user.region()
    test.check(0 < over < len(user.regions) - 1 or len(user.regions) < 20, f"the pointer is over region {over}")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-300, **at)
    browser.settle()
    kept = user.region()
    position = (user.regions[over]["position"], user.regions[kept]["position"])
    size = user.regions[-1]["position"] + user.regions[-1]["bytes"]
    test.check(abs(position[0] - position[1]) < size / 50, f"the wheel moves the region at the pointer from {over} to {kept}")
    browser.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **at)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", x=at["x"] - 200, y=at["y"])
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, x=at["x"] - 200, y=at["y"])
    browser.settle()
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
    browser.settle()
    test.check(user.regions[user.region()]["position"] >= user.regions[kept]["position"], "the view does not follow the pointer")


def check_filter(test, user):
    browser = user.browser
    test.check(user.tab_to("metadata"), "Tab does not lead to the kinds")
    pressed = "document.activeElement.getAttribute('aria-pressed')"
    browser.key(" ")
    test.check(browser.value(pressed) == "false", "the space bar does not hide a kind")
    browser.key(" ")
    test.check(browser.value(pressed) == "true", "the space bar does not show a kind")


def measure(test, user, theme):
    """Draws by zooming, moving and searching; the times of all redraws in milliseconds."""
    browser = user.browser
    browser.value("performance.clearMeasures('redraw')")
    user.tab_to("map")
    browser.key("0")
    for key in "++++----++":
        browser.key(key)
    for key in ("PageDown", "PageUp", "ArrowDown", "ArrowRight") * 5:
        browser.key(key)
    browser.key("0")
    browser.key("/")
    browser.type("evt1")
    browser.key("Escape")
    times = browser.value("performance.getEntriesByName('redraw').map(m => m.duration)")
    middle = statistics.median(times)
    print(f"{theme}: {len(times)} redraws, median {middle:.1f} ms, longest {max(times):.1f} ms")
    test.check(len(times) >= 30, f"{theme}: only {len(times)} redraws")
    test.check(middle < MOST_MILLISECONDS, f"{theme}: a redraw takes {middle:.1f} ms")


def check_page(test, browser, name, pattern, timed):
    document, regions, page = test.layout(name)
    stem = "hostile" if "<" in name else Path(name).stem
    print(f"{stem}: {len(regions)} regions, a page of {page.stat().st_size} bytes")
    for theme in ("light", "dark"):
        browser.theme(theme)
        started = time.monotonic()
        user = PageUser(test, browser, page, regions)
        print(f"{stem}, {theme}: opened in {time.monotonic() - started:.2f} s")
        test.check(user.text("title") != "", f"{stem}: no title")
        check_legend(test, user, document)
        check_names(test, user)
        browser.screenshot(test.out / f"{stem}_{theme}.png")
        check_keys(test, user)
        check_search(test, user, pattern)
        browser.screenshot(test.out / f"{stem}_{theme}_search.png")
        browser.key("Escape")
        browser.key("0")
        check_filter(test, user)
        check_mouse(test, user)
        if timed:
            measure(test, user, theme)
        browser.resize(640, 700)
        browser.settle()
        wide = browser.value("document.documentElement.scrollWidth")
        test.check(wide <= 640, f"{stem}: a window of 640 pixels shows a page of {wide}")
        browser.screenshot(test.out / f"{stem}_{theme}_narrow.png")
        browser.resize(1280, 800)
        browser.settle()
        for said in browser.complaints():
            test.check(False, f"{stem}, {theme}: {said}")
    return page


def check_picture(test, browser, name):
    picture = test.work / "picture.svg"
    test.run("nminspect", "layout", name, "--svg", picture, "-f", "--no-sync")
    for theme in ("light", "dark"):
        browser.theme(theme)
        browser.open(picture)
        browser.screenshot(test.out / f"{Path(name).stem}_{theme}_svg.png")
        for said in browser.complaints():
            test.check(False, f"{name}, picture: {said}")


def check_terminal(test, name, width):
    """The map fills the width of the terminal; colours only if they are wanted."""
    with Terminal(width, 40, test.work, test.tools) as terminal:
        for way in ("", "NO_COLOR=1 "):
            lines = terminal.run(f"{way}nminspect layout {name}")
            coloured = "\n".join(terminal.coloured())
            full = [line for line in lines if len(line) == width and re.fullmatch(r"[hscipmtvowx.?]+", line)]
            test.check(len(full) == 4, f"{width} columns: {len(full)} full rows of the map in\n" + "\n".join(lines))
            test.check(("\x1b[48;5;" in coloured or "\x1b[38;5;" in coloured) == (way == ""), f"{width} columns, {way}: colours")
            (test.out / f"terminal_{width}{'_plain' if way else ''}.txt").write_text(coloured, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--examples", type=Path, help="folder of make_graph_samples (default: beside the tools)")
    parser.add_argument("--out", type=Path, help="folder for screenshots (default: none are kept)")
    arguments = parser.parse_args()
    for missing in [name for name, there in (("Chromium", chromium.program()), ("tmux", shutil.which("tmux"))) if not there]:
        print(f"skipped: no {missing}")
        return 77
    tools = arguments.tools.resolve()
    with tempfile.TemporaryDirectory(prefix="nmb_pages_") as folder:
        out = arguments.out.resolve() if arguments.out else Path(folder) / "screenshots"
        out.mkdir(parents=True, exist_ok=True)
        test = Test(tools, (arguments.examples or tools.parent / "examples").resolve(), Path(folder), out)
        browser = chromium.Chromium()
        try:
            few, samples = test.small(), test.samples()
            check_page(test, browser, few, "graphs.000[01]*", timed=False)
            check_page(test, browser, test.hostile(), "right", timed=False)
            page = check_page(test, browser, samples, "*_evt1*", timed=True)
            test.check(page.stat().st_size < MOST_BYTES, f"the page of the samples has {page.stat().st_size} bytes")
            check_picture(test, browser, few)
            check_picture(test, browser, samples)
        finally:
            browser.close()
        for width in (80, 120):
            check_terminal(test, samples, width)
    print(f"{len(test.problems)} problems")
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
