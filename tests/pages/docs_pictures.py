#!/usr/bin/python3
"""Makes the pictures of docs/guides/inspect.md: the page of the samples, the picture of a climate file, the page of a CGNS file.

    docs_pictures.py --tools FOLDER [--examples FOLDER] --out docs/pictures

Needs Chromium, and the files in NMB_CORPUS.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import chromium  # noqa: E402
from layout_page_test import Test  # noqa: E402

CLIMATE = "classic/NCAR+geocat-datafiles/atm_phy_mag0004_1985.nc"
CGNS = "cgns/CGNS+CGNS/cgnslib_vers-4400.cgns"


def picture(test, browser, name, theme, out, keys):
    browser.theme(theme)
    browser.open(test.layout(name)[2])
    browser.value("document.getElementById('map').focus()")
    for key in keys:
        browser.key(key)
    browser.screenshot(out)
    print(f"{out}: {out.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--examples", type=Path)
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()
    corpus, out, tools = Path(os.environ["NMB_CORPUS"]), arguments.out.resolve(), arguments.tools.resolve()
    with tempfile.TemporaryDirectory(prefix="nmb_pictures_") as folder:
        test = Test(tools, (arguments.examples or tools.parent / "examples").resolve(), Path(folder), out)
        shutil.copyfile(corpus / CLIMATE, test.work / "climate.nc")
        shutil.copyfile(corpus / CGNS, test.work / "mesh.cgns")
        test.run("nmcat", "mesh.cgns", "-o", "mesh.nmb", "--no-originals", "-q")
        test.run("nminspect", "layout", "climate.nc", "--svg", out / "layout_climate.svg", "-f", "--no-sync")
        browser = chromium.Chromium(1200, 640)
        try:
            picture(test, browser, test.samples(), "light", out / "layout_workload.png", [*"/r50*"])
            picture(test, browser, "mesh.nmb", "dark", out / "layout_cgns.png", ["ArrowDown", "ArrowDown", "ArrowRight"])
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
