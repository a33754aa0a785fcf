"""Merges and recoveries: work of tools. The installed nmcat and nmverify run beside other tools that do the same work."""

import hashlib
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from cases import Case, Step, variants_in_turn
from merge_inputs import Inputs
from programs import OUTPUT, Variant, bytes_of, counters, disturbance, remove, stop

RATE = 100e6  # bytes a second of each stream where the rate is limited
LOSSES = (0, 1, 3)  # exit codes of a recovery: all, nothing, or a part was recovered
MODES = (("pack", "nmb"), ("union", "nmb"), ("union", "cdf5"), ("join", "nmb"), ("join", "cdf5"), ("tiles", "nmb"), ("tiles", "cdf5"))


@dataclass
class Work:
    """The inputs and options of a merge. megabytes: of the values of all inputs."""
    title: str
    files: int
    megabytes: float
    kind: str = "classic"
    options: tuple = ()  # of nmcat
    limited: bool = False
    outputs: tuple = ("nmb", "cdf5")


WORKS = {
    "copy": Work("are copied", 64, 1000),
    "compress": Work("are compressed", 64, 200, options=("--compress", "deflate"), outputs=("nmb",)),
    "coded": Work("are decoded from HDF5", 64, 200, kind="hdf5"),
    "small": Work("are those of 10,000 files", 10_000, 150),
    "limited": Work(f"are copied, {RATE / 1e6:.0f} MB/s a stream", 64, 200, limited=True),
}
OTHER_CHUNKS = {"tiles": "y:100,x:100", "union": "cell:50000", "join": "cell:50000", "pack": "cell:50000"}


@dataclass
class ToolCase(Case):
    mode: str = "pack"
    work: Work = None
    damage: str = ""  # of the file to recover


def ways(options):
    """NMB with one stream, and with two: threads and processes."""
    found = [Variant("nmb", "NMB, one thread", "nmb"), Variant("nmb-threads", "NMB, two threads", "nmb", {"threads": 2}),
             Variant("nmb-processes", "NMB, two processes", "nmb", {"processes": 2})]
    return found if "nmb" in options.peers else []


def peers(options, mode, to, work):
    found = []
    if "files" in options.peers and not work.options:
        found.append(Variant("cat", "cat of all inputs", "files"))
    # ncrcat has no file list: 10,000 names are too many for it.
    if "netcdf4" in options.peers and mode == "join" and to == "cdf5" and work.files < 10_000 and shutil.which("ncrcat"):
        found.append(Variant("ncrcat", "ncrcat", "netcdf4"))
    return found


def scaled(work, options):
    return Work(work.title, max(4, round(work.files * options.scale)), max(0.1, work.megabytes * options.scale), work.kind, work.options,
                work.limited, work.outputs)


def merge(options):
    """Many files become one, by one thread, two threads and two processes: copied, compressed, decoded, 10,000 files, limited rates."""
    cases = []
    for name, usual in WORKS.items():
        work = scaled(usual, options)
        for mode, to in MODES:
            if to not in work.outputs:
                continue
            more = [*work.options, *(("--chunk", OTHER_CHUNKS[mode]) if work.kind == "hdf5" and to == "nmb" else ())]
            cases.append(ToolCase(f"merge-{name}-{mode}-{to}", f"{mode} to {to}: values {work.title}", 1,
                                  [Step("merge", "merge", {"to": to, "options": more})], ways(options) + peers(options, mode, to, work),
                                  mode=mode, work=work))
    return cases


def recovery(options):
    """nmverify recovers a file after a crash: its end is cut off, or bytes are damaged; blocks of 16 MB and of 15 kB."""
    variants = [variant for variant in ways(options) if "processes" not in variant.job]
    variants += [Variant("cat", "cat of the file", "files")] if "files" in options.peers else []
    return [ToolCase(f"recovery-{name}-{damage}", f"recover a file of {scaled(WORKS[name], options).files:,} blocks: {text}", 1,
                     [Step("recover", "recover")], variants, work=scaled(WORKS[name], options), damage=damage)
            for name in ("copy", "small") for damage, text in (("cut", "its end is cut off"), ("damaged", "head, index and some values are damaged"))]


class Tools:
    def __init__(self, programs, scratch):
        self.programs, self.scratch = programs, scratch
        folders = [programs.folder.parents[2] / name for name in ("bin", "tools")]
        self.folder = next((folder for folder in folders if (folder / "nmcat").exists()), None)
        self.limiter = programs.folder / "limited_rate.so"

    def command(self, case, job, variant, inputs, out):
        """(words, whether standard output is the output)"""
        if variant.name == "cat":
            return ["xargs", "-a", str(inputs[0]), "cat"], True
        if variant.name == "ncrcat":
            return ["ncrcat", "-O", "-h", "-5", *inputs[1], str(out)], False
        threads = f"-j{variant.job.get('threads', 1)}"
        if case.damage:
            return [str(self.folder / "nmverify"), "--recover", str(out), inputs[1][0], "-f", "--no-sync", "--json", threads], False
        return [str(self.folder / "nmcat"), "--mode", case.mode, "--files-from", str(inputs[0]), "-o", str(out), "-f", "--to", job["to"],
                "--no-sync", "--no-progress", "--json", threads, *job["options"]], False

    def run(self, case, job, variant, inputs, out):
        """The row of one run, as those of Programs.run()."""
        words, is_output = self.command(case, job, variant, inputs, out)
        if case.work.limited:
            words = ["env", f"LD_PRELOAD={self.limiter}", f"NMBENCH_LIMITED_FOLDER={out.parent}", f"NMBENCH_LIMITED_RATE={RATE:.0f}", *words]
        processes = variant.job.get("processes", 1)
        if processes > 1:
            words = shlex.split(self.programs.launcher.format(ranks=processes)) + words
        said = self.scratch / "said"
        before = counters()
        with open(out if is_output else said, "wb") as output, open(self.scratch / "errors", "w+b") as errors:
            started = subprocess.Popen(words, env=self.programs.env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)
            try:
                used = wait(started, self.programs.timeout)
            except BaseException:
                stop(started)
                raise
            errors.seek(0)
            text = errors.read().decode(errors="replace").strip()[-OUTPUT:]
        after = counters()
        result = {"status": "ok", "reason": "", "command_seconds": after["wall"] - before["wall"], "ranks": [], "output": text}
        if used is None:
            return {**result, "status": "failed", "reason": f"not finished after {self.programs.timeout:g} s"}
        if started.returncode not in (LOSSES if case.damage and variant.backend == "nmb" else (0,)):
            return {**result, "status": "failed", "reason": f"exit code {started.returncode}: {text[-300:]}"}
        report = json.loads(said.read_text()) if variant.backend == "nmb" else {}
        # nmcat says what the merge took after the processes have started; of other tools it is the whole command.
        seconds = report.get("seconds", result["command_seconds"])
        result["ranks"] = [rank_of(seconds, used, Path(words[-1] if is_output else self.folder).name, report)]
        return {**result, **disturbance(before, after, result["ranks"], platform.node())}


def wait(started, timeout):
    """Returns the resources that a process and its children used, or None if it was stopped because it took too long."""
    def expired(*_):
        raise TimeoutError
    old = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        return used
    except TimeoutError:
        stop(started)
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def rank_of(seconds, used, library, report):
    """The tool as one process of a kernel. Its counters are not known."""
    cpu = used.ru_utime + used.ru_stime
    unknown = dict.fromkeys(("reads", "read_bytes", "writes", "written_bytes", "messages", "collectives", "sent_bytes"))
    phase = {"name": "all", "wall": seconds, "cpu": cpu, "metering": 0.0, "heap": 0, "peak_rss": used.ru_maxrss * 1024, **unknown,
             "mpi_seconds": 0.0, "mpi_file_calls": 0, "mpi_file_seconds": 0.0}
    return {"rank": 0, "host": platform.node(), "cpu_seconds": cpu, "library": library, "mpi": "", "phases": [phase], "total": seconds,
            "wall": seconds, "numbers": {}, "bytes": report.get("value_bytes", 0)}


def damage_file(path, damage):
    """Cuts off the last thousandth, or overwrites the head, the end with the index, and two pages of values."""
    size = path.stat().st_size
    if damage == "cut":
        os.truncate(path, size - max(8192, size // 1000))
        return
    with open(path, "r+b") as file:
        for at in (0, size // 3, size // 2, size - 8192):
            file.seek(at)
            file.write(b"\xa5" * 4096)


def digest(path):
    sum_ = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 22):
            sum_.update(part)
    return sum_.digest()


def run_case(case, programs, folder, scratch, o, report, rows):
    """Adds the rows of all runs of a case. The outputs of all ways of NMB must have the same bytes."""
    tools, step = Tools(programs, scratch), case.steps[0]

    def row_of(variant, run, result, path):
        return {"case": case.name, "title": case.title, "step": step.name, "kernel": step.kernel, "variant": variant.name,
                "variant_title": variant.title, "backend": variant.backend, "processes": 1, "run": run,
                "job": {**step.job, **variant.job}, "disturbed": False, "file_bytes": bytes_of(path) if path else 0, **result}

    if not tools.folder:
        rows += [row_of(v, 0, {"status": "missing", "reason": "nmcat was not found beside nmbench", "ranks": []}, None) for v in case.variants]
        return
    made, out, names = folder / "inputs", folder / f"{case.name}.out", scratch / "names"
    first, sums = len(rows), []
    try:
        paths = Inputs(made, case.work.files, case.work.megabytes).make(case.mode, case.work.kind, tools.folder / "nmconvert")
        names.write_text("".join(f"{path}\n" for path in paths))
        if case.damage:
            crashed = folder / "crashed.nmb"
            subprocess.run([tools.folder / "nmcat", "--files-from", names, "-o", crashed, "-f", "-q", "--no-sync", "--no-progress"], check=True)
            damage_file(crashed, case.damage)
            paths = [crashed]
            names.write_text(f"{crashed}\n")
        for run in range(o.runs):
            for variant in variants_in_turn(case.variants, run):
                remove(out)
                result = tools.run(case, step.job, variant, (names, [str(path) for path in paths]), out)
                if variant.backend == "nmb" and result["status"] == "ok":
                    sums.append(digest(out))
                    if sums[-1] != sums[0]:
                        result.update(status="failed", reason="other bytes than those of the first run", ranks=[])
                rows.append(row_of(variant, run, result, out))
                report(rows[-1], step)
    finally:
        remove(out)
        shutil.rmtree(made, ignore_errors=True)
        (folder / "crashed.nmb").unlink(missing_ok=True)
    for row in rows[first:] if len(sums) > 1 else []:
        for rank in row["ranks"]:
            rank["verified"] = row["backend"] == "nmb"


SETS = {"merge": merge, "recovery": recovery}
