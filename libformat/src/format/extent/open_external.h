// Opening an external file, as far as the caller allows it (spec/format.md, section 10.3).
#pragma once

#include <memory>
#include <string>

#include "nmb/external_files.h"
#include "nmb/files.h"

namespace nmb {

// path: keeps R-FT-1; folder: of the NMB file, as external_folder() says. The source is called by
// both. Nothing but a regular file is opened, whatever is allowed: opening a device may do
// something, and reading a FIFO waits. kUnsupported (R-FT-4): not allowed; kDamaged (R-FT-4):
// there is no such file; kIo.
Result<std::unique_ptr<FileSource>> open_external(const std::string& folder,
                                                  const std::string& path, ExternalPaths allowed);

}  // namespace nmb
