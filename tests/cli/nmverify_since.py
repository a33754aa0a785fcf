#!/usr/bin/python3
"""nmverify --since: finds exactly the damage of later generations, and finds nothing in sound files.

    nmverify_since.py --tools FOLDER
"""

import json
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from interrupt import header  # noqa: E402
from tool_runs import main  # noqa: E402

VECTORS = Path(__file__).resolve().parent.parent.parent / "spec/vectors"
sys.path.insert(0, str(VECTORS))
import assemble  # noqa: E402

VALUES = 3000
FLIPS = 250


def verify(tools, files, *options):
    """The result for each file."""
    (tools.work / "list").write_text("\n".join(map(str, files)))
    done = tools.run("nmverify", "--json", "--files-from", "list", *options, exit_code=None)
    return {file["file"]: file for file in json.loads(done.stdout)["files"]}


def found(file):
    return {(finding["rule"], finding["offset"]) for finding in file["findings"] if finding["severity"] == "finding"}


def check_vectors(tools):
    """Each finding of a check with --since is also a finding of a check without it. Sound files have no findings."""
    folder = tools.work / "vectors"
    folder.mkdir()
    for text in sorted(VECTORS.glob("*.txt")):
        content = text.read_text(encoding="utf-8")
        path = folder / f"{text.stem}.nmb"
        assemble.write_beside(content, str(folder))
        path.write_bytes(assemble.assemble(content)[0])
    whole = verify(tools, sorted(folder.glob("*.nmb")))
    several = 0
    for since in (1, 2):
        for name, file in verify(tools, sorted(folder.glob("*.nmb")), "--since", str(since)).items():
            if file["error"] or whole[name]["kind"] != "NMB":
                continue
            several += 1
            extra = found(file) - found(whole[name])
            tools.check(not extra, f"{Path(name).name} since {since}: found {extra}, expected {found(whole[name])}")
            blocks = file["blocks"]
            if whole[name]["sound"]:
                tools.check(blocks["sound"] + blocks["unchanged"] == blocks["recorded"], f"{name} since {since}: {blocks}")
    tools.check(several > 50, f"only {several} vectors have several generations")


def check_damage(tools):
    """A byte is changed: since a generation, the damage is found if and only if the byte is newer."""
    work = tools.work
    for i in range(8):
        (work / f"in{i}.nc").write_bytes(header(VALUES) + random.Random(i).randbytes(VALUES))
    ends = [0]
    for arguments in (["in0.nc", "in1.nc", "in2.nc"], ["in3.nc", "in4.nc", "--append"], ["in5.nc", "--append"],
                      ["in1.nc", "--append", "--replace"]):
        tools.run("nmcat", *arguments, "-o", "all.nmb")
        ends.append((work / "all.nmb").stat().st_size)
    sound = (work / "all.nmb").read_bytes()
    for since, unchanged in ((1, 2), (2, 4), (3, 5)):
        file = verify(tools, ["all.nmb"], "--since", str(since))["all.nmb"]
        tools.check(file["sound"] and file["blocks"]["unchanged"] == unchanged, f"since {since}: found {file}")
    for since in (4, 9):
        tools.run("nmverify", "all.nmb", "--since", str(since), exit_code=2)
    chance = random.Random(7)
    places = {}
    for i in range(FLIPS):
        places[f"flip{i}.nmb"] = at = chance.randrange(16384, len(sound))
        damaged = bytearray(sound)
        damaged[at] ^= 1 << chance.randrange(8)
        (work / f"flip{i}.nmb").write_bytes(damaged)
    whole = verify(tools, places)
    for since in (1, 2, 3):
        for name, file in verify(tools, places, "--since", str(since)).items():
            expected = found(whole[name])
            if places[name] >= ends[since]:
                tools.check(found(file) == expected, f"{name} since {since}: found {found(file)}, expected {expected}")
            else:
                tools.check(found(file) <= expected, f"{name} since {since}: found {found(file)}, expected {expected}")
                tools.check(file["bytes_read"] <= whole[name]["bytes_read"], f"{name} since {since}: reads more")
    tools.check(sum(bool(found(file)) for file in whole.values()) > FLIPS // 2, "few changed bytes are damage")


def test(tools):
    check_vectors(tools)
    check_damage(tools)
    (tools.work / "a.nc").write_bytes(header(0))
    tools.run("nmverify", "a.nc", "--since", "1", exit_code=2)
    for options in (["--since", "0"], ["--since", "1", "--originals"]):
        tools.run("nmverify", "all.nmb", *options, exit_code=2)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
