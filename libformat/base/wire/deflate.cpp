// The codec deflate: one zlib stream.
#include <libdeflate.h>

#include <array>
#include <memory>
#include <new>

#include "wire/codecs.h"

namespace nmb {

namespace {

struct FreeDeflate {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
};

}  // namespace

Decoded decode_deflate(std::span<const std::byte> stored, std::span<std::byte> out,
                       std::size_t* used) {
  thread_local std::unique_ptr<libdeflate_decompressor, FreeDeflate> decompressor;
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  std::size_t length = 0;
  const libdeflate_result result = libdeflate_zlib_decompress_ex(
      decompressor.get(), stored.data(), stored.size(), out.data(), out.size(), used, &length);
  if (result != LIBDEFLATE_SUCCESS) return {{}, result == LIBDEFLATE_INSUFFICIENT_SPACE};
  return {length};
}

std::size_t encode_deflate(std::span<const std::byte> bytes, std::span<std::byte> out, int level) {
  thread_local std::array<std::unique_ptr<libdeflate_compressor, FreeDeflate>, 13> compressors;
  auto& compressor = compressors[static_cast<std::size_t>(level)];
  if (!compressor) compressor.reset(libdeflate_alloc_compressor(level));
  if (!compressor) throw std::bad_alloc();
  return libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                  out.size());
}

}  // namespace nmb
