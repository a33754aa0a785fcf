// Reader: opens a committed generation of an NMB file and loads the blocks it is asked for
// (spec/format.md; sections 5, 7, 8 and 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/bytes.h"
#include "nmb/communicator.h"
#include "nmb/dataset.h"
#include "nmb/external_files.h"
#include "nmb/statistics.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

struct ReadOptions {
  // --- what changes the speed ---
  // Bytes of memory for the cache of loaded blocks.
  std::size_t cache_bytes = 64 << 20;
  // Latency of a request to the file, as the number of bytes that arrive in the same time. 0: the
  // file is local; only needed bytes are read. Over a network use 1 to 16 MiB: one request then
  // covers neighbouring ranges, and up to 64 MiB are cached.
  std::size_t request_bytes = 0;

  // --- what is read and checked ---
  // true: each touched piece of values is read whole, and its checksum is checked. false: only
  // pieces that are read whole anyway are checked.
  bool verify_values = false;
  // Which external files with values may be opened. Their pieces are always read whole and checked.
  ExternalPaths external = ExternalPaths::kBeneath;
};

// A block with its decoded metadata.
struct Block : Dataset {
  BlockEntry entry;
};

// A variable of a block.
struct Object {
  std::shared_ptr<const Block> block;
  VarId variable = 0;
};

// Statistics and tags of the blocks of a file, for PackedBlock::kept. Immutable.
class KeptRows;

struct ExtentPiece;  // internal to the library

// Thread-safe. Always shows the generation that it opened. To read many small hyperslabs together,
// use GetRequests.
class Reader {
 public:
  // Opens the newest committed generation. kUnknownKind: not an NMB file; kDamaged; kUnsupported;
  // kNotFound; kIo.
  NMB_EXPORT static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                                         const ReadOptions& options = {});
  NMB_EXPORT static Result<std::unique_ptr<Reader>> open(std::shared_ptr<const ByteSource> file,
                                                         const ReadOptions& options = {});
  // Collective over `ranks`, which must outlive the reader. Rank 0 reads everything needed to open
  // the file; all ranks get that, or the same failure.
  NMB_EXPORT static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                                         const ReadOptions& options,
                                                         Communicator& ranks);
  NMB_EXPORT static Result<std::unique_ptr<Reader>> open(std::shared_ptr<const ByteSource> file,
                                                         const ReadOptions& options,
                                                         Communicator& ranks);
  NMB_EXPORT ~Reader();

  NMB_EXPORT std::uint64_t generation() const;
  NMB_EXPORT Digest file_id() const;
  NMB_EXPORT std::uint64_t file_length() const;
  // Whether HDF5 programs can read the file (spec/hdf5_view.md).
  NMB_EXPORT bool has_hdf5_view() const;
  // Returns the generation that HDF5 programs see. 0: there is no view, or one of a later version
  // of the format, whose generation is unknown. Reads 64 bytes if the view is not of the newest
  // generation. kDamaged, kIo.
  NMB_EXPORT Result<std::uint64_t> hdf5_view_generation() const;
  // Maximum bytes of values that share one checksum.
  NMB_EXPORT std::uint32_t piece_size() const;
  NMB_EXPORT const Totals& totals() const;
  // Findings that did not prevent opening: a damaged slot, a commit that was rolled forward. One of
  // rule R-SB-13 means that the file has a newer generation which is not used, or which may get
  // lost.
  NMB_EXPORT const std::vector<Finding>& warnings() const;
  NMB_EXPORT const ByteSource& file() const;
  // Returns a function that checks whether the file, opened again as `now`, still holds this
  // reader's generation: committed bytes never change when others are appended. It returns ok,
  // kDamaged (it does not hold it) or kIo, is thread-safe, and may outlive the reader.
  NMB_EXPORT std::function<Status(const ByteSource& now)> generation_check() const;
  // Returns the provenance that writers recorded: JSON objects in order of generations
  // (spec/format.md, section 9.1); a generation may have none. Reads the file at each call.
  // kDamaged, kLimit, kIo.
  NMB_EXPORT Result<std::vector<std::string>> provenance() const;

  // Returns the totals of block `name` and all blocks below it; "": of all blocks.
  NMB_EXPORT Result<Totals> totals_of_subtree(std::string_view name) const;
  // Returns the totals of all blocks whose names begin with `prefix`. Reads only index pages at
  // both ends of the range.
  NMB_EXPORT Result<Totals> totals_of_prefix(std::string_view prefix) const;
  // Visits the entries of blocks whose names begin with `prefix`, in order of names, until `visit`
  // returns false or fails.
  NMB_EXPORT Status for_each_entry(
      std::string_view prefix, const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  NMB_EXPORT Result<std::optional<BlockEntry>> find(std::string_view block) const;
  // Returns a block's global ID, which is its position in the order of names.
  NMB_EXPORT Result<std::uint64_t> global_id(std::string_view block) const;

  // Loads a block, from the cache if possible. kNotFound, kDamaged; kUnsupported: the block needs a
  // feature that this version does not know, named by its bit (spec/format.md, section 13). Its
  // entry can be used then; its body and values cannot.
  NMB_EXPORT Result<std::shared_ptr<const Block>> block(std::string_view name) const;
  NMB_EXPORT Result<std::shared_ptr<const Block>> block(const BlockEntry& entry) const;
  // Loads a block and its body with one read. *body gets the bytes that body(entry) returns.
  NMB_EXPORT Result<std::shared_ptr<const Block>> block(const BlockEntry& entry,
                                                        std::vector<std::byte>* body) const;
  // Returns the block's body, decoded and checked.
  NMB_EXPORT Result<std::vector<std::byte>> body(const BlockEntry& entry) const;
  // Returns the parts of a block's extent for which no bytes are stored (they read as fill values),
  // in ascending order, never adjacent.
  NMB_EXPORT Result<std::vector<ByteRange>> holes(const BlockEntry& entry) const;
  // Returns the rows of the file table: external files with values of this file, and originals,
  // which are stored whole inside it. kDamaged, kIo.
  NMB_EXPORT Result<std::vector<ExternalFile>> external_files() const;
  // Returns an external file by its file number, from 1. It is opened when it is read; few are kept
  // open at a time. kDamaged (R-EX-8, R-FT-4, R-FT-5); kUnsupported: ReadOptions::external does not
  // allow it; kIo.
  NMB_EXPORT Result<std::shared_ptr<const ByteSource>> open_external(std::uint32_t number) const;
  // Passes the bytes of an original, by its file number, to `sink` in order. kDamaged: the checksum
  // of a piece does not match, or the digest of the whole (R-FT-7), which is checked after the last
  // byte; kUsage: the number of no original; any failure of `sink`; kIo.
  NMB_EXPORT Status give_back(std::uint32_t number,
                              const std::function<Status(std::span<const std::byte>)>& sink) const;
  // Whether the file has statistics of any block.
  NMB_EXPORT bool has_statistics() const;
  // Returns the stored statistics of a block's values (spec/format.md, section 9.3) without reading
  // any values; nullopt: no variable of the block has any. The last pages read are cached.
  // kDamaged, also if the stored type differs from the variable's; kIo.
  NMB_EXPORT Result<std::optional<BlockStatistics>> statistics(const Block& block) const;
  // Visits the statistics of all variables of one name in all blocks, until `visit` returns false
  // or fails. `visit` gets BlockEntry::order of the block, and the statistics. Rows of one name are
  // adjacent in the file, so this reads no others. The order of visits is unspecified. Blocks that
  // were removed from the index may appear too: check their orders against the index. kDamaged,
  // kIo.
  NMB_EXPORT Status for_each_statistics(
      std::string_view variable,
      const std::function<Result<bool>(std::uint64_t, const VariableStatistics&)>& visit) const;
  // Visits the tags of one name in the same way (spec/format.md, section 9.4).
  NMB_EXPORT Status
  for_each_tag(std::string_view name,
               const std::function<Result<bool>(std::uint64_t, const TagValue&)>& visit) const;
  // Counts the tags of one block, or of all blocks (nullopt). Reads all pages of tags. kDamaged,
  // kIo.
  NMB_EXPORT Result<TagCounts> tag_counts(const std::optional<BlockEntry>& block = {}) const;
  // Returns the tags and, if `statistics`, the statistics of all blocks, for packing blocks of this
  // file into another one (PackedBlock::kept). The result may outlive the reader. A damaged table
  // is left out, and `damaged` gets its failure. kIo.
  NMB_EXPORT Result<std::shared_ptr<const KeptRows>> kept_rows(bool statistics,
                                                               std::vector<Status>* damaged) const;
  // Returns additions of later versions of the format that lie outside of blocks, so that copying
  // all blocks loses them (spec/format.md, section 17). Each is described in words: "global section
  // of type 77". Reads all pages of the index and of data maps. kDamaged, kIo.
  NMB_EXPORT Result<std::vector<std::string>> later_additions() const;
  // Returns a variable by its full name, BLOCK/VARIABLE, split at the last '/'. kNotFound says
  // whether the block or the variable is missing.
  NMB_EXPORT Result<Object> object(std::string_view full_name) const;

  // Loads blocks. Collective, for a reader that ranks opened together; one thread per rank calls.
  // (All other calls are local.) Blocks that all ranks name are read by rank 0 and sent to the
  // others. A rank that names other blocks reads those itself.
  NMB_EXPORT Result<std::vector<std::shared_ptr<const Block>>> open_blocks(
      std::span<const std::string_view> names) const;
  // Reads a hyperslab that is the same on all ranks: rank 0 reads, all ranks get the values.
  // Collective.
  NMB_EXPORT Status get_all_same(const Object& object, const Hyperslab& slab,
                                 MutableArray out) const;

 private:
  struct State;
  friend Result<std::vector<ExtentPiece>> coded_pieces(const Reader& reader,
                                                       const BlockEntry& entry);
  friend Result<std::vector<ExtentPiece>> extent_pieces(const Reader& reader,
                                                        const BlockEntry& entry);
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// --- the kind of a file ---
// Found by content; file names do not matter.

enum class FileKind : std::uint8_t { kNmb, kCdf1, kCdf2, kCdf5, kHdf5, kUnknown };

constexpr bool is_classic(FileKind kind) {
  return kind == FileKind::kCdf1 || kind == FileKind::kCdf2 || kind == FileKind::kCdf5;
}

// "NMB", "CDF-1", "HDF5", ...
NMB_EXPORT std::string_view kind_name(FileKind kind);

// Returns the kind of a file. Reads at most the first 16 KiB and, if they show no kind, 8 bytes at
// 16384, 32768, 65536 and so on, where an HDF5 file may begin. An NMB file with lost first bytes is
// recognised by its superblocks. kIo and kDamaged from `file`.
NMB_EXPORT Result<FileKind> kind_of(const ByteSource& file);

// Returns the failure for a file of a kind that the caller does not accept: kUnknownKind for
// kUnknown, else kUnsupported.
NMB_EXPORT Status refused_kind(const ByteSource& file, FileKind kind);

// --- many hyperslabs together ---

// Reads many hyperslabs together, with one read of the file for several that are near each other
// (spec/rationale.md, "Requests"). Requests may be for any objects of any readers:
//   GetRequests requests;
//   std::vector<RequestId> ids;
//   for (Field& field : fields) {
//     NMB_ASSIGN(RequestId id, requests.iget(field.object, field.slab, field.values));
//     ids.push_back(id);
//   }
//   NMB_TRY(requests.wait(ids));
// Used by one thread at a time; each thread may have its own. Destruction drops open requests.
class GetRequests {
 public:
  NMB_EXPORT GetRequests();
  NMB_EXPORT ~GetRequests();

  // Registers a read as by Dataset::read. wait() fills `out`, which must stay valid until then.
  // Returned at once: kUsage, also for an object that did not come from a Reader.
  NMB_EXPORT Result<RequestId> iget(const Object& object, const Hyperslab& slab, MutableArray out);
  // Fills the arrays of requests and closes them. Each read of the file takes at most 1 MiB (with
  // ReadOptions::verify_values one piece, if that is longer). statuses: empty, or one per request,
  // which gets what Dataset::read would return for it; a failed read (kIo) fails all requests that
  // it serves. Returns the first failure. Memory: 3 MiB, plus some for each request. kUsage, with
  // nothing done: an ID of no open request.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Number of open requests.
  NMB_EXPORT std::size_t open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- records that netCDF programs do not see in an HDF5 file or an HDF5 view ---

// Record dimensions with records but without a variable. HDF5 stores the dimension's length, but
// netCDF derives it from the variables, and so shows 0 records in an HDF5 file or view.
struct LostRecords {
  std::uint64_t blocks = 0;  // with such a dimension
  std::string block{};       // the first such block by name, with its dimension and records
  std::string dimension{};
  std::uint64_t records = 0;
  // "6 records of dimension "t", which no variable has: netCDF programs see 0"; "": none is lost.
  NMB_EXPORT std::string text() const;
};

// Finds the records of a file that netCDF programs would not see. A variable of a group below that
// uses the dimension (property 12, spec/hdf5_section.md) counts as one of its variables. Blocks
// from HDF5 are not counted: they appear as they did there. Reads the definitions of classic
// datasets with records. kDamaged; kIo.
NMB_EXPORT Result<LostRecords> lost_records(const Reader& reader);

}  // namespace nmb
