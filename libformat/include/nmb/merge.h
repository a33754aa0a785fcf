// merge: makes one file of many. The inputs are classic netCDF, netCDF-4, HDF5 and NMB files in any
// mixture.
//
//   nmb::merge(files, "all.nmb");                                  // one block for each file
//   nmb::merge(files, "year.nmb", {.mode = nmb::Join{.along = "time"}});
//
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "nmb/counts.h"
#include "nmb/error.h"
#include "nmb/options.h"
#include "nmb/statistics.h"
#include "nmb/types.h"

namespace nmb {

class Ranks;

// How an input is divided into blocks of the output. A new block is placed below the block from
// which its variables are taken. The old block keeps variables that do not match the rule, global
// attributes, and dimensions that no variable uses.
struct BlockRule {
  enum class By : std::uint8_t {
    // Each classic file, each group of an HDF5 file, and each block of an NMB file becomes a block.
    kGroup,
    // The regular expression `name` (PCRE2) is matched with the names of variables. If the
    // expression captures the same text from the names of several variables, these variables become
    // a block. The rest of a variable's name after the match becomes its new name. Dimensions are
    // renamed in the same way.
    kPrefix,
    kCount,      // a block has `count` variables in order of definition; its name is its position,
                 // padded with zeros
    kOne,        // the whole input, with all groups, becomes the root block
    kDimension,  // one block for each index of dimension `name`, for example NAME/0007; variables
                 // lose the dimension
    // A block has the variables whose attribute `name` (text or integers) has the same value. In an
    // input with several groups, a group may have the attribute. The group then becomes the block
    // VALUE/GROUP.
    kAttribute,
  };
  By by = By::kGroup;
  std::string name{};
  std::uint64_t count = 1;

  // Parses a rule: "group" (or ""), "prefix:REGEX", "vars:N", "one", "dim:NAME" or "key:ATT".
  // Errors: kUsage.
  NMB_EXPORT static Result<BlockRule> parse(std::string_view text);
};

// How the samples of a block are counted.
struct SampleRule {
  enum class By : std::uint8_t {
    kDefault,    // 1 sample if the block has variables; blocks of NMB files keep their number of
                 // samples
    kVariables,  // one sample for every `variables` variables; a remainder is a conflict
    kDimension,  // the length of the dimension that `dimension` names; 0 if the block has no such
                 // dimension
    kGroup,      // 1 sample if the block is a group directly below the root and has variables
    kNone,
  };
  By by = By::kDefault;
  std::uint64_t variables = 1;
  std::string dimension{};

  // Parses a rule: "" (the default), "vars:N", "dim:NAME", "group" or "none". Errors: kUsage.
  NMB_EXPORT static Result<SampleRule> parse(std::string_view text);
};

// How blocks of the output get a tag (spec/tables.md, section 9.4).
struct TagRule {
  enum class From : std::uint8_t {
    // The value is made from the template `value`, which has text and fields: {1}, {2} and so on
    // are the captures of MergeOptions::tag_names or, if this is empty, of the kPrefix rule by
    // which
    // the block was divided; {stem}, {path}, {index} and {group} are as in
    // MergeOptions::block_name.
    // If the expression does not match, or a capture has no text, the block does not get the tag.
    // The tag's type depends on the text: int64 or uint64 for a decimal integer in their range,
    // double for another decimal number in its range, and text for everything else.
    kTemplate,
    kText,  // like kTemplate, but the tag is always text
    // The value is the global attribute `value` of the block. If the block was divided, the value
    // is the global attribute of the dataset from which it was taken. The attribute must be text or
    // one number. If it is missing, the block does not get the tag.
    kAttribute,
  };
  std::string name;
  From from = From::kTemplate;
  std::string value;

  // Parses a rule: "NAME=TEMPLATE", "NAME:text=TEMPLATE" or "NAME=@ATTRIBUTE". Errors: kUsage.
  NMB_EXPORT static Result<TagRule> parse(std::string_view text);
};

// --- how blocks of the same name in several inputs are merged ---

// They are not: the same name in two inputs is a conflict.
struct Pack {
  bool append = false;   // adds a generation to the output, which must exist
  bool replace = false;  // with append: a block of an input replaces the output's of its name
  // Values stay in the inputs, and the output has their positions; excludes block_by and storing.
  bool link = false;
  // Only blocks for which this expression holds (Reader::find()); "": all.
  std::string where{};
  // Only part `shard` (from 1) of `shards` parts, into which the chosen blocks are dealt.
  std::uint64_t shard = 1, shards = 1;
};

// What the other modes demand of objects of the same name: the same type and dimensions, and the
// same value of attributes such as units that give values their meaning.
struct Agreement {
  bool strict_attributes = false;  // all attributes must have the same value
  bool skip_mismatches = false;    // an object that does not match the first input's is left out
  bool widen_types = false;        // union, join: numbers get a type that holds all of them
  bool first_values = false;       // values that are not joined are not compared
};

// They become one block with all their objects; values of the same object must be the same.
struct Union {
  Agreement agreement{};
};

// They become one block; values are concatenated along a dimension.
struct Join {
  // The dimension: "" for the record dimension, "axis:0" for the first of each variable, a name, or
  // "/GROUP/NAME".
  std::string along{};
  // Variable BLOCK/VARIABLE that numbers the events of each input (docs/reference/merging.md).
  std::string key{};
  bool fill_missing = false;  // an input without a variable or block gets fill values
  bool monotonic = false;     // a coordinate that is not monotonic is a conflict
  Agreement agreement{};
};

// They become one block; each input has a tile of the values, which its domain_decomposition
// attributes describe.
struct Tiles {
  bool fill_missing = false;  // elements of no tile become fill values
  Agreement agreement{};
};

struct MergeOptions {
  std::variant<Pack, Union, Join, Tiles> mode = Pack();

  // --- what is written ---
  // NMB, HDF5 or, if one block results of Union, Join or Tiles, a classic kind.
  FileKind to = FileKind::kNmb;
  // Names of blocks, with the fields {stem}, {path}, {index} and {group} of the input. "": {stem}
  // for classic files, {stem}/{group} for others, and {group} for modes other than Pack.
  std::string block_name{};
  BlockRule block_by{};
  bool keep_unmatched = false;  // BlockRule::By::kPrefix: variables that do not match stay
  SampleRule samples{};
  std::vector<TagRule> tags{};
  std::string tag_names{};  // regular expression (PCRE2) on names of blocks, for captures of `tags`
  // A numeric variable, with its block: the inputs are ordered by its first value.
  std::string sort_by{};
  Storing storing{};
  Hdf5View hdf5_view = Hdf5View::kOff;
  StatisticsLevel statistics = StatisticsLevel::kNone;
  bool originals = false;  // whether HDF5 and netCDF-4 inputs are stored byte for byte too

  // --- what happens to the files ---
  bool replace = false;  // whether the output may replace an existing file
  bool sync = true;      // whether the call waits until the data are on the device
  bool dry_run = false;  // whether only inputs and options are checked
  bool check = false;    // whether what is written is read back and compared
  bool strict = false;   // whether a warning is a conflict
  ExternalPaths external = ExternalPaths::kBeneath;  // which external files of inputs are read

  // --- what changes the speed ---
  unsigned threads = 1;
  // If set, the call is collective: each of these ranks reads a part of the inputs. All get the
  // outcome; rank 0 gets the report.
  Ranks* ranks = nullptr;
  // Called by one thread at a time with bytes of values.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
};

// Why inputs cannot be merged, or how one of them differs.
struct Conflict {
  std::string kind{};    // "type", "values", "missing variable", ... (docs/reference/merging.md)
  std::string object{};  // the object on which the inputs do not agree
  std::string first_file{}, second_file{};  // second_file is "" if the conflict is in one file
  std::string found{}, expected{};          // with two files: in the second, in the first
  std::string text{};                       // all of this
};

struct MergeReport {
  std::vector<Conflict> conflicts{};  // all of them; if there are any, nothing is written
  std::vector<Conflict> differing{};  // attributes that differ: the first value was kept
  std::vector<Conflict> left_out{}, filled{}, widened{};  // what the mode's options did
  std::vector<std::string> losses{};                      // what the output lacks of an input
  std::vector<Status> unreadable{};                       // inputs that cannot be used
  std::vector<std::string> warnings{};
  std::uint64_t inputs = 0, bytes_in = 0, bytes_out = 0;
  Totals totals{};
};

// Thrown by merge(): an Error with the report.
class MergeError : public Error {
 public:
  MergeError(Status status, MergeReport report)
      : Error(std::move(status)), report_(std::move(report)) {}
  const MergeReport& report() const noexcept { return report_; }

 private:
  MergeReport report_;
};

// Merges files. A failure leaves `output` as it was. The result is the same for any number of ranks
// and threads. *report is filled also after a failure. Errors: kConflict (see
// MergeReport::conflicts); the worst of MergeReport::unreadable; kUsage; kExists; kIo; kNoSpace.
NMB_EXPORT Status try_merge(const std::vector<std::string>& inputs, const std::string& output,
                            const MergeOptions& options, MergeReport* report);
inline MergeReport merge(const std::vector<std::string>& inputs, const std::string& output,
                         const MergeOptions& options = {}) {
  MergeReport report;
  Status status = try_merge(inputs, output, options, &report);
  if (!status.ok()) throw MergeError(std::move(status), std::move(report));
  return report;
}

}  // namespace nmb
