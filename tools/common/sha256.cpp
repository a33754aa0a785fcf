// Computes SHA-256 with OpenSSL (see sha256.h).
#include "common/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace nmb::tools {

namespace {

constexpr std::uint64_t kDigestPart = 1 << 20;

Status no_sha256() { return Status(Code::kUnsupported, "OpenSSL's library has no SHA-256"); }

std::string hexadecimal(std::span<const unsigned char> bytes) {
  constexpr char kHexadecimal[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kHexadecimal[byte >> 4];
    out += kHexadecimal[byte & 15];
  }
  return out;
}

}  // namespace

Result<std::string> sha256(std::uint64_t length, const ReadAt& read,
                           const std::atomic<bool>* cancel) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return no_sha256();
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(length, kDigestPart)));
  for (std::uint64_t at = 0; at < length;) {
    if (cancel && cancel->load()) return Status(Code::kIo, "interrupted");
    const std::span part(buffer.data(),
                         static_cast<std::size_t>(std::min(length - at, kDigestPart)));
    NMB_TRY(read(at, part));
    if (EVP_DigestUpdate(context.get(), part.data(), part.size()) != 1) return no_sha256();
    at += part.size();
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context.get(), digest, &size) != 1) return no_sha256();
  return hexadecimal({digest, size});
}

Result<std::string> sha256(const ByteSource& file, const std::atomic<bool>* cancel) {
  return sha256(
      file.size(),
      [&](std::uint64_t offset, std::span<std::byte> out) { return file.read_at(offset, out); },
      cancel);
}

}  // namespace nmb::tools
