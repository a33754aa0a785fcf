// Hdf5Bytes is a buffer to which HDF5 metadata is appended. Integers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "encoding/lookup3.h"
#include "wire/endian.h"

namespace nmb {

// The HDF5 address that means "no address".
inline constexpr std::uint64_t kUndefinedAddress = ~std::uint64_t{0};

class Hdf5Bytes {
 public:
  void put8(unsigned value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void put16(std::uint64_t value) { put(static_cast<std::uint16_t>(value)); }
  void put32(std::uint64_t value) { put(static_cast<std::uint32_t>(value)); }
  void put64(std::uint64_t value) { put(value); }
  void put(std::span<const std::byte> bytes);
  void put(std::string_view text) { put(std::as_bytes(std::span(text))); }
  void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  void zeros_to(std::size_t size) { bytes_.resize(size); }
  // Appends the checksum of all bytes from offset `from` to the end.
  void put_checksum(std::size_t from = 0) { put32(lookup3(bytes().subspan(from))); }
  // Replaces the two bytes at offset `at`.
  void set16(std::size_t at, std::size_t value) {
    store_le(&bytes_[at], static_cast<std::uint16_t>(value));
  }
  void set32(std::size_t at, std::size_t value) {
    store_le(&bytes_[at], static_cast<std::uint32_t>(value));
  }
  void cut(std::size_t size) { bytes_.resize(size); }
  std::size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  template <std::unsigned_integral T>
  void put(T value) {
    std::byte bytes[sizeof value];
    store_le(bytes, value);
    put(std::span<const std::byte>(bytes));
  }
  std::vector<std::byte> bytes_;
};

}  // namespace nmb
