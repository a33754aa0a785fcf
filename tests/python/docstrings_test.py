"""Docstrings: every public name has one, which names all parameters and fields; their examples run."""

import dataclasses
import doctest
import functools
import inspect
import os
import re
import unittest

import numpy as np
from support import FolderTest, needs_netcdf4, netCDF4, nmb

import nmb.samples

MODULES = [nmb, nmb.samples]
try:
    import nmb.pandas

    MODULES.append(nmb.pandas)
except ImportError:
    pass
try:
    import nmb.xarray

    MODULES.append(nmb.xarray)
except ImportError:
    pass
try:
    import nmb.torch

    MODULES.append(nmb.torch)
except ImportError:
    pass

WITH_EXAMPLES = """open File Block Variable Blocks BlockSelection Attributes Block.read Variable.read Variable.oindex File.read_many
    File.read_ragged File.find merge convert verify diff digest recover Writer Writer.block WriterBlock WriterVariable WriterAttributes Parts
    nmb.xarray.stack nmb.xarray.to_nmb nmb.pandas.find
    nmb.samples nmb.samples.Samples nmb.samples.Batch nmb.samples.Loader nmb.samples.split""".split()
SHARED_BY_THREADS = """File Block Blocks BlockSelection Variables Variable OuterIndex Attributes Writer WriterBlock WriterVariable
    WriterAttributes Parts nmb.samples.Samples nmb.samples.Batch nmb.samples.Batches nmb.samples.Loader""".split()
# xarray decides which parameters these have; the class describes ours.
OF_XARRAY = "nmb.xarray.NmbBackendEntrypoint."


def public_members(kind):
    """The public functions and properties of a class of this package, also of its bases here."""
    for name in dir(kind):
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("nmb"):
            continue
        member = vars(owner)[name]
        if inspect.isfunction(member) or isinstance(member, (property, functools.cached_property)):
            yield name, member


def public_objects():
    """(full name, object) of all that users may call."""
    for module in MODULES:
        yield module.__name__, module
        for name in module.__all__:
            object = getattr(module, name)
            full = name if module is nmb else f"{module.__name__}.{name}"
            yield full, object
            if inspect.isclass(object):
                for member, value in public_members(object):
                    yield f"{full}.{member}", value


def fields_of(object):
    if dataclasses.is_dataclass(object):
        return [field.name for field in dataclasses.fields(object)]
    return list(getattr(object, "_fields", ()))


def lacks_words(doc, words):
    return [word for word in words if not re.search(rf"\b{word}\b", doc)]


class DocstringsTest(FolderTest):
    def test_all_is_complete(self):
        public = {name for name, value in vars(nmb).items() if not name.startswith("_") and not inspect.ismodule(value)}
        self.assertEqual(public, set(nmb.__all__))

    def test_none_is_missing(self):
        found = dict(public_objects())
        self.assertGreater(len(found), 100)
        for name, object in found.items():
            with self.subTest(name):
                doc = inspect.getdoc(object) or ""
                self.assertTrue(doc.strip() and not doc.startswith(f"{name}("), "no docstring")
                if inspect.isclass(object):
                    self.assertEqual(lacks_words(doc, fields_of(object)), [], "fields")
                    self.assertIn("__doc__", vars(object))
                if inspect.isfunction(object) and not name.startswith(OF_XARRAY):
                    words = [one for one in inspect.signature(object).parameters if one != "self"]
                    self.assertEqual(lacks_words(doc, words) if len(words) > 1 else [], [], "parameters")
        for name in SHARED_BY_THREADS:  # they say whether threads may share them
            self.assertRegex(inspect.getdoc(found[name]), "thread")

    @needs_netcdf4
    def test_examples(self):
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        write_station("north", [280, 281, 282, 283])
        write_station("south", [290, 291])
        os.link("north.nc", "copy.nc")
        nmb.merge(["north.nc", "south.nc"], "stations.nmb", block_name="station/{stem}", statistics="basic",
                  tags=["site={1}"], tag_names="/(.*)$")  # fmt: skip
        values = nmb.open("south.nc")["temperature"][...].astype(">f4").tobytes()
        content = (self.folder / "stations.nmb").read_bytes()
        self.assertEqual(content.count(values), 1)
        (self.folder / "damaged.nmb").write_bytes(content.replace(values, values[::-1]))
        runner = doctest.DocTestRunner(verbose=False)
        ran = set()
        for name, object in public_objects():
            names = {"nmb": nmb, "np": np, "f": nmb.open("stations.nmb"), "out": nmb.Writer(f"{name}.nmb")}
            self.addCleanup(names["out"].discard)
            test = doctest.DocTestParser().get_doctest(inspect.getdoc(object), names, name, None, None)
            if test.examples:
                ran.add(name)
                said = []
                runner.run(test, out=said.append)
                self.assertEqual("".join(said), "")
        found = dict(public_objects())
        self.assertEqual([one for one in WITH_EXAMPLES if one not in ran and (one in found or not one.startswith("nmb."))], [])


def write_station(name, temperatures):
    """A classic file with three variables."""
    count = len(temperatures)
    with netCDF4.Dataset(f"{name}.nc", "w", format="NETCDF3_64BIT_OFFSET") as out:
        out.createDimension("time", count)
        out.createDimension("component", 2)
        out.createVariable("time", "f8", ("time",))[:] = np.arange(count)
        temperature = out.createVariable("temperature", "f4", ("time",))
        temperature.units = "K"
        temperature[:] = temperatures
        out.createVariable("wind", "f4", ("component", "time"))[:] = np.arange(2 * count).reshape(2, count)


if __name__ == "__main__":
    unittest.main()
