// MendedFile: a damaged file as a reader can open it. It has the bytes of the damaged file, a new
// head, and two new generations after the end of the damaged file. The last generation has a new
// index, which leads to the blocks that are recovered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/external_files.h"
#include "nmb/status.h"
#include "recover/block_plan.h"
#include "recover/evidence.h"
#include "wire/place.h"

namespace nmb {

// The structures besides blocks to which the new generation leads.
struct MendedParts {
  // Blocks for which statistics of the damaged file are not valid: their orders, ascending.
  std::vector<std::uint64_t> without_statistics;
  // Indices of originals that are damaged. They stay in the file table, because values may lie in
  // their undamaged parts, but no block has them as its original any more.
  std::vector<std::uint32_t> damaged_originals;
};

// Thread-safe. The new bytes are in memory; the damaged file is not changed.
class MendedFile final : public ByteSource {
 public:
  // `blocks` are sorted by name; a left-out block is not written. The entries of the blocks get
  // their new data maps. Errors: kLimit, kIo.
  static Result<std::shared_ptr<const MendedFile>> make(std::shared_ptr<const ByteSource> base,
                                                        const Evidence& evidence,
                                                        std::vector<PlannedBlock>& blocks,
                                                        const MendedParts& parts);

  std::uint64_t size() const override { return tail_begin_ + tail_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return base_->name(); }
  const std::string* path() const override { return base_->path(); }

 private:
  class Tail;
  explicit MendedFile(std::shared_ptr<const ByteSource> base);

  const std::shared_ptr<const ByteSource> base_;
  std::vector<std::byte> head_;  // the first 16 KiB
  std::uint64_t tail_begin_;     // position of the first new byte after the damaged file
  std::vector<std::byte> tail_;
};

}  // namespace nmb
