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

// Whether Windows takes a part of a path for a device, whatever the folder: CON, PRN, AUX, NUL,
// COM1 to COM9, LPT1 to LPT9, in capitals or not, with any ending.
bool is_windows_device(std::string_view part);

// Why Windows does not take a path that is right for that of a file, wherever it leads: a part with
// a ':', but for a drive at the beginning, or a device. nullptr: it does.
const char* windows_path_error(std::string_view path);

// The folder that external files of the NMB file `path` are relative to, "" or with a '/' behind
// it: that of the file itself where `path` is a symbolic link.
std::string external_folder(const std::string& path);

}  // namespace nmb
