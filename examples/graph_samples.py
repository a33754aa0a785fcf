#!/usr/bin/env python3
"""Graphs of many sizes in one file: how to pack, count, choose and batch them, as a training program does.

The script makes its data, and writes its files and pictures to the folder graph_samples. Editors show the parts between
`# %%` as the cells of a notebook. Needs matplotlib and netCDF4.
"""

# %% [markdown]
# # Graph samples
#
# Ten runs have each written a netCDF-4 file with 40 samples, one group each. A sample is a graph: `x` has the positions and
# energies of its nodes, `edge_index` has two rows with the nodes of each edge, and `energy` is what a network shall learn.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import netCDF4
import numpy as np
import numpy.typing as npt

import nmb

FOLDER = Path("graph_samples")
FOLDER.mkdir(exist_ok=True)


def write_file(path: Path, seed: int, samples: int = 40) -> None:
    random = np.random.default_rng(seed)
    with netCDF4.Dataset(path, "w") as file:
        for number in range(samples):
            energy = random.uniform(1, 100)
            nodes = 4 + random.poisson(4 * energy**0.5)
            place = random.normal(size=(nodes, 2))
            distance = np.linalg.norm(place[:, None] - place[None], axis=2)
            np.fill_diagonal(distance, np.inf)
            nearest = distance.argsort(axis=1)[:, :3]  # each node is connected with its three neighbours
            group = file.createGroup(f"event_{number:03}")
            group.energy = energy
            for name, length in (("node", nodes), ("feature", 3), ("end", 2), ("edge", 3 * nodes)):
                group.createDimension(name, length)
            x = group.createVariable("x", "f4", ("node", "feature"))
            x[:] = np.column_stack([place, random.exponential(energy / nodes, nodes)])
            edges = group.createVariable("edge_index", "i8", ("end", "edge"))
            edges[:] = np.stack([np.repeat(np.arange(nodes), 3), nearest.reshape(-1)])


parts = [FOLDER / f"run_{number}.nc" for number in range(10)]
for number, path in enumerate(parts):
    write_file(path, seed=number)

# %% [markdown]
# ## One file, one block for each sample
#
# `merge` makes a block of each group. Tags come from the names of the blocks or, with `@`, from their attributes;
# samples can be found by both. Statistics are computed while the values are copied.

# %%
archive = FOLDER / "all.nmb"
nmb.merge(
    parts,
    archive,
    tags=["run={1}", "event={2}", "energy=@energy"],
    tag_names=r"run_(\d+)/event_(\d+)$",
    statistics="basic",
    replace=True,
)
f = nmb.open(archive)
print(f)

# %% [markdown]
# The root group of each file is a block too, which has no variables. A pattern chooses the samples.

# %%
samples = list(f.blocks.glob("*/event_*"))
assert len(samples) == f.totals.samples == 400
first = samples[0]
print(first)
print(first.tags, first["x"].stats)

# %% [markdown]
# ## How large are the samples?
#
# Shapes come from the definitions and tags from the index, so no values are read.

# %%
nodes = np.array([sample.dims["node"] for sample in samples])
energies = np.array([sample.tags["energy"] for sample in samples])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.hist(nodes, bins=range(0, nodes.max() + 5, 4), color="tab:blue", edgecolor="white")
left.set(title=f"{len(samples)} samples", xlabel="nodes of a sample", ylabel="number of samples")
right.scatter(energies, nodes, s=8, color="tab:blue")
right.set(title="larger energy, larger graph", xlabel="energy (GeV)", ylabel="nodes of a sample")
figure.savefig(FOLDER / "sizes.png", dpi=100)
plt.show()

# %% [markdown]
# ## A batch is one call
#
# `read_ragged` reads a variable of many blocks on all processors, and joins the values. Samples may differ along one axis: 0,
# the nodes, for `x`; 1, the edges, for `edge_index`. The offsets say where each sample begins.

# %%
random = np.random.default_rng(1)
chosen = random.permutation(len(samples))[:32]
batch = f.read_ragged(["x", "edge_index"], [samples[i] for i in chosen], axis={"edge_index": 1})
x, node_offsets = batch["x"]
edge_index, edge_offsets = batch["edge_index"]

# %% [markdown]
# Edges count the nodes of their own sample from 0. For one large graph, the nodes of the samples before are added. This is the
# batch that PyTorch Geometric calls `Batch`.

# %%
edge_index += np.repeat(node_offsets[:-1], np.diff(edge_offsets))
sample_of_node = np.repeat(np.arange(len(chosen)), np.diff(node_offsets))
assert (sample_of_node[edge_index[0]] == sample_of_node[edge_index[1]]).all()
print(f"{len(chosen)} samples: {len(x)} nodes, {edge_index.shape[1]} edges")

figure, axes = plt.subplots(2, 4, figsize=(10, 5), layout="constrained", sharex=True, sharey=True)
brightest = x[:, 2].max()
for number, panel in enumerate(axes.flat):
    begin, end = edge_offsets[number], edge_offsets[number + 1]
    ends = x[edge_index[:, begin:end], :2]  # (2 ends, edges, 2 coordinates)
    panel.plot(ends[:, :, 0], ends[:, :, 1], color="0.8", linewidth=0.7, zorder=1)
    own = x[node_offsets[number] : node_offsets[number + 1]]
    points = panel.scatter(own[:, 0], own[:, 1], c=own[:, 2], s=14, cmap="viridis", vmin=0, vmax=brightest, zorder=2)
    panel.set_title(samples[chosen[number]].name, fontsize=9)
    panel.set_aspect("equal")
figure.supxlabel("x (cm)")
figure.supylabel("y (cm)")
figure.colorbar(points, ax=axes, label="energy of a node (GeV)", shrink=0.9)
figure.savefig(FOLDER / "batch.png", dpi=100)
plt.show()

# %% [markdown]
# ## Choose samples
#
# `find` compares tags, attributes and statistics, and reads values only where these do not decide.

# %%
strong = f.find("energy > 90 && run >= 5")
print(len(strong), "samples above 90 GeV in the last five runs, for example", strong[0].name)
bright = f.find("any(x > 9)")
print(len(bright), "samples with a node above 9 GeV")


# %% [markdown]
# ## A data set for a training program
#
# The file may be used by many threads, and a worker process opens it again by itself. So this class is a data set for
# `torch.utils.data.DataLoader`.


# %%
class Graphs:
    def __init__(self, path: Path, pattern: str) -> None:
        file = nmb.open(path)
        self.samples = list(file.blocks.glob(pattern))

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int) -> tuple[dict[str, npt.NDArray[np.generic]], float]:
        return self.samples[i].read(["x", "edge_index"]), self.samples[i].tags["energy"]


training = Graphs(archive, "run_[0-7]/event_*")
arrays, energy = training[7]
print(len(training), "samples; sample 7 has", arrays["x"].shape[0], f"nodes and {energy:.1f} GeV")
