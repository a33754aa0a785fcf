// Lays out, encodes, compresses and sums the bodies of blocks (spec/format.md, section 8).
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

  // Only few bodies are larger than this: they are encoded while they are written, and not
  // compressed.
  static constexpr std::uint64_t kStreamBody = 1 << 20;

  // Produces the uncompressed body of a block that is new or has changed.
  static Status for_body(const BlockState& block, const BodySink& sink);
  static Result<std::vector<std::byte>> body_of(const BlockState& block);
  // Determines lengths and counts of such a block and the places of its variables.
  Status lay_out_definitions(BlockId id);
  // Collective: makes a dictionary from the first bodies of all ranks.
  Status train(const std::vector<BlockId>& ids);
  // Determines stored lengths, digests and sums.
  Status encode_bodies(const std::vector<BlockId>& ids);
  // Produces the body in its stored form.
  Status encode_stored(const BlockState& block, std::vector<std::byte>* raw,
                       std::vector<std::byte>* stored, BodyCodec* codec);

 private:
  WriterCore& w_;
};

}  // namespace nmb
