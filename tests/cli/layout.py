#!/usr/bin/python3
"""nminspect layout shows the regions of a file that other programs find there: for NMB files the structures that
spec/reference/nmb_reference.py claims, for classic files the offsets that ncoffsets prints. Regions cover each byte once.
The document, the picture and the page have the same sums. Damaged files end with an error, or with a map that still covers
each byte. Names that are hostile do not leave the place where they stand.

    layout.py --tools FOLDER
"""

import html.parser
import json
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import ALL, main  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "spec/reference"))
import nmb_reference  # noqa: E402

# The kind of what the reference reader claims, by the beginning of its text.
KINDS = (
    (r"(previous )?trailer", "superblock"),
    (r"(root|leaf|node of level \d+)$", "index"),
    (r"block ", "metadata"),
    (r"dictionary block", "dictionary"),
    (r"(piece at \d+, data map of|extent of|growth at \d+ of) ", "values"),
    (r"piece at \d+, original ", "original"),
    (r"(data map of|original) |growth page", "data map"),
    (r"view", "HDF5 view"),
    (r"dead range", "dead"),
    (r"", "table"),
)


def kind_of(what):
    return next(kind for pattern, kind in KINDS if re.match(pattern, what))


def expected_regions(data):
    """[position, end, kind, owner] by the reference reader, None if it could not find every structure; and whether the file
    is sound."""
    regions = []
    claim = nmb_reference.File.claim
    file = nmb_reference.File(data)

    def record(of, start, length, what, placed_at):
        claim(of, start, length, what, placed_at)
        if of is not file:
            return  # an earlier generation, which an HDF5 view shows
        kind = kind_of(what)
        owner = ""
        if kind in ("metadata", "values") or what.startswith("data map of"):
            owner = re.sub(r"^(piece at \d+, data map|growth at \d+|extent|data map) of |^block ", "", what)
        elif kind == "original":
            owner = re.sub(r"^piece at \d+, ", "", what)
        elif what.startswith("original ") or what == "storage":
            owner = what
        regions.append([start, start + length, kind, owner])

    nmb_reference.File.claim = record
    try:
        file.read()
    finally:
        nmb_reference.File.claim = claim
    if file.superblock is None or not file.everything_walked or not file.everything_known:
        return None, False
    regions += [[0, 4096, "head", ""], [4096, 12288, "superblock", ""]]
    position, length, _ = file.superblock.place("dictionary")
    if position and length <= 4096:
        regions.append([12288, 12288 + length, "dictionary", ""])
    if len(data) > file.file_length:
        regions.append([file.file_length, len(data), "uncommitted", ""])
    regions.sort()
    whole, at = [], 0
    for region in [*regions, [len(data), len(data), "", ""]]:
        if region[0] > at:
            whole.append([at, region[0], "unused", ""])
        whole.append(region)
        at = region[1]
    joined = []
    for begin, end, kind, owner in whole[:-1]:
        if begin == end:
            continue
        if joined and joined[-1][2:] == [kind, owner]:
            joined[-1][1] = end
        else:
            joined.append([begin, end, kind, owner])
    # The block of a dead original was replaced or removed.
    orders = set(file.blocks_of_originals.values())
    dead = {f"original {nmb_reference.text(one.path)}" for one in file.files or [] if one.is_original and one.row["order"] not in orders}
    return [[begin, end, "dead", ""] if owner in dead else [begin, end, kind, owner] for begin, end, kind, owner in joined], not file.findings


def lines_of(done):
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def check_cover(tools, path, lines):
    at = 0
    for line in lines:
        tools.check(line["position"] == at and line["bytes"] > 0, f"{path.name}: a region at {line['position']}, not {at}")
        at = line["position"] + line["bytes"]
    tools.check(at == path.stat().st_size, f"{path.name}: regions end at {at}, the file at {path.stat().st_size}")


def layout(tools, path, *options):
    return subprocess.run([tools.folder / "nminspect", "layout", *options, path], capture_output=True, timeout=60)


def check_nmb(tools, path):
    data = path.read_bytes()
    expected, is_sound = expected_regions(data)
    done = layout(tools, path, "--jsonl", "-q")
    if done.returncode != 0:
        # Damage and later versions; nothing of a map is shown.
        tools.check(done.returncode in (1, 2) and not is_sound, f"{path.name}: exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        tools.check(not done.stdout and done.stderr, f"{path.name}: an error, and a map")
        return 0
    lines = lines_of(done)
    check_cover(tools, path, lines)
    if expected is None:
        return 0  # damage in the header of a block, which is not read
    found = [[one["position"], one["position"] + one["bytes"], one["kind"]] for one in lines]
    wanted = [one[:3] for one in expected]
    first = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
    tools.check(found == wanted, f"{path.name}: found {found[first:first + 3]}, expected {wanted[first:first + 3]}")
    # Regions of the same name have the same owner.
    owners = {}
    for line, (_, _, kind, owner) in zip(lines, expected):
        if owner and owner != "storage":
            known = owners.setdefault(owner, line.get("name"))
            tools.check(line.get("name") == known, f"{path.name}: {line} belongs to {known}")
            if re.fullmatch(r'"[\w/]+"', owner):
                tools.check(known == owner[1:-1], f"{path.name}: {line} belongs to {owner}")
        elif not owner:
            tools.check("name" not in line, f"{path.name}: {line} belongs to nothing")
    check_document(tools, path, lines)
    return 1


def check_document(tools, path, lines):
    """The sums of the document are those of the lines."""
    document = json.loads(layout(tools, path, "--json", "--limit", "1000000", "-q").stdout)
    sums, owners = {}, {}
    for line in lines:
        total = sums.setdefault(line["kind"], [0, 0])
        total[0] += line["bytes"]
        total[1] += 1
        if "name" in line:
            owner = owners.setdefault((line["part"], line["name"]), [0, line["position"]])
            owner[0] += line["bytes"]
    tools.check({one["kind"]: [one["bytes"], one["regions"]] for one in document["kinds"]} == sums, f"{path.name}: other sums")
    tools.check(document["size"] == path.stat().st_size and document["regions"] == len(lines), f"{path.name}: another size")
    found = {(one["part"], one["name"]): [one["bytes"], one["position"]] for one in document["largest"]}
    tools.check(found == owners or len(found) < len(document["largest"]), f"{path.name}: other parts")
    dead = sorted((one["position"], one["bytes"]) for one in document["dead"])
    tools.check(dead == [(one["position"], one["bytes"]) for one in lines if one["kind"] == "dead"], f"{path.name}: other dead ranges")


class Page(html.parser.HTMLParser):
    """The tags of a page, and the texts of its scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.title, self.inside = [], [], "", ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside == "title":
            self.title += data


def data_of(path):
    """The data of a page, and its other tags."""
    page = Page()
    text = path.read_text(encoding="utf-8")
    page.feed(text)
    return json.loads(page.scripts[0]), page, text


def check_files(tools, path, lines):
    """The page has the regions of the lines; the picture is XML and shows the sums."""
    page, picture = tools.work / "page.html", tools.work / "picture.svg"
    tools.check(layout(tools, path, "--html", page, "-f", "-q").returncode == 0, f"{path.name}: no page")
    data, parsed, text = data_of(page)
    at, owner = 0, 0
    lengths, owners = data["lengths"].split(" "), data["owners"].split(" ")
    tools.check(len(lengths) == len(lines) == len(owners) == len(data["kind_of"]), f"{path.name}: another number of regions")
    for line, kind, length, step in zip(lines, data["kind_of"], lengths, owners):
        owner += 0 if step == "-" else int(step, 36)
        name = None if step == "-" else data["names"][owner]
        same = line["position"] == at and line["bytes"] == int(length, 36) and line["kind"] == data["kinds"][ord(kind) - 97]
        tools.check(same and (name is None) == ("name" not in line), f"{path.name}: {line} in the page")
        if name and re.fullmatch(r"[\w/.-]+", line["name"]):
            tools.check(name == line["name"], f"{path.name}: {line} in the page: {name}")
        at += int(length, 36)
    tools.check(len(parsed.scripts) == 2 and not re.search(r"https?://(?!www.w3.org)", text), f"{path.name}: a page that leads elsewhere")
    tools.check(not any("src" in attributes or "href" in attributes for _, attributes in parsed.tags), f"{path.name}: links in a page")
    tools.check(layout(tools, path, "--svg", picture, "-f", "-q").returncode == 0, f"{path.name}: no picture")
    tree = xml.etree.ElementTree.parse(picture)
    words = {one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")}
    tools.check({line["kind"] for line in lines} <= words, f"{path.name}: a picture without a kind")
    tools.check(picture.stat().st_size < 200_000, f"{path.name}: a picture of {picture.stat().st_size} bytes")


def assemble(tools, name):
    path = tools.work / f"{name}.nmb"
    for place in (ROOT / "spec/vectors", ROOT / "tests/cli"):
        if (place / f"{name}.txt").exists():
            subprocess.run([sys.executable, ROOT / "spec/vectors/assemble.py", place / f"{name}.txt", path], check=True)
    return path


def check_vectors(tools):
    walked = 0
    texts = [text for text in sorted((ROOT / "spec/vectors").glob("*.txt")) if not text.name.startswith("R-CH")]
    for text in texts if ALL else texts[::8]:
        path = assemble(tools, text.stem)
        if path.read_bytes()[:3] == b"CDF":
            continue
        walked += check_nmb(tools, path)
        path.unlink()
    tools.check(walked > (300 if ALL else 30), f"only {walked} vectors were walked")
    print(f"{walked} vectors")


def check_classic(tools):
    """Offsets and sizes as ncoffsets prints them."""
    if not shutil.which("ncoffsets"):
        print("no ncoffsets: offsets of classic files are not compared")
        return
    for name in ("classic_cdf1", "records", "cdf2", "cdf5"):
        path = tools.work / f"{name}.nc"
        if name == "classic_cdf1":
            path = assemble(tools, name)
        else:
            make_classic(path, name)
        lines = lines_of(layout(tools, path, "--jsonl"))
        check_cover(tools, path, lines)
        said = subprocess.run(["ncoffsets", "-r", path], capture_output=True, text=True, check=True).stdout
        wanted, variable = [], ""
        for word, start, end in re.findall(r"^\t\w+ +(\w+).*:$|start file offset = *(\d+)|end   file offset = *(\d+)", said, re.M):
            variable = word or variable
            if start:
                wanted.append([int(start), 0, variable])
            elif end:
                wanted[-1][1] = int(end)
        found = [(one["position"], one["position"] + one["bytes"], one["name"]) for one in lines if one.get("part") == "variable"]
        # The records of the only record variable are one region.
        same = all(any(f[2] == n and f[0] <= start and end <= f[1] for f in found) for start, end, n in wanted)
        same = same and {f[0] for f in found} <= {one[0] for one in wanted} and (name == "cdf5" or len(found) == len(wanted))
        tools.check(wanted and same, f"{path.name}: found {found}, expected {wanted}")
        check_document(tools, path, lines)
        check_files(tools, path, lines)


def make_classic(path, name):
    import netCDF4

    kind = {"records": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}[name]
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("t", None)
        file.createDimension("x", 7)
        file.createVariable("a", "i2", ("x",))[:] = range(7)
        file.createVariable("b", "f8", ("x",))[:] = range(7)
        for v in ("r", "s") if name != "cdf5" else ("r",):
            file.createVariable(v, "i1", ("t", "x"))[:] = [[1] * 7] * 3


def make_sets(tools):
    """Files with every kind of region."""
    make_classic(tools.work / "a.nc", "records")
    make_classic(tools.work / "b.nc", "cdf5")
    run = tools.run
    run("nmconvert", "a.nc", "c.nc4", "--lossy")
    run("nmcat", "a.nc", "b.nc", "c.nc4", "-o", "all.nmb", "--stats", "basic")
    run("nmcat", "a.nc", "b.nc", "-o", "view.nmb", "--hdf5-view", "on")
    run("nmcat", "a.nc", "-o", "dead.nmb")
    run("nmcat", "b.nc", "-o", "dead.nmb", "--append")
    run("nmcat", "a.nc", "-o", "dead.nmb", "--append", "--replace")
    shutil.copy(tools.work / "dead.nmb", tools.work / "longer.nmb")
    with (tools.work / "longer.nmb").open("ab") as file:
        file.write(b"not committed")
    run("nmcat", "a.nc", "b.nc", "-o", "link.nmb", "--link")
    return [tools.work / f"{name}.nmb" for name in ("all", "view", "dead", "longer", "link")]


def check_sets(tools):
    kinds = set()
    for path in make_sets(tools):
        check_nmb(tools, path)
        lines = lines_of(layout(tools, path, "--jsonl", "-q"))
        kinds |= {line["kind"] for line in lines}
        check_files(tools, path, lines)
    wanted = {"head", "superblock", "index", "table", "metadata", "values", "original", "HDF5 view", "dead", "uncommitted", "unused"}
    tools.check(wanted <= kinds, f"no file has {wanted - kinds}")


def check_names(tools):
    """Hostile names stay texts."""
    path = assemble(tools, "hostile_names")
    lines = lines_of(layout(tools, path, "--jsonl"))
    check_files(tools, path, lines)
    shutil.copy(path, tools.work / "plain.nmb")
    name = "<b>&\"'<!-- ]]> <script>alert(1)</script>.nmb".replace("/", "\N{FRACTION SLASH}")
    shutil.copy(path, tools.work / name)
    for option, out in (("--html", "x.html"), ("--svg", "x.svg")):
        tools.run("nminspect", "layout", option, out, name)
    _, page, _ = data_of(tools.work / "x.html")
    tools.check(len(page.scripts) == 2 and name in page.title, "the name of the file is not a text of the page")
    tree = xml.etree.ElementTree.parse(tools.work / "x.svg")
    tools.check(any(name in (one.text or "") for one in tree.iter("{http://www.w3.org/2000/svg}title")), "another title in the picture")


def check_damaged(tools):
    """Each damaged file ends with an error, or with a map of each byte."""
    data = (tools.work / "dead.nmb").read_bytes()
    chance = random.Random(1)
    path = tools.work / "damaged.nmb"
    codes = set()
    for number in range(150):
        changed = bytearray(data)
        if number % 5 == 0:
            del changed[chance.randrange(len(data)) :]
        for _ in range(chance.choice((1, 1, 8))):
            if changed:
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        done = layout(tools, path, "--jsonl", "-q")
        codes.add(done.returncode)
        tools.check(done.returncode in (0, 1, 2), f"damaged file {number}: exit code {done.returncode}")
        if done.returncode == 0:
            check_cover(tools, path, lines_of(done))
        else:
            tools.check(not done.stdout and done.stderr, f"damaged file {number}: an error, and a map")
    tools.check(codes == {0, 1, 2} or codes == {0, 1}, f"exit codes {codes}")


def check_usage(tools):
    for words in (["--json", "--jsonl"], ["--svg", "x", "--html", "y"], ["--svg", "x", "--json"], ["-f"], ["--no-sync"],
                  ["--html", "x", "--limit", "3"], ["--jsonl", "--limit", "3"], ["--svg", "plain.nmb", "-f"], ["--svg", "x.svg"]):
        tools.run("nminspect", "layout", *words, "plain.nmb", exit_code=2)
    tools.run("nminspect", "layout", "--svg", "x.svg", "plain.nmb", "-f", "--no-sync", "--limit", "0")
    tools.run("nminspect", "layout", "c.nc4", exit_code=2)


def test(tools):
    check_vectors(tools)
    check_sets(tools)
    check_classic(tools)
    check_names(tools)
    check_damaged(tools)
    check_usage(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
