// MpiIo: how the writer's file is made, read and written by MPI-IO, by which the drivers and hints
// of an MPI library apply to it. Offered by a network whose ranks are of MPI.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nmb/files.h"
#include "nmb/status.h"

namespace nmb {

class MpiIo {
 public:
  // Keys of an MPI_Info and their values.
  using Hints = std::vector<std::pair<std::string, std::string>>;

  virtual ~MpiIo() = default;
  // Makes an empty file, so that hints about where a new file lies apply. kExists; kUsage: hints or
  // a path that MPI does not take.
  virtual Status create(const std::string& path, const Hints& hints) const = 0;
  // `file`, which lies at `path`, its bytes by MPI-IO and this rank alone; name, lock and what
  // publishing means stay with `file`. threads: whether several will use it. Errors as create().
  virtual Result<std::unique_ptr<OutputFile>> open(std::unique_ptr<OutputFile> file,
                                                   const std::string& path, const Hints& hints,
                                                   bool threads) const = 0;
};

}  // namespace nmb
