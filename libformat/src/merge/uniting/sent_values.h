// Sends values to another rank: describes in bytes how a source is composed, and rebuilds the
// source on the other rank. A source may consist of files and ranges of files, of blocks, and of
// values of several sources in a united dataset.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merge/reading/reopened_source.h"
#include "nmb/reader.h"
#include "values/array_source.h"
#include "wire/pooled_file.h"

namespace nmb {

// Describes the bytes `wanted` of a source for another rank, and nothing about its other bytes.
// nullopt: no other rank can rebuild it, because too many values are in a temporary file of this
// rank. Reads the values that the description contains. Errors: kIo, kDamaged.
Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted);

class SentFile;

struct ReceivedFrom {
  std::shared_ptr<FilePool> files;
  std::shared_ptr<SourcePool> views;
  ReadOptions read;  // for NMB files
  // The known NMB files, by path, so that several sources share them; nullptr: for a single source.
  std::map<std::string, std::shared_ptr<SentFile>>* known_files = nullptr;
};

// Rebuilds a source from the result of send_values() on a rank of the same program. Errors:
// kDamaged if a file has changed; kIo.
Result<Source> receive_values(std::span<const std::byte> sent, const ReceivedFrom& from);

}  // namespace nmb
