#!/usr/bin/env python3
"""compare_traffic.py RANKS PARALLEL_RANKS MPIEXEC [OPTION...] -- CASE...

Runs cases under Open MPI and compares what each rank says that it sent with what Open MPI's
monitoring of point-to-point messages counted, apart from messages of its own. Prints both.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def said(output):
    """Messages and bytes of each rank, over all cases."""
    sums = collections.defaultdict(lambda: [0, 0])
    for rank, messages, count in re.findall(r": rank (\d+): messages (\d+), bytes (\d+)", output):
        sums[int(rank)][0] += int(messages)
        sums[int(rank)][1] += int(count)
    return dict(sums)


def monitored(profile):
    """The same from a profile, whose lines E (external) have sender, receiver, bytes, messages."""
    sums = [0, 0]
    for count, messages in re.findall(r"^E\t\d+\t\d+\t(\d+) bytes\t(\d+) msgs", profile, re.MULTILINE):
        sums[0] += int(messages)
        sums[1] += int(count)
    return sums


def main():
    ranks, program = int(sys.argv[1]), sys.argv[2]
    end = sys.argv.index("--")
    mpiexec, cases = sys.argv[3:end], sys.argv[end + 1:]
    with tempfile.TemporaryDirectory() as folder:
        command = [*mpiexec, "-n", str(ranks), "--mca", "pml_monitoring_enable", "2",
                   "--mca", "pml_monitoring_enable_output", "3",
                   "--mca", "pml_monitoring_filename", f"{folder}/traffic",
                   program, "--traffic", *cases]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        profiles = {rank: pathlib.Path(folder, f"traffic.{rank}.prof") for rank in range(ranks)}
        if not any(profile.exists() for profile in profiles.values()):
            print("skipped: this Open MPI has no component 'monitoring' for point-to-point messages")
            return SKIPPED
        counted = {rank: monitored(profile.read_text()) for rank, profile in profiles.items()}
    own = said(run.stdout)
    print("rank  messages: said  counted  bytes: said  counted")
    for rank in range(ranks):
        messages, count = own.get(rank, [0, 0])
        print(f"{rank:4}{messages:16}{counted[rank][0]:9}{count:13}{counted[rank][1]:9}")
    if len(own) != ranks or own != counted or sum(messages for messages, _ in own.values()) == 0:
        print("found different traffic, expected the same, and some")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
