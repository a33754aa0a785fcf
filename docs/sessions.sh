#!/bin/bash
# Prints the README's sessions: commands and what they answer. Run with the tools and the programs of examples/ on the PATH:
#   PATH=$PWD/build/release/tools:$PWD/build/release/examples:$PATH docs/sessions.sh
# Needs ncgen. NUMBER as argument: that session only.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/var/tmp}/nmb-sessions.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# shown COMMAND: prints and runs a line, errors among its output.
shown() {
  echo "\$ $1"
  { eval "$1"; } 2>&1
}

merge_and_count() {
  make_graph_samples . --files 4 --samples 35530 --sparse >/dev/null
  shown 'ls graphs.*.nc'
  shown "nmcat graphs.*.nc -o graphs.nmb --split-names '^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_' --block-name '{group}'"
  shown 'nminspect count graphs.nmb --what samples --io-stats'
  shown "nminspect count graphs.nmb --what objects 'r4952_*/*'"
  shown 'nminspect ls graphs.nmb --limit 3'
  block=$(nminspect ls graphs.nmb --limit 1 | awk '{ print $1 }')
  shown "nminspect header graphs.nmb $block | head -5"
}

find_the_odd_one() {
  local day units
  for day in $(seq -w 1 200); do
    units=K
    [ "$day" != 137 ] || units=degC
    echo "netcdf x { dimensions: time = unlimited; variables: int time(time); time:units = \"days since 2000-01-01\";
      float tas(time); tas:units = \"$units\"; data: time = $((10#$day)); tas = 281.5; }" | ncgen -k cdf5 -o "day$day.nc"
  done
  shown 'ls day*.nc | wc -l'
  shown 'nmcat --mode join day*.nc -o year.nmb' || true
  shown 'nmcat --mode join $(ls day*.nc | grep -v day137) -o year.nmb && nminspect count year.nmb --what records'
}

get_back() {
  make_graph_samples . --files 3 --samples 60 >/dev/null
  shown 'sha256sum graphs.*.nc > before.sha256'
  shown 'nmcat graphs.*.nc -o archive.nmb && rm graphs.*.nc'
  shown 'nmverify archive.nmb'
  shown 'nmconvert archive.nmb graphs.0001.nc --extract graphs.0001'
  shown 'sha256sum -c --ignore-missing before.sha256'
}

sessions=(merge_and_count find_the_odd_one get_back)
for number in ${1:-1 2 3}; do
  ${sessions[number - 1]}
  rm -rf "${work:?}"/*
  echo
done
