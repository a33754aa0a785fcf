// InputReader: reads the blocks of an input of any kind: the whole classic file, the groups of an
// HDF5 file, or the blocks of an NMB file.
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
#include "wire/memory_room.h"
#include "wire/spool_file.h"

namespace nmb {

// How many bytes of blocks of an NMB input are cached.
inline constexpr std::size_t kCachedBytesOfInput = 8 << 20;

// How many bytes of headers a rank keeps for small inputs, and again of values that a union
// compares. Few files are open at a time; what is kept need not be read from a reopened file.
inline constexpr std::uint64_t kHeldBytes = 64 << 20;

// What an NMB input has besides the definitions and values of its blocks.
struct InputExtras {
  std::shared_ptr<const KeptRows> rows;  // nullptr: none
  // How many of the visited blocks have tags, and how many have statistics.
  std::uint64_t tagged = 0, counted = 0;
  std::vector<PackLoss> losses{};  // content that no output can have; without input and path
};

// A block of an input, in a form that can be kept after the visit.
struct KeptBlock {
  std::string group;      // its path in the input
  bool is_group = false;  // its file may have several
  // How many blocks the input has; 0: unknown because `count_groups` is not set.
  std::uint64_t blocks = 1;
  PackedBlock packed;  // without name and samples
  // Whether paths in it (in references, links, named datatypes) already begin with its new name.
  bool is_placed = false;
  // The samples that an NMB file has recorded.
  std::optional<std::uint64_t> samples;
  // For a block from HDF5, if `made_up_names` is set: like that of netcdf_view().
  std::optional<std::int64_t> first_made_up;
  // For a block from HDF5: what `sample_rule` counts.
  std::optional<SampleCounts> counted;
  // All of the extent, with fill values in holes; nullptr: it is empty.
  Source values;
  std::vector<ExtentPiece> coded;     // its coded pieces, if they were requested
  CodedFiles coded_in;                // the files of these pieces
  std::optional<LinkedValues> links;  // its values, if they are to be linked
  std::uint64_t load = 0;             // memory that it takes while its values are moved
  // The lengths of the file's dimensions, with `shared_dimensions`; nullptr: no other block shares
  // them.
  std::shared_ptr<const DimensionLengths> lengths{};
  // Reads its definitions again.
  std::function<Result<std::shared_ptr<const Dataset>>()> open;
};

// A block during the visit.
struct InputBlock : KeptBlock {
  explicit InputBlock(const Dataset& definitions, KeptBlock kept = {})
      : KeptBlock(std::move(kept)), dataset(definitions) {}

  const Dataset& dataset;  // valid during the visit
};

// Sets the fields of a packed block that follow from its definitions.
void count_objects(const Dataset& dataset, PackedBlock* block);

class InputReader {
 public:
  struct Options {
    std::size_t cache_bytes = 0;  // for an NMB input
    // For NMB and HDF5 inputs: files to which none of them may refer; nullptr: none. Must outlive
    // the reader.
    const OutputSet* outputs = nullptr;
    // For NMB inputs: which other files with their values may be opened.
    ExternalPaths external = ExternalPaths::kBeneath;
    std::optional<InputLinks> links{};  // set if values are linked
    bool coded_pieces = false;
    bool origins = false;       // packed.origin is needed
    bool count_groups = false;  // before the first visit; all metadata of an HDF5 file is then in
                                // memory
    bool shared_dimensions = false;  // InputBlock::lengths is needed; requires `count_groups`
    bool made_up_names = false;      // InputBlock::first_made_up is needed; requires `count_groups`
    // Set if InputBlock::counted is needed; a rule for a dimension requires `shared_dimensions`.
    // Must outlive the reader.
    const SampleRule* sample_rule = nullptr;
    bool provenance = false;  // the provenance of NMB inputs is needed
    bool statistics = false;  // the statistics of NMB inputs are needed
    hdf5::OtherFiles other_files = hdf5::OtherFiles::kLeft;
    // Returns how paths of objects change, for the input at an index with a block of this name.
    // nullptr or an empty move: they stay as they are. For the root of an HDF5 input it is called
    // without a block's name.
    std::function<PathMove(std::size_t index, std::string_view block)> move{};
    // Is called before `visit` for all blocks of an input in which some blocks came from HDF5; may
    // be unset. Requires `count_groups`.
    std::function<Status(InputBlock&)> survey{};
    // Is called after `survey`: returns how paths in a block change; an unset map: they do not
    // change. Must not be combined with `move`.
    std::function<PathMap(std::string_view block)> map{};
    std::optional<std::string> only_block{};  // for NMB inputs (PackOptions)
    std::function<Result<bool>(std::string_view block)>
        wants_block{};  // for NMB inputs (PackOptions)
    // The list of inputs, so that the next input is started while an HDF5 input is read; nullptr:
    // inputs are not started early. Must outlive the reader.
    const std::vector<std::string>* ahead = nullptr;
  };
  // Returns false if the other blocks are not needed.
  using Visit = std::function<Result<bool>(InputBlock&)>;

  InputReader(Options options, std::vector<std::string>* warnings)
      : options_(std::move(options)), warnings_(*warnings) {}

  // index: in the list of inputs. Errors: kUnknownKind, kDamaged, kUnsupported, kLimit, kIo;
  // visit's first failure.
  Status read(std::size_t index, Source file, const Visit& visit);

  // Inputs from `end` on are not started early.
  void set_end(std::size_t end) { end_ = end; }

  // Of the input that was read last, if it is an NMB file.
  std::vector<std::string> take_provenance() { return std::exchange(provenance_, {}); }
  InputExtras take_extras() { return std::exchange(extras_, {}); }

 private:
  Status read_classic(std::size_t index, Source file, const Visit& visit);
  Status read_nmb(std::size_t index, Source file, const Visit& visit);
  struct NmbInput {
    std::size_t index;  // in the list of inputs
    Source file;
    std::shared_ptr<const Reader> reader;
  };
  Result<std::shared_ptr<const Reader>> open_nmb(const Source& file);
  Status read_only_block(const NmbInput& in, const Visit& visit);
  Status survey(const NmbInput& in);
  Status read_provenance(const Reader& reader);
  Status read_rows(const Reader& reader);
  Status find_losses(const Reader& reader);
  Status keep_rows(const Block& block, PackedBlock* packed);
  Result<bool> read_entry(const NmbInput& in, const BlockEntry& entry, const Visit& visit);
  Result<Source> body_of(const NmbInput& in, const BlockEntry& entry);
  Status describe(const NmbInput& in, const Block& source, InputBlock* block);
  Status add_stored_values(const NmbInput& in, const BlockEntry& entry, InputBlock* block);
  Status note_lengths(const Reader& reader);
  Status note_lengths(const std::vector<hdf5::GroupBlock>& groups, const std::string& file);
  Status note_made_up(const std::vector<hdf5::GroupBlock>& groups, const std::string& file);
  template <class VisitGroup>
  Status for_each_group(const std::vector<hdf5::GroupBlock>& groups, const std::string& file,
                        VisitGroup visit_group);
  Status read_hdf5(std::size_t index, Source file, const Visit& visit);
  Result<MovedBlock> moved_block(std::size_t index, const Block& block, const Source& values,
                                 const std::string& file);
  Result<MovedBlock> mapped_block(const Dataset& block, const std::string& name,
                                  const std::string& file);
  Result<std::unique_ptr<hdf5::StartedFile>> start_hdf5(std::size_t index, const std::string& path);
  Result<Dataset> decoded(const hdf5::GroupBlock& group, const std::string& file);
  Status map_group(const std::string& file, hdf5::GroupBlock* group, Dataset* dataset);
  Result<bool> read_group(const Source& source, hdf5::GroupBlock group, std::uint64_t blocks,
                          const Visit& visit);
  std::string origin(std::size_t index, std::uint64_t begin,
                     std::optional<std::string_view> block = {}) const;

  Options options_;
  std::vector<std::string>& warnings_;
  Metadata room_ = ClassicHeader().metadata;  // taken from the block before, reused for the next
  // For HDF5 inputs, two of which may be read at a time.
  std::shared_ptr<const SpoolFile> spools_[2];
  std::shared_ptr<SpoolFile> moved_;            // values that contain paths
  std::unique_ptr<hdf5::StartedFile> started_;  // the next input, if it was started
  std::size_t started_index_ = 0;
  std::size_t end_ = ~std::size_t{0};
  std::uint64_t held_room_ = memory_room(kHeldBytes);  // of headers of inputs
  bool is_placed_ = false;                             // the one that is read
  bool is_surveyed_ = false;                           // by Options::survey
  MadeUpNumbers::First made_up_;                       // of an HDF5 input
  std::optional<FileDimensionsReader> dimensions_;     // of an NMB input
  std::string placed_below_;                           // where the groups of an HDF5 input will be
  std::shared_ptr<const DimensionLengths> lengths_;    // of that
  // Of Options::only_block: a group comes with the blocks below it and keeps its path, a classic
  // dataset comes alone and becomes the root. A group without content of its own is stored as an
  // empty classic dataset: the blocks below it alone tell it from one.
  bool only_is_group_ = false;
  std::vector<std::string> provenance_;
  InputExtras extras_;
};

}  // namespace nmb
