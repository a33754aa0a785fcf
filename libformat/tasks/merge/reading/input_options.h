// InputOptions: the parts of inputs that a merge needs, and how it reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "convert/moved_paths.h"
#include "merge/reading/block_chooser.h"
#include "merge/reading/input_block.h"
#include "merge/reading/input_links.h"
#include "merge/reporting/merge.h"
#include "wire/failure.h"

namespace nmb {

// The size in bytes of the cache for the blocks of an NMB input.
inline constexpr std::size_t kCachedBytesOfInput = 8 << 20;

// How inputs are read.
struct InputOptions {
  const PackOptions& merge;                          // must outlive the reader
  std::size_t cache_bytes = 0;                       // cache size for an NMB input
  std::optional<InputLinks> links{};                 // set if values are linked
  bool originals = false;                            // originals are stored
  RecordedDigests digests = RecordedDigests::kNone;  // PackedBlock::new_digests of classic inputs
  // Whether originals of NMB inputs count as losses if the output does not store them.
  bool needs_originals = true;
  bool lists_undecoded = false;  // values from HDF5 that were not decoded are losses
  // Whether the chunks of NMB inputs are decoded to check them. The chunks of HDF5 inputs are
  // always checked.
  bool checks_chunks = false;
  bool coded_pieces = false;
  bool origins = false;            // InputFields::packed.origin is needed
  bool shared_dimensions = false;  // InputBlock::lengths is needed
  bool made_up_names = false;      // InputBlock::first_made_up is needed
  // The rule for InputBlock::counted; nullptr if that field is not needed. A rule for a dimension
  // requires `shared_dimensions`. Must outlive the reader.
  const SampleRule* sample_rule = nullptr;
  // Returns how the paths of objects change. The arguments are the position of the input and the
  // name of a block; for the root of an HDF5 input the name is empty. If the function is unset or
  // returns an empty move, the paths stay unchanged.
  std::function<PathMove(std::size_t index, std::string_view block)> move{};
  // Called for all blocks of an input before the first block is visited, if some of the blocks
  // came from HDF5. May be unset.
  std::function<Status(InputBlock&)> survey{};
  // Returns how the paths in a block change, or an unset map if they do not change. Called after
  // `survey`. Must not be combined with `move`.
  std::function<PathMap(std::string_view block)> map{};
  // Chooses the blocks that are visited (Pack::choice); nullptr if all blocks are visited.
  // Must not be combined with `survey`. Must outlive the reader.
  BlockChooser* chooser = nullptr;
  bool reads_ahead = false;  // nmb-hdf5 starts for the next input while an HDF5 input is read

  // Returns whether all groups of an HDF5 file are read before the first group is visited. All
  // metadata of the file are then in memory.
  bool counts_groups() const {
    return shared_dimensions || made_up_names || survey || chooser || selects_variables();
  }
  // Returns whether InputBlock::needed is needed.
  bool selects_variables() const { return merge.subset && !merge.subset->variables.empty(); }
};

}  // namespace nmb
