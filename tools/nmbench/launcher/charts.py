"""Charts as SVG, each with colours for light and dark, and a page with all of them and the tables."""

import html

# Colours that differ in brightness too: (light, dark).
COLOURS = [("#1f5fa8", "#6fb1ff"), ("#c2571a", "#ff9d5c"), ("#2e7d4f", "#6fd39a"), ("#7a3e9d", "#cf9bf0"), ("#b8860b", "#f0c64a"),
           ("#a32035", "#ff8091"), ("#3f7f8c", "#7fd0de"), ("#666666", "#b5b5b5"), ("#5b6b1f", "#c3d66a"), ("#8a5a44", "#d9a68c")]
PART_ORDER = ["exchange", "communication", "consistency check", "check and layout", "create", "write metadata", "write index", "close", "other"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 300, 64, 34, 74
SIGNS = {"missing": "not built", "refused": "not possible", "failed": "failed"}


def escape(text):
    return html.escape(str(text), quote=True)


def style():
    light = "".join(f".c{i}{{fill:{a};stroke:{a}}}" for i, (a, _) in enumerate(COLOURS))
    dark = "".join(f".c{i}{{fill:{b};stroke:{b}}}" for i, (_, b) in enumerate(COLOURS))
    return ("<style>text{font:12px system-ui,sans-serif;fill:#222}.t{font-size:14px;font-weight:600}.g{stroke:#ddd}.a{stroke:#555}"
            ".l{fill:none;stroke-width:2}.w{stroke:#222;stroke-width:1.2}.s{font-size:10px}.b{fill:#fff}" + light +
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#3a3a3a}.a{stroke:#999}.w{stroke:#eee}.b{fill:#161616}" + dark +
            "}</style>")


def nice(most):
    """A round number of at least `most`."""
    if most <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= most:
        power *= 10
    while power > most:
        power /= 10
    return next(power * step for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if power * step >= most * 0.9999)


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


class Drawing:
    def __init__(self, title, unit, most, legend, height=HEIGHT):
        self.height, self.unit, self.most = height, unit, nice(most)
        self.bottom = height - BOTTOM
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
                      style(), f'<rect class="b" width="{WIDTH}" height="{height}"/>', f'<text class="t" x="8" y="18">{escape(title)}</text>']
        for step in range(5):
            value = self.most * step / 4
            y = self.y(value)
            self.parts.append(f'<line class="{"a" if step == 0 else "g"}" x1="{LEFT}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>')
            self.parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
        self.parts.append(f'<text class="s" x="8" y="{TOP - 2}">{escape(unit)}</text>')
        x, y = LEFT, height - 24
        for name, colour in legend:
            width = 18 + 6.6 * len(name)
            if x + width > WIDTH:
                x, y = LEFT, y + 15
            self.parts.append(f'<rect class="c{colour}" x="{x:.0f}" y="{y - 9}" width="10" height="10"/>')
            self.parts.append(f'<text class="s" x="{x + 14:.0f}" y="{y}">{escape(name)}</text>')
            x += width

    def y(self, value):
        return self.bottom - (self.bottom - TOP) * value / self.most

    def bar(self, x, width, low, high, colour, title, faint=False):
        top, foot = self.y(high), self.y(low)
        opacity = ' fill-opacity="0.35"' if faint else ""
        self.parts.append(f'<rect class="c{colour}"{opacity} x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{max(0.0, foot - top):.1f}">'
                          f"<title>{escape(title)}</title></rect>")

    def whisker(self, x, low, high):
        a, b = self.y(min(high, self.most)), self.y(low)
        self.parts.append(f'<path class="w" fill="none" d="M{x - 4:.1f} {a:.1f}h8M{x:.1f} {a:.1f}V{b:.1f}M{x - 4:.1f} {b:.1f}h8"/>')

    def text(self, x, y, text, small=False):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle"{" class=" + chr(34) + "s" + chr(34) if small else ""}>{escape(text)}</text>')

    def line(self, points, colour):
        path = " ".join(f"{x:.1f},{self.y(min(value, self.most)):.1f}" for x, value in points)
        self.parts.append(f'<polyline class="l c{colour}" style="fill:none" points="{path}"/>')
        for x, value in points:
            self.parts.append(f'<circle class="c{colour}" cx="{x:.1f}" cy="{self.y(min(value, self.most)):.1f}" r="3"><title>{number(value)}</title></circle>')

    def svg(self):
        return "".join(self.parts) + "</svg>\n"


def groups_of(found):
    """[(label, summaries)]: a group for each number of processes."""
    return [(f"{n} process{'es' if n > 1 else ''}", [s for s in found if s["processes"] == n]) for n in sorted({s["processes"] for s in found})]


def stacked(title, found):
    """Figures 7 to 10: a group for each number of processes, a bar for each way, its parts on top of each other."""
    names = [name for name in PART_ORDER if any(name in (s.get("parts") or {}) for s in found)]
    variants = list(dict.fromkeys(s["variant"] for s in found))
    letters = {variant: chr(ord("A") + i) for i, variant in enumerate(variants)}
    titles = {s["variant"]: s["variant_title"] for s in found}
    most = max((s["seconds"]["max"] for s in found if s["seconds"]), default=1)
    drawing = Drawing(title, "seconds of the slowest process", most, [(name, PART_ORDER.index(name)) for name in names], HEIGHT + 30)
    groups = groups_of(found)
    room = (WIDTH - LEFT - 8) / max(1, len(groups))
    for g, (label, group) in enumerate(groups):
        width = min(46.0, room * 0.8 / max(1, len(variants)))
        left = LEFT + room * g + (room - width * len(variants)) / 2
        drawing.text(LEFT + room * (g + 0.5), drawing.bottom + 30, label)
        for i, variant in enumerate(variants):
            s = next((s for s in group if s["variant"] == variant), None)
            x = left + width * i
            drawing.text(x + width / 2, drawing.bottom + 14, letters[variant], small=True)
            if not s or not s["seconds"]:
                continue
            low = 0.0
            for name in names:
                value = s["parts"].get(name, 0.0)
                drawing.bar(x + 2, width - 4, low, min(low + value, drawing.most), PART_ORDER.index(name), f"{s['variant_title']}: {name} {number(value)} s")
                low += value
            drawing.whisker(x + width / 2, s["seconds"]["min"], s["seconds"]["max"])
    words = ", ".join(f"{letters[v]} {titles[v]}" for v in variants)
    drawing.parts.append(f'<text class="s" x="{LEFT}" y="{drawing.bottom + 46}">{escape(words)}</text>')
    return drawing.svg()


def bars(title, found, unit="seconds of the slowest process", value=lambda s: s["seconds"]):
    """A group for each number of processes, a bar for each way. Faint: no different from NMB within the spread of the runs."""
    variants = list(dict.fromkeys(s["variant"] for s in found))
    colour = {variant: i % len(COLOURS) for i, variant in enumerate(variants)}
    titles = {s["variant"]: s["variant_title"] for s in found}
    values = [value(s) for s in found]
    drawing = Drawing(title, unit, max((v["max"] for v in values if v), default=1), [(titles[v], colour[v]) for v in variants])
    groups = groups_of(found)
    room = (WIDTH - LEFT - 8) / max(1, len(groups))
    for g, (label, group) in enumerate(groups):
        width = min(50.0, room * 0.85 / max(1, len(variants)))
        left = LEFT + room * g + (room - width * len(variants)) / 2
        drawing.text(LEFT + room * (g + 0.5), drawing.bottom + 16, label)
        for i, variant in enumerate(variants):
            s = next((s for s in group if s["variant"] == variant), None)
            spread = s and value(s)
            x = left + width * i
            if not spread:
                drawing.text(x + width / 2, drawing.bottom - 3, "–", small=True)
                continue
            drawing.bar(x + 2, width - 4, 0, spread["median"], colour[variant],
                        f"{titles[variant]}: {number(spread['median'])} ({number(spread['min'])} to {number(spread['max'])})",
                        faint=bool(s.get("within_spread")))
            drawing.whisker(x + width / 2, spread["min"], spread["max"])
    return drawing.svg()


def heap(title, found):
    """Figure 12: the heap at the end of each phase, for the largest number of processes."""
    found = [s for s in found if s["seconds"]]
    most = max(s["processes"] for s in found)
    found = [s for s in found if s["processes"] == most]
    phases = list(dict.fromkeys(name for s in found for name in s["heap"]))
    most = max((value for s in found for value in s["heap"].values()), default=1) / 1e6
    drawing = Drawing(f"{title}, {found[0]['processes']} processes", "MB of heap of the process that has most, at the end of each phase",
                      most, [(s["variant_title"], i % len(COLOURS)) for i, s in enumerate(found)])
    room = (WIDTH - LEFT - 8) / len(phases)
    for p, name in enumerate(phases):
        drawing.text(LEFT + room * (p + 0.5), drawing.bottom + 16, name)
        width = min(50.0, room * 0.85 / len(found))
        for i, s in enumerate(found):
            if name in s["heap"]:
                x = LEFT + room * p + (room - width * len(found)) / 2 + width * i
                drawing.bar(x + 2, width - 4, 0, s["heap"][name] / 1e6, i % len(COLOURS), f"{s['variant_title']}: {number(s['heap'][name] / 1e6)} MB")
    return drawing.svg()


def speed_up(title, found):
    """Figure 11: against the smallest number of processes."""
    found = [s for s in found if s["seconds"]]
    ranks = sorted({s["processes"] for s in found})
    variants = list(dict.fromkeys(s["variant"] for s in found))
    series = {}
    for variant in variants:
        times = {s["processes"]: s["seconds"]["median"] for s in found if s["variant"] == variant}
        if ranks[0] in times:
            series[variant] = [(n, times[ranks[0]] / times[n]) for n in ranks if n in times]
    most = max((value for points in series.values() for _, value in points), default=1)
    titles = {s["variant"]: s["variant_title"] for s in found}
    drawing = Drawing(title, f"times as fast as with {ranks[0]} process{'es' if ranks[0] > 1 else ''}", most,
                      [(titles[v], i % len(COLOURS)) for i, v in enumerate(series)])
    place = {n: LEFT + (WIDTH - LEFT - 8) * (i + 0.5) / len(ranks) for i, n in enumerate(ranks)}
    for n in ranks:
        drawing.text(place[n], drawing.bottom + 16, n)
    for i, points in enumerate(series.values()):
        drawing.line([(place[n], value) for n, value in points], i % len(COLOURS))
    return drawing.svg()


def table(found):
    rows = ["<table><tr><th>processes<th>way<th>median, s<th>spread, s<th>NMB / this<th>heap, MB<th>writes<th>written, MB<th>reads"
            "<th>messages<th>file, MB<th>remarks"]
    for s in found:
        seconds = s["seconds"]
        remarks = [SIGNS.get(s["status"], "")] if s["status"] != "ok" else []
        remarks += [s["reason"]] if s["reason"] else []
        remarks += [f"{s['disturbed']} of {s['runs']} runs disturbed"] if s["disturbed"] else []
        remarks += ["read back and compared"] if s["verified"] else []
        if s.get("latency"):
            remarks.append("each: p50 {p50:.3g} s, p99 {p99:.3g} s".format(**s["latency"]))
        cells = [s["processes"], s["variant_title"]]
        if seconds:
            ratio = f"{s['nmb_ratio']:.2f}{' ≈' if s.get('within_spread') else ''}" if "nmb_ratio" in s else ""
            count = lambda key: "" if s.get(key) is None else f"{s[key]:,.0f}"  # noqa: E731
            size = lambda key: "" if s.get(key) is None else f"{s[key] / 1e6:,.1f}"  # noqa: E731
            cells += [f"{seconds['median']:.4g}", f"{seconds['min']:.4g} – {seconds['max']:.4g}", ratio,
                      f"{max(s['heap'].values()) / 1e6:,.1f}", count("writes"), size("written_bytes"), count("reads"),
                      f"{(s['messages'] or 0) + (s['collectives'] or 0):,.0f}", size("file_bytes")]
        else:
            cells += [""] * 9
        cells.append("; ".join(filter(None, remarks)))
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells))
    return "\n".join(rows) + "</table>"


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>nmbench</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;font-size:13px;margin:.6em 0}td,th{border-bottom:1px solid #ccc;padding:2px 8px;text-align:right}
td:nth-child(2),td:last-child,th:last-child{text-align:left}svg{max-width:100%%}@media(prefers-color-scheme:dark){body{color:#ddd;
background:#161616}td,th{border-color:#444}}</style>
<h1>nmbench</h1><p>%s</p><ul>
<li>A time is that of the slowest process; a figure is the median of the runs that nothing disturbed; whiskers are the extremes.</li>
<li>A faint bar and ≈: the extremes of NMB and of this way overlap, so that the difference of the medians says nothing.</li>
<li>Heap: at the end of the phase that has most. Reads and writes are system calls of all processes, with those of MPI.</li>
<li>results.json has every process of every run; summary.csv has these tables. `nmbench --help` says what to distrust.</li></ul>
%s</html>
"""


def write_page(folder, cases, found, machine):
    """index.html, and each chart as a file in charts/."""
    out = folder / "charts"
    out.mkdir(exist_ok=True)
    body = []

    def add(name, svg):
        (out / f"{name}.svg").write_text(svg)
        body.append(svg)

    kinds = {case.name: case.chart for case in cases}
    for name in dict.fromkeys(s["case"] for s in found):
        of_case = [s for s in found if s["case"] == name]
        body.append(f"<h2>{escape(of_case[0]['title'])}</h2>")
        for step in dict.fromkeys(s["step"] for s in of_case):
            some = [s for s in of_case if s["step"] == step]
            file = f"{name}-{step}".replace(" ", "-").replace("/", "-")
            body.append(f"<h3>{escape(step)}</h3>")
            if any(s["seconds"] for s in some):
                if kinds.get(name) == "creation" and step == "create":
                    add(file, stacked(f"{name}: time of creation by phase", some))
                    only = [s for s in some if s["variant"] == "nmb" and s["seconds"]]
                    if only:
                        add(f"{file}-nmb", stacked(f"{name}: time of creation by phase, NMB alone", only))
                    add(f"{file}-heap", heap(f"{name}: memory", some))
                    if len({s["processes"] for s in some}) > 1:
                        add(f"{file}-speed-up", speed_up(f"{name}: speed-up", some))
                else:
                    add(file, bars(f"{name}: {step}", some))
            body.append(table(some))
    words = "{cpu}, {cores} cores, {system}, host {host}, {time}; load before {load:.2f}".format(**machine)
    (folder / "index.html").write_text(PAGE % (escape(words), "\n".join(body)))
