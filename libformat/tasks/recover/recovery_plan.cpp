#include "recover/recovery_plan.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "extent/needs.h"
#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/classic.h"
#include "model/elements_in.h"
#include "model/name_rules.h"
#include "parallel/workers.h"
#include "recover/found_values.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// A version of a block that may be recovered.
struct Candidate {
  const ScannedHeader* block = nullptr;
  // If several entries point to the block, this is the one with the newest generation.
  const BlockEntry* entry = nullptr;
  BlockDoubt doubt = BlockDoubt::kNone;
  // The version to take if this version is not whole; nullptr if there is none.
  const ScannedHeader* instead = nullptr;
};

BlockEntry entry_of(const ScannedHeader& block) {
  const BlockHeader& header = block.header;
  BlockEntry entry;
  entry.name = block.name;
  entry.kind = header.kind;
  entry.codec = header.codec;
  entry.hole = (header.flags & kFlagHole) != 0;
  entry.position = header.position;
  entry.stored_length = header.stored_length;
  entry.raw_length = header.raw_length;
  entry.digest = header.digest;
  entry.sum = header.sum;
  entry.records = header.records;
  entry.samples = header.samples;
  entry.order = header.order;
  entry.extent_position = header.extent_position;
  entry.extent_length = header.extent_length;
  entry.extent_sum = header.extent_sum;
  return entry;
}

// Returns whether a writer accepts the name for a copy of a block.
bool is_legal(std::string_view name) {
  if (name.empty()) return true;
  if (name.find('\0') != name.npos) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

// Returns a variable with damaged values that readers cannot replace by fill values, because they
// are in chunks or have variable length; nullopt if there is none.
std::optional<VarId> unfillable(const Metadata& metadata, const ClassicLayout& layout,
                                std::span<const ByteRange> damaged) {
  if (!metadata.extension()) return std::nullopt;
  for (const Storage& storage : metadata.extension()->storage) {
    const std::uint64_t begin = metadata.begin(storage.variable) - layout.header_length;
    for (const ByteRange& range : damaged)
      if (range.begin < begin + storage.region_length && begin < range.end) return storage.variable;
  }
  return std::nullopt;
}

class RecoveryPlanner {
 public:
  using Plan = std::variant<RecoveredEntry, LostBlock>;

  RecoveryPlanner(const ReaderCore& core, const Evidence& evidence, const CurrentIndex& index,
                  const ValuePages& pages, const RecoveryOptions& options)
      : core_(core), evidence_(evidence), index_(index), pages_(pages), options_(options) {}

  Result<RecoveryPlan> run() {
    choose();
    std::vector<Plan> planned(candidates_.size());
    // Blocks are read in the order of the file.
    std::ranges::sort(candidates_, {}, [](const Candidate& c) { return c.block->header.position; });
    std::atomic<std::size_t> next{0};
    NMB_TRY(share_work(
        std::max(1u, options_.writer.threads), [&](const std::atomic<bool>& stop) -> Status {
          for (std::size_t i; !stop && (i = next++) < candidates_.size();) {
            if (options_.writer.cancel && options_.writer.cancel->load())
              return Status(Code::kIo, core_.file().name(), kNoOffset, "", "interrupted");
            NMB_ASSIGN(planned[i], plan_best(candidates_[i]));
          }
          return {};
        }));
    for (auto& one : planned)
      if (auto* const block = std::get_if<RecoveredEntry>(&one))
        plans_.blocks.push_back(std::move(*block));
      else
        plans_.lost.push_back(std::move(std::get<LostBlock>(one)));
    drop_stored_headers();
    NMB_TRY(add_older_names());
    std::ranges::sort(plans_.blocks, {}, [](const RecoveredEntry& b) { return b.found.name; });
    std::ranges::sort(plans_.lost, {}, &LostBlock::name);
    return std::move(plans_);
  }

 private:
  // --- which version of each block is taken ---

  void choose() {
    // The newest committed header of each name, and the newest header that is perhaps not
    // committed.
    std::map<std::string_view, const ScannedHeader*> newest, later;
    std::map<std::uint64_t, const ScannedHeader*> by_position;
    for (const ScannedHeader& block : evidence_.blocks) {
      by_position[block.header.position] = &block;
      const bool is_later = evidence_.may_be_later && is_after_newest(block);
      if (is_later && is_tombstone(block)) continue;
      const auto [found, is_new] = (is_later ? later : newest).try_emplace(block.name, &block);
      if (!is_new && rank(*found->second) < rank(block)) found->second = &block;
    }
    const auto is_at = [&](const BlockEntry& entry) {
      const auto found = by_position.find(entry.position);
      return found != by_position.end() && found->second->name == entry.name;
    };
    for (const BlockEntry& entry : index_.entries()) {
      if (is_at(entry))
        candidates_.push_back({by_position[entry.position], &entry, doubt_of_entries()});
      else
        plans_.lost.push_back(
            {entry.name, joined_text("the header at ", entry.position, " is damaged")});
    }
    for (const auto& [name, block] : newest) {
      if (is_tombstone(*block)) {
        removed_.push_back(name);
        continue;
      }
      const auto other = later.find(name);
      if (other != later.end()) {
        candidates_.push_back({other->second, nullptr, doubt_of(*other->second), block});
      } else if (const BlockEntry* const entry = index_.find(name)) {
        // The index leads to another position, where the header is damaged.
        if (!is_at(*entry)) candidates_.push_back({block, nullptr, BlockDoubt::kOlder});
      } else if (!index_.covers(name)) {
        candidates_.push_back({block, nullptr, doubt_of(*block)});
      }
    }
    for (const auto& [name, block] : later) {
      const auto other = newest.find(name);
      if (other == newest.end() || is_tombstone(*other->second))
        candidates_.push_back({block, nullptr, doubt_of(*block)});
    }
  }

  bool is_after_newest(const ScannedHeader& block) const {
    return block.header.origin.generation > evidence_.generation;
  }
  static bool is_tombstone(const ScannedHeader& block) {
    return (block.header.flags & kFlagTombstone) != 0;
  }
  static std::tuple<std::uint64_t, bool, std::uint64_t> rank(const ScannedHeader& block) {
    return {block.header.origin.generation, !is_tombstone(block), block.header.position};
  }

  // The doubt about a block that the index does not confirm.
  BlockDoubt doubt_of(const ScannedHeader& block) const {
    if (evidence_.generation == 0 || is_after_newest(block))
      return BlockDoubt::kPerhapsNotCommitted;
    return block.header.origin.generation == evidence_.generation && !evidence_.may_be_later
               ? BlockDoubt::kNone
               : BlockDoubt::kPerhapsOlder;
  }
  // The index does not list records that growth pages add.
  BlockDoubt doubt_of_entries() const {
    return pages_.has_whole_growth() ? BlockDoubt::kNone : BlockDoubt::kPerhapsOlder;
  }

  // --- one block ---

  Result<Plan> plan_best(const Candidate& candidate) const {
    NMB_ASSIGN(Plan best, plan(candidate));
    const auto* const block = std::get_if<RecoveredEntry>(&best);
    if (!candidate.instead || (block && block->found.state == FoundBlock::State::kWhole))
      return best;
    NMB_ASSIGN(Plan other, plan({candidate.instead, nullptr, doubt_of(*candidate.instead)}));
    return !block || std::holds_alternative<RecoveredEntry>(other) ? std::move(other)
                                                                   : std::move(best);
  }

  Result<Plan> plan(const Candidate& candidate) const {
    RecoveredEntry planned;
    FoundBlock& found = planned.found;
    found.name = candidate.block->name;
    found.position = candidate.block->header.position;
    found.generation = candidate.block->header.origin.generation;
    found.doubt = candidate.doubt;
    const auto lost = [&](std::string reason) {
      return Plan(LostBlock{found.name, std::move(reason)});
    };
    if (!is_legal(found.name)) return lost("its name is not legal");
    const bool is_confirmed = candidate.entry != nullptr;
    BlockEntry& entry = planned.entry;
    entry = is_confirmed ? *candidate.entry : entry_of(*candidate.block);
    if (const Status status = core_.check_needs(entry); !status.ok()) return lost(status.message());

    FirstFinding first;
    auto checked = core_.check(entry, false, first);
    if (checked.status().code() == Code::kIo) return checked.status();
    if (!checked.ok()) return lost(checked.status().message());
    // The header was read, so its name lies within the file.
    const std::uint64_t body = entry.position + block_body_offset(entry.name.size());
    if (entry.stored_length > core_.file().size() - body)
      return lost("the file ends before its definitions end");
    if (first.found()) return lost(first.status("").message());
    const StoredBlock& stored = **checked;
    DecodeOptions options;
    options.values_follow = false;
    const auto definitions =
        decode_classic_header(MemorySource(stored.body, core_.file().name()), options);
    if (!definitions.ok()) return lost(definitions.status().in_file("").message());
    const Metadata& metadata = definitions->metadata;
    if (const auto& extension = metadata.extension()) {
      const auto properties = hdf5::decode_properties(extension->hdf5);
      if (!properties.ok()) return lost("its hdf5 section: " + properties.status().message());
    }
    if (!is_confirmed) count_objects(metadata, &entry);
    if (!metadata.record_dimension()) {
      entry.records = is_confirmed ? entry.records : metadata.record_count(0);
      // A block without records cannot grow.
      if (is_confirmed) found.doubt = BlockDoubt::kNone;
    }

    const Version version = is_confirmed                        ? Version::kConfirmed
                            : found.doubt == BlockDoubt::kOlder ? Version::kOlder
                                                                : Version::kFound;
    NMB_ASSIGN(FoundValues values,
               find_values(core_, pages_, version, stored.header, *definitions, &entry));
    const Result<ClassicHeader> whole =
        decode_body(entry, stored.header.records, stored.body, core_.file());
    if (!whole.ok()) return lost(whole.status().message());
    if (!is_confirmed) entry.needs = needs_of_body(entry) | values.needs;
    planned.places = std::move(values.places);
    found.has_values = std::ranges::any_of(values.pieces, [](const Piece& p) { return !p.hole; });
    if (values.has_growth || values.has_moved || !values.damaged.empty() ||
        !values.unverified.empty()) {
      replace_pieces(std::move(values.pieces), &planned);
      entry.needs |= values.needs;
    }
    if (!values.damaged.empty() || !values.unverified.empty())
      describe_damage(*definitions, entry.records, std::move(values), &found);
    return Plan(std::move(planned));
  }

  // Makes the entry refer to `pieces`, for which a data map will be written.
  static void replace_pieces(std::vector<Piece> pieces, RecoveredEntry* planned) {
    BlockEntry& entry = planned->entry;
    entry.file_digests = {};
    entry.map = {};
    entry.extent_position = entry.extent_sum = 0;
    entry.hole = std::ranges::all_of(pieces, &Piece::hole) && !pieces.empty();
    if (!entry.hole) planned->pieces = std::move(pieces);
  }

  // Describes the values that are damaged or not verified, and decides whether the block is taken.
  void describe_damage(const ClassicHeader& definitions, std::uint64_t records, FoundValues values,
                       FoundBlock* found) const {
    const Metadata& metadata = definitions.metadata;
    found->reason = std::move(values.reason);
    found->damaged = std::move(values.damaged);
    found->unverified = std::move(values.unverified);
    const auto describe = [&](const std::vector<ByteRange>& ranges, bool unverified) {
      for (const ByteRange& range : ranges)
        for (VarId id = 0; id < metadata.variable_count(); ++id)
          if (const auto lost = elements_in(metadata, definitions.layout, records, id, range))
            found->lost.push_back(
                {std::string(metadata.variable(id).name), lost->first, lost->count, unverified});
    };
    describe(found->damaged, false);
    describe(found->unverified, true);
    found->may_be_taken = !values.has_lost;
    const auto whole = unfillable(metadata, definitions.layout, found->damaged);
    if (whole && !values.has_lost) {
      found->may_be_taken = false;
      found->reason +=
          joined_text("; damaged chunks and values of variable length (variable ",
                      in_quotes(metadata.variable(*whole).name), ") cannot become fill values");
    }
    const bool is_taken = found->may_be_taken && (found->damaged.empty() || options_.partial) &&
                          (found->unverified.empty() || options_.unverified);
    found->state = !is_taken                   ? FoundBlock::State::kLeftOut
                   : found->unverified.empty() ? FoundBlock::State::kPartial
                                               : FoundBlock::State::kUnverified;
  }

  // --- all blocks ---

  // Leaves out blocks whose headers lie in the values of another block. The bytes of such a header
  // are values, for example of a packed file.
  void drop_stored_headers() {
    struct OwnedRange {
      ByteRange range;
      std::uint64_t owner;
    };
    std::vector<OwnedRange> places;
    for (const RecoveredEntry& block : plans_.blocks)
      for (const ByteRange& range : block.places) places.push_back({range, block.found.position});
    std::ranges::sort(places, {}, [](const OwnedRange& place) { return place.range.begin; });
    // For each place, the greatest end among this place and all places before it.
    std::vector<std::uint64_t> ends;
    for (const OwnedRange& place : places)
      ends.push_back(std::max(ends.empty() ? 0 : ends.back(), place.range.end));
    const auto is_stored = [&](const FoundBlock& block) {
      auto at = static_cast<std::size_t>(
          std::ranges::upper_bound(places, block.position, {},
                                   [](const OwnedRange& place) { return place.range.begin; }) -
          places.begin());
      for (; at-- > 0 && ends[at] > block.position;)
        if (places[at].range.end > block.position && places[at].owner != block.position)
          return true;
      return false;
    };
    std::erase_if(plans_.blocks, [&](const RecoveredEntry& block) {
      return index_.find(block.found.name) == nullptr && is_stored(block.found);
    });
  }

  // Adds the names that only older pages of the index have.
  Status add_older_names() {
    std::vector<std::string_view> known = removed_;
    for (const RecoveredEntry& block : plans_.blocks) known.push_back(block.found.name);
    for (const LostBlock& block : plans_.lost) known.push_back(block.name);
    std::ranges::sort(known);
    std::vector<LostBlock> older;
    NMB_TRY(index_.for_each_older([&](const BlockEntry& entry) {
      if (index_.covers(entry.name) || std::ranges::binary_search(known, entry.name)) return;
      older.push_back(
          {entry.name,
           joined_text("found no undamaged header; an older page of the index gives the position ",
                       entry.position),
           true});
    }));
    std::ranges::sort(older, {}, &LostBlock::name);
    older.erase(
        std::unique(older.begin(), older.end(),
                    [](const LostBlock& a, const LostBlock& b) { return a.name == b.name; }),
        older.end());
    std::ranges::move(older, std::back_inserter(plans_.lost));
    return {};
  }

  const ReaderCore& core_;
  const Evidence& evidence_;
  const CurrentIndex& index_;
  const ValuePages& pages_;
  const RecoveryOptions& options_;
  std::vector<Candidate> candidates_;
  std::vector<std::string_view> removed_;  // names whose newest header is a tombstone
  RecoveryPlan plans_;
};

}  // namespace

Result<RecoveryPlan> plan_recovery(const ReaderCore& core, const Evidence& evidence,
                                   const CurrentIndex& index, const RecoveryOptions& options) {
  NMB_ASSIGN(const ValuePages pages, ValuePages::find(core, evidence));
  return RecoveryPlanner(core, evidence, index, pages, options).run();
}

}  // namespace nmb
