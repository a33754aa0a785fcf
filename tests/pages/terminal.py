"""A terminal without a screen: a shell in tmux that gets keys, what it shows, and pictures of that."""

import os
import re
import subprocess
import time
import uuid
from html import escape

PROMPT = "$ "
COLUMN, ROW, MARGIN = 7.25, 16, 12  # pixels
THEMES = {"light": ("#ffffff", "#1f2328", "#d0d7de"), "dark": ("#0d1117", "#e6edf3", "#30363d")}  # background, text, frame
YELLOW = {"light": "#9a6700", "dark": "#d29922"}
LEVELS = (0, 95, 135, 175, 215, 255)  # of red, green and blue in a terminal with 256 colours


class Terminal:
    """The programs run in `folder`, with `programs` before the usual folders of programs."""

    def __init__(self, width, height, folder, programs, **environment):
        self.width, self.height = width, height
        self.tmux = ["tmux", "-L", f"nmb_{os.getpid()}_{uuid.uuid4().hex}", "-f", "/dev/null"]
        plain = {"TERM": "xterm-256color", "PATH": f"{programs}:/usr/bin:/bin", "LANG": "C.UTF-8", "PS1": PROMPT, "LESS": "FRX",
                 "HISTFILE": "/dev/null", **environment}
        self.call("new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(folder),
                  "env", "-i", *(f"{name}={value}" for name, value in plain.items()), "TERM=screen-256color",
                  "bash", "--noprofile", "--norc", "--noediting", env={"PATH": plain["PATH"], "TERM": plain["TERM"], "LANG": plain["LANG"]})
        self.wait(lambda: self.text() == [PROMPT.rstrip()], "a prompt")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True)

    def call(self, *words, **options):
        return subprocess.run([*self.tmux, *words], check=True, capture_output=True, text=True, **options).stdout

    def text(self):
        """The lines that the screen shows, without spaces at their ends."""
        return self.call("capture-pane", "-p").rstrip("\n").split("\n")

    def coloured(self):
        """The lines with the codes of their colours."""
        return self.call("capture-pane", "-e", "-p").rstrip("\n").split("\n")

    def wait(self, ready, what, seconds=20):
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until:
                raise TimeoutError(f"waited for {what}; the screen shows\n" + "\n".join(self.text()))
            time.sleep(0.02)

    def is_idle(self):
        return self.text()[-1] == PROMPT.rstrip()

    def keys(self, *keys):
        """Keys by the names that tmux has for them."""
        self.call("send-keys", *keys)

    def type(self, text):
        self.call("send-keys", "-l", text)

    def clear(self):
        self.type("clear")
        self.keys("Enter")
        self.wait(lambda: self.text() == [PROMPT.rstrip()], "an empty screen")

    def run(self, command, seconds=20):
        """Types a command and waits until it has ended. Returns the lines of the screen from the command on."""
        self.clear()
        self.start(command)
        self.wait(lambda: self.is_idle() and len(self.text()) > 1, f"the end of: {command}", seconds)
        return self.text()

    def start(self, command):
        self.type(command)
        self.keys("Enter")


def colour_of(number):
    """#rrggbb of one of 256 colours."""
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return f"#{grey:02x}{grey:02x}{grey:02x}"
    rest = number - 16
    return "#" + "".join(f"{LEVELS[rest // share % 6]:02x}" for share in (36, 6, 1))


PLAIN = {"fg": None, "bg": None, "bold": False, "reverse": False}


def look_after(code, look):
    """The look of text after a code: "1;38;5;33"."""
    look = dict(look)
    numbers = [int(number or 0) for number in code.split(";")]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            look = dict(PLAIN)
        elif number in (38, 48) and numbers[:1] == [5]:
            look["fg" if number == 38 else "bg"] = colour_of(numbers[1])
            del numbers[:2]
        elif number in (39, 49):
            look["fg" if number == 39 else "bg"] = None
        elif number in (1, 22):
            look["bold"] = number == 1
        elif number in (7, 27):
            look["reverse"] = number == 7
        elif number == 33:
            look["fg"] = "yellow"
        else:
            raise ValueError(f"the picture of a terminal has no code {number}")
    return look


def runs_of(lines):
    """For each line, its pieces with the same look: (text, look). tmux goes on with the look of the line before."""
    look = PLAIN
    for line in lines:
        runs = []
        for number, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
            if number % 2:
                look = look_after(part, look)
            elif part:
                runs.append((part, look))
        yield runs


def picture(lines, width):
    """An SVG of coloured lines, which follows the light or dark theme of the viewer."""
    across, down = width * COLUMN + 2 * MARGIN, len(lines) * ROW + 2 * MARGIN
    styles = ["text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}.b{font-weight:bold}"]
    for theme, (background, text, frame) in THEMES.items():
        rules = f".w{{fill:{background};stroke:{frame}}}text,.r{{fill:{text}}}.i{{fill:{background}}}.y{{fill:{YELLOW[theme]}}}"
        styles.append(rules if theme == "light" else f"@media(prefers-color-scheme:dark){{{rules}}}")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:g} {down:g}" width="{across:g}" height="{down:g}">',
           f"<style>{''.join(styles)}</style>",
           f'<rect class="w" x=".5" y=".5" width="{across - 1:g}" height="{down - 1:g}" rx="6"/>']
    for number, runs in enumerate(runs_of(lines)):
        column, top = 0, MARGIN + number * ROW
        for text, look in runs:
            x, length = MARGIN + column * COLUMN, len(text) * COLUMN
            column += len(text)
            if look["bg"] or look["reverse"]:
                fill = 'class="r"' if look["reverse"] else f'fill="{look["bg"]}"'
                out.append(f'<rect {fill} x="{x:g}" y="{top:g}" width="{length:g}" height="{ROW}" shape-rendering="crispEdges"/>')
            if not text.strip():
                continue
            classes = ("b" if look["bold"] else "") + (" i" if look["reverse"] else " y" if look["fg"] == "yellow" else "")
            style = f' class="{classes.strip()}"' if classes.strip() else ""
            if look["fg"] and look["fg"] != "yellow":
                style += f' style="fill:{look["fg"]}"'
            out.append(f'<text x="{x:g}" y="{top + 12:g}" textLength="{length:g}" xml:space="preserve"{style}>{escape(text)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
