#!/usr/bin/python3
"""Prints which room of the source includes from which, and checks that only those do that may.

    scripts/check_rooms.py TABLE ROOT...

A room is a folder below a ROOT; includes are relative to the ROOTs or to the file that has them. TABLE has a line for each
room, from below, with the rooms that it may use; indented lines below it name what the room holds besides its folder:

    page: wire
        nmb/bytes.h
    hdf5/bytes: wire page

A file is of the room with the longest name that its path begins with. The graph has a line for each room: its files, and the
rooms it uses with the number of includes. Exit code 1: rooms need each other in a circle, one uses what it may not, a file is
in no room, or an include is not found. Each is printed with the includes that cause it.
"""

import argparse
import graphlib
import re
import sys
from collections import defaultdict
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<(nmb/[^>]+)>)', re.MULTILINE)


class Table:
    """The rooms from below, what each may use, and to which room a path belongs."""

    def __init__(self, path):
        self.uses, self.room_of_path = {}, {}
        room = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.partition("#")[0].replace(":", ": ", 1).split()
            if not words:
                continue
            if line[0].isspace():
                if room is None:
                    sys.exit(f"{path}:{number}: files before the first room")
                self.room_of_path.update(dict.fromkeys(words, room))
                continue
            room = words[0].removesuffix(":")
            if room == words[0] or room in self.uses:
                sys.exit(f"{path}:{number}: expected a new room and a colon, found {words[0]!r}")
            unknown = [used for used in words[1:] if used not in self.uses]
            if unknown:
                sys.exit(f"{path}:{number}: {room} may use only rooms of lines above, not {' '.join(unknown)}")
            self.uses[room] = set(words[1:])
            self.room_of_path[room] = room

    def room(self, path):
        """The room of a path below a root; None: none has it."""
        parts = path.parts
        prefixes = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self.room_of_path[prefix] for prefix in prefixes if prefix in self.room_of_path), None)


class Sources:
    """The files below the roots, each once, and where includes lead."""

    def __init__(self, roots):
        self.roots = [root.resolve() for root in roots]
        # A root may lie in another: a file's name is relative to the inner one.
        self.names = {}
        for root in sorted(self.roots, key=lambda root: len(root.parts)):
            for path in sorted(root.rglob("*")):
                if path.suffix in (".h", ".cpp"):
                    self.names[path] = path.relative_to(root)

    def includes(self, path):
        """(line, the text of the include, the path it leads to or None) for each include of a file of this source."""
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            wanted = match[1] or match[2]
            places = ((folder / wanted).resolve() for folder in (path.parent, *self.roots))
            yield text.count("\n", 0, match.start()) + 1, wanted, next((p for p in places if p in self.names), None)


class Graph:
    """How many files each room has, the includes between rooms, and what is wrong with single files."""

    def __init__(self, table, sources):
        self.files = dict.fromkeys(table.uses, 0)
        self.edges = defaultdict(list)  # (room, used room) -> "file:line: include"
        self.faults = []
        for path, name in sources.names.items():
            room = table.room(name)
            if room is None:
                self.faults.append(f"{name}: in no room")
                continue
            self.files[room] += 1
            for line, wanted, target in sources.includes(path):
                where = f"{name}:{line}: {wanted}"
                if target is None:
                    self.faults.append(f"{where}: not found")
                elif (used := table.room(sources.names[target])) not in (room, None):
                    self.edges[room, used].append(where)

    def used(self, room):
        return {used for user, used in self.edges if user == room}

    def floors(self):
        """The floor of each room: one above the highest that it uses; or None and a circle of rooms."""
        try:
            order = list(graphlib.TopologicalSorter({room: self.used(room) for room in self.files}).static_order())
        except graphlib.CycleError as error:
            return None, error.args[1][::-1]
        floors = {}
        for room in order:
            floors[room] = 1 + max((floors[used] for used in self.used(room)), default=-1)
        return floors, None


def print_graph(graph, floors):
    rooms = list(graph.files)
    for room in rooms:
        used = sorted(graph.used(room), key=rooms.index)
        counts = " ".join(f"{other}:{len(graph.edges[room, other])}" for other in used)
        floor = f"{floors[room]:2}  " if floors else ""
        print(f"{floor}{room} ({graph.files[room]} files)  {counts}".rstrip())


def print_edge(graph, what, edge):
    print(f"\n{what}: {edge[0]} uses {edge[1]}")
    for where in sorted(graph.edges[edge]):
        print(f"    {where}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("roots", type=Path, nargs="+", metavar="root")
    options = parser.parse_args()
    table = Table(options.table)
    graph = Graph(table, Sources(options.roots))
    floors, circle = graph.floors()
    print_graph(graph, floors)
    if circle:
        print("\ncircle: " + " uses ".join(circle))
    refused = [edge for edge in sorted(graph.edges) if edge[1] not in table.uses[edge[0]]]
    for edge in refused:
        print_edge(graph, "not allowed", edge)
    for fault in graph.faults:
        print(fault)
    return 1 if circle or refused or graph.faults else 0


if __name__ == "__main__":
    sys.exit(main())
