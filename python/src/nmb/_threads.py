"""Numbers of threads."""

from __future__ import annotations

import operator
import os

from ._errors import UsageError

_MOST = 1024


def thread_count(threads: int | None) -> int:
    """The number of threads: None for the processors that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0))
    number = operator.index(threads)
    if number < 1:
        raise UsageError(f"threads: found {threads}, expected at least 1, or None")
    return min(number, _MOST)
