#!/usr/bin/env python3
"""Merges HDF5 files with graphs, trains a network on them, and goes on after a crash: train.py WORKERS FILE.h5...

A group is a graph: x (nodes, 3), edge_index (2, edges), y. Writes samples.nmb, checkpoint.pt and losses.txt. Needs torch."""
import os
import sys

import torch

import nmb.torch

if not os.path.exists("samples.nmb"):
    nmb.merge(sys.argv[2:], "samples.nmb")
samples = nmb.torch.Samples("samples.nmb", ["x", "edge_index", "y"], axis={"edge_index": 1})
loader = nmb.torch.Loader(samples, batch_size=16, shuffle=True, seed=1, num_workers=int(sys.argv[1]))
torch.manual_seed(0)
message, update, out = torch.nn.Linear(3, 16), torch.nn.Linear(19, 16), torch.nn.Linear(16, 1)
model = torch.nn.ModuleList([message, update, out])
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
losses: list[float] = []
if os.path.exists("checkpoint.pt"):
    parts = torch.load("checkpoint.pt")
    losses = parts["losses"]
    for name, part in (("model", model), ("optimizer", optimizer), ("loader", loader)):
        part.load_state_dict(parts[name])
while loader.epoch < 4:
    for batch in loader:
        x, edges = batch["x"], batch["edge_index"] + batch.offsets["x"][batch.owner("edge_index")]
        sent = torch.zeros(len(x), 16).index_add(0, edges[1], message(x)[edges[0]].relu())  # along the edges
        nodes = update(torch.cat([x, sent], dim=1)).relu()
        graphs = torch.zeros(len(batch), 16).index_add(0, batch.owner("x"), nodes)
        loss = torch.nn.functional.mse_loss(out(graphs)[:, 0], batch["y"].float())
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        losses.append(loss.item())
        if len(losses) % 5 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
            torch.save({**state, "losses": losses}, "checkpoint.new")
            os.replace("checkpoint.new", "checkpoint.pt")
with open("losses.txt", "w") as file:
    file.writelines(f"{loss!r}\n" for loss in losses)
