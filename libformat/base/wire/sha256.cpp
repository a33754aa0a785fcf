#include "wire/sha256.h"

#include <openssl/evp.h>

#include <new>

namespace nmb {

namespace {

void check_openssl(int result) {
  if (result != 1) throw std::bad_alloc();
}

}  // namespace

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (!context_) throw std::bad_alloc();
  check_openssl(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256Stream::add(std::span<const std::byte> bytes) {
  check_openssl(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

Sha256 Sha256Stream::digest() {
  Sha256 out;
  check_openssl(
      EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(out.data()), nullptr));
  return out;
}

}  // namespace nmb
