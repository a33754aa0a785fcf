#!/usr/bin/python3
"""Compares what nmverify and the reference reader find in files that were damaged at random.

    damaged_agreement.py --nmverify PROGRAM [--files N] [--seed N] [--show N] [--damages N] [--vectors PATTERN ..]

Half of the files are valid vectors with bytes changed, cut or added. The other half are made from the texts of
vectors with one or two fields set to other values (--damages: with so many), with all sums made right afterwards.
--vectors takes vectors whose name matches one of the patterns; "largest" stands for the 40 longest files.

The two agree on a file if their verdict is the same (no file of ours, sound, damaged, or unsupported) and so are all
their findings: the same rules at the same offsets. A run fails where they do not, unless damaged_exceptions.tsv lists
the difference. Its columns: the rules that the reference reader finds and nmverify does not, the rules that nmverify
alone finds, in how many of 20,000 files at most, and why. All exceptions together may have 0.5 % of the files. A run
fails too if one occurs more often than it is listed; of fewer files it may occur as much less often, rounded up.

Values of kind 6 are looked at where they are read: the rules R-XC and R-XV have no offset in the file, and are
compared by tests of their own (verify_vectors_test.cpp). Both programs' findings of them are left out here.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
SPEC = HERE.parent.parent / "spec"
sys.path[:0] = [str(SPEC / "vectors"), str(SPEC / "reference")]
import assemble  # noqa: E402
import nmb_reference  # noqa: E402

EXCEPTIONS = HERE / "damaged_exceptions.tsv"
OF_FILES = 20000  # that the numbers of exceptions are of
MOST_EXCEPTIONS = 0.005
READING = {"R-XC-1", "R-XC-2", "R-XV-1", "R-XV-2"}  # rules of section 15.2 that are looked at where values are read
BATCH = 250
LARGEST = 40
SPECIAL = [0, 1, 2, 3, 7, 8, 255, 256, 4096, 16384, 65535, 65536, 2**20, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


class Base:
    """A vector that damage starts from."""

    def __init__(self, path):
        self.name = path.stem
        self.text = path.read_text(encoding="utf-8")
        self.data, self.places, expects = assemble.assemble(self.text)
        self.usable = (
            self.data[:3] != b"CDF"
            and len(self.data) < 1 << 20
            and not assemble.beside(self.text)
            and ("valid" in expects)
        )
        # Fields that a statement `set STRUCTURE FIELD VALUE` can change.
        self.fields = sorted(
            place.rsplit(".", 1) + [at] for place, at in self.places.items() if "." in place and "@" not in place
        )
        # Before the first line that damages the assembled bytes: `set` belongs to a generation.
        lines = self.text.rstrip("\n").split("\n")
        first = next((i for i, l in enumerate(lines) if l.split(" ")[0] in ("flip", "write", "cut", "append")), len(lines))
        self.head, self.tail = "\n".join(lines[:first]), "\n".join(lines[first:])


def damaged_bytes(base, chance, damages):
    """The vector's bytes with changes; sums are wrong afterwards, or not looked at. damages: 0: one to four."""
    data = bytearray(base.data)
    for _ in range(damages or chance.choice((1, 1, 1, 2, 3, 4))):
        at = chance.choice((chance.randrange(len(data)), chance.randrange(min(len(data), 16384)), 4096 * chance.randrange(len(data) // 4096 + 1) % len(data)))
        what = chance.randrange(8)
        if what == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif what == 1:
            data[at] = chance.randrange(256)
        elif what == 2:
            data[at : at + 8] = chance.choice(SPECIAL).to_bytes(8, "little")
        elif what == 3:
            length = chance.choice((8, 64, 512, 4096))
            data[at : at + length] = bytes(len(data[at : at + length]))
        elif what == 4:
            length = chance.choice((8, 64, 512, 4096))
            other = chance.randrange(len(data))
            data[at : at + length] = data[other : other + length]
        elif what == 5:
            del data[at:]
        elif what == 6:
            data += chance.randbytes(chance.choice((1, 8, 4096, 5000)))
        else:
            data += data[at & ~4095 :][:4096]
        if not data:
            data = bytearray(1)
    return bytes(data), ""


def damaged_field(base, chance, damages):
    """The vector assembled with fields set to other values, all sums right. damages: how many; 0: one or two."""
    lines = []
    for _ in range(damages or chance.choice((1, 1, 2))):
        structure, field, at = chance.choice(base.fields)
        now = int.from_bytes(base.data[at : at + 8], "little")
        value = chance.choice((now + 1, max(0, now - 1), now ^ 1 << chance.randrange(64), chance.choice(SPECIAL), chance.randrange(2**16), (now & 0xFFFF) + 8, now & 0xFF))
        lines.append(f"set {structure} {field} {value}")
    try:
        data, _, _ = assemble.assemble("\n".join([base.head, *lines, base.tail]) + "\n")
    except (assemble.VectorError, ValueError, KeyError, OverflowError, IndexError, TypeError, AttributeError, RecursionError):
        return None, ""
    return data, "; ".join(lines)


class Verdict:
    """What a program says of a file. findings: (rule, offset); refused: likewise of what is not supported."""

    def __init__(self, known, findings=(), refused=()):
        self.known = known
        self.findings = {f for f in findings if f[0] not in READING}
        self.refused = set(refused)

    def __str__(self):
        if not self.known:
            return "another kind"
        return "damaged" if self.findings else "unsupported" if self.refused else "sound"

    def agrees(self, other):
        return (self.known, self.findings, self.refused) == (other.known, other.findings, other.refused)


def by_reference(data, folder):
    file = nmb_reference.reader_of(data, folder=folder)
    if file is None:
        return Verdict(False)
    found = {(rule, offset) for rule, offset, _ in file.findings}
    return Verdict(True, found - file.unsupported, found & file.unsupported)


def by_tool(nmverify, paths):
    """For each path the verdict."""
    run = subprocess.run(
        [nmverify, "--json", "--files-from", "-"], input="\n".join(map(str, paths)), capture_output=True, text=True
    )
    if run.returncode not in (0, 1, 2):
        raise SystemExit(f"nmverify ended with {run.returncode}: {run.stderr[-2000:]}")
    out = {}
    for file in json.loads(run.stdout)["files"]:
        if file.get("kind") != "NMB":
            out[file["file"]] = Verdict(False)
            continue
        told = collections.defaultdict(list)
        for f in file["findings"]:
            told[f["severity"]].append((f["rule"], f["offset"]))
        out[file["file"]] = Verdict(True, told["finding"], told["unsupported"])
    return out


def difference(reference, tool):
    """(rules that the reference reader alone finds, rules that nmverify alone finds), or the verdicts."""
    if not (reference.known and tool.known):
        return f"({reference})", f"({tool})"
    a, b = reference.findings | reference.refused, tool.findings | tool.refused
    if a == b:  # one finds damage where the other finds what is not supported
        return f"({reference})", f"({tool})"
    return tuple(" ".join(sorted({rule for rule, _ in side})) or "-" for side in (a - b, b - a))


def exceptions():
    """{difference: in how many of 20,000 files at most}"""
    out = {}
    for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            of_reference, of_tool, cases, reason = line.split("\t")
            if not reason.strip():
                raise SystemExit(f"{EXCEPTIONS.name}: no reason for {of_reference}, {of_tool}")
            out[of_reference, of_tool] = int(cases)
    if sum(out.values()) > MOST_EXCEPTIONS * OF_FILES:
        raise SystemExit(f"{EXCEPTIONS.name}: more than {MOST_EXCEPTIONS:.1%} of {OF_FILES} files")
    return out


def bases_of(patterns):
    bases = [base for base in (Base(path) for path in sorted((SPEC / "vectors").glob("*.txt"))) if base.usable]
    largest = {base.name for base in sorted(bases, key=lambda base: -len(base.data))[:LARGEST]}
    taken = lambda name: any(name in largest if p == "largest" else fnmatch.fnmatch(name, p) for p in patterns)
    bases = [base for base in bases if taken(base.name)]
    if not bases:
        raise SystemExit(f"no vector is named like {' '.join(patterns)}")
    return bases


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--nmverify", required=True)
    arguments.add_argument("--files", type=int, default=OF_FILES)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--show", type=int, default=20, help="differences to print")
    arguments.add_argument("--damages", type=int, default=0)
    arguments.add_argument("--vectors", nargs="+", default=["*"], metavar="PATTERN")
    arguments = arguments.parse_args()

    listed, bases = exceptions(), bases_of(arguments.vectors)
    cases = sound = number = 0
    kinds = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        while cases < arguments.files:
            batch = []
            while len(batch) < min(BATCH, arguments.files - cases):
                # One stream of chance a case: a case does not depend on how many there are.
                chance = random.Random(f"{arguments.seed} {number}")
                base = chance.choice(bases)
                damage = damaged_field if number % 2 else damaged_bytes
                data, text = damage(base, chance, arguments.damages)
                if data is not None and data != base.data:
                    path = folder / f"{number}.nmb"
                    path.write_bytes(data)
                    batch.append((number, base.name, text, path, by_reference(data, folder)))
                number += 1
            found = by_tool(arguments.nmverify, [path for *_, path, _ in batch])
            for case, name, text, path, reference in batch:
                cases += 1
                tool = found[str(path)]
                path.unlink()
                sound += str(reference) == "sound"
                if reference.agrees(tool):
                    continue
                kind = difference(reference, tool)
                kinds[kind] += 1
                if kinds[kind] <= 2 and sum(kinds.values()) <= arguments.show:
                    print(f"case {case}: {name}: {text}")
                    for program, verdict in (("reference", reference), ("nmverify", tool)):
                        print(f"    {program}: {verdict}: {sorted(verdict.findings | verdict.refused)}")
    failed = False
    for kind, count in kinds.most_common():
        # Rounded up, so that a short run does not fail for an exception that is listed once.
        most = -(-listed.get(kind, 0) * arguments.files // OF_FILES)
        failed = failed or count > most
        print(f"{count} times the reference alone: {kind[0]}; nmverify alone: {kind[1]}; listed: {most}")
    print(f"{cases} damaged files, {sound} of them sound for the reference reader: {sum(kinds.values())} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
