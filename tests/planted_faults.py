#!/usr/bin/python3
"""Plants faults in the sources of merges, subsets, views and proofs, one at a time, and checks that tests catch each of
them. Each fault is a slip that a change could make, with the tests that should catch it. A fault that no test catches
is a gap in the tests: add a test, do not choose another fault.

    tests/planted_faults.py --build build/release [--only N...] [--list] [-j N]

BUILD is a configured build. Its tools are built and tested without a fault first, then with each fault. `libformat/`
and `tools/` must have no uncommitted changes. They are restored after each fault, also if the script is interrupted;
the tools in BUILD are those of the sources again after a complete run, else after the next build.
--only: the faults with these numbers. --list: prints the faults, and builds nothing.
Exit code 0: all were caught; 1: one was not, or its old text is not in the sources exactly once, or it does not
compile; 2: could not run.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FOLDERS = "libformat", "tools"
TOOLS = "nmcat", "nmconvert", "nmverify", "nminspect"
SKIPPED = 77
TIME_OUT = 900  # seconds for one test


@dataclasses.dataclass
class Fault:
    file: str  # below libformat/
    old: str  # occurs in the file exactly once
    new: str
    seen: str  # what a user would see
    tests: str  # in tests/interop/, without "_test.py"


UNITING = "tasks/merge/uniting/"
FAULTS = (
    # Times that are rebased.
    Fault(UNITING + "dataset_union_times.cpp",
          'for (const std::string_view name : {"_FillValue", "missing_value"})\n    if (const auto found',
          'for (const std::string_view name : {"_FillValue"})\n    if (const auto found',
          "times that are missing_value become dates", "generated_times"),
    Fault(UNITING + "dataset_union_times.cpp",
          "if (shifts_.size() == 1 || shifts_.back().first != rebase.shift ||\n      shifts_.back().second != rebase.found)",
          "if (shifts_.size() == 1)",
          "the third file's times count from the day of the second file", "generated_times"),
    Fault("data/sources/value_rebasing.cpp", "if (magnitude >> digits != 0) return false;", "",
          "times that their type cannot hold are rounded without a word", "generated_times"),
    Fault("tasks/merge/reading/input_order.cpp", "if (options_.join().rebase_times) make_comparable(&values);", "",
          "files are sorted by the numbers of their times, not by their dates", "generated_times"),
    # Types that are widened.
    Fault("data/sources/type_widening.cpp", "widest <= 16) return Type::kFloat", "widest <= 32) return Type::kFloat",
          "integers that are joined with floats lose digits", "merge chunked_merge"),
    Fault(UNITING + "dataset_union.cpp",
          '!members_[place.member].has_default_fill.value_or(false) ||\n      all.find_attribute(variable, "_FillValue"))',
          "!members_[place.member].has_default_fill.value_or(false))",
          "a value that is the default fill value changes, although the variable has another _FillValue", "chunked_merge"),
    # Values and types that are united.
    Fault(UNITING + "dataset_union.cpp", "differs->element / own_type->type().size);", "differs->element);",
          "a union takes the first file's compounds and enums, although the second file has others", "own_types"),
    Fault(UNITING + "dataset_union.cpp", "if (!own != !known_own || (own && !own->has_same_type(*known_own))) {",
          "if (!own != !known_own) {",
          "values of another compound type are read as those of the first file's type", "own_types"),
    Fault(UNITING + "dataset_union.cpp", '"add_offset", "_Unsigned",', '"_Unsigned", "_Unsigned",',
          "packed values with another add_offset are joined as they are", "merge generated_joins"),
    Fault(UNITING + "dataset_union.cpp", "own.heap.offset + (value.offset - size)", "own.heap.offset + value.offset",
          "strings that are missing are other strings than the _FillValue", "own_types"),
    Fault(UNITING + "dataset_union.cpp", "(axis == 0 ? part.step : part.record_step) = step;", "part.step = step;",
          "records that are joined along another dimension have the values of their neighbours", "merge generated_joins"),
    Fault(UNITING + "dataset_union_tiles.cpp",
          'if (!all_.metadata.find_attribute(variable, "_FillValue"))\n    if (const auto missing = all_.metadata',
          "if (const auto missing = all_.metadata",
          "where no tile has values, there is the missing_value instead of the _FillValue", "tiles"),
    Fault(UNITING + "union_builder.cpp", "levels.push_back(known == entry.levels.end() ? 0 : known->second);",
          "levels.push_back(0);",
          "each group of a joined file has its own time, which was the time of the group above", "merge"),
    Fault("data/netcdf/classic_type.cpp", "exponent == 0 ? std::ldexp(fraction, 1 - bias - digits)",
          "exponent == 0 ? std::ldexp(fraction, -bias - digits)",
          "the smallest float16 are halved in dump, stats and find", "own_types"),
    # Tiles.
    Fault("data/sources/tiled_values.cpp", "std::min(size - done, run - here % run);", "std::min(size - done, run);",
          "rows of large tiles have values of the next tile", "tiles"),
    # Chunks that are copied or encoded.
    Fault(UNITING + "chunk_origins.cpp",
          "(end <= part_end || box.stored_index(i, part_end) == box.grid.lengths()[i]);", "true;",
          "records that a subset leaves out show up when the file grows", "many_subsets chunked_merge"),
    Fault(UNITING + "chunk_plan.cpp", " && a.type.fill == b.type.fill &&", " &&",
          "values that the second file never wrote have the fill value of the first file", "chunked_merge"),
    Fault("data/values/gathered_chunk.cpp", "if (chunk->empty() && std::ranges::equal(box.fill, fill_)) return {};",
          "if (chunk->empty()) return {};",
          "the same, where chunks are divided in another way", "chunked_merge"),
    Fault("data/values/chunk_filters.cpp", "*mask |= 1u << i;", "*mask |= 1u;",
          "chunks that cannot be compressed are unreadable behind a shuffle filter", "generated_joins"),
    Fault(UNITING + "chunk_union.cpp", "if (parts.empty()) form.swap(&values);", "",
          "chunks made of values without chunks have the wrong byte order", "chunked_merge generated_joins"),
    Fault(UNITING + "chunk_union.cpp", "parts.empty() ? united_fill : chunking.type.fill", "chunking.type.fill",
          "a joined file that grows has garbage in its first new records", "chunked_merge"),
    # Subsets.
    Fault("data/netcdf/subset.cpp", "is_records ? dataset_.layout.record_size : step", "step",
          "boxes of classic files have values of other variables", "many_subsets"),
    Fault("data/netcdf/subset_indexes.cpp", "at < to.end", "at <= to.end",
          "--time up to a day includes midnight of the next day", "many_subsets"),
    Fault("data/netcdf/subset_indexes.cpp", "out_.turned.emplace(*found, std::move(turns));", "",
          "longitudes are from -50 to 90, their bounds from 310 to 90", "many_subsets"),
    Fault("data/sources/selected_values.cpp", "(run.count - fastest.at - 1) * unit", "(run.count - 1) * unit",
          "rows of large subsets are shifted", "many_subsets"),
    # Views.
    Fault("hdf5/view/storage_encoder.cpp", "{first + i, *position,", "{i, *position,",
          "in the view of a variable with many chunks, the last chunks replace the first ones", "united_views"),
    Fault("hdf5/view/storage_encoder.cpp",
          "static_cast<std::uint32_t>((std::uint64_t{1} << filters) - 1);", "std::uint32_t{0};",
          "compressed strings are unreadable in a view", "own_types"),
    # Proofs by nmverify --against.
    Fault("tasks/prove/prove_merge.cpp", "if (both.is_turned) return turned_pairs(both, std::move(pair));",
          "if (both.is_turned) return std::vector<ValuePair>();",
          "--against does not compare the longitudes of a box that wraps around", "against_merged"),
    Fault("tasks/prove/prove_merge.cpp", "if (!merge_.has_tiles() && !has_gap(boxes, shape)) continue;",
          "if (!merge_.has_tiles() || !has_gap(boxes, shape)) continue;",
          "--against accepts any values where --missing fill filled a gap", "against_merged"),
    Fault("tasks/prove/prove_merge.cpp",
          "left_out_.emplace(conflict.second_file.empty() ? conflict.first_file : conflict.second_file,",
          "left_out_.emplace(conflict.first_file,",
          "--against does not compare a variable that --on-mismatch skip took from the first file", "against_merged"),
)


def stop(text, code=2):
    print(f"planted_faults: {text}", file=sys.stderr)
    sys.exit(code)


def check_clean():
    command = ["git", "-C", PROJECT, "status", "--porcelain", "--", *FOLDERS]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        stop(f"git cannot tell whether there are changes: {done.stderr.strip()}")
    if done.stdout:
        stop(f"found changes, expected none:\n{done.stdout.rstrip()}")


class Planted:
    """Changes the source of a fault, and restores it at the end. Its time of change is a new one both times, so that the
    next build compiles it again."""

    def __init__(self, fault):
        self.path = PROJECT / "libformat" / fault.file
        self.before = self.path.read_bytes()
        self.after = self.before.replace(fault.old.encode(), fault.new.encode())

    def __enter__(self):
        self.path.write_bytes(self.after)

    def __exit__(self, *_):
        before = {one: signal.signal(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        self.path.write_bytes(self.before)
        for one, handler in before.items():
            signal.signal(one, handler)


def build(folder, jobs):
    """Returns what the build says if it fails."""
    command = ["cmake", "--build", folder, "-j", str(jobs), "--target", *TOOLS]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return "" if done.returncode == 0 else done.stdout[-2000:]


def run_test(name, folder):
    """Returns the exit code (None after TIME_OUT) and the first line that the test prints."""
    command = [sys.executable, PROJECT / "tests" / "interop" / f"{name}_test.py", "--tools", folder / "tools"]
    environment = {key: value for key, value in os.environ.items() if key != "NMB_ALL"}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=TIME_OUT, env=environment)
    except subprocess.TimeoutExpired:
        return None, f"did not end in {TIME_OUT} s"
    lines = done.stdout.splitlines()
    # An exception ends with its message.
    told = lines[-1 if lines[0].startswith("Traceback") else 0] if lines else ""
    return done.returncode, told


def run_tests(names, folder, jobs):
    """{name: what run_test() returns}"""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(names, pool.map(lambda name: run_test(name, folder), names)))


def check_fault(fault, folder, jobs):
    """Plants the fault. Returns whether a test catches it, and what to print."""
    with Planted(fault):
        if failed := build(folder, jobs):
            return False, f"DOES NOT COMPILE:\n{failed}"
        found = run_tests(fault.tests.split(), folder, jobs)
    caught = [name for name, (code, _) in found.items() if code != 0]
    if not caught:
        return False, f"NOT CAUGHT by {', '.join(found)}"
    return True, f"caught by {', '.join(caught)}: {found[caught[0]][1][:160]}"


def check_unchanged(folder, jobs, faults):
    if failed := build(folder, jobs):
        stop(f"the unchanged sources do not compile:\n{failed}")
    names = sorted({name for fault in faults for name in fault.tests.split()})
    for name, (code, told) in run_tests(names, folder, jobs).items():
        if code != 0:
            stop(f"{name}_test.py {'is skipped' if code == SKIPPED else 'fails'} without a fault: {told}")


def missing_texts(faults):
    """The numbers of faults whose old text is not in the sources exactly once."""
    texts = {fault.file: (PROJECT / "libformat" / fault.file) for _, fault in faults}
    texts = {file: path.read_text() if path.exists() else "" for file, path in texts.items()}
    return [number for number, fault in faults if texts[fault.file].count(fault.old) != 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="folder of a configured build", metavar="FOLDER")
    parser.add_argument("--only", type=int, nargs="+", choices=range(1, len(FAULTS) + 1), metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    faults = [(n, fault) for n, fault in enumerate(FAULTS, 1) if not arguments.only or n in arguments.only]
    missing = missing_texts(faults)
    for number in missing:
        print(f"{number:3} {FAULTS[number - 1].file}: its old text is not there exactly once", file=sys.stderr)
    if arguments.list:
        for number, fault in faults:
            print(f"{number:3} {fault.file}: {fault.seen} ({fault.tests})")
        return 1 if missing else 0
    if not arguments.build or not (arguments.build / "CMakeCache.txt").exists():
        stop("--build needs the folder of a configured build")
    check_clean()
    for one in signal.SIGTERM, signal.SIGHUP:
        signal.signal(one, lambda number, _: sys.exit(128 + number))
    folder = arguments.build.resolve()
    check_unchanged(folder, arguments.jobs, [fault for _, fault in faults])
    caught = 0
    for number, fault in faults:
        if number in missing:
            continue
        start = time.monotonic()
        is_caught, told = check_fault(fault, folder, arguments.jobs)
        caught += is_caught
        print(f"{number:3} {fault.file}: {fault.seen}\n    {told} ({time.monotonic() - start:.0f} s)", flush=True)
    if failed := build(folder, arguments.jobs):
        stop(f"the restored sources do not compile:\n{failed}")
    print(f"{caught} of {len(faults)} faults were caught")
    return 0 if caught == len(faults) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        stop("interrupted; the sources are restored", 130)
