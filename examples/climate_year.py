#!/usr/bin/env python3
"""A year of a climate model in twelve files: how to join them, and to plot a series and a map of anomalies with xarray.

The script makes its data, and writes its files and pictures to the folder climate_year. Editors show the parts between
`# %%` as the cells of a notebook. Needs matplotlib, netCDF4 and xarray.
"""

# %% [markdown]
# # A climate year
#
# A model has written one netCDF-4 file for each month, with the daily surface temperature on a grid of 4 degrees. The
# usual temperature of each day is known.

# %%
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import netCDF4
import numpy as np
import numpy.typing as npt
import xarray as xr

import nmb

FOLDER = Path("climate_year")
FOLDER.mkdir(exist_ok=True)
LAT, LON = np.arange(-88.0, 90, 4), np.arange(0.0, 360, 4)
DAYS = 30  # of each month, in the calendar 360_day


Floats = npt.NDArray[np.floating[Any]]


def usual_temperature(day: Floats) -> Floats:
    """The usual temperature (K) on days of the year: (day, lat, lon)."""
    lat, lon = np.radians(LAT)[:, None], np.radians(LON)
    season = np.cos(2 * np.pi * (day - 195) / 360)[:, None, None]
    means: Floats = 300 - 45 * np.sin(lat) ** 2 + 14 * season * np.sin(lat) + 2 * np.cos(2 * lon) * np.cos(lat)
    return means


def write_month(path: Path, month: int) -> None:
    random = np.random.default_rng(month)
    day = month * DAYS + np.arange(DAYS) + 0.5
    # A warm region grows in the tropical Pacific until the end of the year.
    warm = np.exp(-((LAT[:, None] / 10) ** 2) - ((LON - 230) / 45) ** 2) * 3 * (day / 360)[:, None, None]
    weather = random.normal(0, 1.5, (DAYS, LAT.size, LON.size))
    weather = (weather + np.roll(weather, 1, axis=1) + np.roll(weather, 1, axis=2)) / 2
    with netCDF4.Dataset(path, "w") as file:
        file.Conventions = "CF-1.8"
        for name, length in (("time", None), ("lat", LAT.size), ("lon", LON.size)):
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "days since 2001-01-01", "360_day"
        time[:] = day
        for name, values, units in (("lat", LAT, "degrees_north"), ("lon", LON, "degrees_east")):
            axis = file.createVariable(name, "f8", (name,))
            axis.units = units
            axis[:] = values
        tas = file.createVariable("tas", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(10, LAT.size, LON.size))
        tas.units, tas.long_name = "K", "surface temperature"
        tas[:] = usual_temperature(day) + warm + weather


months = [FOLDER / f"model_2001{month + 1:02}.nc" for month in range(12)]
for month, path in enumerate(months):
    write_month(path, month)

# %% [markdown]
# ## Pack the files, and join them
#
# The archive has each file as a block, and gives each file back byte for byte. The join makes one dataset of it: `merge` compares
# all definitions, coordinates and units, and fails with a list of conflicts if the files contradict each other. Chunks that fit
# are copied without decoding them.

# %%
archive, year = FOLDER / "archive.nmb", FOLDER / "year.nmb"
nmb.merge(months, archive, statistics="basic", replace=True)
report = nmb.merge(archive, year, mode="join", along="time", replace=True)
print(report.inputs, "blocks became", report.totals)
assert nmb.verify(archive) and nmb.verify(year)

# %% [markdown]
# ## Find months by their statistics
#
# The statistics are in the archive, so these calls read no values.

# %%
f = nmb.open(archive)
for block in f.find("tas.max > 307.6"):
    stats = block["tas"].stats
    assert stats is not None
    print(f"{block.name}: {stats.minimum:.1f} to {stats.maximum:.1f} K")

# %% [markdown]
# ## One point's series
#
# xarray opens the file by its content, and reads values when they are used.

# %%
ds = xr.open_dataset(year, engine="nmb")
usual = xr.DataArray(usual_temperature(np.arange(360) + 0.5), coords={"time": ds.time, "lat": ds.lat, "lon": ds.lon})
print(ds)

# %%
point = {"lat": 52, "lon": 12}
day = np.arange(1, 361)
figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
axes.plot(day, ds.tas.sel(point), color="0.6", linewidth=0.8, label="daily")
axes.plot(day, ds.tas.sel(point).rolling(time=30, center=True).mean(), color="tab:red", label="mean of 30 days")
axes.plot(day, usual.sel(point), color="black", linewidth=1, linestyle="--", label="usual")
axes.set(xlabel="day of the year", ylabel="surface temperature (K)", title="52° N, 12° E", xlim=(1, 360))
axes.legend(loc="upper right", frameon=False)
figure.savefig(FOLDER / "series.png", dpi=100)
plt.show()

# %% [markdown]
# ## A map of anomalies
#
# The mean of the last three months, less the usual temperature of these months.

# %%
anomaly = (ds.tas - usual).isel(time=slice(270, 360)).mean("time")
figure, axes = plt.subplots(figsize=(9, 4.4), layout="constrained")
edges_of_lon, edges_of_lat = np.append(LON - 2, 358), np.append(LAT - 2, 90)
mesh = axes.pcolormesh(edges_of_lon, edges_of_lat, anomaly, cmap="RdBu_r", vmin=-3, vmax=3)
axes.set(
    xlabel="longitude (°E)", ylabel="latitude (°N)", title="October to December: difference from the usual temperature",
    xticks=range(0, 360, 60), yticks=range(-90, 91, 30), aspect="equal",
)  # fmt: skip
figure.colorbar(mesh, label="surface temperature anomaly (K)", extend="both", shrink=0.9)
figure.savefig(FOLDER / "anomaly.png", dpi=100)
plt.show()
warmest = anomaly.where(anomaly == anomaly.max(), drop=True)
print(f"largest: {warmest.item():.1f} K at {warmest.lat.item():.0f}° N, {warmest.lon.item():.0f}° E")

# %% [markdown]
# ## One day, and the proof that nothing was lost
#
# One day is a small read, from the year and from the archive. Digests of content show that each file is in the archive; the
# command `nmconvert archive.nmb --original model_200105 -o may.nc` writes it again, byte for byte.

# %%
summer = nmb.open(year)["tas"][137]
print("day 137:", summer.shape, f"mean {summer.mean():.1f} K")
assert np.array_equal(summer, f["model_200105/tas"][137 - 4 * DAYS])
digests = nmb.digest(archive).blocks
assert all(digests[path.stem] == nmb.digest(path).blocks[""] for path in months)
