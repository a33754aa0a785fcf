// Reader: reads a committed generation of an NMB file, or a classic netCDF, netCDF-4 or HDF5 file.
//
//   nmb::Reader in("run.nmb");
//   std::vector<float> v = in.read<float>("station/north/temperature");
//   for (const nmb::BlockView& block : in.blocks("station/*"))
//     std::cout << block.name() << ": " << block.counts().records << " records\n";
//
// Each call reads only what it needs: totals and lists of blocks come from pages of the index, a
// variable from its block. A classic file is one block, whose name is empty; a group of an HDF5
// file is a block. Values that are read have been compared with their checksums, unless ReadOptions
// say otherwise.
//
// BlockView, VarView and AttView are handles that keep the file open; they may be copied and
// outlive the Reader. Reader and handles are thread-safe, except for the collective calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmb/array.h"
#include "nmb/counts.h"
#include "nmb/datatype.h"
#include "nmb/definitions.h"
#include "nmb/error.h"
#include "nmb/finding.h"
#include "nmb/options.h"
#include "nmb/statistics.h"
#include "nmb/types.h"

namespace nmb {

class Ranks;
struct BlockEntry;   // private
struct Dataset;      // private
struct ReaderState;  // private

// A filter of a chunk, with its number in HDF5's list of filters (1 deflate, 2 shuffle, ...).
struct ChunkFilter {
  std::uint32_t id = 0;
  std::string name{};
  std::vector<std::uint32_t> parameters{};
};

// How the file stores the values of a variable.
struct StoredValues {
  bool is_little_endian = false;       // whether numbers have the least significant byte first
  std::vector<std::uint64_t> chunk{};  // lengths of a chunk, one for each dimension, or nothing
  std::vector<ChunkFilter> filters{};  // in the order in which a writer applies them
  // Whether the variable is an HDF5 data set without values and dimensions (null dataspace).
  bool is_null = false;
};

// The fill value of a variable, which stands for missing values.
struct FillValue {
  enum class From : std::uint8_t {
    kAttribute,  // the attribute _FillValue, if it has one value of the variable's type
    kSet,        // otherwise, the fill value that was set for the HDF5 data set
    kDefault,    // otherwise, netCDF's default for the type; for variables from HDF5, zeros
  };
  Elements element{};  // one element
  From from = From::kDefault;
};

// A variable. Keeps the definitions of its block in memory.
class VarView {
 public:
  NMB_EXPORT std::string name() const;
  // Returns the type of the values; nullopt if they are neither numbers nor characters. Only
  // variables from HDF5 have such values: strings (see strings()), compounds and others.
  NMB_EXPORT std::optional<Type> type() const;
  // Returns the lengths of the dimensions, slowest first, and their names. The length of the
  // record dimension is the number of records.
  std::vector<std::uint64_t> shape() const { return check(try_shape()); }
  NMB_EXPORT Result<std::vector<std::uint64_t>> try_shape() const;
  NMB_EXPORT std::vector<std::string> dims() const;

  // Returns an attribute. Errors: kNotFound.
  AttView att(std::string_view name) const { return check(try_att(name)); }
  NMB_EXPORT Result<AttView> try_att(std::string_view name) const;
  NMB_EXPORT std::vector<AttView> atts() const;

  // Reads all values, or a hyperslab, in row-major order, converted to T. Missing values are
  // returned as the fill value; statistics leave them out. Errors: kUsage for a wrong hyperslab or
  // length, text and numbers mixed, or a variable with a null dataspace in HDF5, which has no
  // values; kRange if T cannot hold some values (all are converted); kDamaged if a checksum is
  // wrong; kUnsupported for a filter or an external file that may not be opened; kLimit; kIo.
  template <class T>
  std::vector<T> read() const {
    return check(try_read<T>());
  }
  template <class T>
  std::vector<T> read(const Hyperslab& slab) const {
    return check(try_read<T>(slab));
  }
  template <class T>
  Result<std::vector<T>> try_read() const {
    const Result<Hyperslab> slab = try_whole();
    return slab.ok() ? try_read<T>(*slab) : Result<std::vector<T>>(slab.status());
  }
  template <class T>
  Result<std::vector<T>> try_read(const Hyperslab& slab) const {
    check_element<T>();
    const Result<std::uint64_t> count = try_count(slab);
    if (!count.ok()) return count.status();
    std::vector<T> values;
    try {
      values.resize(static_cast<std::size_t>(*count));
    } catch (const std::exception&) {  // std::bad_alloc or std::length_error
      return no_room(*count);
    }
    const Status status = try_read(slab, values);
    return status.ok() ? Result<std::vector<T>>(std::move(values)) : status;
  }
  // Reads into `out`, whose length must be right.
  void read(MutableArray out) const { check(try_read(out)); }
  void read(const Hyperslab& slab, MutableArray out) const { check(try_read(slab, out)); }
  NMB_EXPORT Status try_read(MutableArray out) const;
  NMB_EXPORT Status try_read(const Hyperslab& slab, MutableArray out) const;
  // Returns strings. Variables of characters: one string for each index of all dimensions but the
  // last, without trailing NULs. Variables of an HDF5 string type: one for each element. Errors:
  // those of read().
  std::vector<std::string> strings() const { return check(try_strings()); }
  NMB_EXPORT Result<std::vector<std::string>> try_strings() const;
  // Collective for a Reader with ranks: all ranks read the same hyperslab. Rank 0 reads the file
  // and sends the values.
  void read_same(const Hyperslab& slab, MutableArray out) const { check(try_read_same(slab, out)); }
  NMB_EXPORT Status try_read_same(const Hyperslab& slab, MutableArray out) const;

  // Returns the type of the elements, whatever it is. Errors: kLimit.
  DataType datatype() const { return check(try_datatype()); }
  NMB_EXPORT Result<DataType> try_datatype() const;
  // Returns the path of the named type of the elements, as netCDF programs show it: HDF5 may store
  // a copy of the type without the name, which then is that of an equal type in the block or in a
  // block above it. Empty if no type is named.
  std::string type_name() const { return check(try_type_name()); }
  NMB_EXPORT Result<std::string> try_type_name() const;
  // Reads all elements, or a hyperslab, in the type that datatype() returns. The functions that
  // take memory need exactly as many bytes as the elements have; they append the parts of variable
  // length to `heap`, which may be nullptr if there are none. Errors: those of read(), without
  // kRange.
  Elements elements() const { return check(try_elements()); }
  Elements elements(const Hyperslab& slab) const { return check(try_elements(slab)); }
  NMB_EXPORT Result<Elements> try_elements() const;
  NMB_EXPORT Result<Elements> try_elements(const Hyperslab& slab) const;
  void read_elements(const Hyperslab& slab, std::span<std::byte> out,
                     std::vector<std::byte>* heap = nullptr) const {
    check(try_read_elements(slab, out, heap));
  }
  NMB_EXPORT Status try_read_elements(const Hyperslab& slab, std::span<std::byte> out,
                                      std::vector<std::byte>* heap = nullptr) const;
  FillValue fill_value() const { return check(try_fill_value()); }
  NMB_EXPORT Result<FillValue> try_fill_value() const;
  StoredValues stored() const { return check(try_stored()); }
  NMB_EXPORT Result<StoredValues> try_stored() const;

  // Returns the stored statistics, without reading values; nullopt if there are none.
  std::optional<VariableStatistics> statistics() const { return check(try_statistics()); }
  NMB_EXPORT Result<std::optional<VariableStatistics>> try_statistics() const;
  // Computes statistics from the values. level: not kNone.
  VariableStatistics compute_statistics(StatisticsLevel level, unsigned threads = 1) const {
    return check(try_compute_statistics(level, threads));
  }
  NMB_EXPORT Result<VariableStatistics> try_compute_statistics(StatisticsLevel level,
                                                               unsigned threads = 1) const;

 private:
  friend struct ReaderState;
  NMB_EXPORT Result<Hyperslab> try_whole() const;
  // Checks a hyperslab and returns the number of its elements.
  NMB_EXPORT Result<std::uint64_t> try_count(const Hyperslab& slab) const;
  NMB_EXPORT Status no_room(std::uint64_t count) const;
  std::shared_ptr<const ReaderState> file_;
  std::shared_ptr<const Dataset> dataset_;
  std::uint32_t id_ = 0;
};

// A variable under the name, and with the dimensions and attributes, that netCDF programs see.
struct ShownVariable {
  VarView var;
  std::string name;
  std::vector<std::uint32_t> dims;  // indexes into ShownBlock::dims
  std::vector<AttView> atts;
};

// A block under another name, which a link of HDF5 gives it.
struct OtherBlock {
  std::string name;   // of the link, in the block that has the link
  std::string block;  // name of the block to which it leads
};

// A block as netCDF programs see it. In blocks from netCDF-4 and HDF5, this leaves out the
// variables and attributes that netCDF and dimension scales need for themselves, and gives
// dimensions without a scale netCDF's names (docs/reference/hdf5.md). A variable to which several
// hard links and soft links lead is shown under each name, also in other blocks.
struct ShownBlock {
  std::vector<DimView> dims;
  std::vector<ShownVariable> vars;
  std::vector<AttView> atts;
  std::vector<OtherBlock> other_blocks;
};

// A block: its name and counts, from the index. The other functions load the definitions of the
// block, which the Reader keeps in a cache. Their errors are kDamaged, kUnsupported and kIo.
class BlockView {
 public:
  NMB_EXPORT const std::string& name() const;
  NMB_EXPORT const BlockCounts& counts() const;

  // Returns a variable. Errors: kNotFound.
  VarView var(std::string_view name) const { return check(try_var(name)); }
  NMB_EXPORT Result<VarView> try_var(std::string_view name) const;
  std::vector<VarView> vars() const { return check(try_vars()); }
  NMB_EXPORT Result<std::vector<VarView>> try_vars() const;
  std::vector<DimView> dims() const { return check(try_dims()); }
  NMB_EXPORT Result<std::vector<DimView>> try_dims() const;
  // Returns an attribute of the block. Errors: kNotFound.
  AttView att(std::string_view name) const { return check(try_att(name)); }
  NMB_EXPORT Result<AttView> try_att(std::string_view name) const;
  std::vector<AttView> atts() const { return check(try_atts()); }
  NMB_EXPORT Result<std::vector<AttView>> try_atts() const;
  // Returns the tags. Reads all tags of the file.
  std::vector<Tag> tags() const { return check(try_tags()); }
  NMB_EXPORT Result<std::vector<Tag>> try_tags() const;
  // Returns whether all definitions are classic netCDF. Blocks from HDF5 and netCDF-4 are not.
  NMB_EXPORT bool is_classic() const;
  // Returns the definitions as netCDF programs see them. The other functions return all definitions
  // as they are stored.
  ShownBlock shown() const { return check(try_shown()); }
  NMB_EXPORT Result<ShownBlock> try_shown() const;
  // Returns the definitions as CDL, as `ncdump -h` prints them.
  std::string cdl() const { return check(try_cdl()); }
  NMB_EXPORT Result<std::string> try_cdl() const;

 private:
  friend struct ReaderState;
  std::shared_ptr<const ReaderState> file_;
  std::shared_ptr<const BlockEntry> entry_;
};

// A hyperslab to read together with others.
struct ReadRequest {
  VarView var;
  Hyperslab slab;
  MutableArray out;
};

// A hyperslab to read together with others, in the type of the variable's elements.
struct ElementRequest {
  VarView var;
  Hyperslab slab;  // without `count`: all elements
  std::span<std::byte> out;
  std::vector<std::byte>* heap = nullptr;  // as in VarView::read_elements(); not shared by requests
};

class Reader {
 public:
  Reader() = default;
  // Opens the newest generation. Errors: kNotFound; kUnknownKind; kDamaged; kUnsupported; kIo.
  explicit Reader(const std::string& path, const ReadOptions& options = {})
      : Reader(check(try_open(path, options))) {}
  // Collective, for NMB files: rank 0 reads the head and sends it. All ranks pass the same path.
  // `ranks` must outlive the reader and its handles.
  Reader(const std::string& path, Ranks& ranks, const ReadOptions& options = {})
      : Reader(check(try_open(path, ranks, options))) {}
  NMB_EXPORT static Result<Reader> try_open(const std::string& path,
                                            const ReadOptions& options = {});
  NMB_EXPORT static Result<Reader> try_open(const std::string& path, Ranks& ranks,
                                            const ReadOptions& options = {});

  // Reads all values of the variable BLOCK/VARIABLE. Errors: those of var() and VarView::read().
  template <class T>
  std::vector<T> read(std::string_view full_name) const {
    return check(try_read<T>(full_name));
  }
  template <class T>
  Result<std::vector<T>> try_read(std::string_view full_name) const {
    const Result<VarView> found = try_var(full_name);
    return found.ok() ? found->template try_read<T>() : found.status();
  }
  // Reads many hyperslabs with few reads of the file, on up to `threads` threads. `statuses` is
  // empty or gets the status of each request; the first failure is returned.
  void read_many(std::span<const ReadRequest> requests, unsigned threads = 1) const {
    check(try_read_many(requests, {}, threads));
  }
  NMB_EXPORT Status try_read_many(std::span<const ReadRequest> requests,
                                  std::span<Status> statuses = {}, unsigned threads = 1) const;
  void read_elements(std::span<const ElementRequest> requests, unsigned threads = 1) const {
    check(try_read_elements(requests, {}, threads));
  }
  NMB_EXPORT Status try_read_elements(std::span<const ElementRequest> requests,
                                      std::span<Status> statuses = {}, unsigned threads = 1) const;

  // Returns a variable by its full name, or a block. Errors: kNotFound.
  VarView var(std::string_view full_name) const { return check(try_var(full_name)); }
  BlockView block(std::string_view name) const { return check(try_block(name)); }
  NMB_EXPORT Result<VarView> try_var(std::string_view full_name) const;
  NMB_EXPORT Result<BlockView> try_block(std::string_view name) const;
  // Returns the block at a position in the order of all names, from 0; reads one path of the index.
  // Errors: kNotFound.
  BlockView block_at(std::uint64_t position) const { return check(try_block_at(position)); }
  NMB_EXPORT Result<BlockView> try_block_at(std::uint64_t position) const;
  // Returns the block that has the object of a number, and the object's number in this block.
  // Objects are counted from 0 over all blocks in the order of names; count says which, for example
  // `in.block_with(&nmb::BlockCounts::samples, 17)`. Reads one path of the index. Errors:
  // kNotFound; kUsage for records.
  std::pair<BlockView, std::uint64_t> block_with(std::uint64_t BlockCounts::*count,
                                                 std::uint64_t number) const {
    return check(try_block_with(count, number));
  }
  NMB_EXPORT Result<std::pair<BlockView, std::uint64_t>> try_block_with(
      std::uint64_t BlockCounts::*count, std::uint64_t number) const;
  // Returns the blocks whose names match `glob`, in the order of names: `*` matches within a part
  // of a path, `**` across parts, `?` one character except '/', `[a-z]` and `[!a-z]` one character
  // that is or is not in a set, and `\` makes the next character literal. A block "a/b" does not
  // imply a block "a". Reads entries of the index only.
  std::vector<BlockView> blocks(std::string_view glob = "**") const {
    return check(try_blocks(glob));
  }
  NMB_EXPORT Result<std::vector<BlockView>> try_blocks(std::string_view glob = "**") const;
  // Visits these blocks one by one, until visit() returns false or a failure. from: blocks whose
  // names are less are left out.
  void for_each_block(std::string_view glob,
                      const std::function<Result<bool>(const BlockView&)>& visit,
                      std::string_view from = {}) const {
    check(try_for_each_block(glob, visit, from));
  }
  NMB_EXPORT Status try_for_each_block(std::string_view glob,
                                       const std::function<Result<bool>(const BlockView&)>& visit,
                                       std::string_view from = {}) const;
  // Returns the blocks for which an expression holds, for example
  // "temperature.max > 300 && site == 'north'". Comparisons (== != < <= > >=) are combined by &&,
  // || and !; text is in quotation marks. Names: TAG or a global attribute; VARIABLE@ATTRIBUTE;
  // VARIABLE.min, .max, .elements, .missing, .nan and .FUNCTION; any(COMPARISON), all(COMPARISON)
  // and count(COMPARISON) with the values of a variable; a name with characters other than letters,
  // digits and _-/:+ is put in backticks (docs/guides/find.md). Errors: kUsage for
  // wrong syntax, or only numbers beside texts; kNotFound if no block has a name in it;
  // kUnsupported (see FindOptions::on_warning); those of reading. A number that a user gives must
  // be checked before it becomes part of an expression.
  std::vector<BlockView> find(std::string_view expression, const FindOptions& options = {}) const {
    return check(try_find(expression, options));
  }
  NMB_EXPORT Result<std::vector<BlockView>> try_find(std::string_view expression,
                                                     const FindOptions& options = {}) const;
  // Loads blocks together. Collective for a Reader with ranks: rank 0 reads each block that all
  // ranks pass in `names`, and sends it to them.
  std::vector<BlockView> open_blocks(std::span<const std::string_view> names) const {
    return check(try_open_blocks(names));
  }
  std::vector<BlockView> open_blocks(std::initializer_list<std::string_view> names) const {
    return open_blocks(std::span(names.begin(), names.size()));
  }
  NMB_EXPORT Result<std::vector<BlockView>> try_open_blocks(
      std::span<const std::string_view> names) const;

  // Returns the totals of all blocks, or of those whose names begin with `prefix`; reads at most a
  // few pages of the index.
  NMB_EXPORT const Totals& totals() const;
  Totals totals(std::string_view prefix) const { return check(try_totals(prefix)); }
  NMB_EXPORT Result<Totals> try_totals(std::string_view prefix) const;
  // Returns the position of a block in the order of all names, from 0. Errors: kNotFound.
  std::uint64_t position(std::string_view block) const { return check(try_position(block)); }
  NMB_EXPORT Result<std::uint64_t> try_position(std::string_view block) const;

  NMB_EXPORT FileKind kind() const;
  NMB_EXPORT std::uint64_t file_length() const;
  // For files other than NMB files, the following functions return zeros, false or nothing.
  NMB_EXPORT std::uint64_t generation() const;
  // Returns a digest of everything in the generation that is read, values included: a file that
  // took the place of this one has another, unless it is a copy.
  NMB_EXPORT std::array<std::uint64_t, 2> generation_digest() const;
  NMB_EXPORT bool has_hdf5_view() const;
  NMB_EXPORT std::vector<Finding> warnings() const;  // defects that did not prevent opening
  // Returns the JSON objects of Writer::add_provenance(), oldest first.
  std::vector<std::string> provenance() const { return check(try_provenance()); }
  NMB_EXPORT Result<std::vector<std::string>> try_provenance() const;

 private:
  friend struct ReaderState;
  explicit Reader(std::shared_ptr<const ReaderState> state);
  std::shared_ptr<const ReaderState> state_;
};

}  // namespace nmb
