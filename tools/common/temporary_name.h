// TemporaryName: a file that lies beside another for a while.
#pragma once

#include <string>
#include <string_view>

#include "nmb/communicator.h"
#include "nmb/status.h"

namespace nmb::tools {

// The file, if there is one, goes away with the object of rank 0.
class TemporaryName {
 public:
  // A hidden name in the folder of `path` that no file has, with that ending; the same on all
  // ranks. kIo.
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
