#!/usr/bin/env python3
"""Random programs of PnetCDF calls: each runs on NMB by nmb-run and on PnetCDF, and both are compared with
a model in numpy.

  random_programs.py --replay PROGRAM --nmb-run TOOL --mpiexec "mpiexec -n" --work FOLDER [--programs N]

--replay is tests/pnetcdf/replay.c, linked with PnetCDF. Every code and every value that a rank reads is
compared: on NMB with the model, on PnetCDF with the model where values were written (values that no one
has written are undefined there). PnetCDF does not run programs in which one rank's arguments are wrong in a
collective call, because versions before 1.13 hang. Where PnetCDF differs, it is shown and counted, but is no failure: where
1.14.1 is known to lose values (lose_records(), is_strided_record(), put_n()), they count as undefined there; with --strict, every other
difference is a failure.
"""
import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np

TYPES = {1: np.int8, 2: np.dtype("S1"), 3: np.int16, 4: np.int32, 5: np.float32, 6: np.float64, 7: np.uint8,
         8: np.uint16, 9: np.uint32, 10: np.int64, 11: np.uint64}
FILL = {1: -127, 2: 0, 3: -32767, 4: -2147483647, 5: np.float32(9.9692099683868690e+36), 6: 9.9692099683868690e+36,
        7: 255, 8: 65535, 9: 4294967295, 10: -9223372036854775806, 11: 18446744073709551614}
MEMORY = {"schar": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
          "uint": np.uint32, "long": np.int64, "float": np.float32, "double": np.float64, "longlong": np.int64,
          "ulonglong": np.uint64}
MEMORY_FILL = {"schar": -127, "uchar": 255, "short": -32767, "ushort": 65535, "int": -2147483647, "uint": 4294967295,
               "long": -2147483647, "float": FILL[5], "double": FILL[6], "longlong": FILL[10], "ulonglong": FILL[11]}
ERANGE, EINVALCOORDS, EEDGE, ENOTVAR, EINDEFINE, ENOTINDEFINE = -60, -40, -57, -49, -39, -38
ENAMEINUSE, EBADDIM, ECHAR, ESTRIDE, EINVAL_REQUEST = -42, -46, -56, -58, -212


def convert(values, to, fill, byte_is_bytes=False):
    """Converts as netCDF does. Returns the values and whether some did not fit."""
    to = np.dtype(to)
    if values.dtype == to:
        return values.copy(), False
    if byte_is_bytes and {values.dtype, to} == {np.dtype(np.int8), np.dtype(np.uint8)}:
        return values.view(to).copy(), False
    out = np.empty(values.shape, to)
    bad = False
    flat, result = values.ravel(), out.ravel()
    for i, value in enumerate(flat):
        value = value.item()
        if to.kind == "f":
            limit = float(np.finfo(to).max)
            fits = values.dtype.kind != "f" or -limit <= value <= limit
        else:
            info = np.iinfo(to)
            fits = info.min <= value <= info.max if values.dtype.kind != "f" else float(info.min) <= value <= float(info.max)
            value = int(value)
        if fits:
            result[i] = value if to.kind == "f" else min(value, int(np.iinfo(to).max))
        else:
            result[i] = fill
            bad = True
    return out, bad


class Var:
    def __init__(self, name, xtype, dims, fill):
        self.name, self.xtype, self.dims, self.fill_mode = name, xtype, dims, fill
        self.atts = {}
        self.values = self.written = None


class Model:
    """What a file must hold. Values are arrays with one element more for nothing; records grow."""

    def __init__(self, kind):
        self.kind = kind  # 1, 2, 5
        self.dims, self.vars, self.atts = [], [], {}
        self.records = 0
        self.fill = False

    def record_dim(self):
        return next((i for i, (_, n) in enumerate(self.dims) if n == 0), -1)

    def is_record(self, v):
        return bool(v.dims) and self.dims[v.dims[0]][1] == 0

    def shape(self, v, records=None):
        return tuple((self.records if records is None else records) if self.dims[d][1] == 0 else self.dims[d][1]
                     for d in v.dims)

    def fill_of(self, v):
        return v.atts["_FillValue"][1][0] if "_FillValue" in v.atts else FILL[v.xtype]

    def grown(self, v, records):
        shape = self.shape(v, records)
        dtype = np.uint8 if v.xtype == 2 else TYPES[v.xtype]
        if v.values is None or v.values.shape != shape:
            values, written = np.full(shape, self.fill_of(v), dtype), np.zeros(shape, bool)
            if v.values is not None and v.values.size:
                part = tuple(slice(0, n) for n in v.values.shape)
                values[part], written[part] = v.values, v.written
            v.values, v.written = values, written
        return v.values

    def describe(self):
        words = ["code 0 dims", len(self.dims), "vars", len(self.vars), "atts", len(self.atts), "record", self.record_dim()]
        words += [f"{n}={self.records if length == 0 else length}" for n, length in self.dims]
        for v in [None] + self.vars:
            atts = self.atts if v is None else v.atts
            if v is not None:
                words += ["var", v.name, "type", v.xtype, "nofill", 0 if v.fill_mode else 1, "dims", *v.dims]
            for i, (name, (xtype, values)) in enumerate(atts.items()):
                words += ["att", name, "id", i, "type", xtype, "n", f"{len(values)}:"]
                words += [int(x) for x in values] if xtype == 2 else ["%.17g" % x for x in convert(
                    np.array(values, TYPES[xtype]), np.float64, 0)[0]]
        return " ".join(map(str, words))


def sequence(memory, count, first, step):
    values = np.array([first + i * step for i in range(count)], np.float64)
    if memory == "text":
        return np.array([ord("a") + int(x) % 26 for x in values], np.uint8)
    if memory in ("float", "double"):
        return values.astype(MEMORY[memory])
    return np.array([int(x) for x in values], np.int64).astype(MEMORY[memory])


def texts(values, memory):
    if memory == "float":
        return ["%.9g" % float(x) for x in values]
    if memory == "double":
        return ["%.17g" % float(x) for x in values]
    return [str(int(x)) for x in values]


class Program:
    """Writes a script and what each rank must log. An expected word may be None: undefined on PnetCDF."""

    def __init__(self, seed, ranks, path):
        self.random = random.Random(seed)
        self.ranks, self.path = ranks, path
        self.lines, self.expected = [], [[] for _ in range(ranks)]
        self.model = None
        self.number = 0
        self.fails_alone = False
        self.requests = [[] for _ in range(ranks)]  # posted: (number, kind, apply)
        self.request_number = 0
        self.lost = False  # whether PnetCDF has lost requests, so that it is not compared any more
        self.unsettled = set()  # (variable) with independent puts since the last collective call

    # --- lines ---
    def line(self, who, text, words=None, lax=None):
        """words: expected words by rank or for all; lax: the same where PnetCDF may differ."""
        self.lines.append(f"{who} {text}")
        number = len(self.lines)
        call = text.split()[0]
        for rank in range(self.ranks):
            if who == "*" or str(rank) in who.split(","):
                own = words[rank] if isinstance(words, list) else words
                soft = lax[rank] if isinstance(lax, list) else (lax if lax is not None else own)
                self.expected[rank].append((f"{number} {call} {own}", None if self.lost else f"{number} {call} {soft}"))

    def simple(self, text, code=0):
        self.line("*", text, str(code))

    # --- definitions ---
    def name(self, prefix):
        self.number += 1
        return f"{prefix}{self.number}"

    def define_some(self, first):
        r, m = self.random, self.model
        for _ in range(r.randint(1, 3)):
            if len(m.dims) < 6:
                length = 0 if m.record_dim() < 0 and r.random() < 0.5 else r.randint(1, 7)
                name = self.name("d")
                self.simple(f"def_dim {name} {length}")
                m.dims.append((name, length))
        if r.random() < 0.2:
            self.simple(f"def_dim {m.dims[0][0]} 4", ENAMEINUSE)
        if r.random() < 0.1:
            self.simple(f"def_var bad 4 1 {len(m.dims)}", EBADDIM)
        for _ in range(r.randint(1, 3)):
            xtype = r.choice([1, 2, 3, 4, 5, 6] + ([7, 8, 9, 10, 11] if m.kind == 5 else []))
            fixed = [i for i, (_, n) in enumerate(m.dims) if n != 0]
            dims = [r.choice(fixed) for _ in range(r.randint(0, 3))] if fixed else []
            if m.record_dim() >= 0 and r.random() < 0.5:
                dims = [m.record_dim()] + dims[:2]
            name = self.name("v")
            self.simple(f"def_var {name} {xtype} {len(dims)} {' '.join(map(str, dims))}")
            v = Var(name, xtype, dims, m.fill)
            if not first and m.is_record(v):
                self.lose_records()
            m.vars.append(v)
            if r.random() < 0.3 and xtype != 2:
                value = r.randint(0, 100)
                self.simple(f"put_att {len(m.vars) - 1} _FillValue int {xtype} 1 {value} 0")
                v.atts["_FillValue"] = (xtype, [value])
        if r.random() < 0.3:
            mode = r.choice([0, 256])
            self.simple(f"set_fill {mode}")
            m.fill = mode == 0
            for v in m.vars:
                v.fill_mode = m.fill
        for _ in range(r.randint(0, 3)):
            self.put_att()
        if not first:
            for _ in range(r.randint(0, 2)):
                self.change_definition()
        for v in m.vars:
            m.grown(v, m.records)

    def lose_records(self):
        """A new record variable makes records longer. PnetCDF 1.14.1 moves them only where the first one moves too
        (ncmpio_enddef.c compares begin_rec alone), so all others may be lost there."""
        for v in self.model.vars:
            if self.model.is_record(v) and v.written is not None:
                v.written[1:] = False

    def put_att(self):
        r, m = self.random, self.model
        v = r.randint(-1, len(m.vars) - 1)
        atts = m.atts if v < 0 else m.vars[v].atts
        name = self.name("a")
        xtype = r.choice([1, 2, 3, 4, 5, 6] + ([7, 8, 9, 10, 11] if m.kind == 5 else []))
        count, first, step = r.randint(0, 5), r.randint(0, 120), r.randint(0, 3)
        memory = "text" if xtype == 2 else r.choice(["short", "int", "double", "longlong", "uchar"])
        values = sequence(memory, count, first, step)
        code = 0
        if xtype != 2:
            values, bad = convert(values, TYPES[xtype], FILL[xtype], m.kind != 5)
            code = ERANGE if bad else 0
        self.simple(f"put_att {v} {name} {memory} {xtype} {count} {first} {step}", code)
        atts[name] = (xtype, list(values))

    def change_definition(self):
        r, m = self.random, self.model
        what = r.choice(["dim", "var", "att", "del"])
        if what == "dim" and m.dims:
            i, name = r.randrange(len(m.dims)), self.name("renamed_dim")
            self.simple(f"rename_dim {i} {name}")
            m.dims[i] = (name, m.dims[i][1])
        elif what == "var" and m.vars:
            i, name = r.randrange(len(m.vars)), self.name("renamed_var")
            self.simple(f"rename_var {i} {name}")
            m.vars[i].name = name
        else:
            v = r.randint(-1, len(m.vars) - 1)
            atts = m.atts if v < 0 else m.vars[v].atts
            names = [n for n in atts if n != "_FillValue"]
            if not names:
                return
            old = r.choice(names)
            if what == "del":
                self.simple(f"del_att {v} {old}")
                del atts[old]
            else:
                new = self.name("renamed_att")
                self.simple(f"rename_att {v} {old} {new}")
                items = [(new if n == old else n, x) for n, x in atts.items()]
                atts.clear()
                atts.update(items)

    # --- values ---
    def slab(self, v, rank, reading, apart):
        """A hyperslab of a variable: of the rank's own part of the first dimension if `apart`."""
        r, m = self.random, self.model
        start, count, stride = [], [], []
        for i, d in enumerate(v.dims):
            record = m.dims[d][1] == 0
            length = m.records if record and reading else r.randint(1, m.records + 3) if record else m.dims[d][1]
            low, high = 0, length
            if apart and i == 0:
                if record and not reading:
                    low, high = rank * 3, rank * 3 + 3
                else:
                    low, high = length * rank // self.ranks, length * (rank + 1) // self.ranks
            room = high - low
            if room <= 0:
                return None
            s = r.randint(low, high - 1)
            step = r.choice([1, 1, 2, 3] if len(v.dims) > 1 or not record or r.random() < 0.2 else [1])
            n = r.randint(0 if r.random() < 0.1 else 1, (high - 1 - s) // step + 1)
            start.append(s), count.append(n), stride.append(step)
        return start, count, stride

    @staticmethod
    def index(start, count, stride):
        return tuple(np.arange(s, s + n * step, step) for s, n, step in zip(start, count, stride))

    def access_line(self, call, kind, all_, v, start, count, stride, memory, first, step, request=0, flexible=0):
        """Returns text, the order of the elements in memory (an index array) and the room."""
        dims = len(start)
        elements = int(np.prod(count)) if dims else 1
        order = np.arange(elements)
        imap = [int(np.prod(count[i + 1:])) for i in range(dims)]
        room = elements
        if kind == "varm" and dims:
            # The mapping of a transposed array.
            imap = [int(np.prod(count[:i])) for i in range(dims)]
            order = np.arange(elements).reshape(count, order="F").ravel() if elements else order
            order = np.ravel_multi_index(np.unravel_index(np.arange(elements), count), count, order="F") if elements else order
        if call != "get" and kind != "vara" and self.is_strided_record(self.model.vars[v], count, stride):
            self.lost = True
        words = [call, kind, all_, memory, flexible, request, v, dims, elements, first, step, *start, *count, *stride, *imap, room]
        if flexible == 1:  # every second element of the buffer
            order, room = order * 2, 2 * room + 1
        elif flexible == 2:  # the two elements of each pair are exchanged
            order = order ^ 1
        return " ".join(map(str, words)), order, room

    def flexible(self, count):
        if self.random.random() >= 0.5 or 0 in count:
            return 0
        return self.random.choice([1, 2]) if count and int(np.prod(count)) % 2 == 0 else 1

    def is_strided_record(self, v, count, stride):
        """Whether PnetCDF 1.14.1 takes other places for a hyperslab: stride_flatten() (ncmpio_filetype.c) counts in
        elements, not in records, if the record dimension is the only one of a variable."""
        m = self.model
        return (len(count) == 1 and m.is_record(v) and count[0] > 1 and stride[0] > 1
                and sum(m.is_record(other) for other in m.vars) > 1)

    def memory_type(self, v):
        return "text" if v.xtype == 2 else self.random.choice(list(MEMORY))

    def put_values(self, v, memory, room, first, step, order):
        values = sequence(memory, room, first, step)[order]
        if v.xtype == 2:
            return values, False
        return convert(values, TYPES[v.xtype], self.model.fill_of(v), self.model.kind != 5)

    def store(self, v, start, count, stride, values):
        m = self.model
        if 0 in count:
            return
        if m.is_record(v):
            m.records = max(m.records, start[0] + (count[0] - 1) * stride[0] + 1)
            for other in m.vars:
                if m.is_record(other):
                    m.grown(other, m.records)
        at = np.ix_(*self.index(start, count, stride)) if start else ()
        v.values[at] = values.reshape(count) if start else values[0]
        v.written[at] = True

    def read(self, v, memory, start, count, stride, order, room):
        """Returns code and words of a get; lax words have '?' where nothing was written."""
        at = np.ix_(*self.index(start, count, stride)) if start else ()
        values, written = np.ravel(v.values[at]), np.ravel(v.written[at])
        bad = False
        if v.xtype != 2:
            values, bad = convert(values, MEMORY[memory], MEMORY_FILL[memory], self.model.kind != 5)
        out = np.zeros(room, np.uint8 if memory == "text" else MEMORY[memory])
        out[order] = values
        strict = texts(out, memory)
        lax = list(strict)
        undefined = not written.all()
        for i, k in enumerate(order):
            if not written[i]:
                lax[k] = "?"
        code = ERANGE if bad else 0
        return " ".join([str(code)] + strict), " ".join(["?" if undefined else str(code)] + lax)

    def choose(self):
        return self.random.choice([v for v in self.model.vars])

    def kinds(self):
        return self.random.choice(["vara", "vara", "vars", "varm", "varn"])

    def put(self, collective):
        r, m = self.random, self.model
        v = self.choose()
        number = m.vars.index(v)
        if not v.dims:
            # A scalar: one rank writes it, or all the same.
            first = r.randint(0, 100)
            # In independent mode, always the same rank, because values of several ranks would race.
            who = "*" if collective else str(number % self.ranks)
            memory = self.memory_type(v)
            text, order, room = self.access_line("put", "var1", int(collective), number, [], [], [], memory, first, 0)
            values, bad = self.put_values(v, memory, room, first, 0, order)
            self.line(who, text, str(ERANGE if bad else 0))
            self.store(v, [], [], [], values)
            return
        stores = []
        # PnetCDF hangs if one rank's part of a collective put is varn and another's is not.
        all_n = collective and r.random() < 0.2
        for rank in range(self.ranks):
            if not collective and r.random() < 0.4:
                continue
            slab = self.slab(v, rank, False, True)
            memory = self.memory_type(v)
            first, step = r.randint(-50, 130), r.choice([0, 1, 2, 1000] if r.random() < 0.2 else [0, 1])
            if collective and not all_n and r.random() < 0.08:
                # One rank passes wrong arguments; the others go on.
                self.fails_alone = True
                start = [0] * len(v.dims)
                count = [1] * len(v.dims)
                code = ENOTVAR
                text, _, _ = self.access_line("put", "vara", 1, 99, start, count, [1] * len(v.dims), memory, 1, 1)
                if not m.is_record(v) and r.random() < 0.5:
                    start[0] = m.dims[v.dims[0]][1] + 1
                    code = EINVALCOORDS
                    text, _, _ = self.access_line("put", "vara", 1, number, start, count, [1] * len(v.dims), memory, 1, 1)
                self.line(str(rank), text, str(code))
                continue
            if slab is None:
                start, count = [0] * len(v.dims), [0] * len(v.dims)
                if all_n:
                    self.put_n(rank, v, number, True, start, count, memory, 0, 0, stores)
                elif collective:
                    text, _, _ = self.access_line("put", "vara", 1, number, start, count, [1] * len(v.dims), memory, 0, 0)
                    self.line(str(rank), text, "0")
                continue
            start, count, stride = slab
            kind = "varn" if all_n else self.kinds()
            while collective and kind == "varn" and not all_n:
                kind = self.kinds()
            flexible = 0
            if kind == "varn":
                self.put_n(rank, v, number, collective, start, count, memory, first, step, stores)
                continue
            if kind == "vara":
                stride = [1] * len(stride)
                flexible = self.flexible(count)
            text, order, room = self.access_line("put", kind, int(collective), number, start, count, stride, memory,
                                                 first, step, 0, flexible)
            values, bad = self.put_values(v, memory, room, first, step, order)
            self.line(str(rank), text, str(ERANGE if bad else 0))
            stores.append((v, start, count, stride, values))
        for one in stores:
            self.store(*one)

    def put_n(self, rank, v, number, collective, start, count, memory, first, step, stores):
        # The hyperslab in two parts along its first dimension.
        parts = []
        cut = count[0] // 2
        if cut:
            parts.append((list(start), [cut] + count[1:]))
        parts.append(([start[0] + cut] + start[1:], [count[0] - cut] + count[1:]))
        elements = sum(int(np.prod(c)) for _, c in parts)
        words = ["put", "varn", int(collective), memory, 0, 0, number, len(start), elements, first, step, len(parts)]
        for s, c in parts:
            words += s + c
        values, bad = self.put_values(v, memory, elements, first, step, np.arange(elements))
        self.line(str(rank), " ".join(map(str, words)), str(ERANGE if bad else 0))
        # In PnetCDF 1.14.1, a blocking varn with NC_ERANGE writes nothing, and its request stays open until close. Next to
        # open requests of the rank, it loses them: wait_all then returns NC_EINVAL_REQUEST, or writes nothing.
        self.lost = self.lost or bad or bool(self.requests[rank])
        # Where a record of a variable has one element, MPI may refuse the datatype of several records ("overlapping
        # regions"), and the ranks hang.
        row = int(np.prod([self.model.dims[d][1] for d in v.dims[1:]]))
        self.fails_alone = self.fails_alone or (self.model.is_record(v) and row == 1 and count[0] > 1)
        done = 0
        for s, c in parts:
            n = int(np.prod(c))
            stores.append((v, s, c, [1] * len(s), values[done:done + n]))
            done += n

    def get(self, collective):
        r, m = self.random, self.model
        v = self.choose()
        number = m.vars.index(v)
        if m.is_record(v) and m.records == 0:
            return
        for rank in range(self.ranks):
            if not collective and r.random() < 0.4:
                continue
            memory = self.memory_type(v)
            slab = self.slab(v, rank, True, not collective)
            if slab is None:
                continue
            start, count, stride = slab
            kind = r.choice(["vara", "vars", "varm"])
            if kind == "vara":
                stride = [1] * len(stride)
            if not start:
                kind = "var1"
            text, order, room = self.access_line("get", kind, int(collective), number, start, count, stride, memory, 0, 0, 0,
                                                 self.flexible(count) if kind == "vara" else 0)
            strict, lax = self.read(v, memory, start, count, stride, order, room)
            if self.is_strided_record(v, count, stride):
                lax = " ".join("?" for _ in lax.split())
            self.line(str(rank), text, strict, lax)

    def get_everything(self):
        """All ranks read all values of all variables."""
        for number, v in enumerate(self.model.vars):
            shape = list(self.model.shape(v))
            if 0 in shape:
                continue
            memory = "text" if v.xtype == 2 else {5: "float", 6: "double", 11: "ulonglong"}.get(v.xtype, "longlong")
            text, order, room = self.access_line("get", "vara" if shape else "var1", 1, number, [0] * len(shape), shape,
                                                 [1] * len(shape), memory, 0, 0)
            strict, lax = self.read(v, memory, [0] * len(shape), shape, [1] * len(shape), order, room)
            self.line("*", text, strict, lax)

    def post(self):
        r, m = self.random, self.model
        v = self.choose()
        number = m.vars.index(v)
        if not v.dims:
            return
        for rank in range(self.ranks):
            slab = self.slab(v, rank, False, True)
            if slab is None or r.random() < 0.3:
                continue
            start, count, stride = slab
            if 0 in count:
                continue
            # A request must not meet another one of the same values.
            if any(other is v for _, _, other, *_ in self.requests[rank]):
                continue
            memory = self.memory_type(v)
            first, step = r.randint(0, 120), r.choice([0, 1])
            kind = r.choice(["vara", "vars"])
            if kind == "vara":
                stride = [1] * len(stride)
            self.request_number += 1
            text, order, room = self.access_line("iput", kind, 0, number, start, count, stride, memory, first, step,
                                                 self.request_number, self.flexible(count) if kind == "vara" else 0)
            values, bad = self.put_values(v, memory, room, first, step, order)
            self.line(str(rank), text, str(ERANGE if bad else 0))
            self.requests[rank].append((self.request_number, "put", v, start, count, stride, values))

    def wait(self):
        """All ranks complete all of their requests."""
        for rank in range(self.ranks):
            own = self.requests[rank]
            words = " ".join(str(one[0]) for one in own)
            self.line(str(rank), f"wait_all {len(own)} {words}", " ".join(["0"] + ["st 0"] * len(own)))
        for rank in range(self.ranks):
            for _, _, v, start, count, stride, values in self.requests[rank]:
                self.store(v, start, count, stride, values)
            self.requests[rank] = []

    # --- a whole program ---
    def write(self):
        r = self.random
        kind = r.choice([1, 2, 5])
        self.model = Model(kind)
        mode = {1: 0x100, 2: 0x200, 5: 0x20}[kind]
        self.simple(f"create {self.path} {mode}")
        self.define_some(True)
        if r.random() < 0.2:
            self.post()
        self.simple("enddef")
        self.line("*", "inq", self.model.describe())
        for _ in range(r.randint(4, 12)):
            self.step()
        self.wait()
        self.get_everything()
        self.line("*", "inq", self.model.describe())
        self.simple("close")
        self.simple(f"open {self.path} 0")
        for v in self.model.vars:
            v.fill_mode = True
        self.line("*", "inq", self.model.describe())
        self.get_everything()
        self.simple("close")

    def step(self):
        r, m = self.random, self.model
        what = r.choice(["put", "put", "put", "get", "post", "wait", "independent", "sync", "redef", "reopen", "att", "fill"])
        if what == "put":
            self.put(True)
        elif what == "get":
            self.get(True)
        elif what == "post":
            self.post()
        elif what == "wait":
            self.wait()
        elif what == "independent":
            self.simple("begin")
            for _ in range(r.randint(1, 4)):
                self.put(False) if r.random() < 0.7 else self.get_own()
            if r.random() < 0.3:
                self.simple("sync_numrecs")
            self.simple("end")
        elif what == "sync":
            self.simple("sync")
        elif what == "redef":
            self.simple("redef")
            if r.random() < 0.2:
                v = self.choose()
                if v.dims:
                    start = [0] * len(v.dims)
                    text, _, _ = self.access_line("put", "vara", 1, m.vars.index(v), start, [1] * len(start), [1] * len(start),
                                                  self.memory_type(v), 1, 1)
                    self.line("*", text, str(EINDEFINE))
            self.define_some(False)
            self.simple("enddef")
            self.line("*", "inq", m.describe())
        elif what == "reopen" and not any(self.requests):
            self.simple("close")
            self.simple(f"open {self.path} 1")
            for v in m.vars:
                v.fill_mode = True
            m.fill = False
            self.line("*", "inq", m.describe())
        elif what == "att":
            self.simple("def_dim late 3", ENOTINDEFINE)
        elif what == "fill":
            for i, v in enumerate(m.vars):
                if m.is_record(v) and (v.fill_mode or "_FillValue" in v.atts):
                    record = r.randint(0, m.records)
                    self.simple(f"fill_rec {i} {record}")
                    shape = [1] + list(m.shape(v))[1:]
                    values = np.full(shape, m.fill_of(v), v.values.dtype)
                    self.store(v, [record] + [0] * (len(shape) - 1), shape, [1] * len(shape), values.ravel())
                    break

    def get_own(self):
        pass


def matches(got, wanted):
    got, wanted = got.split(), wanted.split()
    return len(got) == len(wanted) and all(w in ("?", g) for g, w in zip(got, wanted))


def compare(log, expected, which, label):
    """Returns the first difference of a rank's log, or None."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    for got, wanted in zip(lines, [e[which] for e in expected]):
        if wanted is not None and not matches(got, wanted):
            return f"{label}: {log.name}:\n  found    {got[:600]}\n  expected {wanted[:600]}"
    if len(lines) != len(expected):
        return f"{label}: {log.name} ends after {len(lines)} of {len(expected)} calls"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replay", required=True)
    parser.add_argument("--nmb-run", required=True)
    parser.add_argument("--mpiexec", required=True, help="with -n last")
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--strict", action="store_true", help="PnetCDF is 1.14.1: where it differs is a failure")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    failures = differences = 0
    for ranks in (1, 2, 3, 4):
        # A seed makes the same program in every run.
        seeds = [seed for seed in range(options.seed, options.seed + options.programs) if 1 + (seed - 1) % 4 == ranks]
        for begin in range(0, len(seeds), options.at_once):
            batch = []
            for seed in seeds[begin:begin + options.at_once]:
                program = Program(seed, ranks, "@")
                program.write()
                batch.append((seed, program))
            for peer in [False] + ([] if options.no_peer else [True]):
                arguments = []
                ran = [one for one in batch if not (peer and one[1].fails_alone)]
                for seed, program in ran:
                    path = options.work / f"p{seed}.{'nc' if peer else 'nmb'}"
                    script = options.work / f"p{seed}.{'peer' if peer else 'nmb'}.script"
                    script.write_text("\n".join(program.lines).replace("@", str(path)) + "\n")
                    arguments += [str(script), str(options.work / f"p{seed}.{'peer' if peer else 'nmb'}.log")]
                if not ran:
                    continue
                command = options.mpiexec.split() + [str(ranks)] + ([] if peer else [options.nmb_run]) + [options.replay] + arguments
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 10 * len(ran))
                    if done.returncode:
                        print(f"ranks {ranks}: exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
                        failures += 1
                except subprocess.TimeoutExpired:
                    print(f"ranks {ranks}, programs {batch[0][0]}..: no end within the time")
                    failures += 1
                for seed, program in ran:
                    for rank in range(ranks):
                        log = options.work / f"p{seed}.{'peer' if peer else 'nmb'}.log.{rank}"
                        difference = compare(log, program.expected[rank], 1 if peer else 0,
                                             f"program {seed} on {'PnetCDF' if peer else 'NMB'}")
                        if difference:
                            print(difference)
                            failures += not peer or options.strict
                            differences += peer
                            break
    print(f"{options.programs} programs, {failures} failures; PnetCDF differs from the model in {differences}")
    if not options.keep and not failures:
        for file in options.work.glob("p*"):
            os.unlink(file)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
