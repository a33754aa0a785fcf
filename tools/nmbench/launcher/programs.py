"""The programs of the back ends: which there are, how they are started, and what one run of a kernel gave."""

import functools
import json
import os
import platform
import re
import resource
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

# Names on the command line, and what they are called in tables.
BACKENDS = {"nmb": "NMB", "pnetcdf": "CDF-5 (PnetCDF)", "netcdf4": "netCDF-4 (netCDF-C)", "netcdf4-parallel": "netCDF-4, parallel",
            "hdf5": "HDF5, serial",
            "hdf5-parallel": "HDF5, parallel", "lmdb": "LMDB", "files": "plain files",
            "prototype": "new format (the paper's prototype)"}
MPI_IO = ("pnetcdf", "netcdf4-parallel", "hdf5-parallel", "prototype")  # back ends that get --hint, and for which Open MPI has a choice of MPI-IO
PATIENCE = 15  # seconds that a program has to end when it is told to
OUTPUT = 2000  # characters of what a program says that are kept
REFUSED = 3  # exit code of a program whose library has no way to do what is asked
# A run is disturbed if other programs of this node used more of a core than this, or the host of a virtual machine took more.
OTHERS_CORES, STOLEN_CORES = 0.25, 0.05


@dataclass(frozen=True)
class Variant:
    """A way to do the work of a case: a back end, perhaps with another library, and parameters of its own."""
    name: str
    title: str
    backend: str
    job: dict = field(default_factory=dict, hash=False, compare=False)
    only: str = ""  # the only step of the case that it does; default: all
    env: dict = field(default_factory=dict, hash=False, compare=False)  # variables of the environment of its own


class Programs:
    def __init__(self, folder, launcher, timeout, pnetcdf=None, hints=()):
        self.folder, self.timeout, self.pnetcdf, self.hints = Path(folder), timeout, pnetcdf, dict(hints)
        self.launcher = launcher or self.usual_launcher()
        # The plug-in of MPI lies beside the folder of the programs. Open MPI refuses to run as root unless told twice.
        self.env = dict(os.environ, LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                        OMPI_MCA_rmaps_base_oversubscribe="1", HDF5_USE_FILE_LOCKING="FALSE")
        self.env.setdefault("NMB_PLUGIN_PATH", str(self.folder.parent))

    def path(self, backend):
        return self.folder / f"nmbench-{backend}"

    def has(self, backend):
        return self.path(backend).exists()

    def tool(self, name):
        """A tool of NMB: of the installation, or of the build."""
        places = [self.folder.parents[2] / "bin" / name, self.folder.parents[2] / "tools" / name]
        return next((place for place in places if place.exists()), name)

    @functools.cached_property
    def mpi(self):
        """openmpi or mpich: the library that the programs are linked with."""
        done = subprocess.run(["ldd", self.path("files")], capture_output=True, text=True)
        return "mpich" if "libmpich" in done.stdout else "openmpi"

    def romio(self):
        """The name that Open MPI has for ROMIO; empty: it has none, or the user chose (OMPI_MCA_io)."""
        if self.mpi != "openmpi" or "OMPI_MCA_io" in os.environ or not shutil.which("ompi_info"):
            return ""
        done = subprocess.run(["ompi_info", "--parsable", "--param", "io", "all"], capture_output=True, text=True)
        found = re.search(r"^mca:io:(romio\w*):", done.stdout, re.M)
        return found[1] if found else ""

    def usual_launcher(self):
        if "SLURM_JOB_ID" in os.environ and shutil.which("srun"):
            return "srun -n {ranks}"
        name = f"mpiexec.{self.mpi}"
        return f"{name if shutil.which(name) else 'mpiexec'} -n {{ranks}}"

    def command(self, backend, ranks, job, out):
        program = [str(self.path(backend)), str(job), str(out)]
        if ranks == 1 and "srun" not in self.launcher:
            return program
        return shlex.split(self.launcher.format(ranks=ranks)) + program

    def run(self, backend, ranks, job, scratch, env):
        """One run of a kernel: {status, reason, seconds of the command, ranks: rows of each process, ...}."""
        job_file, out = scratch / "job.json", scratch / "out.json"
        library = {"library": self.pnetcdf} if backend == "pnetcdf" and self.pnetcdf else {}
        hints = {"hints": self.hints} if backend in MPI_IO and self.hints else {}
        job_file.write_text(json.dumps({**library, **hints, **job, "processes": ranks}))
        out.unlink(missing_ok=True)
        before = counters()
        command = self.command(backend, ranks, job_file, out)
        try:
            started = subprocess.Popen(command, env={**self.env, **env}, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            return {"status": "failed", "reason": f"cannot start {command[0]}: {error.strerror}", "ranks": []}
        try:
            text, _ = started.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            stop(started)
            return {"status": "failed", "reason": f"not finished after {self.timeout:g} s", "ranks": []}
        except BaseException:  # interrupted: the program ends too
            stop(started)
            raise
        after = counters()
        result = {"status": "ok", "reason": "", "command_seconds": after["wall"] - before["wall"], "ranks": [], "output": text.strip()[-OUTPUT:]}
        said = re.search(r"nmbench (?:refused|failed): (.*)", text)
        if started.returncode != 0:
            refused = "nmbench refused: " in text
            result["status"] = "refused" if refused else "failed"
            result["reason"] = said[1] if said else f"exit code {started.returncode}: {text.strip()[-300:]}"
            return result
        result["ranks"] = json.loads(out.read_text())
        result.update(disturbance(before, after, result["ranks"], platform.node()))
        if len(result["ranks"]) != ranks:
            result.update(status="failed", reason=f"{len(result['ranks'])} processes gave results, expected {ranks}: look at --launcher")
        return result


def stop(started):
    """Launchers of MPI end the processes of other nodes when they are told to end, not when they are killed."""
    os.killpg(started.pid, signal.SIGTERM)
    try:
        started.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()


def counters():
    """CPU seconds of the node, of the host that took them, and of our own programs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    numbers = {"wall": time.monotonic(), "own": used.ru_utime + used.ru_stime}
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return numbers
    ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words]
    user, nice, system, _, _, irq, softirq, steal = ticks[:8]
    return {**numbers, "busy": user + nice + system + irq + softirq, "stolen": steal}


def disturbance(before, after, ranks, host):
    """What others took of this node; null: not known, because no process of the run was here.

    Processes that srun starts are not our children, so that each says itself what it used. mpiexec waits for those of its node.
    """
    here = [rank["cpu_seconds"] for rank in ranks if rank["host"] == host]
    if not here or "busy" not in after:
        return {"others_cores": None, "stolen_cores": None, "disturbed": None}
    wall = max(after["wall"] - before["wall"], 1e-3)
    own = max(sum(here), after["own"] - before["own"])
    others = max(0.0, after["busy"] - before["busy"] - own) / wall
    stolen = (after["stolen"] - before["stolen"]) / wall
    # The kernel counts in hundredths of a second.
    disturbed = wall > 0.1 and (others > OTHERS_CORES or stolen > STOLEN_CORES)
    return {"others_cores": round(others, 3), "stolen_cores": round(stolen, 3), "disturbed": disturbed}


def bytes_of(path):
    """Of a file, of a folder's files, or of the files of all processes."""
    path = Path(path)
    if path.is_dir():
        return sum(child.stat().st_size for child in path.iterdir())
    files = [path] if path.exists() else list(path.parent.glob(f"rank_*_{path.name}"))
    return sum(file.stat().st_size for file in files)


def remove(path):
    path = Path(path)
    for file in (path, *path.parent.glob(f"rank_*_{path.name}"), path.with_name(path.name + ".table"),
                 path.with_name(path.name + "-lock")):
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)
