"""Training that is killed and resumed: the order of samples, and the losses of examples/train.py, are those of an undisturbed run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np
from support import SANITIZED, FolderTest, h5py, needs_h5py, nmb

from nmb._sample_order import Order

try:
    import torch
except ImportError:
    torch = None
needs_torch = unittest.skipUnless(torch, "torch is not installed")
ALL = bool(os.environ.get("NMB_ALL"))
KILLS, RANKS, WORKERS = (50, 4, 8) if ALL else (3, 2, 2)
EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"

# A rank of a job: reads batches, and writes after each a line to its log, and the state to a file. Arguments: a JSON object.
LOOP = """
import json, os, sys, time
import nmb.torch

job = json.loads(sys.argv[1])
samples = nmb.torch.Samples(job["path"], ["y"], where=job["where"])
loader = nmb.torch.Loader(samples, job["batch_size"], shuffle=job["shuffle"], seed=7, uneven=job["uneven"],
                          num_workers=job["workers"], rank=job["rank"], ranks=job["ranks"])
if job["state"]:
    loader.load_state_dict(job["state"])
with open(job["log"], "w", buffering=1) as log:
    while loader.epoch < job["epochs"]:
        epoch = loader.epoch
        for batch in loader:
            log.write(json.dumps([epoch, batch["y"].tolist(), batch.seeds.tolist(), loader.state_dict()]) + "\\n")
            time.sleep(job["pause"])
print("done")
"""


def write_graphs(folder, files=3, graphs=30, seed=1):
    """HDF5 files with a group a graph, whose label is y = 0, 1, 2, ..."""
    rng = np.random.default_rng(seed)
    paths = [folder / f"run_{number}.h5" for number in range(files)]
    for number, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            for i in range(graphs):
                nodes = int(rng.integers(3, 12))
                group = file.create_group(f"event_{i:03}")
                group["x"] = rng.normal(size=(nodes, 3)).astype("f4")
                group["edge_index"] = rng.integers(0, nodes, (2, 3 * nodes))
                group["y"] = float(number * graphs + i)
    return paths


@needs_torch
@needs_h5py
@unittest.skipIf(SANITIZED, "a process that is killed reports nothing")
class TrainingResumeTest(FolderTest):
    def run_ranks(self, job, kill_after=None):
        """Runs the ranks of a job; kills each after some seconds. Returns the lines of each rank, and whether all ended."""
        processes, logs = [], []
        for rank in range(job["ranks"]):
            logs.append(self.folder / f"rank_{rank}.log")
            logs[-1].write_text("")
            words = json.dumps({**job, "rank": rank, "log": str(logs[-1])})
            processes.append(
                subprocess.Popen([sys.executable, "-W", "ignore", "-c", LOOP, words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True)
            )  # fmt: skip
        if kill_after is not None:
            limit = time.monotonic() + 60
            while not all(log.stat().st_size for log in logs) and time.monotonic() < limit:
                time.sleep(0.01)
            time.sleep(kill_after)
            for process in processes:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        said = [process.communicate(timeout=600) for process in processes]
        lines = []
        for log in logs:
            text = log.read_text()
            lines.append([json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()])
        for process, (_, error) in zip(processes, said):
            if process.returncode not in (0, -signal.SIGKILL):
                raise AssertionError(error.decode())
        return lines, all(b"done" in out for out, _ in said)

    def test_random_kills(self):
        """What the steps of all ranks have read, up to the last kill, is the order of an undisturbed run."""
        path = self.path("graphs.nmb")
        nmb.merge(write_graphs(self.folder), path, statistics="basic")
        seed = int(os.environ.get("NMB_SEED", 5))
        draw, kills = random.Random(seed), 0
        while kills < KILLS:
            where, shuffle, uneven = draw.choice([None, "y.max >= 20"]), draw.choice([True, 16]), draw.choice(["exact", "pad", "drop"])
            job = {"path": path, "where": where, "shuffle": shuffle, "uneven": uneven, "epochs": 2, "state": None, "pause": 0.01}
            order, ranks, done = {}, [], False
            while not done:
                job.update(ranks=draw.randint(1, RANKS), workers=draw.randint(0, WORKERS), batch_size=draw.randint(1, 9))
                lines, done = self.run_ranks(job, draw.uniform(0, 0.4) if kills < KILLS else None)
                kills += not done
                if self.keep(lines, done, job, order):
                    ranks.append(job["ranks"])
            with self.subTest(f"{seed=} {job}"):
                self.assertEqual(sorted(order), [0, 1])
                for epoch, labels in order.items():
                    self.check(epoch, labels, np.arange(0 if where is None else 20, 90), shuffle, uneven, max(ranks))

    def keep(self, lines, done, job, order):
        """Takes the steps that all ranks have reached, and the state after them."""

        def place(line):
            return line[3]["epoch"], line[3]["position"]

        reached = (1 << 60, 0) if done else min((place(rank[-1]) if rank else (-1, 0)) for rank in lines)
        kept = sorted((place(line), number, line) for number, rank in enumerate(lines) for line in rank if place(line) <= reached)
        for _, _, (epoch, labels, seeds, state) in kept:
            order.setdefault(epoch, []).extend(zip(labels, seeds))
            job["state"] = state
        return bool(kept)

    def check(self, epoch, labels, chosen, shuffle, uneven, ranks):
        expected = Order(len(chosen), shuffle, 7)
        numbers = expected.samples(epoch, np.arange(len(chosen)))
        wanted = list(zip(chosen[numbers].astype(float).tolist(), expected.seeds(epoch, numbers).tolist()))
        if uneven == "exact":
            self.assertEqual(labels, wanted)
        elif uneven == "pad":
            self.assertEqual(labels[: len(wanted)], wanted)
            self.assertEqual(labels[len(wanted) :], wanted[: len(labels) - len(wanted)])
            self.assertLess(len(labels), len(wanted) + ranks)
        else:
            self.assertEqual(labels, wanted[: len(labels)])
            self.assertGreater(len(labels), len(wanted) - ranks)

    def train(self, folder, workers, files, kill_after=None):
        """Runs examples/train.py in a folder; kills it some seconds after a checkpoint. Returns whether it ended."""
        folder.mkdir(exist_ok=True)
        checkpoint = folder / "checkpoint.pt"
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = subprocess.Popen([sys.executable, "-W", "ignore", EXAMPLES / "train.py", str(workers), *files], cwd=folder,
                                   stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
        if kill_after is not None:
            while process.poll() is None and (checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0) == before:
                time.sleep(0.002)
            time.sleep(kill_after)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        error = process.communicate(timeout=600)[1]
        self.assertIn(process.returncode, (0, -signal.SIGKILL), error.decode())
        return process.returncode == 0

    def test_losses_after_kills(self):
        """kill -9 in mid-epoch, resumed with other numbers of workers: bit for bit the losses of the undisturbed run."""
        files = write_graphs(self.folder, graphs=150)
        undisturbed, killed = self.folder / "undisturbed", self.folder / "killed"
        self.assertTrue(self.train(undisturbed, 0, files))
        kills = 0
        draw = random.Random(int(os.environ.get("NMB_SEED", 5)))
        for workers in (2, 0, 1):
            kills += not self.train(killed, workers, files, draw.uniform(0, 0.05))
        self.assertGreater(kills, 0)
        self.assertTrue((killed / "losses.txt").exists() or self.train(killed, 2, files))
        expected = (undisturbed / "losses.txt").read_text()
        self.assertEqual(len(expected.splitlines()), 4 * -(-450 // 16))
        self.assertEqual((killed / "losses.txt").read_text(), expected)
        self.assertLessEqual(len((EXAMPLES / "train.py").read_text().splitlines()), 40)


if __name__ == "__main__":
    unittest.main()
