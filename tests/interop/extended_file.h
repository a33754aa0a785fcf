// NMB files of blocks of kind 6 made by hand, for tests: definitions, sections and values as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/extension.h"
#include "model/metadata.h"

namespace nmb::test {

// A block: fill in `metadata` (extended attributes, and variables, behind types()) and the rest.
class ExtendedBlock {
 public:
  explicit ExtendedBlock(std::string name) : name_(std::move(name)) {}

  // Adds a type; ahead of all definitions.
  Type type(ExtendedType type);
  // Dimensions are made as they are needed, one each.
  VarId variable(std::string_view name, Type type, const std::vector<std::uint64_t>& lengths,
                 std::span<const std::byte> values, bool grows = false);
  // The same with a region.
  VarId stored(std::string_view name, Type type, const std::vector<std::uint64_t>& lengths,
               Storage storage, std::span<const std::byte> region, bool grows = false);
  void attribute(VarId owner, std::string_view name, Type type, std::uint64_t count,
                 std::span<const std::byte> values);
  // Comes behind the properties so far.
  void property(const hdf5::Property& property) { properties_.push_back(property); }

  const std::string& name() const { return name_; }
  const TypeTable& types() const { return extension_.types; }
  std::vector<std::byte> body() const;
  std::uint64_t dimensions() const { return metadata_.dimension_count(); }
  std::uint64_t variables() const { return metadata_.variable_count(); }
  std::uint64_t attributes() const { return metadata_.attribute_count(); }
  std::uint64_t records() const;
  const std::vector<std::byte>& extent() const { return extent_; }

 private:
  VarId add(std::string_view name, Type type, const std::vector<std::uint64_t>& lengths,
            std::span<const std::byte> bytes, bool grows);
  void share();

  std::string name_;
  Metadata metadata_{Metadata::Names::kAsFound};
  Extension extension_;
  std::vector<hdf5::Property> properties_;
  std::vector<std::byte> extent_;
};

// Writes the blocks to `path`.
void write_extended(const std::string& path, const std::vector<ExtendedBlock>& blocks);

// Bytes put one behind the other.
class Bytes {
 public:
  template <class T>
  Bytes& put(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
    return *this;
  }
  Bytes& text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  // Of variable length: count and offset.
  Bytes& heap(std::uint64_t count, std::uint64_t offset) { return put(count).put(offset); }
  std::size_t size() const { return bytes_.size(); }
  operator std::span<const std::byte>() const { return bytes_; }
  const std::vector<std::byte>& vector() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace nmb::test
