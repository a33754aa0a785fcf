// Encodes and decodes values in messages between ranks of one program. The values follow one
// another in the machine's own byte order. The lengths are not checked, because both ranks run the
// same program.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

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
    put<std::uint64_t>(bytes.size());
    put_raw(bytes);
  }
  // Writes a length and returns room for this many bytes. The caller must fill the room before the
  // next call.
  std::span<std::byte> put_room(std::uint64_t length) {
    put(length);
    return add_room(length);
  }
  std::span<std::byte> add_room(std::uint64_t length) {
    bytes_.resize(bytes_.size() + length);
    return std::span(bytes_).last(length);
  }
  // Writes trivially copyable elements.
  template <class T>
  void put_list(std::span<const T> list) {
    put_bytes(std::as_bytes(list));
  }
  // Writes a number in as few bytes as possible. Each byte holds 7 bits of the number, so there are
  // at most 10 bytes.
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

// Reads values from a message. The returned views are valid as long as the bytes of the message.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, get_raw(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> get_raw(std::size_t length) {
    assert(length <= bytes_.size());
    auto out = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return out;
  }
  std::uint64_t get_small() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto next = static_cast<std::uint64_t>(get_raw(1)[0]);
      value |= (next & 0x7F) << shift;
      if (next < 0x80) return value;
    }
  }
  std::span<const std::byte> get_bytes() { return get_raw(get<std::uint64_t>()); }
  template <class T>
  std::vector<T> get_list() {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::span<const std::byte> bytes = get_bytes();
    std::vector<T> list(bytes.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
  }
  std::string_view get_text() {
    auto bytes = get_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace nmb
