// Names of files that are being written. A file that other processes must open has a hidden name
// until it is published. This name has the number of the process that made it, so that a later run
// can remove the files of processes that were killed.
#pragma once

#include <string>

namespace nmb {

// Returns the folder of a file; "." if the path has none.
std::string folder_of(const std::string& path);

// A hidden name that unlink_temporary_files() (files/files.h) removes. Thread-safe.
class TemporaryName {
 public:
  TemporaryName() = default;
  // Remembers the name. If a process has too many of them, the name is not remembered.
  explicit TemporaryName(const std::string& path);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  ~TemporaryName() { forget(); }
  // From here on, the file is not removed.
  void forget();

 private:
  int place_ = -1;
};

// Removes hidden files and folders beside `path` that were made for `path` by processes of this
// host that no longer exist. Files of other hosts, files of processes in other containers, and
// files that a process has locked stay. The folder is listed only once by a process. Does not
// report errors, because such files do no harm.
void remove_leftovers(const std::string& path);

}  // namespace nmb
