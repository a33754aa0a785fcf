"""Cases: steps that are run one after the other by each variant, whose runs alternate."""

import statistics
from dataclasses import dataclass, field


@dataclass
class Step:
    name: str
    kernel: str
    job: dict = field(default_factory=dict)
    measured: bool = True
    ranks: int = 0        # 0: the case's
    csv: str = ""         # h5bench's CSV_FILE
    operation: str = ""   # h5bench's name


@dataclass
class Case:
    name: str
    title: str
    ranks: int
    steps: list
    variants: list
    files: dict = field(default_factory=dict)  # step -> file name; default: the case's
    axis: str = ""  # the variants are points of a line: what they differ in
    figures: tuple = ()  # creation by phase: which figures of the paper its two charts have the form of, as words in brackets


LEAST_RUNS = 3  # quiet runs without which a spread says nothing


def variants_in_turn(variants, run):
    """The order of a run: what was first in one run is last in the next."""
    return variants if run % 2 == 0 else list(reversed(variants))


def spread(values):
    """Median and extremes; None if there are none."""
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def overlap(a, b):
    """Whether two spreads have a value in common: then a difference of their medians says nothing."""
    return a["min"] <= b["max"] and b["min"] <= a["max"]
