// pack: merges many files into one. In mode Pack, each input becomes one block, or several blocks
// according to PackOptions::block_by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convert/convert.h"
#include "files/files.h"
#include "model/dataset.h"
#include "model/external_files.h"
#include "model/values.h"
#include "netcdf/subset.h"
#include "nmb/merge.h"
#include "parallel/communicator.h"
#include "reader/file_reader.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/kinds.h"
#include "writer/file_writer.h"

namespace nmb {

// How a merge treats whole files. These files are the HDF5 and netCDF-4 inputs, and the originals
// of NMB inputs.
enum class Originals : std::uint8_t {
  // The merge stores no whole files. An original of an NMB input then counts as a loss, unless the
  // output is an HDF5 file that has the original's block.
  kNone,
  // The merge stores the files byte for byte. Values that lie in an original are stored only there.
  // Needs an NMB output of mode Pack, without `block_by`, `compression`, `subset` and Pack::link.
  kStore,
  kStoreIfPossible,  // works like kStore if the other options allow it; if not, like kNone
  kDrop,             // the merge stores no whole files, and no original counts as a loss
};

// An input file that was read.
struct PackSource {
  std::uint64_t index = 0;  // position in the order in which inputs are merged
  std::string path{};
  std::uint64_t bytes = 0;
  std::vector<std::string> provenance;  // for an NMB file: its FileReader::provenance()
};

// Options for an HDF5 output. The remaining fields of ExtractOptions are set from fields of
// PackOptions.
struct Hdf5Output {
  bool plain = false;  // ExtractOptions::plain
  bool check = true;   // ExtractOptions::check
  // ExtractOptions::on_losses; `between` is the NMB file from which the output is made.
  std::function<Status(const FileReader& between, const Hdf5Losses&)> on_losses{};
  // Name of the file in messages about objects that cannot be written as HDF5. If empty, these
  // messages name the output.
  std::string source{};
};

// Losses that are refused.
enum class RefusedLosses : std::uint8_t {
  kNone,
  kValues,  // values (PackLoss::Kind::kValues)
  kAll,
};

// The rest of a damaged file.
struct MendedSource {
  std::shared_ptr<const ByteSource> bytes{};  // must not change while it is read
  // Whether some objects of the file may be lost. Hard links, references and sources of virtual
  // data sets that lead to objects which `bytes` does not have are then left out. Soft and external
  // links stay.
  bool lacks_objects = false;
  std::set<std::string> lost_originals{};  // names of the blocks whose originals are lost
};

struct PackOptions {
  // --- what is read and written ---
  std::vector<std::string> inputs;  // paths of classic files and NMB files, in any mixture
  // With writer.dry_run, the path may be empty: only the inputs are checked then. `outputs` must be
  // set in this case.
  std::string output;
  // For union, join and tiles: if set, the output is a classic file of this kind. The result must
  // be one block. These options are ignored: `samples`, `compression`, and options of `writer` that
  // apply only to NMB files. Fails with kConflict if the kind cannot hold the block.
  std::optional<Kind> classic{};
  // If set, the output is an HDF5 file (convert/convert.h) without statistics and provenance. The
  // output is converted from a temporary NMB file beside it; the other options apply to this file.
  // The HDF5 library compresses classic blocks; it can use only deflate.
  std::optional<Hdf5Output> hdf5{};
  // For union, join and tiles, with `hdf5`: whether the output is a classic file if no input is or
  // was an HDF5 or netCDF-4 file. The output then has the highest kind of the inputs, or a higher
  // kind if it needs one.
  bool kind_of_inputs = false;
  // Whether whole files are stored. FileReader::give_back() returns stored files. An absolute path
  // is recorded without its folders.
  Originals originals = Originals::kNone;
  // Which external files may be opened to read values of inputs. With Pack::link, this also limits
  // where the inputs may be, relative to the output. Values that HDF5 inputs have in other files
  // are copied with kAny alone: the HDF5 library then opens any file that an input names, without
  // limits on time and memory.
  ExternalPaths external = ExternalPaths::kBeneath;

  // --- how blocks are made ---
  // For modes other than Pack: whether the blocks of each NMB input count as inputs (nmb/merge.h).
  // If false, only those of a single input do.
  bool divides_archives = false;
  // Whether blocks that count as inputs are ordered by name (natural_less()), even if a join could
  // order them by time.
  bool sorts_blocks_by_name = false;
  // Pattern for names of blocks, with the fields {stem}, {path}, {index} and {group}. If empty, the
  // pattern is {stem} for classic files, {stem}/{group} for inputs with groups, and {group} for
  // the other modes.
  std::string block_name;
  bool unique_groups = false;  // whether the same group name in two inputs is a conflict
  // How inputs are divided into blocks. Blocks from HDF5 are converted to classic datasets before
  // they are divided or united (netcdf/netcdf_view.h). Losses in this conversion are conflicts. A
  // block from which no variable is moved stays unchanged.
  BlockRule block_by{};
  SampleRule samples{};
  // Tags of the output's blocks. A block keeps the tags that it has in an NMB input, except tags
  // with the names of these rules. A block without content gets no tags. An attribute or a capture
  // that no block has is an error (kNotFound). Blocks of the output that exist already
  // (Pack::append) do not change.
  std::vector<TagRule> tags{};
  // Regular expression (PCRE2) for the captures of `tags`. It is searched in the names of the
  // output's blocks.
  std::string tag_names{};

  // --- how inputs are united ---
  MergeMode mode = Pack();
  // Path of a numeric variable, including its block. Inputs are ordered by the first value of this
  // variable in each input. The report has the same order. If empty, the order of `inputs` is kept.
  std::string sort_by{};

  // The part of each block that is merged; nullopt if blocks are merged whole. Each input is subset
  // before it is merged. In mode Pack too, blocks then become classic datasets, and originals and
  // tags are not kept. A rule (SubsetRules::used) that has an effect on no block is an error.
  // Blocks without values in the limits of the rules are left out.
  std::optional<SubsetRules> subset{};

  // --- how blocks are stored ---
  // How values are stored (model/values.h). If nullopt, values that are coded in an NMB input stay
  // coded in the same way. If a compression is given, blocks from HDF5 get newly coded chunks.
  // Extents of other blocks are coded piece by piece, without shuffle and chunks; inline extents
  // are not coded. Coded values are first written to the folder for temporary files (TMPDIR). Fails
  // with kUnsupported if there are classic blocks and no codec is given.
  std::optional<Compression> compression;
  // Whether to keep the statistics that NMB inputs have for whole blocks, unless `writer` computes
  // new statistics.
  bool keep_statistics = true;
  FileWriterOptions
      writer;  // with dry_run, nothing is written, and report->plan describes the output

  // --- checks and resuming ---
  bool strict = false;  // whether each warning counts as a conflict
  // Which losses (PackReport::losses) make the call fail with kConflict. Any other loss is a
  // warning.
  RefusedLosses refused_losses = RefusedLosses::kValues;
  // Whether to read back and compare each write, and to verify the index and the blocks of the
  // output before it gets its name. With compression, values are verified too.
  bool check = false;
  // All files that the caller is going to write, including `output` and the files of `resume`.
  // nullptr means only `output` and the files of `resume`. None of these files may be an input, or
  // a file that an input refers to.
  std::shared_ptr<const OutputSet> outputs{};
  // If not empty, a run that ends early, for any reason, leaves a hidden file and a journal
  // (CreateOptions::resume_key). A later run continues from these two files if it has the same text
  // and the same inputs (by name, size and time of change). The text must state all options that
  // affect the bytes of the output. For an HDF5 output, the hidden files belong to the temporary
  // NMB file between_name(). If this file is complete, a later run does not merge the inputs again,
  // and only writes the output.
  std::string resume{};

  // --- callbacks ---
  // For NMB outputs: returns the provenance to record (FileWriter::add_provenance()). `sources` are
  // all inputs, in the order in which they are merged. Called on rank 0 after planning.
  std::function<std::vector<std::string>(const std::vector<PackSource>& sources)> provenance{};

  // --- what only callers inside the library set ---
  // Set by pack() if blocks of NMB files count as inputs. For each of `inputs`: the names of its
  // blocks. The first block becomes the root block; the others lie below it. Without names, the
  // input is the whole file.
  std::vector<std::vector<std::string>> input_blocks{};
  // With Pack or a subset: if set, only this block of each NMB input is taken. A classic block
  // becomes the root block. A block from HDF5 keeps its name, because its references contain paths.
  // The blocks below this block are packed too. The block may use dimensions of groups above it.
  // These groups are packed with their attributes, datatypes and dimension scales (coordinates),
  // but without their other variables. Errors: kNotFound if an input does not have the block;
  // kUnsupported if an input is not an NMB file.
  std::optional<std::string> only_block{};
  // With Pack: if set, a block of an NMB input is packed only if this function returns true for its
  // name. If the block is a group, the blocks below it are packed too. Groups above are packed as
  // with `only_block`. The packed blocks keep their names. The function must be thread-safe.
  std::function<Result<bool>(std::string_view block)> wants_block{};
  // If source.bytes is set, the only input is read from it, and `inputs` has only its name.
  MendedSource source{};
  // For union and join: whether a block that only one input has is treated like a block that
  // several inputs have.
  bool unite_single = false;
  // For the temporary file of an HDF5 output: whether values of united blocks stay in the inputs,
  // if the inputs store them in the same form.
  bool link_united = false;
  // With `classic`: if set, the result is passed to this function on rank 0 as a dataset of kind
  // CDF-5, and `output` is not written. Values of the dataset are read from the inputs. If a file
  // is made from the dataset, call check_inputs() before the file gets its name.
  std::function<Status(const std::shared_ptr<const Dataset>& dataset,
                       const std::function<Status()>& check_inputs)>
      on_dataset{};
  // For modes other than Pack, and with a subset: if set, the definitions of each resulting block
  // are passed to this function on rank 0, and nothing is written. Values must not be read.
  // writer.dry_run must be set.
  std::function<Status(const std::string& block, std::shared_ptr<const Dataset> definitions)>
      on_block{};
  // With `hdf5`: if set, this function is called on rank 0, and `output` is not written. `merged`
  // has the temporary NMB file `path` open. The file has the merged values, or links to values that
  // stay in the inputs. Pass `options` to the function that writes a file.
  std::function<Status(const FileReader& merged, const std::string& path,
                       const ExtractOptions& options)>
      on_merged{};

  // Returns whether blocks are copied as they are.
  bool packs() const { return std::holds_alternative<Pack>(mode) && !subset; }
  // Returns whether blocks of the same name in several inputs become one block.
  bool unites() const { return !std::holds_alternative<Pack>(mode); }
  bool joins() const { return std::holds_alternative<Join>(mode); }
  bool has_tiles() const { return std::holds_alternative<Tiles>(mode); }

  // Returns the rules of a mode. If the merge has another mode, returns the defaults, which change
  // nothing.
  template <class Mode>
  const Mode& rules() const {
    static const Mode kDefaults{};
    return std::holds_alternative<Mode>(mode) ? std::get<Mode>(mode) : kDefaults;
  }
  const Pack& pack() const { return rules<Pack>(); }
  const Join& join() const { return rules<Join>(); }
  // Returns the blocks of input `index` (see input_blocks), or nullptr if it is a whole file.
  const std::vector<std::string>* blocks_of(std::size_t index) const {
    return index < input_blocks.size() && !input_blocks[index].empty() ? &input_blocks[index]
                                                                       : nullptr;
  }
  // Returns the name of an input for messages.
  NMB_EXPORT std::string input_name(std::size_t index) const;
  // Returns false if an earlier input has blocks of the same file.
  bool is_first_of_file(std::size_t index) const {
    return !blocks_of(index) || std::find(inputs.begin(), inputs.end(), inputs[index]) ==
                                    inputs.begin() + static_cast<std::ptrdiff_t>(index);
  }

  // Rules that several modes have.
  const std::optional<BlockChoice>& choice() const {
    return std::visit(
        [](const auto& rules) -> const auto& { return rules.choice; }, mode);
  }
  Agreement agreement() const {
    if (joins()) return join().agreement;
    return has_tiles() ? rules<Tiles>().agreement : rules<Union>().agreement;
  }
  bool fill_missing() const { return join().fill_missing || rules<Tiles>().fill_missing; }
  Mismatch on_mismatch() const {
    if (rules<Tiles>().skip_mismatches) return Mismatch::kSkip;
    return joins() ? join().on_mismatch : rules<Union>().on_mismatch;
  }
};

// Returns the name of the temporary NMB file of an HDF5 output, if the run may be resumed:
// ".NAME.nmb" in the folder of `path`.
NMB_EXPORT std::string between_name(const std::string& path);
// Adds the files that pack() writes to *outputs. If an earlier run was killed after it had
// published the output, first removes the hidden files that the earlier run left behind. Errors:
// kUsage.
NMB_EXPORT Status add_outputs(const PackOptions& options, OutputSet* outputs);

// Checks options as pack() does. Errors: kUsage if an option is out of range, or if options exclude
// each other; messages name the fields, for example Pack::link.
NMB_EXPORT Status check_options(const PackOptions& options);

// Kinds of conflicts between inputs.
enum class ConflictKind : std::uint8_t {
  // Duplicate or illegal names.
  kBlockName,
  kGroup,
  kVariableName,
  kDimensionName,
  kAttributeName,
  // Conflicts in dividing blocks, in counting samples, and in the positions of dimensions.
  kUnmatchedVariable,
  kVariables,
  kVariable,
  kAttributeValue,
  kSamples,
  kTag,
  // Objects of the same name that differ.
  kAttributes,
  kDimension,
  kAttribute,
  kType,
  kShape,
  kValues,
  kCoordinate,
  kPartitionKey,
  // Missing or unexpected objects, and missing or unexpected inputs.
  kMissingVariable,
  kExtraVariable,
  kConstantVariable,
  kMissingBlock,
  kMissingRows,
  kMissingTile,
  kDecomposition,
  kSetSize,
  kInput,
  // Conflicts with limits of the output.
  kBlocks,
  kLoss,
};

// Returns the name that reports use for a kind of conflict: "block name", "group", "variable name",
// ...
constexpr std::string_view conflict_name(ConflictKind kind) {
  constexpr std::string_view names[] = {"block name",
                                        "group",
                                        "variable name",
                                        "dimension name",
                                        "attribute name",
                                        "unmatched variable",
                                        "variables",
                                        "variable",
                                        "attribute value",
                                        "samples",
                                        "tag",
                                        "attributes",
                                        "dimension",
                                        "attribute",
                                        "type",
                                        "shape",
                                        "values",
                                        "coordinate",
                                        "partition key",
                                        "missing variable",
                                        "extra variable",
                                        "constant variable",
                                        "missing block",
                                        "missing block, no rows",
                                        "missing tile",
                                        "decomposition",
                                        "files in set",
                                        "input",
                                        "blocks",
                                        "loss"};
  return names[static_cast<std::size_t>(kind)];
}

// A reason why inputs cannot be merged.
struct PackConflict {
  ConflictKind kind = ConflictKind::kBlockName;
  std::string object;                   // name of the object for which the inputs disagree
  std::string first_file, second_file;  // second_file is empty if the conflict is in one file
  // With two files, `found` is from the second file, and `expected` is from the first file.
  std::string found, expected;
  // Returns "KIND OBJECT: found FOUND, expected EXPECTED: FILE and FILE".
  NMB_EXPORT std::string text() const;
};

// Additional results of a dry run.
struct PackPlan {
  // For an HDF5 output, the HDF5 library determines the length of the metadata. The planned length
  // of the file is then that of an NMB file with the same blocks. The planned length is also an
  // estimate if originals are stored: the length of their table depends on digests, which are
  // computed from the values.
  bool is_estimate = false;
  std::uint64_t bytes_before = 0;    // with Pack::append: length of the file before the run
  std::uint64_t metadata_bytes = 0;  // bytes of headers and bodies of blocks
  std::uint64_t index_bytes = 0;     // bytes of the index and of data maps
  // Expected peak resident memory, in bytes, of the process that needs most memory. A dry run does
  // all work except moving values. The result is the peak memory of the dry run plus the memory for
  // moving values (spec/rationale.md, "Dry runs").
  std::uint64_t peak_memory = 0;
  int ranks = 1;
  // Recommended Lustre layout: the number of object storage targets, and the stripe size in bytes.
  // If there are enough targets, one is used for each writing rank.
  int stripe_count = 1;
  std::uint64_t stripe_size = 1 << 20;
  // Shell command that sets this layout for new files in the output's folder.
  std::string lustre_command{};
  // Number of blocks of each input, in the order of the inputs.
  std::vector<std::uint64_t> blocks_of_input;
  std::vector<std::string> first_blocks;  // names of up to 10 blocks, in the order of the inputs
};

// A part of an input that the output lacks or cannot read: an original, tags of blocks that are not
// copied whole, an addition of a later version of the format, or values.
struct PackLoss {
  enum class Kind : std::uint8_t {
    kTable,      // statistics, tags or provenance that cannot be read
    kOriginal,   // an original, which is an input file that is stored whole
    kAddition,   // an addition of a later version of the format
    kTags,       // tags of blocks that are not copied whole
    kValues,     // values that only an original has, which the output does not keep
    kReference,  // a link or reference to an object that `source` does not have
    // Values in chunks from HDF5 that cannot be decoded. The output has the stored bytes of these
    // chunks, so this loss is never refused.
    kDamage,
  };
  std::uint64_t input = 0;  // position of the input in the order in which inputs are merged
  std::string path{};       // path of the input file
  // Name of the lost part, for example: original "run/in.bin", tags, global section of type 77.
  std::string object;
  std::string text;  // description of the loss
  Kind kind = Kind::kTable;
  std::uint64_t blocks = 0;  // for kTags: number of blocks that lose their tags
  std::string line() const { return object + ": " + text; }
};

struct PackReport {
  std::vector<PackConflict> conflicts;  // all conflicts; if there are any, nothing is published
  // Attributes that differ between inputs; the first or only value is kept.
  std::vector<PackConflict> differing;
  std::vector<PackConflict> left_out;  // objects left out by Mismatch::kSkip
  std::vector<PackConflict> filled;    // objects filled by fill_missing
  // Objects whose values are taken from the first input because of Agreement::first_values.
  std::vector<PackConflict> shared;
  std::vector<PackConflict> widened;  // variables widened by Mismatch::kWiden
  std::vector<PackConflict> rebased;  // variables with times that Join::rebase_times has changed
  std::vector<PackLoss> losses;       // losses in the order of the inputs
  std::vector<Status> unreadable;     // inputs that cannot be used
  std::vector<std::string> warnings;
  std::vector<PackSource> sources;  // usable inputs, in the order in which they are merged
  // If blocks of NMB files count as inputs: the names of all inputs for messages, in their order,
  // and a note on this order ("in the order of time"). Without names, the note says why an NMB file
  // counts as one input of a join.
  std::vector<std::string> archive_inputs;
  std::string archive_note;
  std::optional<Kind> classic{};  // with kind_of_inputs: the kind of a classic output
  // With kind_of_inputs, if the output's kind differs from that of an input: the kind and the
  // reason, for example "a CDF-2 file, because ...".
  std::string kind_note{};
  // The dimension along which the first block with several unlimited dimensions is joined. Empty if
  // Join::along names a dimension.
  std::string join_note{};
  // Whether an input is a classic file, or has a block that came from one.
  bool has_classic_blocks = false;
  std::uint64_t inputs = 0;
  std::uint64_t replaced = 0;                // with `replace`: number of replaced blocks
  std::uint64_t bytes_in = 0;                // size of all inputs
  std::uint64_t value_bytes = 0;             // bytes of values that were moved
  std::uint64_t linked_bytes = 0;            // bytes of values that stay in other files
  std::vector<ExternalFile> external_files;  // with `link`: the rows of the file table
  std::uint64_t originals = 0;               // number of files that are stored whole
  std::uint64_t digested = 0;                // number of classic files whose digests are recorded
  // Number of whole files that are not stored although `originals` requests it, because blocks are
  // divided or values are compressed. HDF5 inputs and originals of NMB inputs are counted.
  std::uint64_t without_original = 0;
  // Number of whole files that are not stored although `originals` requests it, because `choice`
  // leaves out some of their blocks. Files without any packed block are not counted.
  std::uint64_t parted_originals = 0;
  std::uint64_t not_chosen = 0;      // number of blocks that `choice` leaves out
  std::uint64_t original_bytes = 0;  // size of the files that are stored whole
  // Bytes of values that are stored twice: in a file that is stored whole, and again in a block.
  // HDF5 stores these values in a form to which a block cannot refer, or at unknown places.
  std::uint64_t stored_twice = 0;
  // The cost of the view. With Hdf5View::kSmall, also why the output has no view, or how many
  // objects its view leaves out.
  std::string view_note;
  bool has_large_view = false;  // ViewCost::is_large()
  void add_view_note(const std::string& text) {
    if (!view_note.empty() && !text.empty()) view_note += "; ";
    view_note += text;
  }
  // Number of variables without statistics although FileWriterOptions::statistics requests
  // statistics. The values of such a variable are neither numbers nor text, or its chunks use
  // filters that are not decoded.
  std::uint64_t without_statistics = 0;
  // For each of PackOptions::tags: the number of blocks that did not get the tag, because they lack
  // the attribute or because the expression does not match.
  std::vector<std::uint64_t> without_tag;
  std::uint64_t replaced_tags = 0;  // number of tags of NMB inputs that PackOptions::tags replaced
  // Number of united variables that are compressed in the inputs, but not in the output. This
  // happens if the output is a classic file.
  std::uint64_t decompressed = 0;
  // With `subset`: the number of blocks that are left out, because they have no values in its
  // limits.
  std::uint64_t outside = 0;
  std::uint64_t bytes_out = 0;  // for a dry run: FilePlan::file_length
  Totals totals;
  std::optional<PackPlan> plan;  // set by a dry run that did not fail
};

// Merges the inputs, and publishes the result as options.output. A failure does not change an
// existing file at that path. A dry run never changes an existing file. A dry run fails where a
// real run would fail, except for the failures that FileWriterOptions::dry_run mentions. Errors:
// kConflict (see report->conflicts); the worst failure in report->unreadable; kUsage for wrong
// options, or if an output is an input or a file that an input refers to; kExists; kIo; kNoSpace.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report);
// Merges the inputs together with other ranks. Collective: each rank of `ranks` reads consecutive
// inputs, and all ranks read about the same number of bytes. The options must be the same on all
// ranks. The outcome is the same on all ranks, and the file is the same for any number of ranks.
// Only rank 0's report is filled. FileWriterOptions::progress gets the bytes of this rank's share.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
