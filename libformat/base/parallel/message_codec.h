// The bytes of messages: values that follow one another in the machine's own byte order. Code that
// sends a message does not use these classes, but lists the fields of the message in a function
// fields() (see parallel/message_fields.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wire/failure.h"

namespace nmb {

class MessageWriter {
 public:
  // Uses the memory of `bytes`, which must be empty but may have capacity.
  void use(std::vector<std::byte> bytes) { bytes_ = std::move(bytes); }
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_raw(std::as_bytes(std::span(&value, 1)));
  }
  void put_raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put_bytes(std::span<const std::byte> bytes) {
    put_small(bytes.size());
    put_raw(bytes);
  }
  // Writes a length and returns memory for this many bytes. The caller must fill it before the next
  // call.
  std::span<std::byte> put_room(std::uint64_t length) {
    put_small(length);
    bytes_.resize(bytes_.size() + length);
    return std::span(bytes_).last(length);
  }
  // Writes trivially copyable elements.
  template <class T>
  void put_list(std::span<const T> list) {
    put_bytes(std::as_bytes(list));
  }
  // Writes a number in as few bytes as possible, 7 bits in each byte, so at most 10 bytes.
  void put_small(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void put_text(std::string_view text) { put_bytes(std::as_bytes(std::span(text))); }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads values from a message. Returned views are valid as long as the bytes of the message. After
// the first field that is missing or has an impossible value, status() is a failure, and this field
// and all later fields are zero or empty.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  std::size_t remaining() const { return bytes_.size(); }
  bool ok() const { return !failed_; }
  // Errors: kDamaged.
  Status status() const {
    return ok() ? Status() : Status(Code::kDamaged, "a message does not have the expected fields");
  }
  void fail() {
    failed_ = true;
    bytes_ = {};
  }
  template <class T>
  T get() {
    if constexpr (std::is_same_v<T, bool>) {
      return get<std::uint8_t>() != 0;
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      T value{};
      const std::span<const std::byte> bytes = get_raw(sizeof value);
      if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
      return value;
    }
  }
  std::span<const std::byte> get_raw(std::uint64_t length) {
    if (length > bytes_.size()) fail();
    const auto out = bytes_.first(failed_ ? 0 : length);
    bytes_ = bytes_.subspan(out.size());
    return out;
  }
  std::uint64_t get_small() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto next = std::uint64_t{get<std::uint8_t>()};
      value |= (next & 0x7F) << shift;
      if (next < 0x80) return value;
    }
    fail();
    return 0;
  }
  // Returns a number of items, each of at least one byte.
  std::size_t get_count() {
    const std::uint64_t count = get_small();
    if (count > bytes_.size()) fail();
    return failed_ ? 0 : count;
  }
  std::span<const std::byte> get_bytes() { return get_raw(get_small()); }
  template <class T>
  std::vector<T> get_list() {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::span<const std::byte> bytes = get_bytes();
    std::vector<T> list(bytes.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
    return list;
  }
  std::string_view get_text() {
    auto bytes = get_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  bool failed_ = false;
};

}  // namespace nmb
