// Names of files that are being written. A file that other processes must open has a hidden name
// until it is published. The hidden name contains the process ID of its maker, so that a later run
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
  // Remembers the name, unless the process has too many of them.
  explicit TemporaryName(const std::string& path);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  ~TemporaryName() { forget(); }
  // The file is not removed after this call.
  void forget();

 private:
  int place_ = -1;
};

// Removes hidden files and folders beside `path` that processes of this host made for `path`, if
// these processes no longer exist. Files of other hosts and of processes in other containers stay,
// as do files that a process has locked. A process lists each folder only once. Errors are not
// reported, because such files do no harm.
void remove_stale_files(const std::string& path);

}  // namespace nmb
