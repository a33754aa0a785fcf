// TrailerSearch finds superblocks at the end of a file (spec/writer.md, section 5.7).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "superblock/head_reading.h"
#include "wire/bytes.h"

namespace nmb {

// Where to search for superblocks that follow the newest generation of a settled file.
enum class TrailerScope {
  kLastUnit,  // only in the last unit, as readers do
  kAll,       // in all bytes after the generation, as writers do
};

class TrailerSearch {
 public:
  // size: length of `file`, which must outlive this object. file_id: nullopt to find superblocks of
  // any file.
  TrailerSearch(const ByteSource& file, std::uint64_t size, std::optional<Digest> file_id)
      : file_(file), size_(size), file_id_(file_id) {}

  // Returns the superblock that ends at byte `file_length` and states this file length, if there is
  // one.
  Result<std::optional<FoundSuperblock>> ending_at(std::uint64_t file_length) const;
  // Returns the last superblock that follows `base`. Time: proportional to the number of bytes
  // after the file length of `base`.
  Result<std::optional<FoundSuperblock>> following(const FoundSuperblock& base, TrailerScope scope);
  // Returns the last superblock that the last call of following() skipped: its generation is at
  // least 2 higher than that of `base`, but it does not follow `base`.
  const std::optional<FoundSuperblock>& stray() const { return stray_; }
  // Returns the last superblock of the file.
  Result<std::optional<FoundSuperblock>> last();

 private:
  template <class Accept>
  Result<std::optional<FoundSuperblock>> search(std::uint64_t from, std::uint64_t to,
                                                Accept accept);
  Result<bool> follows(const FoundSuperblock& found, const FoundSuperblock& base);

  const ByteSource& file_;
  const std::uint64_t size_;
  const std::optional<Digest> file_id_;
  std::optional<FoundSuperblock> stray_;
  std::unordered_set<std::uint64_t> strangers_;  // positions of trailers whose chain of previous
                                                 // trailers does not reach the base
};

}  // namespace nmb
