// InputReader: the blocks of an input, whatever its kind: all of a classic file, the groups of an
// HDF5 file, the blocks of an NMB file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/moved_paths.h"
#include "hdf5/client/hdf5_file.h"
#include "merge/reading/input_links.h"
#include "merge/reading/sample_counts.h"
#include "nmb/communicator.h"
#include "nmb/dataset.h"
#include "nmb/files.h"
#include "nmb/merge.h"
#include "nmb/netcdf_view.h"
#include "nmb/reader.h"
#include "nmb/writer.h"
#include "reader/extent_pieces.h"
#include "wire/spool_file.h"

namespace nmb {

// Blocks that are kept of an NMB input, in bytes.
inline constexpr std::size_t kCachedBytesOfInput = 8 << 20;

// What is kept of small inputs of a rank, so that files of which few are open at a time need not be
// opened once more: of their headers, and of values that a union compares, in bytes each.
inline constexpr std::uint64_t kHeldBytes = 64 << 20;

// What an NMB input has beside its blocks' definitions and values.
struct InputExtras {
  std::shared_ptr<const KeptRows> rows;  // nullptr: none
  // Of the blocks that were visited: how many have tags, how many statistics.
  std::uint64_t tagged = 0, counted = 0;
  std::vector<PackLoss> losses{};  // what no output has; without input and path
};

// A block of an input, as it may be kept.
struct KeptBlock {
  std::string group;      // its path in the input
  bool is_group = false;  // of a file that may have several
  // How many blocks the input has; 0: not known, with `count_groups` unset.
  std::uint64_t blocks = 1;
  PackedBlock packed;  // without name and samples
  // Whether paths in it (of references, links, named datatypes) are those of its new name.
  bool is_placed = false;
  // Those that an NMB file has recorded.
  std::optional<std::uint64_t> samples;
  // With `made_up_names`, of a block from HDF5: as for netcdf_view().
  std::optional<std::int64_t> first_made_up;
  // What `sample_rule` counts of a block from HDF5.
  std::optional<SampleCounts> counted;
  // All of the extent, holes as fill values; nullptr where it is empty.
  std::shared_ptr<const ByteSource> values;
  std::vector<ExtentPiece> coded;     // its coded pieces, if they were asked for
  CodedFiles coded_in;                // where they lie
  std::optional<LinkedValues> links;  // its values, if they are to be linked
  std::uint64_t load = 0;             // memory that it takes while its values are moved
  // Of the file's dimensions, with `shared_dimensions`; nullptr: no other block shares them.
  std::shared_ptr<const DimensionLengths> lengths{};
  // Its definitions, again.
  std::function<Result<std::shared_ptr<const Dataset>>()> open;
};

// The same while it is visited.
struct InputBlock : KeptBlock {
  explicit InputBlock(const Dataset& definitions, KeptBlock kept = {})
      : KeptBlock(std::move(kept)), dataset(definitions) {}

  const Dataset& dataset;  // valid during the visit
};

class InputReader {
 public:
  struct Options {
    std::size_t cache_bytes = 0;  // of an NMB input
    // Of NMB and HDF5 inputs: files that none of them may refer to; nullptr: none. Must outlive
    // this.
    const OutputSet* outputs = nullptr;
    // Of NMB inputs: which other files are opened that hold values of them.
    ExternalPaths external = ExternalPaths::kBeneath;
    std::optional<InputLinks> links{};  // where values are linked
    bool coded_pieces = false;
    bool origins = false;       // packed.origin is wanted
    bool count_groups = false;  // ahead of the first visit: an HDF5 file's metadata is then whole
                                // in memory
    bool shared_dimensions = false;  // InputBlock::lengths is wanted; asks for `count_groups`
    bool made_up_names = false;      // InputBlock::first_made_up is wanted; asks for `count_groups`
    // InputBlock::counted is wanted; of a dimension that needs `shared_dimensions`. Must outlive
    // this.
    const SampleRule* sample_rule = nullptr;
    bool provenance = false;  // that of NMB inputs is wanted
    bool statistics = false;  // likewise
    hdf5::OtherFiles other_files = hdf5::OtherFiles::kLeft;
    // How paths of an input's objects change: of the input of an index, with a block of this name.
    // nullptr, none: they stay as they are. From the root of an HDF5 input, of which no block's
    // name is asked for.
    std::function<PathMove(std::size_t index, std::string_view block)> move{};
    // Visits all blocks of an input in which some came from HDF5 ahead of `visit`; unset: nobody
    // asks. Needs `count_groups`.
    std::function<Status(InputBlock&)> survey{};
    // Behind `survey`: how paths of a block's objects change; an unset map: not at all. Only
    // without `move`.
    std::function<PathMap(std::string_view block)> map{};
    std::optional<std::string> only_block{};  // of NMB inputs (PackOptions)
    // The list of inputs, where the one behind an HDF5 input is begun while that one is read;
    // nullptr: none is. Must outlive this.
    const std::vector<std::string>* ahead = nullptr;
  };
  // false: the other blocks are not wanted.
  using Visit = std::function<Result<bool>(InputBlock&)>;

  InputReader(Options options, std::vector<std::string>* warnings)
      : options_(std::move(options)), warnings_(*warnings) {}

  // index: in the list of inputs. kUnknownKind, kDamaged, kUnsupported, kLimit, kIo; visit's first
  // failure.
  Status read(std::size_t index, std::shared_ptr<const ByteSource> file, const Visit& visit);

  // Options::ahead counts below `end`.
  void set_end(std::size_t end) { end_ = end; }

  // Of the input that was read last, an NMB file.
  std::vector<std::string> take_provenance() { return std::exchange(provenance_, {}); }
  InputExtras take_extras() { return std::exchange(extras_, {}); }

 private:
  Status read_classic(std::size_t index, std::shared_ptr<const ByteSource> file,
                      const Visit& visit);
  Status read_nmb(std::size_t index, std::shared_ptr<const ByteSource> file, const Visit& visit);
  Status read_provenance(const Reader& reader);
  Status read_rows(const Reader& reader);
  Status find_losses(const Reader& reader);
  Status keep_rows(const Block& block, PackedBlock* packed);
  Result<bool> read_entry(std::size_t index, const std::shared_ptr<const ByteSource>& file,
                          const std::shared_ptr<const Reader>& reader, const BlockEntry& entry,
                          const Visit& visit);
  Status note_lengths(const Reader& reader);
  Status note_lengths(const std::vector<hdf5::GroupBlock>& groups, const std::string& file);
  Status note_made_up(const std::vector<hdf5::GroupBlock>& groups, const std::string& file);
  template <class VisitGroup>
  Status for_each_group(const std::vector<hdf5::GroupBlock>& groups, const std::string& file,
                        VisitGroup visit_group);
  // A group's path where its paths say already where it will be.
  std::string place_of(const std::string& group) const;
  Status read_hdf5(std::size_t index, std::shared_ptr<const ByteSource> file, const Visit& visit);
  Result<MovedBlock> moved_block(std::size_t index, const Block& block,
                                 const std::shared_ptr<const ByteSource>& values,
                                 const std::string& file);
  Result<MovedBlock> mapped_block(const Dataset& block, const std::string& name,
                                  const std::string& file);
  Result<std::unique_ptr<hdf5::StartedFile>> start_hdf5(std::size_t index, const std::string& path);
  Result<bool> read_group(const std::shared_ptr<const ByteSource>& source, hdf5::GroupBlock group,
                          std::uint64_t blocks, const Visit& visit);
  std::string origin(std::size_t index, std::uint64_t begin,
                     std::optional<std::string_view> block = {}) const;

  Options options_;
  std::vector<std::string>& warnings_;
  Metadata room_ = ClassicHeader().metadata;  // of the block before, for the next
  // Of HDF5 inputs, of which two may be read at a time.
  std::shared_ptr<const SpoolFile> spools_[2];
  std::shared_ptr<SpoolFile> moved_;            // values that lead to paths
  std::unique_ptr<hdf5::StartedFile> started_;  // the next input, if it was begun
  std::size_t started_index_ = 0;
  std::size_t end_ = ~std::size_t{0};
  std::uint64_t held_room_ = kHeldBytes;             // of headers of inputs
  bool is_placed_ = false;                           // the one that is read
  bool is_surveyed_ = false;                         // by Options::survey
  MadeUpNumbers::First made_up_;                     // of an HDF5 input
  std::optional<FileDimensionsReader> dimensions_;   // of an NMB input
  std::string placed_below_;                         // where the groups of an HDF5 input will be
  std::shared_ptr<const DimensionLengths> lengths_;  // of that
  // Of Options::only_block: a group comes with the blocks below it and keeps its path, a classic
  // dataset comes alone and becomes the root. A group without content of its own is stored as an
  // empty classic dataset: the blocks below it alone tell it from one.
  bool only_is_group_ = false;
  std::vector<std::string> provenance_;
  InputExtras extras_;
};

}  // namespace nmb
