#!/bin/sh
# install_test.sh BUILD CMAKE GENERATOR COMPILER FLAGS: installs the build to a folder of its own, then builds and runs a
# project that finds the package there, with the build's flags.
set -eu
build=$1 cmake=$2 generator=$3 compiler=$4 flags=$5
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
"$cmake" -G "$generator" -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags"
"$cmake" --build "$work/build"
"$work/build/consumer"
