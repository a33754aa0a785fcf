"""What runs gave: rows as JSON, medians as CSV, and h5bench's own CSV files."""

import csv
import json
import math
import os
import platform
import statistics
import time
from pathlib import Path

from cases import LEAST_RUNS, overlap, spread

SCHEMA = "nmb/nmbench/1"
MESSAGE, BANDWIDTH = 2e-6, 10e9  # of the modelled network: seconds for a message, bytes a second
RAW_PHASES = {"read": ("data",), **dict.fromkeys(("write", "overwrite", "append", "step_arrays", "same_values", "commits"),
                                                 ("data", "release", "commit", "close"))}
PARTICLE = 32  # bytes of h5bench's particle


HINTS = ("OMPI_MCA_", "MPICH_", "ROMIO_", "PNETCDF_", "HDF5_", "NMB_", "UCX_", "FI_")  # variables that change what libraries do


def file_system(folder):
    """Type of the file system that holds a folder; empty: not known."""
    found = ("", "")
    try:
        with open("/proc/mounts") as lines:
            for line in lines:
                place, kind = line.split()[1:3]
                if Path(folder).is_relative_to(place) and len(place) >= len(found[0]):
                    found = (place, kind)
    except OSError:
        pass
    return found[1]


def machine(folder, environment):
    """The launcher's node before the first run, the file system of `folder`, what changes what libraries do."""
    model = ""
    try:
        with open("/proc/cpuinfo") as lines:
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        pass
    return {"cpu": model, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}", "host": platform.node(),
            "load": os.getloadavg()[0], "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "file_system": file_system(folder),
            "hints": {key: value for key, value in sorted(environment.items()) if key.startswith(HINTS)}}


def slowest(row):
    """Seconds of the slowest process, without emulated computation."""
    return max(sum(p["wall"] for p in rank["phases"] if p["name"] != "compute") for rank in row["ranks"])


def phase_names(row):
    names = []
    for rank in row["ranks"]:
        names += [phase["name"] for phase in rank["phases"] if phase["name"] not in names]
    return names


def phase(row, name, key="wall", combine=max):
    values = [p[key] for rank in row["ranks"] for p in rank["phases"] if p["name"] == name and p[key] is not None]
    return combine(values) if values else None


def sum_of(row, names):
    """Seconds of these phases, of the slowest process."""
    return max(sum(p["wall"] for p in rank["phases"] if p["name"] in names) for rank in row["ranks"])


def slowest_rank(row):
    return max(row["ranks"], key=lambda rank: rank["total"])


def parts(row):
    """The seconds of the slowest process of a creation in the paper's words; `other` are phases that the paper does not have.

    NMB reports its own phases. Other libraries are seen from outside: calls of MPI that communicate are `communication`, those
    of MPI-IO are `write metadata`, and the rest of end-define is `check and layout`, because no library says what its
    consistency check takes.
    """
    rank = slowest_rank(row)
    phases = {p["name"]: p for p in rank["phases"]}
    seconds = lambda name, key="wall": phases.get(name, {}).get(key, 0.0)  # noqa: E731
    found = {"exchange": seconds("exchange"), "close": 0.0}
    writer = rank["numbers"]
    if "writer_check" in writer:
        found.update({"consistency check": writer["writer_check"], "write metadata": writer["writer_metadata"],
                      "write index": writer["writer_index"]})
        # What end-define takes besides the check belongs to creation.
        found["create"] = seconds("create") + max(0.0, seconds("end_define") - writer["writer_check"])
        found["close"] = max(0.0, seconds("close") - writer["writer_metadata"] - writer["writer_index"])
    else:
        inner = ("create", "end_define", "close")
        # In its safe mode, PnetCDF compares each definition when it is made.
        found["consistency check"] = seconds("create", "mpi_seconds") if row["job"].get("checks") else 0.0
        found["communication"] = sum(seconds(name, "mpi_seconds") for name in inner) - found["consistency check"]
        found["write metadata"] = sum(seconds(name, "mpi_file_seconds") for name in inner)
        own = {name: max(0.0, seconds(name) - seconds(name, "mpi_seconds") - seconds(name, "mpi_file_seconds")) for name in inner}
        found.update({"create": own["create"], "check and layout": own["end_define"], "close": own["close"]})
    found["other"] = sum(p["wall"] for name, p in phases.items() if name not in ("exchange", "create", "end_define", "close"))
    return {name: value for name, value in found.items() if value > 0}


def contradiction(row):
    """Why the seconds of a run cannot be right; empty: they can. Each is measured by itself, on the same clock."""
    last = slowest_rank(row)
    metering = sum(p["metering"] for p in last["phases"])
    for shorter, longer, what in ((sum(parts(row).values()) if row["kernel"] == "create" else 0.0, last["wall"], "the parts of the slowest process take {:g} s, its work {:g} s"),
                                  (last["wall"], last["total"] + metering, "the slowest process worked {:g} s, its phases take {:g} s"),
                                  (max(rank["wall"] for rank in row["ranks"]), row["command_seconds"], "a process worked {:g} s, the command took {:g} s")):
        if shorter > 1.03 * longer:
            return what.format(shorter, longer)
    return ""


def nearest(rows, seconds):
    """The run whose time is nearest to `seconds`."""
    return min(rows, key=lambda row: abs(slowest(row) - seconds))


def median_run(rows):
    """The run whose time is nearest to the median of those that nothing disturbed, or of all; None: no run succeeded."""
    good = [row for row in rows if row["status"] == "ok"]
    used = [row for row in good if not row["disturbed"]] or good
    return nearest(used, statistics.median([slowest(row) for row in used])) if used else None


def raw_seconds(row):
    """Seconds in which values go to the file or come from it, of the slowest process; None: they have no phase of their own.

    What a library keeps back goes to the file when an array is released (chunks of HDF5), at a commit, or at the end.
    """
    return sum_of(row, RAW_PHASES[row["kernel"]]) if row["kernel"] in RAW_PHASES else None


def fitted(points):
    """(a, b, c) of a + b / P + c · log2 P by least squares of the relative errors to [(P, seconds)]; None: fewer than four P."""
    if len({ranks for ranks, _ in points}) < 4:
        return None
    rows = [[1 / value, 1 / ranks / value, math.log2(ranks) / value] for ranks, value in points]
    # The normal equations, by Gauss-Jordan elimination.
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(3)] + [sum(row[i] for row in rows)] for i in range(3)]
    for i in range(3):
        pivot = max(range(i, 3), key=lambda r: abs(matrix[r][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for r in range(3):
            if r != i:
                factor = matrix[r][i] / matrix[i][i]
                matrix[r] = [x - factor * y for x, y in zip(matrix[r], matrix[i])]
    return tuple(matrix[i][3] / matrix[i][i] for i in range(3))


def modelled(of_ranks):
    """Seconds of the busiest rank if it had a processor of its own: what it computes, and its messages in a usual network."""
    return of_ranks["cpu_most"] + of_ranks["messages_most"] * MESSAGE + of_ranks["sent_bytes_most"] / BANDWIDTH


def summaries(rows):
    """A summary for each case, step, number of processes and variant, in order of appearance."""
    groups = {}
    for row in rows:
        groups.setdefault((row["case"], row["step"], row["processes"], row["variant"]), []).append(row)
    found = []
    for (case, step, processes, variant), group in groups.items():
        good = [row for row in group if row["status"] == "ok"]
        quiet = [row for row in good if not row["disturbed"]]
        first = (good or group)[0]
        summary = {"case": case, "title": first["title"], "step": step, "processes": processes, "variant": variant,
                   "variant_title": first["variant_title"], "backend": first["backend"], "library": good[0]["ranks"][0]["library"] if good else "",
                   "status": group[0]["status"] if not good else "ok" if len(good) == len(group) else "failed",
                   "reason": next((row["reason"] for row in group if row["reason"]), ""),
                   "seconds": spread([slowest(row) for row in quiet or good]), "disturbed": len(good) - len(quiet), "runs": len(group),
                   "disturbance_known": all(row["disturbed"] is not None for row in good),
                   "few_runs": len(quiet) < LEAST_RUNS,
                   "verified": bool(good) and all(all(rank.get("verified") for rank in row["ranks"]) for row in good)}
        if good:
            used = quiet or good
            middle = statistics.median
            summary["phases"] = {name: middle([phase(row, name) for row in used]) for name in phase_names(used[0])}
            if first["kernel"] == "create":
                # The parts are those of the run nearest to the median, because medians of each part would not add up.
                typical = nearest(used, summary["seconds"]["median"])
                rank = slowest_rank(typical)
                summary["parts"], summary["wall"] = parts(typical), rank["wall"]
                summary["metering"] = sum(p["metering"] for p in rank["phases"][:-1])  # the last is behind the end of `wall`
            summary["heap"] = {name: max(0, middle([phase(row, name, "heap") for row in used])) for name in phase_names(used[0])}
            summary["cpu"] = middle([sum(p["cpu"] for rank in row["ranks"] for p in rank["phases"]) for row in used])
            summary["peak_rss"] = middle([max(p["peak_rss"] for rank in row["ranks"] for p in rank["phases"]) for row in used])
            for key in ("reads", "read_bytes", "writes", "written_bytes", "messages", "collectives", "sent_bytes"):
                sums = [[p[key] for rank in row["ranks"] for p in rank["phases"]] for row in used]
                summary[key] = None if any(value is None for values in sums for value in values) else middle(map(sum, sums))
            summary["notes"] = used[0]["ranks"][0].get("notes", "")
            counts = [rank["counts"] for rank in used[0]["ranks"] if "counts" in rank]
            if counts and "blocks" in counts[0]:
                summary["counts"] = {key: max(c[key] for c in counts) for key in counts[0]}
                summary["counts"].update({f"all_{key}": sum(c[key] for c in counts) for key in counts[0]})
            summary["file_bytes"] = used[0]["file_bytes"]
            summary["raw"] = middle(map(raw_seconds, used)) if first["kernel"] in RAW_PHASES else None
            summary["bytes"] = sum(rank.get("bytes", 0) for rank in used[0]["ranks"])
            of_ranks = [row["ranks"][0]["of_ranks"] for row in used if "of_ranks" in row["ranks"][0]]
            if of_ranks:
                summary["of_ranks"] = {key: middle([one[key] for one in of_ranks]) for key in of_ranks[0]}
                summary["modelled"] = modelled(summary["of_ranks"])
            latency = [rank["latency"] for row in used for rank in row["ranks"] if rank.get("latency")]
            if latency:
                summary["latency"] = {key: middle([one[key] for one in latency]) for key in ("p50", "p90", "p99", "max")}
        found.append(summary)
    for summary in found:
        # Ways that wait for the device are compared with NMB that waits.
        own = "nmb-sync" if summary["variant"].endswith("-sync") else "nmb"
        base = next((s for s in found if s["variant"] == own and s["seconds"] and
                     (s["case"], s["step"], s["processes"]) == (summary["case"], summary["step"], summary["processes"])), None)
        if base and summary["seconds"] and base["seconds"]["median"] > 0 and summary is not base:
            summary["nmb_ratio"] = base["seconds"]["median"] / summary["seconds"]["median"]
            few = summary["few_runs"] or base["few_runs"]
            summary["within_spread"] = None if few else overlap(base["seconds"], summary["seconds"])
    return found


def doubt(summary):
    """Why the median, or its ratio to NMB's, says nothing: a word for tables; empty: it says something."""
    if summary["few_runs"] or summary.get("within_spread", False) is None:
        return "too few runs"
    return "≈" if summary.get("within_spread") else ""


def best_peers(found):
    """[(summary of NMB, of the fastest other library)] of each case, step and number of processes. Plain files are no library."""
    pairs = []
    for own in found:
        if own["variant"] in ("nmb", "nmb-sync") and own["seconds"]:
            peers = [s for s in found if "nmb_ratio" in s and s["backend"] not in ("nmb", "files") and
                     s["variant"].endswith("-sync") == own["variant"].endswith("-sync") and
                     (s["case"], s["step"], s["processes"]) == (own["case"], own["step"], own["processes"])]
            if peers:
                pairs.append((own, min(peers, key=lambda s: s["seconds"]["median"])))
    return pairs


COLUMNS = ("case", "step", "processes", "variant", "library", "status", "reason", "median [s]", "min [s]", "max [s]", "CPU [s]", "runs",
           "disturbed", "runs of the median", "NMB / this", "within spread", "verified", "raw rate [B/s]", "heap [B]", "peak RSS [B]", "reads", "read [B]",
           "writes", "written [B]", "messages", "collectives", "sent [B]", "file [B]", "p50 [s]", "p90 [s]", "p99 [s]")


def write_csv(path, found):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for s in found:
            seconds, latency = s["seconds"] or {}, s.get("latency") or {}
            out.writerow([s["case"], s["step"], s["processes"], s["variant"], s["library"], s["status"], s["reason"],
                          seconds.get("median"), seconds.get("min"), seconds.get("max"), s.get("cpu"), s["runs"], s["disturbed"],
                          seconds.get("runs", 0), s.get("nmb_ratio"), "too few runs" if doubt(s) == "too few runs" else s.get("within_spread"), s["verified"],
                          s["bytes"] / s["raw"] if s.get("bytes") and s.get("raw") else None,
                          max((s.get("heap") or {"": None}).values(), default=None), s.get("peak_rss"), s.get("reads"),
                          s.get("read_bytes"), s.get("writes"), s.get("written_bytes"), s.get("messages"), s.get("collectives"),
                          s.get("sent_bytes"), s.get("file_bytes"), latency.get("p50"), latency.get("p90"), latency.get("p99")])


def mpi_of(rows):
    """What the MPI library of the programs says of itself; empty: no run succeeded."""
    return next((row["ranks"][0]["mpi"] for row in rows if row["ranks"]), "")


def write_json(path, rows, found, options, where):
    document = {"schema": SCHEMA, "machine": where, "arguments": options, "summaries": found, "rows": rows}
    path.write_text(json.dumps(document, indent=1) + "\n")


def readable(count):
    """(number, unit) as h5bench prints them: 1024 is a K."""
    for unit in ("", "K", "M", "G", "T"):
        if count < 1024 or unit == "T":
            return count, unit
        count /= 1024


def h5bench_csv(path, step, row):
    """The file that h5bench writes for this benchmark. Raw time is raw_seconds(), metadata time that of definitions and of
    opening them, observed time all but the emulated computation's."""
    if step.kernel == "step_arrays":
        return iotest_csv(path, step, row)
    ranks = row["ranks"]
    total, compute = sum(rank["bytes"] for rank in ranks), ranks[0]["compute_seconds"]
    raw = raw_seconds(row)
    metadata = sum_of(row, ("metadata", "release") if step.kernel == "read" else ("metadata",))
    # h5bench's clock begins before a file is created, but after it was opened.
    observed = max(rank["total"] - sum(p["wall"] for p in rank["phases"] if p["name"] == "open") for rank in ranks)
    collective = lambda key: "YES" if step.job.get(key) else "NO"  # noqa: E731
    lines = [("operation", step.operation, ""), ("ranks", row["processes"], "")]
    if "deviation" in step.job:
        particles = [rank["bytes"] // (PARTICLE * step.job["steps"]) for rank in ranks]
        lines += [("Total number of particles", f"{sum(particles) >> 20}M", ""), ("Final mean particles", sum(particles) // len(ranks), ""),
                  ("Final standard deviation", f"{statistics.pstdev(particles):f}", "")]
    if step.kernel in ("write", "read"):
        lines += [("collective data", collective("collective_data"), ""), ("collective meta", collective("collective_metadata"), "")]
        if step.operation != "write unlimited":
            lines.append(("subfiling", "NO", ""))
    rate = lambda seconds: readable(total / max(seconds, 1e-9))  # noqa: E731
    size, unit = readable(total)
    raw_rate, raw_unit = rate(raw)
    observed_rate, observed_unit = rate(observed - compute)
    lines += [("total compute time", f"{compute:.3f}", "seconds"), ("total size", f"{size:.3f}", f"{unit}B"),
              ("raw time", f"{raw:.3f}", "seconds"), ("raw rate", f"{raw_rate:.3f}", f"{raw_unit}B/s"),
              ("metadata time", f"{metadata:.3f}", "seconds"), ("observed rate", f"{observed_rate:.3f}", f"{observed_unit}B/s"),
              ("observed time", f"{observed:.3f}", "seconds")]
    path.write_text("metric, value, unit\n" + "".join(f"{a}, {b}, {c}\n" for a, b, c in lines))


def iotest_csv(path, step, row):
    """The columns of h5bench's metadata benchmark."""
    job = step.job

    def each(*names):
        sums = [sum(p["wall"] for p in rank["phases"] if p["name"] in names) for rank in row["ranks"]]
        return min(sums), max(sums)

    megabytes = row["ranks"][0]["bytes"] / (1 << 20)
    write_phase, create, write = each("create", "metadata", "data", "close"), each("metadata"), each("data", "close")
    read_phase, read = each("open", "read_metadata", "read_data", "read_close"), each("read_data")
    rates = lambda pair: (megabytes / max(pair[1], 1e-9), megabytes / max(pair[0], 1e-9))  # noqa: E731
    columns = [("steps", job.get("steps", 20)), ("arrays", job.get("arrays", 500)), ("rows", job.get("rows", 100)),
               ("cols", job.get("columns", 200)), ("scaling", "strong" if job.get("strong") else "weak"),
               ("proc-rows", job.get("process_rows", 1)), ("proc-cols", job.get("process_columns", 1)),
               ("slowdim", job.get("slowest", "step")), ("rank", job.get("dataset_rank", 4)),
               ("layout", "chunked" if job.get("chunked") else "contiguous"),
               ("mpi-io", "collective" if job.get("collective_data") else "independent"),
               ("wall [s]", f"{slowest(row):.3f}"), ("fsize [B]", row["file_bytes"])]
    for name, pair, unit in (("write-phase", write_phase, "s"), ("creat", create, "s"), ("write", write, "s"),
                             ("write-rate", rates(write), "MiB/s"), ("read-phase", read_phase, "s"), ("read", read, "s"),
                             ("read-rate", rates(read), "MiB/s")):
        columns += [(f"{name}-{end} [{unit}]", f"{value:.3f}") for end, value in zip(("min", "max"), pair)]
    path.write_text(",".join(name for name, _ in columns) + "\n" + ",".join(str(value) for _, value in columns) + "\n")
