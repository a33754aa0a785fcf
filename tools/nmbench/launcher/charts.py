"""Charts as SVG, each with colours for light and dark, and a page with all of them and the tables."""

import html
import math
import textwrap
from dataclasses import dataclass

import results
from cases import LEAST_RUNS

# Colours that differ in brightness too: (light, dark).
COLOURS = [("#1f5fa8", "#6fb1ff"), ("#c2571a", "#ff9d5c"), ("#2e7d4f", "#6fd39a"), ("#7a3e9d", "#cf9bf0"), ("#b8860b", "#f0c64a"),
           ("#a32035", "#ff8091"), ("#3f7f8c", "#7fd0de"), ("#666666", "#b5b5b5"), ("#5b6b1f", "#c3d66a"), ("#8a5a44", "#d9a68c")]
PART_ORDER = ["exchange", "communication", "consistency check", "check and layout", "create", "write metadata", "write index", "close", "other"]
WIDTH, LEFT, RIGHT, TOP, PLOT = 760, 64, 8, 52, 200
SIGNS = {"missing": "not built", "refused": "not possible", "failed": "failed"}
PHASE_ORDER = ["exchange", "create", "end_define"]  # as they happen; others follow in their own order


def escape(text):
    return html.escape(str(text), quote=True)


def style():
    light = "".join(f".c{i}{{fill:{a}}}.k{i}{{stroke:{a}}}" for i, (a, _) in enumerate(COLOURS))
    dark = "".join(f".c{i}{{fill:{b}}}.k{i}{{stroke:{b}}}" for i, (_, b) in enumerate(COLOURS))
    return ("<style>text{font:12px system-ui,sans-serif;fill:#222}.t{font-size:14px;font-weight:600}.g{stroke:#ddd}.a{stroke:#555}"
            ".l{fill:none;stroke-width:2}.i{fill:none;stroke:#888;stroke-dasharray:4 4}.w{fill:none;stroke:#222;stroke-width:1.2}"
            ".s{font-size:10px}.b{fill:#fff}" + light +
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#3a3a3a}.a{stroke:#999}.w{stroke:#eee}.b{fill:#161616}" + dark +
            "}</style>")


def ticks(most):
    """Round numbers from 0 to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(power * n for n in (1, 2, 2.5, 5, 10) if power * n * 5 >= most * 0.9999)
    return [step * n for n in range(math.ceil(most / step - 1e-9) + 1)]


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


class Drawing:
    """An axis, bars or lines above it, and below it labels, notes and the legend: [(name, colour)]."""

    def __init__(self, title, unit, most, legend, notes=(), labels=1):
        marks = ticks(most)
        self.most, self.bottom = marks[-1], TOP + PLOT
        self.parts = [f'<text class="t" x="8" y="18">{escape(title)}</text>', f'<text class="s" x="8" y="34">{escape(unit)}</text>']
        for value in marks:
            y = self.y(value)
            self.parts.append(f'<line class="{"a" if value == 0 else "g"}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            self.parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
        y = self.bottom + 8 + 15 * labels
        for note in notes:
            for line in textwrap.wrap(note, 110):
                y += 14
                self.parts.append(f'<text class="s" x="{LEFT}" y="{y}">{escape(line)}</text>')
        x, y = LEFT, y + 22
        for name, colour in legend:
            width = 28 + 6.2 * len(name)
            if x + width > WIDTH:
                x, y = LEFT, y + 16
            self.parts.append(f'<rect class="c{colour}" x="{x:.0f}" y="{y - 9}" width="10" height="10"/>')
            self.parts.append(f'<text class="s" x="{x + 14:.0f}" y="{y}">{escape(name)}</text>')
            x += width
        self.height = y + 12
        self.title = title

    def y(self, value):
        return self.bottom - PLOT * value / self.most

    def bar(self, x, width, low, high, colour, title, faint=False):
        top, foot = self.y(high), self.y(low)
        opacity = ' fill-opacity="0.35"' if faint else ""
        self.parts.append(f'<rect class="c{colour}"{opacity} x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{max(0.0, foot - top):.1f}">'
                          f"<title>{escape(title)}</title></rect>")

    def whisker(self, x, spread, width):
        """Extremes, and the median as a number above them if there is room."""
        a, b = self.y(spread["max"]), self.y(spread["min"])
        if b - a > 1:
            self.parts.append(f'<path class="w" d="M{x - 4:.1f} {a:.1f}h8M{x:.1f} {a:.1f}V{b:.1f}M{x - 4:.1f} {b:.1f}h8"/>')
        if width >= 28:
            self.text(x, a - 5, number(spread["median"]), small=True)

    def text(self, x, y, text, small=False):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle"{" class=" + chr(34) + "s" + chr(34) if small else ""}>{escape(text)}</text>')

    def line(self, points, colour):
        path = " ".join(f"{x:.1f},{self.y(value):.1f}" for x, value in points)
        self.parts.append(f'<polyline class="l k{colour}" points="{path}"/>')
        for x, value in points:
            self.parts.append(f'<circle class="c{colour}" cx="{x:.1f}" cy="{self.y(value):.1f}" r="3"><title>{number(value)}</title></circle>')

    def svg(self):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escape(self.title)}">'
        return head + style() + f'<rect class="b" width="{WIDTH}" height="{self.height}"/>' + "".join(self.parts) + "</svg>\n"


def ranks(n):
    return f"{n:,} rank{'s' if n > 1 else ''}"


def runs(s):
    """How many runs the median is of."""
    n = s["seconds"]["runs"]
    return f"{n} run{'s' if n > 1 else ''}"


def notes_of(found):
    """What the reader must know of the bars."""
    shown = [s for s in found if s["seconds"]]
    bad, few = [s for s in shown if s["disturbed"] == s["runs"]], [s for s in shown if s["few_runs"]]
    notes = [f"Other programs or the host disturbed every run of {len(bad)} of the {len(shown)} figures."] if bad else []
    return notes + ([f"{len(few)} of the {len(shown)} figures have too few quiet runs to say anything: fewer than {LEAST_RUNS}."] if few else [])


class Groups:
    """Places of bars: a group for each number of processes, in it a bar for each way."""

    def __init__(self, found):
        self.variants = list(dict.fromkeys(s["variant"] for s in found))
        self.titles = {s["variant"]: s["variant_title"] for s in found}
        self.found = {(s["processes"], s["variant"]): s for s in found}
        self.numbers = sorted({s["processes"] for s in found})
        self.room = (WIDTH - LEFT - RIGHT) / max(1, len(self.numbers))
        self.width = min(50.0, self.room * 0.85 / max(1, len(self.variants)))

    def middle(self, group):
        return LEFT + self.room * (group + 0.5)

    def bars(self):
        """(x of the bar, its variant, its summary or None)"""
        for group, number_of in enumerate(self.numbers):
            left = self.middle(group) - self.width * len(self.variants) / 2
            for i, variant in enumerate(self.variants):
                yield left + self.width * i, variant, self.found.get((number_of, variant))

    def label(self, drawing, y):
        for group, number_of in enumerate(self.numbers):
            drawing.text(self.middle(group), y, ranks(number_of))


def stacked(title, found):
    """Figures 7 to 10: a group for each number of processes, a bar for each way, its parts on top of each other."""
    names = [name for name in PART_ORDER if any(name in (s.get("parts") or {}) for s in found)]
    groups = Groups(found)
    letters = {variant: chr(ord("A") + i) for i, variant in enumerate(groups.variants)}
    most = max((s["seconds"]["max"] for s in found if s["seconds"]), default=1)
    several = len(groups.variants) > 1
    notes = [", ".join(f"{letters[v]}: {groups.titles[v]}" for v in groups.variants)] if several else []
    drawing = Drawing(title, "seconds of the slowest process", most, [(name, PART_ORDER.index(name)) for name in names],
                      notes + notes_of(found), labels=2 if several else 1)
    groups.label(drawing, drawing.bottom + (32 if several else 17))
    for x, variant, s in groups.bars():
        if several:
            drawing.text(x + groups.width / 2, drawing.bottom + 14, letters[variant], small=True)
        if not s or not s["seconds"]:
            drawing.text(x + groups.width / 2, drawing.bottom - 3, "–", small=True)
            continue
        low = 0.0
        for name in names:
            value = s["parts"].get(name, 0.0)
            drawing.bar(x + 2, groups.width - 4, low, low + value, PART_ORDER.index(name), f"{s['variant_title']}: {name} {number(value)} s",
                        faint=bool(results.doubt(s)))
            low += value
        drawing.whisker(x + groups.width / 2, s["seconds"], groups.width)
    return drawing.svg()


def bars(title, found):
    """A group for each number of processes, a bar for each way. Faint: no different from NMB within the spread of the runs, or too few runs."""
    groups = Groups(found)
    colour = {variant: i % len(COLOURS) for i, variant in enumerate(groups.variants)}
    most = max((s["seconds"]["max"] for s in found if s["seconds"]), default=1)
    drawing = Drawing(title, "seconds of the slowest process", most, [(groups.titles[v], colour[v]) for v in groups.variants], notes_of(found))
    groups.label(drawing, drawing.bottom + 17)
    for x, variant, s in groups.bars():
        if not s or not s["seconds"]:
            drawing.text(x + groups.width / 2, drawing.bottom - 3, "–", small=True)
            continue
        spread = s["seconds"]
        drawing.bar(x + 2, groups.width - 4, 0, spread["median"], colour[variant],
                    f"{groups.titles[variant]}: {number(spread['median'])} s ({number(spread['min'])} to {number(spread['max'])}), {runs(s)}",
                    faint=bool(results.doubt(s)))
        drawing.whisker(x + groups.width / 2, spread, groups.width)
    return drawing.svg()


def heap(title, found):
    """Figure 12: the heap at the end of each phase, for the largest number of processes."""
    found = [s for s in found if s["seconds"]]
    largest = max(s["processes"] for s in found)
    found = [s for s in found if s["processes"] == largest]
    phases = list(dict.fromkeys(name for s in found for name in s["heap"]))
    phases.sort(key=lambda name: PHASE_ORDER.index(name) if name in PHASE_ORDER else len(PHASE_ORDER))
    most = max((value for s in found for value in s["heap"].values()), default=1) / 1e6
    drawing = Drawing(f"{title}, {ranks(largest)}", "MB of heap at the end of each phase, of the process that has most", most,
                      [(s["variant_title"], i % len(COLOURS)) for i, s in enumerate(found)])
    room = (WIDTH - LEFT - RIGHT) / len(phases)
    width = min(50.0, room * 0.85 / len(found))
    for p, name in enumerate(phases):
        drawing.text(LEFT + room * (p + 0.5), drawing.bottom + 17, name.replace("_", "-"))
        for i, s in enumerate(found):
            if name in s["heap"]:
                x, value = LEFT + room * p + (room - width * len(found)) / 2 + width * i, s["heap"][name] / 1e6
                drawing.bar(x + 2, width - 4, 0, value, i % len(COLOURS), f"{s['variant_title']}: {number(value)} MB")
                if width >= 28:
                    drawing.text(x + width / 2, drawing.y(value) - 5, number(value), small=True)
    return drawing.svg()


def speed_up(title, found, seconds=lambda s: s["seconds"]["median"]):
    """Figure 11: against the smallest number of processes. Dashed: as many times as fast as there are processes."""
    found = [s for s in found if s["seconds"]]
    numbers = sorted({s["processes"] for s in found})
    series = {}
    for s in found:
        series.setdefault(s["variant"], {})[s["processes"]] = seconds(s)
    series = {variant: [(n, times[numbers[0]] / times[n]) for n in numbers if n in times] for variant, times in series.items() if numbers[0] in times}
    titles = {s["variant"]: s["variant_title"] for s in found}
    most = max(value for points in series.values() for _, value in points)
    drawing = Drawing(title, f"times as fast as with {ranks(numbers[0])}", most * 1.15, [(titles[v], i % len(COLOURS)) for i, v in enumerate(series)],
                      notes_of(found))
    place = {n: LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(numbers) for i, n in enumerate(numbers)}
    for n in numbers:
        drawing.text(place[n], drawing.bottom + 17, ranks(n))
    ideal = [(place[n], n / numbers[0]) for n in numbers if n / numbers[0] <= drawing.most]
    drawing.parts.append('<polyline class="i" points="' + " ".join(f"{x:.1f},{drawing.y(value):.1f}" for x, value in ideal) + '"/>')
    for i, points in enumerate(series.values()):
        drawing.line([(place[n], value) for n, value in points], i % len(COLOURS))
    return drawing.svg()


def against(title, axis, found):
    """Figure 6: the time of each variant, in the order of what they differ in."""
    drawing = Drawing(title, f"seconds of the slowest process, {ranks(found[0]['processes'])}; below: {axis}",
                      max(s["seconds"]["max"] for s in found if s["seconds"]), [], notes_of(found))
    room = (WIDTH - LEFT - RIGHT) / len(found)
    points = []
    for i, s in enumerate(found):
        x = LEFT + room * (i + 0.5)
        drawing.text(x, drawing.bottom + 17, s["variant_title"])
        if s["seconds"]:
            points.append((x, s["seconds"]["median"]))
            drawing.whisker(x, s["seconds"], room)
    drawing.line(points, 0)
    return drawing.svg()


@dataclass
class Table:
    titles: list
    rows: list  # of texts

    def html(self):
        lines = ["<table><tr>" + "".join(f"<th>{escape(title)}" for title in self.titles)]
        return "\n".join(lines + ["<tr>" + "".join(f"<td>{escape(cell)}" for cell in row) for row in self.rows]) + "</table>"

    def markdown(self):
        line = lambda cells: "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"  # noqa: E731
        return "\n".join([line(self.titles), "|" + "---|" * len(self.titles), *map(line, self.rows)])


@dataclass
class Text:
    text: str
    level: int = 0  # of a heading; 0: a paragraph

    def html(self):
        name = f"h{self.level}" if self.level else "p"
        return f"<{name}>{escape(self.text)}</{name}>"

    def markdown(self):
        return "#" * self.level + " " * bool(self.level) + self.text


@dataclass
class Chart:
    name: str
    svg: str

    def html(self):
        return self.svg

    def markdown(self):
        return f"![{self.name}](charts/{self.name}.svg)"


def table(found):
    rows = []
    for s in found:
        seconds = s["seconds"]
        remarks = [SIGNS.get(s["status"], "")] if s["status"] != "ok" else []
        remarks += [s["reason"]] if s["reason"] else []
        remarks += [f"{s['disturbed']} of {s['runs']} runs disturbed"] if s["disturbed"] else []
        remarks += [] if s["disturbance_known"] else ["not known whether disturbed"]
        remarks += ["read back and compared"] if s["verified"] else []
        remarks += [s["notes"]] if s.get("notes") else []
        if s.get("latency"):
            remarks.append("each: p50 {p50:.3g} s, p99 {p99:.3g} s".format(**s["latency"]))
        cells = [s["processes"], s["variant_title"]]
        if seconds:
            ratio = f"{s['nmb_ratio']:.2f} {results.doubt(s)}" if "nmb_ratio" in s else ""
            count = lambda key: "" if s.get(key) is None else f"{s[key]:,.0f}"  # noqa: E731
            size = lambda key: "" if s.get(key) is None else f"{s[key] / 1e6:,.1f}"  # noqa: E731
            cells += [seconds["runs"], f"{seconds['median']:.4g}", f"{seconds['min']:.4g} – {seconds['max']:.4g}", f"{s['cpu']:.3g}", ratio,
                      f"{max(s['heap'].values()) / 1e6:,.1f}", count("writes"), size("written_bytes"), count("reads"),
                      f"{(s['messages'] or 0) + (s['collectives'] or 0):,.0f}", size("file_bytes")]
        else:
            cells += [""] * 11
        rows.append([*cells, "; ".join(filter(None, remarks))])
    return Table(["ranks", "way", "runs", "median, s", "spread, s", "CPU, s", "NMB / this", "heap, MB", "writes", "written, MB", "reads", "messages",
                  "file, MB", "remarks"], rows)


def objects(found):
    """Table 1: what a process defines, at most."""
    rows = []
    for n in sorted({s["processes"] for s in found}):
        most = next((s["counts"] for s in found if s["processes"] == n and s.get("counts")), None)
        if most:
            rows.append([n, *(f"{most[key]:,.0f}" for key in ("variables", "dimensions", "all_variables", "all_dimensions"))])
    return Table(["ranks", "variables a rank", "dimensions a rank", "variables in all", "dimensions in all"], rows)


def parts_table(found):
    """The parts of each time, their sum, what reading the counters took, and the time from start to end, which is measured by itself."""
    found = [s for s in found if s.get("parts")]
    names = [name for name in PART_ORDER if any(name in s["parts"] for s in found)]
    rows = []
    for s in found:
        seconds = [s["parts"].get(name) for name in names] + [sum(s["parts"].values()), s["metering"], s["wall"]]
        rows.append([s["processes"], s["variant_title"], *("" if value is None else f"{value:.4g}" for value in seconds)])
    return Table(["ranks", "way", *(f"{name}, s" for name in names), "sum, s", "reading counters, s", "wall, s"], rows)


def thread_ranks(found):
    """What was measured of ranks that are threads, and what follows for ranks with a processor each."""
    rows = []
    for s in found:
        if s.get("of_ranks"):
            most = s["of_ranks"]
            rows.append([f"{s['processes']:,}", f"{most['cpu_most']:.4g}", f"{most['cpu_mean']:.4g}", f"{most['messages_most']:,.0f}",
                         f"{most['sent_bytes_most']:,.0f}", "" if s["read_bytes"] is None else f"{s['read_bytes']:,.0f}", f"{s['modelled']:.4g}"])
    yield Table(["ranks", "CPU of the busiest, s", "CPU on average, s", "messages of the busiest", "bytes it sends", "bytes read by all",
                 "seconds with a processor for each rank (extrapolated)"], rows)
    yield Text(f"Extrapolated: the CPU seconds of the busiest rank, {results.MESSAGE * 1e6:g} µs for each of its messages, and {results.BANDWIDTH / 1e9:g} "
               "GB/s. Waiting for each other and for the file system is not part of it.")
    points = [(s["processes"], s["modelled"]) for s in found if s.get("of_ranks")]
    fit = results.fitted(points)
    if fit:
        name = f"{found[0]['case']}-model"
        yield Chart(name, speed_up(f"{found[0]['case']}: extrapolated speed-up (beside figure 11)", found, lambda s: s["modelled"]))
        constant, share, logarithm = fit
        at = lambda n: constant + share / n + logarithm * math.log2(n)  # noqa: E731
        first, last = min(points), max(points)
        yield Text(f"Fitted to these {len(points)} points by least squares of the relative errors: {constant:.3g} s + {share:.3g} s / P + {logarithm:.3g} s · "
                   f"log2 P for P ranks, at most {max(abs(at(n) / value - 1) for n, value in points):.0%} off. It is {first[1] / last[1]:.3g} times as fast with "
                   f"{last[0]:,} ranks as with {first[0]:,}. The paper measured 582 times with 4,096 processes (dataset_1G), on real nodes and a real file system.")


def overview(found):
    """NMB beside the fastest other library, everywhere."""
    rows = []
    for own, peer in results.best_peers(found):
        ratio = f"{peer['nmb_ratio']:.2f} {results.doubt(peer)}"
        name = own["step"].replace("_", " ") + (", waits for the device" if own["variant"] == "nmb-sync" else "")
        rows.append([own["case"], name, own["processes"], f"{own['seconds']['median']:.4g}", f"{peer['seconds']['median']:.4g}", ratio,
                     peer["variant_title"]])
    return Table(["case", "step", "ranks", "NMB, s", "fastest other, s", "NMB / this", "which"], rows)


HTML = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>nmbench</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;font-size:13px;margin:.6em 0}td,th{border-bottom:1px solid #ccc;padding:2px 8px;text-align:right}
td:nth-child(2),td:last-child,th:last-child{text-align:left}svg{max-width:100%%}@media(prefers-color-scheme:dark){body{color:#ddd;
background:#161616}td,th{border-color:#444}}</style>
%s
</html>
"""
LEGEND = """A time is that of the slowest process, without emulated computation; a figure is the median of the runs that nothing disturbed; whiskers
are the extremes. A faint bar and ≈: the extremes of NMB and of this way overlap, so that the difference of the medians says nothing. “Too few runs”:
this way or NMB has fewer than three quiet runs. Heap: at the end of the phase that has most. CPU, reads, writes (system calls) and messages are those of all
processes, with those of MPI.""".replace("\n", " ")


def parts_of_page(cases, found, command, machine):
    """Headings, texts, charts and tables in their order."""
    words = "{cpu}, {cores} cores, {system}, {time}; load before {load:.2f}; {build}; {mpi}; file system {file_system}.".format(**machine)
    yield Text("nmbench", 1)
    yield Text(f"`{command}` made this page: {words}")
    yield Text(LEGEND)
    if results.best_peers(found):
        yield Text("NMB and the fastest other library", 2)
        yield overview(found)
    creations = {case.name: case.figures for case in cases if case.figures}
    axes = {case.name: case.axis for case in cases if case.axis}
    for name in dict.fromkeys(s["case"] for s in found):
        of_case = [s for s in found if s["case"] == name]
        yield Text(of_case[0]["title"], 2)
        for step in dict.fromkeys(s["step"] for s in of_case):
            some = [s for s in of_case if s["step"] == step]
            file = f"{name}-{step}".replace(" ", "-").replace("/", "-")
            yield Text(step, 3)
            if any(s["seconds"] for s in some):
                if any(s.get("of_ranks") for s in some):
                    yield from thread_ranks(some)
                elif name in axes:
                    yield Chart(file, against(f"{name} (as figure 6)", axes[name], some))
                elif name in creations and step == "create":
                    all_ways, alone = creations[name]
                    yield objects(some)
                    yield Chart(file, stacked(f"{name}: time by phase{all_ways}", some))
                    only = [s for s in some if s["variant"] == "nmb" and s["seconds"]]
                    if only:
                        yield Chart(f"{file}-nmb", stacked(f"{name}: time by phase, NMB alone{alone}", only))
                    if len({s["processes"] for s in some}) > 1:
                        yield Chart(f"{file}-speed-up", speed_up(f"{name}: speed-up (as figure 11)", some))
                    yield Chart(f"{file}-heap", heap(f"{name}: memory (as figure 12)", some))
                    yield parts_table(some)
                else:
                    yield Chart(file, bars(f"{name}: {step.replace('_', ' ')}", some))
            yield table(some)


def write_page(folder, cases, found, command, machine):
    """index.html, and the same as README.md with each chart as a file in charts/."""
    out = folder / "charts"
    out.mkdir(exist_ok=True)
    parts = list(parts_of_page(cases, found, command, machine))
    for part in parts:
        if isinstance(part, Chart):
            (out / f"{part.name}.svg").write_text(part.svg)
    (folder / "index.html").write_text(HTML % "\n".join(part.html() for part in parts))
    (folder / "README.md").write_text("\n\n".join(part.markdown() for part in parts) + "\n")
