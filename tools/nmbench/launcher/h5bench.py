"""h5bench's JSON: which of its benchmarks and keys nmbench runs, and how. What cannot be meant is refused by its name."""

import json
import os
import re
import shlex
from pathlib import Path

import e3sm
from cases import Case, Step

PATTERNS = ("write", "write-unlimited", "write_normal_dist", "write_var_normal_dist", "read", "overwrite", "append")
NOT_HERE = {
    "openpmd": "it runs the openPMD API's own program", "amrex": "it runs AMReX's own program",
    "macsio": "it runs MACSio", "exerciser": "it calls HDF5's own functions with all their settings",
}
# Keys of the pattern benchmarks; whatever is not here is refused.
KEYS = {"MEM_PATTERN", "FILE_PATTERN", "READ_OPTION", "TIMESTEPS", "DELAYED_CLOSE_TIMESTEPS", "COLLECTIVE_DATA",
        "COLLECTIVE_METADATA", "EMULATED_COMPUTE_TIME_PER_TIMESTEP", "NUM_DIMS", "DIM_1", "DIM_2", "DIM_3", "CHUNK_DIM_1",
        "CHUNK_DIM_2", "CHUNK_DIM_3", "CSV_FILE", "MODE", "STRIDE_SIZE", "STRIDE_SIZE_2", "BLOCK_SIZE", "BLOCK_SIZE_2",
        "BLOCK_SIZE_3", "BLOCK_CNT", "COMPRESS", "FILE_PER_PROC", "TO_READ_NUM_PARTICLES", "NUM_PARTICLES", "ALIGN",
        "ALIGN_THRESHOLD", "ALIGN_LEN", "SUBFILING", "IO_MEM_LIMIT", "STDEV_DIM_1"}
METADATA_KEYS = {"version", "steps", "arrays", "rows", "columns", "process-rows", "process-columns", "scaling", "dataset-rank",
                 "slowest-dimension", "layout", "mpi-io", "csv-file", "hdf5-file"}
E3SM_KEYS = {"map", "r", "k", "x", "a"}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SECONDS = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "m": 60, "min": 60}
DEFLATE = 9  # h5bench's level


class Refused(Exception):
    """The configuration asks for something that nmbench cannot do; exit code 2."""


def number(key, text):
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)\w*\s*", str(text), re.I)
    if not found:
        raise Refused(f"{key}: found {text!r}, expected a number, perhaps with K, M, G or T")
    return int(found[1]) * UNITS[found[2].upper()]


def seconds(key, text):
    found = re.fullmatch(r"\s*(\d+)\s*(\w*)\s*", str(text))
    unit = found and next((unit for unit in (found[2].lower(), found[2].lower()[:1]) if unit in SECONDS), None)
    if unit is None:
        raise Refused(f"{key}: found {text!r}, expected a time such as `1 s` or `200 ms`")
    return int(found[1]) * SECONDS[unit]


def flag(key, text):
    if str(text).upper() not in ("YES", "NO"):
        raise Refused(f"{key}: found {text!r}, expected YES or NO")
    return str(text).upper() == "YES"


def word(key, text, allowed):
    if text not in allowed:
        raise Refused(f"{key}: found {text!r}, expected {', '.join(allowed)}")
    return text


def check_keys(where, found, known):
    unknown = sorted(set(found) - known)
    if unknown:
        raise Refused(f"{where}nmbench has no key {unknown[0]}")


def ranks_of(mpi):
    """(processes, launcher or None). Like h5bench: with `configuration`, `ranks` is not used."""
    check_keys("mpi: ", mpi, {"command", "ranks", "configuration"})
    command = mpi.get("command", "mpirun")
    words = shlex.split(mpi.get("configuration", ""))
    ranks, rest, at = None, [], 0
    while at < len(words):
        name, _, value = words[at].partition("=")
        if name in ("-n", "-np", "--np", "--ntasks"):
            if not value:
                at += 1
                value = words[at] if at < len(words) else ""
            if not value.isdigit():
                raise Refused(f"mpi.configuration: {name} needs a number of processes")
            ranks = int(value)
        else:
            rest.append(words[at])
        at += 1
    if ranks is None:
        ranks = number("mpi.ranks", mpi.get("ranks", 1))
    if command in ("mpirun", "mpiexec"):
        return ranks, None, rest
    return ranks, command, rest


def pattern_job(benchmark, configuration, scale):
    """The parameters of a kernel. Lengths and counts of at least 1,000 are multiplied by scale."""
    def scaled(count):
        return count if count < 1000 else max(1000, round(count * scale))

    check_keys(f"benchmark {benchmark}: ", configuration, KEYS)
    c = {key: value for key, value in configuration.items()}
    mode = word("MODE", c.get("MODE", "SYNC"), ("SYNC", "ASYNC", "LOG"))
    if mode != "SYNC":
        raise Refused(f"MODE {mode}: nmbench has no mode in which writing goes on while the program computes")
    if flag("SUBFILING", c.get("SUBFILING", "NO")):
        raise Refused("SUBFILING YES: only HDF5 1.14 and later has subfiles")
    if number("IO_MEM_LIMIT", c.get("IO_MEM_LIMIT", 0)) != 0:
        raise Refused("IO_MEM_LIMIT: it limits writing that goes on while the program computes, which nmbench does not have")
    dimensions = number("NUM_DIMS", c.get("NUM_DIMS", 1))
    if not 1 <= dimensions <= 3:
        raise Refused(f"NUM_DIMS: found {dimensions}, expected 1, 2 or 3")
    if "DIM_1" not in c and dimensions == 1 and "NUM_PARTICLES" in c:
        c["DIM_1"] = c["NUM_PARTICLES"]
    lengths = [scaled(number(key, c[key])) if key in c else 0 for key in ("DIM_1", "DIM_2", "DIM_3")[:dimensions]]
    if min(lengths) < 1:
        raise Refused(f"benchmark {benchmark}: DIM_1 to DIM_{dimensions} must be at least 1")
    memory = word("MEM_PATTERN", c.get("MEM_PATTERN", "CONTIG"), ("CONTIG", "INTERLEAVED"))
    file = word("FILE_PATTERN", c.get("FILE_PATTERN", "CONTIG"), ("CONTIG", "INTERLEAVED", "STRIDED"))
    if dimensions == 3 and "INTERLEAVED" in (memory, file):
        raise Refused("INTERLEAVED: h5bench has such patterns in one and two dimensions")
    if file == "STRIDED" and memory != "CONTIG":
        raise Refused("FILE_PATTERN STRIDED: h5bench has it with MEM_PATTERN CONTIG")
    job = {"steps": number("TIMESTEPS", c.get("TIMESTEPS", 1)), "lengths": lengths, "memory_pattern": memory,
           "file_pattern": file, "kept_open": number("DELAYED_CLOSE_TIMESTEPS", c.get("DELAYED_CLOSE_TIMESTEPS", 0)),
           "compute_seconds": seconds("EMULATED_COMPUTE_TIME_PER_TIMESTEP", c.get("EMULATED_COMPUTE_TIME_PER_TIMESTEP", "0 s")),
           "collective_data": flag("COLLECTIVE_DATA", c.get("COLLECTIVE_DATA", "NO")),
           "collective_metadata": flag("COLLECTIVE_METADATA", c.get("COLLECTIVE_METADATA", "NO")),
           "file_per_process": flag("FILE_PER_PROC", c.get("FILE_PER_PROC", "NO"))}
    if job["steps"] < 1:
        raise Refused("TIMESTEPS must be at least 1")
    if "ALIGN" in c and flag("ALIGN", c["ALIGN"]):
        job["alignment"] = number("ALIGN_LEN", c.get("ALIGN_LEN", 1))
        job["alignment_threshold"] = number("ALIGN_THRESHOLD", c.get("ALIGN_THRESHOLD", 0))
    if file == "STRIDED":
        job["stride"] = number("STRIDE_SIZE", c.get("STRIDE_SIZE", 1))
        job["block"] = number("BLOCK_SIZE", c.get("BLOCK_SIZE", 1))
        job["block_count"] = scaled(number("BLOCK_CNT", c.get("BLOCK_CNT", 1)))
    compressed = flag("COMPRESS", c.get("COMPRESS", "NO"))
    chunk_keys = sorted(key for key in c if key.startswith("CHUNK_DIM_"))
    if chunk_keys and not compressed:
        raise Refused(f"{chunk_keys[0]}: h5bench has chunks with COMPRESS YES only")
    if benchmark.startswith("write"):
        chunk = [number(key, c.get(key, length)) for key, length in zip(("CHUNK_DIM_1", "CHUNK_DIM_2", "CHUNK_DIM_3"), lengths)]
        if compressed:
            job.update(deflate=DEFLATE, chunk=chunk, collective_data=True)  # as h5bench
        job["sync"] = True  # h5bench calls H5Fflush before it closes the file, which waits for the device if it is parallel
        if benchmark == "write-unlimited":
            job["unlimited"] = True
        if benchmark.endswith("normal_dist"):
            job["deviation"] = scaled(number("STDEV_DIM_1", c.get("STDEV_DIM_1", 1)))
    else:
        job["collective_metadata"] = True  # as h5bench, whatever the configuration says
    if benchmark == "read":
        job["read"] = word("READ_OPTION", c.get("READ_OPTION", "FULL"), ("FULL", "PARTIAL", "STRIDED", "LDC", "RDC", "PRL", "CS"))
        if job["read"] == "PARTIAL":  # without a number, h5bench reads all
            job["partial"] = scaled(number("TO_READ_NUM_PARTICLES", c.get("TO_READ_NUM_PARTICLES", 0))) or lengths[0]
        if job["read"] in ("LDC", "RDC", "PRL", "CS"):
            job["blocks"] = [number(key, c.get(key, 0)) for key in ("BLOCK_SIZE", "BLOCK_SIZE_2")]
            job["strides"] = [number(key, c.get(key, 0)) for key in ("STRIDE_SIZE", "STRIDE_SIZE_2")]
    return job


def metadata_job(configuration):
    check_keys("benchmark metadata: ", configuration, METADATA_KEYS)
    c = configuration
    numbers = {key: number(key, c[key]) for key in
               ("steps", "arrays", "rows", "columns", "process-rows", "process-columns", "dataset-rank") if key in c}
    job = {key.replace("-", "_"): value for key, value in numbers.items()}
    job["slowest"] = word("slowest-dimension", c.get("slowest-dimension", "step"), ("step", "array"))
    job["strong"] = word("scaling", c.get("scaling", "weak"), ("weak", "strong")) == "strong"
    job["chunked"] = word("layout", c.get("layout", "contiguous"), ("contiguous", "chunked")) == "chunked"
    job["collective_data"] = word("mpi-io", c.get("mpi-io", "independent"), ("independent", "collective")) == "collective"
    job["collective_metadata"] = False
    return job


def e3sm_jobs(configuration, place, folder, nminspect):
    """{name: parameters}. Arrays have the order of their elements: h5bench itself runs E3SM-IO with `-x blob`, which leaves the
    elements of each process together, for another program to put in order."""
    check_keys("benchmark e3sm: ", configuration, E3SM_KEYS)
    word("x", configuration.get("x") or "canonical", ("canonical",))
    word("a", configuration.get("a") or "hdf5", ("hdf5",))  # every back end runs
    if configuration.get("k"):
        raise Refused("k: --keep keeps the files")
    if not configuration.get("map"):
        raise Refused("benchmark e3sm: needs `map`, a file of decompositions")
    try:
        return e3sm.jobs(os.path.normpath(Path(place) / configuration["map"]), folder, nminspect, number("r", configuration.get("r") or 1))
    except e3sm.Unreadable as error:
        raise Refused(f"map: {error}") from None


def check_places(document):
    file_system = document.get("file-system") or {}
    if file_system:
        raise Refused(f"file-system: nmbench does not set {', '.join(sorted(file_system))}; set it for the folder and remove the key")
    check_keys("", document, {"mpi", "vol", "file-system", "directory", "benchmarks"})


def read(path, variants, folder, nminspect, scale_compute=1.0, scale=1.0):
    """(case, directory, launcher or None, words for the launcher) of a configuration. Writes the decompositions of e3sm to `folder`."""
    try:
        document = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list) or not document["benchmarks"]:
        raise Refused(f"{path}: found no list `benchmarks`")
    check_places(document)
    steps, files, written = [], {}, set()
    for place, entry in enumerate(document["benchmarks"], 1):
        benchmark, configuration = entry.get("benchmark"), entry.get("configuration", {})
        check_keys(f"benchmark {benchmark}: ", entry, {"benchmark", "file", "configuration"})
        if benchmark in NOT_HERE:
            raise Refused(f"benchmark {benchmark}: {NOT_HERE[benchmark]}")
        name = f"{place}-{benchmark}"
        file = str(entry.get("file", "test.h5"))
        if "/" in file:
            raise Refused(f"file: found {file!r}, expected a name; `directory` says where it is")
        if benchmark == "metadata":
            job, kernel = metadata_job(configuration), "step_arrays"
        elif benchmark == "e3sm":
            for output, job in e3sm_jobs(configuration, document.get("directory", "."), folder, nminspect).items():
                steps.append(Step(f"{name}-{output}", "decomposed", job))
                files[steps[-1].name] = f"{output}_{file}"
            continue
        elif benchmark in PATTERNS:
            job = pattern_job(benchmark, configuration, scale)
            job["compute_seconds"] *= scale_compute
            kernel = "write" if benchmark.startswith("write") else benchmark
            if kernel != "write" and file not in written:
                # h5bench takes the file that another configuration left.
                before = {key: value for key, value in job.items() if key in (
                    "steps", "lengths", "collective_data", "collective_metadata", "file_per_process")}
                if benchmark == "append":
                    before["unlimited"] = True
                steps.append(Step(f"{name}-input", "write", before, measured=False))
                files[steps[-1].name] = file
        else:
            raise Refused(f"benchmark {benchmark}: nmbench has no such benchmark")
        written.add(file)
        steps.append(Step(name, kernel, job, csv=configuration.get("CSV_FILE") or configuration.get("csv-file") or "",
                          operation="write_var_normal_dist" if "deviation" in job else benchmark.replace("-", " ")))
        files[name] = file
    if document.get("vol"):
        raise Refused("vol: nmbench loads no connectors of HDF5; remove what it holds")
    ranks, launcher, words = ranks_of(document.get("mpi", {}))
    case = Case(Path(path).stem, f"h5bench: {Path(path).name}", ranks, steps, variants, files)
    return case, document.get("directory", "."), launcher, words
