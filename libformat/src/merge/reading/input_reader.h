// InputReader: reads the blocks of an input of any kind. A classic file is one block. In an HDF5
// file each group is a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/moved_paths.h"
#include "convert/recode.h"
#include "hdf5/client/hdf5_file.h"
#include "merge/reading/block_chooser.h"
#include "merge/reading/block_selection.h"
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

// The size in bytes of the cache for the blocks of an NMB input.
inline constexpr std::size_t kCachedBytesOfInput = 8 << 20;

// The maximum number of header bytes that a rank keeps in memory for small inputs. A union may keep
// the same number of bytes for values that it compares. Only a few files are open at a time.
// Therefore a file must be reopened to read bytes that were not kept.
inline constexpr std::uint64_t kHeldBytes = 64 << 20;

// The contents of an NMB input, without the definitions and values of its blocks.
struct InputExtras {
  std::shared_ptr<const KeptRows> rows;  // rows of tags and statistics; nullptr if the input has
                                         // none
  // tagged: number of visited blocks that have tags. counted: number of visited blocks that have
  // statistics.
  std::uint64_t tagged = 0, counted = 0;
  std::vector<PackLoss> losses{};  // content that no output can keep; the fields `input` and `path`
                                   // are not set
};

// The fields of an input's block that stay valid after the visit.
struct KeptBlock {
  std::string group;      // the block's path in the input
  bool is_group = false;  // the file may have several blocks
  // Number of blocks in the input, or 0 if it is unknown because `count_groups` is not set.
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
  // Set if the values already have the requested chunks and filters.
  std::optional<WantedChunks> wanted_chunks{};
  // Reads the block's definitions again.
  std::function<Result<std::shared_ptr<const Dataset>>()> open;
  // The files that the output stores as originals of this block.
  std::vector<InputOriginal> originals{};
};

// A block while it is visited.
struct InputBlock : KeptBlock {
  explicit InputBlock(const Dataset& definitions, KeptBlock kept = {})
      : KeptBlock(std::move(kept)), dataset(definitions) {}

  const Dataset& dataset;  // valid during the visit
};

// Sets those fields of a packed block that follow from its definitions.
void count_objects(const Dataset& dataset, PackedBlock* block);

class InputReader {
 public:
  struct Options {
    std::size_t cache_bytes = 0;  // cache size for an NMB input
    // The output files. An NMB or HDF5 input must not refer to an output file. nullptr turns this
    // check off. Must outlive the reader.
    const OutputSet* outputs = nullptr;
    // Which files outside the NMB inputs may be opened to read linked values.
    ExternalPaths external = ExternalPaths::kBeneath;
    std::optional<InputLinks> links{};                 // set if values are linked
    bool originals = false;                            // originals are stored
    RecordedDigests digests = RecordedDigests::kNone;  // PackedBlock::new_digests of classic inputs
    // Which originals of NMB inputs count as losses if the output does not store them.
    enum class LostOriginals : std::uint8_t { kAll, kWithoutBlock, kNone };
    LostOriginals lost_originals = LostOriginals::kAll;
    std::uint32_t piece_size = 0;  // piece size of the output; used if originals are stored
    bool coded_pieces = false;
    bool origins = false;       // KeptBlock::packed.origin is needed
    bool count_groups = false;  // groups are counted before the first visit; all metadata of an
                                // HDF5 file are then in memory
    bool shared_dimensions = false;  // InputBlock::lengths is needed; requires `count_groups`
    bool made_up_names = false;      // InputBlock::first_made_up is needed; requires `count_groups`
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
    // came from HDF5. May be unset. Requires `count_groups`.
    std::function<Status(InputBlock&)> survey{};
    // Returns how the paths in a block change, or an unset map if they do not change. Called after
    // `survey`. Must not be combined with `move`.
    std::function<PathMap(std::string_view block)> map{};
    std::optional<std::string> only_block{};  // for NMB inputs: see PackOptions::only_block
    std::function<Result<bool>(std::string_view block)>
        wants_block{};  // for NMB inputs: see PackOptions::wants_block
    // Chooses the blocks that are visited (PackOptions::choice); nullptr if all blocks are visited.
    // Must not be combined with `survey`. Must outlive the reader.
    BlockChooser* chooser = nullptr;
    // The list of inputs. If the list is set, the next input is started while an HDF5 input is
    // read. Must outlive the reader.
    const std::vector<std::string>* ahead = nullptr;
  };
  // A function that receives a block. Visit functions return false if no further blocks are needed.
  using Visit = std::function<Result<bool>(InputBlock&)>;

  InputReader(Options options, std::vector<std::string>* warnings)
      : options_(std::move(options)), warnings_(*warnings) {}

  // Passes the blocks of an input to `visit`. index: position of the input in the list of inputs.
  // Errors: kUnknownKind, kDamaged, kUnsupported, kLimit and kIo; the first error of `visit`.
  Status read(std::size_t index, Source file, const Visit& visit);
  // Passes the blocks of an input to Options::chooser and visits none of them. Errors: as read().
  Status choose(std::size_t index, Source file);

  // Limits early starts: an input is started early only if its position in the list is less than
  // `end`.
  void set_end(std::size_t end) { end_ = end; }

  // Returns how many whole files have become blocks. Whole files are HDF5 inputs and the originals
  // in NMB inputs.
  std::uint64_t whole_files() const { return whole_files_; }
  // Returns PackReport::parted_originals.
  std::uint64_t parted_originals() const { return parted_originals_; }

  // Returns the provenance of the input that was read last, if it is an NMB file.
  std::vector<std::string> take_provenance() { return std::exchange(provenance_, {}); }
  InputExtras take_extras() { return std::exchange(extras_, {}); }

 private:
  Status read_classic(std::size_t index, Source file, const Visit& visit);
  Status read_nmb(std::size_t index, Source file, const Visit& visit);
  struct NmbInput {
    std::size_t index;  // position in the list of inputs
    Source file;
    std::shared_ptr<const Reader> reader;
  };
  Result<std::shared_ptr<const Reader>> open_nmb(const Source& file);
  Status read_only_block(const NmbInput& in, const Visit& visit);
  Status read_selected(const NmbInput& in, const Visit& visit);
  Result<std::vector<bool>> choose_blocks(const NmbInput& in);
  Result<std::vector<bool>> choose_groups(const std::vector<hdf5::GroupBlock>& groups,
                                          const std::string& file);
  Result<bool> chooses_classic(const Source& file);
  Status select_chosen(const hdf5::NamedBlocks& blocks, const std::string& file,
                       const std::vector<bool>& chosen);
  Status read_chosen(const NmbInput& in, const std::vector<bool>& chosen, const Visit& visit);
  Status survey(const NmbInput& in);
  Status read_provenance(const Reader& reader);
  Status read_rows(const Reader& reader);
  Status find_originals(const NmbInput& in, const std::vector<bool>& chosen);
  Status drop_parted_originals(const NmbInput& in, const std::vector<bool>& chosen,
                               const std::map<std::string, std::uint64_t, std::less<>>& owners);
  // Returns whether the original with this file number is a loss.
  bool is_lost(std::uint32_t number) const;
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
  void note_place(std::size_t index);
  Status read_hdf5(std::size_t index, Source file, const Visit& visit);
  Result<MovedBlock> moved_block(std::size_t index, const Block& block, const Source& values,
                                 const std::string& file);
  Result<MovedBlock> selected_block(const Dataset& block, const PathMove& move,
                                    const std::string& file);
  Result<MovedBlock> mapped_block(const Dataset& block, const std::string& name,
                                  const std::string& file);
  Result<std::unique_ptr<hdf5::StartedFile>> start_hdf5(std::size_t index, const std::string& path);
  Result<Dataset> decoded(const hdf5::GroupBlock& group, const std::string& file);
  Status map_group(const std::string& file, hdf5::GroupBlock* group, Dataset* dataset);
  void warn_of_lost(const MovedBlock& moved, const std::string& block, const std::string& file,
                    const std::string& reason);
  Result<bool> read_group(const Source& source, hdf5::GroupBlock group, std::uint64_t blocks,
                          const Visit& visit);
  std::string origin(std::size_t index, std::uint64_t begin,
                     std::optional<std::string_view> block = {}) const;

  Options options_;
  std::vector<std::string>& warnings_;
  Metadata room_ = ClassicHeader().metadata;  // memory of the previous block's metadata, reused for
                                              // the next block
  // Temporary files for HDF5 inputs. Two HDF5 inputs may be read at a time.
  std::shared_ptr<const SpoolFile> spools_[2];
  std::shared_ptr<SpoolFile> moved_;            // values in which paths were changed
  std::unique_ptr<hdf5::StartedFile> started_;  // the next input, if it was started
  std::size_t started_index_ = 0;
  std::size_t end_ = ~std::size_t{0};
  std::uint64_t held_room_ = memory_room(kHeldBytes);  // bytes left for headers of inputs
  bool is_placed_ = false;    // whether paths of the current input already begin with the new name
  bool is_surveyed_ = false;  // whether the current input was surveyed
  // For each group of an HDF5 input: its first made-up dimension number.
  MadeUpNumbers::First made_up_;
  std::optional<BlockSelection> selection_;          // set if only some blocks are wanted
  std::optional<FileDimensionsReader> dimensions_;   // reads the dimensions of an NMB input
  std::string placed_below_;                         // name of the block below which the groups
                                                     // of an HDF5 input are placed
  std::shared_ptr<const DimensionLengths> lengths_;  // lengths of the current input's dimensions
  // Whether the block of Options::only_block is a group. A group is read with all blocks below it
  // and keeps its path. A classic dataset is read alone and becomes the root. A group without
  // content of its own is stored as an empty classic dataset. Blocks below this dataset show that
  // it is a group.
  bool only_is_group_ = false;
  std::vector<std::string> provenance_;
  InputExtras extras_;
  std::uint64_t whole_files_ = 0, parted_originals_ = 0;
  bool is_original_ = false;       // set if the output stores the HDF5 input as an original
  bool becomes_original_ = false;  // set if the next block gets the HDF5 input as its original
  // The originals of an NMB input, by BlockEntry::order of their blocks. An original is removed
  // when its block is visited. The list has no originals whose block was removed from the input.
  std::multimap<std::uint64_t, InputOriginal> originals_;
  std::set<std::uint32_t> placed_;  // file numbers of the originals that have a block in the input
  std::set<std::uint32_t> stored_;  // file numbers of those that the output stores
};

}  // namespace nmb
