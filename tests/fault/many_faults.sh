#!/bin/bash
# Many more rounds of parallel_faults than the tests do, on threads and under each MPI that is installed:
#   many_faults.sh PARALLEL_FAULTS [ROUNDS [SEED]]
set -uo pipefail
program=$1 rounds=${2:-200} seed=${3:-1}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failed=0

# round_of WHAT COMMAND...
round_of() {
  local what=$1 start=$EPOCHREALTIME result=passed
  shift
  "$@" --rounds "$rounds" --seed "$seed" || result=FAILED failed=1
  echo "$what: $result, $rounds rounds in $(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $start }") s"
}

for ranks in 1 2 3 5 8; do
  round_of "$ranks threads" "$program" --threads $ranks
  round_of "$ranks threads, memory" "$program" --threads $ranks --memory
done
for ranks in 2 3 5; do
  if command -v mpiexec.openmpi >/dev/null; then
    round_of "$ranks processes of Open MPI" mpiexec.openmpi --oversubscribe --bind-to none -n $ranks "$program"
  fi
  # UCX says at the end what messages of failed networks nobody took.
  if command -v mpiexec.mpich >/dev/null; then
    UCX_LOG_LEVEL=error round_of "$ranks processes of MPICH" mpiexec.mpich -n $ranks "$program"
  fi
done
exit $failed
