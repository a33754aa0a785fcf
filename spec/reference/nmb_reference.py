#!/usr/bin/python3
"""Reads and checks NMB files, in the order of format.md.

Each part of this program has the number and the title of the section that it implements. The program shares no code
with the library and is not fast: it reads the whole file, checks every rule and decodes the values.

    nmb_reference.py --json FILE      prints the content of the file as one JSON document
    nmb_reference.py --findings FILE  prints one line for each broken rule or remark: RULE<TAB>OFFSET<TAB>message
    nmb_reference.py --trace FILE     prints every field: OFFSET<TAB>LENGTH<TAB>structure<TAB>field<TAB>value
    nmb_reference.py --scan FILE      finds the blocks by their headers, without the index, and prints a line for each:
                                      POSITION<TAB>GENERATION<TAB>name; exits with 1 if the index has other blocks

Exit codes: 0 sound, 1 findings, 2 not an NMB or classic netCDF file, not supported, or unreadable.
"""

import bisect
import contextlib
import hashlib
import io
import itertools
import json
import os
import re
import stat
import struct
import sys
import zlib

import xxhash
import zstandard

sys.dont_write_bytecode = True
import choosing_reference as choosing  # noqa: E402
import classic_reference as classic  # noqa: E402
import extended_reference as extended  # noqa: E402
import statistics_reference as statistics  # noqa: E402
import tables_reference as tables  # noqa: E402
import view_reference  # noqa: E402

# --- 1. Conventions --------------------------------------------------------------------------------

LIMIT = 2**63 - 1


def sum64(data):
    return xxhash.xxh3_64_intdigest(data)


def digest128(data):
    return xxhash.xxh3_128_intdigest(data)


def up(n, unit=8):
    return (n + unit - 1) // unit * unit


def fields_of(text):
    """Parses a table of fields with one line for each: offset, bytes, name. A place becomes three fields."""
    out = []
    for line in text.strip().splitlines():
        offset, size, name = line.split(None, 2)
        if size == "place":
            out += [(int(offset) + 8 * i, 8, f"{name}.{part}") for i, part in enumerate(PLACE)]
        else:
            out.append((int(offset), int(size), name))
    return out


PLACE = ("position", "length", "sum")
BYTES = ("magic", "HDF5 superblock")  # fields that are not integers


class Fields(dict):
    """The fields of one structure: values by name, and the offset of each field."""

    def __init__(self, file, structure, position, table):
        """structure: the name of the structure in the trace, or None if it is not traced."""
        super().__init__()
        self.position = position
        self.where = {}
        for offset, size, name in table:
            raw = bytes(file.data[position + offset : position + offset + size])
            self[name] = raw if name in BYTES else int.from_bytes(raw, "little")
            self.where[name] = position + offset
            if structure:
                file.trace(position + offset, size, structure, name, self[name])

    def at(self, name):
        return self.where[name]


class Damaged(Exception):
    """A structure cannot be checked further; the finding is already on the list."""


# --- 3. The file -----------------------------------------------------------------------------------

FIRST_STRUCTURE = 16384
MAX_FINDINGS = 1000
# Limits of this program, not of the format: decoded bytes of one body or piece, and of all bodies and pieces together.
MAX_BODY = 2**26
MAX_DECODED = 2**28


class File:
    def __init__(self, data, tracing=False, folder=None):
        """folder: the folder to which paths of external files are relative; None: external files are not opened."""
        self.data = data
        self.folder = folder
        self.files = []  # ListedFile of each row of the file table; None: the table is not known
        self.blocks_of_originals = {}  # orders of the blocks that originals became, by name
        self.opened = {}  # bytes of each opened external file, or None, by file number
        self.findings = []
        self.warnings = []
        self.unsupported = set()  # (rule, offset) of findings that make the file or a block unsupported
        self.in_core = True  # the structures that are being read are those that a core reader reads
        self.not_core = set()  # (rule, offset) of findings in other structures
        self.untouchable = set()  # names of blocks that a writer of this version does not change
        self.writable = True  # a writer of this version can add generations
        self.fields = [] if tracing else None
        self.begins, self.ends = [], []  # ascending bounds of the bytes of all structures, for R-FL-3 and R-FL-4
        self.file_id = None
        self.superblock = None
        self.piece_size = LIMIT
        self.dictionary = None
        self.used_features = dict.fromkeys(choosing.KNOWN, 0)
        self.stamps = []  # (position, sum) of pieces in this file
        self.growth = {}  # rows of growth pages, the oldest first, by order of the block
        self.grown_records = 0
        self.statistics = {}  # rows of statistics, by order of the block
        self.everything_known = True  # this reader supports every block
        self.everything_walked = True  # every structure could be read
        self.index_whole = self.growth_whole = True  # all pages of the index, or all growth pages, could be read
        self.file_lengths = []  # file lengths, newest generation first, as far as trailers lead
        self.tables_sound = False  # no rule is broken in the trees of statistics
        # Numbers of statistics trees and rows that a commit would take in if it changed one block (section 9.2).
        # Statistics must stay unchanged if one of these trees has a column that is critical for writing.
        self.trees_taken, self.rows_taken, self.statistics_stay = 0, 1, False
        self.blocks = []  # (entry, header, classic header or None), in order of names
        self.totals = None
        self.decoded = 0
        self.view_sound = False
        self.later_places = ()
        self.reading = []  # (rule, object, message): findings that appear only when values are read

    def trace(self, offset, length, structure, name, value):
        if self.fields is not None:
            self.fields.append((offset, length, structure, name, value))

    @contextlib.contextmanager
    def outside_core(self):
        """While this context lasts, findings are in structures that a core reader does not read."""
        before, self.in_core = self.in_core, False
        try:
            yield
        finally:
            self.in_core = before

    def find(self, rule, offset, message):
        if not self.in_core:
            self.not_core.add((rule, offset))
        if len(self.findings) < MAX_FINDINGS and (rule, offset, message) not in self.findings[-50:]:
            self.findings.append((rule, offset, message))

    def remark(self, rule, offset, message):
        """Adds a remark: a property that no value depends on."""
        if (rule, offset, message) not in self.warnings[-50:]:
            self.warnings.append((rule, offset, message))

    def refuse(self, rule, offset, message):
        """Adds a finding that makes a file unsupported, not damaged."""
        self.find(rule, offset, message)
        self.unsupported.add((rule, offset))

    def fail(self, rule, offset, message):
        """Adds a finding and ends the reading of a structure."""
        self.find(rule, offset, message)
        raise Damaged

    def check_zero(self, rule, start, end, what):
        """Checks that reserved bytes or padding are zero, and traces them as one field."""
        raw = self.data[start:end]
        if end > start:
            self.trace(start, end - start, *what, bytes(raw))
        rest = raw.lstrip(b"\0")
        if rest:
            self.find(rule, end - len(rest), f"{what[0]}: {what[1]} is {rest[0]:#x}, expected 0")

    def claim(self, start, length, what, placed_at):
        """Checks R-FL-5 and R-FL-3 for the bytes of a structure. If it returns, these bytes can be read."""
        self.check_within(start, length, what, placed_at)
        end = start + length
        if length:
            at = bisect.bisect_right(self.begins, start)  # the first structure that begins after `start`
            shared = None
            if at and self.ends[at - 1] > start:
                shared = start
            elif at < len(self.begins) and self.begins[at] < end:
                shared = self.begins[at]
            if shared is not None:
                self.everything_walked = False
                self.fail("R-FL-3", shared, f"{what} of {length} bytes at {start} shares bytes with another structure")
            self.begins.insert(at, start)
            self.ends.insert(at, end)
        if end > len(self.data):
            self.everything_walked = False
            raise Damaged  # the file is cut: R-FL-1 is reported

    def check_within(self, start, length, what, placed_at):
        if start < FIRST_STRUCTURE or start + length > self.file_length or start % 8:
            self.everything_walked = False
            self.fail(
                "R-FL-5",
                placed_at,
                f"{what} at {start} of {length} bytes, expected within 16384 to {self.file_length} at a multiple of 8",
            )

    def read(self):
        if not choose_superblock(self):
            return
        if not check_file_length(self):
            return
        if len(self.data) < self.file_length:
            self.find(
                "R-FL-1",
                len(self.data),
                f"the file is cut: {len(self.data)} bytes, expected {self.file_length}",
            )
        if len(self.data) > self.file_length:
            self.warnings.append(
                (
                    "R-FL-2",
                    self.file_length,
                    f"{len(self.data) - self.file_length} bytes that no generation has committed",
                )
            )
        if not check_superblock(self):
            return
        read_dictionary(self)
        with self.outside_core():
            read_places(self)
        read_growth(self)
        with self.outside_core():
            read_tables(self)
        read_index(self)
        with self.outside_core():
            read_dead_space(self)
        check_stamp(self)
        check_view(self)
        check_features(self)
        self.check_space()

    def check_space(self):
        """Checks R-FL-4, after all structures have been claimed."""
        if not (self.everything_walked and self.everything_known):
            return
        end = FIRST_STRUCTURE
        for start, stop in [*zip(self.begins, self.ends), (self.file_length, self.file_length)]:
            rest = self.data[end:start].lstrip(b"\0")
            if rest:
                self.find(
                    "R-FL-4", start - len(rest), f"byte {rest[0]:#x} outside of all structures, expected 0"
                )
            end = stop


GUARD = b"\x89HDF\r\n\x1a\n\xff" + bytes(7)


def check_fixed_bytes(file):
    """Checks R-FL-6."""
    for start, end in ((320, 512), (768, 1024)):
        file.check_zero("R-FL-6", start, end, ("file", f"bytes {start} to {end - 1}"))
    guard = bytes(file.data[1024:1040])
    file.trace(1024, 16, "file", "guard", guard)
    for i, (found, expected) in enumerate(zip(guard, GUARD)):
        if found != expected:
            file.find("R-FL-6", 1024 + i, f"guard: byte {found:#x}, expected {expected:#x}")
            break
    file.check_zero("R-FL-6", 1040, 4096, ("file", "bytes 1040 to 4095"))


# --- 4. Identity -----------------------------------------------------------------------------------

IDENTITY = fields_of(
    """
    0    8  magic
    8    2  major version
    10   2  size
    12   2  sum algorithm
    14   2  slots
    16   4  slot unit
    20   4  first slot
    24  16  file id
    248  8  sum
    """
)


def check_identity(file):
    """Checks R-ID-4; choosing_reference.py checks the other rules about the identity."""
    told = {rule for rule, _, _ in file.findings}
    Fields(file, "identity", 512, IDENTITY)
    if not told & {"R-ID-1", "R-ID-2"} and not file.unknown_features:
        file.check_zero("R-ID-4", 552, 760, ("identity", "reserved"))


# --- 5. Superblock: slots and trailer --------------------------------------------------------------

TOTALS = ["blocks", "dimensions", "variables", "attributes", "records", "samples"]
SUPERBLOCK = fields_of(
    """
    0    8  magic
    8    2  version
    10   2  used
    12   4  flags
    16   8  generation
    24   8  file length
    32   8  compatible features
    40   8  read-only compatible features
    48   8  incompatible features
    56   8  needs
    64  16  file id
    80   8  stamp
    88   8  root position
    96   4  root length
    100  4  height
    104 16  root digest
    120  8  blocks
    128  8  dimensions
    136  8  variables
    144  8  attributes
    152  8  records
    160  8  samples
    168  place  previous trailer
    192  place  dead map
    216  place  file table
    240  place  growth
    264  place  global sections
    288  place  statistics
    312  place  tags
    336  place  dictionary
    360  place  view
    384 48  HDF5 superblock
    432  8  index position
    440  8  index length
    448  8  next order
    456  4  piece size
    460  4  inline limit
    464  4  leaf rows
    468  4  node rows
    472  4  map rows
    4088 8  sum
    """
)
MARK = fields_of(
    """
    0    8  magic
    8    8  generation
    16   8  file length
    24   8  superblock sum
    32  16  file id
    48   8  reserved
    56   8  sum
    """
)
SUPERBLOCK_LENGTH = 4096


class Superblock(choosing.Superblock):
    """A superblock, with all its fields if it is sound."""

    def __init__(self, file, position):
        super().__init__(file.data, position)
        self.fields = Fields(file, None, position, SUPERBLOCK) if self.sound else None

    def __getitem__(self, name):
        return self.fields[name]

    def at(self, name):
        return self.fields.at(name)

    def place(self, name):
        return tuple(self[f"{name}.{part}"] for part in PLACE)


def choose_superblock(file):
    """Sets superblock, file_length and file_id (section 5.4). Returns False if the file cannot be opened."""
    if len(file.data) < FIRST_STRUCTURE:
        file.find("R-FL-1", len(file.data), "the file is cut within its head")
        return False
    choice = file.choice = choosing.choose(file.data, search=True)
    for finding in choice.findings:
        if finding[0] == "R-ID-3":
            file.refuse(*finding)
        else:
            file.find(*finding)
    file.warnings += choice.warnings
    if choice.newest is None:
        return False
    file.file_id = int.from_bytes(choice.file_id, "little")
    sb = file.superblock = Superblock(file, choice.newest.position)
    sb.name = "trailer" if choice.rolled_forward else f"slot {sb.position // 4096 - 1}"
    file.file_length = sb["file length"]
    file.unknown_features = choosing.unknown_features(sb)
    file.trace(0, 256, "cover", "cover", bytes(file.data[:256]))
    Fields(file, "mark", 256, MARK)
    check_identity(file)
    check_fixed_bytes(file)
    Fields(file, sb.name, sb.position, SUPERBLOCK)
    return True


def check_file_length(file):
    sb, length = file.superblock, file.file_length
    if length % 4096 or length < 20480 or length > LIMIT:
        file.find(
            "R-SB-4",
            sb.at("file length"),
            f"file length is {length}, expected a multiple of 4096 from 20480",
        )
        return False
    return True


def check_superblock(file):
    """Checks the rules R-SB. Returns False if the rest of the file cannot be read."""
    sb = file.superblock
    trailer_position = file.file_length - SUPERBLOCK_LENGTH
    try:
        file.claim(trailer_position, SUPERBLOCK_LENGTH, "trailer", sb.at("file length"))
    except Damaged:
        pass  # the file is cut
    if not file.choice.rolled_forward:
        raw = file.data[trailer_position : file.file_length]
        if len(raw) == SUPERBLOCK_LENGTH and raw != sb.raw:
            first = next(i for i in range(SUPERBLOCK_LENGTH) if raw[i] != sb.raw[i])
            file.find("R-SB-2", trailer_position + first, "the trailer differs from its slot")
        elif raw == sb.raw:
            Fields(file, "trailer", trailer_position, SUPERBLOCK)
            file.trace(trailer_position + 476, 4088 - 476, "trailer", "reserved", b"")
    incompatible = sb["incompatible features"] & ~choosing.KNOWN["incompatible features"]
    if incompatible:
        file.refuse(
            "R-SB-6", sb.at("incompatible features"), f"incompatible features {incompatible:#x} are unknown"
        )
        return False
    check_used(file)
    check_root_fields(file)
    check_limits(file)
    position, length = sb["index position"], sb["index length"]
    if (position == 0) != (length == 0):
        file.remark("R-SB-15", sb.at("index position"), f"index position {position}, index length {length}")
    check_previous_trailers(file)
    if any(sb["HDF5 superblock"]) != any(sb.place("view")):
        file.find("R-HV-1", sb.at("HDF5 superblock"), "an HDF5 superblock without a view, or the other way round")
    return True


def check_used(file):
    """Checks R-SB-5 and R-SB-17, and finds the places of later versions."""
    sb = file.superblock
    used = sb["used"]
    usable = 512 <= used <= 4088 and (used - 512) % 24 == 0
    if not usable or used > 512 and not file.unknown_features:
        file.find("R-SB-5", sb.at("used"), f"used is {used}")
    used = used if usable else 512
    if not file.unknown_features:
        if sb["flags"]:
            file.check_zero("R-SB-17", sb.at("flags"), sb.at("flags") + 4, (sb.name, "flags"))
        file.check_zero("R-SB-17", sb.position + 476, sb.position + 512, (sb.name, "reserved"))
        file.check_zero("R-SB-17", sb.position + used, sb.position + 4088, (sb.name, "reserved"))
    file.later_places = range(sb.position + 512, sb.position + used, 24)


def check_root_fields(file):
    """Checks R-SB-7 and R-SB-19."""
    sb = file.superblock
    root = ["root position", "root length", "root digest"]
    differs = [name for name in root if (sb[name] == 0) != (sb["height"] == 0)]
    if len(differs) == len(root):
        differs = ["height"]
    for name in differs:
        file.find("R-SB-7", sb.at(name), f"{name} is {sb[name]}: expected all of the root or none")
    if sb["height"] > MAX_HEIGHT:
        file.find("R-SB-19", sb.at("height"), f"height is {sb['height']}, expected at most 10")


def check_limits(file):
    """Checks R-SB-11."""
    sb = file.superblock
    file.piece_size = piece = sb["piece size"]
    if not 65536 <= piece <= 2**30 or piece & (piece - 1):
        file.piece_size = 2**32 - 1
        file.find("R-SB-11", sb.at("piece size"), f"piece size is {piece}, expected a power of 2 from 65536 to 2^30")
    if sb["inline limit"] > 65536:
        file.find("R-SB-11", sb.at("inline limit"), f"inline limit is {sb['inline limit']}, expected at most 65536")
    for name in ("leaf rows", "node rows", "map rows"):
        if not 2 <= sb[name] <= 65536:
            file.find("R-SB-11", sb.at(name), f"{name} is {sb[name]}, expected 2 to 65536")
    file.index_rows = sb["leaf rows"], sb["node rows"]
    file.map_rows = sb["map rows"], sb["map rows"]


def check_stamp(file):
    """Checks R-SB-14. The sum of a piece that is reached twice counts twice."""
    sb = file.superblock
    first = sum(sb.place("previous trailer")[:2]) if sb["generation"] > 1 else FIRST_STRUCTURE
    stamp = sum(sum_ for position, sum_ in file.stamps if position >= first) % 2**64
    if file.everything_walked and file.everything_known and stamp != sb["stamp"]:
        file.find("R-SB-14", sb.at("stamp"), f"stamp is {sb['stamp']:#x}, the pieces' sums make {stamp:#x}")


def check_previous_trailers(file):
    """Checks R-SB-9, R-SB-10 and R-SB-22 for all trailers, back to generation 1.

    The loop ends, because each trailer lies before the trailer that leads to it.
    """
    sb, end = file.superblock, file.file_length - SUPERBLOCK_LENGTH
    walked, file.everything_walked = file.everything_walked, False  # until the first trailer is reached
    while True:
        file.file_lengths.append(sb["file length"])
        position, length, sum_ = sb.place("previous trailer")
        at, generation = sb.at("previous trailer.position"), sb["generation"]
        present = bool(position or length or sum_)
        half = present and not (position and length)
        if half:
            file.find("R-SB-9", at, f"previous trailer at {position} of {length} bytes")
        if present != (generation > 1):
            file.find("R-SB-10", at, f"previous trailer at {position} in generation {generation}")
            return
        if half:
            return
        if not present:
            file.everything_walked = walked
            return
        try:
            check_place(file, "R-SB-9", (position, length, sum_), at, "previous trailer")
        except Damaged:
            return
        previous = Superblock(file, position)
        if (
            length != SUPERBLOCK_LENGTH
            or not choosing.is_trailer(previous, file.choice.file_id)
            or previous["generation"] != generation - 1
            or position >= end
        ):
            file.find(
                "R-SB-22",
                at,
                f"no superblock of generation {generation - 1} that ends its file length at {position}",
            )
            return
        sb, end = previous, position


def check_place(file, rule, place, at, what):
    """Checks a place and its sum, and claims the bytes at the place."""
    position, length, sum_ = place
    if position == 0 or length == 0:
        file.everything_walked = False
        file.fail(
            rule,
            at,
            f"{what}: position {position}, length {length}, sum {sum_:#x}: expected all zero or none",
        )
    file.claim(position, up(length), what, at)
    if sum64(file.data[position : position + length]) != sum_:
        file.fail(rule, at, f"{what} at {position}: the sum of its {length} bytes is not right")
    file.check_zero("R-FL-4", position + length, position + up(length), (what, "padding"))


def read_global_sections(file, place, what):
    """Reads the newest global sections, and the earlier ones that they continue."""
    while True:
        position, length = place[:2]
        read_sections(file, position, length, what, lambda writing_only: setattr(file, "writable", False))
        first = bytes(file.data[position : position + min(length, 40)])
        if len(first) < 16 or first[:2] != b"\x09\0":
            return
        if len(first) < 40 or first[4:16] != bytes([1, 0, 0, 0, 24]) + bytes(7):
            file.fail("R-SC-2", position, f"{what}: earlier sections with another version, codec or length")
        place = struct.unpack("<3Q", first[16:])
        if place[0] == 0 or place[1] == 0 or place[0] >= position or place[1] > position - place[0]:
            file.fail("R-SC-2", position, f"{what}: earlier sections at {place[0]}, {place[1]} bytes")
        check_place(file, "R-SC-2", place, position, what)


def read_places(file):
    sb = file.superblock
    for name, feature, mask in (
        ("global sections", "compatible features", 4),
        ("view", "read-only compatible features", 1),
        ("file table", None, 0),
    ):
        place = sb.place(name)
        if not any(place):
            continue
        try:
            if name == "file table":
                file.files = None
                file.files = read_file_table(file, place, sb.at(name + ".position"))
                continue
            file.used_features[feature] |= mask
            check_place(file, "R-SB-9", place, sb.at(name + ".position"), name)
            if name == "global sections":
                read_global_sections(file, place, name)
            else:
                file.view_sound = True
        except Damaged:
            if name != "view":  # a view leads to nothing else
                file.everything_walked = False
    for number, at in enumerate(file.later_places):
        place = struct.unpack("<3Q", file.data[at : at + 24])
        try:
            if any(place):
                check_place(file, "R-SB-9", place, at, f"place {number} of a later version")
        except Damaged:
            pass


# --- 6. Pages --------------------------------------------------------------------------------------

PAGE = fields_of(
    """
    0   8  magic
    8   2  version
    10  2  level
    12  4  flags
    16  4  rows
    20  4  length
    24  2  columns
    26  2  reserved
    28  4  heap length
    32 16  file id
    48  8  own position
    56  8  generation
    64  8  owner
    72  8  stamp
    80  8  sum
    """
)
PAGE_HEADER = 88
MAX_HEIGHT, MAX_MAP_LEVEL = 10, 8

# The columns, and the pages that may have each of them. A name without -leaf or -node means both.
COLUMN_TABLE = [
    (int(line[:8]), line[8:27].strip(), set(line[27:].split()))
    for line in """
    1   name end           index files tags statistics
    2   kind               index-leaf tags-leaf statistics-leaf
    3   codec              index-leaf map-leaf growth
    4   flags              index-leaf
    5   position           index map dead files growth tags statistics
    6   stored length      index map dead files growth tags statistics
    7   raw length         index-leaf map-leaf growth
    8   digest             index-leaf files
    9   sum                index map dead files growth tags statistics
    10  extent position    index-leaf
    11  extent length      index-leaf
    12  extent sum         index-leaf
    13  blocks             index-node tags-node statistics-node
    14  dimensions         index
    15  variables          index
    16  attributes         index
    17  records            index growth
    18  samples            index
    19  data map position  index-leaf files
    20  data map length    index-leaf files
    21  data map sum       index-leaf files
    25  file digest        index-leaf
    26  file SHA-256 begin index-leaf
    27  file SHA-256 end   index-leaf
    28  28
    29  29
    30  30
    31  order              index-leaf files growth tags statistics
    32  logical offset     map growth
    33  file number        map-leaf
    34  state              map-leaf dead files growth tags-leaf statistics-leaf
    35  needs              index
    48  elements           statistics-leaf
    49  missing            statistics-leaf
    50  NaN                statistics-leaf
    51  minimum            tags-leaf statistics-leaf
    52  maximum            statistics-leaf
    53  bytes end          map-leaf files tags-leaf statistics-leaf
""".splitlines()
    if line
]
COLUMNS = {id_: name for id_, name, _ in COLUMN_TABLE}
WIDE_COLUMNS = (8, 25, 26, 27)  # columns with values of 16 bytes
USES = {
    b"INDX": "index",
    b"DMAP": "map",
    b"DEAD": "dead",
    b"FILE": "files",
    b"GROW": "growth",
    b"STAT": "statistics",
    b"TAGS": "tags",
}


def columns_of(magic, leaf):
    """Returns the ids of the columns that a page may have."""
    pages = {USES[magic], USES[magic] + ("-leaf" if leaf else "-node")}
    return {id_ for id_, _, allowed in COLUMN_TABLE if allowed & pages}


TABLE_ROWS = (65536, 65536)
LATER_PLACES = range(256, 8192)  # three ids for each place: position, length, sum
CRITICAL_FOR_READING, CRITICAL_FOR_WRITING = 0x8000, 0x4000


class Page:
    """A checked page: its rows by column name, and the offset of each value."""

    def __init__(
        self, file, what, magic, place, place_at, level, owner=0, max_rows=None, parent_sum=None, ahead=None
    ):
        """Reads and checks a page.

        place: position and length in the parent.
        place_at: offset of this position in the parent.
        ahead(page): is called for checks of the bytes before the page is read.
        """
        self.file, self.what, self.position, self.magic = file, what, place[0], magic
        self.critical_for_writing = False
        try:
            self.read(place, place_at, level, owner, max_rows, parent_sum, ahead)
        except Damaged:
            file.everything_walked = False
            raise

    def read(self, place, place_at, level, owner, max_rows, parent_sum, ahead):
        (position, length), file, what, magic = place, self.file, self.what, self.magic
        file.check_within(position, length, what, place_at)
        if length < PAGE_HEADER or length % 8 or length >= 2**32:
            file.fail("R-PG-3", position + 20, f"{what}: length {length} in its parent, which no page has")
        file.claim(position, length, what, place_at)
        raw = self.raw = file.data[position : position + length]
        if ahead:
            ahead(self)
        if raw[:8] != b"\x89NMB" + magic or raw[8:10] != b"\1\0":
            file.fail("R-PG-1", position, f"{what}: magic and version are {raw[:9].hex(' ')}")
        f = self.fields = Fields(file, what, position, PAGE)
        if f["length"] != length:
            file.fail(
                "R-PG-3", f.at("length"), f"{what}: length {f['length']}, {length} in its parent"
            )
        if f["sum"] != sum64(raw[:80] + raw[88:]) or parent_sum not in (None, f["sum"]):
            file.fail(
                "R-PG-2", position, f"{what}: the sum is not right or not the one in its parent"
            )
        self.check_header(level, owner)
        leaf = f["level"] == 0
        if f["rows"] == 0 or f["rows"] > length:  # a row has at least one byte
            file.fail("R-PG-8", f.at("rows"), f"{what}: {f['rows']} rows")
        most = max_rows[0 if leaf else 1] if max_rows else 0
        if most and f["rows"] > most:
            file.find("R-PG-8", f.at("rows"), f"{what}: {f['rows']} rows")
        self.read_columns(columns_of(magic, leaf))
        self.read_names(magic in (b"INDX", b"FILE", b"STAT", b"TAGS"))
        self.check_later_places()

    def check_header(self, level, owner):
        file, f = self.file, self.fields
        newest = f["generation"] == file.superblock["generation"]
        for rule, name, value in (
            ("R-PG-4", "file id", file.file_id),
            ("R-PG-10", "own position", self.position),
            ("R-PG-14", "owner", owner),
            ("R-PG-12", "stamp", file.superblock["stamp"] if newest else None),
            ("R-PG-13", "level", level),
        ):
            if f[name] != value and value is not None:
                file.find(
                    rule, f.at(name), f"{self.what}: {name} is {f[name]}, expected {value}"
                )
        # If no level is expected, this page is the root of a data map, of statistics or of tags.
        if level is None and f["level"] > MAX_MAP_LEVEL:
            file.find("R-PG-13", f.at("level"), f"{self.what}: level {f['level']}")
        if not 1 <= f["generation"] <= file.superblock["generation"]:
            file.find(
                "R-PG-11",
                f.at("generation"),
                f"{self.what}: generation {f['generation']}, expected 1 to {file.superblock['generation']}",
            )
        for name in ("flags", "reserved"):
            if f[name] and not file.unknown_features:
                file.check_zero(
                    "R-PG-5",
                    f.at(name),
                    f.at(name) + (4 if name == "flags" else 2),
                    (self.what, name),
                )
        if f["level"] > MAX_MAP_LEVEL if level is None else f["level"] != level:
            raise Damaged

    def read_columns(self, defined):
        file, f, rows = self.file, self.fields, self.fields["rows"]
        at = self.position + PAGE_HEADER
        end = self.position + f["length"]
        table = []
        if PAGE_HEADER + 4 * f["columns"] > f["length"]:
            file.fail("R-PG-3", f.at("length"), f"{self.what}: {f['columns']} columns do not fit")
        for i in range(f["columns"]):
            entry = Fields(
                file, self.what, at + 4 * i, [(0, 2, "column id"), (2, 2, "column width")]
            )
            table.append((entry.position, entry["column id"], entry["column width"]))
        self.check_column_table(table, defined)
        expected = up(
            PAGE_HEADER + sum(4 + rows * width for _, _, width in table) + f["heap length"]
        )
        if expected != f["length"]:
            file.fail(
                "R-PG-3",
                f.at("length"),
                f"{self.what}: length {f['length']}, {expected} by rows, columns and heap",
            )
        self.columns = {}  # name: (values, offset of the first value, width)
        self.ids = [id_ for _, id_, _ in table]
        data_at = at + 4 * len(table)
        for entry_at, id_, width in table:
            raw = file.data[data_at : data_at + rows * width]
            values = [
                int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)
            ]
            smallest = (max(values).bit_length() + 7) // 8
            if smallest == 0 or width != 16 and smallest != width:
                file.remark(
                    "R-PG-7",
                    entry_at,
                    f"{self.what}: column {id_} has width {width}, its values need {smallest}",
                )
            name = COLUMNS.get(id_, f"column {id_}")
            self.columns[name] = (values, data_at, width)
            shown = " ".join(f"{v:#0{2 * width + 2}x}" if width >= 8 else str(v) for v in values)
            file.trace(data_at, len(raw), self.what, "column " + name, shown)
            data_at += len(raw)
        self.heap_at = data_at
        file.check_zero("R-PG-5", data_at + f["heap length"], end, (self.what, "padding"))

    def check_column_table(self, table, defined):
        """Checks R-PG-6 and R-PG-15 to R-PG-17."""
        file, previous = self.file, 0
        for entry_at, id_, width in table:
            known = id_ in COLUMNS
            rule = None
            if id_ <= previous:
                rule = "R-PG-6"
            elif known and id_ not in defined:
                rule = "R-PG-15"
            elif width != 16 if id_ in WIDE_COLUMNS else not 1 <= width <= 8 and not (width == 16 and may_be_wide(id_)):
                rule = "R-PG-16"
            if rule:
                file.fail(rule, entry_at, f"{self.what}: column {id_} of width {width}")
            if id_ & CRITICAL_FOR_WRITING and not known:
                self.critical_for_writing = True
                file.writable = file.writable and self.magic in (b"INDX", b"DMAP", b"STAT", b"TAGS")
            if id_ & CRITICAL_FOR_READING and not known:
                file.refuse(
                    "R-PG-17", entry_at, f"{self.what}: column {id_} is critical and unknown"
                )
                file.writable = file.writable and self.magic == b"DMAP"
                raise Damaged
            previous = id_

    def read_names(self, named):
        file, rows, length = self.file, self.fields["rows"], self.fields["heap length"]
        ends = self.columns["name end"][0] if named and "name end" in self.columns else [0] * rows
        self.names, start = [], 0
        for row, stop in enumerate(ends):
            if stop < start or stop > length:
                file.fail(
                    "R-IX-1",
                    self.at("name end", row),
                    f"{self.what}: name end {stop} after {start} in a heap of {length}",
                )
            if stop - start > 65535:
                file.find("R-IX-3", self.heap_at + start, f"{self.what}: a name of {stop - start} bytes")
            self.names.append(
                (bytes(file.data[self.heap_at + start : self.heap_at + stop]), self.heap_at + start)
            )
            start = stop
        self.bytes_at, end = self.heap_at + start, 0
        self.bytes = []  # the bytes of each row (column 53)
        for row in range(rows):
            stop = self.value("bytes end", row)
            if stop < end or start + stop > length:
                file.fail("R-IX-1", self.at("bytes end", row), f"{self.what}: bytes end {stop} after {end}")
            self.bytes.append(bytes(file.data[self.bytes_at + end : self.bytes_at + stop]))
            end = stop
        if start + end != length:
            file.fail(
                "R-IX-1",
                self.at("bytes end" if "bytes end" in self.columns else "name end", rows - 1),
                f"{self.what}: the last name ends at {start}, the last bytes at {end}, the heap is {length} long",
            )
        if length:
            file.trace(self.heap_at, length, self.what, "heap", b"|".join(n for n, _ in self.names))

    def check_later_places(self):
        """Checks R-PG-20."""
        numbers = {(id_ - 256) // 3 for id_ in self.ids if id_ in LATER_PLACES}
        for number in sorted(numbers):
            names = [f"column {256 + 3 * number + i}" for i in range(3)]
            for row in range(self.fields["rows"]):
                place = tuple(self.value(name, row) for name in names)
                if any(place):
                    what = f"{self.what}: place {number} of a later version"
                    try:
                        check_place(self.file, "R-PG-20", place, self.at(names[0], row), what)
                    except Damaged:
                        pass  # the page itself can be read

    def check_states(self):
        """Checks R-PG-9 and R-PG-18."""
        file = self.file
        for number in range(1, self.fields["rows"]):
            if self.value("state", number) == 1:
                file.find("R-PG-9", self.at("state", number), f"{self.what}: a page before in row {number}")
        for number in range(self.fields["rows"] if self.magic == b"GROW" else 0):
            if self.value("state", number) > 1:
                file.find("R-PG-9", self.at("state", number), f"{self.what}: state {self.value('state', number)}")
        first = self.row(0)
        if first["state"] == 1 and first["position"] >= self.position:
            file.find("R-PG-18", first.at("position"), f"{self.what}: the page before lies at {first['position']}")

    def value(self, name, row):
        return self.columns[name][0][row] if name in self.columns else 0

    def at(self, name, row):
        """Returns the offset of a value, or the page's position if the page leaves the column out."""
        if name not in self.columns:
            return self.position
        _, first, width = self.columns[name]
        return first + row * width

    def row(self, row):
        return Row(self, row)


def may_be_wide(id_):
    """Returns whether a column may have a width of 16: it is unknown and holds no place (R-PG-16)."""
    return id_ not in COLUMNS and id_ not in LATER_PLACES


def chain_of_pages(file, what, magic, place, at, most=None):
    """Yields the pages of a file table, of growth or of dead space, the newest page first.

    place: the place in the superblock, which leads to the newest page.
    """
    position, length, sum_ = place
    if position == 0 or length == 0:
        file.fail("R-SB-9", at, f"{what}: position {position}, length {length}")
    parent_sum, generation, first_at = None, None, at

    def check_sum(page):
        if sum64(page.raw) != sum_:
            file.fail("R-SB-9", first_at, f"the sum of the {what} is not right")

    for number in itertools.count():
        if number == most:
            file.fail("R-GR-4", at, f"{what}: more than {most} pages")
        ahead = None if number else check_sum
        page = Page(file, what, magic, (position, length), at, 0, parent_sum=parent_sum, ahead=ahead)
        page.check_states()
        of_page = page.fields["generation"]
        if number and magic == b"DEAD" and of_page >= generation:
            file.find("R-DS-1", page.fields.at("generation"), f"generation {of_page} after {generation}")
        elif number and of_page > generation:
            file.find("R-PG-19", page.fields.at("generation"), f"{what}: a page before of a later generation")
        yield page
        before = page.row(0)
        if before["state"] != 1:
            return
        if before["position"] >= page.position:
            raise Damaged  # R-PG-18 is reported
        position, length, parent_sum = (before[name] for name in ("position", "stored length", "sum"))
        at, generation = before.at("position"), of_page


class Row:
    statistics = None  # in the entry of a block: the rows of statistics that were checked, by name of the variable
    grown = {}  # in the entry of a block with growth rows: records and extent length including these rows

    def __init__(self, page, row):
        self.page, self.number = page, row
        self.name, self.name_at = page.names[row]

    def __getitem__(self, name):
        return self.grown[name] if name in self.grown else self.page.value(name, self.number)

    def at(self, name):
        return self.page.at(name, self.number)

    def place(self, name):
        return tuple(self[f"{name} {part}"] for part in PLACE)


# --- 7. Index --------------------------------------------------------------------------------------


def read_index(file):
    sb = file.superblock
    file.last_name = None
    file.orders = set()

    def check_digest(page):
        check_run(file, page)
        if digest128(page.raw) != sb["root digest"]:
            file.fail("R-SB-20", sb.at("root digest"), "the root digest is not right")

    root = None
    totals = dict.fromkeys(TOTALS, 0)
    if sb["root position"] and sb["root length"] and 1 <= sb["height"] <= MAX_HEIGHT:
        try:
            root = Page(
                file,
                "root",
                b"INDX",
                (sb["root position"], sb["root length"]),
                sb.at("root position"),
                sb["height"] - 1,
                max_rows=file.index_rows,
                ahead=check_digest,
            )
            totals = page_totals(root)
            if sb["needs"] != page_needs(root):
                file.find(
                    "R-SB-21", sb.at("needs"), f"needs {sb['needs']:#x}, the root's rows have {page_needs(root):#x}"
                )
            read_index_page(file, root, None, None)
        except Damaged:
            file.everything_walked = False
            return
    else:
        file.index_whole = sb["height"] == 0 and sb["root position"] == 0
        file.everything_walked = file.everything_walked and file.index_whole
    if sb["height"] == 0 and sb["needs"]:
        file.find("R-SB-21", sb.at("needs"), f"needs {sb['needs']:#x} without blocks")
    for order, rows in file.growth.items():
        if file.index_whole:
            file.find("R-GR-5", rows[0].at("order"), f"growth of order {order}, which no block has")
    if root is None and sb["height"]:
        return
    records_known = not any(sb.place("growth")) or file.growth_whole and file.index_whole and not file.growth
    totals["records"] += file.grown_records
    for name in TOTALS:
        if name == "records" and root and not records_known:
            continue
        if totals[name] != sb[name] or totals[name] > LIMIT:
            file.find(
                "R-SB-8",
                sb.at(name),
                f"{name}: {sb[name]}, the root's rows sum up to {totals[name]}",
            )
    file.totals = totals


def check_run(file, page):
    """Checks R-SB-15 for a page whose bytes are in the file."""
    sb = file.superblock
    start, length = sb["index position"], sb["index length"]
    if start and length and not start <= page.position <= page.position + len(page.raw) <= start + length:
        file.remark(
            "R-SB-15",
            sb.at("index position"),
            f"{page.what} at {page.position} lies outside of the run of {length} bytes at {start}",
        )


def page_needs(page):
    needs = 0
    for row in range(page.fields["rows"]):
        needs |= page.value("needs", row)
    return needs


def page_totals(page):
    rows = range(page.fields["rows"])
    totals = {name: sum(page.value(name, row) for row in rows) for name in TOTALS}
    if page.fields["level"] == 0:
        totals["blocks"] = len(rows)
    return totals


def read_index_page(file, page, low, high):
    """Reads a page of the index and everything below it.

    low, high: (separator, offset) that limit the names below this page.
    """
    rows = [page.row(i) for i in range(page.fields["rows"])]
    check_names(file, page, rows, low, high)
    if page.critical_for_writing:
        # If a block changes, its row in each node above it changes too. A new block adds a row to the only leaf.
        all_leads_here = page.fields["level"] > 0 or file.superblock["height"] == 1
        file.untouchable |= {b"*"} if all_leads_here else {row.name for row in rows}
    for i, row in enumerate(rows):
        try:
            if page.fields["level"] == 0:
                read_entry(file, row)
                continue
            bounds = (row.name, row.name_at), (
                rows[i + 1].name,
                rows[i + 1].name_at,
            ) if i + 1 < len(rows) else high
            level = page.fields["level"] - 1
            what = f"node of level {level}" if level else "leaf"
            child = Page(
                file,
                what,
                b"INDX",
                (row["position"], row["stored length"]),
                row.at("position"),
                level,
                max_rows=file.index_rows,
                parent_sum=row["sum"],
                ahead=lambda child: check_run(file, child),
            )
            if row["needs"] != page_needs(child):
                file.find(
                    "R-IX-14",
                    row.at("needs"),
                    f"needs below the child: {row['needs']:#x}, its rows have {page_needs(child):#x}",
                )
            for name, total in page_totals(child).items():
                if row[name] != total or total > LIMIT:
                    file.find(
                        "R-IX-5",
                        row.at(name),
                        f"{name} below the child: {row[name]}, its rows sum up to {total}",
                    )
            read_index_page(file, child, *bounds)
        except Damaged:
            file.everything_walked = file.index_whole = False


def check_names(file, page, rows, low, high):
    leaf = page.fields["level"] == 0
    last = file.last_name if leaf else None
    for row in rows:
        if last is not None and row.name <= last:
            file.find("R-IX-2", row.name_at, f"name {text(row.name)} behind {text(last)}")
        last = row.name
    if leaf:
        file.last_name = last
    if low and any(row.name < low[0] for row in rows):
        file.find("R-IX-4", low[1], f"separator {text(low[0])} is greater than a name below it")
    if high and any(row.name >= high[0] for row in rows):
        file.find(
            "R-IX-4",
            high[1],
            f"separator {text(high[0])} is not greater than a name below the child before",
        )


def text(name):
    return json.dumps(name[:200].decode("utf-8", "backslashreplace"))




def unsupported_needs(entry):
    """Returns the needs that this reader does not know (section 13)."""
    return entry["needs"] & ~choosing.KNOWN["needs"]


def read_entry(file, entry):
    """Reads the entry, the block and the values of one leaf row."""
    told = len(file.findings)
    entry.pieces, entry.used_needs = None, 0
    entry.growth_rows = file.growth.pop(entry["order"], [])
    if entry.growth_rows:
        last = entry.growth_rows[-1]
        records, end = max(last["records"], entry["records"]), end_of(last)
        file.grown_records += records - entry["records"]
        grown = {"records": records, "extent length": max(end, entry["extent length"])}
    check_order(file, entry)
    check_block_name(file, entry)
    if any(f.is_original and f.row["order"] == entry["order"] for f in file.files or []):
        file.blocks_of_originals[entry.name] = entry["order"]
    if file.statistics_stay and entry["order"] in file.statistics:
        file.untouchable.add(entry.name)
    if unsupported_needs(entry):
        read_unsupported(file, entry)
    else:
        check_entry(file, entry)
        header, body, metadata_known = read_block(file, entry)
        if header:
            file.blocks.append((entry, header, body))
        pieces = read_extent(file, entry, header)
        more = read_grown_pieces(file, entry, header, body)
        entry.pieces = None if pieces is None or more is None else pieces + more
        if entry.pieces is None:
            file.untouchable.add(entry.name)
        check_needs(file, entry)
        sound = len(file.findings) == told
        if metadata_known and not entry.growth_rows and file.tables_sound:
            sound = check_statistics(file, entry, body, told)
        if sound and metadata_known and not entry.growth_rows:
            check_file_digests(file, entry)
    if entry.growth_rows:
        entry.grown = grown


def end_of(row):
    """Returns the offset at which a row's piece ends, but at most the limit of section 16."""
    return min(row["logical offset"] + row["raw length"], LIMIT)


def read_unsupported(file, entry):
    """Checks only the sums of header, body and data map of an unsupported block (section 18.4)."""
    what = f"block {text(entry.name)}"
    bits = unsupported_needs(entry)
    file.refuse(
        "R-IX-10", entry.at("needs"), f"block {text(entry.name)}: not checked, it needs {bits:#x}"
    )
    file.everything_known = False
    file.untouchable.add(entry.name)
    try:
        claim_block(file, entry, what)
        header = read_block_header(file, entry["position"], body_end(entry), entry["sum"], what)
        file.blocks.append((entry, header, None))
        check_body_sum(file, entry, header, what)
    except Damaged:
        pass  # the finding is reported
    place = entry.place("data map")
    if place[0] and place[1]:
        read_map_sums(file, entry, place, entry["position"], entry.at("data map position"), None)


def read_map_sums(file, entry, place, owner, at, level):
    what = f"data map of {text(entry.name)}"
    try:
        page = Page(file, what, b"DMAP", place[:2], at, level, owner, file.map_rows, place[2])
    except Damaged:
        return
    for row in map(page.row, range(page.fields["rows"] if page.fields["level"] else 0)):
        child = row["position"], row["stored length"], row["sum"]
        read_map_sums(file, entry, child, owner, row.at("position"), page.fields["level"] - 1)


def check_needs(file, entry):
    """Checks R-IX-10."""
    used = entry.used_needs
    used |= {0: 0, 1: 1, 2: 3}.get(entry["codec"], 0) | (4 if entry["kind"] == 6 else 0)
    if used & ~entry["needs"]:
        file.find(
            "R-IX-10",
            entry.at("needs"),
            f"{text(entry.name)}: needs {entry['needs']:#x}, the block uses {used:#x}",
        )


def check_order(file, entry):
    order, limit = entry["order"], file.superblock["next order"]
    if order >= limit:
        file.find("R-IX-7", entry.at("order"), f"{text(entry.name)}: order {order}, expected less than {limit}")
    elif order in file.orders:
        file.find("R-IX-15", entry.at("order"), f"{text(entry.name)}: order {order} is taken")
    file.orders.add(entry["order"])


def check_entry(file, entry):
    if entry["flags"] & ~1:
        file.find("R-IX-6", entry.at("flags"), f"{text(entry.name)}: flags {entry['flags']:#x}")
    if entry["flags"] & 1:
        if entry["extent length"] == 0:
            file.find("R-IX-11", entry.at("flags"), f"{text(entry.name)}: a hole of no bytes")
        for name in ("extent position", "extent sum", "data map position"):
            if entry[name]:
                file.find(
                    "R-IX-12",
                    entry.at(name),
                    f"{text(entry.name)}: a hole with {name} {entry[name]}",
                )
    if (
        entry["extent length"] > file.piece_size
        and not entry["flags"] & 1
        and not entry["data map position"]
    ):
        file.find(
            "R-IX-8",
            entry.at("data map position"),
            f"{text(entry.name)}: an extent of {entry['extent length']} bytes without data map",
        )
    if entry["file digest"] and entry["kind"] == 6:
        file.find("R-OD-2", entry.at("file digest"), f"{text(entry.name)}: a file digest in a block of kind 6")
    if any(sha256_of(entry)) and not entry["file digest"]:
        file.find("R-OD-4", entry.at("file SHA-256 begin"), f"{text(entry.name)}: a SHA-256 without a file digest")
    place = entry.place("data map")
    if any(place) and not (place[0] and place[1]):
        file.find(
            "R-IX-13",
            entry.at("data map position"),
            f"{text(entry.name)}: data map at {place[0]} of {place[1]} bytes",
        )


# --- 8. Blocks -------------------------------------------------------------------------------------

BLOCK = fields_of(
    """
    0    8  magic
    8    1  version
    9    1  codec
    10   2  kind
    12   2  flags
    14   2  name length
    16  16  file id
    32   8  own position
    40   8  generation
    48   8  stored length
    56   8  raw length
    64   8  extent position
    72   8  extent length
    80   8  extent sum
    88   8  records
    96   8  samples
    104  8  order
    112 16  digest
    128  8  body sum
    136  8  stamp
    144  8  sum
    """
)
BLOCK_HEADER = 152
BLOCK_MAGIC = b"\x89NMBBLCK"
TOMBSTONE, HOLE, MAP = 1, 2, 4
KIND_OF_A_DICTIONARY = 255


def read_block_header(file, position, end, parent_sum, what):
    """Returns the fields of a block header, after checking magic, version and sum.

    end: the end of the block, whose bytes are in the file.
    """
    raw = file.data[position : position + BLOCK_HEADER]
    if raw[:8] != BLOCK_MAGIC or raw[8] != 1:
        file.everything_walked = False
        file.fail("R-BK-1", position, f"{what}: magic and version are {raw[:9].hex(' ')}")
    f = Fields(file, what, position, BLOCK)
    f.fits = True  # the header agrees with the entry, so the body can be read
    f.body_at = position + BLOCK_HEADER + up(f["name length"])
    covered = raw[:144] + file.data[position + BLOCK_HEADER : f.body_at]
    if (
        f.body_at > end
        or f["sum"] != sum64(covered)
        or parent_sum not in (None, f["sum"])
    ):
        file.everything_walked = False
        file.fail(
            "R-BK-2",
            position,
            f"{what}: the header's sum is not right or not the one in its parent",
        )
    return f


def check_block_header(file, f, expected, name, what):
    """Checks R-BK-3 to R-BK-5 and R-BK-14 to R-BK-18 for header and name. expected: the value that each field must have."""
    position = f.position
    if f["generation"] == file.superblock["generation"]:
        expected = {**expected, "stamp": file.superblock["stamp"]}
    own = {"file id": "R-BK-14", "own position": "R-BK-15", "stamp": "R-BK-17"}
    for field, value in {"file id": file.file_id, "own position": position, **expected}.items():
        if f[field] != value:
            file.find(own.get(field, "R-BK-3"), f.at(field), f"{what}: {field} is {f[field]}, expected {value}")
            f.fits = f.fits and field in ("file id", "own position", "samples", "order", "stamp")
    if not 1 <= f["generation"] <= file.superblock["generation"]:
        file.find(
            "R-BK-16",
            f.at("generation"),
            f"{what}: generation {f['generation']}, expected 1 to {file.superblock['generation']}",
        )
    stored_name = bytes(
        file.data[position + BLOCK_HEADER : position + BLOCK_HEADER + f["name length"]]
    )
    file.trace(position + BLOCK_HEADER, len(stored_name), what, "name", stored_name)
    if stored_name != name:
        file.find(
            "R-BK-3",
            position + BLOCK_HEADER if len(stored_name) == len(name) else f.at("name length"),
            f"{what}: name {text(stored_name)}, expected {text(name)}",
        )
        f.fits = f.fits and len(stored_name) == len(name)
    if f["flags"] & ~(TOMBSTONE | HOLE | MAP) and not file.unknown_features:
        file.find("R-BK-4", f.at("flags"), f"{what}: flags {f['flags']:#x}")
    if f["flags"] & TOMBSTONE:
        file.find("R-BK-18", f.at("flags"), f"{what}: a tombstone")
    file.check_zero(
        "R-BK-5",
        position + BLOCK_HEADER + f["name length"],
        f.body_at,
        (what, "padding of the name"),
    )


def body_start(entry):
    return entry["position"] + BLOCK_HEADER + up(len(entry.name))


def body_end(entry):
    return body_start(entry) + up(entry["stored length"])


def claim_block(file, entry, what):
    """Claims the bytes of a block, as the entry gives them."""
    file.claim(entry["position"], body_end(entry) - entry["position"], what, entry.at("position"))


def check_body_sum(file, entry, header, what):
    """Checks R-BK-6."""
    if sum64(file.data[body_start(entry) : body_end(entry)]) != header["body sum"]:
        file.fail("R-BK-6", body_start(entry), f"{what}: the body sum is not right")


def read_block(file, entry):
    """Reads a block (section 8).

    Returns (fields of the block header or None, decoded body or None, whether R-BK-1 to R-BK-12 hold).
    """
    told, header = len(file.findings), None
    try:
        what = f"block {text(entry.name)}"
        claim_block(file, entry, what)
        header = read_block_header(file, entry["position"], body_end(entry), entry["sum"], what)
        body = entry.raw_body = read_stored_body(file, entry, header, what)
        c = read_body(file, entry, header, body, what)
        return header, c, c is not None and len(file.findings) == told
    except Damaged:
        return header if header and header.fits else None, None, False


def read_stored_body(file, entry, header, what):
    fields = ("kind", "codec", "stored length", "raw length", "digest", "samples", "order")
    check_block_header(file, header, {name: entry[name] for name in fields}, entry.name, what)
    at, stored, raw = header.body_at, header["stored length"], header["raw length"]
    if header["kind"] not in (1, 2, 5, 6):
        file.find("R-BK-7", header.at("kind"), f"{what}: kind {header['kind']}")
        header.fits = False
    if header["codec"] > 2 or header["codec"] == 2 and file.dictionary is None:
        file.find("R-BK-19", header.at("codec"), f"{what}: codec {header['codec']}")
        header.fits = False
    if not header.fits:
        file.everything_walked = False
        raise Damaged
    check_body_sum(file, entry, header, what)
    file.check_zero("R-BK-5", at + stored, at + up(stored), (what, "padding of the body"))
    body = decode(file, header["codec"], file.data[at : at + stored], raw)
    if isinstance(body, str):
        file.fail("R-BK-8", at, f"{what}: {body}")
    if digest128(body) != header["digest"]:
        file.fail("R-BK-9", at, f"{what}: the digest of the body is not right")
    return body


def scan_blocks(file):
    """Finds block headers without the index (section 19). Returns {name: (position, generation)} of the headers that win."""
    newest = {}
    at = file.data.find(BLOCK_MAGIC)
    while at >= 0:
        f = Fields(file, None, at, BLOCK)
        name_at = at + BLOCK_HEADER
        name = file.data[name_at : name_at + up(f["name length"])]
        if (
            at % 8 == 0
            and f["version"] == 1
            and f["own position"] == at
            and f["file id"] == file.file_id
            and 1 <= f["generation"] <= file.superblock["generation"]
            and f["kind"] != KIND_OF_A_DICTIONARY
            and f["sum"] == sum64(file.data[at : at + BLOCK_HEADER - 8] + name)
        ):
            live = not f["flags"] & TOMBSTONE
            rank = (f["generation"], live)
            name = bytes(name[: f["name length"]])
            newest[name] = max(newest.get(name, ((0, False), 0)), (rank, at))
        at = file.data.find(BLOCK_MAGIC, at + 1)
    return {
        name: (position, generation)
        for name, ((generation, live), position) in newest.items()
        if live
    }


class ScannedPage:
    """A page that is found without its parent. `sound` means that it is complete and belongs to this file."""

    def __init__(self, file, at):
        f = self.fields = Fields(file, None, at, PAGE)
        self.position, data, end = at, file.data, at + f["length"]
        self.sound = (
            at % 8 == 0
            and PAGE_HEADER <= f["length"] <= file.file_length - at
            and f["version"] == 1
            and (f["own position"], f["file id"]) == (at, file.file_id)
            and 1 <= f["generation"] <= file.superblock["generation"]
            and f["sum"] == sum64(data[at : at + 80] + data[at + 88 : end])
        )

    def rows(self, file, *names):
        """Returns the values of these columns, row by row."""
        f, columns = self.fields, {}
        at = self.position + PAGE_HEADER
        table = [struct.unpack_from("<HH", file.data, at + 4 * i) for i in range(f["columns"])]
        at += 4 * len(table)
        for id_, width in table:
            raw = file.data[at : at + f["rows"] * width]
            columns[COLUMNS.get(id_)] = [
                int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)
            ]
            at += len(raw)
        return list(zip(*(columns.get(name, [0] * f["rows"]) for name in names)))


def scan_pages(file, magic):
    at = file.data.find(b"\x89NMB" + magic)
    while at >= 0:
        page = ScannedPage(file, at)
        if page.sound:
            yield page
        at = file.data.find(b"\x89NMB" + magic, at + 1)


def scan_values(file, blocks):
    """Finds values of the blocks that scan_blocks() found, without the index (section 19).

    Returns {name: (data map position or 0, records, extent length)}. Records are None if only the body has them.
    """
    maps, led_to, out = {}, set(), {}
    for page in scan_pages(file, b"DMAP"):
        maps.setdefault(page.fields["owner"], {})[page.position] = page
        if page.fields["level"]:
            led_to |= {position for position, in page.rows(file, "position")}
    growth = sorted(scan_pages(file, b"GROW"), key=lambda p: (p.fields["generation"], p.position))
    rows = {}  # growth rows by order: (generation, logical offset, raw length, records)
    for page in growth:
        for state, order, *row in page.rows(file, "state", "order", "logical offset", "raw length", "records"):
            if state == 0:
                rows.setdefault(order, []).append((page.fields["generation"], *row))
    for name, (position, generation) in blocks.items():
        header = Fields(file, None, position, BLOCK)
        mine = maps.get(position, {})
        roots = [page for at, page in mine.items() if at not in led_to]
        root = max(roots, key=lambda p: (p.fields["generation"], p.position), default=None)
        length, records = header["extent length"], header["records"]
        if root:
            generation, leaf = root.fields["generation"], root
            while leaf.fields["level"]:
                leaf = mine[leaf.rows(file, "position")[-1][0]]
            length = sum(leaf.rows(file, "logical offset", "raw length")[-1])
            records = records if length == header["extent length"] else None
        for of_generation, logical, raw, of_row in rows.get(header["order"], []):
            if of_generation >= generation and logical == length:
                length, records = logical + raw, of_row
        out[name] = root.position if root else 0, records, length
    return out


def read_body(file, entry, header, body, what):
    """Checks R-BK-10 to R-BK-12 and R-H5-1, and returns the decoded body.

    Returns None if the body is damaged or unsupported.
    """
    at = header.body_at
    trace = None
    if file.fields is not None and header["codec"] == 0:
        trace = lambda offset, length, name, value: file.trace(
            at + offset, length, what + " body", name, value
        )
    try:
        if header["kind"] == 6 and body[:4] == b"CDF\6":
            c = extended.decode(body, trace)
        else:
            c = classic.decode(body, values_follow=False, trace=trace)
        if c.kind != header["kind"]:
            raise classic.ClassicError(
                "R-CH-1", 3, f"a header of kind {c.kind}, the block's is {header['kind']}"
            )
    except classic.ClassicError as error:
        file.find("R-BK-10", at, f"{what}: breaks {error.rule} at its byte {error.offset}: {error}")
        return None
    except extended.Unsupported as reason:
        file.refuse("R-BK-10", at, f"{what}: {reason}")
        file.untouchable.add(entry.name)
        return None
    if c.extension and c.extension.critical_for_writing:
        file.untouchable.add(entry.name)
    counts = {
        "dimensions": len(c.dimensions),
        "variables": sum(not extended.is_dimension_only(c.extension, v) for v in c.variables),
        "attributes": len(c.attributes) + sum(len(v.attributes) for v in c.variables),
    }
    for name, count in counts.items():
        if entry[name] != count:
            file.remark(
                "R-BK-11", entry.at(name), f"{what}: {name} is {entry[name]}, the body has {count}"
            )
    wrong = wrong_length(c, header, entry["records"], entry["extent length"])
    if wrong:
        rule, field, reason = wrong
        file.find(rule, entry.at(field), f"{what}: {reason}")
    if c.extension:
        try:
            c.extension.properties = extended.read_properties(c.extension.hdf5)
        except extended.BrokenValue as error:
            file.find("R-H5-1", at, f"{what}: {error}")
        else:
            check_undecoded(file, entry, c, at, what)
    return c


def check_undecoded(file, entry, c, at, what):
    """Checks R-H5-2. A block comes before the blocks below it."""
    parts = entry.name.split(b"/") if entry.name else []
    above = [b"/".join(parts[:n]) for n in range(len(parts) + 1)]
    orders = [file.blocks_of_originals[name] for name in above if name in file.blocks_of_originals]
    has_original = file.files is None or any(order <= entry["order"] for order in orders)
    for number, owner, _, filter_number in c.extension.properties:
        if number == extended.UNDECODED and owner < len(c.variables) and not (has_original and filter_number):
            file.remark("R-H5-2", at, f"{what}: no original has the values of {text(c.variables[owner].name)}")


def wrong_length(c, header, records, length):
    """Checks R-BK-12, R-BK-20 and R-BK-21. Returns (rule, field of the entry, what is wrong), or None."""
    if c.record_dimension is None and records != fixed_records(c):
        return "R-BK-12", "records", f"{records} records without record dimension, expected {fixed_records(c)}"
    if records > header["records"] and c.record_size:
        end = c.record_begin + records * c.record_size - c.base
        if length != end:
            return "R-BK-21", "extent length", f"extent of {length} bytes, {records} records end at {end}"
    elif length < c.values_end(records) - c.base:
        need = c.values_end(records) - c.base
        return "R-BK-20", "extent length", f"extent of {length} bytes, the values of {records} records need {need}"
    return None


def fixed_records(c):
    """Returns the records of a block without record dimension: the length of the first dimension that may grow."""
    unlimited = c.extension.unlimited if c.extension else ()
    return c.dimensions[min(unlimited)].length if unlimited else 0


# 10.5 Digests of classic files


def sha256_of(entry):
    return b"".join(entry[f"file SHA-256 {half}"].to_bytes(16, "little") for half in ("begin", "end"))


def check_file_digests(file, entry):
    """Checks R-OD-1, R-OD-3 and R-OD-5. Call this if nothing is reported about the block and its values."""
    if not entry["file digest"] or entry["kind"] == 6 or entry["extent length"] > MAX_BODY:
        return
    what = f"block {text(entry.name)}"
    if entry.pieces is None or any(piece.file_number and piece.data is None for piece in entry.pieces):
        return
    if any(not piece.position and not piece.file_number for piece in entry.pieces):
        file.find("R-OD-5", entry.at("file digest"), f"{what}: a file digest and holes")
        return
    content = entry.raw_body + bytes(stretch(file, entry, 0, entry["extent length"], b"\0"))
    if digest128(content) != entry["file digest"]:
        file.find("R-OD-1", entry.at("file digest"), f"{what}: the file digest is not right")
    if any(sha256_of(entry)) and hashlib.sha256(content).digest() != sha256_of(entry):
        file.find("R-OD-3", entry.at("file SHA-256 begin"), f"{what}: the file SHA-256 is not right")


# 8.2 Codecs


EXPANSION = 131072
MAX_WINDOW = 2**27


def decode(file, codec, stored, raw_length):
    """Returns the decoded bytes, or a text that says what is wrong."""
    if codec == 0:
        return (
            stored
            if len(stored) == raw_length
            else f"stored length {len(stored)}, raw length {raw_length}"
        )
    if raw_length > EXPANSION * len(stored):
        return f"raw length {raw_length}, more than {EXPANSION} times {len(stored)}"
    if raw_length > MAX_BODY:
        return f"raw length {raw_length} is more than this reader takes"
    try:
        if zstd_frame_length(stored) != len(stored):
            return "not one zstd frame"
        frame = zstandard.get_frame_parameters(stored)
        dictionary = zstandard.ZstdCompressionDict(file.dictionary) if codec == 2 else None
        if frame.dict_id not in (0, dictionary.dict_id() if dictionary else 0):
            return f"zstd: a frame for dictionary {frame.dict_id}"
        if frame.window_size > MAX_WINDOW:
            return f"zstd: a window of {frame.window_size} bytes"
        if frame.content_size not in (raw_length, zstandard.CONTENTSIZE_UNKNOWN):
            return f"zstd: content of {frame.content_size} bytes, raw length {raw_length}"
        stream = zstandard.ZstdDecompressor(
            dict_data=dictionary, max_window_size=MAX_WINDOW
        ).stream_reader(io.BytesIO(stored))
        raw = stream.read(raw_length + 1)
    except (zstandard.ZstdError, ValueError, struct.error, MemoryError) as error:
        return f"zstd: {error}"
    return (
        raw
        if len(raw) == raw_length
        else f"decodes to {'more' if len(raw) > raw_length else len(raw)} bytes, raw length {raw_length}"
    )


def zstd_frame_length(data):
    """Returns the length of a zstd frame: header, all blocks, checksum (RFC 8878, section 3.1.1)."""
    if data[:4] != b"\x28\xb5\x2f\xfd":
        raise ValueError("no frame")
    at = zstandard.frame_header_size(data)
    while True:
        header = int.from_bytes(data[at : at + 3].ljust(3, b"\1"), "little")
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        if header & 1:
            return at + (4 if zstandard.get_frame_parameters(data).has_checksum else 0)
        if at >= len(data):
            raise ValueError("the frame is cut")


# 8.3 Dictionary


def read_dictionary(file):
    sb = file.superblock
    position, length, sum_ = place = sb.place("dictionary")
    if not any(place):
        file.check_zero("R-BK-23", 12288, 16384, ("file", "no dictionary"))
        return
    at = sb.at("dictionary.position")
    if not position or not length:
        file.find("R-SB-9", at, f"dictionary at {position} of {length} bytes")
        return
    if length > 4096:
        file.everything_walked = False
        file.find("R-BK-13", position, f"a dictionary of {length} bytes")
        return
    file.trace(12288, length, "file", "dictionary", b"")
    file.check_zero("R-BK-23", 12288 + length, 16384, ("file", "behind the dictionary"))
    file.dictionary = copy = bytes(file.data[12288 : 12288 + length])
    right = sum64(copy) == sum_
    with file.outside_core() if right else contextlib.nullcontext():
        try:
            body = read_dictionary_block(file, position, length, at, copy)
        except Damaged:
            body = None
    if right:
        return
    if body is not None and sum64(body) == sum_:
        file.dictionary = body
    else:
        file.find("R-SB-9", at, "no copy of the dictionary has the sum that the superblock has")


def read_dictionary_block(file, position, length, at, copy):
    """Checks the copy of the dictionary in its block."""
    what = "dictionary block"
    end = position + BLOCK_HEADER + up(length)
    file.claim(position, end - position, what, at)
    header = read_block_header(file, position, end, None, what)
    check_block_header(file, header, {}, b"", what)
    expected = dict.fromkeys(("codec", "order", "samples", "records"), 0)
    expected |= dict.fromkeys(("extent position", "extent length", "extent sum"), 0)
    expected |= {"kind": KIND_OF_A_DICTIONARY, "stored length": length, "raw length": length}
    wrong = {name: header[name] for name in expected if header[name] != expected[name]}
    if wrong or header["flags"] & (HOLE | MAP):
        file.find("R-BK-13", position, f"{what}: flags {header['flags']}, {wrong}")
    if not header.fits or {"codec", "kind", "stored length", "raw length"} & set(wrong):
        raise Damaged
    body = bytes(file.data[header.body_at : header.body_at + length])
    if sum64(file.data[header.body_at : end]) != header["body sum"]:
        file.find("R-BK-6", header.body_at, f"{what}: the body sum is not right")
        return body
    file.check_zero("R-BK-5", header.body_at + length, end, (what, "padding of the body"))
    if digest128(body) != header["digest"]:
        file.find("R-BK-9", header.body_at, f"{what}: the digest of the body is not right")
    elif body != copy:
        file.find("R-BK-22", position, f"{what}: another body than the bytes at 12288")
    return body


# 8.4 Names


def check_block_name(file, entry):
    if not entry.name:
        return
    if b"\0" in entry.name or any(part in (b"", b".", b"..") for part in entry.name.split(b"/")):
        file.find("R-NM-1", entry.name_at, f"name {text(entry.name)}")


# --- 9. Sections -----------------------------------------------------------------------------------

SECTION = [(0, 2, "type"), (2, 2, "flags"), (4, 2, "version"), (6, 2, "codec"), (8, 8, "length")]


KNOWN_SECTIONS = {"global sections": {(1, 1), (9, 1)}}


def read_sections(file, position, length, what, on_critical):
    """Checks a sequence of sections. on_critical(writing_only) is called for each unknown critical section."""
    at, end = position, position + length
    while at < end:
        if end - at < 16:
            file.find("R-SC-1", at, f"{what}: {end - at} bytes left, no section fits")
            return
        section = Fields(file, what, at, SECTION)
        known = (section["type"], section["version"]) in KNOWN_SECTIONS.get(what, ()) and not section["codec"]
        if section["flags"] & 2 and not known:
            on_critical(writing_only=True)
        if section["flags"] & 1 and not known:
            on_critical(writing_only=False)
            file.refuse("R-SC-3", at, f"{what}: section of type {section['type']} is critical and unknown")
        if section["flags"] & ~3 and not file.unknown_features:
            file.find(
                "R-SC-1",
                at,
                f"{what}: section of type {section['type']} has flags {section['flags']:#x}",
            )
        stop = at + 16 + up(section["length"])
        if stop > end:
            file.find(
                "R-SC-1",
                at,
                f"{what}: section of {section['length']} bytes, {end - at - 16} are left",
            )
            return
        padding = file.data[at + 16 + section["length"] : stop]
        if padding.strip(b"\0"):
            file.find("R-SC-1", at, f"{what}: padding that is not zero")
        file.trace(
            at + 16,
            section["length"],
            what,
            "payload",
            bytes(file.data[at + 16 : at + 16 + section["length"]]),
        )
        at = stop


# 9.2 Tables of statistics and tags


def read_table(file, name):
    """Reads all trees of a table and returns {order: {name: row}} of the rows that count."""
    sb, counting, taken = file.superblock, {}, set()
    magic, mask = {"statistics": (b"STAT", 4), "tags": (b"TAGS", 8)}[name]
    place, at, parent_sum, above = sb.place(name), sb.at(name + ".position"), None, None
    if not any(place):
        return counting
    file.used_features["read-only compatible features"] |= mask
    if place[0] == 0 or place[1] == 0:
        file.fail("R-SB-9", at, f"{name}: position {place[0]}, length {place[1]}")

    def check_sum(page):
        if sum64(page.raw) != place[2]:
            file.fail("R-SB-9", at, f"the sum of the {name} is not right")

    for trees in itertools.count():
        if trees == tables.MOST_TREES:
            file.fail("R-TB-4", at, f"{name}: more than {trees} trees")
        ahead = None if trees else check_sum
        root = Page(file, name, magic, place[:2], at, None, max_rows=TABLE_ROWS, parent_sum=parent_sum, ahead=ahead)
        if above and root.position >= above.position:
            file.find("R-PG-18", at, f"{name}: the tree before lies at {root.position}")
        if above and root.fields["generation"] > above.fields["generation"]:
            file.find("R-PG-19", root.fields.at("generation"), f"{name}: a tree before of a later generation")
        pages = []
        whole = walk_table(file, root, magic, pages)
        leaves = [page for page in pages if page.fields["level"] == 0]
        rows = tables.rows_of(file, leaves, name)
        if not whole:
            raise Damaged
        for order in {row.order for row in rows if row.state != tables.BEFORE} - taken:
            for row in rows:
                if row.order == order and row.state == tables.ROW:
                    counting.setdefault(order, {})[row.name] = row
        taken |= {row.order for row in rows if row.state != tables.BEFORE}
        if name == "statistics" and trees == file.trees_taken and len(rows) <= 2 * file.rows_taken:
            file.trees_taken += 1
            file.rows_taken += len(rows)
            file.statistics_stay = file.statistics_stay or any(page.critical_for_writing for page in pages)
        before = leaves[0].row(0)
        if before["state"] != tables.BEFORE:
            return counting
        place = tuple(before[part] for part in ("position", "stored length", "sum"))
        at, parent_sum, above = before.at("position"), place[2], root


def walk_table(file, page, magic, pages):
    """Appends a page and all pages below it to `pages`. Returns False if some of these cannot be read."""
    pages.append(page)
    if page.fields["level"] == 0:
        return True
    whole, names = True, tables.names_of(page)
    for number in range(page.fields["rows"]):
        row = page.row(number)
        try:
            child = Page(
                file,
                page.what,
                magic,
                (row["position"], row["stored length"]),
                row.at("position"),
                page.fields["level"] - 1,
                max_rows=TABLE_ROWS,
                parent_sum=row["sum"],
            )
        except Damaged:
            whole = False
            continue
        if (names[number], row["order"]) != (child.names[0][0], child.value("order", 0)):
            file.find("R-TB-2", row.at("order"), f"{page.what}: a separator that is not the first row below")
        rows = child.fields["rows"]
        if child.fields["level"]:
            rows = sum(child.value("blocks", i) for i in range(rows))
        if rows != row["blocks"]:
            file.find("R-TB-7", row.at("blocks"), f"{page.what}: {row['blocks']} rows below a child that has {rows}")
        whole = walk_table(file, child, magic, pages) and whole
    return whole


def read_tables(file):
    file.statistics = {}
    for name in ("statistics", "tags"):
        told = len(file.findings)
        try:
            found = read_table(file, name)
            if name == "statistics":
                file.statistics, file.tables_sound = found, len(file.findings) == told
        except Damaged:
            file.everything_walked = False


def check_statistics(file, entry, c, told):
    """Checks R-ST-2 and, if nothing else has been reported about the block, R-ST-3.

    told: the number of findings before the block was read. Returns whether R-ST-3 was checked.
    """
    rows, variables = file.statistics.get(entry["order"], {}), {v.name: v for v in c.variables}
    entry.statistics = {}
    properties = c.extension.properties if c.extension else []
    fills = {p[1]: p[3].fill for p in properties if p[0] == extended.CREATION and p[2] == extended.NO_ATTRIBUTE}
    stray, of_variables = [], []
    for name, row in rows.items():
        v, what = variables.get(statistics.variable_of(name)), f"statistics of {text(entry.name)}: {name!r}"
        type_ = v and statistics.classic_type(c, v.type)
        if not v:
            stray += [(row, what)]
        elif not isinstance(row.decoded, statistics.Function) and (not type_ or type_[0] != row.row["kind"]):
            file.find("R-ST-2", row.row.at("order"), f"{what}: of another type")
        else:
            of_variables += [(row, v, what)]
    sound = len(file.findings) == told
    for row, what in stray:
        file.find("R-ST-2", row.row.at("order"), f"{what}: of no variable")
    for row, v, what in of_variables if sound else []:
        entry.statistics.setdefault(v.name, []).append(row.decoded)
        if isinstance(row.decoded, statistics.Function):
            continue
        raw = read_values(file, entry, c, v, properties)[0]
        if not statistics.is_counted(c, v):
            file.find("R-ST-3", row.row.at("order"), f"{what}: of a variable that is not counted")
        elif raw is not None and row.decoded != computed(entry, c, v, bytes(raw), fills.get(v.number), row.decoded):
            file.find("R-ST-3", row.row.at("order"), f"{what}: not those of its values")
    return sound


def computed(entry, c, v, raw, fill_set, stored):
    """Computes the row of statistics that a variable must have. stored: the row that it has."""
    if isinstance(stored, statistics.Row):
        return statistics.count(c, v, raw, fill_set, stored.histogram is not None)
    storage = c.extension and c.extension.storage.get(v.number)
    chunk = storage.chunk if storage and storage.kind == extended.CHUNKS else None
    return statistics.parts_of(c, v, raw, fill_set, shape_of(entry, c, v), chunk)


# --- 10. Values ------------------------------------------------------------------------------------


class Piece:
    def __init__(self, logical, raw, position=0, stored=0, codec=0):
        self.logical, self.raw, self.position, self.stored, self.codec = (
            logical,
            raw,
            position,
            stored,
            codec,
        )
        self.decoded = None  # decoded bytes of a coded piece, after it has been read
        self.file_number = 0
        self.original = False  # the piece lies in an original
        # Bytes of the other file that has the piece; None: the piece is in this file, or the other file cannot be read.
        self.data = None


def read_extent(file, entry, header):
    """Returns the pieces of an extent in order, or None if not all of them can be read. A hole has position 0."""
    length, name = entry["extent length"], text(entry.name)
    stored = length and not entry["flags"] & 1
    if entry["extent position"] and length == 0:
        file.find(
            "R-EX-7",
            entry.at("extent position"),
            f"{name}: extent position {entry['extent position']} of an empty extent",
        )
    if entry["extent sum"] and (entry["data map position"] or not stored):
        file.find(
            "R-EX-16",
            entry.at("extent sum"),
            f"{name}: an extent sum with a data map, or of an extent of which no byte is stored",
        )
    if entry["data map position"]:
        if not entry["data map length"]:
            file.everything_walked = False
            return None  # R-IX-8 is reported
        walk = MapWalk(f"data map of {name}", entry["position"])
        place = entry.place("data map")
        whole = walk_map(file, place, entry.at("data map position"), None, walk)
        pieces = walk.pieces
        entry.used_needs |= needs_of_pieces(file, pieces)
        if not whole:
            return None
        if walk.next != length:
            file.find(
                "R-EX-9",
                entry.at("extent length"),
                f"{name}: the data map ends at {walk.next}, the extent is {length} long",
            )
        run = all(p.position and not p.codec and p.file_number == 0 for p in pieces) and all(
            a.position + a.raw == b.position for a, b in zip(pieces, pieces[1:])
        )
        expected = pieces[0].position if run else 0
        if entry["extent position"] != expected:
            file.find(
                "R-EX-7",
                entry.at("extent position"),
                f"{name}: extent position {entry['extent position']}, expected {expected}",
            )
        if pieces[0].logical or any(a.logical + a.raw != b.logical for a, b in zip(pieces, pieces[1:])):
            return None  # R-EX-1 is reported
        return pieces
    if entry["flags"] & 1:
        return [Piece(0, length)] if length else []
    for field in ("extent position", "extent length", "extent sum"):
        if header and entry[field] != header[field]:
            file.find(
                "R-IX-9",
                entry.at(field),
                f"{name}: {field} {entry[field]}, {header[field]} in the block's header",
            )
    if length == 0:
        return []
    position = entry["extent position"]
    file.stamps.append((position, entry["extent sum"]))
    try:
        claim_values(file, position, length, f"extent of {name}", entry.at("extent position"))
    except Damaged:
        return None
    file.trace(
        position,
        length,
        f"extent of {name}",
        "values",
        bytes(file.data[position : position + min(length, 64)]),
    )
    if sum64(file.data[position : position + length]) != entry["extent sum"]:
        file.find("R-EX-6", position, f"{name}: the extent's sum is not right")
    return [Piece(0, length, position, length)]


def claim_values(file, position, length, what, placed_at):
    """Claims the bytes of an extent or of a stored piece with their padding, which must be zero (R-FL-4)."""
    file.claim(position, up(length), what, placed_at)
    file.check_zero("R-FL-4", position + length, position + up(length), (what, "padding"))


class MapWalk:
    """The pieces of a data map so far, and the offset at which the next piece must begin."""

    def __init__(self, what, owner, of_original=False):
        self.what, self.owner, self.of_original = what, owner, of_original
        self.pieces, self.next = [], 0
        self.taken = {}  # for each other file: the ranges that pieces take, in order

    def takes(self, file_number, begin, end):
        """Returns whether no earlier piece has bytes of this range of another file (R-EX-17)."""
        ranges = self.taken.setdefault(file_number, [])
        at = bisect.bisect_left(ranges, (begin, begin))
        if at > 0 and ranges[at - 1][1] > begin or at < len(ranges) and ranges[at][0] < end:
            return False
        ranges.insert(at, (begin, end))
        return True


def walk_map(file, place, at, level, walk):
    """Reads a page of a data map and everything below it. Returns False if some pages cannot be read."""
    try:
        page = Page(file, walk.what, b"DMAP", place[:2], at, level, walk.owner, file.map_rows, place[2])
    except Damaged:
        return False
    rows = [page.row(number) for number in range(page.fields["rows"])]
    if page.fields["level"] == 0:
        for row in rows:
            check_logical(file, row, walk)
            if walk.of_original:
                check_piece_of_an_original(file, row, walk.what)
            walk.pieces.append(read_piece(file, row, f"piece at {row['logical offset']}, {walk.what}", walk))
            walk.next = end_of(row)
        return True
    whole = True
    for row in rows:
        if whole:
            check_logical(file, row, walk)
        else:
            walk.next = row["logical offset"]  # after a lost page, continue with the next page
        child = row["position"], row["stored length"], row["sum"]
        whole = walk_map(file, child, row.at("position"), page.fields["level"] - 1, walk) and whole
    return whole


def check_logical(file, row, walk):
    if row["logical offset"] != walk.next:
        file.find(
            "R-EX-1",
            row.at("logical offset"),
            f"{walk.what}: logical offset {row['logical offset']}, expected {walk.next}",
        )


def read_piece(file, row, what, walk):
    raw, stored, position, codec = (
        row["raw length"],
        row["stored length"],
        row["position"],
        row["codec"],
    )
    start, size = row["logical offset"], file.piece_size
    if raw == 0:
        file.find("R-EX-14", row.at("raw length"), f"{what}: raw length {raw}")
    within = start + raw <= LIMIT
    if not within:
        file.find("R-EX-10", row.at("raw length"), f"{what}: an end at {start + raw}")
    if row["state"] > 1:
        file.find("R-EX-3", row.at("state"), f"{what}: state {row['state']}")
    if row.page.bytes[row.number]:
        file.find("R-EX-18", row.at("bytes end"), f"{what}: {len(row.page.bytes[row.number])} bytes of a row")
    if row["state"] == 1:
        for field in ("codec", "position", "stored length", "sum", "file number"):
            if row[field]:
                file.find("R-EX-13", row.at(field), f"{what}: a hole with {field} {row[field]}")
        return Piece(start, raw)
    piece = Piece(start, raw, position, stored, codec)
    piece.file_number = row["file number"]
    readable = not piece.file_number
    if piece.file_number and file.files is not None and not walk.of_original and within:
        rows = len(file.files)
        if piece.file_number > rows or file.files[piece.file_number - 1].row["state"] > 2:
            file.find(
                "R-EX-8",
                row.at("file number"),
                f"{what}: file number {piece.file_number} in a file table of {rows} rows",
            )
        else:
            piece.original = file.files[piece.file_number - 1].is_original
            length = file.files[piece.file_number - 1].size
            readable = position + stored <= length and stored <= raw
            if position + stored > length:
                file.find(
                    "R-FT-10",
                    row.at("position"),
                    f"{what}: {stored} bytes at {position} of a file of {length}",
                )
            elif readable and stored and not walk.takes(piece.file_number, position, position + stored):
                readable = False
                file.find("R-EX-17", row.at("position"), f"{what}: bytes of an earlier piece of the extent")
    fits = stored < raw <= EXPANSION * stored
    if within:
        crosses = raw and codec == 0 and start // size != (start + raw - 1) // size
        if raw > size or crosses:
            file.find("R-EX-2" if raw > size else "R-EX-11", row.at("logical offset"), f"{what}: {raw} bytes, piece size {size}")
        if codec not in PIECE_CODECS:
            file.find("R-EX-4", row.at("codec"), f"{what}: codec {codec}")
        elif stored != raw if codec == 0 else not fits:
            file.find(
                "R-EX-12",
                row.at("stored length"),
                f"{what}: stored length {stored}, raw length {raw}, codec {codec}",
            )
    if not readable:
        return piece
    data = file.data
    if piece.file_number:
        data = piece.data = open_file(file, piece.file_number)
        if data is None:
            return piece
    else:
        file.stamps.append((position, row["sum"]))
        try:
            claim_values(file, position, stored, what, row.at("position"))
        except Damaged:
            return piece
    if sum64(data[position : position + stored]) != row["sum"]:
        file.find("R-EX-5", position, f"{what}: the sum is not right")
    elif codec and codec in PIECE_CODECS and fits and raw <= file.piece_size:
        decoded = decode_piece(file, piece)
        if isinstance(decoded, str):
            file.find("R-EX-15", position, f"{what}: {decoded}")
    return piece


def needs_of_pieces(file, pieces):
    used = 0
    for piece in pieces:
        used |= 32 if piece.codec else 0
        if piece.file_number and file.files is not None:
            used |= 64 if piece.original else 16
    return used


def decode_piece(file, piece):
    """Returns the decoded bytes of a stored piece, or a text that says what is wrong."""
    data = file.data if piece.data is None else piece.data
    stored = bytes(data[piece.position : piece.position + piece.stored])
    return PIECE_CODECS[piece.codec](file, stored, piece.raw)


def inflate(_, stored, raw_length):
    """Returns the decoded bytes of a zlib stream, or a text that says what is wrong."""
    if raw_length > MAX_BODY:
        return f"raw length {raw_length} is more than this reader takes"
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(stored, raw_length + 1)
    except zlib.error as error:
        return f"deflate: {error}"
    if len(raw) != raw_length or not stream.eof or stream.unused_data or stream.unconsumed_tail:
        return f"not one zlib stream of {raw_length} bytes"
    return raw


# How a piece of each codec is decoded.
PIECE_CODECS = {
    0: lambda file, stored, raw_length: decode(file, 0, stored, raw_length),
    1: lambda file, stored, raw_length: decode(file, 1, stored, raw_length),
    3: inflate,
}


def fill_of(c, variable):
    """Returns the bytes of one fill value of a variable (section 10.1)."""
    is_classic = variable.type in classic.SIZES
    size = classic.SIZES[variable.type] if is_classic else c.extension.size_of(variable.type)
    for a in variable.attributes if is_classic else []:
        if a.name == b"_FillValue" and a.count == 1 and statistics.has_type(c, a, variable.type):
            return a.raw[:size][::-1] if statistics.classic_type(c, a.type)[1] else a.raw[:size]
    for number, owner, attribute, content in c.extension.properties if c.extension else []:
        if (number, owner, attribute) == (extended.CREATION, variable.number, extended.NO_ATTRIBUTE):
            if content.fill and len(content.fill) == size:
                return content.fill
    return classic.DEFAULT_FILL[variable.type] if is_classic else bytes(size)


def piece_bytes(file, piece, start, end):
    """Returns bytes of a stored piece. If the piece is damaged or its file cannot be read, returns zeros."""
    if piece.file_number and piece.data is None:
        return bytes(end - start)
    if piece.codec:
        if piece.decoded is None:
            file.decoded += piece.raw
            raw = decode_piece(file, piece) if piece.codec in PIECE_CODECS else ""
            piece.decoded = b"" if isinstance(raw, str) else raw
        return piece.decoded[start:end].ljust(end - start, b"\0")
    at = piece.position + start
    data = file.data if piece.data is None else piece.data
    return data[at : at + end - start].ljust(end - start, b"\0")


def stretch(file, entry, start, end, fill):
    """Returns bytes of an extent, with fill values for holes."""
    starts = [piece.logical for piece in entry.pieces]
    run = bytearray(fill * ((end - start) // len(fill)))
    for piece in entry.pieces[max(0, bisect.bisect_right(starts, start) - 1) :]:
        low, high = max(start, piece.logical), min(end, piece.logical + piece.raw)
        if piece.logical >= end:
            break
        if low < high and (piece.position or piece.file_number):
            run[low - start : high - start] = piece_bytes(
                file, piece, low - piece.logical, high - piece.logical
            )
    return run


def variable_bytes(file, entry, c, variable):
    """Returns the bytes of all values of a variable, with fill values for holes.

    Returns None if the values exceed the limits of this program.
    """
    runs = entry["records"] if variable.is_record else 1
    total = variable.slice_bytes * runs
    file.decoded += total + 64 * runs
    if entry.pieces is None or total > MAX_BODY or file.decoded > MAX_DECODED:
        return None
    fill, out = fill_of(c, variable), bytearray()
    for record in range(runs):
        start = variable.begin - c.base + record * c.record_size
        out += stretch(file, entry, start, start + variable.slice_bytes, fill)
    return out


def region_bytes(file, entry, c, variable, storage, properties):
    """Returns (the array, the bytes to which its values of variable length lead), as section 15.2 says.

    Returns None if the region exceeds the limits of this program.
    """
    mine = {
        number: content
        for number, owner, attribute, content in properties
        if (owner, attribute) == (variable.number, extended.NO_ATTRIBUTE)
    }
    if extended.ABSENT & mine.keys():
        raise extended.Unsupported("values that the block does not have")
    size = c.extension.size_of(variable.type)
    creation = mine.get(extended.CREATION)
    fill = creation and creation.fill or bytes(size)
    shape = shape_of(entry, c, variable)
    total = size
    for n in shape:
        total *= n
    if storage.kind == extended.CHUNKS and entry.pieces is not None and storage.region_length <= MAX_BODY:
        region = stretch(file, entry, variable.begin, variable.begin + storage.region_length, b"\0")
        extended.check_table(storage, region, shape)
    file.decoded += max(total, storage.region_length) + 64
    if (
        entry.pieces is None
        or max(total, storage.region_length) > MAX_BODY
        or file.decoded > MAX_DECODED
    ):
        return None
    if storage.kind == extended.NONE:
        return fill[:size] * (total // size), fill
    region = stretch(file, entry, variable.begin, variable.begin + storage.region_length, b"\0")
    if storage.kind == extended.HEAP:
        return region[:total], region
    return extended.array_of_chunks(storage, region, shape, size, fill[:size]), b""


def read_values(file, entry, c, variable, properties):
    """Returns (bytes, values for JSON) of a variable, with None for a part that is not read.

    Reports R-XC-1 and R-XV-1.
    """
    storage = c.extension and c.extension.storage.get(variable.number)
    try:
        if storage:
            raw, region = region_bytes(file, entry, c, variable, storage, properties) or (None, b"")
        else:
            raw, region = variable_bytes(file, entry, c, variable), b""
        if raw is None or c.extension is None:
            return raw, None if raw is None else values_text(variable.type, raw[: 8 * SMALL])
        return raw, extended.Values(c.extension, region).list(variable.type, bytes(raw))
    except extended.Unsupported:
        return None, None
    except extended.BrokenValue as error:
        file.reading.append((error.rule, variable_path(entry, variable), str(error)))
        return None, None


def variable_path(entry, variable):
    return "/".join(str(name_text(n)) for n in (entry.name, variable.name) if n)


def shape_of(entry, c, variable):
    dimensions = [c.dimensions[d] for d in variable.dimensions]
    return [entry["records"] if d.is_record else d.length for d in dimensions]


# 10.3. File table


class ListedFile:
    """A row of the file table."""

    def __init__(self, row, of_row):
        self.row = row
        self.bytes = of_row
        self.path, self.path_at = row.name, row.name_at
        self.size, self.size_at = row["stored length"], row.at("stored length")
        self.is_original = row["state"] == 2
        self.content = None  # bytes of an original; None: they cannot be read


def read_file_table(file, place, at):
    pages = list(chain_of_pages(file, "file table", b"FILE", place, at))
    files = []
    for page in reversed(pages):
        rows = map(page.row, range(page.fields["rows"]))
        files += [ListedFile(row, of_row) for row, of_row in zip(rows, page.bytes) if row["state"] != 1]
    told, before = len(file.findings), set()
    for f in files:
        if f.row["state"] > 2 and file.unknown_features:
            continue  # a row of a later version
        if f.row["state"] > 2:
            file.find("R-FT-6", f.row.at("state"), f"file table: state {f.row['state']}")
            continue
        if f.size > LIMIT:
            file.find("R-FT-3", f.size_at, f"file table: size {f.size}")
        order = f.row["order"]
        if order >= file.superblock["next order"] if f.is_original else order:
            file.find("R-FT-8" if f.is_original else "R-FT-14", f.row.at("order"), f"file table: order {order}")
        if f.bytes and (not f.is_original or len(f.bytes) != 32):
            file.find("R-FT-9", f.row.at("bytes end"), f"file table: {len(f.bytes)} bytes of a row")
        position, length, sum_ = f.row.place("data map")
        if f.is_original:
            if bool(position and length) != bool(f.size) or not f.size and sum_:
                file.find("R-FT-11", f.row.at("data map position"), f"file table: {f.size} bytes, data map at {position}")
        else:
            check_external(file, f, before)
    in_a_later_row = any(page.value("state", n) == 1 for page in pages for n in range(1, page.fields["rows"]))
    if len(file.findings) != told or in_a_later_row:
        raise Damaged
    for number, f in enumerate(files, 1):
        if f.is_original:
            read_original(file, f, number)
    return files


def check_external(file, f, before):
    parts = f.path.removeprefix(b"/").split(b"/")
    climbs = 0  # number of parts ".." before all other parts
    while not f.path.startswith(b"/") and climbs < len(parts) and parts[climbs] == b"..":
        climbs += 1
    wrong = b"" in parts or b"." in parts or b".." in parts[climbs:] or climbs == len(parts)
    if any(f.row.place("data map")):
        file.find("R-FT-11", f.row.at("data map position"), f"file table: {f.path!r} with a data map")
    if wrong or b"\0" in f.path or b"\\" in f.path:
        file.find("R-FT-1", f.path_at, f"file table: path {f.path!r}")
        return
    if f.path in before:
        file.find("R-FT-2", f.path_at, f"file table: path {f.path!r} twice")
    before.add(f.path)


def read_original(file, f, number):
    """Reads the pieces of an original. Checks R-FT-7, R-FT-12, R-FT-13 and R-FT-15."""
    row, name = f.row, f"original {text(f.path)}"
    file.used_features["compatible features"] |= 8
    told, walk = len(file.findings), MapWalk(name, 1 << 63 | number, True)
    f.pieces = walk.pieces
    if f.size:
        if not walk_map(file, row.place("data map"), row.at("data map position"), None, walk):
            return
        if walk.next != f.size:
            file.find("R-FT-12", f.size_at, f"{name}: the data map ends at {walk.next}, the size is {f.size}")
    rules = {rule for rule, _, _ in file.findings[told:]}
    if f.size > MAX_BODY or rules - {"R-EX-5", "R-FL-4"}:
        return
    content = b"".join(piece_bytes(file, piece, 0, piece.raw) for piece in walk.pieces)
    if "R-EX-5" not in rules:
        f.content = content
    if digest128(content) != row["digest"]:
        file.find("R-FT-7", row.at("digest"), f"{name}: the digest is not right")
    if f.bytes and hashlib.sha256(content).digest() != f.bytes:
        file.find("R-FT-15", row.at("bytes end"), f"{name}: the SHA-256 is not right")


def check_piece_of_an_original(file, row, name):
    """Checks that a piece of an original lies in this file and is not a hole."""
    for field in ("state", "file number"):
        if row[field]:
            file.find("R-FT-13", row.at(field), f"{name}: a piece with {field} {row[field]}")


def open_file(file, number):
    """Returns the bytes of an original or of an external file.

    Returns None if they cannot be read, which is reported, or if the file table is not known.
    """
    if file.files is None:
        return None
    f = file.files[number - 1]
    if f.is_original:
        return f.content
    if number not in file.opened:
        file.opened[number] = read_external(file, f)
    return file.opened[number]


def is_windows_device(part):
    """Returns whether Windows treats a name as a device in any folder, with any ending and blanks before it."""
    name = part.split(b".")[0].rstrip(b" ").upper()
    return name in (b"CON", b"PRN", b"AUX", b"NUL") or name[:3] in (b"COM", b"LPT") and (
        name[3:] in (b"%d" % digit for digit in range(1, 10)) or name[3:].decode("utf-8", "replace") in ("¹", "²", "³"))


def is_refused_on_windows(path):
    return any(b":" in part or is_windows_device(part) for part in path.split(b"/"))


def read_external(file, f):
    leads_out = f.path.startswith((b"/", b"../")) or re.match(rb"[A-Za-z]:", f.path)
    if file.folder is None or leads_out or os.name == "nt" and is_refused_on_windows(f.path):
        file.refuse("R-FT-4", f.path_at, f"file table: {f.path!r} is not opened")
        return None
    path = os.fsencode(file.folder)
    try:
        for part in f.path.split(b"/"):
            path = os.path.join(path, part)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                file.refuse("R-FT-4", f.path_at, f"file table: {path!r} is a symbolic link")
                return None
        if not stat.S_ISREG(mode):
            file.refuse("R-FT-4", f.path_at, f"file table: {path!r} is no regular file")
            return None
        with open(path, "rb") as stream:
            data = stream.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        file.find("R-FT-4", f.path_at, f"file table: {error}")
        return None
    if len(data) != f.size:
        file.find("R-FT-5", f.size_at, f"file table: {path!r} has {len(data)} bytes, not {f.size}")
        return None
    return data


# 10.4 Growth

MAX_GROWTH_PAGES = 1024


def read_growth(file):
    """Collects growth rows by order, beginning with the oldest page. Checks R-GR-1 and R-GR-4."""
    sb, pages = file.superblock, []
    file.grown_records = 0
    place, at = sb.place("growth"), sb.at("growth.position")
    if not any(place):
        return
    file.used_features["read-only compatible features"] |= 2
    try:
        pages = list(chain_of_pages(file, "growth page", b"GROW", place, at, MAX_GROWTH_PAGES))
    except Damaged:
        file.everything_walked = file.growth_whole = False
        return
    for page in reversed(pages):
        last = None
        for row in map(page.row, range(page.fields["rows"])):
            if row["state"] == 1 and row.number == 0:
                continue
            if row["state"]:
                file.everything_walked = file.growth_whole = False
                break  # R-PG-9 is reported
            key = row["order"], row["logical offset"]
            if last is not None and key <= last:
                file.find("R-GR-1", row.at("order"), f"growth page: order {key[0]}, offset {key[1]} behind {last}")
            last = key
            file.growth.setdefault(row["order"], []).append(row)


def read_grown_piece(file, row, what):
    """Reads the piece of a growth row. Reports R-EX-10 as R-GR-6, and other rules about pieces as R-GR-3.

    If the bytes are wrong, the offset is that of the row's sum or codec.
    """
    known = len(file.findings)
    piece = read_piece(file, row, what, MapWalk(what, 0))
    for i, (rule, offset, message) in enumerate(file.findings[known:], known):
        if rule in ("R-EX-5", "R-EX-15"):
            offset = row.at("sum" if rule == "R-EX-5" else "codec")
        if rule == "R-EX-10":
            file.findings[i] = ("R-GR-6", offset, message)
        elif rule.startswith("R-EX-"):
            file.findings[i] = ("R-GR-3", offset, message)
    return piece


def read_grown_pieces(file, entry, header, c):
    """Returns the pieces that growth pages add to an extent, or None if one breaks a rule. Checks R-GR-2, R-GR-3 and R-GR-6 to R-GR-9."""
    rows = entry.growth_rows
    if not rows:
        return []
    end, records, pieces, name = entry["extent length"], entry["records"], [], text(entry.name)
    told = len(file.findings)
    for row in rows:
        if row["logical offset"] != end:
            file.find(
                "R-GR-2", row.at("logical offset"), f"{name}: growth at {row['logical offset']}, expected {end}"
            )
        if row["records"] < records:
            file.find("R-GR-7", row.at("records"), f"{name}: {row['records']} records after {records}")
        pieces.append(read_grown_piece(file, row, f"growth at {end} of {name}"))
        end, records = end_of(row), row["records"]
    if c is not None:
        records, end = max(records, entry["records"]), max(end, entry["extent length"])
        if c.record_dimension is None or wrong_length(c, header, records, end):
            file.find(
                "R-GR-9" if c.record_dimension is None else "R-GR-8", rows[-1].at("records"), f"{name}: {records} records, the extent ends at {end}"
            )
    entry.used_needs |= needs_of_pieces(file, pieces)
    return pieces if len(file.findings) == told else None


# --- 11. Dead space --------------------------------------------------------------------------------


def read_dead_space(file):
    sb = file.superblock
    place = sb.place("dead map")
    if not any(place):
        return
    try:
        for page in chain_of_pages(file, "dead-space segment", b"DEAD", place, sb.at("dead map.position")):
            abandoned = 0
            for row in map(page.row, range(page.fields["rows"])):
                if row["state"] > 2:
                    file.find("R-DS-4", row.at("state"), f"state {row['state']} in row {row.number}")
                    file.everything_walked = False
                elif row["state"] == 1:
                    file.everything_walked = file.everything_walked and row.number == 0  # R-PG-9 is reported
                else:
                    read_dead_range(file, row)
                if row["state"] == 2:
                    abandoned += 1
                    check_abandoned(file, page, row, abandoned)
    except Damaged:
        file.everything_walked = False


def check_abandoned(file, page, row, number):
    """Checks R-DS-3 and R-DS-5."""
    generation, newest = page.fields["generation"], file.superblock["generation"]
    back, before = newest - generation + 1, None  # no generation before generation 1
    if generation != 1 and number == 1:
        if generation > newest or back >= len(file.file_lengths):
            return  # R-PG-11, R-SB-10 or R-SB-22 is reported
        before = file.file_lengths[back]
    if row["position"] != before:
        file.find(
            "R-DS-3" if before is None else "R-DS-5",
            row.at("position"),
            f"abandoned range at {row['position']}, the generation before ends at {before}",
        )


def read_dead_range(file, row):
    position, length = row["position"], row["stored length"]
    try:
        claim_values(file, position, length, "dead range", row.at("position"))
    except Damaged:
        return
    file.trace(position, length, "dead range", "bytes", b"")
    if sum64(file.data[position : position + length]) != row["sum"]:
        file.find("R-DS-2", row.at("position"), f"dead range of {length} bytes: the sum is not right")


# --- 13. Features ----------------------------------------------------------------------------------


def check_features(file):
    """Checks R-SB-18. R-IX-10, R-IX-14 and R-SB-21 are the rules for needs."""
    for name, used in file.used_features.items():
        missing = used & ~file.superblock[name]
        if missing:
            file.find(
                "R-SB-18",
                file.superblock.at(name),
                f"{name}: bits {missing:#x} are used and not set",
            )


# --- 12. HDF5 view ---------------------------------------------------------------------------------

VIEW = fields_of(
    """
    0    8  magic
    8    2  version
    10   2  length
    12   4  flags
    16  16  file id
    32   8  own position
    40   8  generation
    48   4  next number
    52   4  numbered sources
    56   8  sum of the numbers
    """
)


def read_numbers(file, header, position, length):
    """Returns the numbers of a view (hdf5_view.md, section 12.10), or None if they break R-HV-6."""
    rows = header["numbered sources"]
    if 64 + 8 * rows > length:
        file.find("R-HV-6", header.at("numbered sources"), f"{rows} numbered sources in a view of {length} bytes")
        return None
    table = file.data[position + length - 8 * rows : position + length]
    if header["sum of the numbers"] != (sum64(table) if rows else 0):
        file.find("R-HV-6", header.at("sum of the numbers"), "the sum of the numbers is not right")
        return None
    numbers = list(struct.iter_unpack("<2I", table))
    for i in range(1, rows):
        if numbers[i][0] <= numbers[i - 1][0]:
            at = position + length - 8 * (rows - i)
            file.find("R-HV-6", at, f"a number of block {numbers[i][0]} after one of block {numbers[i - 1][0]}")
            return None
    return view_reference.Numbers(numbers, header["next number"])


def check_view(file):
    """Checks the rules R-HV.

    R-HV-3 and R-HV-4 are checked only in a file without findings, because the view is compared with the blocks.
    """
    sb = file.superblock
    position, length, sum_ = sb.place("view")
    if not file.view_sound:
        return
    header = Fields(file, "view", position, VIEW)
    if length < 64 or header["magic"] != b"\x89NMBVIEW" or header["version"] == 0:
        file.find("R-HV-2", position, "no header of a view")
        return
    if header["version"] != 1:
        return
    known = view_reference.NO_DIMENSIONS | view_reference.COPIES
    expected = {"length": 64, "flags": header["flags"] & known, "file id": file.file_id, "own position": position}
    for name, value in expected.items():
        if header[name] != value:
            file.find("R-HV-2", header.at(name), f"{name} is {header[name]}, expected {value}")
    numbers = read_numbers(file, header, position, length)
    generation = header["generation"]
    if not 1 <= generation <= sb["generation"]:
        file.find("R-HV-5", header.at("generation"), f"generation {generation}, expected 1 to {sb['generation']}")
        return
    while sb["generation"] > generation:
        before = sb["generation"] - 1
        position_before, length_before, _ = sb.place("previous trailer")
        if length_before != SUPERBLOCK_LENGTH:
            return  # R-SB-10 or R-SB-22 is reported
        sb = Superblock(file, position_before)
        if not sb.sound or sb["generation"] != before:
            return  # R-SB-10 or R-SB-22 is reported
    if sb.place("view") != file.superblock.place("view"):
        file.find("R-HV-5", header.at("generation"), f"generation {generation} has another view, or none")
    if file.findings:
        return
    shown = file if sb is file.superblock else as_of(file, sb)
    if shown.findings:
        return  # findings in dead space of an older generation
    sb = file.superblock
    try:
        view, superblock = view_reference.encode(shown, position, header["flags"], numbers)
    except view_reference.NoView as reason:
        file.find("R-HV-3", position, f"a view of what has none: {reason}")
        return
    differ = next((i for i, (a, b) in enumerate(zip(view, file.data[position : position + length])) if a != b), None)
    if differ is not None:
        file.find("R-HV-3", position + differ, "another byte than the blocks make")
    elif len(view) != length:
        file.find("R-HV-3", position + min(length, len(view)), f"{length} bytes, expected {len(view)}")
    else:
        for i, (a, b) in enumerate(zip(superblock, sb["HDF5 superblock"])):
            if a != b:
                file.find("R-HV-4", sb.at("HDF5 superblock") + i, f"byte {b:#x}, expected {a:#x}")
                break


def as_of(file, superblock):
    """Reads the blocks of an older generation."""
    older = File(file.data)
    older.choice, older.file_id = file.choice, file.file_id
    older.superblock, older.file_length = superblock, superblock["file length"]
    older.unknown_features = choosing.unknown_features(superblock)
    superblock.name = "trailer"
    check_limits(older)
    read_dictionary(older)
    read_places(older)
    read_growth(older)
    read_index(older)
    return older


# --- Output ----------------------------------------------------------------------------------------

SMALL = 64  # values, and ranges of parts, are shown if a variable has at most this number of them


def name_text(raw):
    """Returns a name for JSON: text, or {"hex": ..} for bytes that are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"hex": raw.hex()}


def values_text(type_, raw):
    if type_ == classic.CHAR:
        return name_text(raw)
    code = classic.CODES[type_]
    values = struct.unpack(f">{len(raw) // struct.calcsize(code)}{code}", raw)
    return [v if not isinstance(v, float) or v - v == 0 else str(v) for v in values]


def attributes_document(attributes, extension=None, broken=lambda attribute, error: None):
    return [
        {
            "name": name_text(a.name),
            "type": type_text(a.type),
            "values": attribute_values(a, extension, broken),
        }
        for a in attributes
    ]


def attribute_values(attribute, extension, broken):
    if attribute.type in classic.SIZES:
        return values_text(attribute.type, attribute.raw)
    array = attribute.raw[: attribute.count * extension.size_of(attribute.type)]
    try:
        return extended.Values(extension, attribute.raw).list(attribute.type, array)
    except extended.Unsupported:
        return None
    except extended.BrokenValue as error:
        broken(attribute, error)
        return None


def type_text(code):
    return classic.TYPES.get(code, f"type {code}")


def type_document(number, t):
    plain = lambda v: name_text(v) if isinstance(v, bytes) else v
    out = {"type": extended.FIRST_TYPE + number, "class": extended.CLASSES[t.class_]}
    out |= {"size": t.size} | ({"name": name_text(t.name)} if t.name else {})
    for name, value in t.items():
        if name == "base":
            value = type_text(value)
        elif name == "fields":
            value = [[type_text(code), offset, name_text(field)] for code, offset, field in value]
        elif name == "values":
            value = [v.hex() for v in value]
        elif name == "names":
            value = list(map(name_text, value))
        out[name] = plain(value)
    return out


def storage_document(storage):
    out = {"kind": extended.STORAGE_KINDS[storage.kind], "region_length": storage.region_length}
    if storage.kind == extended.CHUNKS:
        out["chunk"] = storage.chunk
        out["filters"] = [
            {"id": f.id, "flags": f.flags, "name": name_text(f.name), "parameters": f.parameters}
            for f in storage.filters
        ]
    return out


def dimension_document(c, number):
    d = c.dimensions[number]
    out = {"name": name_text(d.name), "length": d.length, "record": d.is_record}
    return out | ({"unlimited": number in c.extension.unlimited} if c.extension else {})


def block_document(file, entry, header, c):
    document = {
        "name": name_text(entry.name),
        "kind": entry["kind"],
        "codec": entry["codec"],
        "order": entry["order"],
        "samples": entry["samples"],
        "records": entry["records"],
        "extent_length": entry["extent length"],
    }
    if unsupported_needs(entry):
        document["unsupported_needs"] = unsupported_needs(entry)
    if entry["file digest"]:
        document["file_digest"] = f"{entry['file digest']:032x}"
    if any(sha256_of(entry)):
        document["file_sha256"] = sha256_of(entry).hex()
    if c is None:
        return document

    def attributes(owner):
        path = variable_path(entry, owner) if owner is not c else str(name_text(entry.name))
        return attributes_document(
            owner.attributes,
            c.extension,
            lambda a, error: file.reading.append(
                (error.rule, f"{path}:{name_text(a.name)}", str(error))
            ),
        )

    properties = c.extension.properties if c.extension else []
    if c.extension:
        document["types"] = [type_document(*item) for item in enumerate(c.extension.types)]
        document["hdf5"] = [list(p[:3]) for p in properties]
    document["dimensions"] = [dimension_document(c, n) for n in range(len(c.dimensions))]
    document["attributes"] = attributes(c)
    document["variables"] = []
    for v in c.variables:
        raw, values = read_values(file, entry, c, v, properties)
        item = {
            "name": name_text(v.name),
            "type": type_text(v.type),
            "dimensions": [name_text(c.dimensions[d].name) for d in v.dimensions],
            "shape": shape_of(entry, c, v),
            "attributes": attributes(v),
            "sha256": hashlib.sha256(raw).hexdigest() if raw is not None else None,
        }
        if c.extension and v.number in c.extension.storage:
            item["storage"] = storage_document(c.extension.storage[v.number])
        size = c.extension.size_of(v.type) if c.extension else classic.SIZES[v.type]
        if raw is not None and len(raw) // size <= SMALL:
            item["values"] = values
        if entry.statistics:
            item |= statistics_document(c, v, entry.statistics.get(v.name, []))
        document["variables"].append(item)
    return document


def statistics_document(c, variable, rows):
    """Returns the members of a variable's document about its rows of statistics."""
    out = {"statistics": None}
    for row in rows:
        if isinstance(row, statistics.Row):
            out["statistics"] = row_document(c, variable, row)
        elif isinstance(row, statistics.Parts):
            out["parts"] = parts_document(c, variable, row)
        else:
            out.setdefault("functions", []).append(function_document(row))
    return out


def row_document(c, variable, row):
    out = dict(zip(("elements", "missing", "nan"), row.counts))
    code = statistics.classic_type(c, variable.type)[0]
    if row.range:
        out["range"] = [values_text(code, value)[0] for value in row.range]
    if row.histogram:
        out["histogram"] = {"bits": row.histogram[0], "buckets": [list(b) for b in row.histogram[1]]}
    return out


def parts_document(c, variable, parts):
    code = statistics.classic_type(c, variable.type)[0]
    out = {"number": len(parts.ranges), "shift": parts.shift}
    if len(parts.ranges) > SMALL:
        return out
    ranges = [[values_text(code, value)[0] for value in ends] for ends in parts.ranges]
    return out | {"ranges": ranges, "ordered": parts.ordered}


def function_document(function):
    out, result = {"name": name_text(function.name)}, function.result
    if function.kind == statistics.TEXT:
        return out | {"kind": "text", "result": name_text(result)}
    kinds = {statistics.INT64: "int64", statistics.UINT64: "uint64", statistics.DOUBLE: "double"}
    kind = kinds[function.kind]
    code = next(code for code, name in classic.TYPES.items() if name == kind)
    return out | {"kind": kind, "result": values_text(code, result)[0]}


def what_writers_do(file):
    """Returns what a writer of this version can do with the file (section 17).

    Returns (whether it can add generations, names of blocks that it must not change). The name b"*" means all blocks.
    """
    sb = file.superblock
    unknown = {name: sb[name] & ~known for name, known in choosing.KNOWN.items()} if sb else {}
    refuses = not sb or unknown["incompatible features"] or unknown["read-only compatible features"]
    return not refuses and file.writable, file.untouchable


def original_document(f, blocks):
    """A dead original has no block: the block was replaced or removed (section 10.3)."""
    block = next((block["name"] for block in blocks if block["order"] == f.row["order"]), None)
    return {"file": name_text(f.path), "bytes": f.size, "block": block}


def nmb_document(file):
    document = {"schema": "nmb/reference/1"}
    if file.superblock:
        sb = file.superblock
        document |= {
            "file_id": f"{file.file_id:032x}",
            "generation": sb["generation"],
            "piece_size": sb["piece size"],
            "inline_limit": sb["inline limit"],
            "totals": {name: sb[name] for name in TOTALS},
            "blocks": [block_document(file, *block) for block in file.blocks],
        }
        if originals := [f for f in file.files or [] if f.is_original]:
            document["originals"] = [original_document(f, document["blocks"]) for f in originals]
    document["findings"] = [
        {"rule": r, "offset": o, "message": m, "unsupported": (r, o) in file.unsupported}
        for r, o, m in file.findings
    ]
    if file.warnings:
        document["remarks"] = [{"rule": r, "offset": o, "message": m} for r, o, m in file.warnings]
    if file.reading:
        document["reading"] = [{"rule": r, "object": o, "message": m} for r, o, m in file.reading]
    return document


def classic_document(data):
    """Returns the JSON document for a classic netCDF file (section 14)."""
    findings, remarks, document = [], [], {"schema": "nmb/reference/1"}
    try:
        c = classic.decode(data, values_follow=True)
        remarks = [{"rule": r, "offset": o, "message": m} for r, o, m in c.remarks]
        document |= {
            "kind": c.kind,
            "header_length": c.header_length,
            "records": c.records,
            "record_size": c.record_size,
            "dimensions": [
                {"name": name_text(d.name), "length": d.length, "record": d.is_record}
                for d in c.dimensions
            ],
            "attributes": attributes_document(c.attributes),
            "variables": [
                {
                    "name": name_text(v.name),
                    "type": type_text(v.type),
                    "begin": v.begin,
                    "dimensions": [name_text(c.dimensions[d].name) for d in v.dimensions],
                    "attributes": attributes_document(v.attributes),
                }
                for v in c.variables
            ],
        }
    except classic.ClassicError as error:
        findings = [{"rule": error.rule, "offset": error.offset, "message": str(error)}]
    return document | {"findings": findings, "remarks": remarks}


def reader_of(data, tracing=False, folder=None):
    """Reads an NMB file and returns the File, or None for other data. folder: the folder of the file."""
    if data[:3] == b"CDF" or not choosing.is_nmb(data):
        return None
    file = File(data, tracing, folder)
    file.read()
    return file


def document_of_reader(file, data):
    if file is not None:
        return nmb_document(file)
    if data[:3] == b"CDF" and data[3:4] in (b"\1", b"\2", b"\5"):
        return classic_document(data)
    return None


def document_of(data, tracing=False, folder=None):
    """Returns (document, trace), or (None, None) for data of another kind. folder: the folder of the file."""
    file = reader_of(data, tracing, folder)
    return document_of_reader(file, data), file and file.fields


def scan_and_index(data):
    """Returns the blocks of an NMB file twice: first as a scan finds them, then as the index lists them.

    Both results are {name: (position, generation, data map position or 0, extent length, records)}.
    """
    file = File(data)
    file.read()
    if not file.superblock:
        return {}, {}
    blocks, indexed, scanned = scan_blocks(file), {}, {}
    values = scan_values(file, blocks)
    records = {entry.name: entry["records"] for entry, _, _ in file.blocks}
    for name, (position, generation) in blocks.items():
        root, of_block, length = values[name]
        of_block = records.get(name) if of_block is None else of_block
        scanned[name] = position, generation, root, length, of_block
    for entry, header, _ in file.blocks:
        place = entry["position"], header["generation"], entry["data map position"]
        of_values = entry["extent length"], entry["records"]
        if entry["flags"] & 1 and entry.name in scanned:  # the header only has the first length of a hole
            of_values = scanned[entry.name][3:]
        indexed[entry.name] = *place, *of_values
    return scanned, indexed


def print_scan(data):
    scanned, indexed = scan_and_index(data)
    for name, (position, generation, *_) in sorted(scanned.items()):
        print(position, generation, text(name), sep="\t")
    return 0 if scanned == indexed else 1


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("--json", "--findings", "--trace", "--scan"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[1], "rb") as stream:
            data = stream.read()
    except OSError as error:
        print(f"nmb_reference: {arguments[1]}: {error.strerror}", file=sys.stderr)
        return 2
    if arguments[0] == "--scan" and data[:3] != b"CDF":
        return print_scan(data)
    folder = os.path.dirname(os.path.realpath(arguments[1]))
    document, trace = document_of(data, arguments[0] == "--trace", folder)
    if document is None:
        print(f"nmb_reference: {arguments[1]}: neither NMB nor classic netCDF", file=sys.stderr)
        return 2
    if arguments[0] == "--json":
        print(json.dumps(document, indent=1))
    elif arguments[0] == "--trace":
        for offset, length, structure, name, value in sorted(trace or [], key=lambda t: t[:2]):
            print(offset, length, structure, name, value, sep="\t")
    else:
        for f in document["findings"] + document.get("remarks", []):
            print(
                f["rule"],
                f["offset"],
                f["message"].encode("utf-8", "backslashreplace").decode(),
                sep="\t",
            )
    if any(f.get("unsupported") for f in document["findings"]):
        return 2
    return 1 if document["findings"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
