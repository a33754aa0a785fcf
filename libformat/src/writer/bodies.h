// Bodies of blocks: laid out, encoded, compressed and summed (spec/format.md, section 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "format/block/body_codec.h"
#include "writer/writer_core.h"

namespace nmb {

using BodySink = std::function<Status(std::span<const std::byte>)>;

class Bodies {
 public:
  explicit Bodies(WriterCore& writer) : w_(writer) {}

  // Bodies larger than this are few: they are encoded in passing and stored as they are.
  static constexpr std::uint64_t kStreamBody = 1 << 20;

  // The body of a block that is new or has changed, before compression.
  static Status for_body(const BlockState& block, const BodySink& sink);
  static Result<std::vector<std::byte>> body_of(const BlockState& block);
  // Lengths and counts of such a block, and where its variables lie.
  Status lay_out_definitions(BlockId id);
  // Collective: a dictionary, of the first bodies of all ranks.
  Status train(const std::vector<BlockId>& ids);
  // Stored lengths, digests and sums.
  Status encode_bodies(const std::vector<BlockId>& ids);
  // The body as it is stored.
  Status encode_stored(const BlockState& block, std::vector<std::byte>* raw,
                       std::vector<std::byte>* stored, BodyCodec* codec);

 private:
  WriterCore& w_;
};

}  // namespace nmb
