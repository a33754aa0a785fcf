#!/usr/bin/python3
"""Assembles all vectors, and checks that the reference reader finds in each vector what the vector's text expects.

    check_vectors.py --out FOLDER [--update] [VECTOR ...]

The program writes each vector as FOLDER/NAME.nmb (or .nc). It also writes FOLDER/manifest.tsv, with one line for
each expectation: vector, file, valid|invalid|unsupported|remark, rule, offset, expected JSON (or -). The program fails
if the specification has a rule that no vector breaks. --update writes the expected JSON of valid vectors, core.tsv and
digests.tsv again: review the difference before you commit it.
"""

import argparse
import json
import pathlib
import random
import re
import sys
import typing

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))
import assemble  # noqa: E402
import digest_reference  # noqa: E402
import nmb_reference  # noqa: E402

RULE = re.compile(r"^\|\s*(R-[A-Z0-9]+-\d+)\s*\|")
CORE = ("format.md", "classic_header.md")  # the parts of the specification that a core reader knows
CORE_NEEDS = 0x23  # zstd and dictionaries in bodies, coded pieces
FLIPS = 30  # number of bits that are flipped in each small valid file
EXPECT = re.compile(
    r"^(remark |unsupported )?(R-[A-Z0-9]+-\d+) at (.*?)( naming (R-(?:CH|X[A-Z])-\d+)( at (.*?))?)?( only)?$"
)
READING = re.compile(r'^reading (R-[A-Z0-9]+-\d+) of "(.*)"$')


def rules_of(path):
    """Returns {rule id: text} from the tables of a specification."""
    out = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if m := RULE.match(line):
            out[m[1]] = line
    return out


class Expected(typing.NamedTuple):
    kind: str  # "remark" (the file is valid), "unsupported" or "invalid"
    rule: str
    offset: int
    naming: str | None  # rule of the body that the message of R-BK-10 must name
    inside: int | None  # offset in the body that this message must name
    only: bool


class Vector:
    """One vector: its bytes, its expectations, and the findings of the reference reader."""

    def __init__(self, path, out):
        self.name, self.failures, self.expected, self.reading = path.stem, [], [], []
        self.json_path = path.with_suffix(".json")
        text, self.folder = path.read_text(encoding="utf-8"), out
        self.data, places, expects = assemble.assemble(text)
        assemble.write_beside(text, out)
        self.file = out / (self.name + (".nc" if self.data[:3] == b"CDF" else ".nmb"))
        self.file.write_bytes(self.data)
        self.valid = "valid" in expects
        for text in expects:
            if text in ("valid", "json"):
                continue
            if m := READING.match(text):
                self.reading.append({"rule": m[1], "object": m[2]})
                continue
            m = EXPECT.match(text)
            if not m:
                self.fail(f"cannot read `expect {text}`")
                continue
            self.expected.append(
                Expected(
                    (m[1] or "invalid").strip(),
                    m[2],
                    assemble.resolve(places, m[3], len(self.data)),
                    m[5],
                    m[7] and assemble.resolve(places, m[7], len(self.data)),
                    bool(m[8]),
                )
            )
        if not expects:
            self.fail("expects nothing")
        self.with_json = self.valid or "json" in expects

    def fail(self, message):
        self.failures.append(message)

    def check(self, update):
        self.reader = nmb_reference.reader_of(self.data, folder=self.folder)
        self.document = nmb_reference.document_of_reader(self.reader, self.data)
        if self.document is None:
            self.fail("the reference reader does not know this kind of file")
            return
        findings, remarks = self.document["findings"], self.document.get("remarks", [])
        if self.valid:
            for f in findings:
                self.fail(f"valid, found {f['rule']} at {f['offset']}: {f['message']}")
        for e in self.expected:
            remark = e.kind == "remark"
            found = remarks if remark else findings
            met = [
                f
                for f in found
                if (f["rule"], f["offset"]) == (e.rule, e.offset)
                and inner_of(e) in f["message"]
                and f.get("unsupported", False) == (e.kind == "unsupported")
            ]
            if not met or e.only and len(found) != 1 or remark and findings:
                self.fail(
                    f"expected {'only ' if e.only else ''}{e.kind} {e.rule} at {e.offset}, found {findings + remarks}"
                )
        found = without_messages(self.document.get("reading", []))
        if found != self.reading:
            self.fail(f"expected {self.reading} of reading, found {found}")
        if self.with_json:
            self.check_json(update)
        if self.valid and "blocks" in self.document:
            self.check_scan()
            if len(self.data) < 2**18:
                self.check_flips()

    def core_lines(self, rules):
        """Returns the lines of core.tsv. rules: the rules of the core."""
        if not isinstance(self.reader, nmb_reference.File):
            other, needs = [], 0
        else:
            choice, sb = self.reader.choice, self.reader.superblock
            if not choice.unsupported and (choice.lost or not choice.marked):
                return [(self.name, "refused", "-", "-", "-")]
            other = sorted(
                entry.name.decode("utf-8", "replace")
                for entry, _, _ in self.reader.blocks
                if entry["needs"] & ~CORE_NEEDS
            )
            needs = sb["needs"] if sb else 0
        if self.valid:
            return [(self.name, "valid", "-", "-", json.dumps(other) if other else "-")]
        return [
            (self.name, e.kind, e.rule, str(e.offset), "-")
            for e in self.expected
            if e.kind != "remark"
            and not self.is_outside_core(e)
            and {e.rule, e.naming or e.rule} <= rules
            and (e.rule == "R-IX-10" or not needs & ~CORE_NEEDS)
        ]

    def is_outside_core(self, expected):
        """Returns whether a finding is in a structure that a core reader does not read.

        The first 512 bytes of the superblock are in the core: they hold the places that lead to these structures.
        """
        sb = getattr(self.reader, "superblock", None)
        if sb and 0 <= expected.offset - sb.position < 512:
            return False
        return (expected.rule, expected.offset) in getattr(self.reader, "not_core", ())

    def check_scan(self):
        """Checks that headers, map pages and growth pages, without the index, give the blocks of the index."""
        scanned, indexed = nmb_reference.scan_and_index(self.data)
        for name in sorted(scanned.keys() | indexed.keys()):
            if scanned.get(name) != indexed.get(name):
                self.fail(
                    f"block {name}: found without the index {scanned.get(name)} (position, generation, data map, "
                    f"extent length, records), by the index {indexed.get(name)}"
                )

    def check_flips(self):
        """Checks that the reader finds any flipped bit, up to the end of the newest generation."""
        random_ = random.Random(self.name)
        behind = [r["offset"] for r in self.document.get("remarks", []) if r["rule"] == "R-FL-2"]
        length = min(behind + [len(self.data)])
        for _ in range(FLIPS):
            damaged, at, bit = (
                bytearray(self.data),
                random_.randrange(length),
                random_.randrange(8),
            )
            damaged[at] ^= 1 << bit
            document, _ = nmb_reference.document_of(bytes(damaged), folder=self.folder)
            if not document["findings"]:
                self.fail(f"no finding with bit {bit} of byte {at} flipped")

    def check_json(self, update):
        """Compares the JSON document, without messages.

        Of more than 20 blocks, only the first two and the last two are compared.
        """
        document = self.document | {
            name: without_messages(self.document[name])
            for name in ("findings", "reading") + ("remarks",) * ("blocks" in self.document)
            if name in self.document
        }
        blocks = document.get("blocks", [])
        if len(blocks) > 20:
            document |= {"blocks": blocks[:2] + blocks[-2:], "blocks_left_out": len(blocks) - 4}
        text = compact(document)
        if update:
            self.json_path.write_text(text, encoding="utf-8")
        elif (
            not self.json_path.exists()
            or json.loads(self.json_path.read_text(encoding="utf-8")) != document
        ):
            self.fail(f"{self.json_path.name} is missing or differs")


    def digest(self):
        """Returns the digest of the content (digest.md), or "-" if the reference does not compute it."""
        try:
            if self.reader is None:
                blocks = digest_reference.classic_blocks(self.data)
            else:
                blocks = digest_reference.nmb_blocks(self.reader, self.document["findings"])
        except (digest_reference.Unsupported, nmb_reference.extended.Unsupported):
            return "-"
        return digest_reference.digests(blocks)[1].hex()

    def check_future(self, row):
        """Compares the reference reader with future.tsv: blocks read, blocks that may change, findings."""
        reader, writer, verifier = row
        names = [b["name"] for b in self.document.get("blocks", []) if "variables" in b]
        unread = {b["name"] for b in self.document.get("blocks", []) if self.without_values(b)}
        read = [n + " without values" * (n in unread) for n in names]
        every = self.document.get("totals", {}).get("blocks") == len(names) and not unread
        found = "none" if not names else "all" if every else " ".join(read)
        if reader.replace(",", "") != found:
            self.fail(f"future.tsv: readers read {reader!r}, this one {found!r}")
        adds, untouchable = nmb_reference.what_writers_do(self.reader)
        untouched = " ".join(sorted(n.decode() for n in untouchable))
        damaged = any(not f["unsupported"] for f in self.document["findings"])
        found = "all but " + untouched if untouched else "all"
        found = "any" if damaged else "refuse" if not adds or "*" in untouched else found
        if writer != found:
            self.fail(f"future.tsv: writers change {writer!r}, by this reader {found!r}")
        found = {("unsupported " if f["unsupported"] else "") + f["rule"] for f in self.document["findings"]}
        if verifier != " ".join(sorted(found) or ["sound"]):
            self.fail(f"future.tsv: nmverify says {verifier!r}, this reader {found}")

    @staticmethod
    def without_values(block):
        """Returns whether the values of a block cannot be read, for example because of its data map.

        A variable with an unknown filter does not count.
        """
        variables = block.get("variables", [])
        return bool(variables) and all(v["sha256"] is None and "storage" not in v for v in variables)


def inner_of(expected):
    """Returns the text that the message of R-BK-10 must contain about the broken rule of the body."""
    if expected.naming is None:
        return ""
    at = "" if expected.inside is None else f"{expected.inside - expected.offset}:"
    return f"breaks {expected.naming} at its byte {at}"


def without_messages(findings):
    return [{k: v for k, v in f.items() if k in ("rule", "offset", "object")} for f in findings]


def compact(document):
    """Returns JSON in which each value that fits is on one line."""

    def render(value, indent):
        flat = json.dumps(value)
        if len(flat) + indent <= 110 or not isinstance(value, (dict, list)) or not value:
            return flat
        pad = " " * (indent + 1)
        items = (
            [f"{json.dumps(k)}: {render(v, indent + 1)}" for k, v in value.items()]
            if isinstance(value, dict)
            else [render(v, indent + 1) for v in value]
        )
        left, right = "{}" if isinstance(value, dict) else "[]"
        return left + "\n" + ",\n".join(pad + item for item in items) + "\n" + " " * indent + right

    return render(document, 0) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--assemble", action="store_true", help="make the files, and check nothing")
    parser.add_argument("vectors", nargs="*")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    paths = sorted(HERE.glob("*.txt"))
    if arguments.vectors:
        paths = [p for p in paths if p.stem in arguments.vectors]
    failed, broken, manifest, digests, core = 0, set(), [], {}, []
    core_rules = set().union(*(rules_of(HERE.parent / name) for name in CORE))
    future = read_future()
    for path in paths:
        try:
            vector = Vector(path, arguments.out)
            if not arguments.assemble:
                vector.check(arguments.update)
                if vector.name in future:
                    vector.check_future(future.pop(vector.name))
                elif vector.name.startswith("future_"):
                    vector.fail("future.tsv has no line of it")
                core += vector.core_lines(core_rules)
                if vector.valid:
                    digests[vector.name] = vector.digest()
        except assemble.VectorError as error:
            print(f"{path.name}: {error}")
            failed += 1
            continue
        for failure in vector.failures:
            print(f"{path.name}: {failure}")
        failed += bool(vector.failures)
        expected_json = str(vector.json_path) if vector.with_json else "-"
        broken |= {r["rule"] for r in vector.reading}
        for e in vector.expected or [Expected("valid", "-", "-", None, None, False)]:
            broken |= {e.rule, e.naming or "-"}
            manifest.append(
                (vector.name, str(vector.file), e.kind, e.rule, str(e.offset), expected_json)
            )
    if not arguments.vectors:
        (arguments.out / "manifest.tsv").write_text(
            "".join("\t".join(line) + "\n" for line in manifest), encoding="utf-8"
        )
    if not arguments.vectors and not arguments.assemble:
        failed += check_digests(digests, arguments.update) + check_core(core, arguments.update)
        failed += check_rules(broken)
        for name in future:
            print(f"future.tsv: no vector {name}")
            failed += 1
    print(f"{len(paths)} vectors, {failed} failures")
    return 1 if failed else 0


def read_future():
    """Reads future.tsv and returns {vector: [reader, writer, nmverify]}."""
    lines = (HERE / "future.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {row[0]: row[1:] for row in rows[1:]}


def check_digests(digests, update):
    """Compares the digests of the valid vectors with digests.tsv."""
    path = HERE / "digests.tsv"
    text = "".join(f"{name}\t{digest}\n" for name, digest in sorted(digests.items()))
    if update:
        path.write_text(text, encoding="utf-8")
    known = dict(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    differing = sorted(n for n in known.keys() | digests.keys() if known.get(n) != digests.get(n))
    for name in differing:
        print(f"{name}: digest {digests.get(name)}, digests.tsv has {known.get(name)}")
    return len(differing)


def check_core(lines, update):
    """Compares the vectors that a core reader must pass with core.tsv."""
    path = HERE / "core.tsv"
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    head = "".join(line + "\n" for line in known.splitlines() if line.startswith("#"))
    text = head + "".join("\t".join(line) + "\n" for line in lines)
    if update:
        path.write_text(text, encoding="utf-8")
    elif text != known:
        print("core.tsv: differs from what the vectors expect of a core reader; run with --update")
    return int(not update and text != known)


def check_rules(broken):
    """Checks that each rule is in one part and has a vector that breaks it, and that vectors name only existing rules."""
    rules, failed = {}, 0
    for path in sorted(HERE.parent.glob("*.md")):
        own = rules_of(path)
        for rule in sorted(own.keys() & rules.keys()):
            print(f"{path.name}: {rule} is also in another part")
            failed += 1
        rules |= own
    for rule in sorted(set(rules) - broken):
        print(f"{rule}: no vector breaks it")
        failed += 1
    for rule in sorted(broken - set(rules) - {"-"}):
        print(f"{rule}: a vector expects it, the specification does not have it")
        failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
