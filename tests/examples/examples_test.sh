#!/bin/sh
# examples_test.sh FOLDER PLUGINS TOOLS: the programs of examples/, built in FOLDER, with the plug-ins in PLUGINS, if any.
# Samples are the same in every run and however they are divided into files; netCDF's own checker, where there is one,
# finds the files sound.
set -eu
programs=$1 plugins=$2 tools=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$programs/write_and_read" stations.nmb >out
printf '%s\n' 'station/north: 10 records, mean 285.5' 'station/south: 10 records, mean 295.5' | diff - out

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

# Threads, and processes where there is an MPI, write the same file; a training loop reads it.
"$programs/write_with_threads" one.nmb 1 50
"$programs/write_with_threads" five.nmb 5 50
cmp one.nmb five.nmb
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The MPI libraries keep memory until the process ends, which a sanitizer takes for leaks.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
if [ -e "$plugins/nmb-mpi-openmpi.so" ] && command -v mpiexec.openmpi >/dev/null; then
  mpiexec.openmpi --oversubscribe -n 3 "$programs/write_with_mpi" openmpi.nmb 50
  cmp one.nmb openmpi.nmb
fi
if [ -e "$plugins/nmb-mpi-mpich.so" ] && command -v mpiexec.mpich >/dev/null; then
  mpiexec.mpich -n 3 "$programs/write_with_mpi" mpich.nmb 50
  cmp one.nmb mpich.nmb
fi
"$programs/train" five.nmb 2 3 >train.out
printf '%s\n' '50 samples' 'epoch 0: mean of means 120.771' 'epoch 1: mean of means 120.771' | diff - train.out
# Files that were merged: blocks of any names and variables, with text, from HDF5, and of several samples.
"$tools/nmcat" a/graphs.*.nc -o merged.nmb --split-names '^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_' --block-name '{group}'
"$programs/train" merged.nmb 1 2 >train.out
grep -q '^10 samples$' train.out && grep -q '^epoch 0: mean of means -*[0-9]' train.out
"$tools/nmcat" stations.nmb merged.nmb -o both.nmb
"$programs/train" both.nmb 1 2 | grep -q '^12 samples$'
# A file without samples is an error.
"$tools/nmcat" stations.nmb --samples none -o none.nmb
if "$programs/train" none.nmb 1 2 >train.out 2>&1; then exit 1; fi
grep -q 'no block contains samples' train.out
if [ -e "$plugins/nmb-hdf5" ]; then
  "$tools/nmconvert" both.nmb both.h5
  "$tools/nmcat" both.h5 -o again.nmb
  "$programs/train" again.nmb 1 2 | grep -q '^epoch 0: mean of means -*[0-9]'
fi

# The four programs that docs/guides/programs.md compares with those of other libraries.
if "$programs/write_and_read" stations.nmb 2>err; then exit 1; fi
grep -qx 'stations.nmb: the file exists' err
"$programs/merge_months" months.nmb a/graphs.0000.nc no.nc 2>err && exit 1
grep -q '^no.nc: cannot open' err
[ ! -e months.nmb ]
"$programs/warm_samples" stations.nmb 294 >out
printf '%s\n' station/south '30 values, mean 295.5' | diff - out
if [ -e "$plugins/nmb-mpi-openmpi.so" ] && command -v mpiexec.openmpi >/dev/null; then
  if mpiexec.openmpi --oversubscribe -n 3 "$programs/time_steps" steps.nmb 2>err; then exit 1; fi
  [ "$(grep -cx 'steps.nmb: my solver diverged (on rank 1)' err)" = 3 ]
  [ "$("$tools/nminspect" count steps.nmb --what records)" = 3 ]
fi
