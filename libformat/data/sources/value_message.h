// Sends values to another rank in the form of their SourceForm.
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

// Describes the bytes `wanted` of a source for another rank. The description covers only these
// bytes. Returns nullopt if no other rank can rebuild the source, for example because too many
// values are in a temporary file of this rank. Values that must be in the description are read from
// the source. Errors: kIo, kDamaged.
Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted);

struct RebuildWith {
  std::shared_ptr<FilePool> files;
  // Opens values that have a BlockOrigin or a ViewOrigin.
  std::function<std::shared_ptr<const LateValues>(const LateForm& form)> late;
};

// Rebuilds a source from a result of send_values() on another rank of the same program. Errors:
// kDamaged if a file has changed, or if the message is incomplete; kIo.
Result<Source> rebuild_values(std::span<const std::byte> sent, const RebuildWith& with);

// Returns the error for a file that changed between two ranks' reads.
Status file_changed(const std::string& path);

}  // namespace nmb
