// InputBlock: a block of an input, as the reader of the input passes it on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/recode.h"
#include "hdf5_types/netcdf_marks.h"
#include "merge/reading/input_links.h"
#include "merge/reading/sample_counts.h"
#include "model/dataset.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/subset.h"
#include "reader/extent_pieces.h"
#include "sources/value_source.h"
#include "wire/failure.h"
#include "writer/file_writer.h"

namespace nmb {

// The fields of an input's block that stay valid after the visit.
struct InputFields {
  std::string group;      // the block's path in the input
  bool is_group = false;  // the file may have several blocks
  // Number of blocks in the input, or 0 if it is unknown because InputOptions::counts_groups() is
  // false.
  std::uint64_t blocks = 1;
  PackedBlock packed;  // the block to write; its name and samples are not set yet
  // Whether paths in the block (in references, links and named datatypes) already begin with the
  // block's new name.
  bool is_placed = false;
  // The number of samples that an NMB input records for the block.
  std::optional<std::uint64_t> samples;
  // For a block from HDF5, if `made_up_names` is set: the value of netcdf_view()'s argument
  // first_made_up.
  std::optional<std::int64_t> first_made_up;
  // For a block from HDF5: the counts from which `sample_rule` computes the number of samples.
  std::optional<SampleCounts> counted;
  // The whole extent, with fill values in holes; nullptr if the extent is empty.
  Source values;
  std::vector<ExtentPiece> coded;     // the block's coded pieces, if they were requested
  CodedFiles coded_in;                // the files in which the coded pieces are stored
  std::optional<LinkedValues> links;  // locations of the block's values if they are linked or lie
                                      // in an original
  std::uint64_t stored_twice = 0;  // bytes of values that also lie in an original, but are copied
  std::uint64_t load = 0;          // bytes of memory that the block takes while its values are
                                   // moved
  // The lengths of the file's dimensions, if `shared_dimensions` is set; nullptr if blocks share no
  // dimensions.
  std::shared_ptr<const DimensionLengths> lengths{};
  // For PackOptions::subset with names of variables: see SubsetGroup::needed.
  std::shared_ptr<const NeededPaths> needed{};
  // Set if the values already have the requested chunks and filters.
  std::optional<WantedChunks> wanted_chunks{};
  // Reads the block's definitions again.
  std::function<Result<std::shared_ptr<const Dataset>>()> open;
  // The files that the output stores as originals of this block.
  std::vector<InputOriginal> originals{};
};

// A block while it is visited.
struct InputBlock : InputFields {
  explicit InputBlock(const Dataset& definitions, InputFields kept = {})
      : InputFields(std::move(kept)), dataset(definitions) {}

  const Dataset& dataset;  // valid during the visit
};

// Sets those fields of a packed block that follow from its definitions.
inline void count_objects(const Dataset& dataset, PackedBlock* block) {
  block->kind = dataset.layout.kind;
  count_objects(dataset.metadata, block);
  block->records = dataset.records;
}

// Receives a block. Returns false if no further blocks are needed.
using VisitBlock = std::function<Result<bool>(InputBlock&)>;

}  // namespace nmb
