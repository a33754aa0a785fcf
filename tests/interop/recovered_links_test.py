#!/usr/bin/python3
"""nmverify --recover: links and references after the loss of a block. Random HDF5 files are packed: trees of groups with
hard, soft and external links, named datatypes, and object and region references in attributes and values. The sound file
is recovered with nothing lost. Then each block is lost in turn: h5py finds in the recovered file what the lost block
did not have. Hard links and references to lost objects are gone, and the report names each of them. Soft and external
links are the same. --plan lists the same losses as --recover.

    recovered_links_test.py --tools FOLDER
"""

import random
import re
import sys
from pathlib import Path

import tool_runs

import h5py
import netCDF4
import numpy

sys.path.append(str(Path(__file__).resolve().parents[2] / "spec" / "reference"))
import recovery_reference as reference  # noqa: E402

NAMES = ["a", "b", "g0", "g1", "z"]
PAIR = numpy.dtype([("n", "<i4"), ("to", h5py.ref_dtype)])
LISTS = h5py.vlen_dtype(h5py.ref_dtype)


# --- files ---


def objects(file):
    """The first path of each object, by its address, in the order in which groups are visited."""
    found = {h5py.h5o.get_info(file.id).addr: "/"}

    def visit(group, path):
        below = []
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue
            child = group[name]
            here = path.rstrip("/") + "/" + name
            if found.setdefault(h5py.h5o.get_info(child.id).addr, here) == here and isinstance(child, h5py.Group):
                below.append((child, here))
        for child, here in below:
            visit(child, here)

    visit(file, "/")
    return found


def make(path, chance):
    with h5py.File(path, "w") as file:
        groups, values, all_objects = [file], [], [file]
        for _ in range(chance.randrange(2, 7)):
            above = chance.choice(groups)
            name = chance.choice(NAMES)
            if name not in above:
                groups.append(above.create_group(name))
        for i in range(chance.randrange(2, 8)):
            values.append(chance.choice(groups).create_dataset(f"v{i}", data=numpy.arange(12).reshape(3, 4) + i))
        for i in range(chance.randrange(3)):
            chance.choice(groups)[f"t{i}"] = numpy.dtype([("x", "<i2"), ("y", "<f4")])
        all_objects += groups[1:] + values
        for group in groups:
            all_objects += [group[name] for name in group if name.startswith("t")]

        def target():
            return chance.choice(all_objects)

        def region():
            at = chance.randrange(3)
            return chance.choice(values).regionref[at : at + 1, 1:3]

        for i in range(chance.randrange(3, 12)):
            group, name = chance.choice(groups), f"{chance.choice('amz')}{i}"
            kind = chance.randrange(8)
            if kind < 3:
                group[name] = target()
            elif kind < 5:
                to = chance.choice([target().name, "/no/such", "../x", "g1/v0", "/g0", "/"])
                group[name] = h5py.SoftLink(to)
            elif kind < 6:
                group[name] = h5py.ExternalLink("elsewhere.h5", target().name)
            elif kind < 7:
                group.create_dataset(name, data=[target().ref for _ in range(3)], dtype=h5py.ref_dtype)
            else:
                group.create_dataset(name, data=[region(), region()], dtype=h5py.regionref_dtype)
        for i in range(chance.randrange(2, 9)):
            attributes, name = target().attrs, f"r{i}"
            kind = chance.randrange(5)
            if kind == 0:
                attributes[name] = target().ref
            elif kind == 1:
                attributes[name] = numpy.array([(i, target().ref) for _ in range(2)], PAIR)
            elif kind == 2:
                lists = numpy.empty(2, object)
                lists[:] = [numpy.array([target().ref for _ in range(n)], h5py.ref_dtype) for n in (1, 2)]
                attributes.create(name, lists, dtype=LISTS)
            elif kind == 3:
                attributes.create(name, region(), dtype=h5py.regionref_dtype)
            else:
                attributes[name] = i


# --- what a file has ---


def described(path):
    """For each object, by its first path: its kind, attributes, links and values. A reference is ("ref", path), with path
    None if it is null."""
    with h5py.File(path) as file:
        found = objects(file)

        def plain(value):
            if isinstance(value, h5py.h5r.RegionReference) or isinstance(value, h5py.RegionReference):
                if not value:
                    return "ref", None, None
                space = h5py.h5r.get_region(value, file.id)
                return "ref", found[h5py.h5o.get_info(file[value].id).addr], str(space.get_select_bounds())
            if isinstance(value, h5py.Reference):
                return "ref", found[h5py.h5o.get_info(file[value].id).addr] if value else None
            if isinstance(value, numpy.void):
                return tuple(plain(value[name]) for name in value.dtype.names)
            if isinstance(value, numpy.ndarray):
                return [plain(one) for one in value.ravel()]
            return value.item() if isinstance(value, numpy.generic) else value

        out = {}
        for path in found.values():
            one = file[path]
            attributes = {name: plain(one.attrs[name]) for name in one.attrs}
            links = {}
            if isinstance(one, h5py.Group):
                for name in one:
                    link = one.get(name, getlink=True)
                    if isinstance(link, h5py.HardLink):
                        links[name] = "hard", found[h5py.h5o.get_info(one[name].id).addr]
                    else:
                        links[name] = type(link).__name__, link.path, getattr(link, "filename", "")
            values = plain(one[...]) if isinstance(one, h5py.Dataset) else None
            out[path] = type(one).__name__, attributes, links, values
        return out


def below(path, group):
    return path != group and path.startswith(group.rstrip("/") + "/")


def parent(path):
    return path[: path.rindex("/")] or "/"


def without(whole, block):
    """Returns described() without one block, and the (block, name) pairs that the report must have."""
    is_group = {path: kind in ("Group", "File") for path, (kind, *_) in whole.items()}
    gone = {block} | {path for path in whole if path != "/" and parent(path) == block and not is_group[path]}
    has_groups = any(is_group[path] and below(path, block) for path in whole)
    names = set()

    def kept(value):
        """The value without references to lost objects, and whether it had any."""
        if isinstance(value, tuple) and value and value[0] == "ref":
            is_lost = value[1] in gone and value[1] != "/"
            return (("ref",) + (None,) * (len(value) - 1) if is_lost else value), is_lost
        if isinstance(value, (tuple, list)):
            both = [kept(one) for one in value]
            return type(value)(one for one, _ in both), any(lost for _, lost in both)
        return value, False

    out = {}
    for path, (kind, attributes, links, values) in whole.items():
        if path in gone:
            continue
        own = path if is_group[path] else parent(path)
        new = {}
        for name, value in attributes.items():
            new[name], is_lost = kept(value)
            if is_lost:
                one = "" if is_group[path] else path.rsplit("/", 1)[1] + "@"
                of_type = kind == "Datatype"
                names.add((own, f'references of attribute "{name if of_type else one + name}"' + " of a named datatype" * of_type))
        values, is_lost = kept(values)
        if is_lost:
            names.add((own, f'references of variable "{path.rsplit("/", 1)[1]}"'))
        new_links = {}
        for name, link in links.items():
            here = path.rstrip("/") + "/" + name
            if link[0] == "hard" and link[1] in gone and link[1] != "/":
                if here != link[1]:
                    names.add((path, f'link "{name}"'))
                elif has_groups:
                    new_links[name] = link
            else:
                new_links[name] = link
        out[path] = kind, new, new_links, values
    if has_groups or block == "/":
        children = {path.rsplit("/", 1)[1]: ("hard", path) for path in whole if is_group[path] and path != "/" and parent(path) == block}
        out[block] = whole[block][0], {}, children, None
    return out, names


# --- tests ---


def lose(path, block):
    """Flips a bit in the header of a block."""
    data = bytearray(path.read_bytes())
    data[reference.recover(bytes(data), path.parent).blocks[block.encode()].position + 100] ^= 1
    path.write_bytes(data)


def named(text):
    return {("/" + block, what) for block, what in re.findall(r': lost: block "(.*?)": (.*): left out, because', text)}


def check_recovered(test, what, expected, exit_code):
    """Recovers x.nmb. Returns what the report says."""
    plan = test.run("nmverify", "--plan", "x.nmb", exit_code=exit_code)
    said = test.run("nmverify", "--recover", "back.nmb", "-f", "--no-sync", "x.nmb", exit_code=exit_code)
    test.check(plan.splitlines()[:-1] == said.splitlines()[:-1], f"{what}: --plan says {plan}, --recover {said}")
    test.run("nmverify", "-q", "back.nmb")
    (test.work / "back.h5").unlink(missing_ok=True)
    test.run("nmconvert", "-q", "--no-sync", "back.nmb", "back.h5")
    if (test.work / "back.h5").exists():
        found = described(test.work / "back.h5")
        for path in sorted(expected.keys() | found.keys()):
            test.check(expected.get(path) == found.get(path), f"{what}: {path}: {found.get(path)}, expected {expected.get(path)}")
    else:
        test.check(False, f"{what}: not converted")
    return said


def check_generated(test, seed):
    make(test.work / "x.h5", random.Random(seed))
    originals = [[], ["--no-originals"], ["--no-originals", "--hdf5-view", "on"]][seed % 3]
    test.run("nmcat", "-q", "x.h5", "-o", "x.nmb", "-f", "--no-sync", "--block-name", "{group}", *originals)
    whole = described(test.work / "x.h5")
    said = check_recovered(test, f"seed {seed}", whole, 0)
    test.check("nothing is lost" in said, f"seed {seed}: {said}")
    sound = (test.work / "x.nmb").read_bytes()
    for block in [path for path, (kind, *_) in whole.items() if kind in ("Group", "File")]:
        (test.work / "x.nmb").write_bytes(sound)
        lose(test.work / "x.nmb", block[1:])
        what = f"seed {seed} without {block}"
        expected, names = without(whole, block)
        if len([path for path, (kind, *_) in whole.items() if kind in ("Group", "File")]) == 1:
            continue  # nothing is left
        said = check_recovered(test, what, expected, 3)
        test.check(named(said) == names, f"{what}: names {sorted(named(said))}, expected {sorted(names)}: {said}")


def check_lists(test, what, *options, exit_code=3, says=()):
    """Checks that --plan and --recover print the same lines."""
    plan = test.run("nmverify", "--plan", "x.nmb", *options, exit_code=exit_code)
    said = test.run("nmverify", "--recover", "back.nmb", "-f", "--no-sync", "x.nmb", *options, exit_code=exit_code)
    test.check(plan.splitlines()[:-1] == said.splitlines()[:-1], f"{what}: --plan says {plan}, --recover {said}")
    for text in says:
        test.check(text in said, f"{what}: expected {text!r}: {said}")
    test.run("nmverify", "-q", "back.nmb")


def check_dimensions(test):
    """Dimensions of a lost group: of one netCDF-4 file, and of several that are united."""
    for name in "a.nc", "b.nc":
        with netCDF4.Dataset(test.work / name, "w") as file:
            file.createDimension("t", None)
            file.createDimension("x", 5)
            file.createVariable("x", "f8", ("x",))[:] = numpy.arange(5)
            group = file.createGroup("g")
            group.createVariable("v", "f4", ("t", "x"))[:] = numpy.ones((1, 5))
    for arguments, says in (
        (["a.nc", "--no-originals", "--block-name", "{group}"], ['block "g": references of attribute "v@DIMENSION_LIST": left out']),
        (["a.nc", "b.nc", "--mode", "union"], [f'block "g": dimension "{name}": no longer shared, because block ""' for name in "tx"]),
    ):
        test.run("nmcat", "-q", *arguments, "-o", "x.nmb", "-f", "--no-sync")
        lose(test.work / "x.nmb", "")
        check_lists(test, arguments, says=says)
        test.run("nmconvert", "-q", "back.nmb", "-o", "back.nc", "-f", "--to", "nc4")
        with netCDF4.Dataset(test.work / "back.nc") as file:
            test.check((file["g/v"][:] == 1).all(), f"{arguments}: other values")
        # The recovered file is sound: recovering it loses nothing more.
        (test.work / "back.nmb").rename(test.work / "x.nmb")
        check_lists(test, arguments, exit_code=0)
    # Without its scale, a dimension has no name in HDF5, and is no more shared than others of its length.
    with h5py.File(test.work / "scale.h5", "w") as file:
        x = file.create_dataset("b/x", data=numpy.arange(50.0))
        x.make_scale("x")
        file["a/v"] = numpy.arange(50.0)
        file["a/v"].dims[0].attach_scale(x)
        file["a/w"] = numpy.zeros(50)
    test.run("nmcat", "-q", "scale.h5", "-o", "x.nmb", "-f", "--no-sync", "--no-originals", "--block-name", "{group}")
    test.run("nmcat", "-q", "x.nmb", "-o", "back.nmb", "-f", "--exclude", "b", "--block-name", "{group}")
    for kind in "hdf5", "nc4":
        test.run("nmconvert", "-q", "back.nmb", "-o", "back.h5", "-f", "--to", kind)
        with h5py.File(test.work / "back.h5") as file:
            test.check((file["a/v"][:] == numpy.arange(50)).all() and not file["a/w"][:].any(), f"{kind}: other values")


def check_view(test):
    """The new file has no view if only a part of an array is left."""
    for name in "v.nc", "w.nc":
        with netCDF4.Dataset(test.work / name, "w", format="NETCDF3_64BIT_DATA") as file:
            file.createDimension("x", 600000)
            file.createVariable("v", "f8", ("x",))[:] = numpy.arange(600000)
    test.run("nmcat", "-q", "v.nc", "w.nc", "-o", "x.nmb", "-f", "--no-sync", "--hdf5-view", "on")
    data = bytearray((test.work / "x.nmb").read_bytes())
    data[data.index(numpy.arange(300000, 300008, dtype=">f8").tobytes())] ^= 1
    (test.work / "x.nmb").write_bytes(data)
    check_lists(test, "view")
    with h5py.File(test.work / "back.nmb") as file:
        test.check(list(file) == ["w"], f"the view shows {list(file)}")
    check_lists(test, "part of a view", "--partial", says=["the new file has no view: "])


def check(test):
    check_dimensions(test)
    check_view(test)
    for seed in tool_runs.some(range(60), 8):
        check_generated(test, seed)


if __name__ == "__main__":
    sys.exit(tool_runs.main(__doc__, check))
