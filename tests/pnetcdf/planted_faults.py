#!/usr/bin/env python3
"""Plants faults in pnetcdf/core, one at a time, and checks that nmb_run_test.py or the random programs catch each.

  planted_faults.py --build FOLDER [--mpiexec "mpiexec -n"] [--only N...] [--unchecked]

The random programs run without PnetCDF, so only the model in numpy catches a fault. --unchecked: without a test of the
unchanged sources. The sources are restored after each fault. Exit code 0: all were caught.
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
    ("divided_file.cpp", "if (d < block.own_dims && ", "if (true || ",
     "a shared dimension of a divided file gets another name"),
    ("file_calls.cpp", "if ((mode & kModeOffset) != 0) return kFormatOffset;", "", "CDF-2 becomes CDF-1"),
    ("open_file.cpp", "NMB_TRY(keep_fill_values());", "", "a fill value cannot change while values are missing"),
    ("file_type.cpp", "for (std::size_t d = dims; d-- > 0;) {\n      const MPI_Offset place",
     "for (std::size_t d = 0; d < dims; ++d) {\n      const MPI_Offset place", "a distributed array has another grid"),
    ("open_file.cpp", "next.push_back(found_places[*from]);", "next.push_back(found_places[v]);",
     "a global ID is another variable on some ranks"),
    ("memory.cpp", "return is_in_order(of.type);", "return true;", "a type of pairs in another order is taken as it lies"),
    ("divided_file.cpp", "NMB_TRY(all.def_dim(dims[i].name, dims[i].length).status());",
     "NMB_TRY(all.def_dim(dims[i].name, dims[i].length + 1).status());", "dimensions of a divided file are too long"),
    ("divided_file.cpp", "  number(&var_ids);", "  std::iota(var_ids.begin(), var_ids.end(), 0U);",
     "variables of a divided file have other IDs"),
    ("file_calls.cpp", "  file.header_dirty = file.old_dirty;", "  file.header_dirty = false;", "abort loses an attribute"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--mpiexec", default="mpiexec.openmpi --oversubscribe -n")
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--unchecked", action="store_true")
    options = parser.parse_args()

    def build():
        done = subprocess.run(["cmake", "--build", options.build, "--target", "nmb-pnetcdf-openmpi"], capture_output=True, text=True)
        return done.returncode == 0

    def test():
        """Returns what failed."""
        tests = options.build / "tests/pnetcdf"
        nmb_run = options.build / "tools/nmb-run"
        commands = {"nmb_run_test": ["ctest", "--test-dir", options.build, "-R", "^pnetcdf_nmb_run$", "--timeout", "200"],
                    "random_programs": [sys.executable, PROJECT / "tests/pnetcdf/random_programs.py", "--replay",
                                        tests / "pnetcdf_replay", "--nmb-run", nmb_run, "--mpiexec", options.mpiexec,
                                        "--work", options.build / "planted", "--programs", "40", "--no-peer"]}
        for name, command in commands.items():
            if subprocess.run(command, capture_output=True).returncode != 0:
                return name
        return None

    if not options.unchecked and (not build() or test()):
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
        print(f"{number} {file}: {seen}: {'caught by ' + failed if failed else 'NOT CAUGHT'}", flush=True)
    build()
    print(f"{caught} of {tried} faults were caught")
    sys.exit(0 if caught == tried else 1)


if __name__ == "__main__":
    main()
