// The options, inputs and reports of a Writer (writer/file_writer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/files.h"
#include "files/output_options.h"
#include "model/external_files.h"
#include "model/metadata.h"
#include "model/values.h"
#include "nmb/options.h"
#include "nmb/statistics.h"
#include "parallel/communicator.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

class KeptRows;
struct LeftOutList;  // view/hdf5_view.h
struct LostRecords;  // reader/file_reader.h
struct ViewCost;     // view/hdf5_view.h
// These types are internal to the library.
struct LinkedValues;
struct StoredPiece;

// A writer's handle for a block, valid from the definition of the block to close().
using BlockId = std::uint32_t;

// The end of messages about a put into a block that came from HDF5.
inline constexpr std::string_view kNoPuts = "no values can be put into it";

// The arguments of a get() of a writer.
struct Get {
  BlockId block;
  std::uint32_t variable;
  Hyperslab slab;
  MutableArray out;
};

enum class MetadataCodec : std::uint8_t {
  kNone,
  kZstd,            // each body is compressed separately
  kZstdDictionary,  // if enough of the first bodies are similar, a dictionary is trained on them
                    // and used to compress bodies
};

enum class Io : std::uint8_t {
  kPosix,
  kMpiIo,  // uses the ranks' MPI library; fails with kUsage if open_mpi_ranks() did not make the
           // ranks
};

// Limits of kAuto: the maximum total number of dimensions and variables in the file, and the
// maximum total number of records of its variables.
inline constexpr std::uint64_t kMostAutoViewObjects = 100'000;
inline constexpr std::uint64_t kMostAutoViewRecords = 1'000'000;
// Limit of kSmall: minimum ratio of the bytes before the view to the bytes of the view.
inline constexpr std::uint64_t kSmallViewPart = 50;

// `sync` of OutputOptions: whether commits wait until the data is on the device. `progress` and
// `threads`: for the values of packed blocks.
struct FileWriterOptions : OutputOptions {
  // --- what changes the bytes ---
  // For new files: maximum bytes of values that share a checksum, a power of 2 from 65,536 to 2^30.
  std::uint32_t piece_size = 1 << 20;
  // For new files: maximum bytes of an inline extent, at most 65,536.
  std::uint32_t inline_limit = 4096;
  // For new files: maximum numbers of rows of an index leaf, an index node and a data map page,
  // from 2 to 65,536 (spec/format.md, section 5.1). Larger pages suit remote storage; smaller pages
  // suit files that change often. A commit fails with kLimit if its index or a data map would be
  // too deep (spec/format.md, section 16).
  std::uint32_t leaf_rows = 64, node_rows = 128, map_rows = 128;
  MetadataCodec metadata_codec = MetadataCodec::kZstdDictionary;
  // Whether provenance without any other change makes a generation. If false, it waits for the next
  // commit that changes something.
  bool commits_provenance = false;
  int compression_level = 1;
  // Statistics to keep for each block that a commit writes (nmb/statistics.h). Not allowed in a
  // dry run (kUsage). Statistics of values that the commit moves are computed during the move;
  // other values are read again. A block that changes while this option is kNone loses its
  // statistics.
  StatisticsLevel statistics = StatisticsLevel::kNone;
  // Functions of values whose results are stored beside the statistics, each with its own name.
  // Only allowed with statistics (kUsage). A block that is packed from another NMB file keeps the
  // results of other functions that it has there.
  std::vector<ValueFunction> functions{};
  // Stripe size of the file in bytes, a power of 2 from 4096 to 2^30 (striping_unit in MPI-IO). New
  // extents and pieces of at least this length begin at multiples of the stripe size, and the
  // metadata in a stripe is written by one rank. If this is 0, extents of 1 MiB and more begin at
  // multiples of 4096, and the file system chooses the stripes. The bytes of the file are the same
  // for any number of ranks.
  std::uint64_t alignment = 0;
  // Whether close() adds a view, through which HDF5 programs can read the file (spec/hdf5_view.md).
  // Not allowed in a dry run (kUsage).
  Hdf5View hdf5_view = Hdf5View::kOff;
  // Choose what the view shows (ViewOptions in reader/file_reader.h). nullopt takes the choice of
  // the file's view or, if it has none, the default of ViewOptions.
  std::optional<bool> view_dimensions{}, view_copies{};

  // --- what happens to the file ---
  // For new files: whether to write nothing. Definitions are checked, encoded and placed as usual,
  // but values are dropped. After close(), planned() describes the file. A dry run fails where a
  // real run would, except for failures to write (kNoSpace) and failures to read values that would
  // be moved.
  bool dry_run = false;
  // Whether files that have a name must be locked. This applies to open() and to every commit
  // except the first commit of a new file.
  Locking locking = Locking::kRequired;

  // --- what changes the speed; the bytes are the same ---
  // With several ranks: the number of ranks that write metadata and index for all ranks (cb_nodes
  // in MPI-IO). The writing ranks are spread evenly over the nodes, or over all ranks if there are
  // fewer nodes. If the number exceeds the number of ranks, all ranks write. 0 means that the
  // number is chosen to suit the file system.
  int aggregators = 0;
  Io io = Io::kPosix;  // how the file is read and written
  // With kMpiIo: keys and values of the file's MPI_Info, for example striping_factor. An MPI
  // library ignores keys that it does not know. If `aggregators` is 0, the key "cb_nodes" sets it.
  std::vector<std::pair<std::string, std::string>> hints{};

  // --- callbacks ---
  // Called on rank 0 with the reason why the newest generation has no view. With kAuto and kSmall,
  // this function is called by close() if no view is made. With kSmall, it is called only if the
  // writer adds blocks from HDF5 or netCDF-4. With kOff, it is called by the first commit whose
  // generation the existing view does not show. If the function fails, the commit fails and does
  // not change the file.
  std::function<Status(const std::string& reason)> on_no_view{};
  // Called on rank 0 by close() if the new view cannot show some records (lost_records()). If the
  // function fails, the commit fails and does not change the file.
  std::function<Status(const LostRecords&)> on_lost_records{};
  // Called on rank 0 by close() if the new view leaves out objects. If the function fails, the
  // commit fails and does not change the file.
  std::function<Status(const LeftOutList&)> on_left_out{};
  // Called on rank 0 by close() with the cost of the view that it makes. If the function fails, the
  // commit fails and does not change the file.
  std::function<Status(const ViewCost&)> on_view{};
  // Called on rank 0 by open() for each repair, with a sentence that describes the repair
  // (spec/writer.md, section 5.7). The function is called even if open() fails later. Repairs are:
  // accepting a generation whose commit did not finish, abandoning bytes after the newest
  // generation, and restoring a part of the head. If the function is not called, open() has not
  // changed the file.
  std::function<void(const std::string& what)> on_repair{};

  // --- what only callers inside the library set ---
  // The caller's own check of its arguments. If it has failed on a rank, all ranks fail.
  Status arguments{};
  // For new files: see CreateOptions::resume_key. Not allowed in a dry run or with kMpiIo (kUsage).
  std::string resume_key{};
  // Whether commits compute checksums of values that stay in other files, and read these values to
  // do so. Without these checksums, readers refuse such values unless ReadOptions::unverified
  // is Unverified::kLinkedValues. Set this to false only for temporary files.
  bool sum_links = true;
  // Called by a commit on every rank, after everything except the superblock has been written. If
  // the function fails, the commit fails.
  std::function<Status()> before_commit{};
  // Called on rank 0 before a new file gets its name, with the whole file as readers will see it.
  // If the function fails, no new file remains. In a dry run of one process, the file has all
  // metadata, but no values; in a dry run of several processes, the function is not called.
  std::function<Status(const ByteSource&)> before_publish{};
  // With several ranks: opens a source of values on another rank, by its `origin`
  // (PackedBlock::origin, take_values()). If a rank has many values to move, other ranks can then
  // move some of them. Must be set on all ranks or on none.
  std::function<Result<std::shared_ptr<const ByteSource>>(std::string_view origin)> open_values{};
  // Returns a shorter origin, with which open_values() opens only the range `wanted` of a source.
  // If the result is empty, the rank that has the source moves this range itself. If the function
  // is not set, open_values() gets the whole origin.
  std::function<Result<std::string>(std::string_view origin, ByteRange wanted)> narrow_origin{};
};

// Sizes and counts of the file that a real run would write.
struct FilePlan {
  // Length of the file in bytes. The length is exact except in one rare case. A dry run does not
  // know all checksums, and assumes that each takes its full number of bytes. If all checksums in
  // an index page begin with a zero byte, the page is a few bytes shorter. This changes the length
  // of the file only if a multiple of 4096 lies within these few bytes (spec/rationale.md, "Dry
  // runs").
  std::uint64_t file_length = 0;
  // Bytes of headers and bodies of the blocks that this rank would write.
  std::uint64_t metadata_bytes = 0;
  std::uint64_t index_bytes = 0;  // bytes of the index and the data maps, of all ranks
  Totals totals;                  // totals of all ranks
};

// A block that is copied unchanged.
struct PackedBlock : BlockCounts {
  std::string name;
  // kAsFound: the block has this name in another NMB file, so the name need not be UTF-8.
  Metadata::Names names = Metadata::Names::kNew;
  Kind kind = Kind::kCdf5;
  std::shared_ptr<const ByteSource> body;  // exactly the bytes of the header
  // All bytes after the header; nullptr means a hole of extent_length bytes.
  std::shared_ptr<const ByteSource> extent;
  std::uint64_t extent_length = 0;
  // Parts of the extent that were never written, in ascending order and disjoint. In these parts,
  // `extent` reads as fill values. A piece of the new file stays a hole if it lies completely
  // inside such a part; other pieces are stored.
  std::vector<ByteRange> holes;
  // For merges by several ranks: a text with which another rank opens `extent`; empty if only this
  // rank can open it.
  std::string origin;
  // Tags and statistics that this block has in another NMB file (FileReader::kept_rows()). If the
  // block is not a whole block of that file, this is nullptr. The statistics are used if
  // FileWriterOptions::statistics is kNone.
  std::shared_ptr<const KeptRows> kept{};
  std::uint64_t kept_order = 0;  // BlockEntry::order of the block in that file
  // The recorded digests of the file that consists of `body` and `extent`: either the digests that
  // another NMB file has recorded, or new ones that the commit computes while it copies the values.
  // New digests need a block without holes.
  FileDigests file_digests;
  RecordedDigests new_digests = RecordedDigests::kNone;
};

// Maximum length in bytes of one text for FileWriter::add_provenance(). All texts of one generation
// may take at most 64 MiB. For this limit, each text counts as its length, rounded up to a multiple
// of 8 bytes, plus 16 bytes.
inline constexpr std::size_t kMostProvenance = 8 << 20;

// A file that FileWriter::add_original() stores whole.
struct NewOriginal {
  // Path to record, which is only for display and may contain any bytes.
  std::string path;
  BlockId block = 0;  // this rank's block that is made from the file
  std::shared_ptr<const ByteSource> file;
  std::optional<Digest> digest{};  // the digest that the file must have
  std::optional<Sha256> sha256{};  // the SHA-256 that the file must have
  bool records_sha256 = false;     // the SHA-256 is recorded even if `sha256` is not given
};

// Counts and times of one rank since its writer was made.
struct FileWriterReport {
  // Wall-clock seconds of each phase, including waits for other ranks. The phases are those of the
  // paper "Parallel Data Object Creation".
  double create = 0;          // time in which end_define() lays out, encodes and places definitions
  double check = 0;           // time in which end_define() compares definitions of several ranks
  double write_values = 0;    // time of put_all(), wait_all() and extend(), and time in which
                              // commits write values
  double write_metadata = 0;  // time in which commits write headers and bodies of blocks
  double write_index = 0;     // time in which commits write data maps, index, statistics, tags and
                              // file table
  double commit = 0;  // time of the other parts of commits: view, dead space, superblock, sync
  // Messages to other ranks.
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  // Maximum bytes of messages held at one time since the communicator was made.
  std::uint64_t message_peak = 0;
  // Calls that write or read the output file, and bytes written and read.
  std::uint64_t writes = 0;  // calls
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0;       // calls
  std::uint64_t bytes_read = 0;  // bytes requested, including bytes after the end of the file

  // Returns a report in which each number is the maximum of the numbers in `a` and `b`. Together
  // with all_reduce(), this gives the maximum over all ranks.
  NMB_EXPORT static FileWriterReport highest(const FileWriterReport& a, const FileWriterReport& b);
  // Returns one line of text: the phases in ms, then the counts.
  NMB_EXPORT std::string text() const;
};

}  // namespace nmb
