# shellcheck shell=bash
# Sourced by demo and test. setup PACKAGE... installs those of the Debian packages that are missing, where it can, and
# else says what to install. NMB_NO_SETUP=1 leaves it out.
setup() {
  [ -z "${NMB_NO_SETUP:-}" ] || return 0
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    echo "$0: this is not Debian: install what Debian 12 calls" >&2
    printf '  %s\n' "$*" >&2
    echo "and run NMB_NO_SETUP=1 $0" >&2
    exit 2
  fi
  for package in "$@"; do
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed$' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "$0: packages are missing. As root, run" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 2
  fi
  echo "== installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get -q update && apt-get -qy install --no-install-recommends "${missing[@]}"; } </dev/null >/dev/null || {
    echo "$0: apt-get could not install ${missing[*]}: see its messages above" >&2
    exit 2
  }
}

# build PRESET [OPTION of cmake...]: builds in build/PRESET with the messages in build/PRESET.log.
build() {
  mkdir -p build
  { cmake --preset "$1" "${@:2}" && cmake --build --preset "$1" -j "$jobs"; } >build/"$1".log 2>&1
}

jobs=${NMB_JOBS:-$(nproc)}
# What the README installs. A compiler cache is used where there is one.
# shellcheck disable=SC2034  # used by those who source this
mapfile -t build_packages <scripts/packages
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
