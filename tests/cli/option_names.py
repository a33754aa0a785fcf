"""Messages of the library name its own fields, and the tools spell each of them as an option.

Would catch: a message of the library with "--option", which a program that uses the library cannot act on; a field in a
message that reaches the user of a tool as it is; a row of the table that no message uses.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
FIELD = re.compile(r"\b(?:\w+Options|Agreement|Pack|Union|Join|Tiles|Block(?:Choice|Rule)|Storing|SubsetRules|ExternalPaths|FileKind|Hdf5View|Locking|Originals|PieceCodec"
                   r"|RefusedLosses|VerifyLevel)(?:::By)?::\w+")
# Fields that the tools always set in a way that check_options() accepts, and those of calls that tools do not make.
NO_OPTION = {"ConvertOptions::strict", "ConvertOptions::to", "BlockRule::By", "BlockRule::name", "BlockRule::count",
             "WriteOptions::Mode", "BlockRule::By::kAttribute", "BlockRule::By::kCount", "BlockRule::By::kDimension", "MergeOptions::check"}
# A command of a tool may be advice of the library: "nmconvert --repack removes them".
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TOOL = re.compile(r"\bnm(cat|convert|inspect|verify)\b")


def texts(path):
    """The texts in a source file. Literals that the compiler joins are one text."""
    source = re.sub(r"^\s*(//|#).*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for found in LITERALS.finditer(source):
        yield re.sub(r'"\s*"', "", found[0])[1:-1]


def main():
    table = (ROOT / "tools/common/command_line/option_names.cpp").read_text(encoding="utf-8")
    rows = re.findall(r'\{"((?:[^"\\]|\\.)+)",\s*"[^"]+"\}', table)
    names = {name for row in rows for name in FIELD.findall(row)}
    errors, used = [], set()
    for path in sorted((ROOT / "libformat").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        for text in texts(path):
            if OPTION.search(text) and not TOOL.search(text) and not text.startswith("--"):
                errors.append(f"{path.relative_to(ROOT)}: name a field, not an option: {text}")
            found = set(FIELD.findall(text))
            used |= found
            errors += [f"{path.relative_to(ROOT)}: {name} has no row in option_names.cpp" for name in sorted(found - names - NO_OPTION)]
    errors += [f"option_names.cpp: no message has {name}" for name in sorted(names - used)]
    errors += [f"option_names.cpp: {a} begins {b}" for at, b in enumerate(rows) for a in rows[:at] if b.startswith(a)]
    print("\n".join(errors) if errors else f"{len(rows)} names")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
