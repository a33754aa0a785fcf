"""The built-in sets: `nmbench run NAME`."""

from dataclasses import replace

from cases import Case, Step
from programs import BACKENDS, MPI_IO, Variant

SAMPLES = {"98M": 35_530, "1G": 355_300}  # of 16 variables and 24 dimensions, as in dataset_98M and dataset_1G of the paper
FIGURES = {"98M": (" (as figure 7)", " (as figure 9)"), "1G": (" (as figure 8)", " (as figure 10)")}


def scaled(count, options):
    return max(1, round(count * options.scale))


def hash_size(samples):
    """Of PnetCDF's tables of names: the paper's choices. With fewer objects, the library's own choice is as fast."""
    return {} if samples < 1_000 else {"hash_size": 1 << 14 if samples <= SAMPLES["98M"] else 1 << 20}


def backends(options, *names):
    """A variant for each back end that the user wants."""
    return [Variant(name, BACKENDS[name], name) for name in names if name in options.peers]


def array_variants(options, *names):
    """backends(), and with Open MPI both of its implementations of MPI-IO: which is faster depends on the file system."""
    found = []
    for variant in backends(options, *names):
        if variant.backend not in MPI_IO or not options.romio:
            found.append(variant)
            continue
        found.append(replace(variant, title=f"{variant.title}, OMPIO", env={"OMPI_MCA_io": "ompio"}))
        found.append(replace(variant, name=f"{variant.name}-romio", title=f"{variant.title}, ROMIO", env={"OMPI_MCA_io": options.romio}))
    return found


def creation_variants(options):
    found = backends(options, "nmb")
    if "pnetcdf" in options.peers:
        found.append(Variant("application-level", "application level (PnetCDF)", "pnetcdf", {"level": "application"}))
        # Each process defines everything in the same order, so that PnetCDF's search for the name of each definition finds what two
        # processes define. Its safe mode would compare definitions that are equal because they were exchanged.
        for label, path in options.library_levels:
            found.append(Variant(label, f"library level ({label})", "pnetcdf", {"level": "library", "library": path}, only="create"))
    return found + backends(options, "prototype")


def hash_sizes(name, samples, options):
    """The time of the application level against the size of PnetCDF's tables of names (figure 6), by the fewest processes of --ranks."""
    # Tables with more than 2^13 names in a place take hours.
    sizes = [1 << power for power in range(8, 21, 2) if samples * 24 <= 1 << (power + 13)]
    variants = [Variant(f"hash-{size}", f"2^{size.bit_length() - 1}", "pnetcdf", {"level": "application", "hash_size": size}) for size in sizes]
    return Case(f"hash-size-{name}", f"application level (PnetCDF): create {samples:,} samples with tables of names of different sizes (as figure 6)",
                min(options.ranks), [Step("create", "create", {"samples": samples, "verify": options.verify})], variants,
                axis="places of the tables of names")


def paper(options):
    """Creation of the paper's objects, and reading all metadata (figures 6 to 12, tables 1 and 2)."""
    cases = []
    for name in options.sets:
        samples = scaled(SAMPLES[name], options)
        if "pnetcdf" in options.peers:
            cases.append(hash_sizes(name, samples, options))
        for ranks in options.ranks:
            tuned = hash_size(samples)
            job = {"samples": samples, **tuned, "verify": options.verify}
            variants = creation_variants(options)
            if "hdf5-parallel" in options.peers and options.with_hdf5:
                variants.append(Variant("hdf5-parallel", BACKENDS["hdf5-parallel"], "hdf5-parallel"))
            cases.append(Case(f"create-{name}", f"create {samples:,} samples of the shape of dataset_{name}", ranks,
                              [Step("create", "create", job), Step("read_metadata", "read_metadata", job)], variants, figures=FIGURES[name]))
    return cases


def shared(options):
    """All processes define the same objects."""
    samples = scaled(SAMPLES["98M"] // 10, options)
    job = {"samples": samples, "shared": True, **hash_size(samples), "verify": options.verify}
    variants = backends(options, "nmb", "pnetcdf", "hdf5-parallel")
    if "pnetcdf" in options.peers:
        # NMB always compares what processes define; PnetCDF does so in its safe mode.
        variants.append(Variant("pnetcdf-checked", "CDF-5 (PnetCDF, safe mode)", "pnetcdf", {"checks": True}))
    return [Case("create-shared", f"define the same {samples:,} samples in all processes", ranks, [Step("create", "create", job)],
                 variants, figures=("", "")) for ranks in options.ranks]


def objects(options):
    """One process creates samples with values; then open one, list, read all metadata, read all in a random order."""
    samples = scaled(SAMPLES["98M"] // 10, options)
    tuned = hash_size(samples)
    job = {"samples": samples, **tuned, "verify": options.verify}
    steps = [Step("create", "create", {**job, "values": True}), Step("open_one", "open_one", {**job, "opens": min(100, samples)}),
             Step("list", "list", job), Step("read_metadata", "read_metadata", job), Step("epoch", "epoch", job)]
    variants = backends(options, "nmb", "pnetcdf", "netcdf4", "hdf5", "lmdb", "files")
    if "hdf5" in options.peers:
        variants.append(Variant("hdf5-latest", "HDF5, serial, newest format", "hdf5", {"latest": True}))
    return [Case("objects", f"{samples:,} samples with values, one process", 1, steps, variants)]


def cgns(options):
    """128 bases of 32 zones: every process reads all small arrays when it opens the file."""
    bases, zones = scaled(128, options), 32
    job = {"bases": bases, "zones": zones}
    steps = [Step("write", "small_arrays", {**job, "step": "write"}, measured=False, ranks=1)]
    for name, way in (("each reads", "each"), ("read together", "collective"), ("one reads and sends", "one_reads")):
        steps.append(Step(name, "small_arrays", {**job, "step": "read", "way": way, "verify": options.verify}))
    variants = backends(options, "nmb", "pnetcdf", "hdf5-parallel", "hdf5", "netcdf4", "netcdf4-parallel", "files")
    if "hdf5-parallel" in options.peers:
        variants.append(Variant("hdf5-parallel-compact", "HDF5, parallel, compact arrays", "hdf5-parallel", {"compact": True}))
    return [Case("cgns", f"{bases} bases of {zones} zones: all processes read all small arrays", ranks, steps, variants) for ranks in options.ranks]


def same_values(options):
    """All processes put the same values into the same small arrays."""
    arrays = scaled(1000, options)
    job = {"arrays": arrays, "length": 5, "verify": options.verify}
    return [Case("same-values", f"all processes put the same 40 bytes into each of {arrays:,} arrays", ranks,
                 [Step("put", "same_values", job)], array_variants(options, "nmb", "pnetcdf", "netcdf4-parallel", "hdf5-parallel", "files"))
            for ranks in options.ranks]


def arrays(options):
    """h5bench's kernels, small: contiguous, interleaved, strided; grows, overwritten, compressed; by every back end."""
    length = scaled(1 << 20, options)
    side = max(4, round(length ** 0.5))
    one = {"steps": 3, "lengths": [length], "verify": options.verify}
    two = {"steps": 3, "lengths": [side, side], "verify": options.verify}
    strided = {**one, "file_pattern": "STRIDED", "stride": 8, "block": 2, "block_count": length // 8}
    grows = {"steps": 2, "lengths": [max(4, length // 64)], "verify": options.verify}
    chains = {
        "contiguous": [Step("write", "write", one), Step("read", "read", one),
                       Step("read part", "read", {**one, "read": "PARTIAL", "partial": max(1, length // 4)}),
                       Step("overwrite", "overwrite", one)],
        "contiguous-2d": [Step("write", "write", two), Step("read", "read", two)],
        "strided": [Step("write", "write", strided), Step("read", "read", {**strided, "read": "STRIDED"})],
        "CI": [Step("write", "write", {**two, "file_pattern": "INTERLEAVED"})],
        "IC": [Step("write", "write", {**two, "memory_pattern": "INTERLEAVED"})],
        "II": [Step("write", "write", {**two, "memory_pattern": "INTERLEAVED", "file_pattern": "INTERLEAVED"})],
        "growing": [Step("write", "write", {**grows, "unlimited": True}), Step("append", "append", grows)],
        "compressed": [Step("write", "write", {**grows, "deflate": 6, "chunk": grows["lengths"]})],
        "file-per-process": [Step("write", "write", {**one, "file_per_process": True}),
                             Step("read", "read", {**one, "file_per_process": True})],
    }
    variants = array_variants(options, "nmb", "pnetcdf", "netcdf4", "netcdf4-parallel", "hdf5", "hdf5-parallel", "files")
    cases = [Case(f"arrays-{name}", f"8 arrays, {steps[0].job['steps']} steps: {name}", ranks, steps, variants)
             for ranks in options.ranks for name, steps in chains.items()]
    for ranks in options.ranks:
        job = {"steps": scaled(20, options), "arrays": scaled(50, options), "rows": 2, "columns": 2, "process_rows": 1,
               "process_columns": ranks, "dataset_rank": 2, "verify": options.verify}
        cases.append(Case("step-arrays", "h5bench's metadata stress test", ranks, [Step("write and read", "step_arrays", job)], variants))
    return cases


def commits(options):
    """Blocks that grow by a record in each step, which ends with a commit; and one block that grows."""
    many = {"blocks": scaled(1000, options), "steps": scaled(300, options), "verify": options.verify}
    one = {"blocks": 1, "steps": scaled(6000, options), "verify": options.verify}
    variants = array_variants(options, "nmb", "pnetcdf", "netcdf4", "hdf5", "files")
    # Serial HDF5 and netCDF-4 never wait for the device. Parallel HDF5 always does: H5Fflush calls MPI_File_sync. Commits of
    # NMB are atomic; plain files do the least that can be so.
    variants += [replace(v, name=f"{v.name}-sync", title=f"{v.title}, waits for the device", job={"sync": True})
                 for v in array_variants(options, "nmb", "pnetcdf", "hdf5-parallel", "files")]
    return [Case(f"commits-{name}", f"{job['steps']:,} commits of {job['blocks']:,} growing block{'s' if job['blocks'] > 1 else ''}",
                 ranks, [Step("commits", "commits", job)], variants) for ranks in options.ranks
            for name, job in (("many", many), ("one", one))]


def threads(options):
    """4 to 16,384 ranks of NMB that are threads: creation and cgns; what each computes and sends, and a model fitted to it."""
    cases = []
    variants = backends(options, "nmb")
    for ranks in options.ranks:
        job = {"samples": scaled(SAMPLES["98M"], options), "threads": ranks, "verify": options.verify}
        cases.append(Case("threads-create", f"{ranks:,} ranks create {job['samples']:,} samples", ranks,
                          [Step("create", "thread_create", job, ranks=1)], variants))
        cgns = {"bases": scaled(16, options), "zones": 32}  # an eighth: threads wake each other for each array
        cases.append(Case("threads-cgns", f"{ranks:,} ranks read the small arrays of {cgns['bases']} bases together", ranks,
                          [Step("write", "small_arrays", {**cgns, "step": "write"}, measured=False, ranks=1),
                           Step("read together", "thread_small_arrays", {**cgns, "threads": ranks}, ranks=1)], variants))
    return cases


SETS = {"threads": threads, "paper": paper, "shared": shared, "objects": objects, "cgns": cgns, "same-values": same_values, "arrays": arrays, "commits": commits}


def all_sets(options):
    """Every set, one after the other."""
    return [case for function in (paper, shared, objects, cgns, same_values, arrays, commits) for case in function(options)]
