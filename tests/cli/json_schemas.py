#!/usr/bin/python3
"""Each JSON document of nminspect and nmverify is valid by docs/reference/schemas/documents.json, and each schema
describes a document of one of these calls.

    json_schemas.py --tools FOLDER

Skipped (exit code 77) without the Python module jsonschema.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
# Files of spec/vectors or tests/cli, and what makes of them the others.
FILES = ("R-CH-20_vsize.nc R-EX-6_sum_of_an_extent.nmb R-SB-6_unknown_incompatible.nmb classic_cdf1.nc "
         "extended_small.nmb hostile_names.nmb records.nmb statistics.nmb tags.nmb")
MADE = """
nmconvert classic_cdf1.nc classic.nc4
nmcat classic.nc4 classic_cdf1.nc -o all.nmb --stats histogram --hdf5-view on --digest sha256
nmcat classic_cdf1.nc -o link.nmb --link
"""
CALLS = """
nminspect summary --json FILE
nminspect count --json FILE
nminspect count --json --what samples FILE -e ^r
nminspect ls --json FILE
nminspect ls --json --tags tags.nmb
nminspect ls --jsonl --tags statistics.nmb
nminspect ls -l --json --what objects FILE
nminspect ls --jsonl FILE
nminspect ls --jsonl --what objects FILE
nminspect header --json FILE
nminspect header --json --view stored FILE
nminspect dump --json records.nmb a/s --slab 1:1,0:2:2
nminspect files --json FILE
nminspect provenance FILE
nminspect stats --json FILE
nminspect stats --json --histogram FILE
nminspect find --json statistics.nmb 'd.max > 0'
nminspect view --json FILE
nminspect layout --json FILE
nminspect layout --jsonl FILE
nminspect digest --json FILE
nminspect digest --json --total records.nmb
nminspect diff --json FILE classic_cdf1.nc
nminspect diff --json --stat FILE FILE
nminspect diff --json --first 1 all.nmb records.nmb
nmverify --json FILE
nmverify --json --strict --level index FILE
nmverify --json FILE missing.nmb
nmverify --json --originals all.nmb
nmverify --json --since 1 FILE
nmverify --json all.nmb --against classic.nc4 classic_cdf1.nc
nmverify --json all.nmb --against FILE
nmverify --json --set FILE
nmverify --json --set --mode join classic_cdf1.nc FILE
nmverify --json --plan FILE
nmverify --json --plan --partial FILE
nmverify --json --plan --partial --unverified FILE
nmverify --json --no-sync -f --recover recovered.nmb FILE
"""


def check(validators, text, is_lines):
    """The names of the schemas of a document, or of its lines."""
    for line in text.splitlines() if is_lines else [text]:
        document = json.loads(line)
        if is_lines:
            if set(document) <= {"position", "bytes", "kind", "part", "name"}:
                name = "region"
            else:
                name = "listed_object" if "variable" in document else "listed_block"
        else:
            name = document["schema"].split("/")[1]
        validators[name].validate(document)
        yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    tools = parser.parse_args().tools.resolve()
    try:
        import jsonschema
    except ImportError:
        print("skipped: no Python module jsonschema")
        return SKIPPED
    schema = json.loads((ROOT / "docs/reference/schemas/documents.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validators = {
        name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
        for name in schema["$defs"]
    }
    problems, seen, count = [], set(), 0
    with tempfile.TemporaryDirectory(prefix="nmb_json_") as folder:
        for name in FILES.split():
            for place in (ROOT / "tests/cli", ROOT / "spec/vectors"):
                text = place / f"{Path(name).stem}.txt"
                if text.exists():
                    subprocess.run([sys.executable, ROOT / "spec/vectors/assemble.py", text, Path(folder) / name], check=True)
        for line in MADE.split("\n"):
            if words := shlex.split(line):
                subprocess.run([tools / words[0], *words[1:], "-q"], cwd=folder, check=True, capture_output=True)
        files = sorted(path.name for path in Path(folder).iterdir())
        for line in CALLS.split("\n"):
            words = shlex.split(line)
            for name in (files if "FILE" in words else ["-"]) if words else []:
                call = [name if word == "FILE" else word for word in words]
                done = subprocess.run([tools / call[0], *call[1:]], cwd=folder, capture_output=True, timeout=60)
                text = done.stdout.decode("utf-8")
                if not text and (done.returncode or "--jsonl" in words):
                    continue  # a file that cannot be opened or recovered, or no rows
                if done.returncode and call[0] == "nminspect" and call[1] != "diff":
                    continue  # nminspect ends its output where a damaged file cannot be read
                try:
                    seen.update(check(validators, text, "--jsonl" in words))
                    count += 1
                except (ValueError, KeyError, jsonschema.ValidationError) as error:
                    problems.append(f"{shlex.join(call)}: {str(error).splitlines()[0]}")
    named = {one["$ref"].split("/")[-1] for one in schema["oneOf"]}
    problems += [f"no call made a document of the schema {name}" for name in sorted(named - seen)]
    print(f"{count} documents")
    print("\n".join(problems))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
