#!/usr/bin/env python3
"""An ensemble that the workers of dask compute and write into one file, also when a worker is killed; and a chunked array that
they add to it.

Writes its file and pictures to the folder dask_ensemble. Editors show the parts between `# %%` as the cells of a notebook. Needs
dask, distributed, matplotlib and xarray.
"""

# %% [markdown]
# # An ensemble from dask
#
# Lorenz's model of convection has three numbers, and small differences at the beginning grow until nothing of the forecast is
# left. Each task computes one member of an ensemble, and writes it as a part. Nothing is sent to the other processes.

# %%
import os
import signal
from pathlib import Path
from typing import Any

import dask
import dask.array
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import xarray as xr
from distributed import Client, LocalCluster

import nmb
import nmb.xarray

FOLDER = Path("dask_ensemble")
MEMBERS, STEPS, STEP = 24, 3000, 0.01
EDGES_X, EDGES_Z = np.linspace(-25, 25, 101), np.linspace(0, 55, 111)

Floats = npt.NDArray[np.floating[Any]]


def trajectory(member: int) -> Floats:
    """The states of a member: (time, component). Members differ by a thousandth at the beginning."""

    def change(s: Floats) -> Floats:
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    state = np.array([1.5, 1.5, 20.0]) + np.random.default_rng(member).normal(0, 1e-3, 3)
    out = np.empty((STEPS, 3))
    for step in range(STEPS):
        out[step] = state
        a = change(state)
        b = change(state + STEP / 2 * a)
        c = change(state + STEP / 2 * b)
        d = change(state + STEP * c)
        state = state + STEP / 6 * (a + 2 * b + 2 * c + d)
    return out


def write_member(parts: nmb.Parts, member: int) -> int:
    """A task. Whoever computes member 5 first is killed in the middle of it."""
    if member in parts:
        return member  # an earlier run had done it
    with parts.writer(member) as out:
        state = trajectory(member).astype("f4")
        names = ("component", ["x", "y", "z"])
        time = ("time", np.arange(STEPS) * STEP)
        out.block(f"member/{member:02}", {"state": (("time", "component"), state), "component": names, "time": time}, tags={"member": member})
        if member == 5:
            stop_once()
    return member


def stop_once() -> None:
    try:
        (FOLDER / "was_killed").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def density(path: Path, windows: int, block_id: Any = None) -> Floats:
    """One chunk: how often all members are at each place of the x-z plane, in one window of time."""
    window = block_id[0]
    first, last = window * STEPS // windows, (window + 1) * STEPS // windows
    states = [block["state"][first:last] for block in nmb.open(path).blocks.glob("member/*")]
    x, _, z = np.concatenate(states).T
    counts: Floats = np.histogram2d(x, z, bins=(EDGES_X, EDGES_Z))[0]
    shares: Floats = counts[np.newaxis] / counts.sum()
    return shares


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "ensemble.nmb"
    path.unlink(missing_ok=True)
    (FOLDER / "was_killed").unlink(missing_ok=True)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)  # type: ignore[no-untyped-call]
    client = Client(cluster)  # type: ignore[no-untyped-call]

    # %% [markdown]
    # ## Tasks write parts, one commit makes the file
    #
    # A part appears when it is complete. When a worker is killed, dask runs its tasks again on another one, which replaces parts
    # or finds them done. The file does not depend on which worker wrote what.

    # %%
    parts = nmb.Parts(path)
    tasks = [dask.delayed(write_member)(parts, member) for member in range(MEMBERS)]  # type: ignore[attr-defined]
    dask.compute(*tasks)  # type: ignore[attr-defined,no-untyped-call]
    report = parts.commit(keys=range(MEMBERS), statistics="basic")
    killed = "one worker was killed" if (FOLDER / "was_killed").exists() else "no worker was killed"
    print(f"{report.parts} parts became {report.totals.blocks} blocks; {killed}; {len(parts)} parts are left")

    # %% [markdown]
    # ## A chunked array goes to the file chunk by chunk
    #
    # Each worker reads the members, and computes the chunks of its windows. The array is added to the file as another block. Its
    # first dimension is unlimited, so that more windows can follow.

    # %%
    windows = 6
    chunks = ((1,) * windows, (EDGES_X.size - 1,), (EDGES_Z.size - 1,))
    values = dask.array.map_blocks(density, path.resolve(), windows, chunks=chunks, dtype="f8", meta=np.empty((0, 0, 0)))  # type: ignore[no-untyped-call]
    grid = {"x": (EDGES_X[1:] + EDGES_X[:-1]) / 2, "z": (EDGES_Z[1:] + EDGES_Z[:-1]) / 2}
    ds = xr.Dataset({"density": (("window", "x", "z"), values)}, {"window": np.arange(windows), **grid})
    nmb.xarray.to_nmb(ds.isel(window=slice(0, 3)), path, "a", group="density", unlimited_dims="window")
    nmb.xarray.to_nmb(ds.isel(window=slice(3, 6)), path, group="density", append_dim="window")
    client.close()  # type: ignore[no-untyped-call]
    cluster.close()
    assert nmb.verify(path)
    f = nmb.open(path)
    print(f"generation {f.generation}: {len(f)} blocks, {f['density'].dims['window']} windows")

    # %% [markdown]
    # ## How long a forecast is worth something

    # %%
    ensemble = nmb.xarray.stack(path, "state", blocks="member/*", form="padded").state
    time = np.arange(STEPS) * STEP
    x = ensemble.isel(component=0)
    spread = x.std("block").values
    limit = time[np.argmax(spread > 1)]
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
    above.plot(time, x.values.T, color="tab:blue", linewidth=0.5, alpha=0.4)
    above.set(ylabel="x", title=f"{MEMBERS} members", xlim=(0, time[-1]))
    below.semilogy(time, spread, color="black")
    below.axvline(limit, color="tab:red", linestyle="--")
    below.text(limit + 0.3, spread.min() * 2, f"t = {limit:.1f}", color="tab:red")
    below.set(xlabel="time", ylabel="standard deviation of x")
    figure.savefig(FOLDER / "spread.png", dpi=100)
    plt.show()
    print(f"the spread of x is {spread[0]:.4f} at first, more than 1 from t = {limit:.1f}, and {spread[-500:].mean():.1f} at the end")

    # %% [markdown]
    # ## Where the members are, early and late

    # %%
    found = xr.open_dataset(path, engine="nmb", group="density").density
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
    for axis, window, title in ((axes[0], 0, "first sixth of the time"), (axes[1], windows - 1, "last sixth")):
        shown = found.isel(window=window).T
        mesh = axis.pcolormesh(EDGES_X, EDGES_Z, shown.where(shown > 0), cmap="viridis", vmin=0, vmax=0.004)
        axis.set(xlabel="x", title=title)
    axes[0].set_ylabel("z")
    figure.colorbar(mesh, label="share of the states", extend="max", shrink=0.9)
    figure.savefig(FOLDER / "density.png", dpi=100)
    plt.show()
    places = (found > 0).sum(("x", "z")).values
    print(f"places with states: {places[0]} in the first window, {places[-1]} in the last")


# Workers import this file.
if __name__ == "__main__":
    main()
