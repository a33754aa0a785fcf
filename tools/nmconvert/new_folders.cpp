#include "nmconvert/new_folders.h"

#include <system_error>

namespace nmb::tools {

namespace fs = std::filesystem;

NewFolders::~NewFolders() {
  // A folder comes after the folders above it in the order of paths.
  std::error_code none;
  for (auto folder = new_.rbegin(); folder != new_.rend(); ++folder) fs::remove(*folder, none);
}

void NewFolders::note(const fs::path& folder) {
  std::error_code none;
  for (fs::path path = folder; !path.empty() && !fs::exists(path, none); path = path.parent_path())
    if (path.has_filename() && !new_.insert(path).second) return;
}

Status NewFolders::make(const fs::path& folder) {
  note(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Status(error == std::errc::no_space_on_device ? Code::kNoSpace : Code::kIo,
                folder.string(), kNoOffset, "", "cannot make the folder: " + error.message());
}

}  // namespace nmb::tools
