#!/bin/bash
# install_test.sh BUILD CMAKE GENERATOR COMPILER FLAGS [SOURCE]: installs BUILD and moves the installation to a folder whose
# name has a space; then builds a project that finds it by CMake and by pkg-config, and runs that and the tools on an HDF5
# file and under each MPI. At run time, no environment variable helps. With SOURCE, BUILD is first made from it, with a
# shared library.
set -euo pipefail
build=$1 cmake=$2 generator=$3 compiler=$4 flags=$5 source=${6:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log

# quietly COMMAND...: its output is shown if it fails.
quietly() { "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }
# alone COMMAND...: without the environment. What MPI keeps until the process ends is no leak.
alone() { env -i HOME="$work" PATH=/usr/bin:/bin ASAN_OPTIONS=detect_leaks=0 "$@"; }
failed() { echo "install_test: $1" >&2; exit 1; }

if [ -n "$source" ]; then
  quietly "$cmake" -G "$generator" -S "$source" -B "$build" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags"
  quietly "$cmake" --build "$build"
fi
quietly "$cmake" --install "$build" --prefix "$work/first"
prefix="$work/moved there"
mv "$work/first" "$prefix"
library=$(dirname "$(find "$prefix" -name 'libnmb.*' | head -1)")
! grep -rlF "$work/first" "$prefix" || failed "these name the folder of the installation"
! grep -rF "$build" "$library/pkgconfig" "$library/cmake" || failed "these name the folder of the build"
for tool in nmcat nmconvert nminspect nmverify; do
  alone "$prefix/bin/$tool" --version | grep -q "^$tool " || failed "$tool does not run"
  [ -s "$prefix/share/man/man1/$tool.1" ] || failed "no manual page of $tool"
  for completion in "bash-completion/completions/$tool" "zsh/site-functions/_$tool" "fish/vendor_completions.d/$tool.fish"; do
    [ -s "$prefix/share/$completion" ] || failed "no $completion"
  done
done
[ -s "$prefix/share/nmb/schemas/documents.json" ] || failed "no schema of the JSON documents"

quietly "$cmake" -G "$generator" -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags"
quietly "$cmake" --build "$work/consumer"
consumers=("$work/consumer/consumer")
# shellcheck disable=SC2086  # words are wanted
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$library/pkgconfig
  # pkg-config writes a space in a path as "\ ", which only a shell understands.
  eval "options=($(pkg-config --cflags nmb))"
  quietly "$compiler" -std=c++20 $flags "${options[@]}" -c "$here/consumer/consumer.cpp" -o "$work/consumer.o"
  for static in "" --static; do
    eval "options=($(pkg-config $static --libs nmb))"
    quietly "$compiler" $flags "$work/consumer.o" -o "$work/by_pkg_config$static" "${options[@]}"
    consumers+=("$work/by_pkg_config$static")
  done
fi

cd "$work"
for consumer in "${consumers[@]}"; do
  alone "$consumer" write small.nmb
  alone "$prefix/bin/nmverify" -q small.nmb
  rm -f small.nmb.*
  alone "$consumer" calls small.nmb >/dev/null
  inputs=(small.nmb)
  if [ -e "$library/nmb/nmb-hdf5" ]; then
    alone "$prefix/bin/nmconvert" -f small.nmb other.h5
    [ "$(alone "$consumer" read other.h5)" = "a/v: 1 2 3" ] || failed "$consumer: other values in other.h5"
    inputs+=(other.h5)
  fi
  for mpi in openmpi mpich; do
    launcher=mpiexec.$mpi
    { [ -e "$library/nmb/nmb-mpi-$mpi.so" ] && command -v "$launcher" >/dev/null; } || continue
    options=()
    [ $mpi != openmpi ] || options=(--allow-run-as-root --oversubscribe)
    said=$(alone "$launcher" "${options[@]}" -n 2 "$consumer" ranks) || failed "$consumer: ranks of $mpi"
    [ "$said" = "2 ranks" ] || failed "$consumer: $mpi: found \"$said\", expected 2 ranks"
    alone "$launcher" "${options[@]}" -n 2 "$prefix/bin/nmcat" -f "${inputs[@]}" -o both.nmb
    alone "$prefix/bin/nmverify" -q both.nmb
  done
done
if [ -e "$library/nmb/nmb-hdf5" ]; then
  # Nothing is taken from the folder where a tool is run, though that has a file of its name.
  mkdir -p here/nmb
  touch here/nmconvert
  ln -s /bin/false here/nmb/nmb-hdf5
  (cd here && env -i PATH="$prefix/bin" ASAN_OPTIONS=detect_leaks=0 nmconvert ../small.nmb ../third.h5)
fi
echo "PASSED: ${#consumers[@]} programs$([ -z "$source" ] || echo ", shared library")"
