// Lists of file names from a file or standard input (--files-from, -0).
#pragma once

#include <string>
#include <vector>

#include "nmb/files.h"
#include "nmb/status.h"

namespace nmb::tools {

// `path` "-": standard input. Names end with a line feed or, if `nul_separated`, with a NUL; empty
// names are ignored. Errors: kNotFound, kIo; kLimit for more than 1 GiB.
Result<std::vector<std::string>> read_file_list(const std::string& path, bool nul_separated);

// Errors: kUsage if an output is the list at `path`, which is in the form of read_file_list(); "":
// there is no list.
Status check_file_list(const OutputSet& outputs, const std::string& path);

}  // namespace nmb::tools
