// Values that stay in other files: they are read once and summed, and the file table names their
// files (spec/format.md, section 10.3).
#include <algorithm>
#include <unordered_map>

#include "block/name_rules.h"
#include "extent/piece_codec.h"
#include "external/external_path.h"
#include "external/file_table.h"
#include "parallel/letters.h"
#include "wire/checked.h"
#include "wire/dry_output.h"
#include "wire/hash.h"
#include "writer/move_sharing.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// What a page can hold, with room for its columns.
constexpr std::uint64_t kMostPathBytes = std::uint64_t{1} << 31;

}  // namespace

Status Writer::Impl::link_values(BlockId id, LinkedValues values) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  BlockState& block = state(id);
  if (!define_mode_ || block.written)
    return Status(Code::kUsage,
                  "found values to link, expected them in define mode and for a new block, for "
                  "block " +
                      in_quotes(names_.at(id)));
  NMB_ASSIGN(LinkedPieces linked,
             LinkedPieces::make(std::move(values), superblock_.piece_size, names_.at(id)));
  block.values = ExtentOrigin(std::move(linked));
  return {};
}

std::uint64_t Writer::Impl::linked_bytes() const {
  std::uint64_t bytes = 0;
  for (BlockId id = 0; id < blocks_.size(); ++id)
    if (const auto* const linked = blocks_[id]->values.as<LinkedPieces>())
      bytes += linked->linked_bytes();
  return bytes;
}

// Collective: reads the values of linked blocks, by the threads of all ranks as values are moved.
Status Writer::Impl::sum_links(const std::vector<Commitment>& blocks) {
  std::vector<std::pair<LinkedPieces*, Move>> links;
  std::uint64_t length = 0;
  for (const Commitment& c : blocks) {
    auto* const linked = state(c.id).values.as<LinkedPieces>();
    if (!linked) continue;
    links.emplace_back(linked, linked->reading_move());
    links.back().second.position = length;
    length = round_up(length + links.back().second.length, 8);
  }
  // In no file: where moves of all ranks would lie one behind the other.
  NMB_ASSIGN(const std::uint64_t before,
             ranks_.scan_before(length, std::uint64_t{0}, std::plus<>()));
  std::vector<Move*> moves;
  for (auto& [linked, move] : links) {
    move.position += before;
    if (options_.dry_run) move.sums.assign(move.windows(superblock_.piece_size), kWidestSum);
    moves.push_back(&move);
  }
  if (!options_.dry_run) {
    DryOutput nowhere(file_->name());
    NMB_TRY(share_moves(ranks_, moves, nowhere, superblock_.piece_size, options_));
  }
  const auto keep_sums = [&]() -> Status {
    for (auto& [linked, move] : links)
      NMB_TRY(linked->take_sums(std::move(move.sums), !options_.dry_run));
    return {};
  };
  return ranks_.agree(keep_sums());
}

// Collective: the rows of the file table, those of the file first, then new ones in the order in
// which blocks use them. Rank 0 keeps them, all learn the numbers of theirs.
Status Writer::Impl::number_files(const std::vector<Commitment>& blocks) {
  std::unordered_map<std::string_view, std::uint32_t> numbers;  // of this rank's files
  MessageWriter wanted;
  const auto for_used = [&](auto visit) {
    for (const Commitment& c : blocks)
      if (auto* const linked = state(c.id).values.as<LinkedPieces>())
        linked->for_each_file(
            [&](std::size_t i, const ExternalFile& file) { visit(*linked, i, file); });
  };
  for_used([&](LinkedPieces&, std::size_t, const ExternalFile& file) {
    if (!numbers.emplace(file.path, 0).second) return;
    wanted.put_text(file.path);
    wanted.put(file.size);
  });
  std::vector<Communicator::Parcel> parcels;
  if (wanted.size() > 0) parcels.push_back({0, wanted.take()});
  NMB_ASSIGN(std::vector<Message> arrived, ranks_.exchange(std::move(parcels)));
  std::sort(arrived.begin(), arrived.end(),
            [](const Message& a, const Message& b) { return a.from() < b.from(); });
  Letters answers;
  const auto add = [&]() -> Status {
    if (arrived.empty()) return {};
    if (core_) {
      NMB_ASSIGN(const std::shared_ptr<const FileTable> old, core_->external().table());
      for (std::uint32_t row = 0; row < old->rows(); ++row) files_.push_back(old->row(row));
    }
    std::unordered_map<std::string, std::uint32_t> rows;
    std::uint64_t bytes = 0;
    for (std::uint32_t row = 0; row < files_.size(); ++row)
      if (!files_[row].is_original) rows.emplace(files_[row].path, row);
    for (const ExternalFile& file : files_) bytes += file.path.size() + 32;
    for (const Message& message : arrived) {
      MessageWriter& answer = answers.to(message.from());
      for (MessageReader in(message.bytes()); !in.at_end();) {
        ExternalFile file{std::string(in.get_text()), 0};
        file.size = in.get<std::uint64_t>();
        const auto [row, is_new] =
            rows.emplace(file.path, static_cast<std::uint32_t>(files_.size()));
        if (!is_new && files_[row->second].size != file.size)
          return Status(Code::kDamaged, file.path, kNoOffset, "R-FT-5",
                        "found " + std::to_string(file.size) + " bytes, expected " +
                            std::to_string(files_[row->second].size) + " as the file table of " +
                            in_quotes(file_->name()) + " has it");
        answer.put(row->second + 1);
        if (!is_new) continue;
        if ((bytes += file.path.size() + 32) > kMostPathBytes)
          return Status(Code::kLimit, "found paths of files to link of more than " +
                                          std::to_string(kMostPathBytes) + " bytes");
        files_.push_back(std::move(file));
      }
    }
    return {};
  };
  files_.clear();
  NMB_TRY(ranks_.agree(ranks_.rank() == 0 ? add() : Status()));
  NMB_ASSIGN(const std::vector<Message> told, ranks_.exchange(answers.take()));
  for (const Message& message : told) {
    MessageReader in(message.bytes());
    for_used([&](LinkedPieces&, std::size_t, const ExternalFile& file) {
      std::uint32_t& number = numbers.at(file.path);
      if (number == 0) number = in.get<std::uint32_t>();
    });
  }
  for_used([&](LinkedPieces& linked, std::size_t i, const ExternalFile& file) {
    linked.set_number(i, numbers.at(file.path));
  });
  return {};
}

// By rank 0: a page with the rows that the file does not have, which continues those that it has.
Status Writer::Impl::write_file_table(Superblock& next) {
  std::size_t known = 0;
  Place before;
  if (core_ && !next.file_table.absent()) {
    NMB_ASSIGN(const std::shared_ptr<const FileTable> old, core_->external().table());
    known = old->rows();
    before = old->newest_page();
  }
  if (files_.size() <= known) return {};
  std::vector<std::byte> bytes;
  NMB_ASSIGN(const Place place,
             write_page(*this, file_table_page(std::span(files_).subspan(known), before),
                        new_origin(), 0, &bytes));
  next.file_table = {place.position, place.length, sum_of(bytes)};
  return {};
}

}  // namespace nmb
