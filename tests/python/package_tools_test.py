"""merge, convert, verify, recover, diff and digest as functions."""

import os
import signal
import threading
import time
import unittest

import numpy as np
from support import FolderTest, h5py, needs_h5py, needs_netcdf4, netCDF4, nmb, python, write_netcdf


@needs_netcdf4
class PackageToolsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.values = write_netcdf(self.path("a.nc"), "NETCDF3_64BIT_DATA")
        write_netcdf(self.path("b.nc"), "NETCDF4", ("g",), seed=2)

    def test_merge(self):
        report = nmb.merge([self.path("a.nc"), self.path("b.nc")], self.path("all.nmb"), tags=["which={stem}"])
        self.assertEqual((report.inputs, report.totals.blocks, report.conflicts), (2, 3, []))
        self.assertGreater(report.bytes_out, 0)
        f = nmb.open(self.path("all.nmb"))
        self.assertEqual(list(f), ["a", "b", "b/g"])
        self.assertEqual(f["a"].tags, {"which": "a"})
        with self.assertRaises(FileExistsError):
            nmb.merge(self.path("a.nc"), self.path("all.nmb"))
        nmb.merge(self.path("a.nc"), self.path("all.nmb"), replace=True, exclude=lambda name: False)
        self.assertEqual(list(nmb.open(self.path("all.nmb"))), ["a"])

    def test_join(self):
        months = []
        for i in range(3):
            months.append(self.path(f"m{i}.nc"))
            with netCDF4.Dataset(months[-1], "w", format="NETCDF3_CLASSIC") as out:
                out.createDimension("time", None)
                out.createVariable("time", "f8", ("time",))[:] = np.arange(3) + 3 * i
                out.createVariable("v", "f4", ("time",))[:] = i
        nmb.merge(months, self.path("year.nc"), mode="join", along="time")
        with netCDF4.Dataset(self.path("year.nc")) as year:
            self.assertEqual(year.data_model, "NETCDF3_CLASSIC")
            np.testing.assert_array_equal(year["time"][:], np.arange(9))

    @needs_h5py
    def test_joined_zeros_are_not_missing(self):
        """HDF5's own fill value, 0, which nobody stated."""
        parts = []
        for i in range(2):
            parts.append(self.path(f"part{i}.h5"))
            with h5py.File(parts[-1], "w") as out:
                out["t"] = np.arange(4) + 4 * i
                out["t"].make_scale("t")
                v = out.create_dataset("v", data=np.array([0, 1, 2, 0], "<i4"), chunks=(2,), compression="gzip")
                v.dims[0].attach_scale(out["t"])
        nmb.merge(parts, self.path("joined.nmb"), mode="join", along="t", statistics="basic")
        with nmb.open(self.path("joined.nmb")) as file:
            self.assertEqual((file["v"].stats.missing, file["v"].stats.minimum), (0, 0))
            self.assertEqual(len(list(file.find("any(v == 0)"))), 1)
        nmb.merge(parts, self.path("joined.h5"), mode="join", along="t")
        with h5py.File(self.path("joined.h5")) as file:
            self.assertEqual(file["v"].id.get_create_plist().fill_value_defined(), h5py.h5d.FILL_VALUE_DEFAULT)

    def test_conflicts(self):
        with netCDF4.Dataset(self.path("c.nc"), "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("time", None)
            out.createVariable("t", "i2", ("time",))[:] = 1
        with self.assertRaises(nmb.ConflictError) as caught:
            nmb.merge([self.path("a.nc"), self.path("c.nc")], self.path("u.nmb"), mode="union")
        self.assertIsInstance(caught.exception, ValueError)
        conflicts = caught.exception.report.conflicts
        self.assertTrue(conflicts)
        self.assertIn("t", [conflict.object for conflict in conflicts])
        self.assertFalse(os.path.exists(self.path("u.nmb")))

    def test_options_that_have_no_effect_are_refused(self):
        out = self.path("x.nmb")
        for options in (
            {"along": "time"},
            {"mode": "union", "append": True},
            {"mode": "sort"},
            {"to": "grib"},
            {"fill_missing": True},
            {"on_mismatch": "skip"},
            {"threads": 0},
            {"hdf5_view": "maybe"},
            {"block_by": "nothing"},
            {"codec": "lzma"},
        ):
            with self.assertRaises(ValueError, msg=repr(options)):
                nmb.merge(self.path("a.nc"), out, **options)
            self.assertFalse(os.path.exists(out))
        for call in (nmb.merge, nmb.convert):
            with self.assertRaises(ValueError):
                call(self.path("a.nc"), self.path("x.h5"), hdf5_view="on")
            self.assertFalse(os.path.exists(self.path("x.h5")))
        with self.assertRaises(ValueError):
            nmb.merge([], out)
        with self.assertRaises(ValueError):
            nmb.merge(self.path("a.nc"), self.path("x.unknown"))
        with self.assertRaises(FileNotFoundError):
            nmb.merge(self.path("none.nc"), out)

    def test_convert(self):
        nmb.merge([self.path("a.nc"), self.path("b.nc")], self.path("all.nmb"))
        nmb.convert(self.path("all.nmb"), self.path("a.cdf"), to="cdf5", block="a")
        self.assertFalse(nmb.diff(self.path("a.nc"), self.path("a.cdf")))
        nmb.convert(self.path("a.nc"), self.path("a.nc4"))
        with netCDF4.Dataset(self.path("a.nc4")) as out:
            self.assertEqual(out.data_model, "NETCDF4")
        nmb.convert(self.path("a.nc"), self.path("a.h5"))
        with self.assertRaises(nmb.ConflictError) as caught:
            nmb.convert(self.path("b.nc"), self.path("b.cdf"), to="cdf2")
        self.assertIsInstance(caught.exception.report, nmb.ConvertReport)

    def test_verify_and_recover(self):
        path = self.path("all.nmb")
        nmb.merge([self.path("a.nc"), self.path("b.nc")], path, originals=False)
        report = nmb.verify(path)
        self.assertTrue(report)
        self.assertEqual((report.kind, report.sound_blocks, report.findings), ("NMB", 3, []))
        with open(path, "r+b") as file:
            content = file.read()
            at = content.index(self.values["temperature"].astype(">f4").tobytes()[:40])
            file.seek(at)
            file.write(b"\0\1\2\3")
        report = nmb.verify(path)
        self.assertFalse(report)
        self.assertEqual(report.damaged_blocks, 1)
        finding = report.findings[0]
        self.assertTrue(finding.rule.startswith("R-") and "a" in finding.object and finding.offset <= at)
        plan = nmb.recover(path, None)
        self.assertFalse(plan)
        self.assertEqual(plan.bytes_out, 0)
        result = nmb.recover(path, self.path("rest.nmb"))
        self.assertEqual(result.recovered, 2)
        self.assertEqual([(b.name, b.state) for b in result.blocks][0], ("a", "left out"))
        self.assertTrue(nmb.verify(self.path("rest.nmb")))
        self.assertEqual(nmb.recover(path, self.path("more.nmb"), partial=True).recovered, 3)
        with self.assertRaises(ValueError):
            nmb.verify(path, level="all")

    def test_diff_and_digest(self):
        nmb.convert(self.path("a.nc"), self.path("a.nmb"))
        self.assertFalse(nmb.diff(self.path("a.nc"), nmb.open(self.path("a.nmb"))))
        self.assertEqual(nmb.digest(self.path("a.nc")).file, str(nmb.digest(self.path("a.nmb"))))
        self.assertEqual(list(nmb.digest(self.path("b.nc")).blocks), ["", "g"])
        with netCDF4.Dataset(self.path("a.nc"), "a") as out:
            out["temperature"][0, 0, 0] += 1
            out["t"].units = "other"
        found = nmb.diff(self.path("a.nc"), self.path("a.nmb"))
        self.assertTrue(found)
        self.assertEqual([(v.variable, v.different) for v in found.variables], [("temperature", 1)])
        self.assertEqual(found.variables[0].first[0].index, (0, 0, 0))
        self.assertEqual(found.definitions[0].kind, "differs")
        self.assertEqual(nmb.diff(self.path("a.nc"), self.path("a.nmb"), absolute=2).variables, [])

    def big(self, name="big.nc", megabytes=64):
        with netCDF4.Dataset(self.path(name), "w", format="NETCDF3_64BIT_DATA") as out:
            out.createDimension("x", megabytes << 17)
            out.createVariable("v", "f8", ("x",))[:] = np.random.default_rng(1).random(megabytes << 17)
        return self.path(name)

    def test_progress_and_its_exceptions(self):
        seen = []
        nmb.merge(self.big(), self.path("big.nmb"), progress=lambda done, total: seen.append((done, total)), sync=False)
        self.assertEqual(seen[-1][0], seen[-1][1])
        self.assertEqual(seen, sorted(seen))

        def stop(done, total):
            raise RuntimeError("enough")

        for call in (
            lambda: nmb.merge(self.path("big.nc"), self.path("x.nmb"), progress=stop, sync=False),
            lambda: nmb.convert(self.path("big.nc"), self.path("x.nmb"), progress=stop, sync=False),
            lambda: nmb.verify(self.path("big.nmb"), progress=stop),
            lambda: nmb.recover(self.path("big.nmb"), self.path("x.nmb"), progress=stop, sync=False),
            lambda: nmb.merge(self.path("big.nc"), self.path("x.nmb"), exclude=lambda name: stop(0, 0)),
        ):
            with self.assertRaisesRegex(RuntimeError, "enough"):
                call()
            self.assertFalse(os.path.exists(self.path("x.nmb")))

    def test_interrupts(self):
        self.big(megabytes=256)
        code = (
            "import nmb, os, signal, sys, threading, time\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell's background commands ignore
            "try:\n"
            "    call = compile(sys.argv[1], 'call', 'exec')\n"
            "    threading.Timer(float(sys.argv[2]), os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "    while True: exec(call)\n"
            "except KeyboardInterrupt: print('stopped')\n"
        )
        nmb.convert(self.path("big.nc"), self.path("big.nmb"), check=False, sync=False)
        for call in (
            "nmb.merge('big.nc', 'x.nmb', replace=True, sync=False)",
            "nmb.verify('big.nmb')",
            "nmb.recover('big.nmb', 'y.nmb', replace=True, sync=False)",
            "nmb.diff('big.nc', 'big.nmb')",
            "nmb.digest('big.nc', threads=1)",
        ):
            here = os.getcwd()
            os.chdir(self.folder)
            try:
                for seconds in (0.02, 0.05, 0.12):
                    self.assertEqual(python(code, call, seconds), "stopped\n", call)
            finally:
                os.chdir(here)

    def test_other_threads_go_on(self):
        self.big()
        done = threading.Event()
        thread = threading.Thread(target=lambda: (nmb.digest(self.path("big.nc"), threads=1), done.set()))
        thread.start()
        count = 0
        while not done.is_set():
            count += 1
            time.sleep(0.001)
        thread.join()
        self.assertGreater(count, 2)
        self.assertIsNotNone(signal.getsignal(signal.SIGINT))


if __name__ == "__main__":
    unittest.main()
