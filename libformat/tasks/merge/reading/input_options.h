// InputOptions: the parts of inputs that a merge needs, and how it reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/hdf5_file.h"
#include "convert/moved_paths.h"
#include "merge/reading/block_chooser.h"
#include "merge/reading/input_block.h"
#include "merge/reading/input_links.h"
#include "nmb/files.h"
#include "nmb/merge.h"
#include "nmb/status.h"

namespace nmb {

// The size in bytes of the cache for the blocks of an NMB input.
inline constexpr std::size_t kCachedBytesOfInput = 8 << 20;

// How inputs are read.
struct InputOptions {
  std::size_t cache_bytes = 0;  // cache size for an NMB input
  unsigned threads = 1;         // number of threads that decode chunks to check them
  // The output files. An NMB or HDF5 input must not refer to an output file. nullptr turns this
  // check off. Must outlive the reader.
  const OutputSet* outputs = nullptr;
  // Which files outside the NMB inputs may be opened to read linked values.
  ExternalPaths external = ExternalPaths::kBeneath;
  std::optional<InputLinks> links{};                 // set if values are linked
  bool originals = false;                            // originals are stored
  RecordedDigests digests = RecordedDigests::kNone;  // PackedBlock::new_digests of classic inputs
  // Whether originals of NMB inputs count as losses if the output does not store them.
  bool needs_originals = true;
  bool lists_undecoded = false;            // values from HDF5 that were not decoded are losses
  std::set<std::string> lost_originals{};  // of an NMB input: the names of their blocks
  // Whether the chunks of NMB inputs are decoded to check them. Those of HDF5 inputs always are.
  bool checks_chunks = false;
  std::uint32_t piece_size = 0;  // piece size of the output; used if originals are stored
  bool coded_pieces = false;
  bool origins = false;            // KeptBlock::packed.origin is needed
  bool shared_dimensions = false;  // InputBlock::lengths is needed
  bool made_up_names = false;      // InputBlock::first_made_up is needed
  // The rule for InputBlock::counted; nullptr if that field is not needed. A rule for a dimension
  // requires `shared_dimensions`. Must outlive the reader.
  const SampleRule* sample_rule = nullptr;
  bool provenance = false;  // the provenance of NMB inputs is needed
  bool statistics = false;  // the statistics of NMB inputs are needed
  hdf5::OtherFiles other_files = hdf5::OtherFiles::kLeft;
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
  // For NMB inputs: whether hard links and references may lead to objects that the input does not
  // have. They are left out, and count as losses.
  bool may_dangle = false;
  std::optional<std::string> only_block{};  // for NMB inputs: see PackMode::only_block
  std::function<Result<bool>(std::string_view block)>
      wants_block{};  // for NMB inputs: see PackMode::wants_block
  // Chooses the blocks that are visited (PackMode::choice); nullptr if all blocks are visited.
  // Must not be combined with `survey`. Must outlive the reader.
  BlockChooser* chooser = nullptr;
  // The list of all inputs. If it is set, nmb-hdf5 already starts for the next input of this list
  // while an HDF5 input is read. Must outlive the reader.
  const std::vector<std::string>* ahead = nullptr;

  // Returns whether all groups of an HDF5 file are read before the first group is visited. All
  // metadata of the file are then in memory.
  bool counts_groups() const { return shared_dimensions || made_up_names || survey || chooser; }
};

}  // namespace nmb
