// extract: writes a block of an NMB file, or a classic file, as a classic file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "nmb/output_file.h"
#include "nmb/reader.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

struct ExtractOptions {
  // The kind to write. Empty: the source's own, byte for byte as it was packed; numrecs is brought
  // up to date if records were added.
  std::optional<Kind> kind;
  bool overwrite = false;
  bool sync = true;
  bool check = true;  // read the result back and compare before it is published
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes
  OutputLayer layer;  // around the file, for tests
};

// Publishes `path` or leaves what was there untouched. kConflict: the kind asked for cannot hold
// the block, naming the object; kDamaged: a sum of the source is wrong; kExists; kIo; kNoSpace.
NMB_EXPORT Status extract_block(const Reader& reader, const BlockEntry& entry,
                                const std::string& path, const ExtractOptions& options = {});

// A dataset as a classic file of `kind`, canonical.
NMB_EXPORT Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                                const ExtractOptions& options = {});

}  // namespace nmb
