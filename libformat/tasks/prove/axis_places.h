// AxisPlaces: finds, from lengths alone, at which index of a dimension of the merged file the part
// of each input begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nmb {

class AxisPlaces {
 public:
  // A dimension of a block of the merged file.
  struct Key {
    std::string block, dimension;
    auto operator<=>(const Key&) const = default;
  };
  enum class Kind : std::uint8_t {
    kSame,    // each input has the whole dimension
    kJoined,  // the inputs have successive parts
    kUnknown  // neither: the lengths do not fit
  };

  // Adds the length that a dimension has in an input. Inputs must be added in their order. whole:
  // the length in the merged file. grows: whether the dimension is unlimited in the input.
  void add(const Key& key, std::size_t input, std::uint64_t length, std::uint64_t whole,
           bool grows);
  // Finds the places. fills: whether an input that lacks a joined dimension has fill values along
  // it, as many as its dimension of this name in a group above is long. Call this after all lengths
  // were added.
  void settle(bool fills);

  bool has(const Key& key, std::size_t input) const {
    const auto found = dimensions_.find(key);
    return found != dimensions_.end() && found->second.lengths.contains(input);
  }
  // Returns the dimensions of kind kJoined.
  std::vector<Key> joined() const;
  Kind kind(const Key& key) const { return dimensions_.at(key).kind; }
  bool grows(const Key& key) const { return dimensions_.at(key).grows; }
  // Returns the index at which the part of an input begins. The kind must not be kUnknown.
  std::uint64_t begin(const Key& key, std::size_t input) const;
  // Returns nullopt if the dimension is not joined, or if the input has no index of it.
  std::optional<std::uint64_t> joined_begin(const Key& key, std::size_t input) const;

 private:
  struct Parts {
    std::uint64_t whole = 0, sum = 0;
    bool grows = false, is_clear = true;  // whether variables of an input agree on the length
    Kind kind = Kind::kUnknown;
    std::map<std::size_t, std::uint64_t> lengths{}, begins{};  // by input
  };
  void place(Parts* parts) const;
  const Parts* above(const Key& key) const;

  std::map<Key, Parts> dimensions_;
};

}  // namespace nmb
