"""Checks rows of the tables of statistics and tags (format.md, sections 9.2 and 9.4).

This module is a part of nmb_reference.py.
"""

import statistics_reference as statistics

MOST_TREES = 64
ROW, BEFORE, GONE = range(3)  # state
PLACE = ("position", "stored length", "sum")
SAID = ("kind", "elements", "missing", "NaN", "minimum", "maximum")
TEXT, INT64, UINT64, DOUBLE = range(1, 5)


class TableRow:
    def __init__(self, row, name, data):
        self.row, self.name, self.data = row, name, data
        self.state, self.order = row["state"], row["order"]
        self.counts = None  # in statistics, the decoded row

    def key(self):
        return (self.state == ROW, self.name, self.order)


def names_of(page):
    """Returns the name of each row. A row without name bytes has the name of the previous row."""
    out = []
    for number, (own, _) in enumerate(page.names):
        out.append(own if own or number == 0 else out[-1])
    return out


def rows_of(file, leaves, table):
    """Returns all rows of a tree in order. Checks R-TB-1, R-TB-3, and R-ST-1 or R-TG-1 for each row."""
    out = []
    for page in leaves:
        for number, name in enumerate(names_of(page)):
            row = TableRow(page.row(number), name, page.bytes[number])
            at, what = row.row.at("order"), f"{table}: {name!r} of block {row.order}"
            if row.state > GONE:
                file.find("R-TB-1", at, f"{what}: state {row.state}")
                continue
            place, said = any(row.row[c] for c in PLACE), any(row.row[c] for c in SAID) or bool(row.data)
            alone = {ROW: bool(name) and not place, GONE: not (name or place or said)}
            if not alone.get(row.state, not (name or said or row.order or out)):
                file.find("R-TB-1", at, f"{what}: state {row.state} with other values or name, or not the first row")
            elif row.state != BEFORE and out and out[-1].state != BEFORE and out[-1].key() >= row.key():
                file.find("R-TB-1", at, f"{what}: not behind {out[-1].name!r} of block {out[-1].order}")
            if row.state != BEFORE and row.order >= file.superblock["next order"]:
                file.find("R-TB-3", at, f"{what}: the next order is {file.superblock['next order']}")
            if row.state == ROW:
                check_row(file, table, row, at, what)
            out.append(row)
    return out


def check_row(file, table, row, at, what):
    try:
        if table == "statistics":
            row.counts = statistics.decode(row.row, row.data)
        elif not is_tag(row):
            file.find("R-TG-1", at, f"{what}: kind {row.row['kind']}, {len(row.data)} bytes")
    except statistics.Broken as broken:
        file.find("R-ST-1", at, f"{what}: {broken}")


def is_tag(row):
    if not is_text(row.name):
        return False
    if row.row["kind"] == TEXT:
        return row.row["minimum"] == 0 and is_text(row.data)
    return row.row["kind"] in (INT64, UINT64, DOUBLE) and not row.data


def is_text(data):
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False
