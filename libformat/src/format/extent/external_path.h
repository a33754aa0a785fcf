// Checks paths of external files (spec/format.md, section 10.3).
#pragma once

#include <string>
#include <string_view>

namespace nmb {

// Returns what is wrong with a path in a file table (R-FT-1), or nullptr if it is right.
const char* external_path_error(std::string_view path);

// Returns whether a path begins with a letter and ':', like a drive on Windows.
bool has_drive(std::string_view path);

// Returns whether a valid path may lead out of the NMB file's folder. Such a path is absolute, here
// or on Windows, or begins with "..".
bool leads_out(std::string_view path);

// Returns whether Windows treats a part of a path as a device in any folder: CON, PRN, AUX, NUL,
// COM1 to COM9, LPT1 to LPT9, in upper or lower case, with any ending.
bool is_windows_device(std::string_view part);

// Returns why Windows does not accept a valid path as the path of a file, or nullptr if Windows
// accepts it. The reason is the name of a device, or a ':' that is not part of a drive at the
// beginning.
const char* windows_path_error(std::string_view path);

// Returns the folder to which the paths of external files are relative. `path` is the path of the
// NMB file. If `path` is a symbolic link, the result is the folder of the link's target. The result
// is "" or ends with '/'.
std::string external_folder(const std::string& path);

}  // namespace nmb
