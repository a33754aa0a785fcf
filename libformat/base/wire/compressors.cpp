#include "wire/compressors.h"

// Needed for the functions that read frame headers.
#define ZSTD_STATIC_LINKING_ONLY
#include <libdeflate.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <memory>
#include <new>

namespace nmb {

namespace {

struct Free {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

// Returns the encoder of this thread.
ZSTD_CCtx* zstd_encoder() {
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context;
  if (!context) context.reset(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

}  // namespace

Decoded inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used) {
  thread_local std::unique_ptr<libdeflate_decompressor, Free> decompressor;
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  std::size_t length = 0;
  const libdeflate_result result = libdeflate_zlib_decompress_ex(
      decompressor.get(), stored.data(), stored.size(), out.data(), out.size(), used, &length);
  if (result != LIBDEFLATE_SUCCESS) return {{}, result == LIBDEFLATE_INSUFFICIENT_SPACE};
  return {length};
}

Decoded decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out,
                    const ZSTD_DDict_s* dictionary) {
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context;
  if (!context) context.reset(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  const std::size_t length = ZSTD_decompress_usingDDict(context.get(), out.data(), out.size(),
                                                        stored.data(), stored.size(), dictionary);
  if (ZSTD_isError(length)) return {{}, ZSTD_getErrorCode(length) == ZSTD_error_dstSize_tooSmall};
  return {length};
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

std::size_t deflate_zlib(std::span<const std::byte> bytes, std::span<std::byte> out, int level) {
  thread_local std::array<std::unique_ptr<libdeflate_compressor, Free>, 13> compressors;
  auto& compressor = compressors[static_cast<std::size_t>(level)];
  if (!compressor) compressor.reset(libdeflate_alloc_compressor(level));
  if (!compressor) throw std::bad_alloc();
  return libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                  out.size());
}

std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level) {
  const std::size_t length =
      ZSTD_compressCCtx(zstd_encoder(), out.data(), out.size(), bytes.data(), bytes.size(), level);
  return ZSTD_isError(length) ? 0 : length;
}

}  // namespace nmb
