// Paths of external files (spec/format.md, section 10.3).
#pragma once

#include <string>
#include <string_view>

namespace nmb {

// Returns the error in a path of a file table (R-FT-1), or nullptr.
const char* external_path_error(std::string_view path);

// Returns whether a path begins with a letter and ':', like a drive on Windows.
bool has_drive(std::string_view path);

// Returns whether a valid path may lead out of the folder: it is absolute, here or on Windows, or
// begins with "..".
bool leads_out(std::string_view path);

// Returns whether Windows treats a part of a path as a device in any folder: CON, PRN, AUX, NUL,
// COM1 to COM9, LPT1 to LPT9, in upper or lower case, with any ending.
bool is_windows_device(std::string_view part);

// Returns why Windows does not accept a valid path as that of a file: a device, or a part with ':'
// other than a drive at the beginning. nullptr: Windows accepts it.
const char* windows_path_error(std::string_view path);

// Returns the folder to which external files of the NMB file `path` are relative, "" or with a '/'
// at the end. If `path` is a symbolic link, it is the folder of the target.
std::string external_folder(const std::string& path);

}  // namespace nmb
