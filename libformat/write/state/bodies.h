// Lays out, encodes and compresses the bodies of blocks and computes their sums (spec/format.md,
// section 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "block/body_codec.h"
#include "state/writer_core.h"

namespace nmb {

using BodySink = std::function<Status(std::span<const std::byte>)>;

class Bodies {
 public:
  explicit Bodies(WriterCore& writer) : w_(writer) {}

  // Bodies with more bytes than this are encoded while they are written, and they are not
  // compressed.
  static constexpr std::uint64_t kStreamBody = 1 << 20;

  // Passes the uncompressed body of a new or changed block to `sink`, in parts.
  static Status for_body(const BlockState& block, const BodySink& sink);
  static Result<std::vector<std::byte>> body_of(const BlockState& block);
  // Lays out a new or changed block: determines its lengths, its counts and the places of its
  // variables.
  Status lay_out_definitions(BlockId id);
  // Trains a dictionary on the first small bodies of all ranks. Collective.
  Status train(const std::vector<BlockId>& ids);
  // Determines the stored lengths, digests and sums of bodies. Keeps stored bodies in memory, up to
  // a limit.
  Status encode_bodies(const std::vector<BlockId>& ids);
  // Encodes a body. *raw gets the uncompressed body, and *stored gets the bytes for the file.
  Status encode_stored(const BlockState& block, std::vector<std::byte>* raw,
                       std::vector<std::byte>* stored, BodyCodec* codec);

 private:
  WriterCore& w_;
};

}  // namespace nmb
