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

Move LinkState::move() const {
  Move out;
  out.source = values.source;
  out.origin = values.origin;
  if (!values.origin.empty()) {
    out.runs = {{0, 0, 0, 0, length, 1}};
    out.length = length;
    return out;
  }
  append(&out, false);
  return out;
}

Move LinkState::copied_move() const {
  Move out;
  out.source = values.source;
  append(&out, true);
  return out;
}

// The windows of those that are copied, or of those that are not.
void LinkState::append(Move* out, bool copied) const {
  for (const LinkedPiece& piece : values.pieces) {
    if (piece.stored_length == 0 || (piece.file == LinkedPiece::kCopied) != copied) continue;
    const std::uint64_t at = round_up(out->length, 8);
    out->runs.push_back({piece.source_offset, 0, at, 0, piece.stored_length, 1});
    out->length = at + piece.stored_length;
    out->ends.push_back(out->length);
  }
}

std::uint64_t LinkState::copied_length() const {
  std::uint64_t all = 0;
  for (const LinkedPiece& piece : values.pieces)
    if (piece.file == LinkedPiece::kCopied) all = round_up(all, 8) + piece.stored_length;
  return all;
}

std::vector<Piece> LinkState::pieces_at(std::uint64_t position,
                                        const std::vector<std::uint64_t>& copied_sums) const {
  std::vector<Piece> out;
  std::uint64_t at = 0;
  auto sum = sums.begin(), copied_sum = copied_sums.begin();
  for (const LinkedPiece& piece : values.pieces) {
    if (piece.stored_length == 0) {
      if (!out.empty() && out.back().hole)
        out.back().length += piece.length;
      else
        out.push_back({at, piece.length, true, 0, 0});
    } else if (piece.file == LinkedPiece::kCopied) {
      out.push_back({at, piece.length, false, position, *copied_sum++});
      position = round_up(position + piece.stored_length, 8);
    } else {
      const bool coded = piece.codec != PieceCodec::kNone;
      out.push_back({at, piece.length, false, piece.position, *sum++, piece.codec,
                     coded ? piece.stored_length : 0, numbers[piece.file]});
    }
    at += piece.length;
  }
  return out;
}

Status Writer::Impl::link_values(BlockId id, LinkedValues values) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  BlockState& block = state(id);
  const auto wrong = [&](const std::string& found) {
    return Status(Code::kUsage, "found " + found + " for block " + in_quotes(names_.at(id)));
  };
  if (!define_mode_ || block.written)
    return wrong("values to link, expected them in define mode and for a new block,");
  for (const ExternalFile& file : values.files)
    if (const char* error = external_path_error(file.path))
      return wrong("the path of a file to link with " + std::string(error));
  auto linked = std::make_unique<LinkState>();
  const std::uint64_t size = values.source->size();
  bool any = false;
  std::uint64_t linked_bytes = 0;
  for (const LinkedPiece& piece : values.pieces) {
    const std::uint64_t window = superblock_.piece_size - linked->length % superblock_.piece_size;
    const bool hole = piece.stored_length == 0, coded = piece.codec != PieceCodec::kNone;
    if (piece.length == 0 || (!hole && piece.length > (coded ? superblock_.piece_size : window)) ||
        !checked_add(linked->length, piece.length, &linked->length) || linked->length >> 62)
      return wrong(
          "a piece across a multiple of the piece size, or longer than that, expected such pieces "
          "coded, and none longer,");
    if (coded ? hole || !is_piece_length(piece.stored_length, piece.length)
              : !hole && piece.stored_length != piece.length)
      return wrong("a piece with a stored length that its codec and length do not allow");
    const std::uint64_t start = linked->length - piece.length;
    if (!values.origin.empty() &&
        (hole || coded || start % superblock_.piece_size != 0 || piece.source_offset != start))
      return wrong("an origin of pieces that are not the windows of their source");
    if (hole) continue;
    if (piece.source_offset > size || piece.stored_length > size - piece.source_offset)
      return wrong("a piece that lies outside its source");
    if (piece.file == LinkedPiece::kCopied) {
      if (coded || !values.origin.empty())
        return wrong("a piece to copy with a codec or an origin");
      continue;
    }
    any = true;
    linked_bytes += piece.stored_length;
    if (piece.file >= values.files.size()) return wrong("a piece of a file that is not named");
    const std::uint64_t in_file = values.files[piece.file].size;
    if (in_file >> 63 || piece.position > in_file || piece.stored_length > in_file - piece.position)
      return wrong("a piece that lies outside its file");
  }
  if (!any) return wrong("nothing to link, expected a piece in another file,");
  linked->values = std::move(values);
  block.linked = std::move(linked);
  linked_bytes_ += linked_bytes;
  return {};
}

// Collective: reads the values of linked blocks, by the threads of all ranks as values are moved.
Status Writer::Impl::sum_links(const std::vector<Commitment>& blocks) {
  std::vector<std::pair<LinkState*, Move>> links;
  std::uint64_t length = 0;
  for (const Commitment& c : blocks) {
    LinkState* linked = state(c.id).linked.get();
    if (!linked) continue;
    links.emplace_back(linked, linked->move());
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
    for (auto& [linked, move] : links) {
      linked->sums = std::move(move.sums);
      if (options_.dry_run) continue;
      auto sum = linked->sums.begin();
      for (const LinkedPiece& piece : linked->values.pieces) {
        if (piece.stored_length == 0 || piece.file == LinkedPiece::kCopied) continue;
        if (piece.sum && *piece.sum != *sum)
          return Status(Code::kDamaged, linked->values.source->name(), piece.position, "R-EX-5",
                        "found values with a wrong sum in " +
                            in_quotes(linked->values.files[piece.file].path));
        ++sum;
      }
    }
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
    for (const Commitment& c : blocks) {
      LinkState* linked = state(c.id).linked.get();
      if (!linked) continue;
      std::vector<bool> used(linked->values.files.size());
      for (const LinkedPiece& piece : linked->values.pieces)
        if (piece.stored_length != 0 && piece.file != LinkedPiece::kCopied) used[piece.file] = true;
      for (std::size_t i = 0; i < used.size(); ++i)
        if (used[i]) visit(*linked, i, linked->values.files[i]);
    }
  };
  for_used([&](LinkState&, std::size_t, const ExternalFile& file) {
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
    for_used([&](LinkState&, std::size_t, const ExternalFile& file) {
      std::uint32_t& number = numbers.at(file.path);
      if (number == 0) number = in.get<std::uint32_t>();
    });
  }
  for_used([&](LinkState& linked, std::size_t i, const ExternalFile& file) {
    linked.numbers.resize(linked.values.files.size());
    linked.numbers[i] = numbers.at(file.path);
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
