// Checks paths of external files (spec/files.md, section 10.3).
#pragma once

#include <string>
#include <string_view>

namespace nmb {

// Returns a text that says what is wrong with a path in a file table (R-FT-1). Returns nullptr if
// the path is right.
const char* external_path_error(std::string_view path);

// Returns whether a path begins with a letter and ':'. Windows would interpret these characters as
// a drive.
bool has_drive(std::string_view path);

// Returns whether a valid path may lead out of the NMB file's folder. A path may lead out if it
// begins with "..", or if it is absolute on this system or on Windows.
bool leads_out(std::string_view path);

// Returns whether `part`, which is a part of a path, is the name of a device on Windows: CON, PRN,
// AUX, NUL, COM1 to COM9, or LPT1 to LPT9. Such a name may be in upper or lower case, and may have
// any extension. Windows uses the device in every folder.
bool is_windows_device(std::string_view part);

// Returns a text that says why Windows does not accept a valid path as the path of a file. Returns
// nullptr if Windows accepts the path. Windows does not accept the name of a device, or a ':' that
// is not part of a drive at the beginning.
const char* windows_path_error(std::string_view path);

// Returns the folder to which the paths of external files are relative. `path` is the path of the
// NMB file. If `path` is a symbolic link, the result is the folder of the link's target. The result
// is "" or ends with '/'.
std::string external_folder(const std::string& path);

}  // namespace nmb
