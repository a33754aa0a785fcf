#!/bin/sh
# manual_pages_test.sh PAGE...: that groff formats the pages without a warning and they have all that a manual page has.
set -eu
command -v groff >/dev/null || { echo "skipped: no groff"; exit 77; }
text=$(mktemp)
trap 'rm -f "$text"' EXIT
for page; do
  warnings=$(groff -man -Tutf8 -P-cbou -ww "$page" 2>&1 >"$text")
  [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
  for title in NAME SYNOPSIS DESCRIPTION OPTIONS 'SEE ALSO'; do
    grep -qx "$title" "$text" || { echo "$page: no section $title"; exit 1; }
  done
done
