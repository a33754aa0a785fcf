"""Finds the newest generation of a file, as format.md (sections 3 to 5.4) and writer.md (section 5.7) describe.

The result of choose(data) depends only on the bytes in `data`. `data` has the bytes of a whole file, or is any object
that has a length and whose slices are bytes. If the file is settled and no bytes follow its newest generation, choose()
reads only the head.
"""

import struct

import xxhash

UNIT = 4096
HEAD = 16384
IDENTITY_AT, MARK_AT = 512, 256
IDENTITY_MAGIC = b"\x89NMB\r\n\x1a\n"
SUPERBLOCK_MAGIC = b"\x89NMBSLOT"
MARK_MAGIC = b"\x89NMBMARK"
IDENTITY_VALUES = [  # offset, bytes, name, value
    (8, 2, "major version", 1),
    (10, 2, "size", 256),
    (12, 2, "sum algorithm", 1),
    (14, 2, "slots", 2),
    (16, 4, "slot unit", 4096),
    (20, 4, "first slot", 4096),
]
KNOWN = {  # section 13, in the superblock's order
    "compatible features": 0xC,
    "read-only compatible features": 0xF,
    "incompatible features": 0,
    "needs": 0x77,
}
sum64 = xxhash.xxh3_64_intdigest


class Superblock:
    """A superblock: 4096 bytes at a position. `sound` means that magic, version and sum are right."""

    __slots__ = ("position", "raw", "sound", "generation", "file_length", "file_id", "previous", "_total")

    def __init__(self, data, position):
        self.position, self._total = position, None
        self.raw = bytes(data[position : position + UNIT]) if position >= 0 else b""
        self.sound = (
            len(self.raw) == UNIT
            and self.raw[:10] == SUPERBLOCK_MAGIC + b"\1\0"
            and int.from_bytes(self.raw[4088:], "little") == sum64(self.raw[:4088])
        )
        if self.sound:
            self.generation, self.file_length = struct.unpack_from("<2Q", self.raw, 16)
            self.file_id = self.raw[64:80]
            self.previous = struct.unpack_from("<3Q", self.raw, 168)  # position, length, sum

    @property
    def zero(self):
        return len(self.raw) == UNIT and not self.raw.strip(b"\0")

    @property
    def total(self):
        """`sum` of all bytes of the superblock, as a place and the mark have it."""
        if self._total is None:
            self._total = sum64(self.raw)
        return self._total


class Mark:
    def __init__(self, data):
        raw = bytes(data[MARK_AT : MARK_AT + 64])
        self.sound = (
            len(raw) == 64
            and raw[:8] == MARK_MAGIC
            and int.from_bytes(raw[56:], "little") == sum64(raw[:56])
        )
        if self.sound:
            self.generation, self.file_length, self.total = struct.unpack_from("<3Q", raw, 8)
            self.file_id = raw[32:48]
            self.reserved = raw[48:56]


class Choice:
    """The result of choose(): the newest generation, and what is wrong."""

    def __init__(self):
        self.newest = None  # Superblock
        self.rolled_forward = False  # the newest generation was taken from a trailer
        self.settled = False
        self.marked = False  # the mark is valid
        self.pending = None  # Superblock that follows the newest one and is not used
        self.lost = False  # a newer generation is lost, and the file cannot be opened
        self.unsupported = False
        self.file_id = None  # 16 bytes
        self.identity = None  # the 256 bytes that identity and cover should have
        self.findings = []  # (rule, offset, message)
        self.warnings = []


def unknown_features(superblock):
    """Returns whether a feature bit is unknown. Reserved bytes may then be in use (section 17)."""
    masks = struct.unpack_from("<4Q", superblock.raw, 32)
    return any(mask & ~known for mask, known in zip(masks, KNOWN.values()))


def is_nmb(data):
    """Returns whether the data are an NMB file (section 3)."""
    places = {0: IDENTITY_MAGIC, 256: MARK_MAGIC, 512: IDENTITY_MAGIC, 4096: SUPERBLOCK_MAGIC, 8192: SUPERBLOCK_MAGIC}
    return any(bytes(data[at : at + 8]) == magic for at, magic in places.items()) or bytes(data[16384:16388]) == b"\x89NMB"


def choose(data, search=False):
    """Returns the Choice for a file.

    search: look for a pending generation in all bytes after the newest generation, as writers do. In a state that is
    not settled, readers do the same.
    """
    c = Choice()
    slots = [Superblock(data, UNIT), Superblock(data, 2 * UNIT)]
    mark = Mark(data)
    find_file_id(c, data, mark, slots)
    if c.unsupported:
        return c
    if c.file_id is None:  # rule 4 accepts a superblock of any file
        last = last_superblock(data, None)
        c.file_id = last.file_id if last else None
    usable = [
        s.sound
        and s.file_id == c.file_id
        and s.generation >= 1
        and (s.generation - 1) % 2 == number
        for number, s in enumerate(slots)
    ]
    c.marked = marked = mark.sound and mark.file_id == c.file_id
    valid = [s for s, is_usable in zip(slots, usable) if is_usable]
    g = max(valid, key=lambda s: s.generation, default=None)
    pick(c, data, g, mark if marked else None, slots, usable)
    if c.newest and c.pending is None and len(data) > c.newest.file_length:
        c.pending = find_pending(data, c.newest, search or not c.settled)
    check_slots(c, data, slots, usable)
    if c.newest is None:
        if c.lost:
            at = max(mark.file_length, UNIT) - UNIT
            c.findings.append(("R-SB-13", at, f"generation {mark.generation} is lost: no superblock at {at}"))
        elif all(s.zero for s in slots):
            c.findings.append(("R-SB-16", UNIT, "both slots are zero: no generation was committed"))
        return c
    if not marked:
        half = is_half_written(data[MARK_AT : MARK_AT + 64], *marks_of(c, slots, usable))
        (c.warnings if half else c.findings).append(("R-SB-12", MARK_AT, "the mark is not valid"))
    elif not is_marked(mark, c.newest):
        c.findings.append(
            ("R-SB-12", MARK_AT, f"the mark is that of generation {mark.generation}, or of another superblock")
        )
    elif any(mark.reserved) and not unknown_features(c.newest):
        c.findings.append(("R-SB-12", MARK_AT, "the mark's reserved bytes are not zero"))
    if c.pending:
        c.warnings.append(
            ("R-SB-13", c.pending.position, f"generation {c.pending.generation} is pending: not in its slot")
        )
    if search and c.pending is None:
        stray = find_stray(data, c.newest)
        if stray:
            c.findings.append(("R-SB-13", stray.position, f"generation {stray.generation} does not follow the newest"))
    check_cover(c, data, slots)
    return c


def pick(c, data, g, mark, slots, usable):
    """Chooses the newest generation by rules 1 to 4 of sections 5.4 and 5.7.

    mark: a valid mark, or None. g: the newest valid slot, or None.
    """
    other_fits = g is not None and slot_before_fits(g, slots, usable)
    if other_fits and mark and is_marked(mark, g) and len(data) >= g.file_length:
        c.newest, c.settled = g, True
    elif mark and (g is None or mark.generation > g.generation):  # rule 1
        trailer = Superblock(data, mark.file_length - UNIT)
        if is_trailer(trailer, c.file_id) and trailer.total == mark.total:
            c.newest, c.rolled_forward = trailer, True
        else:
            c.lost = True
    elif mark:  # rule 2
        c.newest = g
    elif g is not None:  # rule 3
        found = find_pending(data, g, True)
        if found and not other_fits:
            c.newest, c.rolled_forward = found, True
        else:
            c.newest, c.pending = g, found
    else:  # rule 4
        c.newest = last_superblock(data, c.file_id)
        c.rolled_forward = c.newest is not None


def is_trailer(s, file_id):
    return s.sound and file_id in (None, s.file_id) and s.file_length == s.position + UNIT and s.generation >= 1


def is_marked(mark, g):
    """Returns whether the mark names g or the previous generation."""
    if (mark.generation, mark.file_length, mark.total) == (g.generation, g.file_length, g.total):
        return True
    position, _, total = g.previous
    return g.generation > 1 and (mark.generation, mark.file_length, mark.total) == (
        g.generation - 1,
        position + UNIT,
        total,
    )


def slot_before_fits(g, slots, usable):
    """Returns whether the slot that g does not use is as a settled state requires."""
    number = g.generation % 2
    if g.generation == 1:
        return slots[number].zero
    return usable[number] and slots[number].generation == g.generation - 1 and slots[number].total == g.previous[2]


def follows(data, s, g, strangers):
    """Returns whether s leads to g through previous trailers.

    The loop ends, because each trailer lies before the trailer that leads to it. strangers: positions of trailers that
    do not lead to g. Each trailer is followed once, so a search is linear in the number of trailers.
    """
    if not is_trailer(s, g.file_id) or s.position < g.file_length:
        return False
    chain = []
    while s.generation > g.generation + 1:
        chain.append(s.position)
        if s.position in strangers:
            return False
        position, length, total = s.previous
        before = Superblock(data, position) if length == UNIT and position <= s.position - UNIT else None
        if (
            not before
            or not is_trailer(before, g.file_id)
            or before.total != total
            or before.generation != s.generation - 1
            or position < g.file_length
        ):
            strangers.update(chain)
            return False
        s = before
    if s.generation == g.generation + 1 and s.previous == (g.file_length - UNIT, UNIT, g.total):
        return True
    strangers.update(chain)
    return False


def units_behind(data, start):
    """Returns the positions of the whole units of 4096 bytes after `start`, the last unit first."""
    return range(len(data) // UNIT * UNIT - UNIT, max(start, HEAD) - 1, -UNIT)


def find_pending(data, g, search):
    """Returns the superblock that follows g, or None.

    search: look in all bytes after g, not only in the last unit.
    """
    strangers = set()
    for position in units_behind(data, g.file_length):
        if bytes(data[position : position + 8]) == SUPERBLOCK_MAGIC:
            s = Superblock(data, position)
            if follows(data, s, g, strangers):
                return s
        if not search:
            return None
    return None


def find_stray(data, g):
    """Returns the last superblock after g whose generation is at least 2 higher. It does not follow g."""
    for position in units_behind(data, g.file_length):
        if bytes(data[position : position + 8]) == SUPERBLOCK_MAGIC:
            s = Superblock(data, position)
            if is_trailer(s, g.file_id) and s.generation > g.generation + 1:
                return s
    return None


def last_superblock(data, file_id):
    for position in units_behind(data, HEAD):
        if bytes(data[position : position + 8]) == SUPERBLOCK_MAGIC:
            s = Superblock(data, position)
            if is_trailer(s, file_id):
                return s
    return None


def find_file_id(c, data, mark, slots):
    """Checks R-ID-1 to R-ID-3, and takes the file id from the first sound source (section 4)."""
    for at in (IDENTITY_AT, 0):
        raw = bytes(data[at : at + 256])
        magic = raw[:8] == IDENTITY_MAGIC
        sound = magic and len(raw) == 256 and int.from_bytes(raw[248:], "little") == sum64(raw[:248])
        if at == IDENTITY_AT and not magic:
            c.findings.append(("R-ID-1", at, f"magic is {raw[:8].hex(' ')}, expected {IDENTITY_MAGIC.hex(' ')}"))
        elif at == IDENTITY_AT and not sound:
            c.findings.append(("R-ID-2", at, "the identity's sum is not right"))
        if sound:
            for offset, size, name, value in IDENTITY_VALUES:
                found = int.from_bytes(raw[offset : offset + size], "little")
                if found != value:
                    c.findings.append(("R-ID-3", at + offset, f"{name} is {found}, expected {value}"))
                    c.unsupported = True
                    break
            c.file_id, c.identity = raw[24:40], raw
            return
    slots = sorted((s for s in slots if s.sound), key=lambda s: -s.generation)
    for structure in [mark] * mark.sound + slots:
        c.file_id = structure.file_id
        return


def identity_of(file_id):
    raw = IDENTITY_MAGIC + struct.pack("<4H2I", 1, 256, 1, 2, 4096, 4096) + file_id + bytes(208)
    return raw + struct.pack("<Q", sum64(raw))


def is_half_written(found, before, after):
    """Returns whether each byte is that of `before` or that of `after`: a crash can leave such bytes.

    before, after: the bytes before the last commit, and the bytes that this commit writes; None if not known.
    """
    if before is None or after is None:
        return False
    return all(byte in (old, new) for byte, old, new in zip(bytes(found), before, after))


def superblock_before(c, data):
    """Returns the superblock of the generation before the newest one, or None."""
    before = Superblock(data, c.newest.previous[0]) if c.newest.generation > 1 else None
    return before if before and before.sound and before.total == c.newest.previous[2] else None


def marks_of(c, slots, usable):
    """Returns the marks before and after the commit of the newest generation, or None for both."""
    if c.newest.generation == 1 or not slot_before_fits(c.newest, slots, usable):
        return None, None
    position, _, total = c.newest.previous
    return tuple(
        mark_of(generation, length, total, c.newest.file_id)
        for generation, length, total in (
            (c.newest.generation - 1, position + UNIT, total),
            (c.newest.generation, c.newest.file_length, c.newest.total),
        )
    )


def mark_of(generation, file_length, total, file_id):
    raw = MARK_MAGIC + struct.pack("<3Q", generation, file_length, total) + file_id + bytes(8)
    return raw + struct.pack("<Q", sum64(raw))


def check_slots(c, data, slots, usable):
    """Checks R-SB-1 and R-SB-3. A slot that breaks R-SB-1 is not checked for R-SB-3.

    A slot that a commit has written in part is only a warning: a crash ended the commit.
    """
    newest = c.newest
    for number, s in enumerate(slots):
        if not usable[number] and not s.zero and newest and newest.generation % 2 == number and c.pending:
            before = bytes(UNIT) if newest.generation == 1 else getattr(superblock_before(c, data), "raw", None)
            next_one = c.pending.raw if c.pending.generation == newest.generation + 1 else None
            if is_half_written(s.raw, before, next_one):
                c.warnings.append(("R-SB-1", s.position, f"slot {number} was written in part by a commit"))
                continue
        if not usable[number] and not s.zero:
            c.findings.append(("R-SB-1", s.position, f"slot {number} is neither zero nor valid"))
        elif newest is None:
            continue
        elif (newest.generation - 1) % 2 == number:
            if s.raw != newest.raw:
                c.findings.append(
                    ("R-SB-3", s.position + 16, f"slot {number} does not hold generation {newest.generation}")
                )
        elif not slot_before_fits(newest, slots, usable):
            held = f"is of generation {s.generation}" if usable[number] else "is zero"
            c.findings.append(
                ("R-SB-3", s.position + 16, f"slot {number} {held}, beside generation {newest.generation}")
            )


def check_cover(c, data, slots):
    """Checks R-ID-5.

    If each byte is that of the right cover or that of the previous superblock's cover, this is only a warning: a crash
    prevented writing the new cover.
    """
    c.identity = c.identity or identity_of(c.file_id)
    expected = cover_of(c, c.newest)
    cover = bytes(data[:256])
    if cover == expected:
        return
    at = next((i for i, (a, b) in enumerate(zip(cover, expected)) if a != b), len(cover))
    before = superblock_before(c, data)
    if before and is_half_written(cover, cover_of(c, before), expected):
        c.warnings.append(("R-ID-5", at, "the commit did not write the cover, or only a part of it"))
    else:
        c.findings.append(("R-ID-5", at, "the cover differs from the identity, or from the HDF5 superblock"))


def cover_of(c, superblock):
    hdf5 = superblock.raw[384:432]
    return hdf5 + bytes(208) if any(hdf5) else c.identity
