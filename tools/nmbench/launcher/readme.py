"""`nmbench run readme`: the pages of benchmarks/, from which README.md has its figures. The programs of tests/bench measure."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import merging
import sets

SKIPPED = 77


@dataclass(frozen=True)
class Page:
    """A page of benchmarks/. In `words`, {tests}, {build}, {work} and {page} are paths; numbers are multiplied by --scale, but are at least 1."""
    name: str
    words: tuple
    runs: str = ""    # the option for how often; empty: it counts work, and runs once
    file: str = ""    # default: NAME.md
    options: bool = False  # takes those of the libraries: --pnetcdf, --library-level

    def path(self, out):
        return out / (self.file or f"{self.name}.md")

    def command(self, paths, scale, runs):
        paths = {**paths, "page": self.path(paths["out"])}
        words = [word.format(**paths) if isinstance(word, str) else str(max(1, round(word * scale))) for word in self.words]
        if scale != 1 and (self.options or words[1].endswith("run_benchmarks.py")):
            words += ["--scale", str(scale)]
        return words + ([self.runs, str(runs)] if self.runs and runs else [])


def script(name, *words, python="/usr/bin/python3"):
    return (python, f"{{tests}}/{name}", *words, "--page", "{page}")


def groups(*names):
    """Parts of run_benchmarks.py."""
    return script("run_benchmarks.py", "{build}", "--work", "{work}", *(word for name in names for word in ("--only", name)))


def set_page(name):
    """A set of this program."""
    return Page(name, (sys.executable, "{build}/bin/nmbench", "run", name, "--out", f"{{out}}/{name}", "--directory", "{work}"), "--runs",
                f"{name}/README.md", options=True)


# Packages of the index, as tests/python/environments.py installs them.
PACKAGES = "{build}/python/numpy2/bin/python"
NEWEST = "{build}/python/newest/bin/python"  # with --newest
PAGES = {page.name: page for page in (
    *map(set_page, (*sets.SETS, *merging.SETS)),
    Page("merging", script("merge_page.py", "{out}/merge", "{out}/recovery")),
    Page("main", groups("pack", "split", "join", "tiles", "create", "lookup", "count"), "--runs"),
    Page("ranks", groups("ranks", "arrays", "steps"), "--runs"),
    Page("pack_hdf5", groups("pack_hdf5", "originals"), "--runs"),
    Page("convert", groups("convert"), "--runs"),
    Page("joins", script("chunked_join.py", "{build}", "--work", "{work}", "--files", 64, "--megabytes", 25), "--rounds"),
    Page("netcdf_jobs", script("netcdf_jobs.py", "all", "--tools", "{build}/tools", "--work", "{work}/jobs"), "--rounds"),
    Page("xarray_jobs", script("xarray_jobs.py", "all", "--tools", "{build}/tools", "--work", "{work}", "--days", 10_000, "--blocks", 35_530,
                               python=PACKAGES), "--rounds"),
    Page("python_samples", script("python_samples.py", "--build", "{build}", "--work", "{work}", "--count", 20_000, "--many", 5_680_000, python=PACKAGES),
         "--rounds"),
    Page("python_training", script("python_training.py", "--build", "{build}", "--work", "{work}", "--samples", 35_530, "--many", 5_680_000,
                                   "--count", 15_000, "--slow", 1_500, "--window", 5_000, python=NEWEST), "--rounds"),
    Page("hdf5_views", script("hdf5_views.py", "--build", "{build}", "--work", "{work}", "--samples", 3_553), "--runs"),
    Page("verify", script("verify_speed.py", "{build}", "--work", "{work}/verify", "--samples", 35_530, "--megabytes", 1_024), "--repeat"),
    Page("digest", script("digest_speed.py", "{build}", "--work", "{work}", "--megabytes", 1_024), "--repeat"),
    Page("search", script("search_speed.py", "{build}", "--work", "{work}", "--blocks", 64), "--repeat"),
    Page("tag_queries", script("tag_queries.py", "{build}", "--work", "{work}", "--samples", 35_530)),
    Page("message_counts", ("{build}/tests/parallel/message_counts", "--ranks", "512,1024,2048,4096", "--report", "{page}")),
)}


def run(names, source, build, work, out, scale, runs, libraries):
    """Makes the pages `names` in the folder `out`; all, if there are none. The exit code is 1 if a page was not made. libraries: options of
    the command line."""
    paths, left_out = {"tests": source / "tests" / "bench", "build": build, "work": work, "out": out}, []
    for page in [PAGES[name] for name in names or PAGES]:
        command = page.command(paths, scale, runs) + (libraries if page.options else [])
        if not Path(command[0]).exists():
            makers = {word: f"; tests/python/environments.py --build {build}{option} makes it" for word, option in ((PACKAGES, ""), (NEWEST, " --newest"))}
            maker = makers.get(page.words[0], "; build with -DNMB_BUILD_TESTS=ON")
            left_out.append(f"{page.name}: there is no {command[0]}{maker}")
            continue
        print(f"nmbench: {page.name}: {' '.join(command)}", flush=True)
        begin = time.monotonic()
        code = subprocess.run(command).returncode
        made = page.path(out).exists() and page.path(out).stat().st_mtime >= time.time() - (time.monotonic() - begin) - 1
        said = {0: "made", 1: "made, and goals are missed", SKIPPED: "skipped"}.get(code, f"exit code {code}")
        print(f"nmbench: {page.name}: {said}, {time.monotonic() - begin:.0f} s", flush=True)
        if not made:
            left_out.append(f"{page.name}: {command[1 if len(command) > 1 else 0]} ended with exit code {code} and wrote no page")
    for text in left_out:
        print(f"nmbench: {text}", file=sys.stderr)
    return 1 if left_out else 0
