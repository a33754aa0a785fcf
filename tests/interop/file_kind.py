"""The kind of a file, by content: `classic` (CDF-1, -2, -5) or `HDF5`."""

CLASSIC = (b"CDF\x01", b"CDF\x02", b"CDF\x05")
SIGNATURE = b"\x89HDF\r\n\x1a\n"


class CannotRun(Exception):
    pass


def kind_of(path):
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
            if magic in CLASSIC:
                return "classic"
            if has_signature(stream, path.stat().st_size):
                return "HDF5"
    except OSError as error:
        raise CannotRun(f"{path}: {error.strerror}") from None
    raise CannotRun(f"{path}: found {magic.hex()}, expected a classic netCDF or HDF5 file")


def has_signature(stream, size):
    """At 0, 512, 1024, 2048, ..., where the HDF5 library looks for it."""
    at = 0
    while at + len(SIGNATURE) <= size:
        stream.seek(at)
        if stream.read(len(SIGNATURE)) == SIGNATURE:
            return True
        at = max(512, 2 * at)
    return False
