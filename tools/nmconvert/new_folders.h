// NewFolders: folders for outputs. A run that fails leaves no empty ones behind.
#pragma once

#include <filesystem>
#include <set>

#include "nmb/status.h"

namespace nmb::tools {

class NewFolders {
 public:
  NewFolders() = default;
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  // Removes the new folders that are empty.
  ~NewFolders();

  // Notes which of a folder and the folders above it do not exist.
  void note(const std::filesystem::path& folder);
  // Makes a folder and the folders above it where they do not exist. Errors: kIo, kNoSpace.
  Status make(const std::filesystem::path& folder);

 private:
  std::set<std::filesystem::path> new_;
};

}  // namespace nmb::tools
