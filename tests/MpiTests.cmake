# Tests that the launchers of the MPI libraries start.
find_program(NMB_MPIEXEC_OPENMPI mpiexec.openmpi)
find_program(NMB_MPIEXEC_MPICH mpiexec.mpich mpiexec.hydra)
mark_as_advanced(NMB_MPIEXEC_OPENMPI NMB_MPIEXEC_MPICH)
set(mpiexec_openmpi ${NMB_MPIEXEC_OPENMPI} --oversubscribe --bind-to none)
set(mpiexec_mpich ${NMB_MPIEXEC_MPICH})
# Processes that wait give way: there may be more of them than processors.
set(mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    MPIR_CVAR_POLLS_BEFORE_YIELD=1)
if(NMB_SANITIZE)
  # The MPI libraries keep memory until the process ends.
  list(APPEND mpi_environment ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1)
endif()

# nmb_add_mpi_test(NAME RANKS COMMAND...): a test of that many processes.
function(nmb_add_mpi_test name ranks)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 PROCESSORS ${ranks} ENVIRONMENT "${mpi_environment}")
endfunction()
