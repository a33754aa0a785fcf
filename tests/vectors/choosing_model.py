#!/usr/bin/python3
"""Tries the rules of sections 5.4 and 5.7 on all files that lost one or two units of head and trailer.

    choosing_model.py

Files of 1 to 4 generations: settled, with the mark of the generation before, and with a pending generation; without
and with other bytes behind. A unit is lost as zeros, ones, a flipped bit, or what it held one or two generations
before. One lost unit must leave the newest committed generation; two must leave it, or a finding or a warning that
there is a newer one, or a file that cannot be opened. A reader, which searches all that lies behind a head that is not
settled alone, may miss the one case that the format names. It tries the reference reader; the library's choice is
compared with it by the vectors.
"""

import itertools
import pathlib
import sys

sys.dont_write_bytecode = True
SPEC = pathlib.Path(__file__).resolve().parent.parent.parent / "spec"
sys.path[:0] = [str(SPEC / "vectors"), str(SPEC / "reference")]
import assemble  # noqa: E402
import choosing_reference  # noqa: E402

MARKS = {(0, 4096), (256, 320)}
SLOTS = {(4096, 8192), (8192, 12288)}
HEAD_UNITS = [(0, 256), (256, 320), (0, 4096), (512, 1024), (4096, 8192), (4096, 4608), (8192, 12288), (8192, 8704), (11776, 12288)]


def build(generations, last=""):
    """The bytes of a file with so many generations; last: what ended its last commit."""
    changes = "".join(f'generation\n  change "a" at 0 with int {n}\n' for n in range(2, generations + 1))
    return assemble.assemble('generation\n  block "a"\n    var "v" int = 1\n' + changes + last)[0]


def losses(data, unit, before):
    """(name, bytes) that may stand in place of a unit. before: the file one and two generations before."""
    start, stop = unit
    flipped = bytearray(data[start:stop])
    flipped[len(flipped) // 2] ^= 1
    yield "zero", bytes(stop - start)
    yield "ones", b"\xff" * (stop - start)
    yield "flipped", bytes(flipped)
    if stop <= choosing_reference.HEAD:  # a trailer has never held anything else
        for number, old in enumerate(before, 1):
            yield f"{number} before", old[start:stop]


def is_named_exception(lost, bytes_behind, settled):
    """Section 5.7: mark and slot are both older, so that the state is settled, and other bytes lie last."""
    units = {unit for unit, _ in lost}
    stale = all(name.endswith("before") or name == "zero" for _, name in lost)
    return settled and bytes_behind > 0 and stale and len(units & MARKS) == 1 and len(units & SLOTS) == 1


def try_file(generations, last, bytes_behind, search):
    """(cases, failures as text)."""
    data = build(generations, last)
    committed = generations if not last else generations - 1
    full = data + b"\7" * bytes_behind
    before = [build(n) if n > 0 else bytes(choosing_reference.HEAD) for n in (generations - 1, generations - 2)]
    trailer = len(data) - 4096
    units = HEAD_UNITS + [(trailer, trailer + 4096), (trailer, trailer + 512), (trailer + 3584, trailer + 4096)]
    cases, failures = 0, []
    for count in (1, 2):
        for chosen in itertools.combinations(units, count):
            for lost in itertools.product(*(list(losses(full, unit, before)) for unit in chosen)):
                damaged = bytearray(full)
                for (start, stop), (_, content) in zip(chosen, lost):
                    damaged[start:stop] = content
                choice = choosing_reference.choose(bytes(damaged), search)
                cases += 1
                found = choice.newest.generation if choice.newest else 0
                names = [(unit, name) for unit, (name, _) in zip(chosen, lost)]
                # An older generation is opened with R-SB-13 alone: damage of a slot does not say that there is more.
                # A pending generation is a warning: a crash leaves the same bytes.
                told = choice.findings if found == 0 else choice.findings + choice.warnings
                told = told and (found == 0 or any(rule == "R-SB-13" for rule, *_ in told))
                if found >= committed or told and count == 2:
                    continue
                if search or not is_named_exception(names, bytes_behind, choice.settled):
                    failures.append(f"{generations} generations{last!r}, {bytes_behind} bytes behind: {names}: {found}")
    return cases, failures


def main():
    cases, failures = 0, []
    for generations in (1, 2, 3, 4):
        for last in ("", "  without mark\n", "  without slot mark\n"):
            if last and generations == 1:
                continue  # a file gets its name when its first generation is complete
            for bytes_behind, search in itertools.product((0, 5000, 4096), (False, True)):
                more, failed = try_file(generations, last, bytes_behind, search)
                cases, failures = cases + more, failures + failed
    print(*failures[:20], sep="\n")
    print(f"{cases} cases, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
