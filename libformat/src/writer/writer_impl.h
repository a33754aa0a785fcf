// Writer::Impl: state and phases of the writer, on each rank. Definitions are in writer_define.cpp,
// end_define in writer_layout.cpp, values in writer_values.cpp and writer_requests.cpp, those that
// ranks put together in writer_together.cpp, those that stay in other files in writer_links.cpp,
// commits in writer_commit.cpp, what ranks tell one another of shared blocks in
// writer_sharing.cpp.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "block/body_codec.h"
#include "block/names_like.h"
#include "index/index_update.h"
#include "nmb/communicator.h"
#include "nmb/grow_array.h"
#include "nmb/writer.h"
#include "page/page_sink.h"
#include "parallel/collective_call.h"
#include "reader/reader_core.h"
#include "superblock/head.h"
#include "superblock/identity.h"
#include "table/block_table.h"
#include "table/table_build.h"
#include "values/open_requests.h"
#include "view/view_encoder.h"
#include "wire/huge_pages.h"
#include "writer/block_state.h"
#include "writer/counted_output.h"
#include "writer/name_index.h"
#include "writer/name_matching.h"
#include "writer/output_source.h"
#include "writer/phase_clock.h"
#include "writer/piece_exchange.h"
#include "writer/placement.h"
#include "writer/statistics_tap.h"
#include "writer/stripe_writer.h"
#include "writer/write_buffer.h"

namespace nmb {

class Writer::Impl final : public DeadPieces, public PageSink {
 public:
  // ranks: nullptr for one process alone.
  Impl(std::unique_ptr<OutputFile> file, const WriterOptions& options, Communicator* ranks,
       const Aggregation& aggregation)
      : options_(options),
        ranks_(ranks ? *ranks : alone_),
        traffic_before_(ranks_.traffic()),
        file_(std::make_unique<CountedOutput>(std::move(file), counts_)),
        out_of_memory_(out_of_memory_on(ranks_.rank()).in_file(file_->name())),
        buffer_(*file_, ranks_.size() > 1 ? WriteBuffer::kOfSeveral : WriteBuffer::kCapacity),
        stripes_(ranks_, *file_, buffer_, aggregation),
        value_stripes_(ranks_, *file_, buffer_, aggregation.of_values()),
        aggregation_(aggregation),
        agreed_failures_(ranks_.agreed_failures()) {}
  ~Impl() override;

  // Of a new file: takes the options that are kept in it.
  void start_new() {
    superblock_.piece_size = options_.piece_size;
    superblock_.inline_limit = options_.inline_limit;
    superblock_.leaf_rows = options_.leaf_rows;
    superblock_.node_rows = options_.node_rows;
    superblock_.map_rows = options_.map_rows;
  }
  // Of an existing file: reads the newest generation; rank 0 mends what is damaged in the head.
  // Collective.
  Status load_committed();

  // --- writer_define.cpp ---
  Result<BlockId> define_block(std::string_view name, const Metadata* definitions = nullptr);
  Result<BlockId> find_block(std::string_view name);
  Result<BlockState*> defining(BlockId id);  // to be changed, in define mode
  // The same for a block that was defined since the last end_define, as it nearly always is; else
  // nullptr.
  BlockState* defining_new(BlockId id) {
    if (!define_mode_ || !failure_.ok() || id >= blocks_.size()) return nullptr;
    BlockState& block = state(id);
    return block.written || block.removed || block.packed ? nullptr : &block;
  }
  // To the definitions of a block that defining_new gave.
  Result<DimId> add_dimension(BlockId id, Metadata& to, std::string_view name,
                              std::uint64_t length) {
    return is_newest(id) ? names_like_.add_dimension(to, name, length)
                         : to.add_dimension(name, length);
  }
  Result<VarId> add_variable(BlockId id, Metadata& to, std::string_view name, Type type,
                             std::span<const DimId> dimensions) {
    return is_newest(id) ? names_like_.add_variable(to, name, type, dimensions)
                         : to.add_variable(name, type, dimensions);
  }
  Result<BlockId> pack_block(PackedBlock packed);
  Status take_pieces(BlockId id, std::vector<StoredPiece> pieces,
                     std::shared_ptr<const ByteSource> stored);
  Status put_att(BlockId id, VarId variable, std::string_view name, Type type,
                 std::span<const std::byte> values);
  Status remove_block(BlockId id);
  Status rename_block(BlockId id, std::string_view name);

  // Collective operations: all ranks in the same order, all with the same outcome.
  Status redefine();
  Status end_define();
  // kUsage in define mode.
  Status commit(bool closing);
  Status put_all(BlockId id, VarId variable, const Hyperslab& slab, MemoryType type,
                 const void* values, std::uint64_t count);

  Status extend(BlockId id, std::uint64_t records);
  // statuses: of each request, or empty.
  Status wait_all(std::span<const RequestId> requests, std::span<Status> statuses);

  // --- writer_sharing.cpp ---
  // Within a collective operation.
  Result<std::vector<BlockId>> open_blocks(std::span<const std::string_view> names);
  template <class Work>
  Status together(std::string_view operation, Work work);

  // --- writer_layout.cpp ---
  Result<std::uint64_t> global_id(BlockId id);

  // --- writer_values.cpp ---
  Status put(BlockId id, VarId variable, const Hyperslab& slab, MemoryType type,
             const void* values);
  Status take_values(BlockId id, std::shared_ptr<const ByteSource> source,
                     std::vector<ValueRuns> runs, std::string origin);
  // --- writer_links.cpp ---
  Status link_values(BlockId id, LinkedValues values);
  // --- writer_requests.cpp ---
  Result<RequestId> iput(BlockId id, VarId variable, const Hyperslab& slab, MemoryType type,
                         const void* values);
  Status wait(std::span<const RequestId> requests, std::span<Status> statuses);

  // --- writer_values.cpp ---
  Result<BlockState*> readable(BlockId id);  // with metadata and layout
  ExtentState* extent_of(BlockId id);
  std::unique_ptr<ExtentState> new_extent(BlockId id);

  // --- writer_commit.cpp ---
  Result<FilePlan> planned() const;
  // Lets go of the file; every later call is kUsage.
  void shut();

  void abandon() { abandoned_ = true; }
  // At the end of the writer, closed or not.
  void leave();

  // Fails with what broke the file; ok: still sound.
  const Status& failure() const { return failure_; }
  // Remembers failures that leave the file in doubt.
  Status keep(Status status);
  Status add_provenance(std::string_view json);
  std::uint64_t generation() const { return superblock_.generation; }
  std::uint64_t pending_bytes() const;
  WriterReport report() const;
  std::uint64_t linked_bytes() const;
  const std::vector<ExternalFile>& external_files() const { return files_; }
  std::uint64_t without_statistics() const { return without_statistics_; }
  bool defining_mode() const { return define_mode_; }
  const Status& out_of_memory() const { return out_of_memory_; }
  // Ahead of every use of a handle.
  Status check_id(BlockId id);
  BlockState& state(BlockId id) { return *blocks_[id]; }
  const WriterOptions& options() const { return options_; }

  // DeadPieces
  void piece_died(const Piece& piece) override;
  // PageSink
  std::uint64_t next_position() const override { return cursor_; }
  Status append(std::span<const std::byte> page) override;
  void replaced(const Page& page) override;
  void dropped(const Place& place) override;

 private:
  // Blocks keep their place in memory.
  class Blocks {
   public:
    BlockState& add() {
      if (count_ % kChunk == 0) chunks_.push_back(std::make_unique<BlockState[]>(kChunk));
      return *(*this)[count_++];
    }
    BlockState* operator[](std::size_t i) { return &chunks_[i / kChunk][i % kChunk]; }
    std::uint32_t size() const { return count_; }

   private:
    static constexpr std::size_t kChunk = 32;
    std::vector<std::unique_ptr<BlockState[]>> chunks_;
    std::uint32_t count_ = 0;
  };
  // What a commit makes of one block.
  struct Commitment {
    BlockId id = 0;
    bool rewritten = false;  // header and body are written anew
    bool hole = false;
    std::uint64_t extent_position = 0;  // of values in one run
    std::uint64_t extent_sum = 0;       // without a map
    std::uint64_t header_sum = 0;
    Place map;
    std::uint64_t needs = 0;  // of the values
    std::vector<Piece> pieces;
    bool appended = false;  // the pieces are those behind the committed ones, which stay
    bool grown = false;     // and go to a growth page: entry and map stay as they are
    DataMapEdge edge;       // of the committed map that they are added to
    std::vector<std::byte> inline_values;  // with padding; read ahead, or not yet
  };
  class Changes;  // what the index is told
  // Values to be put, checked.
  struct Put {
    BlockId block;
    VarId variable;
    Type type;
    MemoryType memory;
    Kind kind;
    VariableShape shape;
    std::uint64_t records;  // that it takes; 0: not a record variable
    const void* values;
    Hyperslab slab{};
    std::size_t request = 0;  // number of the request that it is
    bool empty = false;
    std::uint64_t out_of_range = 0;
  };
  // As iput() was called.
  struct PutRequest {
    BlockId block;
    VarId variable;
    Hyperslab slab;
    MemoryType memory;
    const void* values;
  };

  // writer_define.cpp
  Result<bool> exists(std::string_view name);
  BlockId add_block(std::string_view name);
  void take_entry(BlockId id, BlockEntry entry);
  Status refresh(BlockId id);
  bool is_newest(BlockId id) const { return id + 1 == blocks_.size(); }
  Status load_definitions(BlockId id);
  Result<ClassicHeader> stored_header(BlockId id);
  Status start_edit(BlockId id);
  void mark_pending(BlockId id);
  void retire_header(BlockId id);
  // writer_layout.cpp
  using BodySink = std::function<Status(std::span<const std::byte>)>;
  Status for_body(const BlockState& block, const BodySink& sink) const;
  Status lay_out();
  Status lay_out_definitions(BlockId id);
  Status encode_bodies(const std::vector<BlockId>& ids);
  Status train(const std::vector<BlockId>& ids);
  Status encode_stored(const BlockState& block, std::vector<std::byte>* raw,
                       std::vector<std::byte>* stored, BodyCodec* codec);
  Status choose_file_id(const std::vector<BlockId>& ids);
  Status number_blocks(const std::vector<BlockId>& ids);
  Result<std::uint64_t> take_space(const Placement& own);
  Status place(const std::vector<BlockId>& ids);
  Status set_length();
  Status keep_extents(const std::vector<BlockId>& ids);
  Status carry_values(BlockId id);
  bool is_inline(BlockId id) const;
  // writer_places.cpp
  Status place_values();
  Status match_values();
  Result<std::vector<std::uint64_t>> ask_for_space(
      const std::vector<std::pair<BlockId, std::vector<SpaceRequest>>>& requests);
  // writer_values.cpp
  void set_records(BlockState& block, std::uint64_t records);
  Status grow(BlockId id, std::uint64_t records);
  Result<Put> check_put(std::string_view operation, BlockId id, VarId variable,
                        const Hyperslab& slab, MemoryType memory, const void* values);
  Result<ExtentState*> start_put(BlockId id, std::uint64_t records);
  Status put_run(Put& put, ExtentState& extent, std::uint64_t offset, std::uint64_t index,
                 std::uint64_t elements, std::vector<std::byte>& buffer);
  Status range_status(const Put& put);
  // writer_requests.cpp
  Status put_all_of(std::span<Put*> puts);
  std::vector<Put> check_requests(std::span<const PutRequest> requests, std::span<Status> statuses);
  // writer_together.cpp
  Status put_together(const Status& checked, std::span<Put> puts);
  Status want_places(const Put& put);
  Status make_room(std::span<Put* const> puts);
  std::vector<PiecePart> parts_of(std::span<Put* const> puts);
  Status check_none_open(std::uint64_t open, std::string_view operation) const;
  // writer_sharing.cpp
  void take_match(BlockId id, NameMatch match);
  Status match_definitions(const std::vector<BlockId>& ids, bool* any_shared);
  Status unite_shared(const std::vector<BlockId>& ids);
  Status tell_sharers(const std::vector<BlockId>& ids);
  Status collect_values();
  // writer_links.cpp
  Status sum_links(const std::vector<Commitment>& blocks);
  Status number_files(const std::vector<Commitment>& blocks);
  Status write_file_table(Superblock& next);
  // writer_view.cpp
  Status tell_of_old_view();
  Status write_view(Superblock& next);
  Status encode_view_of(Superblock& next);
  // writer_commit.cpp, writer_index.cpp
  Status take_head(Head head, std::uint64_t size);
  Result<Head> settle_head();
  Status check_continued_pages();
  Status write_generation(bool closing);
  Status write_values(std::vector<Commitment>& blocks);
  Status write_maps(std::vector<Commitment>& blocks);
  Status write_blocks(std::vector<Commitment>& blocks);
  Status write_tombstones();
  Status write_index(const std::vector<Commitment>& blocks, Superblock& next);
  Status write_changed_index(const Changes& changes, Superblock& next);
  std::uint64_t block_end(BlockId id) const;
  Status move_pending(const std::vector<Commitment>& blocks);
  Status finish_extent(Commitment& block);
  Status describe_extent(Commitment& block);
  void keep_committed_extent(Commitment& block) const;
  Result<bool> is_original(std::uint32_t number) const;
  Status write_map(Commitment& block, PageSink& sink);
  // writer_growth.cpp
  Status check_growth_chain();
  bool may_grow(const Commitment& block) const;
  Status choose_growth(std::vector<Commitment>& blocks, bool with_view);
  Status append_to_extent(Commitment& block);
  Status fold_growth(std::vector<Commitment>& blocks);
  Status fold_block(const BlockEntry& entry, std::vector<Commitment>& blocks);
  void put_growth(const std::vector<Commitment>& blocks, MessageWriter& out) const;
  Status replace_growth(Superblock& next);
  Status write_growth(std::span<MessageReader> told, Superblock& next);
  Status write_growth_page(const PageBuilder& page, Superblock& next);
  Status write_block(Commitment& block);
  // writer_statistics.cpp
  Result<std::unique_ptr<BlockCounter>> counter_of(BlockId id);
  std::shared_ptr<const ByteSource> extent_source(BlockId id);
  Result<CountedBlock> count_block(const Commitment& c);
  Status add_statistics(const Commitment& c, TableRows* rows);
  Status take_trees(const BlockTable& table, std::span<const BlockTable::Tree> trees,
                    bool to_the_oldest, TableRows* rows);
  Status write_statistics(const std::vector<Commitment>& blocks, Superblock& next);
  Status write_tags(const std::vector<Commitment>& blocks, Superblock& next);
  Status write_table(PageUse use, std::uint64_t feature, TableRows rows, Superblock& next);
  Status write_dictionary();
  Status write_tombstone(const BlockEntry& entry, std::uint64_t position);
  Status check_sections(const Superblock& superblock) const;
  Status write_sections(Superblock& next);
  Status write_dead_map(const std::vector<Commitment>& blocks, Superblock& next);
  Status write_superblock(Superblock& next);
  Status publish(Superblock& next);
  Status in_doubt(const Status& status) const;
  Status write_cover_and_mark(const Superblock& of, std::span<const std::byte> bytes);
  BlockEntry entry_of(const Commitment& block) const;
  Status settle(std::vector<Commitment>& blocks);

  WriterOptions options_;
  Communicator alone_;
  Communicator& ranks_;
  const Traffic traffic_before_;
  PhaseClock clock_;
  const std::shared_ptr<CountedOutput::Counts> counts_ = std::make_shared<CountedOutput::Counts>();
  std::unique_ptr<OutputFile> file_;
  Status out_of_memory_;        // made ahead: later there may be no memory for it
  WriteBuffer buffer_;          // values; of one rank alone also all else
  StripeWriter stripes_;        // metadata and index
  StripeWriter value_stripes_;  // values that waited
  const Aggregation aggregation_;
  const std::uint64_t agreed_failures_;    // ahead of this writer
  PieceExchange::WrittenFor written_for_;  // by put_together() since the last commit
  Stage stage_;
  Status failure_;
  OpenRequests<PutRequest> requests_;
  bool define_mode_ = true;
  bool abandoned_ = false;
  bool slot_begun_ = false;  // of the generation that is being written: nothing is cut off any more

  NameIndex names_;
  HugePageResource huge_pages_;
  std::pmr::monotonic_buffer_resource definitions_{64 << 10, &huge_pages_};  // of new small blocks
  mutable Blocks blocks_;
  NamesLike names_like_;                              // of the newest block
  std::set<std::string, std::less<>> removed_names_;  // of committed blocks, since the last commit
  std::vector<BlockId> pending_;                      // defined or edited since the last end_define
  std::vector<BlockId> dirty_;                        // to be written by the next commit
  std::vector<BlockId>
      by_name_;  // new blocks in order of names; made when a global ID is asked for

  bool has_file_id_ = false;
  Superblock superblock_;  // of the last commit, or what is known of the first
  std::array<std::byte, kSlotUnit> superblock_bytes_{};  // of the last commit, as it is in the file
  std::optional<EncodedView> new_view_;              // of the generation that is written; of rank 0
  std::array<std::byte, kIdentitySize> identity_{};  // likewise; of rank 0
  std::vector<std::byte> dictionary_;
  std::unique_ptr<BodyCompressor> compressor_;
  std::vector<std::string> provenance_;  // for the next commit
  std::vector<ExternalFile> files_;      // rows of the file table, where it changes; of rank 0
  std::unique_ptr<OutputSource> source_;
  std::unique_ptr<ReaderCore> core_;  // the last commit; null before the first

  std::uint64_t cursor_ = kBodyStart;  // where free space begins
  std::uint64_t kept_inline_ = 0;      // bytes of Commitment::inline_values
  // Bytes that others wrote, or that are committed: this writer never cuts them.
  std::uint64_t kept_length_ = 0;
  std::uint64_t next_order_ = 0;
  std::uint64_t stamp_ = 0;  // of the generation that is being written
  // What all ranks' part of it is.
  struct {
    bool fold = false;    // growth pages are taken into maps and entries
    bool others = false;  // something else than growth pages changes
  } commit_;
  // Growth rows of a block that stay when others are folded.
  struct StayingGrowth {
    std::uint64_t order, growth, grown_records;
  };
  std::vector<StayingGrowth> staying_growth_;
  std::uint64_t growth_pages_ = 0, growth_rows_ = 0;  // of the last commit; of rank 0
  std::uint64_t without_statistics_ = 0;              // variables, of all commits
  std::uint64_t index_bytes_ = 0;                     // of the last commit
  // Stored bodies, so that the commit need not encode them again. A compressed one is a small part
  // of the definitions that are in memory anyway; others are kept up to a smaller limit.
  GrowArray<std::byte> retained_;
  static constexpr std::size_t kRetainLimit = 16 << 20, kRetainCompressedLimit = 1 << 30;
  // Bodies larger than this are few: they are encoded in passing and stored as they are.
  static constexpr std::uint64_t kStreamBody = 1 << 20;
  struct DeadRange {
    std::uint64_t position, length;
    std::uint64_t sum;
    bool sum_known;
    bool abandoned = false;  // what lay behind the newest generation
  };
  std::vector<DeadRange> dead_;
  // Of the last end_define of several ranks.
  NameSlices name_slices_;
  OwnedNames owned_names_;
  bool names_move_ = false;  // a rank has defined, removed or renamed a block since the last commit
  std::uint64_t new_generation() const { return superblock_.generation + 1; }
  // Of what the next commit writes.
  Origin new_origin() const { return {superblock_.file_id, new_generation(), stamp_}; }
};

// A collective operation: all ranks begin it, none with a file in doubt. A failure on several ranks
// is all ranks' and for good: they no longer know the same.
template <class Work>
Status Writer::Impl::together(std::string_view operation, Work work) {
  if (ranks_.size() == 1) {
    NMB_TRY(failure_);
    return work();
  }
  Status status = collective_call(ranks_, out_of_memory_, [&]() -> Status {
    NMB_TRY(ranks_.agree(failure_, operation));
    return work().in_file(file_->name());
  });
  if (!status.ok()) failure_ = status;
  return status;
}

}  // namespace nmb
