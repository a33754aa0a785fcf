// Commits: handles values that stay in other files (spec/files.md, section 10.3). Reads the values
// once to compute their sums, and lists the files in the file table.
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "extent/file_table.h"
#include "files/dry_output.h"
#include "model/name_rules.h"
#include "origins/move_sharing.h"
#include "state/commit_steps.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Largest total length, in bytes, of the paths in a file-table page and of their rows.
constexpr std::uint64_t kMostPathBytes = std::uint64_t{1} << 31;

bool sums_links(const FileWriterOptions& options) { return options.sum_links && !options.dry_run; }

}  // namespace

Status sum_links(WriterCore& w, const std::vector<BlockCommit>& blocks) {
  std::vector<std::pair<LinkedPieces*, Move>> links;
  std::uint64_t length = 0;
  std::map<std::uint32_t, std::vector<LinkedPieces*>> in_originals;
  for (const BlockCommit& c : blocks) {
    auto* const linked = w.blocks[c.id].values.as<LinkedPieces>();
    if (!linked) continue;
    if (linked->original()) {
      in_originals[*linked->original()].push_back(linked);
      continue;
    }
    links.emplace_back(linked, linked->reading_move());
    links.back().second.position = length;
    length = round_up(length + links.back().second.length, 8);
  }
  // The sums of values in originals are computed while the originals are copied. If several values
  // use the same bytes of an original, these values are read separately to compute their sums.
  for (const auto& [number, values] : in_originals) {
    std::vector<WantedSum> wanted;
    for (LinkedPieces* const linked : values) linked->want_sums(&wanted);
    if (w.next.originals[number].digest->want(std::move(wanted))) continue;
    for (LinkedPieces* const linked : values) {
      links.emplace_back(linked, linked->reading_move());
      links.back().second.position = length;
      length = round_up(length + links.back().second.length, 8);
    }
  }
  // The positions of these moves are not file positions. The moves of all ranks are divided among
  // the ranks by position, so the positions of a rank continue those of the previous rank.
  NMB_ASSIGN(const auto lengths, w.ranks.in_order(length, std::uint64_t{0}, std::plus<>()));
  std::vector<Move*> moves;
  for (auto& [linked, move] : links) {
    move.position += lengths.before;
    if (!sums_links(w.options))
      move.sums.assign(move.windows(w.committed.superblock.piece_size), kWidestSum);
    moves.push_back(&move);
  }
  if (sums_links(w.options)) {
    DryOutput nowhere(w.file->name());
    NMB_TRY(share_moves(w.ranks.communicator(), moves, nowhere, w.committed.superblock.piece_size,
                        w.options));
  }
  const auto keep_sums = [&]() -> Status {
    for (auto& [linked, move] : links)
      NMB_TRY(linked->take_sums(std::move(move.sums), sums_links(w.options)));
    return {};
  };
  return w.ranks.agree(keep_sums());
}

namespace {

// A file to which a rank links, or an original.
struct LinkedFile {
  std::string_view path;
  std::uint64_t size;
  bool is_original;
};

template <class Fields>
void fields(Fields& all, LinkedFile& file) {
  all(file.path, file.size, file.is_original);
}

// Assigns file numbers. New files get their numbers by ascending rank. The files of one rank get
// their numbers in the order of its requests.
class FileNumbering {
 public:
  explicit FileNumbering(WriterCore& w) : w_(w) {}

  Status start() {
    if (!w_.committed.reader) return {};
    NMB_ASSIGN(const std::shared_ptr<const FileTable> old, w_.committed.reader->external().table());
    for (std::uint32_t row = 0; row < old->rows(); ++row) {
      w_.next.files.push_back(old->row(row));
      bytes_ += w_.next.files.back().path.size() + kRowBytes;
      if (!w_.next.files.back().is_original) rows_.emplace(w_.next.files.back().path, row);
    }
    return {};
  }
  Result<std::uint32_t> number_of(const LinkedFile& file) {
    std::vector<ExternalFile>& files = w_.next.files;
    if (file.is_original) {
      NMB_TRY(count_path(file.path));
      files.push_back({std::string(file.path), file.size, true});
      return static_cast<std::uint32_t>(files.size());
    }
    const auto [row, is_new] =
        rows_.emplace(std::string(file.path), static_cast<std::uint32_t>(files.size()));
    if (!is_new && files[row->second].size != file.size)
      return Status(Code::kDamaged, std::string(file.path), kNoOffset, "R-FT-5",
                    joined_text("found ", file.size, " bytes, expected ", files[row->second].size,
                                " (from the file table of ", in_quotes(w_.file->name()), ")"));
    if (is_new) {
      NMB_TRY(count_path(file.path));
      files.push_back({std::string(file.path), file.size});
    }
    return row->second + 1;
  }

 private:
  Status count_path(std::string_view path) {
    if ((bytes_ += path.size() + kRowBytes) <= kMostPathBytes) return {};
    return Status(Code::kLimit, joined_text("the paths of the linked files have more than ",
                                            kMostPathBytes, " bytes"));
  }
  static constexpr std::uint64_t kRowBytes = 32;
  WriterCore& w_;
  std::unordered_map<std::string, std::uint32_t> rows_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Status number_files(WriterCore& w, const std::vector<BlockCommit>& blocks) {
  std::unordered_map<std::string_view, std::uint32_t>
      numbers;  // file numbers by the paths of this rank's files
  const auto for_used = [&](auto visit) {
    for (const BlockCommit& c : blocks)
      if (auto* const linked = w.blocks[c.id].values.as<LinkedPieces>())
        if (!linked->original())
          linked->for_each_file(
              [&](std::size_t i, const ExternalFile& file) { visit(*linked, i, file); });
  };
  Outbox<LinkedFile> wanted;
  for (const StoredOriginal& original : w.next.originals)
    wanted.add(0, {original.what.path, original.size(), true});
  for_used([&](LinkedPieces&, std::size_t, const ExternalFile& file) {
    if (numbers.emplace(file.path, 0).second) wanted.add(0, {file.path, file.size, false});
  });
  NMB_ASSIGN(const Inbox<LinkedFile> arrived, w.ranks.exchange(wanted));
  w.next.files.clear();
  w.next.original_maps.clear();
  Outbox<std::uint32_t> given;
  NMB_TRY(w.ranks.each([&]() -> Status {
    if (arrived.empty()) return {};
    FileNumbering numbering(w);
    NMB_TRY(numbering.start());
    for (const auto& [rank, file] : arrived) {
      NMB_ASSIGN(const std::uint32_t number, numbering.number_of(file));
      given.add(rank, number);
    }
    return {};
  }));
  // The numbers arrive in the order in which this rank sent the files.
  NMB_ASSIGN(const Inbox<std::uint32_t> replies, w.ranks.exchange(given));
  auto number = replies.begin();
  for (StoredOriginal& original : w.next.originals) {
    original.number = (*number).what;
    ++number;
  }
  for (const BlockCommit& c : blocks)
    if (auto* const linked = w.blocks[c.id].values.as<LinkedPieces>(); linked && linked->original())
      linked->set_number(0, w.next.originals[*linked->original()].number);
  for_used([&](LinkedPieces&, std::size_t, const ExternalFile& file) {
    std::uint32_t& own = numbers.at(file.path);
    if (own != 0) return;
    own = (*number).what;
    ++number;
  });
  for_used([&](LinkedPieces& linked, std::size_t i, const ExternalFile& file) {
    linked.set_number(i, numbers.at(file.path));
  });
  return {};
}

namespace {

// Writes a file-table page with the new rows. The page refers to the newest existing page.
Status write_file_table_page(WriterCore& w) {
  Superblock& next = w.next.superblock;
  std::size_t known = 0;
  Place before;
  if (w.committed.reader && !next.file_table.absent()) {
    NMB_ASSIGN(const std::shared_ptr<const FileTable> old, w.committed.reader->external().table());
    known = old->rows();
    before = old->newest_page();
  }
  if (w.next.files.size() <= known) return {};
  std::vector<std::byte> bytes;
  NMB_ASSIGN(const Place place,
             write_page(w.next, file_table_page(w.next.files, known, w.next.original_maps, before),
                        w.new_origin(), 0, &bytes));
  next.file_table = {place.position, place.length, sum_of(bytes)};
  return {};
}

}  // namespace

Status write_file_table(WriterCore& w) {
  return w.ranks.first([&] { return write_file_table_page(w); });
}

}  // namespace nmb
