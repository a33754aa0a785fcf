// Writer: creates an NMB file, or adds a generation to one (spec/format.md).
// Define mode lasts from create(), open() or redefine() to end_define(). In define mode, a program
// defines blocks, dimensions, variables and attributes. Values are put after define mode. The
// functions sync() and close() commit a generation. Readers see nothing new before the commit, and
// a failure never changes committed data. A new file has no name before its first commit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/metadata.h"
#include "model/values.h"
#include "parallel/communicator.h"
#include "ranks/writer_options.h"
#include "values/element_runs.h"

namespace nmb {

// Creates a file, or adds a generation to a file. Not thread-safe. After kIo, kNoSpace or kDamaged
// the file's state is unknown, and every later call returns the same failure.
// With several ranks, these functions are collective: create, open, redefine, end_define,
// open_blocks, extend, put_all, wait_all, get_all, flush, sync and close. All ranks must call these
// functions in the same order. A failure of a collective call is the same on all ranks. If a rank
// passes wrong arguments, nothing changes (after kRange, all values are put); any other failure is
// returned by every later call. All other calls are local: definitions, put(), inquiry. If a local
// step fails, call ranks.agree() before the next collective call. Several ranks may define parts of
// the same new block. The block becomes the union of these definitions; end_define() fails with
// kConflict if the definitions disagree. A committed block, and a block that an earlier
// end_define() has placed, may be changed by one rank or by several that change it alike, so that
// the objects are the same in the same order. Ranks that share an uncommitted block, or
// have put uncommitted values to the block, must be among them. Other ranks must not put values
// into that block before the next commit. To define anything after sync(), call redefine() first.
// IDs of blocks, dimensions and variables are local to a rank and stay valid. The file is the same
// for any number of ranks under two conditions: the ranks define the same blocks in the order of
// ranks, and they put the same values between the same collective calls. An exception in a
// collective call also makes the network of the ranks fail. std::bad_alloc gives kLimit, and an
// exception from a callback gives kUsage. A rank that gives up for another reason must call
// ranks.fail().
class FileWriter {
 public:
  // Creates a file. Errors: kExists if the target exists and `overwrite` is not set; kUsage if an
  // option is out of range; kIo; kNoSpace.
  NMB_EXPORT static Result<std::unique_ptr<FileWriter>> create(
      const std::string& path, const FileWriterOptions& options = {});
  // Creates a file together with other ranks. Collective over `ranks`, which must outlive the
  // writer; path and options must be the same on all ranks.
  NMB_EXPORT static Result<std::unique_ptr<FileWriter>> create(const std::string& path,
                                                               const FileWriterOptions& options,
                                                               Communicator& ranks);
  // Opens a file for a new generation, in define mode. Uncommitted bytes of an earlier writer stay
  // in the file as an abandoned range. Errors: kBusy if another writer has the file open;
  // kUnsupported if the file has a feature that only newer writers preserve.
  NMB_EXPORT static Result<std::unique_ptr<FileWriter>> open(const std::string& path,
                                                             const FileWriterOptions& options = {});
  NMB_EXPORT static Result<std::unique_ptr<FileWriter>> open(const std::string& path,
                                                             const FileWriterOptions& options,
                                                             Communicator& ranks);
  // Without close(), everything uncommitted is lost. With several ranks, a rank that destroys its
  // writer without close() makes the network fail. The next collective call of every other rank
  // then reports which rank is gone, or which local call failed on that rank. The network does not
  // fail in three cases: after a failure that all ranks share, while an exception propagates, and
  // after abandon() on all ranks. All ranks share a failure of a collective call or of
  // ranks.agree(). The handler of the exception must call ranks.fail(). Within work whose end is
  // reported (Communicator::begin_work()), the network fails only at that end or at the next
  // collective call of this rank.
  NMB_EXPORT ~FileWriter();
  // Allows destruction without close(), so that all ranks give up everything uncommitted. The
  // destructor is then collective.
  NMB_EXPORT void abandon();

  // --- define mode ---
  // Defines an empty block. Errors: kExists if the file has a block of this name; kUsage if the
  // name is illegal (spec/format.md, section 8.4).
  NMB_EXPORT Result<BlockId> define_block(std::string_view name);
  // Defines a block with all definitions of `metadata` and space for `records` unwritten records.
  // kind: kCdf1, kCdf2 or kCdf5, whose limits the definitions must keep (kLimit, kUsage).
  NMB_EXPORT Result<BlockId> define_block(std::string_view name, const Metadata& metadata,
                                          std::uint64_t records = 0, Kind kind = Kind::kCdf5);
  // Gives a block other definitions: `next` has the dimensions and variables that the block had at
  // the last end_define(), in the same order and with the same lengths, types and dimensions, and
  // perhaps more after them. Names and attributes may differ. A block that was not yet placed by an
  // end_define() may get any definitions. Values stay. Several ranks may call this for a block that
  // they share, or that is committed, if they pass the same definitions; otherwise end_define()
  // fails with kConflict. Errors: kUsage, also if a _FillValue changes while some values of the
  // variable are not written; kUnsupported for a block from HDF5, or of which this rank has defined
  // only a part; kLimit.
  NMB_EXPORT Status redefine_block(BlockId block, const Metadata& next, Kind kind = Kind::kCdf5);
  // The same without a copy of the definitions, which need much memory if there are very many. The
  // caller keeps `next` unchanged while it also has it, and knows that no name is taken twice.
  NMB_EXPORT Status redefine_block(BlockId block, std::shared_ptr<Metadata> next,
                                   Kind kind = Kind::kCdf5);
  // Rename a dimension or variable, or an attribute, or remove an attribute. These functions copy
  // the definitions of the block; to change many names, use redefine_block(). variable: kGlobal for
  // the attributes of the block. Errors: those of redefine_block(); kExists; kNotFound.
  NMB_EXPORT Status rename_dim(BlockId block, DimId dimension, std::string_view name);
  NMB_EXPORT Status rename_var(BlockId block, VarId variable, std::string_view name);
  NMB_EXPORT Status rename_att(BlockId block, VarId variable, std::string_view from,
                               std::string_view to);
  NMB_EXPORT Status remove_att(BlockId block, VarId variable, std::string_view name);
  // Finds a block of the file, or a block that this rank has defined. Errors: kNotFound.
  NMB_EXPORT Result<BlockId> find_block(std::string_view name);
  // Finds blocks of any rank, including blocks defined since the last commit. Each rank passes the
  // names of the blocks that it needs. Collective, and only outside define mode. Errors: kNotFound,
  // on all ranks.
  NMB_EXPORT Result<std::vector<BlockId>> open_blocks(std::span<const std::string_view> names);
  // Stores a whole file, byte for byte. FileReader::give_back() returns the file. Returns the index
  // of the file (from 0) among the files that this rank adds before the next commit. Errors: kUsage
  // outside define mode, or for an unknown block. The commit fails with kDamaged if the file does
  // not have the given digests.
  NMB_EXPORT Result<std::uint32_t> add_original(NewOriginal original);
  // Sets a field of the block's index entry that programs decide; the default is 0. The only one is
  // `samples`, which is added to the totals; if several ranks define the block, the largest number
  // counts. Errors: kUsage outside define mode or for a packed block; kUnsupported for a committed
  // block of kind 6; kLimit above 2^63 - 1. The commit fails with kLimit if the sum of all blocks
  // is larger.
  NMB_EXPORT Status set_field(BlockId block, std::uint64_t EntryFields::*field,
                              std::uint64_t value);
  // Gives a tag to a block that is not committed yet, or replaces the block's tag of this name. A
  // tag that a packed block has in another file (PackedBlock::kept) is replaced too. Programs find
  // blocks by their tags (find/find.h). If several ranks define the block, it gets the tags of all
  // ranks; end_define() fails with kConflict if two ranks give different values to one tag. Errors:
  // kUsage outside define mode, or if the name or a text breaks a rule of struct Tag; kUnsupported
  // if the block is committed.
  NMB_EXPORT Status set_tag(BlockId block, std::string_view name, TagValue value);
  // Adds provenance of the next generation: one JSON object in UTF-8 per call (spec/tables.md,
  // section 9.1). The file keeps the provenance of earlier generations. Only rank 0's objects are
  // kept. Not collective. If a commit changes nothing else, the objects wait for the next commit
  // unless FileWriterOptions::commits_provenance is set. The syntax is not checked, because the
  // text may come from another file.
  // Errors: kUsage if the text is empty or longer than kMostProvenance bytes, or after close();
  // kLimit for more than 64 MiB in one generation. A failed call adds nothing.
  NMB_EXPORT Status add_provenance(std::string_view json);
  // Defines a dimension of at least 1; kUnlimited means the record dimension. Errors: kUsage;
  // kExists if the name is already used. In a block with more than 3,584 dimensions or variables,
  // this error may come later, from end_define() (see model/metadata.h).
  NMB_EXPORT Result<DimId> def_dim(BlockId block, std::string_view name, std::uint64_t length);
  NMB_EXPORT Result<VarId> def_var(BlockId block, std::string_view name, Type type,
                                   std::span<const DimId> dimensions);
  // Adds or replaces an attribute. `values` must be in external form. The _FillValue of a variable
  // with holes cannot change (kUsage).
  NMB_EXPORT Status put_att(BlockId block, VarId variable, std::string_view name, Type type,
                            std::span<const std::byte> values);
  // Adds or replaces an attribute, and converts `values` to external form. If some values do not
  // fit the type (kRange), the attribute does not change. The _FillValue of a variable must be one
  // value of the variable's type, converted without loss (kUsage).
  NMB_EXPORT Status put_att(BlockId block, VarId variable, std::string_view name, Type type,
                            ConstArray values);
  NMB_EXPORT Status put_att_text(BlockId block, VarId variable, std::string_view name,
                                 std::string_view text);
  // IDs that the following functions return. These functions take full names (BLOCK/NAME), and
  // define the block if it does not exist.
  struct FullId {
    BlockId block;
    std::uint32_t id;
  };
  NMB_EXPORT Result<FullId> def_dim(std::string_view full_name, std::uint64_t length);
  // `dimensions` are names of dimensions in the same block.
  NMB_EXPORT Result<FullId> def_var(std::string_view full_name, Type type,
                                    std::span<const std::string_view> dimensions);
  NMB_EXPORT Status put_att_text(std::string_view full_name, std::string_view attribute,
                                 std::string_view text);
  NMB_EXPORT Status remove_block(BlockId block);
  NMB_EXPORT Status rename_block(BlockId block, std::string_view name);
  // Adds a whole block. The next commit moves the values of the block with options.threads threads.
  NMB_EXPORT Result<BlockId> pack_block(PackedBlock block);
  // Makes the next commit move values from `source` into the block's extent. Offset 0 of the extent
  // is the first byte after the header. Call this function after end_define(). The runs must ascend
  // in the extent and must not overlap; bytes outside all runs become zero. `origin` as for
  // PackedBlock::origin. Errors: kUsage, also if several ranks share the block.
  NMB_EXPORT Status take_values(BlockId block, std::shared_ptr<const ByteSource> source,
                                std::vector<ValueRuns> runs, std::string origin = {});

  NMB_EXPORT Status end_define();
  // Collective: ends define mode without the definitions since redefine(), or since the writer was
  // made. Errors: kUsage outside define mode; kUnsupported, and nothing changes, after
  // remove_block() or rename_block() of a block that was placed before, or add_original().
  NMB_EXPORT Status discard();
  // Returns to define mode. Changed blocks get a new header; their values do not change. Values
  // need not be committed, and requests stay open.
  NMB_EXPORT Status redefine();
  // Returns kUnsupported for a block that came from HDF5. why: what follows from it, for messages.
  NMB_EXPORT Status check_not_from_hdf5(BlockId block, std::string_view why = kNoPuts);

  // --- values ---
  // Puts a hyperslab, and adds records as needed. Some values have no space in the file yet: values
  // after the last record, and values that replace committed values. These values wait for the next
  // collective call, in memory and in a temporary file (origins/stage.h). Errors: kRange if some
  // values did not fit the type (all values are put); kUsage for a wrong shape, number of values,
  // type or mode; kNoSpace; kIo.
  NMB_EXPORT Status put(BlockId block, VarId variable, const Hyperslab& slab, ConstArray values);
  // Puts the whole variable. The number of values determines the number of records.
  NMB_EXPORT Status put(BlockId block, VarId variable, ConstArray values);

  // Collective: extends the block to `records` records if it has fewer. Allocates space for all
  // uncommitted records, so that put() writes directly into the file. Ranks that share the block
  // must pass the same number. Errors: kUsage if there is no record dimension, or in the wrong
  // mode; kLimit if the block would have more than 2^62 bytes.
  NMB_EXPORT Status extend(BlockId block, std::uint64_t records);

  // Collective: every rank puts its own hyperslab, or an empty hyperslab (a count of 0). Where
  // hyperslabs of several ranks overlap, the highest rank's values are kept; with put() the result
  // would be undefined. Each piece of the file is written by one rank, directly from the messages
  // of the other ranks. A new record gets space for all of its variables. Values that still wait
  // for space get space now. These values count as put before this call.
  NMB_EXPORT Status put_all(BlockId block, VarId variable, const Hyperslab& slab,
                            ConstArray values);

  // Reads a hyperslab. The rank sees the committed values, all values that it has put, and the
  // values that other ranks had put at the last flush(), get_all(), sync() or redefine(). Values
  // that were never put are the fill value. Errors: kUsage for a wrong shape, number of values,
  // type or mode; kRange if some values do not fit the type in memory (all are read); kUnsupported
  // for a block from HDF5; kDamaged; kIo.
  NMB_EXPORT Status get(BlockId block, VarId variable, const Hyperslab& slab, MutableArray out);
  // Reads several hyperslabs. `statuses` is empty, or has one element for each get. Returns the
  // first failure; the other hyperslabs are read nevertheless.
  NMB_EXPORT Status get(std::span<const Get> gets, std::span<Status> statuses = {});
  // Collective: calls flush(), and then reads the rank's own hyperslabs, which may be none. Returns
  // the failure of the lowest rank that has failed. arguments: the caller's own check of them.
  NMB_EXPORT Status get_all(std::span<const Get> gets, std::span<Status> statuses = {},
                            const Status& arguments = {});
  // Collective: writes all values that were put to the file, so that a get() of any rank sees them
  // and all ranks know the numbers of records. Does not commit.
  NMB_EXPORT Status flush();

  // Registers a request to put a hyperslab. Many requests can then be put together by wait() or
  // wait_all(), in file order and with few writes. Until the request is put, `values` must stay
  // valid and unchanged. Example:
  //
  //   std::vector<RequestId> requests;
  //   for (const Field& field : fields) {
  //     NMB_ASSIGN(RequestId request, writer.iput(field.block, field.variable, field.values()));
  //     requests.push_back(request);
  //   }
  //   NMB_TRY(writer.wait_all(requests));
  //
  // Errors that are returned at once: kUsage, kLimit. If put() writes to the same elements in the
  // meantime, the request overwrites these values.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, const Hyperslab& slab,
                                    ConstArray values);
  // Registers a request to put the whole variable. The number of values determines the number of
  // records.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, ConstArray values);
  // Registers one request for many selections of a variable, which takes little memory for each of
  // them. Not in define mode.
  NMB_EXPORT Result<RequestId> iput(BlockId block, VarId variable, const Hyperslabs& slabs,
                                    ConstArray values);
  // Closes requests without putting their values. Errors: as for wait().
  NMB_EXPORT Status cancel(std::span<const RequestId> requests);
  // Puts the values of requests and closes the requests. Where requests overlap, the values of the
  // later request in `requests` are kept. `statuses` is empty, or has one element for each request,
  // which gets the status that put() would return. Returns the first failure; the other requests
  // are put unless the file's state is unknown. Errors: kUsage if an ID does not belong to an open
  // request; no request is put in this case.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Puts values of requests collectively, as put_all() does. Every rank passes its own requests, if
  // it has any. A failure is returned on all ranks, even on ranks whose `statuses` are ok; with
  // kRange, all values are put. Space is allocated once for all requests.
  NMB_EXPORT Status wait_all(std::span<const RequestId> requests, std::span<Status> statuses = {});

  // Commits a generation. Fails with kUsage in define mode and in a dry run. The functions sync()
  // and close() also fail with kUsage while any rank has open requests; they then do nothing, and
  // the writer stays usable. The last two writes of a commit are the slot and the mark
  // (spec/writer.md, section 5.3). If one of these writes fails, the new generation may be in the
  // file; the message says so.
  NMB_EXPORT Status sync();
  // Works like sync(), but `durable` takes the place of FileWriterOptions::sync. It must be the
  // same on all ranks.
  NMB_EXPORT Status commit(bool durable);
  // Ends define mode if necessary, commits and closes.
  NMB_EXPORT Status close();

  // --- inquiry ---
  // Returns the block's metadata. After end_define(), the begins of the variables are canonical.
  // The pointer is valid until the next definition in the block.
  NMB_EXPORT Result<const Metadata*> metadata(BlockId block);
  NMB_EXPORT Result<ClassicLayout> layout(BlockId block);
  NMB_EXPORT Result<std::uint64_t> records(BlockId block);
  // Returns the block's position in the order of names at the time of the last end_define(). With
  // several ranks, fails with kUsage for a committed block if block names were added or removed
  // since the last sync().
  NMB_EXPORT Result<std::uint64_t> global_id(BlockId block);
  // Returns the generation of the last commit; 0 before the first commit.
  NMB_EXPORT std::uint64_t generation() const;
  // Returns counts and times of this rank since the writer was made. May be called after close().
  // Not collective.
  NMB_EXPORT FileWriterReport report() const;
  // Returns the number of bytes of values that the next commit copies into the file. These values
  // come from pack_block() and take_values().
  NMB_EXPORT std::uint64_t pending_bytes() const;
  // Returns how many bytes of stored values the next commit leaves in other files and links to
  // (Pack::link).
  NMB_EXPORT std::uint64_t linked_bytes() const;
  // If the last commit added rows to the file table, returns all rows of the table on rank 0.
  // Returns no rows on other ranks.
  NMB_EXPORT const std::vector<ExternalFile>& external_files() const;
  // Returns how many variables have no statistics, although FileWriterOptions::statistics requests
  // statistics. Only blocks that this rank has written are counted.
  NMB_EXPORT std::uint64_t without_statistics() const;
  // Returns the plan of a dry run. Valid only after close() of a dry run; otherwise kUsage.
  NMB_EXPORT Result<FilePlan> planned() const;

 private:
  class Impl;
  friend Status take_pieces(FileWriter& writer, BlockId block, std::vector<StoredPiece> pieces,
                            std::shared_ptr<const ByteSource> stored);
  friend Status link_values(FileWriter& writer, BlockId block, LinkedValues values);
  explicit FileWriter(std::unique_ptr<Impl> impl);
  // create: whether to work like create() or open(). ranks: nullptr for one rank.
  static Result<std::unique_ptr<FileWriter>> make(const std::string& path,
                                                  const FileWriterOptions& options, bool create,
                                                  Communicator* ranks);
  Result<Hyperslab> whole(BlockId block, VarId variable, std::uint64_t values);
  std::unique_ptr<Impl> impl_;
};

// --- HDF5 views ---
// A view is HDF5 metadata inside an NMB file, through which HDF5 programs read the file directly
// (spec/hdf5_view.md). To make a view in a new file, set FileWriterOptions::hdf5_view.

// Adds a view to an NMB file, as a new generation in which nothing else changes. A failure leaves
// the file unchanged. If the newest generation already has a view, writes only the HDF5 superblock
// of this view, because a killed writer may not have written the superblock. But if
// `view_dimensions` or `view_copies` differs from the view, makes a new view. Options as for
// FileWriter::open(). Errors: kUnsupported if a view cannot show an object (the message names it),
// or if the file has a feature that only newer writers preserve; kBusy if another writer has the
// file open; kUnknownKind; kDamaged; kIo; kNoSpace.
NMB_EXPORT Status add_hdf5_view(const std::string& path, const FileWriterOptions& options = {});

}  // namespace nmb
