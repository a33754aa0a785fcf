// Rebuilds values that another rank sent (sources/value_message.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "files/pooled_file.h"
#include "reader/file_reader.h"
#include "sources/value_message.h"

namespace nmb {

class SentFile;

struct ReceivedFrom {
  std::shared_ptr<FilePool> files;
  std::shared_ptr<SourcePool> views;
  ReadOptions read;  // for NMB files
  // The NMB files that are already known, by path. Several sources can share these files. For a
  // single source, this pointer may be nullptr.
  std::map<std::string, std::shared_ptr<SentFile>>* known_files = nullptr;
};

// Rebuilds a source from a result of send_values() on another rank of the same program. Errors:
// kDamaged if a file has changed; kIo.
Result<Source> receive_values(std::span<const std::byte> sent, const ReceivedFrom& from);

}  // namespace nmb
