#include "state/bodies.h"

#include <algorithm>

#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// A dictionary is trained on the first kTrainBlocks small bodies, if there are at least
// kMinTrainBlocks.
constexpr std::size_t kTrainBlocks = 128;
constexpr std::size_t kMinTrainBlocks = 16;
constexpr std::uint64_t kMaxTrainBody = 16 << 10;

// A stored body is kept in memory only if all kept bodies together have at most this many bytes.
// The larger limit is for compressed bodies of defined blocks.
constexpr std::size_t kRetainLimit = 16 << 20, kRetainCompressedLimit = 1 << 30;

std::uint64_t padded_sum(std::span<const std::byte> bytes) {
  SumStream stream;
  stream.add(bytes);
  constexpr std::byte zeros[8]{};
  stream.add(std::span(zeros).first(round_up(bytes.size(), 8) - bytes.size()));
  return stream.sum();
}

}  // namespace

Status Bodies::for_body(const BlockState& block, const BodySink& sink) {
  if (const PackedBlock* const packed = block.packed()) {
    const ByteSource& source = *packed->body;
    std::vector<std::byte> window(std::min<std::uint64_t>(source.size(), 256 << 10));
    for (std::uint64_t at = 0; at < source.size(); at += window.size()) {
      auto part =
          std::span(window).first(std::min<std::uint64_t>(window.size(), source.size() - at));
      NMB_TRY(source.read_at(at, part));
      NMB_TRY(sink(part));
    }
    return {};
  }
  if (const auto* const renamed = std::get_if<std::unique_ptr<RenamedBody>>(&block.body))
    return sink((*renamed)->bytes);
  assert(!block.body_stays());
  return encode_classic_header(*block.metadata, block.next.kind, 0, sink);
}

Result<std::vector<std::byte>> Bodies::body_of(const BlockState& block) {
  std::vector<std::byte> body;
  NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
    body.insert(body.end(), part.begin(), part.end());
    return {};
  }));
  return body;
}

Status Bodies::lay_out_definitions(BlockId id) {
  BlockState& block = w_.blocks[id];
  NextEntry& next = block.next;
  if (block.body_stays()) return {};
  if (const PackedBlock* const packed = block.packed()) {
    next.raw_length = packed->body->size();
    return {};
  }
  if (const auto* const renamed = std::get_if<std::unique_ptr<RenamedBody>>(&block.body)) {
    next.raw_length = (*renamed)->bytes.size();
    return {};
  }
  if (!block.knows_names()) NMB_TRY(block.metadata->settle_names());
  NMB_ASSIGN(block.layout, layout_classic(*block.metadata, next.kind));
  const Metadata& metadata = *block.metadata;
  next.raw_length = block.layout.header_length;
  count_objects(metadata, &next);
  block.layout.records = next.records;
  std::uint64_t end = block.layout.fixed_end;
  if (block.layout.record_size != 0 && next.records != 0 &&
      (!checked_mul(next.records, block.layout.record_size, &end) ||
       !checked_add(end, block.layout.record_begin, &end) || end >> 63))
    return Status(Code::kLimit, joined_text("too many records (", next.records, ") in block ",
                                            in_quotes(w_.blocks.name(id)),
                                            ": a block must have less than 2^63 bytes"));
  next.extent_length = end - block.layout.header_length;
  return {};
}

Status Bodies::encode_stored(const BlockState& block, std::vector<std::byte>* raw,
                             std::vector<std::byte>* stored, BodyCodec* codec) {
  raw->clear();
  NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
    raw->insert(raw->end(), part.begin(), part.end());
    return {};
  }));
  stored->clear();
  if (w_.compressor) {
    *codec = w_.compressor->append(*raw, stored);
  } else {
    *codec = BodyCodec::kNone;
    stored->assign(raw->begin(), raw->end());
  }
  return {};
}

namespace {

// A message with a body for the training of the dictionary.
struct TrainingBody {
  std::span<const std::byte> body;
};

template <class Fields>
void fields(Fields& all, TrainingBody& training) {
  all(training.body);
}

}  // namespace

// Rank 0 trains the dictionary on the first small bodies of all ranks.
Status Bodies::train(const std::vector<BlockId>& ids) {
  std::vector<BlockId> mine;
  for (BlockId id : ids) {
    if (mine.size() == kTrainBlocks) break;
    if (w_.blocks[id].next.raw_length <= kMaxTrainBody) mine.push_back(id);
  }
  NMB_ASSIGN(const auto counts, w_.ranks.in_order(mine.size(), std::size_t{0}, std::plus<>()));
  mine.resize(std::min(mine.size(), kTrainBlocks - std::min(counts.before, kTrainBlocks)));
  Outbox<TrainingBody> out;
  NMB_TRY(w_.ranks.each([&]() -> Status {
    for (BlockId id : mine) {
      NMB_ASSIGN(const std::vector<std::byte> body, body_of(w_.blocks[id]));
      out.add(0, {body});
    }
    return {};
  }));
  NMB_ASSIGN(const Inbox<TrainingBody> arrived, w_.ranks.exchange(out));
  std::vector<std::byte> samples;
  std::vector<std::size_t> lengths;
  for (const auto& [from, sample] : arrived) {
    samples.insert(samples.end(), sample.body.begin(), sample.body.end());
    lengths.push_back(sample.body.size());
  }
  if (lengths.size() >= kMinTrainBlocks)
    w_.committed.dictionary = train_dictionary(samples, lengths);
  return w_.ranks.bytes_from_first(&w_.committed.dictionary);
}

Status Bodies::encode_bodies(const std::vector<BlockId>& ids) {
  std::vector<std::byte> raw, stored;
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    if (block.next.raw_length > kStreamBody) {
      DigestStream digest;
      SumStream sum;
      NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
        digest.add(part);
        sum.add(part);
        return {};
      }));
      constexpr std::byte zeros[8]{};
      sum.add(std::span(zeros).first(round_up(block.next.raw_length, 8) - block.next.raw_length));
      block.next.digest = digest.digest();
      block.next.body_sum = sum.sum();
      block.next.stored_length = block.next.raw_length;
      block.next.codec = 0;
      block.retained = BlockState::kNotRetained;
      continue;
    }
    BodyCodec codec;
    NMB_TRY(encode_stored(block, &raw, &stored, &codec));
    if (raw.size() != block.next.raw_length)
      return Status(
          Code::kDamaged, w_.file->name(), kNoOffset, "",
          "block " + in_quotes(w_.blocks.name(id)) + ": its header changed while it was read");
    block.next.digest = digest_of(raw);
    block.next.body_sum = padded_sum(stored);
    block.next.stored_length = stored.size();
    block.next.codec = static_cast<std::uint16_t>(codec);
    block.retained = BlockState::kNotRetained;
    const bool small = block.metadata && codec != BodyCodec::kNone;
    if (w_.retained.size() + stored.size() <= (small ? kRetainCompressedLimit : kRetainLimit)) {
      block.retained = w_.retained.size();
      w_.retained.append(stored.data(), stored.size());
    }
  }
  return {};
}

}  // namespace nmb
