#!/usr/bin/python3
"""No call of a tool gives wrong values with exit code 0. Each call reads files in which one bit is flipped in one kind
of stored bytes. A call may fail, or warn of what it leaves out; if its exit code is 0 and it does not warn, all that it
prints and writes is the same as for the undamaged file.

    flipped_values.py --tools FOLDER [--all] [--table] [--only WORD] [--random N [--seed SEED]]

The calls of nminspect and nmverify are those of calls.txt. The calls of nmcat and nmconvert are in CALLS: an option of
--help that is neither there nor in NO_VALUES makes this fail. So does a function of the library's public headers that
is neither in FUNCTIONS, with the call or the test that covers it, nor in NO_VALUES_IN.

Without --all (or NMB_ALL=1), each kind of bytes sees a
part of the calls, and each call some kinds. --table prints each call with its outcomes. --random runs N random calls on
files with a random bit flipped, anywhere.
"""

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import tool_runs  # noqa: E402

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parents[1] / "spec" / "vectors"
sys.path.insert(0, str(VECTORS))

# --- the calls ---

# Options that neither read nor write values.
NO_VALUES = {
    "nmcat": "-h --help --version --color --no-progress --hint --io --aggregators --align --no-lock -0 --key --sort --along"
    " --unmatched --unique --no-sync --mem".split(),
    "nmconvert": "-h --help --version --color --no-progress --no-lock -0 --name --keep-tracking-id --sort --no-sync"
    " --mem --bytes".split(),
}
CALLS = """
nmcat in.nmb other.nc -o out.nmb
nmcat in.nmb -o out.nmb -q --strict
nmcat in.nmb -o out.h5 --lossy
nmcat in.nmb -o out.nc --to nc4 --lossy
nmcat in.nmb -o out.cdf --to cdf5 --mode union
nmcat in.nmb -o out.nmb --dry-run --json
nmcat in.nmb -o out.h5 --lossy --dry-run
nmcat in.nmb -o out.nmb --hdf5-view on --dry-run
nmcat in.nmb -o out.nmb --mode union --shared first
nmcat in.nmb same.nmb -o out.nmb --mode union --shared equal
nmcat in.nmb -o out.nmb --mode join --monotonic --no-history --keep-tracking-id --atts first
nmcat in.nmb -o out.nmb --mode join --missing fill --on-mismatch skip
nmcat in.nmb -o out.nmb --mode join --time-units rebase
nmcat in.nmb -o out.nmb --mode tiles
nmcat in.nmb -o out.nmb --variables VARIABLE
nmcat in.nmb -o out.nmb --slab x=0
nmcat in.nmb -o out.nmb --time 1900,2100
nmcat in.nmb -o out.nmb --box 0,360,-90,90
nmcat in.nmb -o out.nmb --split-names (.) --samples vars:1
nmcat in.nmb -o out.nmb --block-name x/{group} --exclude none
nmcat in.nmb -o out.nmb --tag t=1 --tag-names (.)
nmcat in.nmb -o out.nmb --blocks-from blocks
nmcat in.nmb -o out.nmb --where VARIABLE.max>0
nmcat in.nmb -o out.nmb --shard 1/1
nmcat in.nmb -o out.nmb --shard 1/1 --seed 1
nmcat in.nmb -o out.nmb --compress zstd --shuffle
nmcat in.nmb -o out.nmb --compress deflate:1 --chunk x:16
nmcat in.nmb -o out.nmb --metadata-codec none --no-provenance
nmcat in.nmb -o out.nmb --stats histogram
nmcat in.nmb -o out.nmb --inline 0
nmcat in.nmb -o out.nmb --inline 64K
nmcat in.nmb -o out.nmb --link
nmcat in.nmb -o out.nmb --external any
nmcat in.nmb -o out.nmb --no-originals
nmcat in.nmb -o out.nmb --hdf5-view on --view-dimensions none
nmcat in.nmb -o out.nmb --hdf5-view on --view-copies
nmcat in.nmb -o out.nmb --hdf5-view on --no-view-copies
nmcat other.nc -o in.nmb --append
nmcat same.nmb -o in.nmb --append --replace
nmcat in.nmb -o same.nmb --append --replace
nmcat in.nmb -o out.nmb --resume
nmcat in.nmb -o out.nmb --report report --digest xxh128 -f
nmcat --files-from list -o out.nmb -j 1
nmconvert in.nmb out.nmb
nmconvert in.nmb out.nmb --no-check -q
nmconvert in.nmb out.h5
nmconvert in.nmb out.h5 --no-check --lossy
nmconvert in.nmb out.h5 --lossy --strict
nmconvert in.nmb out.nc --to nc4 --no-check --lossy
nmconvert in.nmb out.nc --to nc4 --lossy
nmconvert in.nmb out.nc --to cdf5
nmconvert in.nmb out.nc --to cdf5 --no-check
nmconvert in.nmb out.nc --to cdf2 --no-check --lossy
nmconvert in.nmb out.nc --to cdf1 --lossy
nmconvert in.nmb out.h5 --extract BLOCK --no-check --lossy
nmconvert in.nmb out.nmb --extract BLOCK --no-check
nmconvert in.nmb out.nc --extract BLOCK --to nc4 --lossy
nmconvert in.nmb out.nc --extract BLOCK --to cdf5 --no-check
nmconvert in.nmb -o out.orig --original BLOCK
nmconvert in.nmb out.nmb --block-by group
nmconvert in.nmb out.nmb --regroup dim:x
nmconvert in.nmb out.nmb --variables VARIABLE --no-check
nmconvert in.nmb out.nmb --slab x=0 --no-check
nmconvert in.nmb out.nmb --time 1900,2100 --no-check
nmconvert in.nmb out.nmb --box 0,360,-90,90 --no-check
nmconvert in.nmb out.nmb --compress zstd --no-check
nmconvert in.nmb out.nmb --compress none --no-check
nmconvert in.nmb out.h5 --compress deflate --no-check --lossy
nmconvert in.nmb out.h5 --compress zstd --shuffle --chunk x:16 --no-check --lossy
nmconvert in.nmb out.nmb --inline 0 --no-check
nmconvert in.nmb out.nmb --inline 64K --no-check
nmconvert in.nmb out.nc --layout cmip7
nmconvert in.nmb out.nmb --hdf5-view on --no-check
nmconvert in.nmb out.nmb --hdf5-view on --view-copies --no-check
nmconvert in.nmb out.nmb --hdf5-view on --no-view-copies --view-dimensions none --no-check
nmconvert --add-hdf5-view in.nmb
nmconvert --add-hdf5-view in.nmb --view-copies
nmconvert in.nmb out.nmb --stats histogram --no-check
nmconvert in.nmb out.nmb --repack
nmconvert in.nmb out.nmb --repack --no-check -q
nmconvert in.nmb out.nmb --no-originals --no-check
nmconvert in.nmb out.h5 --external any --no-check --lossy
nmconvert --files-from list --out-dir out --to hdf5 --lossy
nmconvert --files-from list --out-dir out --to nc4 --lossy --no-check -j 2
nmconvert --files-from list --out-dir out --to nmb --no-check
nmconvert --files-from list --out-dir out --to hdf5 --report report --resume --lossy -f
nmconvert --files-from list --out-dir out --one-file-per-variable --no-history --time-units rebase
nmconvert in.nmb out.h5 --digest xxh128 --no-check --json
nmconvert in.nmb out.h5 --lossy --no-check --jsonl
mpiexec nmconvert in.nmb out.h5 --lossy --no-check
mpiexec nmconvert in.nmb out.nmb --no-check
mpiexec nmcat in.nmb other.nc -o out.nmb
""".strip().splitlines()
# The words of calls.txt that stand for values.
WORDS = {
    "FILE": "in.nmb", "OTHER": "same.nmb", "GLOB": "*", "BLOCK": "BLOCK", "NAME": "BLOCK/VARIABLE", "N": "2", "BYTES": "64M",
    "SLAB": "0:4", "EXPR": "VARIABLE.max>2", "A,R": "0,0", "OUT": "out.nmb", "WHICH": "any", "WHEN": "never",
    "GENERATION": "1", "REPORT": "resume.jsonl", "SOURCE": "same.nmb", "TEMPLATE": "{group}", "LIST": "list", "MODE": "join",
    "DIM": "x", "VARIABLE": "VARIABLE", "WHAT": "first", "REGEX": "(.)", "RULE": "vars:1", "ORDER": "name",
}  # fmt: skip
FIXED = {"--on-mismatch": "skip", "--missing": "fill", "--rate": "1G", "--files-from": "list", "--atts": "first"}


def listed_calls():
    """The calls of calls.txt, with values in the place of the words in capitals."""
    for line in (HERE / "calls.txt").read_text(encoding="utf-8").splitlines():
        if not line or line[0] == "#":
            continue
        out, files = [], 0
        for word in line.split():
            option, equals, value = word.partition("=")
            if equals and option[0] == "-":
                value = FIXED.get(option, WORDS.get(value, value))
                out += [f"{option}={value}"] if option.startswith("--") else [option, value]
                continue
            word = word.removesuffix("...")
            if word == "FILE":
                word = ("in.nmb", "same.nmb", "other.nc")[files]
                files += 1
            out.append(WORDS.get(word, word) if word.isupper() else word)
        yield " ".join(out)


def unknown_options(tools):
    """Options of nmcat and nmconvert that no call has."""
    for name, ignored in NO_VALUES.items():
        text = subprocess.run([tools / name, "--help"], capture_output=True, text=True, check=True).stdout
        known = {word for call in CALLS if f"{name} " in call for word in call.split() if word[0] == "-"} | set(ignored)
        known |= {long for long, short in (("--quiet", "-q"), ("--output", "-o"), ("--force", "-f")) if short in known}
        for names in re.findall(r"^  (-[-\w]+(?:,-[-\w]+)*)", text, re.MULTILINE):
            missing = {option for option in names.split(",") if option.startswith("--")} or set(names.split(","))
            for option in sorted(missing - known):
                yield f"{name} {option}: add a call to CALLS, or the option to NO_VALUES"


# --- the functions of the library ---

# The functions of public headers (nmb/) and of what they are made of that move values: the test of tests/unit/tasks/flipped_values_test.cpp, or a call of a tool.
FUNCTIONS = {
    "nmb/compare.h": {"try_compare": "nminspect diff", "try_digest": "nminspect digest"},
    "nmb/convert.h": {"try_convert": "Convert"},
    "nmb/merge.h": {"try_merge": "Pack"},
    "nmb/reader.h": {
        "try_read": "Read", "try_read_many": "Requests", "try_read_same": "ReadTogether", "try_open_blocks": "ReadTogether",
        "try_strings": "Read", "try_find": "nminspect find", "try_statistics": "nminspect stats",
        "try_compute_statistics": "Statistics", "try_elements": "Elements", "try_read_elements": "Elements",
    },
    "nmb/recover.h": {"try_recover": "VerifyAndRecover"},
    "nmb/verify.h": {"try_verify": "VerifyAndRecover"},
    "nmb/writer.h": {
        "try_put": "PutIntoDamagedPiece", "try_put_records": "PutIntoDamagedPiece", "try_put_strings": "PutIntoDamagedPiece",
        "try_put_all": "PutIntoDamagedPiece", "try_iput": "PutIntoDamagedPiece", "try_wait": "PutIntoDamagedPiece",
        "try_wait_all": "PutIntoDamagedPiece", "try_extend": "PutElsewhere", "try_sync": "PutElsewhere",
        "try_close": "PutElsewhere", "try_end_define": "Redefine", "try_redefine": "Redefine", "try_rename": "Redefine",
        "try_open_blocks": "PutElsewhere", "try_get": "GetThroughTheWriter", "try_get_all": "GetThroughTheWriter",
        "try_flush": "GetThroughTheWriter",
    },
    "compare.h": {"digest_file": "nminspect digest", "digest_blocks": "nminspect digest", "compare_files": "nminspect diff",
                  "sha256": "nmconvert in.nmb -o out.orig --original"},
    "convert.h": {
        "extract_block": "Convert", "write_classic": "Convert", "write_hdf5": "nmconvert in.nmb out.h5",
    },
    "dataset.h": {"read": "Read", "compute_statistics": "Statistics"},
    "dump.h": {"write_values": "nminspect dump"},
    "find.h": {"holds": "nminspect find", "for_each_match": "nminspect find", "read_tables": "nminspect find"},
    "merge.h": {"pack": "Pack"},
    "netcdf_view.h": {"netcdf_view": "nmconvert in.nmb out.nc --to nc4", "classic_view": "nmconvert in.nmb out.nc --to cdf5"},
    "file_reader.h": {
        "block": "Read", "object": "Requests", "open_blocks": "ReadTogether", "get_all_same": "ReadTogether",
        "iget": "Requests", "wait": "Requests", "open_external": "nmcat in.nmb -o out.nmb", "body": "nmconvert in.nmb out.nmb",
        "give_back": "nmconvert in.nmb -o out.orig --original", "statistics": "nminspect stats",
        "for_each_statistics": "nminspect find", "part_ranges": "nminspect stats --parts", "for_each_result": "nminspect find",
        "for_each_tag": "nminspect find", "kept_rows": "nmcat in.nmb -o out.nmb", "provenance": "nminspect provenance",
    },
    "recover.h": {"recover": "VerifyAndRecover"},
    "values.h": {"value_array": "Read", "read_array": "Read", "read_hyperslab": "Read"},
    "verify.h": {"verify": "VerifyAndRecover", "verify_together": "nmverify -j"},
    "file_writer.h": {
        "put": "PutIntoDamagedPiece", "put_all": "PutIntoDamagedPiece", "iput": "PutIntoDamagedPiece",
        "wait": "PutIntoDamagedPiece", "wait_all": "PutIntoDamagedPiece", "extend": "PutElsewhere", "sync": "PutElsewhere",
        "close": "PutElsewhere", "open": "PutElsewhere", "end_define": "Redefine", "redefine": "Redefine",
        "rename_block": "Redefine", "take_values": "Pack", "pack_block": "Pack", "add_original": "nmcat in.nmb -o out.nmb",
        "open_blocks": "PutElsewhere", "add_hdf5_view": "nmconvert --add-hdf5-view",
        "get": "GetThroughTheWriter", "get_all": "GetThroughTheWriter", "flush": "GetThroughTheWriter", "commit": "PutElsewhere",
        "redefine_block": "Redefine",
    },
}  # fmt: skip
# Exported functions that read no stored values of an NMB file: definitions, names, counts, bytes of other files.
NO_VALUES_IN = {
    "classic.h": "text decode_classic_header layout_classic encode_classic_header encode_extended_body",
    "communicator.h": "~Communicator launched_rank take give_back give_up end_work next_tag Message Communicator agree barrier broadcast exchange fail fail_together parcel_bytes send_copy receive"
    " of_first other_call make_thread_network run_thread_ranks launched_by launched_ranks open_mpi_ranks",
    "compare.h": "digest_text",
    "convert.h": "check_hdf5 check_references check_file_table",
    "dataset.h": "open_classic check_has_values",
    "name_table.h": "insert_all resize",
    "dump.h": "type_text attribute_text number_text write_cdl_header write_cdl_file write_ncml_header write_ncml_file write_cdl"
    " write_json_header",
    "extension.h": "add add_from only text classic check encode_type",
    "external_files.h": "external_path",
    "files.h": "open stamp_of adopt ~FileSource refresh has_writer read_at is_unallocated create_output check_new_output"
    " hidden_name resumable_name journal_name reopen_output attach_output open_output OutputSet add add_output check_input"
    " check_reference refuse_unknown unlink_temporary_files",
    "find.h": "kind_text parse warnings type_problem unlike_note",
    "hdf5.h": "open_hdf5",
    "hdf5_view.h": "left_out_word object lines is_large text for_each_left_out",
    "layout.h": "region_name layout_of",
    "merge.h": "input_name between_name add_outputs check_options text",
    "metadata.h": "def_dim def_var settle_names put_att def_extended_att replace_values def_att attribute_count find_dimension"
    " find_variable find_attribute reserve_like copy_from clear shrink memory attribute_at",
    "netcdf_view.h": "hides netcdf_name find_netcdf_variable stored_as_no_coordinate add_dimension_lengths"
    " type_losses",
    "path_move.h": "moved",
    "file_reader.h": "open ~FileReader generation generation_digest file_id file_length has_hdf5_view hdf5_view_generation hdf5_view_options piece_size"
    " totals at warnings file generation_check totals_of_subtree totals_of_prefix for_each_entry for_each_wanted_entry find"
    " global_id counted holes external_files has_statistics tag_counts later_additions kind_of refused_kind GetRequests"
    " ~GetRequests text lost_records",
    "text.h": "printable json_text bytes_of_json_text bytes_of_printable",
    "values.h": "shape_of check_hyperslab element_count check_count check_not_null for_each_run convert_from_external convert_to_external"
    " fill_value shown_fill_value default_fill_value FillPattern fill chunk_filters_text text object codec_choices set_codec"
    " set_chunk",
    "verify.h": "check_nothing_pending",
    "file_writer.h": "create ~FileWriter check_not_from_hdf5 abandon cancel discard remove_att rename_att rename_dim rename_var define_block find_block set_field set_tag add_provenance def_dim def_var put_att"
    " put_att_text remove_block metadata layout records global_id generation report pending_bytes linked_bytes external_files"
    " without_statistics planned",
    "writer_options.h": "highest text",
    "nmb/compare.h": "try_parse",
    "nmb/datatype.h": "has_parts text",
    "nmb/definitions.h": "try_datatype try_elements try_read try_text",
    "nmb/finding.h": "text status",
    "nmb/merge.h": "try_parse",
    "nmb/ranks.h": "Ranks ~Ranks agree begin_work end_work fail has_launcher rank size try_barrier try_mpi try_run_threads",
    "nmb/reader.h": "atts counts dims file_length generation generation_digest has_hdf5_view is_classic kind name no_room totals try_att try_atts try_block try_block_at try_block_with"
    " try_datatype try_fill_value try_shown try_stored try_blocks try_cdl try_count try_dims try_for_each_block try_open try_position try_provenance try_shape try_tags try_type_name"
    " try_totals try_var try_vars try_whole type warnings",
    "nmb/recover.h": "count recovered doubtful is_loss lacks_objects",
    "nmb/statistics.h": "tag_text is_same_tag range number minimum_value maximum_value",
    "nmb/status.h": "throw_error text in_file at with of_object on_rank empty",
    "nmb/types.h": "kind_name",
    "nmb/writer.h": "define_dim Writer ~Writer generation try_add_provenance try_att try_block try_dim try_find_block try_open try_records try_remove"
    " try_report try_samples try_tag try_var try_cancel try_definitions try_discard try_remove_att try_rename_att",
}


def unknown_functions(calls):
    """Exported functions that are not listed, and what FUNCTIONS names that does not exist."""
    root = HERE.parents[1]
    tests = (root / "tests/unit/tasks/flipped_values_test.cpp").read_text(encoding="utf-8")
    known = set(re.findall(r"TEST_F\(FlippedValues, (\w+)\)", tests))
    public = root / "libformat/include"
    listed = FUNCTIONS.keys() | NO_VALUES_IN.keys()
    headers = {str(path.relative_to(public)): path for path in public.rglob("*.h")}
    headers |= {path.name: path for path in (root / "libformat").rglob("*.h") if path.name in listed and public not in path.parents}
    for key in sorted(listed - headers.keys()):
        yield f"{key}: no such header"
    for key, header in sorted(headers.items()):
        text = re.sub(r"//.*|^#.*", "", header.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for _ in range(3):
            text = re.sub(r"<[^<>;]*>", "", text)  # templates' arguments
        found = {name.split("::")[-1] for name in re.findall(r"NMB_EXPORT\s+[^;{]*?(~?[\w:]+)\s*\(", text)}
        moves, others = FUNCTIONS.get(key, {}), set(NO_VALUES_IN.get(key, "").split())
        for name in sorted(found - set(moves) - others):
            yield f"{key}: {name}(): add it to FUNCTIONS, or to NO_VALUES_IN if it moves no values"
        for name in sorted((set(moves) | others) - found):
            yield f"{key}: {name}() is listed, but not exported"
        for name, by in moves.items():
            if by not in known and not any(call.startswith(by) for call in calls):
                yield f"{key}: {name}(): no test and no call {by}"


# --- the files ---


class Sample:
    """A file in.nmb and what is flipped: `at` is a position in `file`."""

    def __init__(self, kind, folder, block, variable, at, file="in.nmb"):
        self.kind, self.folder, self.block, self.variable, self.at, self.file = kind, folder, block, variable, at, file
        self.values = []  # the regions of in.nmb that hold values

    def may_warn(self, at=None):
        """Whether a call may say what it leaves out, with exit code 0: no value depends on the byte."""
        if at is None:
            return self.kind in WARNED
        return self.file == "in.nmb" and not any(r["position"] <= at < r["position"] + r["bytes"] for r in self.values)


def regions(tools, path, kind):
    import json

    said = subprocess.run([tools / "nminspect", "layout", "--jsonl", path], capture_output=True, text=True, check=True).stdout
    return [region for region in map(json.loads, said.splitlines()) if region["kind"] == kind]


def make_samples(tools, work):
    import assemble
    import h5py
    import netCDF4
    import numpy

    def run(*words, cwd=work):
        subprocess.run([tools / words[0], *words[1:]], cwd=cwd, capture_output=True, check=True)

    def classic(path, count, record=False):
        with netCDF4.Dataset(work / path, "w", format="NETCDF3_64BIT_DATA") as file:
            file.createDimension("x", None if record else count)
            file.createVariable("v", "i4", ("x",))[:] = numpy.arange(count) + 0x12345678
            file.createVariable("u", "i2", ("x",))[:] = numpy.arange(count) % 1000
            file.note = "a text " * 30

    def find(path, pattern, skip=0):
        at = (work / path).read_bytes().find(pattern, skip)
        assert at >= 0, (path, pattern)
        return at

    def marked(count, order=">"):
        return numpy.array([0x12345678 + count], dtype=f"{order}i4").tobytes()

    classic("small.nc", 300)
    classic("one.nc", 60000)
    classic("many.nc", 600000)
    classic("records.nc", 60000, record=True)
    classic("other.nc", 10)
    with h5py.File(work / "h.h5", "w") as file:
        file["plain"] = numpy.arange(0x12345678, 0x12345678 + 30000, dtype="<i4")
        chunked = file.create_dataset("chunked", data=numpy.arange(20000, dtype="f8"), chunks=(5000,), compression="gzip", shuffle=True)
        chunk = chunked.id.read_direct_chunk((5000,))[1]
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_layout(h5py.h5d.COMPACT)
        compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((50,)), create)
        compact.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.arange(50, dtype="i4") + 0x51525354)
        file.create_dataset("texts", data=[f"one-{i}-long-text" for i in range(400)], dtype=h5py.string_dtype())
    for name, options in {
        "inline": ["small.nc", "--no-provenance"], "one": ["one.nc"], "map": ["many.nc"], "zstd": ["one.nc", "--compress", "zstd"],
        "deflate": ["one.nc", "--compress", "deflate"], "records": ["records.nc"], "h": ["h.h5", "--no-originals"],
        "original": ["h.h5"], "linked": ["one.nc", "--link"],
        "rows": ["small.nc", "--stats", "histogram", "--tag", "flavour=strange"], "view": ["one.nc", "--hdf5-view", "on"],
    }.items():  # fmt: skip
        run("nmcat", *options, "-o", f"{name}.nmb")
    for name in ("growth", "extended_hole"):
        assemble.main([VECTORS / f"{name}.txt", work / f"{name}.nmb"])

    def values(name, number=0):
        return regions(tools, work / f"{name}.nmb", "values")[number]["position"]

    def middle(name, kind, number=0):
        region = regions(tools, work / f"{name}.nmb", kind)[number]
        return region["position"] + region["bytes"] * 2 // 3

    second_file = {"linked": "one.nc"}
    for kind, name, variable, at in (
        ("inline values", "inline", "v", lambda: find("inline.nmb", marked(100))),
        ("a single piece", "one", "v", lambda: find("one.nmb", marked(30000))),
        ("a piece of a data map", "map", "v", lambda: find("map.nmb", marked(400000))),
        ("records", "records", "v", lambda: find("records.nmb", marked(40000))),
        ("a piece of zstd", "zstd", "v", lambda: middle("zstd", "values")),
        ("a piece of deflate", "deflate", "v", lambda: middle("deflate", "values")),
        ("records that grew", "growth", "v", lambda: values("growth", 2)),
        ("values beside a hole", "extended_hole", None, lambda: values("extended_hole")),
        ("contiguous values of HDF5", "h", "plain", lambda: find("h.nmb", marked(20000, "<"))),
        ("a chunk", "h", "chunked", lambda: find("h.nmb", chunk) + len(chunk) // 2),
        ("compact values", "h", "compact", lambda: find("h.nmb", numpy.int32(0x51525354 + 10).tobytes())),
        ("a heap", "h", "texts", lambda: find("h.nmb", b"one-17-long")),
        ("values in an original", "original", "plain", lambda: find("original.nmb", marked(20000, "<"))),
        ("a chunk in an original", "original", "chunked", lambda: find("original.nmb", chunk) + len(chunk) // 2),
        ("an original only", "original", "plain", lambda: regions(tools, work / "original.nmb", "original")[0]["position"] + 8),
        ("values in a linked file", "linked", "v", lambda: find("one.nc", marked(30000))),
        ("definitions", "one", "v", lambda: middle("one", "metadata")),
        ("index", "one", "v", lambda: middle("one", "index")),
        ("a data map", "map", "v", lambda: middle("map", "data map")),
        ("statistics", "rows", "v", lambda: find("rows.nmb", b"STAT") + 100),
        ("tags", "rows", "v", lambda: find("rows.nmb", b"strange")),
        ("provenance", "rows", "v", lambda: find("rows.nmb", b"small.nc")),
        ("the HDF5 view", "view", "v", lambda: middle("view", "HDF5 view")),
    ):  # fmt: skip
        block = {"h": "h", "original": "h", "inline": "small", "map": "many", "growth": "a", "extended_hole": "b",
                 "rows": "small", "records": "records"}.get(name, "one")  # fmt: skip
        folder = work / re.sub(r"\W", "_", kind)
        folder.mkdir()
        shutil.copy(work / f"{name}.nmb", folder / "in.nmb")
        shutil.copy(work / f"{name}.nmb", folder / "same.nmb")
        if name == "linked":
            shutil.copy(work / "one.nc", folder)
        shutil.copy(work / "other.nc", folder)
        (folder / "list").write_text("in.nmb\n")
        (folder / "blocks").write_text(block + "\n")
        yield Sample(kind, folder, block, variable or "v", at(), second_file.get(name, "in.nmb"))


def flip(path, at, bit):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


# --- the runs ---

LAUNCH = ["mpiexec", "-n", "2"]
TIMES = re.compile(rb"\d+(\.\d+)? (us|ms|s|min|[KMG]iB/s)\b|\"(seconds|started|finished|mtime|modified\w*|peak_memory)\": ?[^,}]*|^memory\t.*$|\t\d+\.\d{3}(?=\t)", re.MULTILINE)


def run_call(tools, sample, words, flipped, work):
    """The exit code, standard error, and all that the call has printed and written. `flipped`: the position and the bit
    that are flipped, or None."""
    folder = Path(tempfile.mkdtemp(dir=work)) / "f"
    shutil.copytree(sample.folder, folder)
    if flipped:
        flip(folder / sample.file, *flipped)
    launch = []
    if words[0] == "mpiexec":
        launch, words = LAUNCH, words[1:]
    words = [word.replace("BLOCK", sample.block).replace("VARIABLE", sample.variable) for word in words]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        done = subprocess.run([*launch, tools / words[0], *words[1:]], cwd=folder, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=environment)  # fmt: skip
        out = {"standard output": hashlib.sha256(TIMES.sub(b"", done.stdout)).hexdigest()}
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            if not path.is_file() or name.endswith(".nmb.lock"):
                continue
            content = path.read_bytes()
            if flipped and name == sample.file and path.stat().st_size > flipped[0]:
                out["as it is"] = hashlib.sha256(content).hexdigest()
                flip(path, *flipped)
                content = path.read_bytes()
            if name.startswith(("report", "resume")):
                content = TIMES.sub(b"", content)
            out[name] = hashlib.sha256(content).hexdigest()
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)
    return done.returncode, done.stderr, out


# Content that a call may leave out with exit code 0 and a warning, because no value depends on it.
WARNED = ("statistics", "tags", "provenance", "the HDF5 view", "index", "definitions")


class Runs:
    """Runs calls on damaged files, and on undamaged ones once."""

    def __init__(self, tools, work):
        self.tools, self.work, self.good = tools, work, {}

    def outcome(self, sample, call, flipped=None):
        words = call.split()
        good = self.good.get((sample.folder, call))
        if not good:
            good = self.good[sample.folder, call] = run_call(self.tools, sample, words, None, self.work)
        if good[0] not in (0, 1):
            return "no call"
        bad = run_call(self.tools, sample, words, flipped or (sample.at, 4), self.work)
        # The file itself differs in the flipped bit, unless the call has rewritten these bytes.
        if bad[2].pop("as it is", None) == good[2].get(sample.file):
            bad[2][sample.file] = good[2][sample.file]
        may_warn = sample.may_warn(flipped and flipped[0])
        if bad[0] == 0 and may_warn and {n for n in {*good[2], *bad[2]} if good[2].get(n) != bad[2].get(n)} == {sample.file}:
            return "rewritten"  # the file has the sum of bytes that are now dead, for example of its former view
        return judged(good, bad, may_warn)


def judged(good, bad, may_warn):
    """Compares the run on a damaged file with that on the undamaged one."""
    if good[0] not in (0, 1) or (good[0] == 1 and bad[0] == 1 and good[2] == bad[2]):
        return "no call"  # not for this kind of file
    if bad[0] < 0 or bad[0] > 3:
        return f"WRONG: exit code {bad[0]}"
    if bad[0] != 0 and bad[0] != good[0]:
        return "fails" if bad[1] or bad[2]["standard output"] != good[2]["standard output"] else "WRONG: fails without a message"
    if good[2] == bad[2]:
        return "same"
    if bad[0] != 0:
        return "fails"
    differing = ", ".join(name for name in sorted({*good[2], *bad[2]}) if good[2].get(name) != bad[2].get(name))
    if may_warn and bad[1] != good[1]:
        return "warns"
    return f"WRONG: exit code 0, but other {differing}"


def main():
    import argparse

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--all", action="store_true", help="all calls on all kinds of bytes")
    parser.add_argument("--table", action="store_true", help="print each call with its outcomes")
    parser.add_argument("--only", help="calls and kinds of bytes that have this word")
    parser.add_argument("--random", type=int, metavar="N", help="N random calls and bits")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    every = 1 if arguments.all or tool_runs.ALL else 16
    tools = arguments.tools.resolve()
    problems = list(unknown_options(tools))
    calls = list(dict.fromkeys([*CALLS, *listed_calls()]))
    problems += unknown_functions(calls)
    if not shutil.which(LAUNCH[0]) or every > 1:
        calls = [call for call in calls if not call.startswith(LAUNCH[0])]
    with tempfile.TemporaryDirectory(prefix="nmb_cli_") as folder:
        work = Path(folder)
        try:
            samples = list(make_samples(tools, work))
        except ImportError as why:
            print(f"skipped: {why}")
            return tool_runs.SKIPPED
        cells = [
            (sample, call, None)
            for i, sample in enumerate(samples)
            for k, call in enumerate(calls)
            if (i * 7 + k) % every == 0 and (not arguments.only or arguments.only in sample.kind or arguments.only in call)
        ]
        if arguments.random:
            chance = random.Random(arguments.seed)
            cells = []
            for _ in range(arguments.random):
                sample = chance.choice(samples)
                if not sample.values:
                    sample.values = [r for kind in ("values", "original") for r in regions(tools, sample.folder / "in.nmb", kind)]
                at = chance.randrange((sample.folder / sample.file).stat().st_size)
                cells.append((sample, chance.choice(calls), (at, chance.randrange(8))))
        (work / "runs").mkdir()
        runs = Runs(tools, work / "runs")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = list(pool.map(lambda cell: runs.outcome(*cell), cells))
    for (sample, call, flipped), said in zip(cells, outcomes):
        what = f"{sample.folder.name}, byte {flipped[0]}, bit {flipped[1]}" if flipped else sample.kind
        if arguments.table:
            print(f"{call}\t{what}\t{said}")
        if said.startswith("WRONG"):
            problems.append(f"{call}: {what}: {said[7:]}")
    counts = {}
    for said in outcomes:
        counts[said.split(":")[0]] = counts.get(said.split(":")[0], 0) + 1
    print(f"{len(cells)} of {len(samples) * len(calls)} cells: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
