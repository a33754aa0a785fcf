// Writer: creates an NMB file, or adds a generation to one (spec/format.md).
//
// Define mode (from create, open and redefine to end_define): blocks, dimensions, variables,
// attributes. Then values are put. sync() and close() commit: until then nobody sees anything new,
// and what was committed stays as it is whatever happens. A file that is created has no name before
// its first commit.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/bytes.h"
#include "nmb/communicator.h"
#include "nmb/external_files.h"
#include "nmb/files.h"
#include "nmb/metadata.h"
#include "nmb/statistics.h"
#include "nmb/status.h"
#include "nmb/types.h"
#include "nmb/values.h"

namespace nmb {

class KeptRows;
struct WriterReport;
struct LostRecords;  // nmb/reader.h
// Of the library alone.
struct LinkedValues;
struct StoredPiece;

// A writer's handle of a block, valid from its definition to close().
using BlockId = std::uint32_t;

enum class MetadataCodec : std::uint8_t {
  kNone,
  kZstd,            // each body by itself
  kZstdDictionary,  // with a dictionary trained on the first bodies, where there are enough alike
};

enum class Io : std::uint8_t {
  kPosix,
  kMpiIo,  // by the MPI library of the ranks; kUsage unless they are of MPI (open_mpi_ranks())
};

enum class Hdf5View : std::uint8_t {
  kOff,   // none; one that the file has stays, and shows the generation that it is of
  kAuto,  // where the file can have one, with at most kMostAutoViewObjects; else as kOff
  kOn,    // kUnsupported from close() where it cannot
};
// Dimensions and variables of a file, and records of variables, of which kAuto makes a view.
inline constexpr std::uint64_t kMostAutoViewObjects = 100'000;
inline constexpr std::uint64_t kMostAutoViewRecords = 1'000'000;

struct WriterOptions {
  // --- what changes the bytes ---
  std::uint32_t piece_size = 1 << 20;  // a power of 2 from 65,536 to 2^30; of a new file
  std::uint32_t inline_limit = 4096;   // at most 65,536; of a new file
  // Most rows of a leaf and of a node of the index, and of a page of a data map (spec/format.md,
  // section 5.1): 2 to 65,536; of a new file. Larger pages suit far storage, smaller ones files
  // that change often. kLimit at a commit for which they are too few (section 16).
  std::uint32_t leaf_rows = 64, node_rows = 128, map_rows = 128;
  MetadataCodec metadata_codec = MetadataCodec::kZstdDictionary;
  int compression_level = 1;
  // Kept of the values of each block that a commit writes (nmb/statistics.h). kUsage in a dry run.
  // Values that are moved are counted on their way, others are read again. A block that is changed
  // without them loses those it had.
  StatisticsLevel statistics = StatisticsLevel::kNone;
  // Bytes of a stripe of the file, a power of 2 from 4096 to 2^30 (striping_unit). New extents and
  // pieces of at least that length begin at multiples of it; of several ranks one writes the
  // metadata of a stripe. 0: extents of 1 MiB and more begin at multiples of 4096, and stripes are
  // as the file system wants. The bytes are the same for any number of ranks.
  std::uint64_t alignment = 0;
  // close() makes the file one that HDF5 programs read (spec/hdf5_view.md). kUsage in a dry run.
  Hdf5View hdf5_view = Hdf5View::kOff;

  // --- what becomes of the file ---
  bool overwrite = false;  // a new file may replace an existing one
  // Of a new file: nothing is written. Definitions are checked, encoded and placed as ever, values
  // are dropped, and after close() planned() says what the file would be. Fails as ever, but for
  // what shows only when something is written (kNoSpace) or read to be moved. before_publish is
  // not called.
  bool dry_run = false;
  // Of a new file: as CreateOptions::resume_key. kUsage in a dry run, or with kMpiIo.
  std::string resume_key{};
  // Of a file that has a name: open() and every commit but the first of a new file need the lock.
  Locking locking = Locking::kRequired;
  bool sync = true;  // commits wait for the device

  // --- what changes the speed; the bytes are the same ---
  unsigned threads = 1;  // that move values of packed blocks
  // By several ranks: how many of them write metadata and index, spread evenly over the nodes, or
  // over the ranks where there are fewer nodes; the others send them theirs (MPI-IO calls it
  // cb_nodes). All, if there are fewer; 0: as the file system wants. The bytes are the same.
  int aggregators = 0;
  Io io = Io::kPosix;  // how the file is read and written; the bytes are the same
  // With kMpiIo: keys of an MPI_Info for the file and their values, as striping_factor. An MPI
  // library ignores keys that it does not know. "cb_nodes" counts as aggregators, where these are
  // 0.
  std::vector<std::pair<std::string, std::string>> hints{};

  // --- what stops it, and what is called back ---
  // Set: once this is true, moving values and commits stop with kIo "interrupted"; of a commit it
  // is rank 0's that counts, up to the write of the superblock and the name of a new file.
  const std::atomic<bool>* cancel = nullptr;
  // Called while values are moved, with bytes done and to do in all; from any of the threads, one
  // at a time.
  std::function<void(std::uint64_t, std::uint64_t)> progress{};
  // Called by a commit on every rank when what it writes is written, ahead of the superblock; a
  // failure makes the commit fail.
  std::function<Status()> before_commit{};
  // Called on rank 0 before a new file gets its name, with all of it as readers will see it; a
  // failure leaves no file.
  std::function<Status(const ByteSource&)> before_publish{};
  // Called on rank 0, with the reason, by close() where the file gets no view by kAuto, and by kOff
  // of the first commit that the file's view does not show. A status that is not ok ends the
  // commit, and the file is as before.
  std::function<Status(const std::string& reason)> on_no_view{};
  // Called on rank 0 by close() where the view that it makes has no place for records
  // (lost_records()). A status that is not ok ends the commit, and the file is as before.
  std::function<Status(const LostRecords&)> on_lost_records{};
  // Called on rank 0 by open(), also where it fails then, with a sentence for each thing that it
  // took over, left behind or restored (spec/format.md, section 5.4): a generation that was not
  // committed, bytes behind the newest one, damaged places of the head. A writer that calls nothing
  // has changed nothing yet.
  std::function<void(const std::string& what)> on_repair{};
  // By several ranks: opens the source of values that another rank takes over, by their `origin`
  // (below), so that a rank with more of them than others leaves some to these. Set on all ranks or
  // on none.
  std::function<Result<std::shared_ptr<const ByteSource>>(std::string_view origin)> open_values{};
  // Returns a shorter origin, by which open_values opens a range of a source alone. Empty: it
  // cannot, and the range stays with the rank that has it. Unset: open_values gets the origin
  // itself.
  std::function<Result<std::string>(std::string_view origin, ByteRange wanted)> narrow_origin{};
  OutputLayer layer{};  // around the file
};

// What a dry run would have written.
struct FilePlan {
  // Exact, unless all sums in a page of the index happen to begin with a zero byte and a multiple
  // of 4096 falls within the few bytes that this saves: sums of what was not read or written are
  // taken for long ones (spec/rationale.md, "Dry runs").
  std::uint64_t file_length = 0;
  std::uint64_t metadata_bytes = 0;  // headers and bodies of blocks that this rank would write
  std::uint64_t index_bytes = 0;     // of all ranks; data maps too
  Totals totals;                     // of all ranks
};

// A block taken over as it is: header and everything behind it.
struct PackedBlock {
  std::string name;
  Kind kind = Kind::kCdf5;
  std::uint64_t dimensions = 0, variables = 0, attributes = 0;
  std::uint64_t records = 0;  // 0 without a record dimension
  std::uint64_t samples = 0;
  std::shared_ptr<const ByteSource> body;  // the header, exactly
  std::shared_ptr<const ByteSource>
      extent;  // what lies behind it; nullptr: a hole of extent_length bytes
  std::uint64_t extent_length = 0;
  // Parts of the extent to which nothing was written, ascending and disjoint: `extent` reads as
  // fill values there. Whole pieces of the new file in them stay holes; the rest is stored.
  std::vector<ByteRange> holes;
  std::string origin;  // what WriterOptions::open_values opens `extent` by; empty: nothing
  // What another NMB file keeps of this block (Reader::kept_rows()), of which it is the whole:
  // tags, and statistics, which are kept where WriterOptions::statistics is kNone. nullptr:
  // nothing.
  std::shared_ptr<const KeptRows> kept{};
  std::uint64_t kept_order = 0;  // BlockEntry::order there
};

// Values that lie elsewhere in external form, `count` runs of `length` bytes.
struct ValueRuns {
  std::uint64_t source_offset = 0, source_stride = 0;
  std::uint64_t extent_offset = 0, extent_stride = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
};

// Bytes of a text that Writer::add_provenance() takes; those of one generation together take up to
// 64 MiB, with 16 bytes for each and padding to 8.
inline constexpr std::size_t kMostProvenance = 8 << 20;

// Not thread-safe. After a failure that leaves the file in doubt (kIo, kNoSpace, kDamaged) every
// further call returns it.
//
// By several ranks: create, open, redefine, end_define, open_blocks, extend, put_all, wait_all,
// sync and close are called by all of them in the same order, and fail with the same status on all;
// then every further call returns it. All else is a rank's own: definitions, put(), inquiry. A new
// block may be defined by several ranks, and is the union of what they say (kConflict from
// end_define where they disagree); one that is committed is changed by one rank a generation, while
// the others put no values to it. redefine() follows sync(). IDs of blocks and of what is in them
// are the rank's own and stay. The file is the same for any number of ranks if they define the same
// blocks in the order of ranks, and put the same values between the same collective calls. What a
// rank could not do between them and others count on, it tells them by ranks.agree() ahead of the
// next. An exception in one of them, std::bad_alloc (kLimit) or a callback's (kUsage), fails the
// network of the ranks too; a rank that ends otherwise calls ranks.fail().
class Writer {
 public:
  // kExists: the target is there and overwrite is not set; kUsage: an option out of range; kIo,
  // kNoSpace.
  NMB_EXPORT static Result<std::unique_ptr<Writer>> create(const std::string& path,
                                                           const WriterOptions& options = {});
  // By all ranks of `ranks`, which must outlive the writer; path and options are the same on all.
  NMB_EXPORT static Result<std::unique_ptr<Writer>> create(const std::string& path,
                                                           const WriterOptions& options,
                                                           Communicator& ranks);
  // Opens for a new generation, in define mode. What was not committed stays (an abandoned range).
  // kBusy: another writer; kUnsupported: a feature that only newer writers keep.
  NMB_EXPORT static Result<std::unique_ptr<Writer>> open(const std::string& path,
                                                         const WriterOptions& options = {});
  NMB_EXPORT static Result<std::unique_ptr<Writer>> open(const std::string& path,
                                                         const WriterOptions& options,
                                                         Communicator& ranks);
  // Without close(): what was not committed is gone. On several ranks that is a mistake of the
  // program, which returned early: the network fails, and every rank's next collective call says
  // which rank has gone, or how a call of that rank alone has failed. Not so after a failure that
  // all ranks have (of a collective call, or ranks.agree()), with an exception on its way (who
  // catches it calls ranks.fail()), or abandon() on all ranks.
  NMB_EXPORT ~Writer();
  // The writer may end without close(): all ranks give up what was not committed. The destructor is
  // a collective call then.
  NMB_EXPORT void abandon();

  // --- define mode ---
  // kExists: in this file already, kUsage: an illegal name (spec/format.md, section 8.4).
  NMB_EXPORT Result<BlockId> define_block(std::string_view name);
  // With all its definitions, and room for `records` records (not written yet).
  NMB_EXPORT Result<BlockId> define_block(std::string_view name, const Metadata& metadata,
                                          std::uint64_t records = 0);
  // A block of the file, or one that this rank has defined. kNotFound.
  NMB_EXPORT Result<BlockId> find_block(std::string_view name);
  // Collective, outside define mode: blocks of any ranks, also such as they have defined since the
  // last commit; each rank names what it wants. kNotFound, on all ranks.
  NMB_EXPORT Result<std::vector<BlockId>> open_blocks(std::span<const std::string_view> names);
  // Counts toward the totals; default 0. Of a block that several ranks define the largest counts.
  NMB_EXPORT Status set_samples(BlockId block, std::uint64_t samples);
  // What the next generation is made of: a JSON object in UTF-8 (spec/format.md, section 9.1), one
  // for each call. The file keeps those of the generations before. Of rank 0 alone they count; no
  // communication. A commit that changes nothing leaves them for the next. kUsage: an empty text,
  // one of more than kMostProvenance bytes, or after close(). kLimit: more
  // than 64 MiB for one generation. A text that is refused changes nothing.
  NMB_EXPORT Status add_provenance(std::string_view json);
  // length kUnlimited: the record dimension. kExists (in a block of more than 3,584 dimensions or
  // variables perhaps by end_define only: see nmb/metadata.h), kUsage.
  NMB_EXPORT Result<DimId> def_dim(BlockId block, std::string_view name, std::uint64_t length);
  NMB_EXPORT Result<VarId> def_var(BlockId block, std::string_view name, Type type,
                                   std::span<const DimId> dimensions);
  // values: external form. kUsage also for a _FillValue that cannot change while values are holes.
  NMB_EXPORT Status put_att(BlockId block, VarId variable, std::string_view name, Type type,
                            std::span<const std::byte> values);
  // Converts them to external form. kRange: some do not fit; nothing is put.
  NMB_EXPORT Status put_att(BlockId block, VarId variable, std::string_view name, Type type,
                            ConstArray values);
  NMB_EXPORT Status put_att_text(BlockId block, VarId variable, std::string_view name,
                                 std::string_view text);
  // By full path; a block that is not there is defined.
  struct FullId {
    BlockId block;
    std::uint32_t id;
  };
  NMB_EXPORT Result<FullId> def_dim(std::string_view full_name, std::uint64_t length);
  // dimensions: names in the same block.
  NMB_EXPORT Result<FullId> def_var(std::string_view full_name, Type type,
                                    std::span<const std::string_view> dimensions);
  NMB_EXPORT Status put_att_text(std::string_view full_name, std::string_view attribute,
                                 std::string_view text);
  NMB_EXPORT Status remove_block(BlockId block);
  NMB_EXPORT Status rename_block(BlockId block, std::string_view name);
  // A block taken over whole. Its values are moved by the next commit, on options.threads.
  NMB_EXPORT Result<BlockId> pack_block(PackedBlock block);
  // After end_define: values that the next commit moves from `source` into the block's extent
  // (offset 0: behind the header). The runs ascend in the extent and do not overlap; bytes that
  // none covers are zero. origin: what WriterOptions::open_values opens `source` by; empty:
  // nothing. kUsage also for a block that several ranks share.
  NMB_EXPORT Status take_values(BlockId block, std::shared_ptr<const ByteSource> source,
                                std::vector<ValueRuns> runs, std::string origin = {});

  NMB_EXPORT Status end_define();
  // Back to define mode. Blocks that are changed are written whole again; values stay.
  NMB_EXPORT Status redefine();

  // --- values ---
  // Puts a hyperslab; records grow as needed. Values that have no space in the file yet, those
  // behind the last record and in committed values, wait in memory for the next collective call.
  // kRange: some values did not fit, all are put. kUsage: shape, number of values, types, mode.
  // kLimit, by several ranks: more than 64 MiB of this rank wait.
  NMB_EXPORT Status put(BlockId block, VarId variable, const Hyperslab& slab, ConstArray values);
  // The whole variable, with as many records as the values make.
  NMB_EXPORT Status put(BlockId block, VarId variable, ConstArray values);

  // Collective: the block gets `records` records, if it has fewer, and space for all of them that
  // were not committed: put() then writes straight into the file. Ranks that share it say the same.
  // kUsage: no record dimension, mode. kLimit: 2^62 bytes.
  NMB_EXPORT Status extend(BlockId block, std::uint64_t records);

  // Collective: every rank puts a hyperslab of its own, or an empty one (a count of 0). Where those
  // of several ranks overlap the highest rank's values count; with put() that is not defined.
  // Each piece of the file is written by one rank, straight from what the others send it. A record
  // that is new gets space for all of its variables. Values that wait for space get it, and count
  // as put before.
  NMB_EXPORT Status put_all(BlockId block, VarId variable, const Hyperslab& slab,
                            ConstArray values);

  // Many hyperslabs put together: iput() as put(), but the values are only looked at, and must stay
  // as they are, until the request is waited for. They are then put in the order in which they lie
  // in the file, with few writes however many they are:
  //   std::vector<RequestId> requests;
  //   for (const Field& field : fields) {
  //     NMB_ASSIGN(RequestId request, writer.iput(field.block, field.variable, field.values()));
  //     requests.push_back(request);
  //   }
  //   NMB_TRY(writer.wait_all(requests));
  // Checked at once: kUsage, kLimit. What was put to the elements in the meantime is overwritten.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, const Hyperslab& slab,
                                    ConstArray values);
  // The whole variable, with as many records as the values make.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, ConstArray values);
  // Puts the values of requests, which then are open no more. Where they overlap the one that comes
  // later in `requests` counts. statuses: none, or as many as requests: what put() would have said
  // of each. Returns the first failure of them; the others are put unless the file is in doubt.
  // kUsage, and nothing is done: IDs that are not of open requests.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Collective, as put_all(): every rank waits for requests of its own, perhaps none. kRange is a
  // rank's own; other failures are all ranks', whatever the statuses say. Space is given out once
  // for all of them.
  NMB_EXPORT Status wait_all(std::span<const RequestId> requests, std::span<Status> statuses = {});

  // Commits a generation. kUsage in define mode and in a dry run. This, close() and redefine():
  // kUsage also while requests are open on any rank; nothing is done then, and the writer may be
  // used as before. Where the last writes of a commit fail, those of slot and mark (spec/format.md,
  // section 5.3), the new generation may be in the file: the message says so.
  NMB_EXPORT Status sync();
  // Ends define mode if need be, commits and closes.
  NMB_EXPORT Status close();

  // --- inquiry ---
  // Metadata with canonical begins after end_define. Valid until the next definition in the block.
  NMB_EXPORT Result<const Metadata*> metadata(BlockId block);
  NMB_EXPORT Result<ClassicLayout> layout(BlockId block);
  NMB_EXPORT Result<std::uint64_t> records(BlockId block);
  // The block's place in the order of names, as of the last end_define. kUsage, by several ranks:
  // of a committed block while names come or go, until sync().
  NMB_EXPORT Result<std::uint64_t> global_id(BlockId block);
  // Of the last commit; 0 before the first.
  NMB_EXPORT std::uint64_t generation() const;
  // Counts and times of this rank since the writer was made; also after close(). Not collective.
  NMB_EXPORT WriterReport report() const;
  // Bytes of values that the next commit moves for packed blocks and take_values.
  NMB_EXPORT std::uint64_t pending_bytes() const;
  // Bytes of values that stay in other files (PackOptions::link), which the next commit links, as
  // they are stored.
  NMB_EXPORT std::uint64_t linked_bytes() const;
  // Rows of the file table, where the last commit added some; known to rank 0 alone.
  NMB_EXPORT const std::vector<ExternalFile>& external_files() const;
  // Variables of blocks that this rank has written whose values were not counted, with
  // WriterOptions::statistics.
  NMB_EXPORT std::uint64_t without_statistics() const;
  // kUsage but after close() of a dry run.
  NMB_EXPORT Result<FilePlan> planned() const;

 private:
  class Impl;
  friend Status take_pieces(Writer& writer, BlockId block, std::vector<StoredPiece> pieces,
                            std::shared_ptr<const ByteSource> stored);
  friend Status link_values(Writer& writer, BlockId block, LinkedValues values);
  explicit Writer(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<Writer>> make(const std::string& path, const WriterOptions& options,
                                              bool create, Communicator* ranks);
  static Result<std::unique_ptr<Writer>> make_together(const std::string& path,
                                                       const WriterOptions& options, bool create,
                                                       Communicator* ranks);
  Result<Hyperslab> whole(BlockId block, VarId variable, std::uint64_t values);
  std::unique_ptr<Impl> impl_;
};

// What a rank has done since its writer was made.
struct WriterReport {
  // Wall seconds, waits for other ranks included, by the phases of "Parallel Data Object Creation".
  double create = 0;          // end_define(): definitions are laid out, encoded and placed
  double check = 0;           // end_define(): definitions of several ranks are compared
  double write_values = 0;    // put_all(), wait_all(), extend(), and values that a commit writes
  double write_metadata = 0;  // a commit's blocks
  double write_index = 0;     // a commit's maps, index, statistics, tags and file table
  double commit = 0;          // the rest of a commit: view, dead space, superblock, the device
  // Messages to other ranks.
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t message_peak = 0;  // most bytes held at a time; since the ranks were made
  // Calls and bytes of the output file.
  std::uint64_t writes = 0;  // calls
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0;       // calls
  std::uint64_t bytes_read = 0;  // asked for, also where the file has ended

  // The higher of each number: with all_reduce(), that of the rank which has most.
  NMB_EXPORT static WriterReport highest(const WriterReport& a, const WriterReport& b);
  // One line: the phases in ms, then counts.
  NMB_EXPORT std::string text() const;
};

// --- HDF5 views ---
// HDF5 metadata by which HDF5 programs read an NMB file as it is (spec/hdf5_view.md). New files get
// one by WriterOptions::hdf5_view.

// Adds a view to an NMB file, as a generation of its own in which nothing else changes; the file is
// as it was after a failure. A file that has a view of what it holds stays as it is, but for an
// HDF5 superblock that a killed writer has left out. Of `options`, sync, locking, cancel, layer
// and on_repair count. kUnsupported: what a view cannot show, by name, or a feature that only newer
// writers keep; kBusy: another writer; kUnknownKind, kDamaged, kIo, kNoSpace.
NMB_EXPORT Status add_hdf5_view(const std::string& path, const WriterOptions& options = {});

}  // namespace nmb
