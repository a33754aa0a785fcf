// Sends values to another rank. send_values() encodes how a source is composed, and
// receive_values() rebuilds the source on the other rank. A source may combine any of these:
// files, ranges of files, blocks, and values united from several other sources.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/pooled_file.h"
#include "merge/reading/reopened_source.h"
#include "nmb/reader.h"
#include "values/array_source.h"

namespace nmb {

// Describes the bytes `wanted` of a source for another rank. The description covers only these
// bytes. Returns nullopt if no other rank can rebuild the source because too many values are in a
// temporary file of this rank. Values that must be in the description are read from the source.
// Errors: kIo, kDamaged.
Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted);

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
