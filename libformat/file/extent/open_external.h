// Opens an external file if the caller allows it (spec/files.md, section 10.3).
#pragma once

#include <memory>
#include <string>

#include "files/files.h"
#include "model/external_files.h"

namespace nmb {

// Opens an external file. folder: the result of external_folder() for the NMB file. path: must
// satisfy R-FT-1. The name of the source is `folder` followed by `path`. Only regular files are
// opened, even if all paths are allowed, because opening a device may have side effects, and
// reading a FIFO may wait forever. Errors: kUnsupported (R-FT-4) if the file is not allowed;
// kDamaged (R-FT-4) if it does not exist; kIo.
Result<std::unique_ptr<FileSource>> open_external(const std::string& folder,
                                                  const std::string& path, ExternalPaths allowed);

}  // namespace nmb
