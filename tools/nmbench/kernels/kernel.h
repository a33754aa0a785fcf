// What each kernel gets, and the list of all.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "backend.h"
#include "job.h"
#include "meter.h"

namespace nmb::bench {

struct Run {
  Job& job;
  Backend& backend;
  int rank = 0, size = 1;
  std::string path;  // with file_per_process: of this process
  FileOptions options;
  Meter meter{};
  nlohmann::json row = nlohmann::json::object();  // results besides the phases

  void barrier() const { MPI_Barrier(MPI_COMM_WORLD); }
  // Whose part of a shared file this process compares.
  int next_rank() const { return options.file_per_process ? rank : (rank + 1) % size; }
  // Throws unless the back end can write, or read, with these processes.
  void check_shares_file() const;
  void check_shares_reading() const;
};

// Throws if what was read back is not what was written.
void check_same(bool same, const std::string& what);

void run_create(Run& run);
void run_open_one(Run& run);
void run_list(Run& run);
void run_read_metadata(Run& run);
void run_epoch(Run& run);
void run_write(Run& run);
void run_read(Run& run);
void run_overwrite(Run& run);
void run_append(Run& run);
void run_step_arrays(Run& run);
void run_same_values(Run& run);
void run_small_arrays(Run& run);
void run_commits(Run& run);
void run_decomposed(Run& run);
inline void run_by_threads(Run& run) { run.backend.run_by_threads(run); }

// The small arrays of run_small_arrays().
std::vector<ArrayShape> small_arrays(std::uint64_t bases, std::uint64_t zones);
std::vector<std::byte> values_of_small_array(const ArrayShape& shape, std::size_t number);

}  // namespace nmb::bench
