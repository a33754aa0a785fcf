"""Orders and batches of samples: compared with lists, for random numbers of samples, ranks and positions."""

import random
import unittest

import numpy as np
from support import nmb

import nmb.samples
from nmb._sample_order import FEW, Order


class Numbers:
    """Samples that are not read."""

    fingerprint = "numbers"

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


def expected_steps(order, position, batch_size, ranks, uneven, drop_last):
    """For each step what each rank gets, by lists."""
    steps = []
    for begin in range(position, len(order), batch_size * ranks):
        step = order[begin : begin + batch_size * ranks]
        if len(step) < batch_size * ranks:
            if uneven == "pad":
                first = 0
                while len(step) % ranks:
                    step.append(order[first % len(order)])
                    first += 1
            if uneven == "drop":
                step = step[: len(step) - len(step) % ranks]
            if drop_last and len(step) < batch_size * ranks:
                break
        shares = []
        for rank in range(ranks):
            count = len(step) // ranks + (rank < len(step) % ranks)
            shares.append(step[:count] if rank == 0 else step[sum(map(len, shares)) :][:count])
        steps.append(shares)
    return steps


def got(batches):
    return [chosen.samples.tolist() for chosen in batches]


class TrainingOrderTest(unittest.TestCase):
    def test_an_order_is_a_permutation_and_a_function(self):
        rng = np.random.default_rng(1)
        for total in (1, 2, 3, 10, FEW - 1, FEW, FEW + 1, 8192, 8193, 30_000):
            for shuffle in (False, True, 1, 2, 7, 100, FEW + 3, 20_000, 40_000):
                order = Order(total, shuffle, seed=int(rng.integers(1 << 62)))
                for epoch in (0, 1, 1 << 40):
                    whole = order.samples(epoch, np.arange(total))
                    np.testing.assert_array_equal(np.sort(whole), np.arange(total), f"{total} {shuffle}")
                    some = rng.integers(0, total, 40)
                    np.testing.assert_array_equal(order.samples(epoch, some), whole[some])

    def test_orders_stay_what_they_are(self):
        """Checkpoints of older versions count on it."""
        self.assertEqual(Order(10, True, 1).samples(0, np.arange(10)).tolist(), GOLDEN["few"])
        self.assertEqual(Order(1_000_000, True, 1).samples(3, np.arange(5)).tolist(), GOLDEN["many"])
        self.assertEqual(Order(1_000_000, 1000, 1).samples(3, np.array([0, 1, 2, 1000, 999_999])).tolist(), GOLDEN["windows"])
        self.assertEqual(Order(1_000_000, 10_000, 1).samples(3, np.array([0, 1, 2, 10_000])).tolist(), GOLDEN["wide"])
        self.assertEqual(Order(10, True, 1).seeds(0, np.arange(2)).tolist(), GOLDEN["seeds"])

    def test_orders_of_epochs_and_seeds_differ(self):
        for total in (100, 10_000):
            for shuffle in (True, 10):
                orders = {tuple(Order(total, shuffle, seed).samples(epoch, np.arange(total))) for seed in range(3) for epoch in range(3)}
                self.assertEqual(len(orders), 9)

    def test_orders_are_random(self):
        """All orders of four samples are about as frequent; of many, each position gets all samples about as often."""
        counts = {}
        for epoch in range(4800):
            order = tuple(Order(4, True, 5).samples(epoch, np.arange(4)))
            counts[order] = counts.get(order, 0) + 1
        self.assertEqual(len(counts), 24)
        self.assertLess(sum((count - 200) ** 2 / 200 for count in counts.values()), 60)  # chi square, 23 degrees of freedom
        total = 10_007
        first = np.array([Order(total, True, 7).samples(epoch, np.array([0, 1, 5000])) for epoch in range(2000)])
        self.assertTrue((abs(first.mean(0) / total - 0.5) < 0.03).all(), first.mean(0))
        self.assertLess(abs(np.corrcoef(first.T) - np.eye(3)).max(), 0.1)
        whole = Order(total, True, 7).samples(0, np.arange(total))
        self.assertLess(abs(np.corrcoef(whole[1:], whole[:-1])[0, 1]), 0.05)

    def test_windows_have_neighbours(self):
        total, width = 1003, 50
        for epoch in range(5):
            order = Order(total, width, 3).samples(epoch, np.arange(total))
            begins = set()
            for begin in range(0, total, width):
                window = order[begin : begin + width]
                ring = np.sort((window - window[0]) % total)
                gaps = np.diff(np.concatenate([ring, [ring[0] + total]]))
                self.assertEqual(sorted(gaps)[-2] if len(gaps) > 1 else 1, 1)  # one range of a ring
                self.assertEqual(gaps.max(), total - len(window) + 1)
                begins.add(int(window[0]))
            self.assertEqual(len(begins), 21)
            self.assertFalse((np.diff(order[:width]) == 1).all())

    def test_batches_are_those_of_lists(self):
        draw = random.Random(2)
        for trial in range(400):
            total, batch_size, ranks = draw.randint(0, 60), draw.randint(1, 9), draw.randint(1, 5)
            uneven = draw.choice(["pad", "drop", "exact"])
            drop_last = uneven != "exact" and draw.random() < 0.3
            shuffle, seed, epoch = draw.choice([False, True, 4]), draw.randint(0, 99), draw.randint(0, 9)
            with self.subTest(f"{trial=} {total=} {batch_size=} {ranks=} {uneven=} {drop_last=} {shuffle=}"):
                order = Order(total, shuffle, seed).samples(epoch, np.arange(total)).tolist()
                numbers = Numbers(total)

                def make(rank, ranks, batch_size):
                    return nmb.samples.Batches(
                        numbers, batch_size, shuffle=shuffle, seed=seed, uneven=uneven, drop_last=drop_last, rank=rank, ranks=ranks
                    )  # fmt: skip

                steps = expected_steps(order, 0, batch_size, ranks, uneven, drop_last)
                for rank in range(ranks):
                    batches = make(rank, ranks, batch_size)
                    batches.set_epoch(epoch)
                    wanted = [step[rank] for step in steps if step[rank]]
                    self.assertEqual(len(batches), len(wanted))
                    self.assertEqual(got(batches), wanted)
                if uneven == "exact":
                    self.assertEqual(sorted(n for step in steps for share in step for n in share), list(range(total)))
                else:
                    self.assertEqual({len({len(share) for share in step}) for step in steps} - {1}, set())
                # Stops somewhere, and goes on with other ranks and another batch size.
                stop = draw.randint(0, len(steps))
                one = make(0, ranks, batch_size)
                one.set_epoch(epoch)
                iterator = iter(one)
                for _ in range(stop):
                    if next(iterator, None) is None:
                        break
                state = iterator.state_dict()
                self.assertEqual(state, one.state_dict())
                position = min(stop * batch_size * ranks, total)
                ranks, batch_size = draw.randint(1, 5), draw.randint(1, 9)
                for rank in range(ranks):
                    again = make(rank, ranks, batch_size)
                    again.load_state_dict({"loader": {"inside": state}})
                    steps = expected_steps(order, position, batch_size, ranks, uneven, drop_last)
                    if 0 < total == state["position"]:
                        self.assertEqual(again.epoch, epoch + 1)
                    else:
                        self.assertEqual(got(again), [step[rank] for step in steps if step[rank]])
                        self.assertEqual(again.epoch, epoch + 1)

    def test_an_epoch_counts_if_a_batch_was_taken(self):
        batches = nmb.samples.Batches(Numbers(10), 4, shuffle=True)
        iter(batches)
        self.assertEqual(batches.epoch, 0)
        first = next(iter(batches)).samples.tolist()
        self.assertEqual(batches.epoch, 1)
        second = got(batches)
        self.assertEqual(batches.epoch, 2)
        self.assertNotEqual(second[0], first)
        batches.set_epoch(0)
        self.assertEqual(got(batches)[0], first)
        with self.assertRaises(nmb.UsageError):
            batches.set_epoch(-1)

    def test_seeds_depend_on_the_sample_and_the_epoch(self):
        def seeds(batch_size, epoch, shuffle=True, seed=1):
            batches = nmb.samples.Batches(Numbers(20), batch_size, shuffle=shuffle, seed=seed)
            batches.set_epoch(epoch)
            return {int(s): int(r) for chosen in batches for s, r in zip(*chosen)}

        self.assertEqual(seeds(3, 0), seeds(7, 0, shuffle=False))
        self.assertEqual(len({*seeds(3, 0).values(), *seeds(3, 1).values(), *seeds(3, 0, seed=2).values()}), 60)

    def test_other_states_are_refused(self):
        state = nmb.samples.Batches(Numbers(10), 2, shuffle=True, seed=1).state_dict()
        for batches, what in (
            (nmb.samples.Batches(Numbers(11), 2, shuffle=True, seed=1), "samples was 10, and is now 11"),
            (nmb.samples.Batches(Numbers(10), 2, shuffle=True, seed=2), "the seed was 1"),
            (nmb.samples.Batches(Numbers(10), 2, shuffle=1, seed=1), "shuffle was True, and is now 1"),
            (nmb.samples.Batches(Numbers(10), 2, seed=1), "shuffle was True, and is now False"),
        ):
            with self.assertRaisesRegex(nmb.UsageError, what):
                batches.load_state_dict(state)
        other = Numbers(10)
        other.fingerprint = "another file"
        with self.assertRaisesRegex(nmb.UsageError, "another file"):
            nmb.samples.Batches(other, 2, shuffle=True, seed=1).load_state_dict(state)
        with self.assertRaisesRegex(nmb.UsageError, "no state"):
            nmb.samples.Batches(Numbers(10), 2).load_state_dict({"model": {}})
        with self.assertRaisesRegex(nmb.UsageError, "version 9"):
            nmb.samples.Batches(Numbers(10), 2).load_state_dict({**state, "nmb_samples": 9})

    def test_wrong_arguments(self):
        for wrong in (
            {"batch_size": 0}, {"shuffle": 0}, {"shuffle": -3}, {"seed": -1}, {"uneven": "Pad"}, {"rank": 1}, {"rank": 2, "ranks": 2},
            {"ranks": 0}, {"uneven": "exact", "drop_last": True}, {"batch_size": True},
        ):  # fmt: skip
            with self.subTest(wrong), self.assertRaises(nmb.UsageError):
                nmb.samples.Batches(Numbers(10), **{"batch_size": 2, **wrong})


GOLDEN = {
    "few": [9, 1, 7, 4, 8, 5, 6, 3, 2, 0],
    "many": [174389, 386278, 97154, 541361, 907399],
    "windows": [149551, 149007, 149245, 185149, 927503],
    "wide": [877737, 881022, 876575, 812420],
    "seeds": [3986879226128462297, 7966815940249721380],
}


if __name__ == "__main__":
    unittest.main()
