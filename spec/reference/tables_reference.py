"""Checks rows of the tables of statistics and tags (tables.md, sections 9.2 and 9.4).

This module is a part of nmb_reference.py.
"""

import statistics_reference as statistics

MOST_TREES = 64
ROW, BEFORE, GONE = range(3)  # state
PLACE = ("position", "stored length", "sum")
SAID = ("kind", "elements", "missing", "NaN", "minimum", "maximum")


class TableRow:
    def __init__(self, row, name, data):
        self.row, self.name, self.data = row, name, data
        self.state, self.order = row["state"], row["order"]
        self.decoded = None  # in statistics, a statistics.Row, Parts or Function

    def key(self):
        return (self.state == ROW, self.name, self.order)


def names_of(page):
    """Returns the name of each row. A row without name bytes has the name of the previous row."""
    out = []
    for number, (own, _) in enumerate(page.names):
        out.append(own if own or number == 0 else out[-1])
    return out


def rows_of(file, leaves, table):
    """Returns all rows of a tree, in the order of its leaves.

    Checks R-TB-1, R-TB-3, R-TB-5 and R-TB-6 for each row; also checks R-ST-1, R-ST-4 and R-ST-5, or R-TG-1.
    """
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
            if not alone.get(row.state, not (name or said or row.order)):
                file.find("R-TB-5", at, f"{what}: state {row.state} with other values or name")
            if row.state == BEFORE and out or out and out[-1].state != BEFORE and out[-1].key() >= row.key():
                file.find("R-TB-6", at, f"{what}: not behind {out[-1].name!r} of block {out[-1].order}")
            if row.state != BEFORE and row.order >= file.superblock["next order"]:
                file.find("R-TB-3", at, f"{what}: the next order is {file.superblock['next order']}")
            if row.state == ROW:
                check_row(file, table, row, at, what)
            out.append(row)
    return out


def check_row(file, table, row, at, what):
    try:
        if table == "statistics":
            row.decoded = statistics.decode(row.name, row.row, row.data)
        elif not statistics.is_text(row.name) or not statistics.is_tag_value(row.row, row.data):
            file.find("R-TG-1", at, f"{what}: kind {row.row['kind']}, {len(row.data)} bytes")
    except statistics.Broken as broken:
        file.find(broken.rule, at, f"{what}: {broken}")
