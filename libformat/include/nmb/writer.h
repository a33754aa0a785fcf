// Writer: creates an NMB file, or adds a generation to one (spec/format.md).
// Define mode, from create(), open() or redefine() to end_define(), defines blocks, dimensions,
// variables and attributes. Values are put after it. sync() and close() commit: readers see nothing
// new before, and a failure never changes committed data. A new file has no name before its first
// commit.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
// Internal to the library.
struct LinkedValues;
struct StoredPiece;

// A writer's handle for a block, valid from its definition to close().
using BlockId = std::uint32_t;

enum class MetadataCodec : std::uint8_t {
  kNone,
  kZstd,            // each body on its own
  kZstdDictionary,  // with a dictionary trained on the first bodies, if enough of them are alike
};

enum class Io : std::uint8_t {
  kPosix,
  kMpiIo,  // through the ranks' MPI library; kUsage unless they come from open_mpi_ranks()
};

enum class Hdf5View : std::uint8_t {
  kOff,   // makes none; an existing view stays and keeps showing its generation
  kAuto,  // makes one if a view can show the file, within the limits below; else as kOff
  kOn,    // makes one; close() fails with kUnsupported if a view cannot show the file
};
// Limits of kAuto: dimensions and variables of the file, and records of its variables.
inline constexpr std::uint64_t kMostAutoViewObjects = 100'000;
inline constexpr std::uint64_t kMostAutoViewRecords = 1'000'000;

struct WriterOptions {
  // --- what changes the bytes ---
  std::uint32_t piece_size = 1 << 20;  // new files: a power of 2 from 65,536 to 2^30
  std::uint32_t inline_limit = 4096;   // new files: at most 65,536
  // New files: maximum rows of an index leaf, an index node and a data map page (spec/format.md,
  // section 5.1), 2 to 65,536. Larger pages suit remote storage, smaller ones files that change
  // often. A commit fails with kLimit if its index or a data map would be too deep (section 16).
  std::uint32_t leaf_rows = 64, node_rows = 128, map_rows = 128;
  MetadataCodec metadata_codec = MetadataCodec::kZstdDictionary;
  int compression_level = 1;
  // Statistics to keep for each block that a commit writes (nmb/statistics.h). kUsage in a dry run.
  // Values that the commit moves are counted on the way; others are read again. A block that
  // changes while this is kNone loses its statistics.
  StatisticsLevel statistics = StatisticsLevel::kNone;
  // Stripe size of the file in bytes, a power of 2 from 4096 to 2^30 (MPI-IO: striping_unit). New
  // extents and pieces of at least this length begin at multiples of it; each stripe's metadata is
  // written by one rank. 0: extents of 1 MiB and more begin at multiples of 4096, and the file
  // system chooses the stripes. The bytes are the same for any number of ranks.
  std::uint64_t alignment = 0;
  // Whether close() adds a view, through which HDF5 programs read the file (spec/hdf5_view.md).
  // kUsage in a dry run.
  Hdf5View hdf5_view = Hdf5View::kOff;

  // --- what becomes of the file ---
  bool overwrite = false;  // a new file may replace an existing one
  // New files: nothing is written. Definitions are checked, encoded and placed as usual, values are
  // dropped, and after close() planned() describes the file. Fails as a real run would, except for
  // failures of writing (kNoSpace) and of reading values to move. Does not call before_publish.
  bool dry_run = false;
  // New files: see CreateOptions::resume_key. kUsage in a dry run, or with kMpiIo.
  std::string resume_key{};
  // Files that have a name: open() needs the lock, and so does every commit except the first of a
  // new file.
  Locking locking = Locking::kRequired;
  bool sync = true;  // commits wait for the device

  // --- what changes the speed; the bytes are the same ---
  unsigned threads = 1;  // threads that move values of packed blocks
  // Several ranks: how many of them write metadata and index for all (MPI-IO: cb_nodes). They are
  // spread evenly over the nodes, or over the ranks if there are fewer nodes. More than there are
  // ranks: all write. 0: chosen for the file system.
  int aggregators = 0;
  Io io = Io::kPosix;  // how the file is read and written
  // With kMpiIo: keys and values of the file's MPI_Info, for example striping_factor. An MPI
  // library ignores keys that it does not know. "cb_nodes" sets aggregators if that is 0.
  std::vector<std::pair<std::string, std::string>> hints{};

  // --- what stops it, and what is called back ---
  // If set: once *cancel is true, moving values and commits stop with kIo "interrupted". In a
  // commit only rank 0's flag counts, until the superblock is written and a new file gets its name.
  const std::atomic<bool>* cancel = nullptr;
  // Called while values are moved, with bytes done and total bytes; from any of the threads, one at
  // a time.
  std::function<void(std::uint64_t, std::uint64_t)> progress{};
  // Called by a commit on every rank, after all else is written and before the superblock; a
  // failure makes the commit fail.
  std::function<Status()> before_commit{};
  // Called on rank 0 before a new file gets its name, with the whole file as readers will see it; a
  // failure leaves no file.
  std::function<Status(const ByteSource&)> before_publish{};
  // Called on rank 0 with the reason why the newest generation has no view: with kAuto by close()
  // if it makes none, with kOff by the first commit that the existing view does not show. If it
  // fails, so does the commit, and the file is as before.
  std::function<Status(const std::string& reason)> on_no_view{};
  // Called on rank 0 by close() if the view that it makes cannot show some records
  // (lost_records()). If it fails, so does the commit, and the file is as before.
  std::function<Status(const LostRecords&)> on_lost_records{};
  // Called on rank 0 by open(), even if open() fails later, with a sentence for each repair
  // (spec/format.md, section 5.4): a generation that was taken over although its commit did not
  // finish, abandoned bytes after the newest generation, a restored part of the head. If it is not
  // called, open() has changed nothing in the file.
  std::function<void(const std::string& what)> on_repair{};
  // Several ranks: opens a source of values by its `origin` (PackedBlock::origin, take_values()) on
  // another rank, so that a rank with many values can leave some to the others. Set on all ranks or
  // on none.
  std::function<Result<std::shared_ptr<const ByteSource>>(std::string_view origin)> open_values{};
  // Returns a shorter origin, by which open_values opens only the range `wanted` of a source. An
  // empty result: the range stays with its rank. Unset: open_values gets the whole origin.
  std::function<Result<std::string>(std::string_view origin, ByteRange wanted)> narrow_origin{};
  OutputLayer layer{};  // put around the file
};

// Sizes and counts that a dry run would have written.
struct FilePlan {
  // Exact but for one rare case: a dry run assumes that checksums it does not know take all their
  // bytes. If all checksums in an index page happen to begin with a zero byte, the page is a few
  // bytes shorter, which matters only if a multiple of 4096 lies within them (spec/rationale.md,
  // "Dry runs").
  std::uint64_t file_length = 0;
  std::uint64_t metadata_bytes =
      0;  // this rank's: headers and bodies of the blocks that it would write
  std::uint64_t index_bytes = 0;  // of all ranks; includes data maps
  Totals totals;                  // of all ranks
};

// A block that is copied unchanged: its header and everything after it.
struct PackedBlock : BlockCounts {
  std::string name;
  Kind kind = Kind::kCdf5;
  std::shared_ptr<const ByteSource> body;  // the header, exactly
  std::shared_ptr<const ByteSource>
      extent;  // all bytes after the header; nullptr: a hole of extent_length bytes
  std::uint64_t extent_length = 0;
  // Parts of the extent that were never written, ascending and disjoint; `extent` reads as fill
  // values there. Pieces of the new file that lie wholly inside them stay holes; the rest is
  // stored.
  std::vector<ByteRange> holes;
  std::string
      origin;  // for WriterOptions::open_values, to open `extent`; empty: only this rank can
  // Tags and statistics that another NMB file keeps for this block (Reader::kept_rows()), if it is
  // a whole block of that file. The statistics are used if WriterOptions::statistics is kNone.
  // nullptr: none.
  std::shared_ptr<const KeptRows> kept{};
  std::uint64_t kept_order = 0;  // BlockEntry::order in that file
};

// Values of another source in external form: `count` runs of `length` bytes. Offsets and strides
// are in bytes.
struct ValueRuns {
  std::uint64_t source_offset = 0, source_stride = 0;
  std::uint64_t extent_offset = 0, extent_stride = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
};

// Maximum bytes of one text for Writer::add_provenance(). All texts of one generation take at most
// 64 MiB, counting 16 bytes for each and padding to 8.
inline constexpr std::size_t kMostProvenance = 8 << 20;

// A file that Writer::add_original() stores whole.
struct NewOriginal {
  std::string path;   // for people, any bytes
  BlockId block = 0;  // of this rank, the one that the file became
  std::shared_ptr<const ByteSource> file;
  std::optional<Digest> digest{};  // that the file must have
  std::optional<Sha256> sha256{};  // that the file must have
  bool records_sha256 = false;     // also without `sha256`
};

// Not thread-safe. After kIo, kNoSpace or kDamaged the file's state is unknown, and every further
// call returns the same failure.
// Several ranks: create, open, redefine, end_define, open_blocks, extend, put_all, wait_all, sync
// and close are collective. All ranks call them in the same order; a failure is the same on all
// ranks, and every further call returns it. All other calls are local: definitions, put(), inquiry.
// Several ranks may define parts of the same new block: it becomes the union of their definitions
// (kConflict from end_define if they disagree). A committed block is changed by at most one rank
// per generation, while the others put no values to it. redefine() follows sync(). IDs of blocks,
// dimensions and variables are local to a rank and stay valid. The file is the same for any number
// of ranks if they define the same blocks in the order of ranks and put the same values between the
// same collective calls. If a local step fails, call ranks.agree() before the next collective call.
// An exception in a collective call, std::bad_alloc (kLimit) or one from a callback (kUsage), also
// fails the network of the ranks; a rank that gives up for another reason calls ranks.fail().
class Writer {
 public:
  // Creates a file. kExists: the target exists and overwrite is not set; kUsage: an option out of
  // range; kIo, kNoSpace.
  NMB_EXPORT static Result<std::unique_ptr<Writer>> create(const std::string& path,
                                                           const WriterOptions& options = {});
  // Collective over `ranks`, which must outlive the writer; path and options are the same on all.
  NMB_EXPORT static Result<std::unique_ptr<Writer>> create(const std::string& path,
                                                           const WriterOptions& options,
                                                           Communicator& ranks);
  // Opens a file for a new generation, in define mode. Uncommitted bytes of an earlier writer stay
  // in the file as an abandoned range. kBusy: another writer; kUnsupported: a feature that only
  // newer writers preserve.
  NMB_EXPORT static Result<std::unique_ptr<Writer>> open(const std::string& path,
                                                         const WriterOptions& options = {});
  NMB_EXPORT static Result<std::unique_ptr<Writer>> open(const std::string& path,
                                                         const WriterOptions& options,
                                                         Communicator& ranks);
  // Without close(), everything uncommitted is lost. With several ranks, destroying a writer
  // without close() counts as an early return of this rank: the network fails, and every rank's
  // next collective call says which rank has gone, or which local call failed on it. This does not
  // apply after a failure that all ranks share (of a collective call or ranks.agree()), while an
  // exception propagates (its handler calls ranks.fail()), or after abandon() on all ranks.
  NMB_EXPORT ~Writer();
  // Allows destruction without close(): all ranks give up everything uncommitted. The destructor is
  // then collective.
  NMB_EXPORT void abandon();

  // --- define mode ---
  // Defines an empty block. kExists: the file has this name already; kUsage: an illegal name
  // (spec/format.md, section 8.4).
  NMB_EXPORT Result<BlockId> define_block(std::string_view name);
  // Defines a block with all definitions of `metadata` and space for `records` unwritten records.
  NMB_EXPORT Result<BlockId> define_block(std::string_view name, const Metadata& metadata,
                                          std::uint64_t records = 0);
  // Finds a block of the file, or one that this rank has defined. kNotFound.
  NMB_EXPORT Result<BlockId> find_block(std::string_view name);
  // Finds blocks of any rank, including those defined since the last commit; each rank names those
  // that it needs. Collective, outside define mode. kNotFound on all ranks.
  NMB_EXPORT Result<std::vector<BlockId>> open_blocks(std::span<const std::string_view> names);
  // Stores a whole file, byte for byte; Reader::give_back() returns it. Returns the number of the
  // file among those that this rank adds before the next commit. kUsage outside define mode, or for
  // an unknown block. The commit fails with kDamaged if the file has other digests than given.
  NMB_EXPORT Result<std::uint32_t> add_original(NewOriginal original);
  // Sets the block's samples, which count toward the totals; default 0. If several ranks define the
  // block, the largest number counts.
  NMB_EXPORT Status set_samples(BlockId block, std::uint64_t samples);
  // Adds provenance of the next generation: one JSON object in UTF-8 per call (spec/format.md,
  // section 9.1). The file keeps that of earlier generations. Only rank 0's objects are kept. Not
  // collective. A commit that changes nothing leaves them for the next. kUsage: an empty text, one
  // longer than kMostProvenance bytes, or after close(). kLimit: more than 64 MiB for one
  // generation. A failed call adds nothing.
  NMB_EXPORT Status add_provenance(std::string_view json);
  // Defines a dimension; length kUnlimited: the record dimension. kExists (with more than 3,584
  // dimensions or variables in the block, end_define may be the first to report it: see
  // nmb/metadata.h), kUsage.
  NMB_EXPORT Result<DimId> def_dim(BlockId block, std::string_view name, std::uint64_t length);
  NMB_EXPORT Result<VarId> def_var(BlockId block, std::string_view name, Type type,
                                   std::span<const DimId> dimensions);
  // Adds or replaces an attribute. values: external form. kUsage also for the _FillValue of a
  // variable with holes, which cannot change.
  NMB_EXPORT Status put_att(BlockId block, VarId variable, std::string_view name, Type type,
                            std::span<const std::byte> values);
  // As above, converting `values` to external form. kRange: some do not fit; the attribute does not
  // change.
  NMB_EXPORT Status put_att(BlockId block, VarId variable, std::string_view name, Type type,
                            ConstArray values);
  NMB_EXPORT Status put_att_text(BlockId block, VarId variable, std::string_view name,
                                 std::string_view text);
  // As above, by full name BLOCK/NAME; defines the block if it does not exist.
  struct FullId {
    BlockId block;
    std::uint32_t id;
  };
  NMB_EXPORT Result<FullId> def_dim(std::string_view full_name, std::uint64_t length);
  // dimensions: names of dimensions in the same block.
  NMB_EXPORT Result<FullId> def_var(std::string_view full_name, Type type,
                                    std::span<const std::string_view> dimensions);
  NMB_EXPORT Status put_att_text(std::string_view full_name, std::string_view attribute,
                                 std::string_view text);
  NMB_EXPORT Status remove_block(BlockId block);
  NMB_EXPORT Status rename_block(BlockId block, std::string_view name);
  // Adds a whole block. The next commit moves its values, on options.threads threads.
  NMB_EXPORT Result<BlockId> pack_block(PackedBlock block);
  // After end_define: lets the next commit move values from `source` into the block's extent
  // (offset 0: the first byte after the header). The runs ascend in the extent and do not overlap;
  // bytes outside all runs are zero. origin: for WriterOptions::open_values, to open `source`;
  // empty: only this rank can. kUsage also for a block that several ranks share.
  NMB_EXPORT Status take_values(BlockId block, std::shared_ptr<const ByteSource> source,
                                std::vector<ValueRuns> runs, std::string origin = {});

  NMB_EXPORT Status end_define();
  // Goes back to define mode. Changed blocks get a new header; their values stay.
  NMB_EXPORT Status redefine();

  // --- values ---
  // Puts a hyperslab; records grow as needed. Values without space in the file wait in memory for
  // the next collective call: those after the last record, and those that replace committed values.
  // kRange: some values did not fit, all are put. kUsage: shape, number of values, types, mode.
  // kLimit, with several ranks: more than 64 MiB of this rank wait.
  NMB_EXPORT Status put(BlockId block, VarId variable, const Hyperslab& slab, ConstArray values);
  // The whole variable, with as many records as the values make.
  NMB_EXPORT Status put(BlockId block, VarId variable, ConstArray values);

  // Collective: extends the block to `records` records, if it has fewer, and gives space to all
  // uncommitted ones, so that put() writes straight into the file. Ranks that share the block pass
  // the same number. kUsage: no record dimension, mode. kLimit: 2^62 bytes.
  NMB_EXPORT Status extend(BlockId block, std::uint64_t records);

  // Collective: every rank puts its own hyperslab, or an empty one (a count of 0). Where hyperslabs
  // of several ranks overlap, the highest rank's values count; with put() the result is undefined.
  // Each piece of the file is written by one rank, straight from the messages of the others. A new
  // record gets space for all of its variables. Values that wait for space get it, and count as put
  // before this call.
  NMB_EXPORT Status put_all(BlockId block, VarId variable, const Hyperslab& slab,
                            ConstArray values);

  // Registers a hyperslab to be put together with many others. `values` must stay valid and
  // unchanged until wait() or wait_all() puts the requests, in file order and with few writes:
  //   std::vector<RequestId> requests;
  //   for (const Field& field : fields) {
  //     NMB_ASSIGN(RequestId request, writer.iput(field.block, field.variable, field.values()));
  //     requests.push_back(request);
  //   }
  //   NMB_TRY(writer.wait_all(requests));
  // Returned at once: kUsage, kLimit. Values put to the same elements in the meantime are
  // overwritten.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, const Hyperslab& slab,
                                    ConstArray values);
  // The whole variable, with as many records as the values make.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, ConstArray values);
  // Puts the values of requests and closes them. Where they overlap, the later one in `requests`
  // counts. statuses: empty, or one per request, which gets what put() would return for it. Returns
  // the first failure; the other requests are put unless the file's state is unknown. kUsage, with
  // nothing done: an ID of no open request.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Collective, as put_all(): every rank waits for its own requests, perhaps none. kRange is
  // returned on its rank only; any other failure on all ranks, whatever the statuses say. Space is
  // allocated once for all requests.
  NMB_EXPORT Status wait_all(std::span<const RequestId> requests, std::span<Status> statuses = {});

  // Commits a generation. kUsage in define mode and in a dry run. sync(), close() and redefine()
  // also fail with kUsage while any rank has open requests; they then do nothing, and the writer
  // stays usable. If the last two writes of a commit fail, slot and mark (spec/format.md, section
  // 5.3), the new generation may be in the file; the message says so.
  NMB_EXPORT Status sync();
  // Ends define mode if necessary, commits and closes.
  NMB_EXPORT Status close();

  // --- inquiry ---
  // Returns the block's metadata, with canonical begins after end_define. Valid until the next
  // definition in the block.
  NMB_EXPORT Result<const Metadata*> metadata(BlockId block);
  NMB_EXPORT Result<ClassicLayout> layout(BlockId block);
  NMB_EXPORT Result<std::uint64_t> records(BlockId block);
  // Returns the block's position in the order of names, as of the last end_define. kUsage, with
  // several ranks: for a committed block, after block names were added or removed and until sync().
  NMB_EXPORT Result<std::uint64_t> global_id(BlockId block);
  // Returns the generation of the last commit; 0 before the first.
  NMB_EXPORT std::uint64_t generation() const;
  // Returns counts and times of this rank since the writer was made; also after close(). Not
  // collective.
  NMB_EXPORT WriterReport report() const;
  // Returns how many bytes of values the next commit moves for packed blocks and take_values().
  NMB_EXPORT std::uint64_t pending_bytes() const;
  // Returns how many bytes of values, as stored, stay in other files and are linked by the next
  // commit (PackOptions::link).
  NMB_EXPORT std::uint64_t linked_bytes() const;
  // Returns the rows of the file table if the last commit added any; on rank 0 only.
  NMB_EXPORT const std::vector<ExternalFile>& external_files() const;
  // Returns how many variables of blocks written by this rank have no statistics although
  // WriterOptions::statistics asks for them.
  NMB_EXPORT std::uint64_t without_statistics() const;
  // Returns the plan of a dry run. Valid only after close() of a dry run; otherwise kUsage.
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

// Work of one rank since its writer was made.
struct WriterReport {
  // Wall-clock seconds, including waits for other ranks, by the phases of "Parallel Data Object
  // Creation".
  double create = 0;          // end_define(): lays out, encodes and places definitions
  double check = 0;           // end_define(): compares definitions of several ranks
  double write_values = 0;    // put_all(), wait_all(), extend(), and a commit's values
  double write_metadata = 0;  // a commit's blocks
  double write_index = 0;     // a commit's maps, index, statistics, tags and file table
  double commit = 0;          // the rest of a commit: view, dead space, superblock, sync
  // Messages to other ranks.
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t message_peak = 0;  // most bytes held at a time since the communicator was made
  // Calls and bytes of the output file.
  std::uint64_t writes = 0;  // calls
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0;       // calls
  std::uint64_t bytes_read = 0;  // requested, including bytes past the end of the file

  // Returns the higher of each number; with all_reduce(), the maximum over all ranks.
  NMB_EXPORT static WriterReport highest(const WriterReport& a, const WriterReport& b);
  // Returns one line of text: the phases in ms, then the counts.
  NMB_EXPORT std::string text() const;
};

// --- HDF5 views ---
// HDF5 metadata inside an NMB file, through which HDF5 programs read the file directly
// (spec/hdf5_view.md). New files get a view by WriterOptions::hdf5_view.

// Adds a view to an NMB file, as a new generation in which nothing else changes; a failure leaves
// the file unchanged. If the newest generation has a view already, only an HDF5 superblock that a
// killed writer did not write is added. Uses sync, locking, cancel, layer and on_repair of
// `options`. kUnsupported: an object that a view cannot show, by name, or a feature that only newer
// writers preserve; kBusy: another writer; kUnknownKind, kDamaged, kIo, kNoSpace.
NMB_EXPORT Status add_hdf5_view(const std::string& path, const WriterOptions& options = {});

}  // namespace nmb
