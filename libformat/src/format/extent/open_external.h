// Opens an external file if the caller allows it (spec/format.md, section 10.3).
#pragma once

#include <memory>
#include <string>

#include "nmb/external_files.h"
#include "nmb/files.h"

namespace nmb {

// path: satisfies R-FT-1. folder: of the NMB file, from external_folder(). The name of the source
// consists of both. Only regular files are opened, whatever is allowed: opening a device may have
// effects, and reading a FIFO waits. Errors: kUnsupported (R-FT-4): not allowed; kDamaged (R-FT-4):
// there is no such file; kIo.
Result<std::unique_ptr<FileSource>> open_external(const std::string& folder,
                                                  const std::string& path, ExternalPaths allowed);

}  // namespace nmb
