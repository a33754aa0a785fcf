// NameIndex: finds a name among many. The names stay where they are; the index has 4 bytes for
// each, in an open hash table that is at most 3/4 full.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nmb::pnetcdf {

// Returns a hash of a name, which differs from process to process.
std::uint32_t name_tag(std::string_view name);

class NameIndex {
 public:
  // Returns the i with name_of(i) == name among i < count. Names that came after the last call are
  // added to the table first, so a file whose names are never looked up needs none.
  template <class NameOf>
  std::optional<std::uint32_t> find(std::string_view name, std::uint32_t count, NameOf name_of) {
    if (count < kLinear) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (name_of(i) == name) return i;
      return std::nullopt;
    }
    add(count, name_of);
    const std::uint32_t tag = name_tag(name);
    for (std::uint32_t at = tag >> bits_to_drop();; at = (at + 1) & low_bits()) {
      const std::uint32_t slot = slots_[at];
      if (slot == 0) return std::nullopt;
      const std::uint32_t i = (slot & low_bits()) - 1;
      if ((slot & ~low_bits()) == rest_of(tag) && name_of(i) == name) return i;
    }
  }
  // Forgets all names, and frees the memory.
  void clear() {
    slots_ = {};
    used_ = bits_ = 0;
  }

 private:
  static constexpr std::uint32_t kLinear = 16;

  // The first bits of a tag are the slot to try first. A slot has the index + 1 in its low bits and
  // as many of the tag's last bits as there is room for above them; 0 is a free slot. The 4 GiB of
  // names that a header can have are less than 3 * 2^29 names, so `bits_` is at most 31.
  std::uint32_t bits_to_drop() const { return 32 - bits_; }
  std::uint32_t low_bits() const { return (std::uint32_t{1} << bits_) - 1; }
  std::uint32_t rest_of(std::uint32_t tag) const { return tag << bits_; }

  template <class NameOf>
  void add(std::uint32_t count, NameOf name_of) {
    if (std::uint64_t{count} * 4 > slots_.size() * 3) {
      bits_ = static_cast<std::uint32_t>(std::bit_width(std::uint64_t{count} * 4 / 3));
      slots_ = {};  // frees the old table first
      slots_.resize(std::size_t{1} << bits_);
      used_ = 0;
    }
    for (; used_ < count; ++used_) {
      const std::uint32_t tag = name_tag(name_of(used_));
      std::uint32_t at = tag >> bits_to_drop();
      while (slots_[at] != 0) at = (at + 1) & low_bits();
      slots_[at] = rest_of(tag) | (used_ + 1);
    }
  }

  std::vector<std::uint32_t> slots_;
  std::uint32_t used_ = 0, bits_ = 0;
};

}  // namespace nmb::pnetcdf
