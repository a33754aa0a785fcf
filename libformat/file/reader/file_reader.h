// Defines Reader, which opens a committed generation of an NMB file and loads the requested blocks
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

#include "model/dataset.h"
#include "model/external_files.h"
#include "model/values.h"
#include "nmb/options.h"
#include "nmb/statistics.h"
#include "parallel/communicator.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// A block with its decoded metadata.
struct LoadedBlock : Dataset {
  BlockEntry entry;
};

// A variable of a block.
struct Object {
  std::shared_ptr<const LoadedBlock> block;
  VarId variable = 0;
};

// The statistics and tags of all blocks of one file (see PackedBlock::kept). Immutable.
class KeptRows;

struct ExtentPiece;  // internal to the library

// Options that determine what an HDF5 view shows (spec/hdf5_view.md).
struct ViewOptions {
  // Whether the data sets of classic blocks have dimension scales. Without scales, a view is
  // smaller and netCDF programs show dimensions without names. Blocks from HDF5 and netCDF-4 keep
  // their scales.
  bool dimensions = true;
  // Whether the view has copies of values of variable length and of references. Without copies, the
  // view leaves out variables with such values.
  bool copies = false;

  bool operator==(const ViewOptions&) const = default;
};

// Reads one generation of an NMB file: the generation that was the newest when the Reader was
// created. Thread-safe. To read many small hyperslabs together, use GetRequests.
class FileReader {
 public:
  // Opens the newest committed generation. Errors: kUnknownKind if the file is not an NMB file;
  // kDamaged; kUnsupported; kNotFound; kIo.
  NMB_EXPORT static Result<std::unique_ptr<FileReader>> open(const std::string& path,
                                                             const ReadOptions& options = {});
  NMB_EXPORT static Result<std::unique_ptr<FileReader>> open(std::shared_ptr<const ByteSource> file,
                                                             const ReadOptions& options = {});
  // Collective over `ranks`, which must outlive the reader. Rank 0 reads all bytes that are needed
  // to open the file. Rank 0 then sends these bytes to all ranks. If rank 0 fails, it sends its
  // failure to all ranks.
  NMB_EXPORT static Result<std::unique_ptr<FileReader>> open(const std::string& path,
                                                             const ReadOptions& options,
                                                             Communicator& ranks);
  NMB_EXPORT static Result<std::unique_ptr<FileReader>> open(std::shared_ptr<const ByteSource> file,
                                                             const ReadOptions& options,
                                                             Communicator& ranks);
  NMB_EXPORT ~FileReader();

  NMB_EXPORT std::uint64_t generation() const;
  NMB_EXPORT Digest file_id() const;
  // Returns the digest of the superblock, which has the checksums of all that belongs to the
  // generation.
  NMB_EXPORT Digest generation_digest() const;
  NMB_EXPORT std::uint64_t file_length() const;
  // Returns whether HDF5 programs can read the file (spec/hdf5_view.md).
  NMB_EXPORT bool has_hdf5_view() const;
  // Returns the generation that HDF5 programs see. Returns 0 if the file has no view. Also returns
  // 0 if a later version of the format wrote the view, because the generation is then unknown. If
  // the view does not show the newest generation, the function reads 64 bytes of the file. Errors:
  // kDamaged, kIo.
  NMB_EXPORT Result<std::uint64_t> hdf5_view_generation() const;
  // Returns what the view of the file shows. Returns the default if the file has no view or if the
  // view is of a later version of the format. Reads 64 bytes of the file. Errors: kDamaged; kIo.
  NMB_EXPORT Result<ViewOptions> hdf5_view_options() const;
  // Returns the maximum number of bytes of values that share one checksum.
  NMB_EXPORT std::uint32_t piece_size() const;
  NMB_EXPORT const Totals& totals() const;
  // Returns the findings that did not prevent opening, for example a damaged slot or a commit that
  // was rolled forward. A finding of rule R-SB-13 means one of two things: the reader does not use
  // a newer generation of the file, or a newer generation may be lost.
  NMB_EXPORT const std::vector<Finding>& warnings() const;
  NMB_EXPORT const ByteSource& file() const;
  // Returns a function that checks whether the file still holds this reader's generation. The
  // function's argument `now` is the same file, opened again. Appending to a file never removes a
  // generation, because committed bytes do not change. The function returns ok, kDamaged if the
  // file does not hold the generation, or kIo. The function is thread-safe and may outlive the
  // reader.
  NMB_EXPORT std::function<Status(const ByteSource& now)> generation_check() const;
  // Returns the provenance that writers recorded, as JSON objects in order of generations
  // (spec/tables.md, section 9.1). A generation may have no such object. Reads the file at each
  // call. Errors: kDamaged, kLimit, kIo.
  NMB_EXPORT Result<std::vector<std::string>> provenance() const;

  // Returns the totals of block `name` and all blocks below it. The name "" means all blocks.
  NMB_EXPORT Result<Totals> totals_of_subtree(std::string_view name) const;
  // Returns the totals of all blocks whose names begin with `prefix`. Reads only the index pages at
  // the two ends of the range of names.
  NMB_EXPORT Result<Totals> totals_of_prefix(std::string_view prefix) const;
  // Visits the entries of blocks whose names begin with `prefix` and are not less than `from`, in
  // order of names, until `visit` returns false or fails.
  NMB_EXPORT Status for_each_entry(std::string_view prefix,
                                   const std::function<Result<bool>(const BlockEntry&)>& visit,
                                   std::string_view from = {}) const;
  // Visits entries of all blocks in the order of names. May leave out entries if `wants` returns
  // false for their orders (BlockEntry::order). Entries that `wants` chooses are never left out.
  // The order is nearly all that is read of an entry that is left out. `wants` is called before the
  // first visit, at most once with each order. If blocks were removed from the file, all entries
  // are visited, and `wants` is not called.
  NMB_EXPORT Status
  for_each_wanted_entry(const std::function<Result<bool>(std::uint64_t order)>& wants,
                        const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  NMB_EXPORT Result<std::optional<BlockEntry>> find(std::string_view block) const;
  // Returns the block at a position in the order of all names, or nullopt after the last one.
  NMB_EXPORT Result<std::optional<BlockEntry>> at(std::uint64_t position) const;
  // Returns the block that has the object of this number (IndexTree::counted).
  NMB_EXPORT Result<std::optional<CountedObject>> counted(std::uint64_t BlockCounts::*count,
                                                          std::uint64_t number) const;
  // Returns a block's global ID, which is its position in the order of all names.
  NMB_EXPORT Result<std::uint64_t> global_id(std::string_view block) const;

  // Loads a block, from the cache if possible. Errors: kNotFound; kDamaged; kUnsupported if the
  // block needs a feature that this version does not know. The message for kUnsupported gives the
  // feature's bit (spec/format.md, section 13). The entry of such a block can be used, but its body
  // and its values cannot.
  NMB_EXPORT Result<std::shared_ptr<const LoadedBlock>> block(std::string_view name) const;
  NMB_EXPORT Result<std::shared_ptr<const LoadedBlock>> block(const BlockEntry& entry) const;
  // Loads a block and its body with one read. Stores in *body the bytes that body(entry) would
  // return.
  NMB_EXPORT Result<std::shared_ptr<const LoadedBlock>> block(const BlockEntry& entry,
                                                              std::vector<std::byte>* body) const;
  // Returns the block's body, decoded and checked.
  NMB_EXPORT Result<std::vector<std::byte>> body(const BlockEntry& entry) const;
  // Returns the parts of a block's extent for which the file stores no bytes. Readers get fill
  // values from these parts. The parts are in ascending order, and no two of them are adjacent.
  NMB_EXPORT Result<std::vector<ByteRange>> holes(const BlockEntry& entry) const;
  // Returns the rows of the file table: external files, which contain values of this file, and
  // originals, which are stored whole in this file. Errors: kDamaged, kIo.
  NMB_EXPORT Result<std::vector<ExternalFile>> external_files() const;
  // Returns the external file with the file number `number`. File numbers begin at 1. The file is
  // opened only when bytes are read from it. Only a few external files are open at the same time.
  // Bytes of an original are verified, bytes of other files have no checksum here. Errors: kDamaged
  // (R-EX-8, R-FT-4, R-FT-5); kUnsupported if ReadOptions::external does not allow the file;
  // kIo.
  NMB_EXPORT Result<std::shared_ptr<const ByteSource>> open_external(std::uint32_t number) const;
  // Passes the bytes of an original to `sink` in order. `number` is the file number of the
  // original. The digest of the whole file is checked after the last byte. Errors: kDamaged if the
  // checksum of a piece or the digest (R-FT-7) does not match; kUsage if `number` does not belong
  // to an original; any failure of `sink`; kIo.
  NMB_EXPORT Status give_back(std::uint32_t number,
                              const std::function<Status(std::span<const std::byte>)>& sink) const;
  // Passes the bytes of the classic file that became a block to `sink` in order. The entry must
  // have digests of this file (BlockEntry::file_digests), and no growth. These digests are checked
  // after the last byte. Errors: kDamaged if a checksum or a digest (R-OD-1) does not match; kUsage
  // without digests; any failure of `sink`; kIo.
  NMB_EXPORT Status give_back(const BlockEntry& entry,
                              const std::function<Status(std::span<const std::byte>)>& sink) const;
  // Returns whether the file has statistics of any block.
  NMB_EXPORT bool has_statistics() const;
  // Returns the stored statistics of a block's values (spec/tables.md, section 9.3) without reading
  // any values: those of the variables, the ranges of their parts, and results of functions. A
  // variable that has only results of functions is not `computed`. Returns nullopt if no variable
  // of the block has statistics. The pages that were read last stay in a cache. Errors: kDamaged,
  // also if a stored type differs from the type of the variable; kIo.
  NMB_EXPORT Result<std::optional<BlockStatistics>> statistics(const LoadedBlock& block) const;
  // Visits the statistics of all variables named `variable` in all blocks, until `visit` returns
  // false or fails. `visit` gets BlockEntry::order of the block, and the statistics. The function
  // reads no other statistics, because rows with the same name are adjacent in the file. The order
  // of visits is unspecified. Blocks that were removed from the index may appear too. To recognise
  // such blocks, compare their orders with the orders in the index. Errors: kDamaged, kIo.
  NMB_EXPORT Status for_each_statistics(
      std::string_view variable,
      const std::function<Result<bool>(std::uint64_t, const VariableStatistics&)>& visit) const;
  // Returns the stored ranges of the parts of a variable in the block with the given
  // BlockEntry::order, or nullopt if there are none. variable: the stored name. Errors: kDamaged,
  // kIo.
  NMB_EXPORT Result<std::optional<PartRanges>> part_ranges(std::string_view variable,
                                                           std::uint64_t order) const;
  // Visits the results of a function (ValueFunction) for all variables named `variable`, in the
  // same way.
  NMB_EXPORT Status
  for_each_result(std::string_view variable, std::string_view function,
                  const std::function<Result<bool>(std::uint64_t, const TagValue&)>& visit) const;
  // Visits all tags named `name`, in the same way as for_each_statistics() (spec/tables.md, section
  // 9.4).
  NMB_EXPORT Status
  for_each_tag(std::string_view name,
               const std::function<Result<bool>(std::uint64_t, const TagValue&)>& visit) const;
  // Visits all tags of all blocks, in the same way. The tags of a block are visited in the order of
  // their names, but tags of other blocks may come between them.
  NMB_EXPORT Status
  for_each_tag(const std::function<Result<bool>(std::uint64_t order, Tag tag)>& visit) const;
  // Counts the tags of one block, or of all blocks if `block` is nullopt. Reads all pages of tags.
  // Errors: kDamaged, kIo.
  NMB_EXPORT Result<TagCounts> tag_counts(const std::optional<BlockEntry>& block = {}) const;
  // Returns the tags of all blocks, and their statistics if `statistics` is true. The result is
  // needed to pack blocks of this file into another file (PackedBlock::kept). The result may
  // outlive the reader. A damaged table is left out, and its failure is added to `damaged`. Errors:
  // kIo.
  NMB_EXPORT Result<std::shared_ptr<const KeptRows>> kept_rows(bool statistics,
                                                               std::vector<Status>* damaged) const;
  // A file may contain additions that only later versions of the format define (spec/format.md,
  // section 17). Returns a text about each addition outside of blocks, for example "global section
  // of type 77". A program that copies only the blocks loses these additions. Reads all pages of
  // the index and of data maps. Errors: kDamaged, kIo.
  NMB_EXPORT Result<std::vector<std::string>> later_additions() const;
  // Returns a variable by its full name, BLOCK/VARIABLE, which is split at the last '/'. Errors:
  // kNotFound; the message says which of the two is missing, the block or the variable.
  NMB_EXPORT Result<Object> object(std::string_view full_name) const;

  // Loads blocks. Collective: the ranks must have opened the reader together, and only one thread
  // of each rank may call this function. The functions open_blocks() and get_all_same() are
  // collective; all other functions are local. If all ranks name a block, rank 0 reads the block
  // and sends it to the other ranks. If only some ranks name a block, each of them reads the block
  // itself.
  NMB_EXPORT Result<std::vector<std::shared_ptr<const LoadedBlock>>> open_blocks(
      std::span<const std::string_view> names) const;
  // Reads a hyperslab that is the same on all ranks: rank 0 reads the values and sends them to all
  // ranks. Collective.
  NMB_EXPORT Status get_all_same(const Object& object, const Hyperslab& slab,
                                 MutableArray out) const;

 private:
  struct State;
  friend Result<std::vector<ExtentPiece>> coded_pieces(const FileReader& reader,
                                                       const BlockEntry& entry);
  friend Result<std::vector<ExtentPiece>> extent_pieces(const FileReader& reader,
                                                        const BlockEntry& entry);
  explicit FileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// --- the kind of a file ---
// The content of a file determines its kind; the file name does not matter.

constexpr bool is_classic(FileKind kind) {
  return kind == FileKind::kCdf1 || kind == FileKind::kCdf2 || kind == FileKind::kCdf5;
}

// Returns the kind of a file. Reads at most the first 16 KiB. If these bytes do not show the kind,
// also reads 8 bytes at each of the offsets 16384, 32768, 65536 and so on, where an HDF5 file may
// begin. An NMB file whose first bytes were lost is recognised by its superblocks. Errors: those of
// reading `file` (kIo, kDamaged).
NMB_EXPORT Result<FileKind> kind_of(const ByteSource& file);

// Returns the failure to report for a file whose kind the caller does not accept. The failure has
// the code kUnknownKind if the kind is unknown, and otherwise the code kUnsupported.
NMB_EXPORT Status refused_kind(const ByteSource& file, FileKind kind);

// --- many hyperslabs together ---

// Reads many hyperslabs together. One read of the file serves several hyperslabs that are near each
// other (spec/rationale.md, "Requests"). Requests may concern different objects and different
// readers. Example:
//
//   GetRequests requests;
//   std::vector<RequestId> ids;
//   for (Field& field : fields) {
//     NMB_ASSIGN(RequestId id, requests.iget(field.object, field.slab, field.values));
//     ids.push_back(id);
//   }
//   NMB_TRY(requests.wait(ids));
//
// Only one thread at a time may use a GetRequests object, but each thread may have its own object.
// The destructor drops open requests and does not read their values.
class GetRequests {
 public:
  NMB_EXPORT GetRequests();
  NMB_EXPORT ~GetRequests();

  // Registers a request to read a hyperslab as Dataset::read() does. The function wait() fills
  // `out`, which must stay valid until wait() returns. Errors: kUsage, also if `object` did not
  // come from a Reader; kUnsupported if the block has kind 6. Only wait() reports failures to read
  // the values.
  NMB_EXPORT Result<RequestId> iget(const Object& object, const Hyperslab& slab, MutableArray out);
  // Reads the values of the requests into their arrays, and closes the requests. Each read of the
  // file covers at most 1 MiB, except that a verified read may cover one longer piece.
  // `statuses` is empty, or has one element for each request. The element of a request receives the
  // status that Dataset::read() would return. If a read of the file fails (kIo), all requests that
  // this read serves fail. Returns the first failure. Needs 3 MiB of memory, plus a small amount
  // for each request. Errors: kUsage if an ID does not belong to an open request; in this case, all
  // requests stay open.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Returns the number of open requests.
  NMB_EXPORT std::size_t open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- records that netCDF programs do not see in an HDF5 file or an HDF5 view ---

// Record dimensions that have records, although no variable uses these dimensions. An HDF5 file or
// an HDF5 view stores the length of such a dimension. A netCDF program ignores the stored length
// and computes the length from the variables, so it shows 0 records.
struct LostRecords {
  std::uint64_t blocks = 0;  // number of blocks with such a dimension
  std::string block{};       // first block with such a dimension, in order of names
  std::string dimension{};
  std::uint64_t records = 0;
  // Returns a sentence about the lost records, or "" if no records are lost. Example: "6 records of
  // dimension "t", which no variable uses; netCDF programs see 0 records".
  NMB_EXPORT std::string text() const;
};

// Finds the records that netCDF programs would not see in an HDF5 copy or an HDF5 view of the file.
// A record dimension counts as used if a variable in a group below the block uses it (property 12,
// spec/hdf5_section.md). Blocks from HDF5 are left out, because netCDF programs see them as in the
// original HDF5 file. Reads the definitions of classic datasets with records. Errors: kDamaged,
// kIo.
NMB_EXPORT Result<LostRecords> lost_records(const FileReader& reader);

}  // namespace nmb
