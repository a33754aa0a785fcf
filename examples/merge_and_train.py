#!/usr/bin/env python3
"""Graphs in many HDF5 files: how to merge them, divide them for training and test, train on them, and go on after a stop.

The script makes its data, and writes its files and pictures to the folder merge_and_train. Editors show the parts between
`# %%` as the cells of a notebook. Needs h5py and matplotlib. The model is a linear one, by numpy alone: `examples/train.py` trains
a graph network with PyTorch.
"""

# %% [markdown]
# # Merge and train
#
# Eight runs have each written an HDF5 file with 100 samples, one group each. A sample is a graph: `x` has the positions of its nodes,
# `edge_index` has two rows with the nodes of each edge, and `y` is what a model shall learn: the mean length of the edges.

# %%
from pathlib import Path
from typing import Any

import h5py  # type: ignore[import-untyped]
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

import nmb
import nmb.samples

FOLDER = Path("merge_and_train")
FOLDER.mkdir(exist_ok=True)
runs = [FOLDER / f"run_{number}.h5" for number in range(8)]
for number, path in enumerate(runs):
    random = np.random.default_rng(number)
    with h5py.File(path, "w") as file:
        for event in range(100):
            nodes = random.integers(5, 30)
            place = random.normal(scale=random.uniform(0.5, 2), size=(nodes, 2))
            edges = random.integers(0, nodes, (2, 3 * nodes))
            group = file.create_group(f"event_{event:03}")
            group["x"], group["edge_index"] = place.astype("f4"), edges
            group["y"] = np.linalg.norm(place[edges[0]] - place[edges[1]], axis=1).mean() + random.normal(scale=0.05)

# %% [markdown]
# ## One file, and three parts
#
# A hash of the name of each block decides to which part it belongs: when more runs are merged, samples keep their part.

# %%
archive = FOLDER / "all.nmb"
nmb.merge(runs, archive, replace=True)
names = ["x", "edge_index", "y"]
everything = nmb.samples.Samples(archive, names, axis={"edge_index": 1})
parts = nmb.samples.split(everything, {"train": 0.8, "validation": 0.1, "test": 0.1}, seed=1)
print(len(everything), "samples:", {name: len(numbers) for name, numbers in parts.items()})
assert len(everything) == 800 == sum(map(len, parts.values()))
training = nmb.samples.Samples(archive, names, axis={"edge_index": 1}, where=parts["train"])
test = nmb.samples.Samples(archive, names, axis={"edge_index": 1}, where=parts["test"])

# %% [markdown]
# ## A batch is one large graph
#
# Edges count the nodes of their own sample, so the number of nodes before each sample is added. The model sees the mean of three
# features over the edges of each sample.

Array = npt.NDArray[np.float64]


# %%
def features(batch: Any) -> Array:
    edges = batch["edge_index"] + batch.offsets["x"][batch.owner("edge_index")]
    ends = batch["x"][edges]  # (2 ends, edges, 2 coordinates)
    difference = np.abs(ends[0] - ends[1])
    of_edges = np.column_stack([np.ones(len(difference)), difference.sum(axis=1), difference.max(axis=1)])
    sums = np.add.reduceat(of_edges, batch.offsets["edge_index"][:-1])
    means: Array = sums / batch.lengths("edge_index")[:, None]
    return means


def train(epochs: int, weights: Array, losses: list[float], state: dict[str, Any] | None = None, stop: int = -1) -> dict[str, Any]:
    """Trains on; stops after some batches, as if the job had ended. Returns the state of the loader."""
    loader = nmb.samples.Loader(training, batch_size=16, shuffle=True, seed=1)
    if state is not None:
        loader.load_state_dict(state)
    while loader.epoch < epochs:
        for batch in loader:
            found = features(batch)
            error = found @ weights - batch["y"]
            weights -= 0.1 * found.T @ error / len(batch)
            losses.append(float((error**2).mean()))
            if len(losses) == stop:
                return loader.state_dict()
    return loader.state_dict()


# %% [markdown]
# ## Stop and go on
#
# The state is a small dict. The second run gets the samples that the first one had not got, in the same order: the losses are
# bit for bit those of a run that nobody has stopped.

# %%
weights, losses = np.zeros(3), list[float]()
train(8, weights, losses)
again, stopped = np.zeros(3), list[float]()
state = train(8, again, stopped, stop=150)
print("stopped in epoch", state["epoch"], "after", state["position"], "samples of it")
train(8, again, stopped, state)
assert stopped == losses and (again == weights).all()

# %%
batch = test[:]
predicted = features(batch) @ weights
print(f"test: {len(batch)} samples, root of the mean square error {((predicted - batch['y']) ** 2).mean() ** 0.5:.3f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
steps = len(losses) // 8
left.plot(losses[:150], color="tab:blue", linewidth=1, label="before the stop")
left.plot(range(149, len(losses)), stopped[149:], color="tab:orange", linewidth=1, label="after it")
for epoch in range(1, 8):
    left.axvline(epoch * steps, color="0.85", linewidth=0.8, zorder=0)
left.set(title="training, resumed in mid-epoch", xlabel="batch (lines: epochs)", ylabel="mean square error", yscale="log")
left.legend(frameon=False)
limits = [0, float(max(batch["y"].max(), predicted.max())) * 1.05]
right.plot(limits, limits, color="0.7", linewidth=1, zorder=0)
right.scatter(batch["y"], predicted, s=14, color="tab:blue")
right.set(title="samples of the test part", xlabel="mean length of the edges", ylabel="prediction", xlim=limits, ylim=limits, aspect="equal")
figure.savefig(FOLDER / "training.png", dpi=100)
plt.show()
