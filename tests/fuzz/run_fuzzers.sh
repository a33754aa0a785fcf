#!/bin/bash
# Runs the libFuzzer targets: tests/fuzz/run_fuzzers.sh FOLDER SECONDS [TARGET...]. Inputs that were found before are read
# from FOLDER/TARGET, and new ones are stored there. Prints a row for each target. Exit code 1: a target found a fault.
# Needs clang, and the vectors of the build with sanitizers or of another one (NMB_VECTORS).
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 FOLDER SECONDS [TARGET...]" >&2; exit 2; }
folder=$(mkdir -p "$1" && cd "$1" && pwd) seconds=$2
shift 2
cd "$(dirname "$0")/../.."
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for source in tests/fuzz/fuzz_*.cpp; do
  name=$(basename "$source" .cpp)
  [ "$name" = fuzz_replay ] || targets+=("$name")
done
cmake --preset fuzz >"$folder/build.log"
cmake --build --preset fuzz --target "${targets[@]}" "${targets[@]/%/_replay}" >>"$folder/build.log"
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
failed=0
for target in "${targets[@]}"; do
  build/fuzz/tests/"$target"_replay --write-seeds "$folder/$target.seeds"
  mkdir -p "$folder/$target"
  result=passed
  (cd "$folder" && "$OLDPWD/build/fuzz/tests/$target" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 "$target" "$target.seeds") >"$folder/$target.log" 2>&1 || { result=FAILED; failed=1; }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")
  peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$folder/$target.log")
  slowest=$(sed -n 's/^stat::slowest_unit_time_sec: *//p' "$folder/$target.log")
  printf '%-22s %s: %s inputs in %s s, slowest %s s, at most %s MiB\n' "$target" $result "${runs:-?}" "$seconds" "${slowest:-?}" "${peak:-?}"
done
exit $failed
