// Reads and writes the items of sections and of section payloads. Numbers are little-endian
// (spec/tables.md, section 9).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

// Appends items to a buffer. pad() pads to a multiple of 8 bytes, counted from the beginning of the
// first item.
class ItemsOut {
 public:
  explicit ItemsOut(std::vector<std::byte>* out) : out_(out), start_(out->size()) {}

  template <std::unsigned_integral T>
  void put(T value) {
    const std::size_t at = out_->size();
    out_->resize(at + sizeof value);
    store_le(out_->data() + at, value);
  }
  void put(std::span<const std::byte> bytes) {
    const std::size_t at = out_->size();
    out_->resize(at + bytes.size());
    std::ranges::copy(bytes, out_->begin() + static_cast<std::ptrdiff_t>(at));
  }
  void put(std::string_view text) { put(std::as_bytes(std::span(text.data(), text.size()))); }
  // Appends an enumerator as an integer of its underlying type.
  template <class E>
  requires std::is_enum_v<E>
  void put(E enumerator) { put(static_cast<std::underlying_type_t<E>>(enumerator)); }
  void put(const auto& first, const auto& second, const auto&... rest) {
    put(first);
    put(second);
    (put(rest), ...);
  }
  void put_count(std::size_t count) { put(static_cast<std::uint32_t>(count)); }
  void put_text(std::string_view text) {
    put_count(text.size());
    put(text);
  }
  void pad() { out_->resize(start_ + round_up(out_->size() - start_, 8)); }
  // Reserves the bytes of a length that tell() sets later. Returns their position.
  template <std::unsigned_integral T>
  std::size_t hold() {
    const std::size_t at = out_->size();
    put(T{0});
    return at;
  }
  template <std::unsigned_integral T>
  void tell(std::size_t held, std::size_t from) {
    store_le(out_->data() + held, static_cast<T>(out_->size() - from));
  }
  std::size_t position() const { return out_->size(); }

 private:
  std::vector<std::byte>* const out_;
  const std::size_t start_;
};

// Takes items from the front of a byte sequence. After the first failure (an invalid item or
// missing bytes), all further calls fail.
class ItemsIn {
 public:
  ItemsIn(std::span<const std::byte> bytes, std::size_t base) : bytes_(bytes), base_(base) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  std::size_t offset() const { return base_ + at_; }
  // Marks the beginning of an item. Errors are reported with this position until the next
  // begin_item().
  void begin_item() { item_ = offset(); }
  // Records an error, unless there is one already.
  void fail(const char* rule, const std::string& message) {
    if (status_.ok()) status_ = Status(Code::kDamaged, {}, item_.value_or(offset()), rule, message);
  }
  std::span<const std::byte> take(std::uint64_t count, const char* rule) {
    if (ok() && count <= remaining()) {
      const std::span<const std::byte> taken = bytes_.subspan(at_, count);
      at_ += count;
      return taken;
    }
    fail(rule, joined_text("found ", remaining(), " bytes, expected at least ", count));
    return {};
  }
  template <std::unsigned_integral T>
  T number(const char* rule) {
    const std::span<const std::byte> bytes = take(sizeof(T), rule);
    return bytes.empty() ? T{0} : load_le<T>(bytes.data());
  }
  void numbers(const char* rule, std::unsigned_integral auto*... to) {
    ((*to = number<std::remove_reference_t<decltype(*to)>>(rule)), ...);
  }
  // Takes an enumerator, which must be from 0 to `last`.
  template <class E>
  E choice(E last, const char* rule) {
    const auto value = number<std::uint8_t>(rule);
    if (value > static_cast<std::uint8_t>(last))
      fail(rule, joined_text("found ", value, ", expected at most ", static_cast<unsigned>(last)));
    return static_cast<E>(value);
  }
  std::string text(const char* rule) {
    const std::span<const std::byte> bytes = take(number<std::uint32_t>(rule), rule);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Takes the number of items that follow, each of at least `smallest` bytes.
  std::uint64_t count(std::uint64_t smallest, const char* rule) {
    const auto count = number<std::uint32_t>(rule);
    if (count <= remaining() / smallest) return count;
    fail(rule, joined_text("found a count of ", count, ", but only ", remaining(), " bytes"));
    return 0;
  }
  void zeros(std::size_t count, const char* rule) {
    for (const std::byte b : take(count, rule))
      if (b != std::byte{0}) fail(rule, "found reserved bytes or padding other than 0");
  }
  void pad(const char* rule) { zeros(round_up(at_, 8) - at_, rule); }

 private:
  const std::span<const std::byte> bytes_;
  const std::size_t base_;
  std::size_t at_ = 0;
  std::optional<std::size_t> item_;
  Status status_;
};

}  // namespace nmb
