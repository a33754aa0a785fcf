"""The result of a comparison: differences, and objects that could not be compared."""

import re

SHOWN = 160  # characters of a value in a line


class Unreadable(Exception):
    """Something in a file that the HDF5 library, or its Python module, does not give out."""


class Differences:
    """Collects `PATH: field: A-value, B-value`. Paths and names are bytes or text; control characters are
    escaped, since names are hostile input."""

    def __init__(self, limit=300):
        self.limit = limit
        self.found = []  # of (path, field, A-value, B-value) as text, at most `limit`
        self.count = 0
        self.uncompared = []  # of (path, field, why): neither file gives it out, so equality is not proved
        self.notes = []  # of text: what an additional view could not show

    def add(self, path, field, a, b):
        self.count += 1
        if len(self.found) < self.limit:
            self.found.append((text(path), text(field), text(a), text(b)))

    def compare(self, path, field, a, b):
        """True if equal."""
        if a == b:
            return True
        self.add(path, field, a, b)
        return False

    def compare_fields(self, path, prefix, a, b):
        """Two descriptions: dictionaries of field and value. A field that one lacks is `absent`."""
        same = True
        for field in [*a, *(field for field in b if field not in a)]:
            same &= self.compare(path, prefix + field, a.get(field, "absent"), b.get(field, "absent"))
        return same

    def of_both(self, path, field, get, a, b):
        """(get(a), get(b)), or None if one or both cannot be had, which is then told."""
        out, errors, words = [], [], []
        for one in (a, b):
            try:
                out.append(get(one))
                words.append("readable")
            except Exception as error:  # of h5py: nearly any class
                errors.append(error)
                words.append(f"unreadable: {text(error)}")
        if not errors:
            return out
        if len(errors) == 1:
            self.add(path, field, *words)
        else:
            self.uncompared.append((text(path), text(field), text(errors[0])))
        return None

    def lines(self):
        return [f"{path}: {field}: {a}, {b}" for path, field, a, b in self.found]


def text(value):
    """One line of printable text, cut to a sane length."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    elif isinstance(value, Exception):
        value = str(value.args[0] if value.args else "") or type(value).__name__
    elif not isinstance(value, str):
        value = repr(value)
    value = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", lambda found: f"\\x{ord(found[0]):02x}", value)
    return value if len(value) <= SHOWN else f"{value[:SHOWN]}... ({len(value)} characters)"
