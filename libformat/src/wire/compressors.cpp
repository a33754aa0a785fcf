// Deflate and zstd (see wire/compressors.h).
#include "wire/compressors.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
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

// Of this thread.
ZSTD_CCtx* zstd_encoder() {
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context;
  if (!context) context.reset(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

}  // namespace

std::optional<std::size_t> inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                                        std::size_t* used) {
  thread_local std::unique_ptr<libdeflate_decompressor, Free> decompressor;
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  std::size_t length = 0;
  if (libdeflate_zlib_decompress_ex(decompressor.get(), stored.data(), stored.size(), out.data(),
                                    out.size(), used, &length) != LIBDEFLATE_SUCCESS)
    return std::nullopt;
  return length;
}

std::optional<std::size_t> decode_zstd(std::span<const std::byte> stored,
                                       std::span<std::byte> out) {
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context;
  if (!context) context.reset(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  const std::size_t length =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(length)) return std::nullopt;
  return length;
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

std::size_t encode_zstd_in_blocks(std::span<const std::byte> bytes, std::span<std::byte> out,
                                  int level, std::size_t block) {
  ZSTD_CCtx* const context = zstd_encoder();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setPledgedSrcSize(context, bytes.size());
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t part = std::min(block, bytes.size() - at);
    ZSTD_inBuffer from{bytes.data() + at, part, 0};
    at += part;
    const ZSTD_EndDirective what = at == bytes.size() ? ZSTD_e_end : ZSTD_e_flush;
    // 0: all of it is out.
    if (ZSTD_compressStream2(context, &to, &from, what) != 0) return 0;
  }
  return to.pos;
}

}  // namespace nmb
