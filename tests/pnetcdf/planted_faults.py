#!/usr/bin/env python3
"""Plants faults in pnetcdf/core, one at a time, and checks that the random programs or nmb_run_test.py catch each.

  planted_faults.py --build FOLDER [--only N...]

The sources are restored after each fault. Exit code 0: all were caught.
"""
import argparse
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "pnetcdf/core"

# File, old text (exactly once), new text, what a user would see.
FAULTS = [
    ("memory.cpp", "value <= std::numeric_limits<To>::max();\n  }\n}", "true;\n  }\n}", "values that do not fit are cut"),
    ("memory.cpp", "place -= imap[i] * count[i];", "place -= imap[i];", "varm takes values from other places"),
    ("memory.cpp", "if (format != kFormatData && type == Type::kByte", "if (type == Type::kByte",
     "NC_BYTE of CDF-5 takes 200 without an error"),
    ("access_calls.cpp", "records = std::max(records, start[0] + more + 1);", "records = std::max(records, start[0] + more);",
     "the last record is not there"),
    ("access_calls.cpp", "for (std::size_t i = 0; has_stride && i < rank; ++i) index.push_back(stride ? stride[i] : 1);",
     "for (std::size_t i = 0; has_stride && i < rank; ++i) index.push_back(1);", "a stride has no effect"),
    ("access_calls.cpp", "    values += access.elements * size;\n    out->push_back(std::move(access));",
     "    out->push_back(std::move(access));", "all hyperslabs of varn get the same values"),
    ("access_calls.cpp", "if (start > length || (start == length && count > 0)) return code::kInvalidCoords;",
     "if (start > length + 1) return code::kInvalidCoords;", "a start behind the end is another error"),
    ("access_calls.cpp", "start[1] = each * file->rank + std::min<MPI_Offset>(file->rank, more);", "start[1] = each * file->rank;",
     "a part of a record is not filled"),
    ("requests.cpp", "    queue.first_id += 2;", "    queue.first_id += 4;", "a request is not found"),
    ("header.cpp", "meant ? std::string_view(change.name) : var.name", "var.name", "a variable keeps its old name"),
    ("file_calls.cpp", "  if (!file.independent) return code::kOk;\n  file.independent = false;\n  return meet_records(file);",
     "  file.independent = false;\n  return code::kOk;", "ranks do not see what others wrote in independent mode"),
    ("definition_calls.cpp", "file->header.def_var(normal, static_cast<Type>(type), own, !file->fill, &made);",
     "file->header.def_var(normal, static_cast<Type>(type), own, true, &made);", "new variables are not in fill mode"),
    ("divided_file.cpp", "if (d < blocks[b].own_dims) name = blocks[b].prefix + name;", "name = blocks[b].prefix + name;",
     "a shared dimension of a divided file gets another name"),
    ("file_calls.cpp", "if ((mode & kModeOffset) != 0) return kFormatOffset;", "", "CDF-2 becomes CDF-1"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--only", type=int, nargs="+")
    options = parser.parse_args()

    def build():
        done = subprocess.run(["cmake", "--build", options.build, "--target", "nmb-pnetcdf-openmpi"], capture_output=True, text=True)
        return done.returncode == 0

    def test():
        done = subprocess.run(["ctest", "-R", "^pnetcdf_", "--timeout", "300"], cwd=options.build, capture_output=True, text=True)
        return [line.split()[2] for line in done.stdout.splitlines() if "Failed" in line and "#" in line]

    if not build() or test():
        sys.exit("the unchanged sources do not pass")
    caught = tried = 0
    for number, (file, old, new, seen) in enumerate(FAULTS, 1):
        if options.only and number not in options.only:
            continue
        tried += 1
        path = CORE / file
        text = path.read_text()
        if text.count(old) != 1:
            print(f"{number} {file}: its old text is not there exactly once: {old[:60]}")
            continue
        try:
            path.write_text(text.replace(old, new))
            if not build():
                print(f"{number} {file}: does not compile")
                continue
            failed = test()
        finally:
            path.write_text(text)
        caught += bool(failed)
        print(f"{number} {file}: {seen}: {'caught by ' + ', '.join(failed) if failed else 'NOT CAUGHT'}", flush=True)
    build()
    print(f"{caught} of {tried} faults were caught")
    sys.exit(0 if caught == tried else 1)


if __name__ == "__main__":
    main()
