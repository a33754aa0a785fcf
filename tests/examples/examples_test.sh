#!/bin/sh
# examples_test.sh FOLDER: the programs of examples/, built in FOLDER. Samples are the same in every run and however they are
# divided into files; netCDF's own checker, where there is one, finds the files sound.
set -eu
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$programs/write_and_read" stations.nmb >out
printf '%s\n' '2 blocks, 2 variables, 2 samples' 281.5 283.25 286 282 | diff - out

"$programs/make_graph_samples" a --files 3 --samples 10 >a.out
"$programs/make_graph_samples" b --files 3 --samples 10 >b.out
"$programs/make_graph_samples" c --files 1 --samples 10 >c.out
"$programs/make_graph_samples" sparse --files 3 --samples 10 --sparse >sparse.out
diff -r a b
diff a.out sparse.out
grep -q '^samples 10 variables 160 dimensions 240 ' a.out
# A file ends in the values of its last sample, whatever the number of files.
tail -c 20000 a/graphs.0002.nc >a.last
tail -c 20000 c/graphs.0000.nc >c.last
cmp a.last c.last
for file in a/*.nc c/*.nc sparse/*.nc; do
  if command -v ncvalidator >/dev/null; then ncvalidator -q "$file"; fi
done
