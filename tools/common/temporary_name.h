// TemporaryName: a temporary file in the same folder as another.
#pragma once

#include <string>
#include <string_view>

#include "nmb/communicator.h"
#include "nmb/status.h"

namespace nmb::tools {

// When the object of rank 0 is destroyed, the file is removed if it exists.
class TemporaryName {
 public:
  // Chooses a hidden name with that ending that no file in the folder of `path` has; the same on
  // all ranks. Errors: kIo.
  static Result<TemporaryName> beside(const std::string& path, std::string_view ending,
                                      Communicator& ranks);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&&) = delete;
  ~TemporaryName();
  const std::string& path() const { return path_; }

 private:
  TemporaryName(std::string path, bool owns) : path_(std::move(path)), owns_(owns) {}
  std::string path_;
  bool owns_;
};

}  // namespace nmb::tools
