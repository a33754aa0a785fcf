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
  // Memory for blocks that were loaded and may be wanted again, in bytes.
  std::size_t cache_bytes = 64 << 20;
  // What a request to the file costs, as the number of bytes that take as long to arrive; 0: the
  // file is near, and only what is needed is read. Over a network 1 to 16 MiB: near ranges then
  // come in one request, and up to 64 MiB are kept.
  std::size_t request_bytes = 0;

  // --- what is read and checked ---
  // Every piece of values that is touched is read whole and checked; otherwise only those read
  // whole are.
  bool verify_values = false;
  // Which other files are opened that hold values; their pieces are read whole and checked.
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

// Statistics and tags of the blocks of a file, which PackedBlock::kept takes. Immutable.
class KeptRows;

struct ExtentPiece;  // of the library alone

// Thread-safe. Stays on the generation it opened. Many small hyperslabs are read together by
// GetRequests.
class Reader {
 public:
  // kUnknownKind: not an NMB file; kDamaged; kUnsupported; kNotFound; kIo.
  NMB_EXPORT static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                                         const ReadOptions& options = {});
  NMB_EXPORT static Result<std::unique_ptr<Reader>> open(std::shared_ptr<const ByteSource> file,
                                                         const ReadOptions& options = {});
  // Collective: by all ranks of `ranks`, which outlive the reader. Rank 0 reads what it takes to
  // open the file, and all get it, or its failure.
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
  // Which generation they see; 0: there is no view, or one of a later version, which does not tell.
  // Reads 64 bytes where it is not the newest one. kDamaged, kIo.
  NMB_EXPORT Result<std::uint64_t> hdf5_view_generation() const;
  // Bytes of values that have one sum, at most.
  NMB_EXPORT std::uint32_t piece_size() const;
  NMB_EXPORT const Totals& totals() const;
  // What did not hinder opening: a damaged slot, a commit that was rolled forward. Rule R-SB-13: a
  // newer generation lies in the file and is not taken, or may be lost.
  NMB_EXPORT const std::vector<Finding>& warnings() const;
  NMB_EXPORT const ByteSource& file() const;
  // Returns what tells whether the file, opened anew, still holds the generation of this reader:
  // bytes that are committed never change, whatever is added behind them. ok; kDamaged: it does
  // not; kIo. Outlives the reader. Thread-safe.
  NMB_EXPORT std::function<Status(const ByteSource& now)> generation_check() const;
  // What the file was made of, as those who wrote it told: a JSON object for each of the
  // generations that tell it, in order (spec/format.md, section 9.1). Read at each call. kDamaged,
  // kLimit, kIo.
  NMB_EXPORT Result<std::vector<std::string>> provenance() const;

  // The totals of the block `name` and of those below it ("" : all).
  NMB_EXPORT Result<Totals> totals_of_subtree(std::string_view name) const;
  // The totals of the blocks whose names begin with `prefix`: no more than the edges of the range
  // are read.
  NMB_EXPORT Result<Totals> totals_of_prefix(std::string_view prefix) const;
  // Entries whose names begin with `prefix`, in order of names, until `visit` returns false or
  // fails.
  NMB_EXPORT Status for_each_entry(
      std::string_view prefix, const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  NMB_EXPORT Result<std::optional<BlockEntry>> find(std::string_view block) const;
  // A block's global ID: its place in the order of names.
  NMB_EXPORT Result<std::uint64_t> global_id(std::string_view block) const;

  // Loads a block, from the cache if it is there. kNotFound, kDamaged; kUnsupported: the block
  // needs what this version does not know, by bit (spec/format.md, section 13): its entry can be
  // used, its body and values cannot.
  NMB_EXPORT Result<std::shared_ptr<const Block>> block(std::string_view name) const;
  NMB_EXPORT Result<std::shared_ptr<const Block>> block(const BlockEntry& entry) const;
  // Loads it with its body, which is read once for both. *body: as body(entry).
  NMB_EXPORT Result<std::shared_ptr<const Block>> block(const BlockEntry& entry,
                                                        std::vector<std::byte>* body) const;
  // The block's body, decoded and checked.
  NMB_EXPORT Result<std::vector<std::byte>> body(const BlockEntry& entry) const;
  // The parts of a block's extent for which nothing is stored (they read as fill values), in order,
  // none next to another.
  NMB_EXPORT Result<std::vector<ByteRange>> holes(const BlockEntry& entry) const;
  // The rows of the file table: files that hold values of this one, beside it or whole in it as
  // originals. kDamaged, kIo.
  NMB_EXPORT Result<std::vector<ExternalFile>> external_files() const;
  // One of them by its file number, from 1; opened when it is read, one of few that are. kDamaged
  // (R-EX-8, R-FT-4, R-FT-5); kUnsupported: ReadOptions::external does not allow it; kIo.
  NMB_EXPORT Result<std::shared_ptr<const ByteSource>> open_external(std::uint32_t number) const;
  // Hands the bytes of an original, by its file number, to `sink` in order. kDamaged: a piece has
  // another sum, or the whole another digest (R-FT-7), which is found behind the last byte; kUsage:
  // the number is no original's; what `sink` returns; kIo.
  NMB_EXPORT Status give_back(std::uint32_t number,
                              const std::function<Status(std::span<const std::byte>)>& sink) const;
  // Whether the file keeps statistics of any block.
  NMB_EXPORT bool has_statistics() const;
  // Statistics of the values of a block, as the file keeps them (spec/format.md, section 9.3),
  // without reading any values; nullopt: it keeps none of any variable. Pages that were read last
  // are kept. kDamaged, also where they are of a variable of another type; kIo.
  NMB_EXPORT Result<std::optional<BlockStatistics>> statistics(const Block& block) const;
  // Statistics of the variables of one name in all blocks, until `visit` returns false or fails:
  // BlockEntry::order of the block, and the statistics. Rows of one name lie together, so this
  // reads no others. Blocks that are not in the index any more may come, too: look their orders up.
  // In no particular order. kDamaged, kIo.
  NMB_EXPORT Status for_each_statistics(
      std::string_view variable,
      const std::function<Result<bool>(std::uint64_t, const VariableStatistics&)>& visit) const;
  // The same of tags of one name (spec/format.md, section 9.4).
  NMB_EXPORT Status
  for_each_tag(std::string_view name,
               const std::function<Result<bool>(std::uint64_t, const TagValue&)>& visit) const;
  // Counts the tags of one block, or of all blocks (nullopt). Reads all pages of tags. kDamaged,
  // kIo.
  NMB_EXPORT Result<TagCounts> tag_counts(const std::optional<BlockEntry>& block = {}) const;
  // Statistics (where they are wanted) and tags of all blocks, for blocks of this file that are
  // packed into another (PackedBlock::kept); they outlive the reader. Of a table that is damaged
  // nothing is kept, and `damaged` gets what is wrong with it. kIo.
  NMB_EXPORT Result<std::shared_ptr<const KeptRows>> kept_rows(bool statistics,
                                                               std::vector<Status>* damaged) const;
  // What the file has of later versions that its blocks do not tell, and that a copy of them does
  // not have (spec/format.md, section 17), in words: "global section of type 77". Reads all pages
  // of the index and of data maps. kDamaged, kIo.
  NMB_EXPORT Result<std::vector<std::string>> later_additions() const;
  // A full name: splits at its last '/'. kNotFound says whether block or variable is missing.
  NMB_EXPORT Result<Object> object(std::string_view full_name) const;

  // Collective, of a reader that ranks opened together (one thread of each calls; all else is
  // independent). Rank 0 reads blocks that all want, and all get them. A rank that names others
  // reads those itself.
  NMB_EXPORT Result<std::vector<std::shared_ptr<const Block>>> open_blocks(
      std::span<const std::string_view> names) const;
  // The same of values: rank 0 reads, all get them.
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
// By its content: names and endings do not matter.

enum class FileKind : std::uint8_t { kNmb, kCdf1, kCdf2, kCdf5, kHdf5, kUnknown };

constexpr bool is_classic(FileKind kind) {
  return kind == FileKind::kCdf1 || kind == FileKind::kCdf2 || kind == FileKind::kCdf5;
}

// "NMB", "CDF-1", "HDF5", ...
NMB_EXPORT std::string_view kind_name(FileKind kind);

// Reads at most the first 16 KiB and, for a file of no other kind, 8 bytes at 16384, 32768, 65536
// and so on, where HDF5 may begin. An NMB file whose first bytes are lost is known by its
// superblocks. kIo, kDamaged as `file` gives them.
NMB_EXPORT Result<FileKind> kind_of(const ByteSource& file);

// The status for a kind that a tool does not take: kUnknownKind for kUnknown, else kUnsupported.
NMB_EXPORT Status refused_kind(const ByteSource& file, FileKind kind);

// --- many hyperslabs together ---

// Reads hyperslabs together, with few reads of the file where they lie near each other
// (spec/rationale.md, "Requests"). Requests of any objects of any readers:
//   GetRequests requests;
//   std::vector<RequestId> ids;
//   for (Field& field : fields) {
//     NMB_ASSIGN(RequestId id, requests.iget(field.object, field.slab, field.values));
//     ids.push_back(id);
//   }
//   NMB_TRY(requests.wait(ids));
// Used by one thread at a time; each may have its own. Those that are open at its end are
// forgotten.
class GetRequests {
 public:
  NMB_EXPORT GetRequests();
  NMB_EXPORT ~GetRequests();

  // As Dataset::read, but `out` is filled when the request is waited for; until then it must stay.
  // Checked at once: kUsage, also an object that no Reader gave.
  NMB_EXPORT Result<RequestId> iget(const Object& object, const Hyperslab& slab, MutableArray out);
  // Fills the arrays of requests, which then are open no more. Each read of the file takes at most
  // 1 MiB (with ReadOptions::verify_values a piece, if that is more). statuses: none, or as many as
  // requests: what Dataset::read would have said of each; a read that fails (kIo) is a failure of
  // all requests that it was for. Returns the first failure of them. Memory: 3 MiB, and what grows
  // with the number of requests. kUsage, and nothing is done: IDs that are not of open requests.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Requests that were not waited for.
  NMB_EXPORT std::size_t open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- records that netCDF programs do not see once a file is HDF5, or has an HDF5 view ---

// Record dimensions that have records and no variable. HDF5 gives a dimension its length, but
// netCDF takes that of its variables, and shows 0 records in an HDF5 file or view.
struct LostRecords {
  std::uint64_t blocks = 0;  // that have one
  std::string block{};       // the first of them by name
  std::string dimension{};
  std::uint64_t records = 0;
  // "6 records of dimension "t", which no variable has: netCDF programs see 0"; empty: none is
  // lost.
  NMB_EXPORT std::string text() const;
};

// Dimensions that groups below use by property 12 (spec/hdf5_section.md) have the variables of
// these. Blocks that came from HDF5 stay as they were there. Reads the definitions of classic
// datasets with records. kDamaged; kIo.
NMB_EXPORT Result<LostRecords> lost_records(const Reader& reader);

}  // namespace nmb
