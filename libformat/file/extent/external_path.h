// Checks paths of external files (spec/files.md, section 10.3).
#pragma once

#include <string>
#include <string_view>

namespace nmb {

// Returns what is wrong with a path in a file table (R-FT-1), or nullptr if nothing is.
const char* external_path_error(std::string_view path);

// Returns whether a path begins with a letter and ':', which Windows would take for a drive.
bool has_drive(std::string_view path);

// Returns whether a valid path may lead out of the NMB file's folder. This is so if it begins with
// "..", or is absolute on this system or on Windows.
bool leads_out(std::string_view path);

// Returns whether `part` of a path is the name of a device on Windows: CON, PRN, AUX, NUL, COM1 to
// COM9, or LPT1 to LPT9, in upper or lower case and with any extension. Windows finds the device in
// every folder.
bool is_windows_device(std::string_view part);

// Returns why Windows does not accept a valid path as the path of a file, or nullptr if Windows
// accepts it. Windows refuses the name of a device, and a ':' that is not part of a drive at the
// beginning.
const char* windows_path_error(std::string_view path);

// Returns the folder to which the paths of external files are relative: the folder of the NMB file
// at `path` or, if `path` is a symbolic link, of the link's target. The result is "" or ends with
// '/'.
std::string external_folder(const std::string& path);

}  // namespace nmb
