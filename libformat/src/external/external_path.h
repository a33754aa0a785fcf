// Paths of external files (spec/format.md, section 10.3).
#pragma once

#include <string>
#include <string_view>

namespace nmb {

// What is wrong with a path in a file table (R-FT-1); nullptr: nothing.
const char* external_path_error(std::string_view path);

// Whether a path begins with a letter and ':', as those do on Windows that name a drive.
bool has_drive(std::string_view path);

// Whether a path that is right may lead out of the folder: it is absolute, here or on Windows, or
// begins with "..".
bool leads_out(std::string_view path);

// The folder that external files of the NMB file `path` are relative to, "" or with a '/' behind
// it: that of the file itself where `path` is a symbolic link.
std::string external_folder(const std::string& path);

}  // namespace nmb
