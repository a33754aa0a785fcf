"""What objects and results look like at a prompt and in a notebook. Names cannot add markup or control characters."""

import re
import unittest

from support import FolderTest, h5py, needs_h5py, needs_netcdf4, nmb, write_netcdf

TAGS = "div b table thead tbody tr th td details summary".split()


class DisplayedObjectsTest(FolderTest):
    def archive(self, count):
        """A file with the blocks s00, s01, ... Returns its path."""
        inputs = [self.path(f"s{i:02}.nc") for i in range(count)]
        for path in inputs:
            write_netcdf(path, "NETCDF3_CLASSIC")
        nmb.merge(inputs, self.path("all.nmb"))
        return self.path("all.nmb")

    @needs_netcdf4
    def test_objects(self):
        f = nmb.open(self.archive(15))
        block, variable = f["s02"], f["s02/temperature"]
        self.assertIn("  15 blocks, 90 variables, ", repr(f))
        self.assertTrue(repr(f).endswith("... and 3 more blocks"))
        self.assertRegex(repr(f.blocks), r"^<nmb.Blocks: 15 blocks of .*all.nmb>\n  s00  \(6 variables\)\n")
        self.assertRegex(repr(f.blocks.glob("s*")), r"(?s)^<nmb.BlockSelection 's\*' of .*\n  \.\.\.$")
        self.assertRegex(repr(f.blocks.glob("s14")), r"of .*\n  s14  \(6 variables\)$")
        self.assertRegex(repr(f.keys()), r"^Names\(\['s00', .*'s11'\]\) and 3 more$")
        self.assertEqual(list(f.keys()), list(f))
        self.assertIn("  temperature  float32(time: 6, x: 5, y: 7)", repr(block))
        self.assertRegex(repr(variable), r"^<nmb.Variable s02/temperature: float32\(time: 6, x: 5, y: 7\)>\n  @")
        for one in (f, f.blocks, f.blocks.glob("*"), block, variable):
            self.assertRegex(one._repr_html_(), "^<div><b>nmb")
        f.close()
        self.assertIn("(closed)", repr(f))
        self.assertIn("(closed)", f._repr_html_())

    @needs_netcdf4
    def test_results(self):
        path, plain = self.archive(1), self.path("s00.nc")
        write_netcdf(self.path("other.nc"), "NETCDF3_CLASSIC", seed=2)
        for found, expected in (
            (nmb.open(path), "(?s)  1 block, 6 variables, .*"),
            (nmb.verify(path), "<nmb.VerifyReport: sound, NMB, 1 of 1 block sound, 0 findings, 0 warnings>"),
            (nmb.recover(path, None), "<nmb.Recovery: recovered 1 of 1 block>"),
            (nmb.diff(path, path), "<nmb.Comparison: same>"),
            (nmb.diff(plain, self.path("other.nc")), "(?s)<nmb.Comparison: different>\n.*  temperature: 210 of 210 values.*"),
            (nmb.convert(plain, self.path("s00.nc3")), "<nmb.ConvertReport: 0 losses, 0 warnings>"),
            (nmb.merge(plain, self.path("one.nmb")), r"<nmb.MergeReport: 1 input, 1 block, 6 variables, \d+ bytes>"),
            (nmb.digest(path), "<nmb.Digest: [0-9a-f]{32}>\n  [0-9a-f]{32}  s00"),
            (nmb.open(plain)["t"].compute_stats(), "<nmb.Statistics: elements=6, missing=0, nans=0, minimum=.*, mean=.*>"),
        ):
            self.assertRegex(repr(found), expected + "$")
        content = bytearray((self.folder / "all.nmb").read_bytes())
        content[-1000:] = bytes(1000)
        (self.folder / "bad.nmb").write_bytes(content)
        self.assertRegex(repr(nmb.verify(self.path("bad.nmb"))), r"^<nmb.VerifyReport: damaged, .*>\n  at \d+: ")

    @needs_h5py
    def test_hostile_names_are_escaped(self):
        with h5py.File(self.path("hostile.h5"), "w") as out:
            group = out.create_group("<script>alert(1)\x1b[31m\u202e")
            group.attrs["<b>\x1b"] = "</td><script>"
            variable = group.create_dataset("<i>&\x07", data=[1.0])
            variable.attrs["units"] = "<u>"
        f = nmb.open(self.path("hostile.h5"))
        block = f.blocks[1]
        (variable,) = block.values()
        for one in (f, f.blocks, f.blocks.glob("**"), block, variable, block.variables, block.attrs, f.keys(), nmb.digest(f)):
            with self.subTest(type(one).__name__):
                self.assertTrue(repr(one).replace("\n", "").isprintable(), repr(one))
                if hasattr(one, "_repr_html_"):
                    html = one._repr_html_()
                    self.assertTrue(html.isprintable(), html)
                    self.assertLessEqual(set(re.findall("</?([^ >]*)", html)), set(TAGS))
        self.assertIn("&lt;script&gt;alert(1)", block._repr_html_())


if __name__ == "__main__":
    unittest.main()
