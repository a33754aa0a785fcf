#!/usr/bin/python3
"""Random histories of a file: append, replace, remove, rename, repack, recover, a view, programs that are killed, two
programs at once. An oracle knows which blocks must be there, with which values and which originals.

    histories.py --tools FOLDER [--seed N] [--steps N]

After each step, nmverify finds no damage, nminspect lists the blocks, nmconvert --original gives the newest file of each
block and none that was replaced, and nmverify --recover loses nothing.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import Tools  # noqa: E402

NAMES = ["a", "b", "b.x", "long_name", "z"]
DUMP = "netcdf x {{ dimensions: x = {} ; variables: int v(x) ; data: v = {} ; }}"


class Block:
    """What a block must have: the first value and the number of values, and the file that --original gives or None."""

    def __init__(self, name, source, classic, original):
        self.name, self.source, self.classic, self.original = name, source, classic, original


class History:
    def __init__(self, tools, seed):
        self.tools, self.random, self.seed = tools, random.Random(seed), seed
        self.blocks, self.step, self.log = {}, 0, []
        self.file = tools.work / "f.nmb"
        self.hdf5 = (tools.folder.parent / "lib/nmb/nmb-hdf5").exists()
        self.change = tools.folder.parent / "tests/change_blocks"
        self.sources = self.make_sources()

    def make_sources(self):
        """(path, is classic, values), of which each name gets copies."""
        out = []
        for number in range(6):
            length = self.random.choice([5, 900, 70000 if number < 2 else 3000])
            values = list(range(1000 * number, 1000 * number + length))
            text = self.tools.work / "x.cdl"
            text.write_text(DUMP.format(length, ", ".join(map(str, values))))
            kind = "nc4" if self.hdf5 and number % 2 else "cdf5"
            path = self.tools.work / f"source{number}.nc"
            subprocess.run(["ncgen", "-k", kind, "-o", path, text], check=True)
            out.append((path, kind == "cdf5", values))
        return out

    # --- steps; each returns the blocks after it ---

    def input(self, name, in_folder):
        """A source in a file with the block's name."""
        source, classic, values = self.random.choice(self.sources)
        path = self.tools.work / in_folder / f"{name}.nc"
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, path)
        return path, classic, values

    def packed(self, names, folder="in"):
        """(arguments of nmcat, the blocks that it makes)."""
        no_originals = self.random.random() < 0.25
        paths, after = [], {}
        for name in names:
            path, classic, values = self.input(name, folder)
            paths.append(path)
            data = path.read_bytes()
            after[name] = Block(name, values, classic, data if classic or not no_originals else None)
        return [*paths, "-q", "-o", self.file] + ["--no-originals"] * no_originals, after

    def some(self, names):
        names = sorted(names)
        return self.random.sample(names, min(len(names), self.random.randint(1, 2)))

    def call(self):
        """A random step: (command, the blocks after it)."""
        free, taken = [n for n in NAMES if n not in self.blocks], sorted(self.blocks)
        steps = ["append"] * 2 * bool(free) + ["replace"] * 4 + ["remove", "rename"] * (len(taken) > 1) + ["view"] * self.hdf5
        what = self.random.choice(steps) if taken else "append"
        if what == "append":
            arguments, more = self.packed(self.some(free))
            return ["nmcat", "--append", *arguments], self.blocks | more
        if what == "replace":
            arguments, more = self.packed(self.some(taken + free[:1]))
            return ["nmcat", "--append", "--replace", *arguments], self.blocks | more
        if what == "view":
            return ["nmconvert", "-q", "--add-hdf5-view", self.file], self.blocks
        name = self.random.choice(taken)
        after = {n: block for n, block in self.blocks.items() if n != name}
        if what == "remove" or not free:
            return [self.change, self.file, "remove", name], after
        new = self.random.choice(free)
        return [self.change, self.file, "rename", name, new], after | {new: self.blocks[name]}

    def create(self):
        arguments, self.blocks = self.packed(self.some(NAMES))
        self.run("nmcat", "-f", *arguments)

    def run(self, name, *arguments, exit_code=0):
        program = self.tools.folder / name
        self.log.append(" ".join(str(word).replace(str(self.tools.work) + "/", "") for word in (program.name, *arguments)))
        done = subprocess.run([program, *arguments], cwd=self.tools.work, capture_output=True, timeout=120)
        if exit_code is not None and done.returncode != exit_code:
            self.fail(f"exit code {done.returncode}, expected {exit_code}: {(done.stdout + done.stderr).decode(errors='replace')}")
        return done

    def fail(self, problem):
        raise AssertionError(f"seed {self.seed}, step {self.step}: {problem}\n  " + "\n  ".join(self.log[-40:]))

    def plain(self, command, after):
        self.run(*command)
        self.blocks = after

    def killed(self, command, after):
        """The program is killed: the blocks are those before or those after."""
        self.log.append("killed:")
        begun = time.monotonic()
        self.log.append(" ".join(map(str, command)))
        process = subprocess.Popen([self.tools.folder / command[0], *command[1:]], cwd=self.tools.work,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.random() * self.random.choice([0.01, 0.05, 0.2]))
        process.kill()
        ended = process.wait()
        self.log.append(f"after {time.monotonic() - begun:.3f} s: {ended}")
        if ended == 0:
            self.blocks = after
        else:
            self.blocks = self.after_a_crash([self.blocks, after])

    def after_a_crash(self, states):
        """The blocks of the file, which must be those of one of the states."""
        said, more = self.run("nmverify", self.file).stdout.decode(), {}
        if "did not finish" in said or "wrote only in part" in said:
            # Copies are refused until the next writer adopts the commit or leaves it.
            self.check_recovery(self.file, None)
            arguments, more = self.packed([self.random.choice(NAMES)])
            self.run("nmcat", "--append", "--replace", *arguments)
        problems = []
        for blocks in states:
            try:
                self.check_blocks(self.file, blocks | more)
                return blocks | more
            except AssertionError as problem:
                problems.append(str(problem))
        raise AssertionError("\n".join(problems))

    def both(self, command, after):
        """Another program replaces the file: one of them is refused, or the second begins when the first has ended."""
        arguments, other = self.packed(self.some(NAMES), "others")
        self.log.append("at once: " + " ".join(map(str, [*command, "; nmcat -f", *arguments])))
        processes = [
            subprocess.Popen([self.tools.folder / words[0], *words[1:]], cwd=self.tools.work,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for words in (command, ["nmcat", "-f", *arguments])
        ]
        codes, said = [], b""
        for process in processes:
            said += process.communicate(timeout=120)[1]
            codes.append(process.returncode)
        self.log.append(f"exit codes {codes}: {said.decode(errors='replace')}")
        states = {  # blocks that are allowed, by who did what was asked for
            (0, 0): [other, self.replayed(command, other)],
            (0, 2): [after],
            (2, 0): [other],
            (1, 0): [other],
        }.get(tuple(codes))
        if states is None:
            self.fail(f"exit codes {codes}")
        self.blocks = self.after_a_crash([state for state in states if state is not None])

    def replayed(self, command, blocks):
        """The blocks if `command` ran after the other program; None if it would have failed."""
        if command[0] == "nmconvert":
            return blocks
        if command[0] == self.change:
            name, new = command[3], command[4] if len(command) > 4 else None
            if name not in blocks or new in blocks:
                return None
            rest = {n: b for n, b in blocks.items() if n != name}
            return rest | ({new: blocks[name]} if new else {})
        more = {Path(p).stem: None for p in command if str(p).endswith(".nc")}
        if "--replace" not in command and more.keys() & blocks.keys():
            return None
        return blocks | {name: self.last_inputs[name] for name in more}

    def repack(self):
        out = self.tools.work / "repacked.nmb"
        self.run("nmconvert", "--repack", "-q", "-f", self.file, out)
        shutil.move(out, self.file)

    def recover(self):
        self.check_recovery(self.file, self.blocks)
        shutil.move(self.tools.work / "recovered.nmb", self.file)

    # --- what must be true after each step ---

    def check(self):
        self.run("nmverify", "--originals", "--level", "data", self.file)
        self.check_blocks(self.file, self.blocks)
        if self.step % 4 == 0:
            self.check_recovery(self.file, self.blocks)

    def check_recovery(self, path, blocks):
        out = self.tools.work / "recovered.nmb"
        self.run("nmverify", "-q", "--recover", out, "-f", path, exit_code=0)
        if blocks is not None:
            self.run("nmverify", out)
            self.check_blocks(out, blocks)

    def check_blocks(self, path, blocks):
        listed = json.loads(self.run("nminspect", "ls", "--json", path).stdout)
        names = sorted(entry["name"] if isinstance(entry, dict) else entry for entry in listed["blocks"])
        if names != sorted(blocks):
            self.fail(f"{path.name}: blocks {names}, expected {sorted(blocks)}")
        for name, block in blocks.items():
            found = json.loads(self.run("nminspect", "dump", "--json", path, f"{name}/v").stdout)
            if found["values"] != block.source:
                self.fail(f"{path.name}: values of {name}: {str(found)[:200]}")
            back = self.tools.work / "back"
            back.unlink(missing_ok=True)
            self.run("nmconvert", path, "--original", name, "-o", back, exit_code=0 if block.original else 2)
            if block.original and back.read_bytes() != block.original:
                self.fail(f"{path.name}: --original {name} gives another file")
        live = [f for f in self.run("nminspect", "files", path).stdout.decode().splitlines() if f.startswith("original")]
        expected = sorted(b.name for b in blocks.values() if not b.classic and b.original)
        paths = sorted(Path(line.split("\t")[5]).stem for line in live)
        if paths != expected:
            self.fail(f"{path.name}: originals {paths}, expected {expected}")

    def go(self, steps):
        self.create()
        for self.step in range(1, steps + 1):
            chance = self.random.random()
            if chance < 0.08:
                self.repack()
            elif chance < 0.14:
                self.recover()
            else:
                command, after = self.call()
                self.last_inputs = after
                how = self.killed if chance < 0.4 else self.both if chance < 0.5 else self.plain
                how(command, after)
            self.check()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--steps", type=int, default=12)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    with tempfile.TemporaryDirectory() as folder:
        try:
            History(Tools(arguments.tools, folder), seed).go(arguments.steps)
        except AssertionError as error:
            print(error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
