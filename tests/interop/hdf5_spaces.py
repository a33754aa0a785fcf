"""HDF5 dataspaces and selections as plain values."""

from h5py import h5s

CLASSES = {h5s.NULL: "null", h5s.SCALAR: "scalar", h5s.SIMPLE: "simple"}
BLOCKS = 100_000  # of an irregular selection, before its encoded form stands for it


def describe(space):
    kind = space.get_simple_extent_type()
    out = {"class": CLASSES.get(kind, kind)}
    if kind == h5s.SIMPLE:
        out["dimensions"] = tuple(space.get_simple_extent_dims())
        out["maximum dimensions"] = tuple(
            "unlimited" if n == h5s.UNLIMITED else n for n in space.get_simple_extent_dims(True)
        )
    return out


def describe_selection(space):
    """A tuple that is equal for equal selections of equal extents."""
    kind = space.get_select_type()
    if kind == h5s.SEL_NONE:
        return ("none",)
    if kind == h5s.SEL_ALL:
        return ("all",)
    if kind == h5s.SEL_POINTS:
        return ("points", space.get_select_elem_pointlist().tolist())
    if space.is_regular_hyperslab():
        return ("hyperslab (start, stride, count, block)", space.get_regular_hyperslab())
    if space.get_select_hyper_nblocks() <= BLOCKS:
        return ("blocks (start, end)", space.get_select_hyper_blocklist().tolist())
    return ("encoded", space.encode())
