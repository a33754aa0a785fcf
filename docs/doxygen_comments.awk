# Doxygen's input filter for the public headers (docs/Doxyfile.in): `//` before a declaration becomes `///`, `//` behind a
# declaration becomes `///<`, and the paragraph at the head of a file describes the file. Code does not change.

# Escapes all commands, links and HTML outside of `code`, which may continue in the next line.
function plain(text,    parts, count, i, out) {
  count = split(text, parts, "`")
  for (i = 1; i <= count; i++) {
    if (i > 1) { out = out "`"; in_code = !in_code }
    if (!in_code) gsub(/[\\@<>#&]/, "\\\\&", parts[i])
    out = out parts[i]
  }
  return out
}

FNR == 1 { print "/// @file" }

# A comment on a line of its own. If it begins in the same column as a comment behind the declaration above, it continues
# that comment.
/^ *\/\/( |$)/ {
  at = index($0, "//")
  if (at != behind) behind = 0
  print substr($0, 1, at - 1) (behind ? "///<" : "///") plain(substr($0, at + 2))
  next
}

{ in_code = 0; behind = 0 }

# A comment behind a declaration, but not behind a closing brace, a preprocessor line or the head of a body.
/^ *[^ }#].*[^{ ] +\/\/ / {
  match($0, / +\/\/ /)
  behind = RSTART + RLENGTH - 3
  print substr($0, 1, behind - 1) "///<" plain(substr($0, behind + 2))
  next
}

{ print }
