#!/usr/bin/python3
"""The header of a file as CDL is byte for byte what `ncdump -h` prints. As NcML, it says what
netCDF4-python reads.

    header_texts.py --tools FOLDER

Makes files, and reads a share of the classic and netCDF-4 files below $NMB_CORPUS, with NMB_ALL all of
them. header_exceptions.tsv lists the files that may differ, and why; a listed file that does not differ
is a failure. Skipped (exit code 77) without ncdump or netCDF4-python.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import EVERY, FIRST  # noqa: E402

HERE = Path(__file__).resolve().parent
SKIPPED = 77
FOLDERS = ("classic", "netcdf4", "split")
MOST_LISTED = 1  # files of header_exceptions.tsv
NAMESPACE = "{http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2}"
# The children and attributes of each element of NcML 2.2 that the tool uses. Attributes that end with * are required.
ELEMENTS = {
    "netcdf": ("enumTypedef group dimension variable attribute", "location"),
    "group": ("enumTypedef group dimension variable attribute", "name*"),
    "enumTypedef": ("map", "name* type*"),
    "map": ("", "value*"),
    "dimension": ("", "name* length isUnlimited"),
    "variable": ("attribute variable", "name* type* typedef shape"),
    "attribute": ("", "name* type value separator isUnsigned"),
}
TYPES = "byte char short int long float double String Structure opaque enum1 enum2 enum4".split()
KINDS = {"byte": "i1", "char": "S1", "short": "i2", "int": "i4", "long": "i8", "float": "f4", "double": "f8"}


def run(*command):
    return subprocess.run(command, capture_output=True, timeout=120)


def cdl_differs(nminspect, path):
    """None if ncdump cannot read the file."""
    expected = run("ncdump", "-h", path)
    if expected.returncode:
        return None
    found = run(nminspect, "header", path)
    return found.returncode != 0 or found.stdout != expected.stdout


def structure_problems(element):
    tag = element.tag.removeprefix(NAMESPACE)
    children, attributes = ELEMENTS[tag]
    known = [name.strip("*") for name in attributes.split()]
    for name in element.attrib:
        if name not in known:
            yield f"{tag}: attribute {name}"
    for name in attributes.split():
        if name.endswith("*") and name.strip("*") not in element.attrib:
            yield f"{tag}: no attribute {name}"
    if element.get("type") not in (None, *TYPES):
        yield f"{tag}: type {element.get('type')}"
    for child in element:
        name = child.tag.removeprefix(NAMESPACE)
        if name not in children.split():
            yield f"{tag}: element {name}"
        else:
            yield from structure_problems(child)


def attribute_value(element):
    """The value of an attribute in the form of netCDF4-python."""
    import numpy

    text, kind = element.get("value"), element.get("type")
    if kind:
        unsigned = element.get("isUnsigned") == "true"
        values = numpy.array(text.split(), object).astype("u" + KINDS[kind][1:] if unsigned else KINDS[kind])
        return values[0] if len(values) == 1 else values
    # Characters that XML lacks.
    text = "".join(chr(ord(c) - 0xEF00) if 0xEF00 <= ord(c) <= 0xEF1F else c for c in text)
    return text.split(element.get("separator")) if element.get("separator") else text


def shape_names(text):
    names = [""]
    escaped = False
    for c in text:
        if escaped or c not in " \\":
            names[-1] += c
        elif c == " ":
            names.append("")
        escaped = c == "\\" and not escaped
    return [name.split("/")[-1] for name in names if name]


def compare_attributes(element, owner, where):
    import numpy

    found = {a.get("name"): a for a in element.findall(NAMESPACE + "attribute")}
    if set(found) | {"_Unsigned"} != set(owner.ncattrs()) | {"_Unsigned"}:
        yield f"{where}: attributes {sorted(found)}, expected {sorted(owner.ncattrs())}"
        return
    for name in owner.ncattrs():
        try:
            expected = owner.getncattr(name)
        except KeyError:  # of a type that netCDF4-python does not read
            continue
        if getattr(expected, "dtype", None) is not None and expected.dtype.kind == "V":
            continue
        value = attribute_value(found[name])
        if isinstance(expected, str):
            same = value.replace("\0", "") == expected.replace("\0", "")  # netCDF4-python drops NULs
        elif isinstance(expected, list):
            same = value == expected
        elif found[name].get("type") is None:
            same = numpy.size(expected) == 0 or isinstance(value, str)  # the name of a member of an enum
        else:
            same = value.dtype == expected.dtype and numpy.array_equal(value, expected, equal_nan=True)
        if not same:
            yield f"{where}: {name}: {value!r}, expected {expected!r}"


def compare_group(element, group, where):
    dimensions = {
        d.get("name"): (int(d.get("length")), d.get("isUnlimited") == "true")
        for d in element.findall(NAMESPACE + "dimension")
    }
    expected = {name: (len(d), d.isunlimited()) for name, d in group.dimensions.items()}
    if dimensions != expected:
        yield f"{where}: dimensions {dimensions}, expected {expected}"
    yield from compare_attributes(element, group, where)
    variables = {v.get("name"): v for v in element.findall(NAMESPACE + "variable")}
    if list(variables) != list(group.variables):
        yield f"{where}: variables {list(variables)}, expected {list(group.variables)}"
        return
    for name, variable in group.variables.items():
        found = variables[name]
        if [part for part in shape_names(found.get("shape")) if part != "*"] != list(variable.dimensions):
            yield f"{where}/{name}: shape {found.get('shape')}"
        kind = KINDS.get(found.get("type"))
        is_plain = not hasattr(variable.datatype, "dtype") or isinstance(variable.datatype, type(variable.dtype))
        if kind and is_plain and variable.dtype != str and kind[1:] != variable.dtype.str[2:]:
            yield f"{where}/{name}: type {kind}, expected {variable.dtype}"
        yield from compare_attributes(found, variable, f"{where}/{name}")
    groups = {g.get("name"): g for g in element.findall(NAMESPACE + "group")}
    if list(groups) != list(group.groups):
        yield f"{where}: groups {list(groups)}, expected {list(group.groups)}"
        return
    for name, below in group.groups.items():
        yield from compare_group(groups[name], below, f"{where}/{name}")


def ncml_problems(nminspect, path):
    import netCDF4

    said = run(nminspect, "header", "--ncml", path)
    if said.returncode:
        return [f"{path}: {said.stderr.decode(errors='replace')}"]
    root = xml.etree.ElementTree.fromstring(said.stdout)
    problems = [f"{path}: {text}" for text in structure_problems(root)]
    with netCDF4.Dataset(path) as file:
        return problems + list(compare_group(root, file, path.name))


def corpus_files():
    corpus = Path(os.environ["NMB_CORPUS"])
    files = [path for folder in FOLDERS for path in sorted((corpus / folder).rglob("*")) if path.is_file()]
    return corpus, files[FIRST::EVERY]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    nminspect = parser.parse_args().tools.resolve() / "nminspect"
    if not shutil.which("ncdump"):
        print("skipped: ncdump is not installed")
        return SKIPPED
    try:
        from header_files import make_all
    except ImportError:
        print("skipped: no Python module netCDF4")
        return SKIPPED
    problems = []
    with tempfile.TemporaryDirectory(prefix="nmb_header_") as name, ThreadPoolExecutor(2) as threads:
        folder = Path(name)
        made = [folder / file for file in make_all(folder)]
        for path, differs in zip(made, threads.map(lambda path: cdl_differs(nminspect, path), made)):
            if differs is not False:
                problems.append(f"{path.name}: CDL differs from ncdump -h")
        for path in made:
            problems += ncml_problems(nminspect, path)
        count = len(made)
        if "NMB_CORPUS" in os.environ:
            lines = (HERE / "header_exceptions.tsv").read_text(encoding="utf-8").splitlines()[1:]
            listed = {line.split("\t")[0] for line in lines}
            corpus, files = corpus_files()
            for path, differs in zip(files, threads.map(lambda path: cdl_differs(nminspect, path), files)):
                name = str(path.relative_to(corpus))
                count += differs is not None
                if differs and name not in listed:
                    problems.append(f"{name}: CDL differs from ncdump -h")
                if differs is False and name in listed:
                    problems.append(f"{name}: does not differ; remove it from header_exceptions.tsv")
            if len(listed) > MOST_LISTED:
                problems.append("header_exceptions.tsv: too many files")
    print(f"{count} files")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
