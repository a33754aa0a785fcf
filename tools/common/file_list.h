// Lists of file names from a file or from standard input (--files-from, -0).
#pragma once

#include <string>
#include <vector>

#include "nmb/files.h"
#include "nmb/status.h"

namespace nmb::tools {

// `path` "-": standard input. Names end with a line feed or, with `nul_separated`, a NUL; empty
// ones are left out. kNotFound, kIo; kLimit past 1 GiB.
Result<std::vector<std::string>> read_file_list(const std::string& path, bool nul_separated);

// kUsage: an output is the list at `path`, as read_file_list() takes it; "": there is none.
Status check_file_list(const OutputSet& outputs, const std::string& path);

}  // namespace nmb::tools
