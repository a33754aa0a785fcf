// merge: makes one file of many. The inputs are classic netCDF, netCDF-4, HDF5 and NMB files in any
// mixture.
//
//   nmb::merge(files, "all.nmb");                                  // one block for each file
//   nmb::merge(files, "year.nmb", {.mode = nmb::Join{.along = "time"}});
//
#pragma once

#include <atomic>
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
// which its variables are taken. The old block keeps its global attributes, the variables that do
// not match the rule, and the dimensions that no variable uses.
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
  std::string name{};       // with kPrefix, kDimension and kAttribute
  std::uint64_t count = 1;  // with kCount
  // With kPrefix: whether variables that do not match stay in their block. If false, such variables
  // are conflicts.
  bool keep_unmatched = false;

  // Parses a rule: "group" (or ""), "prefix:REGEX", "vars:N", "one", "dim:NAME" or "key:ATT".
  // Errors: kUsage.
  static BlockRule parse(std::string_view text) { return check(try_parse(text)); }
  NMB_EXPORT static Result<BlockRule> try_parse(std::string_view text);
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
  std::uint64_t variables = 1;  // with kVariables
  std::string dimension{};      // with kDimension

  // Parses a rule: "" (the default), "vars:N", "dim:NAME", "group" or "none". Errors: kUsage.
  static SampleRule parse(std::string_view text) { return check(try_parse(text)); }
  NMB_EXPORT static Result<SampleRule> try_parse(std::string_view text);
};

// How blocks of the output get a tag (spec/tables.md, section 9.4).
struct TagRule {
  enum class From : std::uint8_t {
    // The value is made from the template `value`, a text with fields. {1}, {2} and so on are the
    // captures of MergeOptions::tag_names or, if this is empty, of the kPrefix rule that divided
    // the block. {stem}, {path}, {index} and {group} are as in MergeOptions::block_name. If the
    // expression does not match, or a capture has no text, the block does not get the tag. The
    // tag's type depends on the text: int64 or uint64 for a decimal integer in their range, double
    // for another decimal number in its range, and text for everything else.
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
  static TagRule parse(std::string_view text) { return check(try_parse(text)); }
  NMB_EXPORT static Result<TagRule> try_parse(std::string_view text);
};

// A part of many blocks. The blocks are numbered from 0 in the order of the inputs, and by name
// within an input. The number of a block modulo `count` is its shard, counted from 0.
struct BlockShard {
  std::uint64_t first = 1;  // the first shard of the part, from 1 to `count`
  std::uint64_t count = 0;  // the number of all shards; must be set
  std::uint64_t width = 1;  // the number of consecutive shards of the part
  // If set, the number of a block is instead the XXH3-64 of its name with this seed. It does not
  // depend on other blocks, on the order of the inputs, or on other conditions.
  std::optional<std::uint64_t> seed{};

  bool is_all() const { return width == count; }
};

// The blocks of the inputs that are packed: those for which all conditions hold. The name of a
// block is its name in the NMB input, the name of the group in the HDF5 input, or the name of the
// classic file without folder and ending. A block below a packed block is packed only if the
// conditions hold for it too. A packed block may use dimensions and datatypes of groups above it.
// Such groups are packed with their attributes, datatypes and dimension scales (coordinates), but
// without their other variables. Links and references to objects that are not packed are left out.
//
// In the modes other than Pack, there must be one input, an NMB file, whose blocks count as inputs
// (see below). The conditions must also hold for a block below such a block.
struct BlockChoice {
  // If set, only blocks with these names. A name that no input has is an error.
  std::optional<std::vector<std::string>> names{};
  // If set, only blocks for whose names this function returns false. Must be thread-safe.
  // On several ranks, it must return the same on all of them, because they do not compare it.
  std::function<Result<bool>(std::string_view block)> excludes{};
  // If set, only blocks for which this expression holds (Reader::find()). A name in the expression
  // that no block has is an error. The expression is evaluated only for blocks for which the
  // conditions above hold.
  std::optional<std::string> where{};
  // If set, only this part of the blocks for which all other conditions hold.
  std::optional<BlockShard> shard{};
};

// --- how blocks of the same name in several inputs are merged ---
// In the modes other than Pack, a block that several inputs have becomes a classic dataset, and
// objects of the same name must have the same type and dimensions (docs/reference/merging.md).
// Attributes that determine the meaning of values must have the same value: units, units_metadata,
// calendar, leap_year, leap_month, month_lengths, _FillValue, missing_value, valid_*, scale_factor,
// add_offset, _Unsigned, _Encoding, dtype, compress, axis, positive, standard_name, cell_methods
// and flag_*. If another attribute differs, the output has its first value.
//
// If the only input is an NMB file, each of its blocks counts as an input: the block becomes the
// root block, and the blocks below a group go with it. If the root block of the NMB file is a
// group, the whole file counts as one input. Join orders these inputs by time: by the first value
// of the coordinate variable of the joined dimension in each of them, or by name if no block has
// this variable. Blocks without values come last.

// Blocks are not merged; the same name in two inputs is a conflict.
struct Pack {
  // Whether to add the blocks as a new generation to the output, which must exist. A failure never
  // changes the output's content. A block whose name exists in the output is a conflict.
  bool append = false;
  // With append: whether a block of an input replaces a block of the output that has the same name.
  // Blocks below the replaced block stay.
  bool replace = false;
  // Without block_by and compression: whether values stay in the inputs. The output then has the
  // blocks, and the positions of their values in the inputs. Data of HDF5 inputs that NMB stores in
  // another form (tables of chunks, strings) are copied into the output. Fails with kUnsupported if
  // MergeOptions::external does not allow the path of an input.
  bool link = false;
  // With MergeOptions::originals: which digests of packed files are recorded. A stored whole file
  // always has its XXH3-128. Digests of classic files are recorded with their blocks.
  RecordedDigests digests = RecordedDigests::kNone;
  // Without block_by: which blocks of the inputs are packed. An original (MergeOptions::originals)
  // is stored only if all blocks of its file are packed. Fails with kNotFound if no block is
  // packed.
  std::optional<BlockChoice> choice{};
};

// How a merge treats an object if the first input has another object of its name.
enum class Mismatch : std::uint8_t {
  kConflict,
  kSkip,  // the object is left out
  // Numeric variables of different types get the narrowest type that holds all their values, if
  // there is such a type. Attributes are compared as numbers; _FillValue, missing_value, valid_*
  // and flag_* get the variable's type. In classic and netCDF-4 inputs, a variable without
  // _FillValue has the default fill value of its old type. If the old type has two bytes or more,
  // this fill value becomes the default fill value of the new type. Variables with _Unsigned, and
  // parts of divided blocks, are not widened. Other objects that do not match are conflicts.
  kWiden,
};

// The values and attributes in which blocks of the same name must agree, in all modes but Pack.
struct Agreement {
  bool strict_attributes = false;  // whether each attribute must have the same value in all inputs
  // Whether values that are neither joined nor divided into tiles are taken from the first input
  // that has them, without comparing them.
  bool first_values = false;
};

// Blocks become one block with all their objects; objects of the same name become one object and
// must have the same values.
struct Union {
  Agreement agreement{};
  Mismatch on_mismatch = Mismatch::kConflict;
  std::optional<BlockChoice> choice{};  // which blocks of the only input count as inputs
};

// Blocks with the same objects become one block; values are concatenated along a dimension.
struct Join {
  // The dimension along which values are concatenated. "" means the record dimension; "axis:0"
  // means the first dimension of each variable. A name means the dimension of this name in the
  // highest group that has one; "/GROUP/NAME" means the dimension of this group.
  std::string along{};
  // Name of the variable that lists the events in each input, as "BLOCK/VARIABLE". Without
  // "BLOCK/", the variable is in the block "spill". The list has integers that do not decrease, and
  // each new value is a new event. Events are numbered from 0 over all inputs. If a block has a
  // joined variable named VARIABLE with one value for each row, the block gets a variable
  // VARIABLE.seq (kInt64). It holds the event number of each row. If the key is not empty, all
  // blocks become classic datasets.
  std::string key{};
  // A line to add to the global attribute `history` of the root block, before its text. The line is
  // added if several inputs have a root block. If empty, no line is added.
  std::string history{};
  // Whether the global attribute tracking_id, which identifies a single file, is removed from each
  // block that several inputs have.
  bool drop_tracking_id = false;
  Agreement agreement{};
  Mismatch on_mismatch = Mismatch::kConflict;  // as in Union
  // Whether missing values are replaced with fill values. Values are missing if an input lacks a
  // variable or block.
  bool fill_missing = false;
  bool monotonic = false;  // whether a coordinate that is not monotonic is a conflict
  // Whether joined times in other units ("days since ...", same calendar) get the units of the
  // first input. A time that is not exact in these units is a conflict.
  bool rebase_times = false;
  std::optional<BlockChoice> choice{};  // as in Union
};

// Blocks with the same objects become one block; each input has one tile of the values, which its
// domain_decomposition attributes describe.
struct Tiles {
  Agreement agreement{};
  bool skip_mismatches = false;         // as Mismatch::kSkip; values of tiles are not widened
  bool fill_missing = false;            // as in Join; also fills elements that no tile has
  std::optional<BlockChoice> choice{};  // as in Union
};

using MergeMode = std::variant<Pack, Union, Join, Tiles>;

struct MergeOptions {
  MergeMode mode = Pack();

  // --- what is written ---
  // NMB, HDF5 or, if one block results of Union, Join or Tiles, a classic kind.
  FileKind to = FileKind::kNmb;
  // With kHdf5: whether the file is written so that netCDF-4 programs can read all of it.
  bool netcdf = true;
  // Names of blocks, with the fields {stem}, {path}, {index} and {group} of the input. "": {stem}
  // for classic files, {stem}/{group} for others, and {group} for modes other than Pack.
  std::string block_name{};
  BlockRule block_by{};
  SampleRule samples{};
  std::vector<TagRule> tags{};
  std::string tag_names{};  // regular expression (PCRE2) on names of blocks, for captures of `tags`
  // A numeric variable as BLOCK/VARIABLE: the inputs are ordered by the first value that the
  // variable has in each of them.
  std::string sort_by{};
  Storing storing{};
  Hdf5View hdf5_view = Hdf5View::kOff;
  StatisticsLevel statistics = StatisticsLevel::kNone;
  // Whether HDF5 and netCDF-4 inputs are stored byte for byte too. Needs an NMB output of mode
  // Pack, without block_by, storing and Pack::link.
  bool originals = false;

  // --- what happens to the files ---
  bool replace = false;  // whether the output may replace an existing file
  bool sync = true;      // whether the call waits until the data are on the device
  bool dry_run = false;  // whether only inputs and options are checked
  bool check = false;    // without dry_run: whether what is written is read back and compared
  bool strict = false;   // whether a warning is a conflict
  ExternalPaths external = ExternalPaths::kBeneath;  // which external files of inputs are read
  // If not empty, a call that ends early leaves hidden files beside the output. A later call with
  // the same text and the same inputs (by name, size and time of change) goes on from there. The
  // text must state all options above that change the output.
  std::string resume{};

  // --- what changes the speed ---
  unsigned threads = 1;
  // If set, the call is collective: each of these ranks reads a part of the inputs. All get the
  // outcome; rank 0 gets the report. The arguments must be the same on all ranks, except `threads`,
  // callbacks and pointers.
  Ranks* ranks = nullptr;
  // --- callback and cancelling ---
  // Called by one thread at a time. `done` and `total` count bytes of values.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
  // If set, the call stops with kIo "interrupted" once *cancel is true, and the output stays as it
  // was.
  const std::atomic<bool>* cancel = nullptr;
};

// Why inputs cannot be merged, or how one of them differs.
struct Conflict {
  std::string kind{};  // "type", "values", "missing variable", ... (docs/reference/merging.md)
  // The object on which the inputs do not agree: "BLOCK/VARIABLE", "BLOCK/DIMENSION" or
  // "BLOCK/VARIABLE@ATTRIBUTE"; without "BLOCK/" in the root block. `kind` says which: "dimension",
  // "length" and "missing dimension" are about dimensions.
  std::string object{};
  std::string first_file{}, second_file{};  // second_file is "" if the conflict is in one file
  std::string found{}, expected{};          // with two files: in the second, in the first
  std::string text{};                       // all of this
  // The file that does not agree.
  const std::string& file() const { return second_file.empty() ? first_file : second_file; }
};

struct MergeReport {
  // If there are any, nothing is written. Lists only the first difference of each object of an
  // input: a variable of another type, for example, is not compared further.
  std::vector<Conflict> conflicts{};
  std::vector<Conflict> differing{};  // attributes that differ: the first value was kept
  std::vector<Conflict> left_out{}, filled{}, widened{}, rebased{};  // effects of options
  std::vector<std::string> losses{};  // content of inputs that the output lacks
  std::vector<Status> unreadable{};   // inputs that cannot be used
  std::vector<std::string> warnings{};
  std::uint64_t inputs = 0, bytes_in = 0, bytes_out = 0;
  Totals totals{};
};

// Thrown by merge(): an Error with the report. what() says how many
// conflicts there are, or which input cannot be used; the report has them all.
class MergeError : public Error {
 public:
  MergeError(Status status, MergeReport report)
      : Error(std::move(status)), report_(std::move(report)) {}
  const MergeReport& report() const noexcept { return report_; }

 private:
  MergeReport report_;
};

// Merges files. A failure leaves `output` as it was. The result is the same for any number of ranks
// and threads. *report is filled also after a failure; `report` may be null. Errors: kConflict (see
// MergeReport::conflicts); the worst of MergeReport::unreadable; kUsage, for example for an option
// that has no effect with the others; kExists; kIo; kNoSpace.
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
