// Classic headers for tests: written field by field, encoded, compared and checked.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/classic.h"
#include "wire/endian.h"

namespace nmb::test {

// Bytes of a classic header, field by field, right or wrong. size() is the offset of what follows.
class HeaderBytes {
 public:
  explicit HeaderBytes(Kind kind, std::uint64_t numrecs = 0) : kind_(kind) {
    text("CDF");
    bytes_.push_back(static_cast<std::byte>(kind));
    count(numrecs);
  }
  HeaderBytes& u32(std::uint32_t value) {
    bytes_.resize(bytes_.size() + 4);
    store_be(bytes_.data() + bytes_.size() - 4, value);
    return *this;
  }
  HeaderBytes& u64(std::uint64_t value) {
    return u32(static_cast<std::uint32_t>(value >> 32)).u32(static_cast<std::uint32_t>(value));
  }
  HeaderBytes& text(std::string_view value) {
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  // numrecs, a count, a length, a dimension id, vsize.
  HeaderBytes& count(std::uint64_t value) {
    return kind_ == Kind::kCdf5 ? u64(value) : u32(static_cast<std::uint32_t>(value));
  }
  HeaderBytes& begin(std::uint64_t value) {
    return kind_ == Kind::kCdf1 ? u32(static_cast<std::uint32_t>(value)) : u64(value);
  }
  HeaderBytes& list(std::uint32_t tag, std::uint64_t items) { return u32(tag).count(items); }
  HeaderBytes& absent() { return list(0, 0); }
  HeaderBytes& name(std::string_view value) { return count(value.size()).text(value).pad(); }
  HeaderBytes& dimension(std::string_view n, std::uint64_t length) { return name(n).count(length); }
  // A variable without attributes.
  HeaderBytes& variable(std::string_view n, std::initializer_list<std::uint64_t> dimensions,
                        std::uint32_t type, std::uint64_t vsize, std::uint64_t first) {
    name(n).count(dimensions.size());
    for (const std::uint64_t id : dimensions) count(id);
    return absent().u32(type).count(vsize).begin(first);
  }
  HeaderBytes& pad() {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    return *this;
  }
  // Zeros up to `size` bytes, as values.
  HeaderBytes& up_to(std::uint64_t size) {
    bytes_.resize(size);
    return *this;
  }
  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t count_width() const { return kind_ == Kind::kCdf5 ? 8 : 4; }
  std::uint64_t begin_width() const { return kind_ == Kind::kCdf1 ? 4 : 8; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  Kind kind_;
  std::vector<std::byte> bytes_;
};

inline constexpr Kind kClassicKinds[] = {Kind::kCdf1, Kind::kCdf2, Kind::kCdf5};

// encode_classic_header into memory.
Result<std::vector<std::byte>> encode(const Metadata& metadata, Kind kind, std::uint64_t records);

// Returns the differences between two Metadata, also of begins; "" if there are none.
std::string difference(const Metadata& a, const Metadata& b);

// What is wrong with encoding a decoded header again: it must have the same length, decode to the
// same, and be the same bytes where padding, empty lists and vsize were canonical. Empty: nothing.
std::string reencoding_problem(const ClassicHeader& header, std::span<const std::byte> bytes);

// Definitions that `kind` can hold, every shape and type of them, of a few hundred bytes of values.
Metadata random_metadata(Kind kind, std::mt19937_64& random);

}  // namespace nmb::test
