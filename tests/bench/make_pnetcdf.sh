#!/bin/bash
# Builds the PnetCDF that the benchmarks run beside, with the MPI compiler MPICC: Debian 12 has
# 1.12.3, whose time to define objects grows with their square. Debian: libopenmpi-dev autoconf
# automake libtool m4.
set -euo pipefail

if [ $# -ne 1 ] || [ "${1#-}" != "$1" ] || [ -z "${PNETCDF_SOURCE:-}" ]; then
  echo "usage: PNETCDF_SOURCE=FOLDER [MPICC=mpicc.openmpi] tests/bench/make_pnetcdf.sh INTO" >&2
  echo "FOLDER: a source tree of PnetCDF 1.13 or later. Then configure the benchmarks with" >&2
  echo "PKG_CONFIG_PATH=INTO/lib/pkgconfig cmake --preset bench" >&2
  exit 2
fi
[ -e "$PNETCDF_SOURCE/configure.ac" ] || { echo "make_pnetcdf.sh: $PNETCDF_SOURCE: no configure.ac there" >&2; exit 2; }
mkdir -p "$1"
into=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$PNETCDF_SOURCE/." "$work"
cd "$work"
# Its minimum of libtool is newer than what it uses.
sed -i "/^LT_PREREQ/d" configure.ac
[ -x configure ] || autoreconf -fi
# nmbench loads it when it runs (--pnetcdf INTO/lib/libpnetcdf.so); other programs have its path in them, by CMake.
./configure --prefix="$into" MPICC="${MPICC:-mpicc.openmpi}" --disable-cxx --disable-fortran --enable-shared --disable-static
make -j "$(nproc)" install
PKG_CONFIG_PATH="$into/lib/pkgconfig" pkg-config --modversion pnetcdf
