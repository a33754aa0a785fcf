#!/bin/bash
# damaged_files.sh WALK VECTORS: reads, by netCDF-C, the vectors of the specification and the files of NMB_CORPUS/bad, one process a
# file. Every error is right, but no crash and no time-out.
set -u
walk=$1 vectors=$2 wrong=0 count=0
while IFS= read -r -d '' file; do
  timeout 60 "$walk" "$file" >/dev/null 2>&1
  code=$?
  count=$((count + 1))
  [ $code -eq 0 ] || { echo "$file: exit code $code"; wrong=1; }
done < <(find "$vectors" ${NMB_CORPUS:+"$NMB_CORPUS/bad" "$NMB_CORPUS/hostile"} -type f ! -name '*.tsv' -print0)
[ $count -gt 100 ] || { echo "found $count files"; wrong=1; }
exit $wrong
