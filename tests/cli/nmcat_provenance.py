#!/usr/bin/python3
"""The provenance that nmcat records: base names and sizes of the inputs, and the options that determine the content; no
places, times or numbers of processes.

    nmcat_provenance.py --tools FOLDER
"""

import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import launchers, nmcat  # noqa: E402
from nmcat_resume import make  # noqa: E402
from tool_runs import main  # noqa: E402


def runs_of(tools, name):
    return json.loads(tools.run("nminspect", "provenance", name).stdout)["runs"]


def entry(tools, name):
    return {"name": name, "bytes": (tools.work / name).stat().st_size}


def check_one_run(tools):
    tools.run("nmcat", "a.nc", "b.nc", "-o", "ab.nmb", "--block-name", "x/{stem}", "--samples", "none", "-j2", "--no-sync")
    told = runs_of(tools, "ab.nmb")
    want = {"schema": "nmb/provenance/1", "tool": "nmcat", "format": "1.0",
            "options": {"block-name": "x/{stem}", "samples": "none"}, "inputs": [entry(tools, "a.nc"), entry(tools, "b.nc")]}
    tools.check(told == [want], f"one run: found {told}, expected {want}")
    tools.run("nmverify", "ab.nmb")


def check_same_bytes(tools):
    """Whatever the folder, its own name and who does it."""
    folder = tools.work / "folder"
    folder.mkdir()
    for name in ("a.nc", "b.nc"):
        os.link(tools.work / name, folder / name)
    tools.run("nmcat", "a.nc", "b.nc", "-o", "one.nmb", "-j1")
    for launcher in [[], *launchers(tools)]:
        done = nmcat(tools, launcher, str(folder / "a.nc"), "folder/b.nc", "-o", "other.nmb", "-f", "--strict")
        tools.check(done.returncode == 0, f"{launcher}: {done.stderr}")
        tools.check_equal_bytes(tools.work / "other.nmb", tools.work / "one.nmb", f"{launcher}")


def check_histories(tools):
    """A file made of NMB files tells what these tell; one that grows keeps what it told; a conversion keeps it too."""
    tools.run("nmcat", "ab.nmb", "c.nc", "-o", "abc.nmb")
    inner = runs_of(tools, "ab.nmb")
    (told,) = runs_of(tools, "abc.nmb")
    tools.check(told["inputs"] == [{**entry(tools, "ab.nmb"), "provenance": inner}, entry(tools, "c.nc")], f"found {told}")
    tools.run("nmcat", "a.nc", "-o", "abc.nmb", "--append", "--block-name", "again")
    grown = runs_of(tools, "abc.nmb")
    tools.check(grown[0] == told and grown[1]["options"] == {"block-name": "again", "append": True} and len(grown) == 2,
                f"grown: found {grown}")
    tools.run("nmverify", "abc.nmb")
    tools.run("nmconvert", "abc.nmb", "converted.nmb")
    tools.check(runs_of(tools, "converted.nmb") == grown, "a conversion keeps the provenance")


def check_order(tools):
    """Names go with sizes in the order in which inputs were merged."""
    files = []
    for name, value in (("s1.nc", 9), ("s2.nc", 5), ("s3.nc", 1)):
        files.append(tools.work / name)
        # A variable of as many values as its first is, in records of 4 bytes.
        record = b"\0\0\0\x0a\0\0\0\x01\0\0\0\x04time\0\0\0\0" + bytes(8)
        variable = (b"\0\0\0\x0b\0\0\0\x01\0\0\0\x04time\0\0\0\x01\0\0\0\0" + bytes(8) + b"\0\0\0\x04\0\0\0\x04")
        header = b"CDF\x01" + value.to_bytes(4, "big") + record + variable
        header += (len(header) + 4).to_bytes(4, "big")
        files[-1].write_bytes(header + b"".join((10 * value + i).to_bytes(4, "big") for i in range(value)))
    tools.run("nmcat", "--mode", "join", *files, "-o", "sorted.nmb", "--sort=values:time")
    (told,) = runs_of(tools, "sorted.nmb")
    tools.check(told["inputs"] == [entry(tools, name) for name in ("s3.nc", "s2.nc", "s1.nc")], f"sorted: found {told}")


def check_damage(tools):
    """What cannot be read of it hinders nobody but who adds to the file."""
    text = (tools.work / "ab.nmb").read_bytes()
    at = text.index(b'"tool"')
    (tools.work / "bad.nmb").write_bytes(text[:at] + b"X" + text[at + 1:])
    for arguments, exit_code in (
        (("nmcat", "bad.nmb", "-o", "from_bad.nmb"), 0),
        (("nmcat", "-q", "bad.nmb", "-o", "hushed.nmb"), 0),
        (("nmcat", "--strict", "bad.nmb", "-o", "refused.nmb"), 1),
        (("nmconvert", "bad.nmb", "refused.nmb"), 1),
        (("nmconvert", "-q", "--repack", "bad.nmb", "refused.nmb"), 1),
        (("nmconvert", "-q", "--lossy", "bad.nmb", "converted_bad.nmb"), 0),
    ):
        done = tools.run(*arguments, exit_code=exit_code)
        tools.check(b"provenance: not kept" in done.stderr, f"{arguments}: said {done.stderr}")
    tools.check(not (tools.work / "refused.nmb").exists(), "a file without its provenance was written")
    tools.run("nmverify", "from_bad.nmb", "converted_bad.nmb")
    tools.run("nmverify", "bad.nmb", exit_code=1)
    tools.run("nminspect", "provenance", "bad.nmb", exit_code=1)
    tools.run("nminspect", "summary", "bad.nmb")
    tools.run("nmcat", "c.nc", "--append", "-o", "bad.nmb", exit_code=1)


def check_depth(tools):
    """However often files are merged on, the last one can be read."""
    tools.run("nmcat", "a.nc", "-o", "deep0.nmb")
    for i in range(1, 40):
        tools.run("nmcat", f"deep{i - 1}.nmb", "-o", f"deep{i}.nmb", "--block-name", "{group}", "--no-sync")
    (told,) = runs_of(tools, "deep39.nmb")
    tools.check(told["inputs"][0]["name"] == "deep38.nmb", f"found {told}")
    tools.run("nmverify", "deep39.nmb")


def check_reference(tools):
    """The reference reader finds what grew sound."""
    reference = Path(__file__).resolve().parents[2] / "spec" / "reference" / "nmb_reference.py"
    done = subprocess.run([sys.executable, reference, "--findings", tools.work / "abc.nmb"], capture_output=True, text=True)
    tools.check(done.returncode == 0, f"reference: exit code {done.returncode}, said {done.stdout[-300:]} {done.stderr[-300:]}")


def check_nothing_told(tools):
    tools.run("nmcat", "a.nc", "-o", "quiet.nmb", "--no-provenance")
    for name in ("quiet.nmb", "a.nc"):
        tools.check(runs_of(tools, name) == [], f"{name} tells something")
    done = nmcat(tools, [], "a.nc", "-o", "a.h5", "--no-provenance")
    tools.check(done.returncode == 2 and "--no-provenance needs an output of kind nmb; OUT is hdf5" in done.stderr, f"found {done.stderr}")


def check_size(tools):
    """Long provenance of inputs is left out, and so are the names of very many inputs."""
    many = tools.work / "many"
    many.mkdir()
    empty = tools.work / "empty.nc"
    empty.write_bytes(b"CDF\x01" + bytes(28))
    for i in range(20000):
        # 203 bytes of name, and what stands around it: more than 4 MiB.
        os.link(empty, many / f"{i:05}{'x' * 195}.nc")
    (tools.work / "list").write_text("".join(f"many/{path.name}\n" for path in sorted(many.iterdir())))
    tools.run("nmcat", "--files-from", "list", "-o", "many.nmb", "--block-name", "{index}", "--no-sync")
    (told,) = runs_of(tools, "many.nmb")
    tools.check(len(told["inputs"]) == 20000, f"found {len(told['inputs'])} inputs")
    tools.run("nmcat", "many.nmb", "empty.nc", "-o", "more.nmb", "--no-sync")
    (told,) = runs_of(tools, "more.nmb")
    tools.check([input["name"] for input in told["inputs"]] == ["many.nmb", "empty.nc"] and "provenance" not in told["inputs"][0],
                f"found {str(told)[:300]}")
    tools.check(told.get("runs_left_out") == 1, f"found {told.get('runs_left_out')} left out, expected 1")
    with (tools.work / "list").open("a") as names:
        names.writelines(f"many/{path.name}\n" for path in sorted(many.iterdir()))
    tools.run("nmcat", "--files-from", "list", "-o", "most.nmb", "--block-name", "{index}", "--no-sync")
    (told,) = runs_of(tools, "most.nmb")
    tools.check(told["inputs"] == [] and told["inputs_left_out"] == {"count": 40000, "bytes": 40000 * 32}, f"most: found {str(told)[:300]}")


def check_hostile_name(tools):
    name = os.fsdecode(b"\xff\x1b\"\\.nc")
    os.link(tools.work / "a.nc", tools.work / name)
    tools.run("nmcat", name, "-o", "hostile.nmb", "--block-name", "h{index}")
    (told,) = runs_of(tools, "hostile.nmb")
    want = "\uefff\x1b\"\\.nc"
    tools.check(told["inputs"][0]["name"] == want, f"found {told}")
    tools.run("nmverify", "hostile.nmb")


def test(tools):
    for i, name in enumerate(("a.nc", "b.nc", "c.nc")):
        make(tools.work / name, i)
    for part in (check_one_run, check_same_bytes, check_histories, check_order, check_damage, check_depth, check_reference,
                 check_nothing_told, check_size, check_hostile_name):
        part(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
