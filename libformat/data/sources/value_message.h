// Sends values to another rank as their SourceForm.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/pooled_file.h"
#include "sources/value_source.h"

namespace nmb {

// Returns a description from which another rank can rebuild the bytes `wanted` of a source. Returns
// nullopt if no other rank can, for example because too many values are in a temporary file of this
// rank. Reads from the source the values that must be in the description. Errors: kIo, kDamaged.
Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted);

struct RebuildWith {
  std::shared_ptr<FilePool> files;
  // Opens values that have a StoredOrigin or a ViewOrigin.
  std::function<std::shared_ptr<const LateValues>(const LateForm& form)> late;
};

// Rebuilds a source from the result of send_values() on another rank of the same program. Errors:
// kDamaged if a file has changed or the message is incomplete; kIo.
Result<Source> rebuild_values(std::span<const std::byte> sent, const RebuildWith& with);

// Returns the error for a file that changed between the reads of two ranks.
Status file_changed(const std::string& path);

}  // namespace nmb
