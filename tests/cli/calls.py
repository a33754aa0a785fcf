#!/usr/bin/python3
"""Each call of nminspect and nmverify that calls.txt lists is run by a *.case with its output, and each
option that the tools' help shows is in the list.

    calls.py --tools FOLDER [--list]

In the list, words in capitals stand for any value. A command of a case runs a call if it has the call's
options with these values, and as many other words; it may have more options. --list prints the first
case of each call.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = ("nminspect", "nmverify")
LONG = {"-q": "--quiet", "-f": "--force"}  # two spellings of one option


class Call:
    """A tool, its options with their values (None for a flag), and its other words."""

    def __init__(self, words, with_values):
        self.tool, self.options, self.words = words[0], {}, []
        words = iter(words[1:])
        for word in words:
            if not word.startswith("-") or word == "-":
                self.words.append(word)
                continue
            option, equals, value = word.partition("=")
            option = LONG.get(option, option)
            if equals:
                self.options[option] = value
            elif (self.tool, option) in with_values:
                self.options[option] = next(words, "")
            else:
                self.options[option] = None

    def runs(self, call):
        def fits(word, found):
            return word == found or (word is not None and found is not None and word.isupper())

        return (
            self.tool == call.tool
            and len(self.words) >= len(call.words)
            and (len(self.words) == len(call.words) or call.words[-1:] == ["FILE..."])
            and all(fits(word.removesuffix("..."), found) for word, found in zip(call.words, self.words))
            and all(option in self.options and fits(value, self.options[option]) for option, value in call.options.items())
        )


def commands(case):
    """The simple commands of a case whose output the case has."""
    lines = case.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("  $ "):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not following.startswith("  ") or following.startswith("  $ "):
            continue
        lexer = shlex.shlex(line[4:], posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            words = list(lexer)
        except ValueError:
            continue
        simple = []
        for word in [*words, ";"]:
            if set(word) <= set("|&;()"):
                yield simple
                simple = []
            else:
                simple.append(word)


def calls_of_cases(with_values):
    for case in sorted(HERE.glob("*.case")):
        for words in commands(case):
            for at in range(len(words)):
                if words[at] in (">", "<", ">>", "2", ">&"):
                    words = words[:at]
                    break
            while words and words[0] not in TOOLS and ("=" in words[0] or words[0] in ("on_terminal", "if", "then", "do", "!")):
                words = words[1:]
            if words and words[0] in TOOLS:
                yield case.name, Call(words, with_values)


def options_of_help(tools):
    """Pairs of a call without options and an option."""
    for tool in TOOLS:
        said = subprocess.run([tools / tool, "-h"], capture_output=True, text=True, check=True).stdout
        names = re.findall(r"^  ([a-z]+)  +[A-Z]", said, re.MULTILINE) if tool == "nminspect" else [None]
        for name in names:
            words = [tool, *([name] if name else [])]
            said = subprocess.run([tools / words[0], *words[1:], "--help"], capture_output=True, text=True, check=True).stdout
            for short, option in re.findall(r"^  (-\w)?,?(--[a-z0-9-]+)?[ \n]", said, re.MULTILINE):
                if short or option:
                    yield " ".join(words), option or short


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    parser.add_argument("--list", action="store_true", help="print the first case of each call")
    arguments = parser.parse_args()
    texts = [line for line in (HERE / "calls.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    with_values = {
        (text.split()[0], word.split("=")[0]) for text in texts for word in text.split() if word[0] == "-" and "=" in word
    }
    calls = [Call(text.split(), with_values) for text in texts]
    found = list(calls_of_cases(with_values))
    problems = []
    for text, call in zip(texts, calls):
        case = next((name for name, command in found if command.runs(call)), None)
        if case is None:
            problems.append(f"no test: {text}")
        elif arguments.list:
            print(f"{text}\t{case}")
    listed = {(call.tool, option) for call in calls for option in call.options}
    by_command = {(f"{call.tool} {call.words[0]}" if call.words else call.tool, option) for call in calls for option in call.options}
    for command, option in options_of_help(arguments.tools.resolve()):
        own = (command, option) if " " in command else None
        if own not in by_command and (option in COMMON or own is None) and (command.split()[0], option) in listed:
            continue
        if own not in by_command:
            problems.append(f"not in calls.txt: {command} {option}")
    print(f"{len(calls)} calls")
    print("\n".join(problems))
    return 1 if problems else 0


# Options of all commands of nminspect: one call suffices.
COMMON = "-h --help --version --quiet --color --io-stats --external --strict --no-pager".split()

if __name__ == "__main__":
    sys.exit(main())
