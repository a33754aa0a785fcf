// MpiIo: creates, reads and writes the writer's file by MPI-IO, so that the drivers and hints of an
// MPI library apply to it. Offered by a network of MPI ranks.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nmb/output_file.h"
#include "nmb/status.h"

namespace nmb {

class MpiIo {
 public:
  // Keys and values of an MPI_Info.
  using Hints = std::vector<std::pair<std::string, std::string>>;

  virtual ~MpiIo() = default;
  // Makes an empty file, so that hints about placement apply. Errors: kExists; kUsage: hints or a
  // path that MPI does not accept.
  virtual Status create(const std::string& path, const Hints& hints) const = 0;
  // Opens `file`, which is at `path`, for access by MPI-IO from this rank only; `file` still
  // provides name, lock and publishing. threads: whether several threads will use it. Errors: see
  // create().
  virtual Result<std::unique_ptr<OutputFile>> open(std::unique_ptr<OutputFile> file,
                                                   const std::string& path, const Hints& hints,
                                                   bool threads) const = 0;
};

}  // namespace nmb
