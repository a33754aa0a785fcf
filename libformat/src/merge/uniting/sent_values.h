// Values for another rank: what a source is made of, as bytes, and the source that another rank
// makes of them: files and ranges of them, blocks, and how values of several lie in what is united.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merge/reading/reopened_source.h"
#include "nmb/bytes.h"
#include "nmb/reader.h"
#include "wire/pooled_file.h"

namespace nmb {

// How another rank makes the bytes `wanted` of a source; of what lies elsewhere it says nothing.
// nullopt: no other rank can, since too many values wait in a temporary file of this one. Those
// that it sends along are read. kIo, kDamaged.
Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted);

class SentFile;

struct ReceivedFrom {
  std::shared_ptr<FilePool> files;
  std::shared_ptr<SourcePool> views;
  ReadOptions read;  // of NMB files
  // Where several sources are of the same NMB files, those that are known, by their paths; nullptr:
  // of one source alone.
  std::map<std::string, std::shared_ptr<SentFile>>* known_files = nullptr;
};

// What send_values() wrote, by a rank of the same program. kDamaged: a file is no longer what it
// was; kIo.
Result<std::shared_ptr<const ByteSource>> receive_values(std::span<const std::byte> sent,
                                                         const ReceivedFrom& from);

}  // namespace nmb
