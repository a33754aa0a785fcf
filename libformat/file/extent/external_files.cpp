#include "extent/external_files.h"

#include <algorithm>

#include "extent/data_map.h"
#include "extent/extent_source.h"
#include "extent/external_path.h"
#include "extent/open_external.h"
#include "files/pooled_file.h"
#include "model/name_rules.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns the process's pool of open external files, which holds at most half as many files as the
// pool of input files.
const std::shared_ptr<FilePool>& pool() {
  static const auto all =
      std::make_shared<FilePool>(std::max<std::size_t>(1, FilePool::most_files() / 2));
  return all;
}

}  // namespace

Result<std::shared_ptr<const FileTable>> ExternalFiles::table() const {
  std::lock_guard lock(mutex_);
  if (!table_) {
    NMB_ASSIGN(table_, read_file_table(file_, superblock_));
  }
  return table_;
}

Result<std::string> ExternalFiles::name_of(std::uint32_t number) const {
  NMB_ASSIGN(const std::shared_ptr<const FileTable> files, table());
  if (number == 0 || number > files->rows())
    return Status(Code::kDamaged, file_.name(), superblock_.file_table.position, "R-EX-8",
                  joined_text("found file number ", number, ", expected at most ", files->rows()));
  const ExternalFile row = files->row(number - 1);
  if (row.is_original) return file_.name() + ": original " + in_quotes(row.path);
  const std::string& path = row.path;
  if (path.starts_with('/') || !file_.path()) return path;
  return external_folder(*file_.path()) + path;
}

Result<std::shared_ptr<const ByteSource>> ExternalFiles::open(std::uint32_t number) const {
  {
    std::lock_guard lock(mutex_);
    if (const auto known = opened_.find(number); known != opened_.end()) return known->second;
  }
  NMB_ASSIGN(const std::string name, name_of(number));
  NMB_ASSIGN(const std::shared_ptr<const FileTable> files, table());
  const ExternalFile row = files->row(number - 1);
  std::shared_ptr<const ByteSource> source;
  if (row.is_original) {
    // A piece of a block can be undamaged although the original's piece around it is damaged.
    source = original(number, files->map(number - 1), row.size, Unverified::kPartsOfPieces);
  } else {
    NMB_ASSIGN(source, beside(row, name));
  }
  std::lock_guard lock(mutex_);
  return opened_.emplace(number, source).first->second;
}

Result<std::shared_ptr<const ByteSource>> ExternalFiles::open_verified(std::uint32_t number) const {
  NMB_ASSIGN(std::shared_ptr<const ByteSource> source, open(number));
  NMB_ASSIGN(const std::shared_ptr<const FileTable> files, table());
  if (!files->is_original(number - 1)) return source;
  return original(number, files->map(number - 1), files->size(number - 1), Unverified::kNothing);
}

Result<std::uint64_t> ExternalFiles::place_in_original(std::uint32_t number, std::uint64_t position,
                                                       std::uint64_t length) const {
  NMB_TRY(name_of(number).status());
  NMB_ASSIGN(const std::shared_ptr<const FileTable> files, table());
  if (!files->is_original(number - 1))
    return Status(Code::kUsage,
                  joined_text("file number ", number, " is not the number of an original"));
  std::lock_guard lock(mutex_);
  const auto [known, is_new] = original_runs_.try_emplace(number);
  std::vector<OriginalRun>& runs = known->second;
  if (is_new) {
    const std::uint64_t size = files->size(number - 1);
    const DataMap map(file_, nullptr, superblock_, owner_of_original(number),
                      files->map(number - 1), size);
    const Status read = map.for_each(0, size, [&](const Piece& piece) -> Status {
      if (!piece.is_plain()) return {};
      if (!runs.empty() && runs.back().end == piece.logical &&
          runs.back().position + (piece.logical - runs.back().begin) == piece.position)
        runs.back().end = piece.end();
      else
        runs.push_back({piece.logical, piece.end(), piece.position});
      return {};
    });
    if (!read.ok()) {
      original_runs_.erase(known);
      return read;
    }
  }
  const auto run = std::ranges::upper_bound(runs, position, {}, &OriginalRun::end);
  if (run == runs.end() || position < run->begin || length > run->end - position) return 0;
  return run->position + (position - run->begin);
}

Result<std::shared_ptr<const ByteSource>> ExternalFiles::beside(const ExternalFile& row,
                                                                const std::string& name) const {
  if (!file_.path())
    return Status(Code::kUnsupported, name, kNoOffset, "R-FT-4",
                  "found an external file of " + in_quotes(file_.name()) +
                      ", which has no folder, expected an NMB file in a folder");
  NMB_ASSIGN(const std::shared_ptr<const ByteSource> source,
             PooledFile::open_and_keep(
                 pool(), [folder = external_folder(*file_.path()), path = row.path,
                          allowed = allowed_] { return open_external(folder, path, allowed); }));
  if (source->size() != row.size)
    return Status(Code::kDamaged, name, kNoOffset, "R-FT-5",
                  joined_text("found ", source->size(), " bytes, expected ", row.size,
                              ", its size when its values were linked"));
  return source;
}

// Reads the bytes of an original as an extent that belongs to no block.
std::shared_ptr<const ByteSource> ExternalFiles::original(std::uint32_t number, const Place& map,
                                                          std::uint64_t size,
                                                          Unverified unverified) const {
  static const Metadata none;
  static const FillPattern no_holes(none, {});
  BlockEntry entry;
  entry.position = owner_of_original(number);  // the pages of the map name it as their owner
  entry.map = map;
  entry.extent_length = size;
  return std::make_shared<ExtentSource>(file_, nullptr, superblock_, entry,
                                        std::span<const GrowthRow>(), std::nullopt, no_holes,
                                        original_pieces_, unverified);
}

}  // namespace nmb
