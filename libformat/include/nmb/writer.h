// Writer: creates an NMB file, or adds a generation to one.
//
//   nmb::Writer out("run.nmb");
//   nmb::Block north = out.block("station/north");
//   nmb::Dim time = north.dim("time", nmb::kUnlimited);
//   nmb::Var t = north.var<float>("temperature", {time}).att("units", "K");
//   t.put(values);
//   out.close();
//
// The file shows nothing new before sync() or close() returns: a new file has no name until then,
// and a writer that is destroyed without close() leaves everything as it was. A failure never
// changes what was committed.
//
// Block, Dim and Var are handles: small, cheap to copy, and useless after close() (kUsage). A call
// that mixes handles of two blocks or writers fails with kUsage. A handle or Writer that is made
// without arguments is empty until it is assigned.
//
// Several ranks: each rank makes a Writer of the same path with its Ranks. Writer(), open_blocks(),
// end_define(), redefine(), discard(), extend(), put_all(), wait_all(), get_all(), flush(), sync(),
// close() and report() are then collective; all other calls are local. Several ranks may define the
// same new block, each in full or in part. The block becomes the union of these definitions, and
// end_define() fails with kConflict if they disagree. Later, a block is changed by one rank, or by
// several that change it alike, so that they get the same objects in the same order; ranks that
// share an uncommitted block, or have put uncommitted values into the block, must be among them,
// else end_define() fails with kConflict.
// The other ranks see the change, and may put values into the block, after sync(); until then,
// their put() fails with kUsage. One rank alone renames or removes a block. Definitions come before
// end_define(), values after it. The content of the file does not depend on the number of ranks;
// its bytes do not either if the ranks define the blocks in the order of ranks. A writer of one
// rank needs neither end_define() nor redefine(), because it calls them itself; a program that
// defines many blocks before it puts values is faster than one that alternates, and its file is
// smaller.
//
// Errors: after kUsage, kExists, kNotFound or kRange, the writer can still be used. If one rank
// passes a wrong argument to a collective call, all ranks get the error and nothing changes; only
// after kRange, all values are put. After any other failure of sync() or close(), and of a
// collective call on several ranks, and after kIo, kNoSpace or kDamaged, every later call that can
// fail returns the same failure. A writer and its handles belong to one thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmb/array.h"
#include "nmb/definitions.h"
#include "nmb/error.h"
#include "nmb/options.h"
#include "nmb/statistics.h"
#include "nmb/types.h"

namespace nmb {

class Block;
class Ranks;
class Writer;
struct Get;          // private
struct WriterState;  // private

struct WriteOptions {
  // --- what happens to the file ---
  enum class Mode : std::uint8_t {
    kCreate,   // makes a new file; fails with kExists if the path exists
    kReplace,  // makes a new file, which replaces an existing one when it is committed, and gets
               // its permissions; fails with kExists for a symbolic link
    kAppend,   // adds a generation to an existing NMB file
  };
  Mode mode = Mode::kCreate;
  bool sync = true;  // whether sync() and close() wait until the data are on the device

  // --- what changes the bytes ---
  Hdf5View hdf5_view = Hdf5View::kOff;  // whether HDF5 programs can read the file
  // Statistics to keep of each block that is written, and a program's own functions of values.
  StatisticsLevel statistics = StatisticsLevel::kNone;
  std::vector<ValueFunction> functions{};
  // New files: the most bytes of values under one checksum, a power of 2 from 65,536 to 2^30.
  std::uint32_t piece_size = 1 << 20;
  // Stripe size of the file in bytes, 0 or a power of 2 from 4096 to 2^30: extents and pieces of at
  // least this length begin at multiples of it. 0: large extents begin at multiples of 4096.
  std::uint64_t alignment = 0;

  // --- what changes the speed ---
  int aggregators = 0;  // number of ranks that write metadata for all; 0: automatic
  bool mpi_io = false;  // whether the file is accessed by MPI-IO (kUsage without MPI ranks)
  std::vector<std::pair<std::string, std::string>> hints{};  // for MPI-IO: keys and values

  // --- callback ---
  // Called on rank 0 with a sentence: for kAppend, each repair of what a killed writer left; for
  // close(), why the file has no HDF5 view or what the view leaves out.
  std::function<void(const std::string&)> on_warning{};
};

// A dimension of a block that is written.
class Dim {
 public:
  Dim() = default;

 private:
  friend class Block;
  Dim(std::uint64_t writer, std::uint32_t block, std::uint32_t id)
      : writer_(writer), block_(block), id_(id) {}
  std::uint64_t writer_ = 0;  // number of the writer, which no other writer of the process has
  std::uint32_t block_ = 0, id_ = 0;
};

// A put that iput() has begun and that wait() or wait_all() of the same writer completes; until
// then, it is open. 0 is never a request.
enum class Request : std::uint64_t {};

// A variable of a block that is written.
class Var {
 public:
  Var() = default;

  // Sets an attribute to text, a number or numbers, and gives it their type. Returns the variable,
  // so that calls can be chained. A _FillValue must be one value; it gets the type of the variable.
  // Errors: kUsage, also for a _FillValue that this type cannot hold exactly, or that changes while
  // some values of the variable are not written.
  Var& att(std::string_view name, ConstArray values) { return check(try_att(name, values)), *this; }
  NMB_EXPORT Status try_att(std::string_view name, ConstArray values);
  // Converts the numbers. Errors: kRange if one does not fit `type`; nothing is set then. kUsage
  // for a _FillValue of another type than the variable's.
  Var& att(std::string_view name, Type type, ConstArray numbers) {
    return check(try_att(name, type, numbers)), *this;
  }
  NMB_EXPORT Status try_att(std::string_view name, Type type, ConstArray numbers);
  // Renames or removes an attribute, or renames the variable. Errors: kExists, kNotFound, kUsage.
  void rename_att(std::string_view from, std::string_view to) { check(try_rename_att(from, to)); }
  NMB_EXPORT Status try_rename_att(std::string_view from, std::string_view to);
  void remove_att(std::string_view name) { check(try_remove_att(name)); }
  NMB_EXPORT Status try_remove_att(std::string_view name);
  void rename(std::string_view name) { check(try_rename(name)); }
  NMB_EXPORT Status try_rename(std::string_view name);

  // Errors of all puts: kUnsupported for a block that came from HDF5 or netCDF-4, and for a part of
  // values that are in another file or in an original.

  // Puts all values in row-major order, converted to the variable's type. If the variable has
  // records, the values are those of its first records, as many as there are values for; later
  // records stay. Errors: kRange if some values do not fit the type (all are put); kUsage for a
  // wrong number of values.
  void put(ConstArray values) { check(try_put(values)); }
  NMB_EXPORT Status try_put(ConstArray values);
  // Puts a hyperslab, and adds records as needed.
  void put(const Hyperslab& slab, ConstArray values) { check(try_put(slab, values)); }
  NMB_EXPORT Status try_put(const Hyperslab& slab, ConstArray values);
  // Puts whole records, from number `first` on: as many as `values` has.
  void put_records(DimIndex first, ConstArray values) { check(try_put_records(first, values)); }
  NMB_EXPORT Status try_put_records(DimIndex first, ConstArray values);
  // Puts one string for each index of all dimensions but the last. The length of the last dimension
  // is the length of a string; shorter strings are padded with NULs. The type must be kChar.
  // Errors: kUsage, also if a string is too long.
  void put_strings(std::span<const std::string> strings) { check(try_put_strings(strings)); }
  void put_strings(std::initializer_list<std::string> strings) {
    put_strings(std::span(strings.begin(), strings.size()));
  }
  NMB_EXPORT Status try_put_strings(std::span<const std::string> strings);

  // Collective: each rank puts its own hyperslab, or none, and records are added as needed. Where
  // hyperslabs overlap, the values of the highest rank stay. If all ranks put the same values, they
  // are written once, and not sent. Errors: those of put(), on all ranks.
  void put_all(const Hyperslab& slab, ConstArray values) { check(try_put_all(slab, values)); }
  void put_all() { check(try_put_all()); }
  NMB_EXPORT Status try_put_all(const Hyperslab& slab, ConstArray values);
  NMB_EXPORT Status try_put_all();  // takes part without values

  // Reads all values, or a hyperslab, as VarView::read() does, before they are committed: the
  // committed values, all that this rank has put, and all that other ranks had put at the last
  // flush(), get_all(), sync() or redefine(). Values that were never put are the fill value. Not in
  // define mode of several ranks. Errors: kUsage for a wrong hyperslab or length, text and numbers
  // mixed; kRange if some values do not fit the type of `out` (all are read); kUnsupported for a
  // block from HDF5 or netCDF-4; kDamaged; kIo.
  void get(MutableArray out) { check(try_get(out)); }
  void get(const Hyperslab& slab, MutableArray out) { check(try_get(slab, out)); }
  NMB_EXPORT Status try_get(MutableArray out);
  NMB_EXPORT Status try_get(const Hyperslab& slab, MutableArray out);
  // Collective: sees all values that any rank has put. Each rank reads its own hyperslab, or none.
  void get_all(const Hyperslab& slab, MutableArray out) { check(try_get_all(slab, out)); }
  void get_all() { check(try_get_all()); }
  NMB_EXPORT Status try_get_all(const Hyperslab& slab, MutableArray out);
  NMB_EXPORT Status try_get_all();  // takes part without reading

  // Begins a put. `values` must stay valid and unchanged until the request is complete.
  Request iput(ConstArray values) { return check(try_iput(values)); }
  Request iput(const Hyperslab& slab, ConstArray values) { return check(try_iput(slab, values)); }
  NMB_EXPORT Result<Request> try_iput(ConstArray values);
  NMB_EXPORT Result<Request> try_iput(const Hyperslab& slab, ConstArray values);
  // Temporary values, which are gone when the call returns, do not compile.
  template <TemporaryNumbers T>
  Request iput(T&& values) = delete;
  template <TemporaryNumbers T>
  Request iput(const Hyperslab& slab, T&& values) = delete;
  template <TemporaryNumbers T>
  Result<Request> try_iput(T&& values) = delete;
  template <TemporaryNumbers T>
  Result<Request> try_iput(const Hyperslab& slab, T&& values) = delete;
  template <class T>
  Request iput(std::initializer_list<T> values) = delete;
  template <class T>
  Request iput(const Hyperslab& slab, std::initializer_list<T> values) = delete;
  template <class T>
  Result<Request> try_iput(std::initializer_list<T> values) = delete;
  template <class T>
  Result<Request> try_iput(const Hyperslab& slab, std::initializer_list<T> values) = delete;

 private:
  friend class Block;
  friend class Writer;
  Var(std::shared_ptr<WriterState> writer, std::uint32_t block, std::uint32_t id)
      : writer_(std::move(writer)), block_(block), id_(id) {}
  std::shared_ptr<WriterState> writer_;
  std::uint32_t block_ = 0, id_ = 0;
};

struct DefinedVar {
  Var var;
  std::string name;
  Type type;
  std::vector<std::uint32_t> dims;  // indexes into BlockDefinitions::dims
  std::vector<AttView> atts;
};

struct BlockDefinitions {
  std::vector<DimView> dims;
  std::vector<DefinedVar> vars;
  std::vector<AttView> atts;
};

// A block that is written: dimensions, variables and attributes under a name, which is a path.
class Block {
 public:
  Block() = default;

  // Defines a dimension of at least 1. A block may have one record dimension, with the length
  // kUnlimited. Errors: kExists, kUsage.
  Dim dim(std::string_view name, DimIndex length) { return check(try_dim(name, length)); }
  Dim dim(std::string_view name, UnlimitedLength) { return check(try_dim(name, kUnlimited)); }
  NMB_EXPORT Result<Dim> try_dim(std::string_view name, DimIndex length);
  Result<Dim> try_dim(std::string_view name, UnlimitedLength all) { return define_dim(name, all); }
  // Finds a dimension that this rank has defined or the file has. Errors: kNotFound.
  Dim dim(std::string_view name) { return check(try_dim(name)); }
  NMB_EXPORT Result<Dim> try_dim(std::string_view name);

  // Defines a variable of the type T or `type`, slowest dimension first; only the first may be
  // unlimited. Without dimensions, it has one value. Errors: kExists, kUsage.
  template <class T>
  Var var(std::string_view name, std::initializer_list<Dim> dims = {}) {
    return check(try_var(name, type_of<T>(), {dims.begin(), dims.size()}));
  }
  template <class T>
  Var var(std::string_view name, std::span<const Dim> dims) {
    return check(try_var(name, type_of<T>(), dims));
  }
  Var var(std::string_view name, Type type, std::span<const Dim> dims) {
    return check(try_var(name, type, dims));
  }
  NMB_EXPORT Result<Var> try_var(std::string_view name, Type type, std::span<const Dim> dims);
  // Finds a variable that this rank has defined or the file has. Errors: kNotFound.
  Var var(std::string_view name) { return check(try_var(name)); }
  NMB_EXPORT Result<Var> try_var(std::string_view name);

  // Sets an attribute of the block, as Var::att() does for a variable.
  Block& att(std::string_view name, ConstArray values) {
    return check(try_att(name, values)), *this;
  }
  Status try_att(std::string_view name, ConstArray values) {
    return try_att(name, type_for(values.type()), values);
  }
  Block& att(std::string_view name, Type type, ConstArray numbers) {
    return check(try_att(name, type, numbers)), *this;
  }
  NMB_EXPORT Status try_att(std::string_view name, Type type, ConstArray numbers);
  // Renames or removes an attribute of the block, or renames a dimension. Errors: kExists,
  // kNotFound, kUsage.
  void rename_att(std::string_view from, std::string_view to) { check(try_rename_att(from, to)); }
  NMB_EXPORT Status try_rename_att(std::string_view from, std::string_view to);
  void remove_att(std::string_view name) { check(try_remove_att(name)); }
  NMB_EXPORT Status try_remove_att(std::string_view name);
  void rename(const Dim& dim, std::string_view name) { check(try_rename(dim, name)); }
  NMB_EXPORT Status try_rename(const Dim& dim, std::string_view name);

  // Sets the number of samples, which readers count without reading blocks; the default is 0. If
  // several ranks define the block, the largest number counts. The numbers of a file, and their
  // sum, are at most 2^63 - 1 (kLimit).
  Block& samples(DimIndex number) { return check(try_samples(number)), *this; }
  NMB_EXPORT Status try_samples(DimIndex number);
  // Sets a tag of a block that is not committed yet; Reader::find() finds blocks by their tags.
  template <class T>
  Block& tag(std::string_view name, const T& value) {
    return check(try_tag(name, value)), *this;
  }
  NMB_EXPORT Status try_tag(std::string_view name, TagValue value);
  template <class T>
  Status try_tag(std::string_view name, const T& value) {
    static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, char>,
                  "a tag is text or a number, not a truth value or a character");
    if constexpr (std::is_floating_point_v<T>)
      return try_tag(name, TagValue(static_cast<double>(value)));
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return try_tag(name, TagValue(std::int64_t{value}));
    else if constexpr (std::is_integral_v<T>)
      return try_tag(name, TagValue(std::uint64_t{value}));
    else if constexpr (std::is_pointer_v<T>)
      return value ? try_tag(name, TagValue(std::string(value)))
                   : Status(Code::kUsage, "the text of a tag is a null pointer");
    else
      return try_tag(name, TagValue(std::string(value)));
  }

  // Returns what this rank knows of the block's definitions: its own, and those of the file. After
  // Writer::open_blocks(), also those of other ranks. Later definitions do not change the result.
  BlockDefinitions definitions() { return check(try_definitions()); }
  NMB_EXPORT Result<BlockDefinitions> try_definitions();

  std::uint64_t records() { return check(try_records()); }
  NMB_EXPORT Result<std::uint64_t> try_records();
  // Collective: gives the block at least `records` records, with space in the file, so that put()
  // of any rank writes there directly. Ranks that share the block pass the same number.
  void extend(DimIndex records) { check(try_extend(records)); }
  NMB_EXPORT Status try_extend(DimIndex records);

 private:
  friend class Writer;
  NMB_EXPORT Result<Dim> define_dim(std::string_view name, std::uint64_t length);
  Block(std::shared_ptr<WriterState> writer, std::uint32_t id)
      : writer_(std::move(writer)), id_(id) {}
  std::shared_ptr<WriterState> writer_;
  std::uint32_t id_ = 0;
};

// A hyperslab to read through a Writer together with others.
struct GetRequest {
  Var var;
  Hyperslab slab;
  MutableArray out;
};

class Writer {
 public:
  Writer() = default;
  // Errors: kExists; kUsage for an empty path or an option out of range; kUnknownKind, kDamaged,
  // kUnsupported and kBusy (another writer has the file) with kAppend; kIo; kNoSpace.
  explicit Writer(const std::string& path, const WriteOptions& options = {})
      : Writer(check(try_open(path, options))) {}
  // Collective. `ranks` must outlive the writer.
  Writer(const std::string& path, Ranks& ranks, const WriteOptions& options = {})
      : Writer(check(try_open(path, ranks, options))) {}
  NMB_EXPORT static Result<Writer> try_open(const std::string& path,
                                            const WriteOptions& options = {});
  NMB_EXPORT static Result<Writer> try_open(const std::string& path, Ranks& ranks,
                                            const WriteOptions& options = {});
  NMB_EXPORT Writer(Writer&&) noexcept;
  NMB_EXPORT Writer& operator=(Writer&&) noexcept;
  // Without close(), everything uncommitted is lost, and the next collective call of these Ranks
  // fails on all ranks, unless the last collective call has failed on all of them.
  NMB_EXPORT ~Writer();

  // Finds a block of the file or of this rank, or defines it if there is none. Errors: kUsage if
  // the name is illegal (spec/format.md, section 8.4).
  Block block(std::string_view name) { return check(try_block(name)); }
  NMB_EXPORT Result<Block> try_block(std::string_view name);
  // Finds a block of the file or of this rank. Errors: kNotFound.
  Block find_block(std::string_view name) { return check(try_find_block(name)); }
  NMB_EXPORT Result<Block> try_find_block(std::string_view name);
  // Finds blocks of any rank, also uncommitted ones. Collective, after end_define(); each rank
  // passes the names that it needs. Errors: kNotFound.
  std::vector<Block> open_blocks(std::span<const std::string_view> names) {
    return check(try_open_blocks(names));
  }
  std::vector<Block> open_blocks(std::initializer_list<std::string_view> names) {
    return open_blocks(std::span(names.begin(), names.size()));
  }
  NMB_EXPORT Result<std::vector<Block>> try_open_blocks(std::span<const std::string_view> names);
  // Remove or rename a block. Errors: kExists; kUnsupported for a block that came from HDF5 or
  // netCDF-4, because other blocks may refer to it.
  void remove(const Block& block) { check(try_remove(block)); }
  NMB_EXPORT Status try_remove(const Block& block);
  void rename(const Block& block, std::string_view name) { check(try_rename(block, name)); }
  NMB_EXPORT Status try_rename(const Block& block, std::string_view name);
  // Records how the file was made: one JSON object of at most 8 MiB per call, which the next commit
  // writes. Only rank 0's count.
  // Errors: kUsage, also if the text is not one JSON object in UTF-8.
  void add_provenance(std::string_view json) { check(try_add_provenance(json)); }
  NMB_EXPORT Status try_add_provenance(std::string_view json);

  // Ends definitions: places blocks in the file, and compares what several ranks have defined.
  void end_define() { check(try_end_define()); }
  NMB_EXPORT Status try_end_define();
  // Ends define mode without the definitions since redefine(), or since the writer was made.
  // Collective. Errors: kUsage outside define mode; kUnsupported, and nothing changes, after
  // remove() or rename() of a block from before.
  void discard() { check(try_discard()); }
  NMB_EXPORT Status try_discard();
  // Begins definitions again. Values that were put stay, and requests stay open.
  void redefine() { check(try_redefine()); }
  NMB_EXPORT Status try_redefine();

  // Closes requests without putting their values. Errors: as for wait().
  void cancel(std::span<const Request> requests) { check(try_cancel(requests)); }
  NMB_EXPORT Status try_cancel(std::span<const Request> requests);
  // Completes requests together, in file order and with few writes. Where requests overlap, the
  // values of the later one in `requests` stay. `statuses` is empty or gets the status of each
  // request. wait_all() is collective; a rank without requests passes none. Errors: kUsage, with
  // all requests still open, if one is not an open request of this writer.
  void wait(std::span<const Request> requests) { check(try_wait(requests)); }
  void wait_all(std::span<const Request> requests = {}) { check(try_wait_all(requests)); }
  void wait(std::initializer_list<Request> some) { wait(std::span(some.begin(), some.size())); }
  void wait_all(std::initializer_list<Request> some) {
    wait_all(std::span(some.begin(), some.size()));
  }
  NMB_EXPORT Status try_wait(std::span<const Request> requests, std::span<Status> statuses = {});
  NMB_EXPORT Status try_wait_all(std::span<const Request> requests = {},
                                 std::span<Status> statuses = {});

  // Read several hyperslabs, as Var::get() and Var::get_all() do. get_all() is collective; a rank
  // that reads nothing passes none. `statuses` is empty or gets the status of each request. If some
  // fail, the others are read nevertheless, and the first failure is returned; get_all() returns
  // that of the lowest rank.
  void get(std::span<const GetRequest> requests) { check(try_get(requests)); }
  void get_all(std::span<const GetRequest> requests = {}) { check(try_get_all(requests)); }
  NMB_EXPORT Status try_get(std::span<const GetRequest> requests, std::span<Status> statuses = {});
  NMB_EXPORT Status try_get_all(std::span<const GetRequest> requests = {},
                                std::span<Status> statuses = {});
  // Collective: writes all values that were put to the file, so that a get() of any rank sees them
  // and Block::records() is the same on all ranks. Does not commit.
  void flush() { check(try_flush()); }
  NMB_EXPORT Status try_flush();

  // Commits a generation: readers that open the file from now on see it. When the call returns, the
  // generation is on the device (but see WriteOptions::sync).
  void sync() { check(try_sync()); }
  NMB_EXPORT Status try_sync();
  // Commits and closes. Fails with kUsage while requests are open.
  void close() { check(try_close()); }
  NMB_EXPORT Status try_close();

  // Returns the number of the last commit, or 0.
  NMB_EXPORT std::uint64_t generation() const;
  // Returns one line: the seconds of each phase of writing, and counts of messages, reads and
  // writes; each is the highest of all ranks. Also after close().
  std::string report() const { return check(try_report()); }
  NMB_EXPORT Result<std::string> try_report() const;

 private:
  explicit Writer(std::shared_ptr<WriterState> state);
  Result<std::vector<Get>> gets_of(std::span<const GetRequest> requests) const;
  std::shared_ptr<WriterState> state_;
};

}  // namespace nmb
