// InputContext: what the readers of all inputs share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/spool_file.h"
#include "merge/reading/input_options.h"
#include "merge/reading/input_originals.h"
#include "merge/reading/value_origin.h"
#include "model/classic.h"
#include "model/dataset.h"
#include "model/metadata.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "table/kept_rows.h"
#include "wire/failure.h"
#include "wire/memory_budget.h"

namespace nmb {

// The maximum number of header bytes that a rank keeps in memory for small inputs. A union may keep
// the same number of bytes for values that it compares. Only a few files are open at a time.
// Therefore a file must be reopened to read bytes that were not kept.
inline constexpr std::uint64_t kHeldBytes = 64 << 20;

// Returns the dataset with these definitions.
inline Dataset dataset_of(ClassicHeader header, Source extent) {
  Dataset dataset;
  dataset.records = header.metadata.record_count(header.layout.records);
  dataset.metadata = std::move(header.metadata);
  dataset.layout = header.layout;
  dataset.extent = std::move(extent);
  return dataset;
}

// Counts of a rank's inputs, which planning collects.
struct InputCounts {
  // Number of whole files that have become blocks: HDF5 inputs, and originals in NMB inputs.
  std::uint64_t whole_files = 0;
  std::uint64_t parted_originals = 0;  // PackReport::parted_originals
  std::uint64_t largest_load = 0;      // bytes of memory of the largest block when it is loaded
  bool has_divided = false;            // whether a block was divided
  bool has_classic = false;            // PackReport::has_classic_blocks
};

// An NMB file whose blocks count as inputs. It stays open from one of these inputs to the next.
struct OpenArchive {
  Source file;
  std::shared_ptr<const FileReader> reader;
  std::shared_ptr<const KeptRows> rows;
  std::shared_ptr<InputOriginals> originals;
};

struct InputContext {
  InputOptions options;
  std::vector<std::string>& warnings;
  // Memory of the previous block's metadata, reused for the next block.
  Metadata spare_metadata = ClassicHeader().metadata;
  std::uint64_t held_budget = memory_budget(kHeldBytes);  // bytes left for headers of inputs
  std::shared_ptr<SpoolFile> moved{};                     // values in which paths were changed
  InputCounts counts{};
  std::optional<OpenArchive> archive{};

  // Returns whether a header is kept in memory until it is written. If so, subtracts its length
  // from held_budget.
  bool holds_header(std::uint64_t length) {
    constexpr std::uint64_t kMostHeader = 8192;
    if (length > std::min(kMostHeader, held_budget)) return false;
    held_budget -= length;
    return true;
  }
  Result<std::shared_ptr<SpoolFile>> moved_values() {
    if (!moved) NMB_ASSIGN(moved, SpoolFile::create());
    return moved;
  }
  // Returns the origin of values for other ranks, or an empty text if there is only one rank.
  std::string origin(std::size_t index, std::uint64_t begin,
                     std::optional<std::string_view> block = {}) const {
    if (!options.origins) return {};
    return text_of_fields(ValueOrigin{static_cast<std::uint32_t>(index), begin, block});
  }
};

}  // namespace nmb
