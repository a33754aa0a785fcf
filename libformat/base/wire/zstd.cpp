// The codec zstd: one frame or several.

// Needed for the functions that read frame headers.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <new>

#include "wire/codecs.h"

namespace nmb {

namespace {

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

Decoded decode_frames(std::span<const std::byte> stored, std::span<std::byte> out,
                      const ZSTD_DDict_s* dictionary) {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeZstd> context;
  if (!context) context.reset(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  const std::size_t length = ZSTD_decompress_usingDDict(context.get(), out.data(), out.size(),
                                                        stored.data(), stored.size(), dictionary);
  if (ZSTD_isError(length)) return {{}, ZSTD_getErrorCode(length) == ZSTD_error_dstSize_tooSmall};
  return {length};
}

Decoded decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out,
                    std::size_t* used) {
  *used = stored.size();
  return decode_frames(stored, out, nullptr);
}

std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level) {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeZstd> context;
  if (!context) context.reset(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  const std::size_t length =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size(), level);
  return ZSTD_isError(length) ? 0 : length;
}

bool is_allowed_frame(std::span<const std::byte> stored, std::uint64_t length,
                      std::uint32_t dictionary_id) {
  constexpr std::uint64_t kMaxWindow = std::uint64_t{1} << 27;
  ZSTD_frameHeader header;
  return ZSTD_getFrameHeader(&header, stored.data(), stored.size()) == 0 &&
         header.frameType == ZSTD_frame && header.windowSize <= kMaxWindow &&
         (header.dictID == 0 || header.dictID == dictionary_id) &&
         (header.frameContentSize == ZSTD_CONTENTSIZE_UNKNOWN ||
          header.frameContentSize == length) &&
         ZSTD_findFrameCompressedSize(stored.data(), stored.size()) == stored.size();
}

bool allows_zstd_piece(std::span<const std::byte> stored, std::uint64_t length) {
  return is_allowed_frame(stored, length, 0);
}

}  // namespace nmb
