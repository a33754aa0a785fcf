// pack: merges per-process files into one NMB file, each input a block, or divided into blocks as
// block_by says.
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

// What becomes of blocks of one name in several inputs.
enum class MergeMode : std::uint8_t {
  kPack,   // a conflict
  kUnion,  // one block of all their objects; those of one name are one and have the same values
  kJoin,   // one block of the same objects; along a dimension their values follow one another
  // One block of the same objects, of which each input has the part of some dimensions that the
  // attributes domain_decomposition tell.
  kTiles,
};

// An input, as it was read.
struct PackSource {
  std::uint64_t index = 0;  // in the list of inputs, in the order in which they are merged
  std::string path{};
  std::uint64_t bytes = 0;
  std::vector<std::string> provenance;  // of an NMB file: what it tells (Reader::provenance)
};

// How an HDF5 output is written; the rest of ConvertOptions follows from other options.
struct Hdf5Output {
  bool plain = false;  // ConvertOptions::plain
  bool check = true;   // ConvertOptions::check
  // ConvertOptions::on_losses, of the NMB file that lies beside the output.
  std::function<Status(const Reader& between, const Hdf5Losses&)> on_losses{};
  // The file that is to blame for what cannot be written as HDF5; "": the output.
  std::string source{};
};

// What becomes a block of the output. A new block lies below the one it was in. What goes to none
// stays there, with global attributes and dimensions that no variable uses.
struct BlockRule {
  enum class By : std::uint8_t {
    kGroup,      // a classic file, a group of an HDF5 file, a block of an NMB file
    kPrefix,     // variables of whose names the regular expression `name` (PCRE2) captures the
                 // same; what follows the match is the variable's new name, and that of a dimension
    kCount,      // each `count` variables, in order of definition; named by position, zero-padded
    kOne,        // all of an input, without groups: the root block
    kDimension,  // each index along dimension `name`: NAME/0007; its variables lose the dimension
    kAttribute,  // variables whose attribute `name` has the same value, text or integers; in an
                 // input of several groups also a group that has it itself: VALUE/GROUP
  };
  By by = By::kGroup;
  std::string name{};
  std::uint64_t count = 1;

  // "group" (or ""), "prefix:REGEX", "vars:N", "one", "dim:NAME", "key:ATT". kUsage.
  NMB_EXPORT static Result<BlockRule> parse(std::string_view text);
};

// How many samples a block counts for.
struct SampleRule {
  enum class By : std::uint8_t {
    kDefault,    // 1 with variables; blocks of NMB files keep theirs
    kVariables,  // one each `variables` variables; a remainder is a conflict
    kDimension,  // the length of `dimension`, 0 without it
    kGroup,      // 1 for a group that lies right below the root and has variables
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
  // With union, join and tiles: the output is a classic file of this kind. There must be one block.
  // `samples`, `compression` and what of `writer` NMB files alone have do
  // not count. kConflict: the kind cannot hold it.
  std::optional<Kind> classic{};
  // The output is an HDF5 file (nmb/convert.h). It is made of an NMB file, which lies beside it
  // until then and to which the other options apply; it has no statistics and no provenance.
  // Classic blocks get deflate alone, by HDF5.
  std::optional<Hdf5Output> hdf5{};
  // Of pack: the blocks become a new generation of the output, which is there; what it has stays as
  // it was, whatever happens. A block whose name it has is a conflict.
  bool append = false;
  // Of pack, without block_by and compression: values stay where they are, in the inputs; the
  // output has the blocks, and where their values lie. What an HDF5 input does not have as it is to
  // be stored (tables of chunks, strings) is copied in. kUnsupported: inputs that lie where
  // `external` does not allow.
  bool link = false;
  // Which other files are opened that hold values of NMB inputs; where inputs that are linked may
  // lie, as seen from the output.
  ExternalPaths external = ExternalPaths::kBeneath;
  // Values that HDF5 inputs have in other files are copied in: HDF5 opens what these name, and no
  // limits of time and memory hold.
  bool materialise = false;
  // Of NMB inputs only this block is taken. A classic one becomes the root block. One that came
  // from HDF5 keeps its name, since references in it lead to paths; the blocks below it are taken
  // too. kNotFound: an input without it; kUnsupported: inputs of other kinds.
  std::optional<std::string> only_block{};

  // --- which blocks there are ---
  // {stem} {path} {index} {group}; empty: {stem} for classic files, {stem}/{group} for those with
  // groups; of union and join {group}.
  std::string block_name;
  bool unique_groups = false;  // the same inner name in two inputs is a conflict
  // What came from HDF5 is divided and united as a classic dataset (nmb/netcdf_view.h): losses are
  // conflicts. Blocks of which nothing goes elsewhere stay as they are.
  BlockRule block_by{};
  bool keep_unmatched = false;  // kPrefix: variables that do not match stay, else conflicts
  SampleRule samples{};

  // --- how inputs are united ---
  MergeMode mode = MergeMode::kPack;
  // Of union, join and tiles (docs/merging.md): what inputs have of one name must have the same
  // type and dimensions, and the same value of attributes that say what values mean (units and
  // their like); of other attributes the first is kept. Blocks that several inputs have become
  // classic datasets. Inputs are taken in the order of the first value of this numeric variable
  // (with its block's path) in each; "": in the order given. In the report too.
  std::string sort_by{};
  // join: the dimension; "": the record dimension; "axis:0": of each variable its first one.
  std::string along{};
  // join: "BLOCK/VARIABLE", a list of events that each input has (a variable alone: of block
  // spill), integers that do not decrease; each other value is an event. Each block with a variable
  // of this name that is joined, one value a row, gets VARIABLE.seq (kInt64): the number of each
  // row's event, from 0 over all inputs. Not empty: all blocks become classic datasets.
  std::string key{};
  bool first_values = false;       // values that are not joined are the first one's, not compared
  bool strict_attributes = false;  // all attributes must have the same value
  bool skip_mismatches = false;    // an object that does not go with the first is left out
  // union, join: numeric variables of one name and several types are of the narrowest type that
  // holds all their values, if there is one. Attributes are compared as numbers; _FillValue,
  // missing_value, valid_* and flag_* become of the variable's type. Without _FillValue, in
  // classic and netCDF-4 inputs, the default fill value of a type of two bytes or more becomes that
  // of the other. Variables with _Unsigned, and parts of divided blocks, stay as they are.
  bool widen_types = false;
  // join, tiles: what an input does not have is fill values, be it a variable or a block; and what
  // no tile has.
  bool fill_missing = false;
  bool monotonic =
      false;  // join: that the coordinate does not go on in one direction is a conflict

  // --- how blocks are stored ---
  // How values are stored (nmb/values.h): blocks that came from HDF5 in chunks coded anew, the
  // extents of others in pieces coded one by one, without shuffle and chunks, but for those that
  // lie inline. They wait in the folder for temporary files (TMPDIR). nullopt: what is coded in an
  // NMB input stays so. kUnsupported: classic blocks, but no codec.
  std::optional<Compression> compression;
  // Statistics that NMB inputs have of blocks that are taken over whole are kept, where `writer`
  // does not count anew.
  bool keep_statistics = true;
  WriterOptions writer;  // with dry_run: nothing is written, and report->plan says what would be

  // --- what is refused, and what is kept of a run that ends early ---
  bool strict = false;  // a warning is a conflict
  // What NMB inputs have and the output will not (PackReport::losses) makes the call fail with
  // kConflict; else each counts as a warning.
  bool refuse_losses = false;
  // Each write is read back and compared, and index and blocks of the result are verified before it
  // gets its name; with compression, values too.
  bool check = false;
  // The files that the caller is going to write, `output` and those of `resume` among them;
  // nullptr: these alone. None of them may be an input, or a file that one refers to.
  std::shared_ptr<const OutputSet> outputs{};
  // Not empty: a run that ends early, however it does, leaves a hidden file and a journal
  // (CreateOptions::resume_key) from which one of the same inputs, by name, size and time of
  // change, and of the same text goes on. It tells all options that decide the bytes of the output.
  std::string resume{};

  // --- what is called back ---
  // What the output tells of its making (Writer::add_provenance), of all inputs in their order.
  // Asked on rank 0 when all are planned. Of NMB outputs.
  std::function<std::vector<std::string>(const std::vector<PackSource>& sources)> provenance{};
  // Called now and then from one thread, with bytes of values moved.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// What messages call options.
struct PackOptionNames {
  std::string inputs = "at least one", output = "the output";
  std::string mode = "mode", key = "key", compression = "compression";
  std::string dry_run = "dry_run", statistics = "statistics", resume = "resume";
  std::string append = "append", link = "link", block_by = "block_by", hdf5_view = "hdf5_view";
  std::string external = "external";
};

// kUsage: options that do not go together. pack() fails so too.
NMB_EXPORT Status check_options(const PackOptions& options, const PackOptionNames& names = {});

// What inputs disagree about, or what one of them lacks.
enum class ConflictKind : std::uint8_t {
  // Names that are there twice, or are not legal.
  kBlockName,
  kGroup,
  kVariableName,
  kDimensionName,
  kAttributeName,
  // Blocks that are divided, and what counts of them.
  kUnmatchedVariable,
  kVariables,
  kVariable,
  kAttributeValue,
  kSamples,
  // Objects of one name that are not alike.
  kAttributes,
  kDimension,
  kAttribute,
  kType,
  kShape,
  kValues,
  kCoordinate,
  kPartitionKey,
  // Sets that are not whole, or have more.
  kMissingVariable,
  kExtraVariable,
  kConstantVariable,
  kMissingBlock,
  kMissingRows,
  kMissingTile,
  kDecomposition,
  kSetSize,
  kInput,
  // What the output cannot hold.
  kBlocks,
  kLoss,
};

// As reports have it: "block name", "group", "variable name", ...
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

// Inputs that cannot go together.
struct PackConflict {
  ConflictKind kind = ConflictKind::kBlockName;
  std::string object;                   // the name they disagree about
  std::string first_file, second_file;  // second: empty where one file suffices
  std::string found, expected;          // with two files: in the second, in the first
  // "KIND OBJECT: found FOUND, expected EXPECTED: FILE and FILE".
  NMB_EXPORT std::string text() const;
};

// What a dry run says beside what every report does.
struct PackPlan {
  std::uint64_t metadata_bytes = 0;  // headers and bodies of blocks
  std::uint64_t index_bytes = 0;     // index and data maps
  // Of the process that takes most, resident, all of it: the most that this run took, which does
  // all that the run does that writes, and what values on their way take then
  // (spec/rationale.md, "Dry runs").
  std::uint64_t peak_memory = 0;
  int ranks = 1;
  // How the file should lie on Lustre: on so many object storage targets, one a rank that writes
  // (fewer where there are fewer), with so many bytes on one before the next.
  int stripe_count = 1;
  std::uint64_t stripe_size = 1 << 20;
  // For a shell: makes new files in the folder of the output lie so.
  std::string lustre_command{};
  std::vector<std::uint64_t> blocks_of_input;  // in the order of the inputs
  std::vector<std::string> first_blocks;       // names of up to 10, in that order too
};

// A part of an NMB input that the output lacks: an original, tags of blocks that are not taken over
// whole, an addition of a later version of the format.
struct PackLoss {
  enum class Kind : std::uint8_t {
    kTable,     // a table of statistics or tags that cannot be read
    kOriginal,  // an input file that is kept whole
    kAddition,  // of a later version of the format
    kTags,      // of blocks that are not taken over whole
  };
  std::uint64_t input = 0;  // in the list of inputs, in the order in which they are merged
  std::string path{};       // of the input
  std::string object;       // original "run/in.bin", tags, global section of type 77
  std::string text;         // what of it is lost
  Kind kind = Kind::kTable;
  std::uint64_t blocks = 0;  // kTags: how many blocks lose them
  std::string line() const { return object + ": " + text; }
};

struct PackReport {
  std::vector<PackConflict> conflicts;  // all of them; if there is one nothing is published
  std::vector<PackConflict> differing;  // attributes whose first or only value is kept
  std::vector<PackConflict> left_out;   // objects, by skip_mismatches
  std::vector<PackConflict> filled;     // by fill_missing
  std::vector<PackConflict> shared;     // values that are the first one's, by first_values
  std::vector<PackConflict> widened;    // variables, by widen_types
  std::vector<PackLoss> losses;         // in the order of the inputs
  std::vector<Status> unreadable;       // inputs that cannot be used
  std::vector<std::string> warnings;
  std::vector<PackSource> sources;  // that can be used, in the order of the inputs
  std::uint64_t inputs = 0;
  std::uint64_t bytes_in = 0;                // of all inputs
  std::uint64_t value_bytes = 0;             // moved
  std::uint64_t linked_bytes = 0;            // that stay in other files
  std::vector<ExternalFile> external_files;  // with `link`: the rows of the file table
  // Variables whose values were not counted, with WriterOptions::statistics: what is neither
  // numbers nor text, or in chunks of filters that are not decoded.
  std::uint64_t without_statistics = 0;
  std::uint64_t bytes_out = 0;  // of a dry run: FilePlan::file_length
  Totals totals;
  std::optional<PackPlan> plan;  // of a dry run that did not fail
};

// Publishes options.output, or leaves what was there untouched; a dry run always leaves it, and
// fails as this would but for what WriterOptions::dry_run says. kConflict: report->conflicts says
// which; the worst of report->unreadable; kUsage: options, or an output that is an input or a file
// that one refers to; kExists; kIo; kNoSpace.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report);
// The same by all ranks of `ranks`, which read runs of the inputs with about as many bytes each;
// the options are the same on all, and so are the outcome and the file, whatever their number. What
// is reported is in rank 0's report. progress: of this rank's share.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
