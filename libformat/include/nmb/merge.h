// pack: merges per-process files into one NMB file. Each input becomes a block, or several blocks
// by the rule block_by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/communicator.h"
#include "nmb/external_files.h"
#include "nmb/files.h"
#include "nmb/status.h"
#include "nmb/types.h"
#include "nmb/values.h"
#include "nmb/writer.h"

namespace nmb {

class Reader;
struct Hdf5Losses;  // nmb/convert.h

// How blocks of the same name in several inputs are merged.
enum class MergeMode : std::uint8_t {
  kPack,   // not at all: a conflict
  kUnion,  // one block of all objects; objects of one name become one and must have the same values
  kJoin,   // one block of the same objects; values are concatenated along a dimension
  // one block of the same objects; each input has a tile of it, described by its
  // domain_decomposition attributes
  kTiles,
};

// An input that was read.
struct PackSource {
  std::uint64_t index = 0;  // in the list of inputs, in the order in which they are merged
  std::string path{};
  std::uint64_t bytes = 0;
  std::vector<std::string> provenance;  // of an NMB file: its Reader::provenance()
};

// How an HDF5 output is written; other options determine the rest of ConvertOptions.
struct Hdf5Output {
  bool plain = false;  // ConvertOptions::plain
  bool check = true;   // ConvertOptions::check
  // ConvertOptions::on_losses; `between` is the NMB file from which the output is made.
  std::function<Status(const Reader& between, const Hdf5Losses&)> on_losses{};
  // The file that messages name for objects that cannot be written as HDF5; "": the output.
  std::string source{};
};

// How an input is divided into blocks of the output. A new block is placed below the block it is
// taken from. Variables that go to no new block stay in the old one, and so do global attributes
// and dimensions that no variable uses.
struct BlockRule {
  enum class By : std::uint8_t {
    kGroup,   // a classic file, a group of an HDF5 file, a block of an NMB file
    kPrefix,  // variables for whose names the regular expression `name` (PCRE2) captures the same
              // text; the rest of a name after the match becomes the new name, for dimensions too
    kCount,   // groups of `count` variables in order of definition; named by position, zero-padded
    kOne,     // the whole input, all groups together: the root block
    kDimension,  // one block per index of dimension `name`: NAME/0007; variables lose the dimension
    kAttribute,  // variables whose attribute `name` has the same value, text or integers; if an
                 // input has several groups, also a group with that attribute: VALUE/GROUP
  };
  By by = By::kGroup;
  std::string name{};
  std::uint64_t count = 1;

  // "group" (or ""), "prefix:REGEX", "vars:N", "one", "dim:NAME", "key:ATT". kUsage.
  NMB_EXPORT static Result<BlockRule> parse(std::string_view text);
};

// How the samples of a block are counted.
struct SampleRule {
  enum class By : std::uint8_t {
    kDefault,    // 1 if the block has variables; blocks of NMB files keep their number
    kVariables,  // one per `variables` variables; a remainder is a conflict
    kDimension,  // the length of `dimension`; 0 without it
    kGroup,      // 1 for a group directly below the root that has variables
    kNone,
  };
  By by = By::kDefault;
  std::uint64_t variables = 1;
  std::string dimension{};

  // "" (the default), "vars:N", "dim:NAME", "group", "none". kUsage.
  NMB_EXPORT static Result<SampleRule> parse(std::string_view text);
};

struct PackOptions {
  // --- what is read and written ---
  std::vector<std::string> inputs;  // paths: classic files and NMB files, mixed
  std::string output;
  // union, join, tiles: the output is a classic file of this kind. The result must be one block.
  // Ignores `samples`, `compression`, and options of `writer` that only NMB files have. kConflict:
  // the kind cannot hold the block.
  std::optional<Kind> classic{};
  // The output is an HDF5 file (nmb/convert.h) without statistics and provenance. It is converted
  // from a temporary NMB file beside it, to which the other options apply. Classic blocks can be
  // compressed with deflate only, by the HDF5 library.
  std::optional<Hdf5Output> hdf5{};
  // kPack: adds the blocks as a new generation to the output, which must exist; a failure never
  // changes its content. A block whose name exists there is a conflict.
  bool append = false;
  // kPack, without block_by and compression: values stay in the inputs; the output has the blocks
  // and the positions of their values. Data of HDF5 inputs that NMB stores in another form (tables
  // of chunks, strings) are copied in. kUnsupported: `external` does not allow an input's path.
  bool link = false;
  // For the temporary file of an HDF5 output: values of united blocks that lie in inputs as they
  // are stay there. Set by pack().
  bool link_united = false;
  // Which external files with values of NMB inputs may be opened; and where linked inputs may be,
  // relative to the output.
  ExternalPaths external = ExternalPaths::kBeneath;
  // Copies in the values that HDF5 inputs have in other files. HDF5 then opens any file that an
  // input names, without limits of time and memory.
  bool materialise = false;
  // Takes only this block of NMB inputs. A classic block becomes the root block. A block from HDF5
  // keeps its name, because its references contain paths, and brings the blocks below it.
  // kNotFound: an input does not have it; kUnsupported: an input that is not an NMB file.
  std::optional<std::string> only_block{};

  // --- which blocks there are ---
  // Pattern of {stem} {path} {index} {group}. Empty: {stem} for classic files, {stem}/{group} for
  // inputs with groups, {group} for union and join.
  std::string block_name;
  bool unique_groups = false;  // the same group name in two inputs is a conflict
  // Blocks from HDF5 are converted to classic datasets before they are divided or united
  // (nmb/netcdf_view.h); losses are conflicts. A block from which no variable is moved stays
  // unchanged.
  BlockRule block_by{};
  bool keep_unmatched =
      false;  // kPrefix: variables that do not match stay; otherwise they are conflicts
  SampleRule samples{};

  // --- how inputs are united ---
  MergeMode mode = MergeMode::kPack;
  // For union, join and tiles (docs/merging.md): objects of one name must have the same type and
  // dimensions, and the same values of attributes that give values their meaning (units and
  // similar); of other attributes the first value is kept. Blocks that several inputs have become
  // classic datasets. sort_by: a numeric variable with its block's path; inputs are ordered by its
  // first value in each, in the report too. "": the order given.
  std::string sort_by{};
  // join: the dimension; "": the record dimension; "axis:0": the first dimension of each variable.
  std::string along{};
  // join: a line that is put before the text of the global attribute `history` of the root block,
  // if several inputs have that block. "": no line.
  std::string history{};
  // join: blocks that several inputs have lose the global attribute tracking_id, which identifies a
  // single file.
  bool drop_tracking_id = false;
  // join: "BLOCK/VARIABLE", the list of events of each input (without BLOCK: of block spill):
  // integers that do not decrease; each new value is an event. A block that has a joined variable
  // of this name, one value per row, gets VARIABLE.seq (kInt64): the number of each row's event,
  // from 0 and counted over all inputs. If not empty, all blocks become classic datasets.
  std::string key{};
  bool first_values =
      false;  // values that are not joined are taken from the first input, not compared
  bool strict_attributes = false;  // all attributes must have the same value
  bool skip_mismatches = false;    // an object that disagrees with the first input is left out
  // union, join: numeric variables of one name but several types get the narrowest type that holds
  // all their values, if there is one. Attributes are compared as numbers; _FillValue,
  // missing_value, valid_* and flag_* get the variable's type. In classic and netCDF-4 inputs
  // without _FillValue, the default fill value of an old type of two bytes or more becomes the
  // default of the new type. Variables with _Unsigned, and parts of divided blocks, are not
  // widened.
  bool widen_types = false;
  // join, tiles: fill values replace a variable or block that an input does not have, and elements
  // that no tile has.
  bool fill_missing = false;
  bool monotonic = false;  // join: a coordinate that is not monotonic is a conflict

  // --- how blocks are stored ---
  // How values are stored (nmb/values.h). Blocks from HDF5 get newly coded chunks. Extents of other
  // blocks are coded piece by piece, without shuffle and chunks; inline extents are not coded.
  // Coded values wait in the folder for temporary files (TMPDIR). nullopt: values that are coded in
  // an NMB input stay so. kUnsupported: there are classic blocks, and no codec is given.
  std::optional<Compression> compression;
  // Keeps the statistics that NMB inputs have of whole blocks, unless `writer` computes new ones.
  bool keep_statistics = true;
  WriterOptions writer;  // with dry_run: nothing is written, and report->plan describes the output

  // --- what is refused, and what is kept of a run that ends early ---
  bool strict = false;  // a warning is a conflict
  // Parts of NMB inputs that the output will lack (PackReport::losses) make the call fail with
  // kConflict; otherwise each is a warning.
  bool refuse_losses = false;
  // Reads back and compares each write, and verifies index and blocks of the result before it gets
  // its name; with compression, values too.
  bool check = false;
  // All files that the caller is going to write, including `output` and those of `resume`; nullptr:
  // only these. None of them may be an input or a file that an input refers to.
  std::shared_ptr<const OutputSet> outputs{};
  // If not empty: a run that ends early, for any reason, leaves a hidden file and a journal
  // (CreateOptions::resume_key). A later run with the same text and the same inputs (by name, size
  // and time of change) continues from them. The text must name all options that affect the bytes
  // of the output.
  std::string resume{};

  // --- what is called back ---
  // NMB outputs: returns the provenance to record (Writer::add_provenance). `sources`: all inputs
  // in their order. Called on rank 0 after planning.
  std::function<std::vector<std::string>(const std::vector<PackSource>& sources)> provenance{};
  // Called from time to time from one thread, with bytes of values moved.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// The names of options in messages.
struct PackOptionNames {
  std::string inputs = "at least one", output = "the output";
  std::string mode = "mode", key = "key", compression = "compression";
  std::string dry_run = "dry_run", statistics = "statistics", resume = "resume";
  std::string append = "append", link = "link", block_by = "block_by", hdf5_view = "hdf5_view";
  std::string external = "external";
};

// Checks options as pack() does. kUsage: options that exclude each other.
NMB_EXPORT Status check_options(const PackOptions& options, const PackOptionNames& names = {});

// Kinds of conflicts between inputs.
enum class ConflictKind : std::uint8_t {
  // Duplicate or illegal names.
  kBlockName,
  kGroup,
  kVariableName,
  kDimensionName,
  kAttributeName,
  // Dividing blocks, and counting samples.
  kUnmatchedVariable,
  kVariables,
  kVariable,
  kAttributeValue,
  kSamples,
  // Objects of one name that differ.
  kAttributes,
  kDimension,
  kAttribute,
  kType,
  kShape,
  kValues,
  kCoordinate,
  kPartitionKey,
  // Incomplete sets, and sets with additional members.
  kMissingVariable,
  kExtraVariable,
  kConstantVariable,
  kMissingBlock,
  kMissingRows,
  kMissingTile,
  kDecomposition,
  kSetSize,
  kInput,
  // Limits of the output.
  kBlocks,
  kLoss,
};

// The name of a kind of conflict in reports: "block name", "group", "variable name", ...
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
  std::string object;                   // the name of the object they disagree about
  std::string first_file, second_file;  // second: empty if the conflict is in one file
  std::string found, expected;  // with two files: found in the second, expected from the first
  // "KIND OBJECT: found FOUND, expected EXPECTED: FILE and FILE".
  NMB_EXPORT std::string text() const;
};

// Results of a dry run, in addition to those of every report.
struct PackPlan {
  std::uint64_t metadata_bytes = 0;  // headers and bodies of blocks
  std::uint64_t index_bytes = 0;     // index and data maps
  // Expected peak resident memory, in bytes, of the process that needs most: the peak of this dry
  // run, which does all the work except moving values, plus the memory for moving them
  // (spec/rationale.md, "Dry runs").
  std::uint64_t peak_memory = 0;
  int ranks = 1;
  // Recommended Lustre layout: number of object storage targets, one per writing rank if there are
  // enough, and stripe size in bytes.
  int stripe_count = 1;
  std::uint64_t stripe_size = 1 << 20;
  // Shell command that sets this layout for new files in the output's folder.
  std::string lustre_command{};
  std::vector<std::uint64_t> blocks_of_input;  // in the order of the inputs
  std::vector<std::string> first_blocks;       // names of up to 10 blocks, in the same order
};

// A part of an NMB input that the output lacks: an original, tags of blocks that are not copied
// whole, or an addition of a later version of the format.
struct PackLoss {
  enum class Kind : std::uint8_t {
    kTable,     // a table of statistics or tags that cannot be read
    kOriginal,  // an input file that is kept whole
    kAddition,  // of a later version of the format
    kTags,      // of blocks that are not copied whole
  };
  std::uint64_t input = 0;  // in the list of inputs, in the order in which they are merged
  std::string path{};       // path of the input
  std::string object;       // original "run/in.bin", tags, global section of type 77
  std::string text;         // what is lost
  Kind kind = Kind::kTable;
  std::uint64_t blocks = 0;  // kTags: how many blocks lose them
  std::string line() const { return object + ": " + text; }
};

struct PackReport {
  std::vector<PackConflict> conflicts;  // all of them; if there are any, nothing is published
  std::vector<PackConflict> differing;  // attributes whose first or only value is kept
  std::vector<PackConflict> left_out;   // objects left out by skip_mismatches
  std::vector<PackConflict> filled;     // objects filled by fill_missing
  std::vector<PackConflict> shared;   // objects whose values are the first input's, by first_values
  std::vector<PackConflict> widened;  // variables widened by widen_types
  std::vector<PackLoss> losses;       // in the order of the inputs
  std::vector<Status> unreadable;     // inputs that cannot be used
  std::vector<std::string> warnings;
  std::vector<PackSource> sources;  // usable inputs, in order
  std::uint64_t inputs = 0;
  std::uint64_t bytes_in = 0;                // of all inputs
  std::uint64_t value_bytes = 0;             // moved
  std::uint64_t linked_bytes = 0;            // that stay in other files
  std::vector<ExternalFile> external_files;  // with `link`: the rows of the file table
  // Variables without statistics although WriterOptions::statistics asks for them: their values are
  // neither numbers nor text, or their chunks use filters that are not decoded.
  std::uint64_t without_statistics = 0;
  // United variables that are compressed in the inputs, but not in the output, which is a classic
  // file or has an HDF5 view.
  std::uint64_t decompressed = 0;
  std::uint64_t bytes_out = 0;  // of a dry run: FilePlan::file_length
  Totals totals;
  std::optional<PackPlan> plan;  // of a dry run that did not fail
};

// Publishes options.output, or leaves an existing file there untouched. A dry run always leaves it,
// and fails as a real run would, with the exceptions of WriterOptions::dry_run. kConflict: see
// report->conflicts; the worst of report->unreadable; kUsage: options, or an output that is an
// input or a file that an input refers to; kExists; kIo; kNoSpace.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report);
// Collective version: each rank of `ranks` reads consecutive inputs with about the same number of
// bytes. The options must be the same on all ranks; the outcome is the same on all, and the file is
// the same for any number of ranks. Only rank 0's report is filled. progress: bytes of this rank's
// share.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
