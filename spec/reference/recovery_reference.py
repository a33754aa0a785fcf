#!/usr/bin/python3
"""Finds the blocks of a damaged NMB file, as recovery.md describes in section 19.

    recovery_reference.py FILE   prints one JSON document: the blocks that are whole, those with damaged values, and the
                                 names of lost blocks

recover(data, folder) returns a Recovered. The program shares no code with the library.
"""

import bisect
import json
import os
import struct
import sys

sys.dont_write_bytecode = True
import choosing_reference as choosing  # noqa: E402
import classic_reference as classic  # noqa: E402
import extended_reference as extended  # noqa: E402
import nmb_reference as nmb  # noqa: E402
from nmb_reference import BLOCK, BLOCK_HEADER, BLOCK_MAGIC, FIRST_STRUCTURE, KIND_OF_A_DICTIONARY, PAGE  # noqa: E402
from nmb_reference import MAP, PAGE_HEADER, SUPERBLOCK, TOMBSTONE, Fields, digest128, sum64, up  # noqa: E402

ASSUMED_PIECE = 64 << 20  # longest piece without a superblock, which has the file's piece size
UNKNOWN_END = 2**63 - 1
OF_ORIGINAL = 1 << 63  # in the owner of pages of the data map of an original
NEEDS = 0x77  # needs that a reader of this version supports
PAGES = ("INDX", "DMAP", "DEAD", "FILE", "GROW", "STAT", "TAGS")


class Bytes:
    """The file as the parts of nmb_reference.py expect it."""

    def __init__(self, data):
        self.data, self.dictionary, self.fields = data, None, None

    def trace(self, *field):
        pass


class Piece:
    """A piece of an extent. `data`: the bytes of the file in which it lies, or None if that file cannot be read."""

    def __init__(self, row, data=None):
        self.logical, self.raw, self.position = row["logical offset"], row["raw length"], row["position"]
        self.stored, self.codec, self.sum = row["stored length"], row["codec"], row["sum"]
        self.file, self.hole = row.get("file number", 0), row.get("state", 0) == 1
        self.data = data

    @property
    def end(self):
        return self.logical + self.raw


class FoundPage(nmb.ScannedPage):
    """A page with a right sum at its own position."""

    def __init__(self, scan, at):
        f = self.fields = Fields(scan.bytes, None, at, PAGE)
        self.position, data, end = at, scan.data, at + f["length"]
        self.use = bytes(data[at + 4 : at + 8]).decode("latin-1")
        self.sound = (
            f["version"] == 1
            and f["own position"] == at
            and PAGE_HEADER <= f["length"] <= len(data) - at
            and f["length"] % 8 == 0
            and f["rows"] >= 1
            and f["generation"] >= 1
            and f["sum"] == sum64(bytes(data[at : at + 80]) + bytes(data[at + 88 : end]))
        )

    def dictionaries(self, scan):
        """Returns each row as a dictionary of its columns."""
        names = [name for name in nmb.COLUMNS.values() if name != "name end"]
        return [dict(zip(names, row)) for row in self.rows(scan.bytes, *names)]

    def names(self, scan):
        """Returns the name of each row."""
        ends = [end for (end,) in self.rows(scan.bytes, "name end")]
        table = PAGE_HEADER + 4 * self.fields["columns"]
        widths = struct.unpack_from(f"<{2 * self.fields['columns']}H", scan.data, self.position + PAGE_HEADER)[1::2]
        heap = self.position + table + sum(widths) * self.fields["rows"]
        return [bytes(scan.data[heap + a : heap + b]) for a, b in zip([0, *ends], ends)]


class Scan:
    """All structures of a file that can be found without other structures (steps 1 to 3)."""

    def __init__(self, data):
        choice = choosing.choose(data, search=True) if choosing.is_nmb(data) else None
        if choice and choice.settled and "R-SB-13" not in {rule for rule, *_ in choice.findings + choice.warnings}:
            end = choice.newest.file_length
            if bytes(data[end - 4096 : end]) == choice.newest.raw:
                data = data[:end]  # step 2
        self.data, self.bytes = data, Bytes(data)
        self.headers = [at for at in self.find(BLOCK_MAGIC) if at >= FIRST_STRUCTURE and self.is_header(at)]
        self.pages = []
        for use in PAGES:
            found = (FoundPage(self, at) for at in self.find(b"\x89NMB" + use.encode()) if at >= FIRST_STRUCTURE)
            self.pages += [page for page in found if page.sound]
        self.superblocks = [s for s in self.find_superblocks() if s.sound and s.generation >= 1]
        self.file_id = self.choose_file_id()
        self.newest = max(
            (s for s in self.superblocks if s.file_id == self.file_id), key=lambda s: s.generation, default=None
        )
        self.choose_generation()
        self.drop_foreign()
        if self.newest:
            self.superblock = Fields(self.bytes, None, self.newest.position, SUPERBLOCK)
        self.piece_size = self.superblock["piece size"] if self.newest else ASSUMED_PIECE
        self.find_dictionary()

    def find(self, magic):
        at = self.data.find(magic)
        while at >= 0:
            if at % 8 == 0 and at + PAGE_HEADER <= len(self.data):
                yield at
            at = self.data.find(magic, at + 1)

    def is_header(self, at):
        if at + BLOCK_HEADER > len(self.data):
            return False
        f = Fields(self.bytes, None, at, BLOCK)
        end = at + BLOCK_HEADER + up(f["name length"])
        return (
            f["version"] == 1
            and f["own position"] == at
            and f["generation"] >= 1
            and end <= len(self.data)
            and f["sum"] == sum64(bytes(self.data[at : at + BLOCK_HEADER - 8]) + bytes(self.data[at + BLOCK_HEADER : end]))
        )

    def find_superblocks(self):
        for at in self.find(choosing.SUPERBLOCK_MAGIC):
            found = choosing.Superblock(self.data, at)
            if not found.sound or at % 4096:
                continue
            if at == 4096 * (1 + (found.generation - 1) % 2) or at == found.file_length - 4096:
                yield found

    def choose_file_id(self):
        identities = [bytes(self.data[at : at + 256]) for at in (512, 0)]
        for raw in identities:
            if raw[:8] == choosing.IDENTITY_MAGIC and len(raw) == 256 and int.from_bytes(raw[248:], "little") == sum64(raw[:248]):
                return raw[24:40]
        mark = choosing.Mark(self.data)
        if mark.sound and len(self.data) >= FIRST_STRUCTURE:
            return mark.file_id
        slots = [s for s in self.superblocks if s.position < FIRST_STRUCTURE]
        for group in slots, self.superblocks:
            if group:
                return max(group, key=lambda s: (s.generation, s.position)).file_id
        counts = {}
        for at in self.headers:
            id_ = bytes(self.data[at + 16 : at + 32])
            counts[id_] = counts.get(id_, 0) + 1
        order = lambda id_: (counts[id_], *struct.unpack("<2Q", id_))  # noqa: E731
        return max(counts, key=order, default=None)

    def choose_generation(self):
        """Sets the newest generation that is known to be committed, and whether a later one may be lost (step 2)."""
        id_, data = self.file_id, self.data
        mark = choosing.Mark(data)
        mark = mark.generation if len(data) >= FIRST_STRUCTURE and mark.sound and mark.file_id == id_ else 0
        newest = self.newest.generation if self.newest else 0
        self.generation, self.may_be_later = max(mark, newest), False
        if not mark and newest:
            slots = {s.generation for s in self.superblocks if s.file_id == id_ and s.position < FIRST_STRUCTURE}
            fits = {newest, newest - 1} <= slots | ({0} if not bytes(data[8192:12288]).strip(b"\0") else set())
            self.may_be_later = len(data) > self.newest.file_length and not fits
        self.is_current = newest > 0 and newest == self.generation and not self.may_be_later

    def drop_foreign(self):
        stamps = {}
        for s in self.superblocks:
            if s.file_id == self.file_id:
                stamps.setdefault(s.generation, int.from_bytes(s.raw[80:88], "little"))

        def belongs(f):
            return (
                f["file id"] == int.from_bytes(self.file_id or b"", "little")
                and (f["generation"] <= self.generation or not self.generation or self.may_be_later)
                and stamps.get(f["generation"], f["stamp"]) == f["stamp"]
            )

        self.pages = [page for page in self.pages if belongs(page.fields)]
        self.headers = [at for at in self.headers if belongs(Fields(self.bytes, None, at, BLOCK))]
        # A header does not count if it lies in an abandoned range, or in another structure.
        inside = [(p.position + 8, p.position + p.fields["length"]) for p in self.pages]
        for page in self.pages:
            if page.use == "DEAD":
                rows = page.rows(self.bytes, "state", "position", "stored length")
                inside += [(at, at + n) for state, at, n in rows if state == 2 and at + n <= page.position]
        is_inside = lambda at: any(start <= at < end for start, end in inside)  # noqa: E731
        self.headers = [at for at in self.headers if not is_inside(at)]
        self.pages = [page for page in self.pages if not is_inside(page.position)]

    def find_dictionary(self):
        place = None
        if self.newest:
            place = [self.superblock[f"dictionary.{part}"] for part in nmb.PLACE]
            if not any(place):
                return
            head = bytes(self.data[12288 : 12288 + place[1]])
            if len(self.data) >= FIRST_STRUCTURE and place[1] <= 4096 and sum64(head) == place[2]:
                self.bytes.dictionary = head
                return
        for at in self.headers:
            f = Fields(self.bytes, None, at, BLOCK)
            if f["kind"] != KIND_OF_A_DICTIONARY or f["codec"] or f["name length"]:
                continue
            body = bytes(self.data[at + BLOCK_HEADER : at + BLOCK_HEADER + f["stored length"]])
            if digest128(body) == f["digest"] and (not place or sum64(body) == place[2]):
                self.bytes.dictionary = body
                return

    def page_at(self, use, position, length, sum_, level=None, owner=0):
        """Returns the page to which a row leads, or None if it is damaged."""
        at = position
        if at % 8 or at < FIRST_STRUCTURE or at + PAGE_HEADER > len(self.data) or length < PAGE_HEADER:
            return None
        page = FoundPage(self, at)
        f = page.fields
        right = (
            page.sound
            and bytes(self.data[at : at + 8]) == b"\x89NMB" + use.encode()
            and f["length"] == length
            and (sum_ is None or f["sum"] == sum_)
            and (level is None or f["level"] == level)
            and f["owner"] == owner
            and f["file id"] == int.from_bytes(self.file_id, "little")
        )
        return page if right else None

    def chain(self, use, place):
        """Returns the pages of a chain, the oldest first, or None if one of them is damaged."""
        pages, is_first = [], True
        while place and any(place):
            page = self.page_at(use, place[0], place[1], None if is_first else place[2], 0)
            if not page or (is_first and sum64(bytes(self.data[place[0] : place[0] + place[1]])) != place[2]):
                return None
            is_first = False
            pages.append(page)
            state, *before = page.rows(self.bytes, "state", "position", "stored length", "sum")[0]
            place = before if state == 1 and before[0] < page.position else None
        return pages[::-1]

    def place(self, name):
        return tuple(self.superblock[f"{name}.{part}"] for part in nmb.PLACE)


class Index:
    """What undamaged pages of the newest generation's index prove (step 7)."""

    def __init__(self, scan):
        self.scan, self.entries, self.spans, self.seen = scan, {}, [], set()
        self.is_whole = scan.is_current
        if scan.may_be_later:
            return
        if scan.is_current and not scan.superblock["height"]:
            self.spans.append((b"", None))
        elif scan.is_current:
            sb = scan.superblock
            at, length = sb["root position"], sb["root length"]
            root = scan.page_at("INDX", at, length, None, sb["height"] - 1)
            if root and digest128(bytes(scan.data[at : at + length])) == sb["root digest"]:
                self.walk(root, b"", None)
            else:
                self.is_whole = False
        for page in scan.pages:
            f = page.fields
            if page.use == "INDX" and not f["level"] and page.position not in self.seen:
                if f["generation"] == scan.generation:
                    names = page.names(scan)
                    self.add_leaf(page, names[0], names[-1] + b"\0")

    def walk(self, page, low, high):
        if page.position in self.seen:
            self.is_whole = False
            return
        if not page.fields["level"]:
            self.add_leaf(page, low, high)
            return
        self.seen.add(page.position)
        names, rows = page.names(self.scan), page.dictionaries(self.scan)
        for i, row in enumerate(rows):
            first = max(low, names[i])
            end = min((n for n in (high, names[i + 1] if i + 1 < len(rows) else None) if n is not None), default=None)
            child = self.scan.page_at("INDX", row["position"], row["stored length"], row["sum"], page.fields["level"] - 1)
            if child:
                self.walk(child, first, end)
            else:
                self.is_whole = False

    def add_leaf(self, page, low, high):
        self.seen.add(page.position)
        self.spans.append((low, high))
        self.entries.update(zip(page.names(self.scan), page.dictionaries(self.scan)))

    def covers(self, name):
        return any(low <= name and (high is None or name < high) for low, high in self.spans)

    def older_names(self):
        for page in self.scan.pages:
            if page.use == "INDX" and not page.fields["level"] and page.position not in self.seen:
                yield from page.names(self.scan)


class Files:
    """The file table: other files that hold values."""

    def __init__(self, scan, folder):
        self.scan, self.folder, self.rows, self.cache = scan, folder, [], {}
        chain = scan.chain("FILE", scan.place("file table")) if scan.newest else None
        if chain is None or not scan.is_current:
            pages = [page for page in scan.pages if page.use == "FILE"]
            last = max(pages, key=lambda p: (p.fields["generation"], p.position), default=None)
            if last:
                raw = bytes(scan.data[last.position : last.position + last.fields["length"]])
                found = scan.chain("FILE", (last.position, len(raw), sum64(raw)))
                chain = chain if found is None else found
        for page in chain or []:
            rows = zip(page.names(scan), page.dictionaries(scan))
            self.rows += [(name, row) for name, row in rows if row["state"] != 1]

    def has_lost_row(self, number):
        return number > len(self.rows)

    def place_in_original(self, number, position, length):
        """Returns where bytes of an original lie, or None. Only uncoded bytes in one run are found."""
        runs = []
        for page in self.scan.pages:
            if page.use == "DMAP" and page.fields["owner"] == OF_ORIGINAL | number and not page.fields["level"]:
                pieces = [Piece(row) for row in page.dictionaries(self.scan)]
                runs += [(p.logical, p.end, p.position) for p in pieces if not (p.hole or p.codec or p.file)]
        joined = []
        for begin, end, at in sorted(runs):
            if joined and joined[-1][1] == begin and joined[-1][2] + begin - joined[-1][0] == at:
                joined[-1] = joined[-1][0], end, joined[-1][2]
            else:
                joined.append((begin, end, at))
        for begin, end, at in joined:
            if begin <= position and position + length <= end:
                return at + position - begin
        return None

    def read(self, number, position, length):
        """Returns bytes of a file, or None."""
        if not 1 <= number <= len(self.rows):
            return None
        name, row = self.rows[number - 1]
        if position + length > row["stored length"]:
            return None
        if row["state"] == 2:
            return self.read_original(number, row, position, length)
        if number not in self.cache:
            self.cache[number] = None
            path = os.fsdecode(name)
            if self.folder and not path.startswith("/") and ".." not in path.split("/"):
                try:
                    with open(os.path.join(self.folder, path), "rb") as stream:
                        raw = stream.read()
                    self.cache[number] = raw if len(raw) == row["stored length"] else None
                except OSError:
                    pass
        raw = self.cache[number]
        return raw if raw is None else raw[position : position + length]

    def read_original(self, number, row, position, length):
        key = row["data map position"]
        if key not in self.cache:
            walk = MapWalk(self.scan, OF_ORIGINAL | number, row["stored length"], self.scan.piece_size)
            self.cache[key] = walk.run((key, row["data map length"], row["data map sum"]))
        out = bytearray()
        walk = self.cache[key]
        for piece in walk.pieces:
            if piece.end <= position or piece.logical >= position + length:
                continue
            start, end = max(position, piece.logical), min(position + length, piece.end)
            whole = start == piece.logical and end == piece.end
            raw = stored_bytes(self.scan, None, piece, piece.codec or whole)
            if raw is None or piece.logical > position + len(out):
                return None
            out += raw[start - piece.logical : end - piece.logical]
        return bytes(out) if len(out) == length else None


def stored_bytes(scan, files, piece, checks=True):
    """Returns the decoded bytes of a piece, or None if they are damaged."""
    if piece.file and files.has_lost_row(piece.file):
        at = files.place_in_original(piece.file, piece.position, piece.stored)
        raw = at and bytes(scan.data[at : at + piece.stored])
        raw = raw if raw and len(raw) == piece.stored else None
    elif piece.file:
        raw = files.read(piece.file, piece.position, piece.stored)
    else:
        if piece.position % 8 or piece.position < FIRST_STRUCTURE or piece.position + piece.stored > len(scan.data):
            return None
        raw = bytes(scan.data[piece.position : piece.position + piece.stored])
    if raw is None or (checks and sum64(raw) != piece.sum):
        return None
    if not piece.codec:
        return raw
    coded = nmb.Piece(piece.logical, piece.raw, 0, piece.stored, piece.codec)
    coded.data = raw
    decoded = nmb.decode_piece(scan.bytes, coded)
    return None if isinstance(decoded, str) else decoded


def piece_lengths_are_right(piece, piece_size):
    if piece.raw > piece_size or piece.codec not in nmb.PIECE_CODECS:
        return False
    if piece.codec:
        return 0 < piece.stored < piece.raw <= 131072 * piece.stored
    return piece.stored == piece.raw and piece.logical // piece_size == (piece.end - 1) // piece_size


class MapWalk:
    """The pieces of a data map. `lost` has the ranges below damaged pages."""

    def __init__(self, scan, owner, end, piece_size, first_length=0):
        self.scan, self.owner, self.end, self.piece_size = scan, owner, end, piece_size
        self.first_length = first_length
        self.pieces, self.lost, self.broken = [], [], []  # broken: ranges of damaged growth rows

    def run(self, place):
        root = self.scan.page_at("DMAP", *place, owner=self.owner)
        if root:
            is_known = self.end != UNKNOWN_END
            end = self.walk(root, 0, self.end)
            if not is_known:
                self.end = end
            elif end < self.end:
                self.lost.append((end, self.end))
        else:
            self.end = self.first_length if self.end == UNKNOWN_END else self.end
            self.lost.append((0, self.end))
        return self

    def lose(self, begin, end):
        if end == UNKNOWN_END:
            end = max(begin, self.first_length)
        if end > begin:
            self.lost.append((begin, end))
        return end

    def walk(self, page, begin, end):
        """Returns where the last piece below a page ends."""
        rows = page.dictionaries(self.scan)
        if rows[0]["logical offset"] != begin:
            return self.lose(begin, end)
        if page.fields["level"] == 0:
            pieces, at = [Piece(row) for row in rows], begin
            for piece in pieces:
                right = piece.logical == at and piece.raw and piece.end <= end
                right = right and (piece.hole or piece_lengths_are_right(piece, self.piece_size))
                if not right:
                    return self.lose(begin, end)
                at = piece.end
            if end not in (UNKNOWN_END, at):
                return self.lose(begin, end)
            self.pieces += pieces
            return at
        for i, row in enumerate(rows):
            below = rows[i + 1]["logical offset"] if i + 1 < len(rows) else end
            if not begin < below <= end:
                return self.lose(begin, end)
            child = self.scan.page_at(
                "DMAP", row["position"], row["stored length"], row["sum"], page.fields["level"] - 1, self.owner
            )
            begin = self.walk(child, begin, below) if child else self.lose(begin, below)
        return begin


def joined(ranges):
    """Returns sorted ranges without ranges that touch."""
    out = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


class FoundBlock:
    """A block whose header and definitions are undamaged.

    damaged: ranges of its extent. unverified: ranges whose values are in the file, but whose sums are lost.
    lacks_pieces: whether the pieces of some damaged ranges are unknown.
    """

    def __init__(self, name, position, doubt):
        self.name, self.position, self.doubt = name, position, doubt
        self.damaged, self.body, self.extent, self.records = [], b"", bytearray(), 0
        self.holes, self.places = [], []
        self.unverified, self.lacks_pieces = [], False
        self.in_originals = []  # like `places`, for values in originals that have a row in the file table
        self.in_other_files = False  # whether some values are in other files, which the file table names
        self.settled = None  # length of the extent without growth, if there is any

    @property
    def whole(self):
        return not self.damaged and not self.unverified


class Recovered:
    def __init__(self, data, folder=None):
        self.scan = scan = Scan(data)
        self.blocks, self.lost, self.perhaps_lost = {}, set(), set()
        if scan.file_id is None:
            self.is_ours = choosing.is_nmb(data)
            return
        self.is_ours = True
        self.index, self.files = Index(scan), Files(scan, folder)
        self.read_growth()
        self.choose()
        self.drop_stored_headers()
        known = {*self.blocks, *self.lost, *self.removed}
        self.perhaps_lost = {n for n in self.index.older_names() if n not in known and not self.index.covers(n)}

    def read_growth(self):
        scan, pages = self.scan, None
        if scan.is_current:
            pages = scan.chain("GROW", scan.place("growth"))
        self.growth_is_whole = pages is not None or not scan.is_current
        if pages is None:
            pages = [page for page in scan.pages if page.use == "GROW"]
            pages.sort(key=lambda p: (p.fields["generation"], p.position))
        self.growth = {}
        for page in pages:
            for row in page.dictionaries(scan):
                if row["state"] == 0:
                    self.growth.setdefault(row["order"], []).append((page.fields["generation"], row))

    def choose(self):
        scan, index = self.scan, self.index
        newest, later, names = {}, {}, {}
        for at in scan.headers:
            f = Fields(scan.bytes, None, at, BLOCK)
            if f["kind"] == KIND_OF_A_DICTIONARY:
                continue
            name = names[at] = bytes(scan.data[at + BLOCK_HEADER : at + BLOCK_HEADER + f["name length"]])
            rank = f["generation"], not f["flags"] & TOMBSTONE, at
            if scan.may_be_later and f["generation"] > scan.generation:
                if rank[1]:
                    later[name] = max(later.get(name, rank), rank)
            else:
                newest[name] = max(newest.get(name, rank), rank)
        self.removed = {name for name, (_, live, _) in newest.items() if not live}
        for name, entry in index.entries.items():
            if names.get(entry["position"]) == name:
                doubt = "" if self.growth_is_whole else "perhaps older or removed"
                self.take(name, self.version(name, entry["position"], entry, doubt))
            else:
                self.lost.add(name)
        for name in {*newest, *later} - {name for name, e in index.entries.items() if names.get(e["position"]) == name}:
            versions = []
            if name in later:
                versions.append((later[name][2], "perhaps not committed"))
            generation, live, at = newest.get(name, (0, False, 0))
            if live and name in index.entries:
                versions.append((at, "older"))
            elif live and not index.covers(name):
                doubt = "perhaps older or removed"
                if not scan.generation:
                    doubt = "perhaps not committed"
                elif generation == scan.generation and not scan.may_be_later:
                    doubt = ""
                versions.append((at, doubt))
            found = [self.version(name, at, None, doubt) for at, doubt in versions]
            whole = [block for block in found if block and block.whole]
            readable = [block for block in found if block]
            if versions:  # a version that is not whole gives way to an older one
                older = found[-1:] if len(found) > 1 and found[-1] else []
                self.take(name, (whole[:1] or older or readable[:1] or [None])[0])

    def version(self, name, at, entry, doubt):
        """Returns the version of a block whose header lies at `at`, or None."""
        found = FoundBlock(name, at, doubt)
        return found if self.read_block(found, entry) else None

    def take(self, name, found):
        if found:
            self.blocks[name] = found
        else:
            self.lost.add(name)

    def read_block(self, found, entry):
        scan, at = self.scan, found.position
        header = Fields(scan.bytes, None, at, BLOCK)
        if found.name and (b"\0" in found.name or any(p in (b"", b".", b"..") for p in found.name.split(b"/"))):
            return False
        is_confirmed = entry is not None
        if is_confirmed:
            same = ("kind", "codec", "stored length", "raw length", "digest", "samples", "order", "sum")
            if any(entry[key] != header[key] for key in same) or entry["needs"] & ~NEEDS or header["flags"] & TOMBSTONE:
                return False
        else:
            entry = dict(header)
            entry |= {"data map position": 0, "data map length": 0, "data map sum": 0}
        c = self.read_definitions(found, header)
        if c is None:
            return False
        if c.record_dimension is None:
            if is_confirmed:
                found.doubt = ""
            elif entry["records"] != nmb.fixed_records(c):
                entry["records"] = nmb.fixed_records(c)
        walk, generation, is_known, run = self.find_values(found, header, entry, is_confirmed)
        length, records = walk.end, entry["records"]
        if not is_known and length != header["extent length"]:
            if c.record_dimension is not None and c.record_size:
                records, rest = divmod(max(0, length - (c.record_begin - c.base)), c.record_size)
                records += rest > 0 and rest + 3 >= c.record_size  # padding after the last value may be missing
            if length < header["extent length"] and records <= header["records"]:
                walk.lost.append((length, header["extent length"]))
                length, records = header["extent length"], entry["records"]
        for of_generation, row in self.growth.get(header["order"], []):
            if found.doubt == "older":
                break
            piece = Piece(dict(row, state=0))
            if of_generation < generation or piece.logical != length or not piece.raw or row["records"] < records:
                continue
            if piece_lengths_are_right(piece, scan.piece_size):
                walk.pieces.append(piece)
            else:
                walk.broken.append((piece.logical, piece.end))
            if found.settled is None:
                found.settled = length
            length, records = piece.end, row["records"]
        if nmb.wrong_length(c, header, records, length):
            return False
        found.records = records
        self.check_values(found, walk, length, run)
        return True

    def read_definitions(self, found, header):
        scan = self.scan
        at = found.position + BLOCK_HEADER + up(header["name length"])
        end = at + up(header["stored length"])
        if end > len(scan.data) or sum64(bytes(scan.data[at:end])) != header["body sum"]:
            return None
        if header["kind"] not in (1, 2, 5, 6) or header["codec"] > (1 if scan.bytes.dictionary is None else 2):
            return None
        stored = bytes(scan.data[at : at + header["stored length"]])
        body = nmb.decode(scan.bytes, header["codec"], stored, header["raw length"])
        if isinstance(body, str) or digest128(body) != header["digest"]:
            return None
        try:
            c = extended.decode(body) if header["kind"] == 6 else classic.decode(body, values_follow=False)
            if c.extension:
                extended.read_properties(c.extension.hdf5)
        except (classic.ClassicError, extended.Unsupported, extended.BrokenValue):
            return None
        found.body = bytes(body)
        return c if c.kind == header["kind"] else None

    def find_values(self, found, header, entry, is_confirmed):
        """Returns the pieces, the generation from which on growth rows count, whether the length is known, and the run.

        The run is the position of an uncoded extent that lies in one run, or 0 if this is not known.
        """
        scan, generation, is_known = self.scan, header["generation"], True
        place = entry["data map position"], entry["data map length"], entry["data map sum"]
        is_lost, run = False, entry["extent position"]
        if not is_confirmed:
            mine = [p for p in scan.pages if p.use == "DMAP" and p.fields["owner"] == found.position]
            children = {at for p in mine if p.fields["level"] for (at,) in p.rows(scan.bytes, "position")}
            roots = [p for p in mine if p.position not in children]
            root = max(roots, key=lambda p: (p.fields["generation"], p.position), default=None)
            is_lost = root is None and header["flags"] & MAP
            if root:
                place = root.position, root.fields["length"], root.fields["sum"]
                is_known = generation == root.fields["generation"]
                generation = root.fields["generation"]
                run = header["extent position"] if is_known else 0
        length = entry["extent length"]
        if any(place):
            end = length if is_known else UNKNOWN_END
            return MapWalk(scan, found.position, end, scan.piece_size, length).run(place), generation, is_known, run
        walk = MapWalk(scan, found.position, length, scan.piece_size)
        row = {"logical offset": 0, "raw length": length, "position": entry["extent position"], "stored length": length}
        row |= {"codec": 0, "sum": entry["extent sum"], "state": 1 if entry["flags"] & (1 if is_confirmed else 2) else 0}
        if length and not row["state"] and (is_lost or not row["position"]):
            walk.lost.append((0, length))
        elif length:
            walk.pieces.append(Piece(row))
        return walk, generation, is_known, run

    def check_values(self, found, walk, length, run):
        found.extent = bytearray(length)
        damaged = list(walk.broken)
        found.lacks_pieces = bool(damaged)
        for start, end in walk.lost:
            if FIRST_STRUCTURE <= run and run + end <= len(self.scan.data):
                found.unverified.append((start, end))
                found.extent[start:end] = self.scan.data[run + start : run + end]
                found.places.append((run + start, run + end))
            else:
                damaged.append((start, end))
                found.lacks_pieces = True
        found.unverified = joined(found.unverified)
        for piece in walk.pieces:
            if piece.hole:
                found.holes.append((piece.logical, piece.end))
                continue
            raw = stored_bytes(self.scan, self.files, piece)
            if raw is None:
                damaged.append((piece.logical, piece.end))
                continue
            found.extent[piece.logical : piece.end] = raw
            at = self.files.place_in_original(piece.file, piece.position, piece.stored) if piece.file else piece.position
            if at and piece.file and not self.files.has_lost_row(piece.file):
                found.in_originals.append((at, at + piece.stored))
            elif at:
                found.places.append((at, at + piece.stored))
            else:
                found.in_other_files = True
        found.damaged = joined(damaged)

    def drop_stored_headers(self):
        places = sorted((a, b, block.position) for block in self.blocks.values() for a, b in block.places)
        begins = [a for a, _, _ in places]

        def is_stored(block):
            before = places[: bisect.bisect_right(begins, block.position)]
            return any(a <= block.position < b and owner != block.position for a, b, owner in before)

        stored = [name for name, block in self.blocks.items() if name not in self.index.entries and is_stored(block)]
        for name in stored:
            del self.blocks[name]


def recover(data, folder=None):
    return Recovered(data, folder)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as stream:
        data = stream.read()
    found = recover(data, os.path.dirname(os.path.realpath(arguments[0])))
    text = lambda name: name.decode("utf-8", "backslashreplace")  # noqa: E731
    document = {"blocks": [], "lost": sorted(map(text, found.lost)), "perhaps_lost": sorted(map(text, found.perhaps_lost))}
    for name, block in sorted(found.blocks.items()):
        document["blocks"].append(
            {
                "name": text(name),
                "position": block.position,
                "doubt": block.doubt,
                "damaged": block.damaged,
                "unverified": block.unverified,
            }
        )
    print(json.dumps(document, indent=1))
    return 0 if found.is_ours else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
