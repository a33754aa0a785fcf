// Lists of file names from a file or standard input (--files-from, -0).
#pragma once

#include <string>
#include <vector>

#include "files/files.h"
#include "wire/failure.h"

namespace nmb::tools {

// Reads names from the file `path`, or from standard input if `path` is "-". A name ends with a NUL
// if `nul_separated` is true, otherwise with a line feed. Empty names are ignored. Errors:
// kNotFound; kIo; kLimit if the list is larger than 1 GiB.
Result<std::vector<std::string>> read_list(const std::string& path, bool nul_separated);
// Reads a list of files. Errors: those of read_list(); kUsage if the list has no names.
Result<std::vector<std::string>> read_file_list(const std::string& path, bool nul_separated);

// Checks that no output would replace the list. path: as in read_file_list(), or empty if no list
// is used. what: a name of the list for messages. Errors: kUsage if an output is the list.
Status check_file_list(const OutputSet& outputs, const std::string& path,
                       const std::string& what = "list of files");

}  // namespace nmb::tools
