#include "block/body_codec.h"

#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "wire/codecs.h"
#include "wire/joined_text.h"

namespace nmb {

BodyCompressor::BodyCompressor(int level, std::span<const std::byte> dictionary)
    : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
  // Frames do not state the number of the dictionary: a file has only one, and the number would
  // take 4 bytes in each frame.
  ZSTD_CCtx_setParameter(context_, ZSTD_c_dictIDFlag, 0);
  if (!dictionary.empty()) {
    dictionary_ = ZSTD_createCDict(dictionary.data(), dictionary.size(), level);
    if (!dictionary_) throw std::bad_alloc();
    ZSTD_CCtx_refCDict(context_, dictionary_);
  }
}

BodyCompressor::~BodyCompressor() {
  ZSTD_freeCDict(dictionary_);
  ZSTD_freeCCtx(context_);
}

BodyCodec BodyCompressor::append(std::span<const std::byte> body, std::vector<std::byte>* out) {
  const std::size_t before = out->size();
  const std::size_t limit = body.size() - body.size() / 8;
  out->resize(before + std::max(limit, body.size()));
  std::byte* to = out->data() + before;
  const std::size_t written = ZSTD_compress2(context_, to, limit, body.data(), body.size());
  if (ZSTD_isError(written)) {
    std::ranges::copy(body, to);
    out->resize(before + body.size());
    return BodyCodec::kNone;
  }
  out->resize(before + written);
  return dictionary_ ? BodyCodec::kZstdDictionary : BodyCodec::kZstd;
}

BodyDecompressor::BodyDecompressor(std::span<const std::byte> dictionary) {
  // If zstd refuses the dictionary, decode() fails as for a file without a dictionary.
  if (dictionary.empty()) return;
  dictionary_ = ZSTD_createDDict(dictionary.data(), dictionary.size());
  dictionary_id_ = ZSTD_getDictID_fromDict(dictionary.data(), dictionary.size());
}

BodyDecompressor::~BodyDecompressor() { ZSTD_freeDDict(dictionary_); }

Result<std::vector<std::byte>> BodyDecompressor::decode(BodyCodec codec,
                                                        std::vector<std::byte> stored,
                                                        std::uint64_t raw_length) const {
  if (codec == BodyCodec::kNone) {
    if (stored.size() != raw_length)
      return Status(Code::kDamaged, {}, kNoOffset, "R-BK-8",
                    joined_text("found raw length ", raw_length, ", expected ", stored.size()));
    return stored;
  }
  if (codec == BodyCodec::kZstdDictionary && !dictionary_)
    return Status(Code::kDamaged, {}, kNoOffset, "R-BK-8",
                  "found codec 2 in a file without a usable dictionary");
  if (stored.empty() || raw_length / kMaxExpansion > stored.size() ||
      raw_length > stored.size() * kMaxExpansion)
    return Status(Code::kDamaged, {}, kNoOffset, "R-BK-8",
                  joined_text("found raw length ", raw_length, ", expected at most ", kMaxExpansion,
                              " times the stored length ", stored.size()));
  if (raw_length > kMaxBody)
    return Status(Code::kLimit, joined_text("found a body of ", raw_length,
                                            " bytes, expected at most ", kMaxBody));
  const bool with_dictionary = codec == BodyCodec::kZstdDictionary;
  if (is_allowed_frame(stored, raw_length, with_dictionary ? dictionary_id_ : 0)) {
    auto raw = decode_growing(stored.size(), raw_length, [&](std::span<std::byte> out) {
      return decode_frames(stored, out, with_dictionary ? dictionary_ : nullptr);
    });
    if (raw && raw->size() == raw_length) return std::move(*raw);
  }
  return Status(Code::kDamaged, {}, kNoOffset, "R-BK-8",
                joined_text("found a body that does not decode to ", raw_length, " bytes"));
}

std::vector<std::byte> train_dictionary(std::span<const std::byte> samples,
                                        std::span<const std::size_t> lengths) {
  std::vector<std::byte> dictionary(kMaxDictionary);
  // The parameters are fixed, because a search for better ones takes more time than it saves. The
  // segments are long, because bodies are similar over their whole length (spec/rationale.md).
  ZDICT_fastCover_params_t parameters{};
  parameters.k = 2000;
  parameters.d = 8;
  parameters.f = 16;
  parameters.accel = 4;
  parameters.zParams.compressionLevel = 1;
  const std::size_t size = ZDICT_trainFromBuffer_fastCover(
      dictionary.data(), dictionary.size(), samples.data(), lengths.data(),
      static_cast<unsigned>(lengths.size()), parameters);
  dictionary.resize(ZDICT_isError(size) ? 0 : size);
  return dictionary;
}

}  // namespace nmb
