// Object headers of data sets, read from the file's bytes (HDF5 File Format Specification 3.0,
// IV.A). Only headers of one kind are understood: of data sets whose values lie in the file as they
// are in one run, without filters, named datatypes, comments, and many attributes. All others are
// for the HDF5 library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/model/hdf5_section.h"

namespace nmb::hdf5 {

class ObjectHeaderIn {
 public:
  struct Attribute {
    std::string_view name;
    std::span<const std::byte> values;  // and padding
  };

  // descriptor: of a file of `size` bytes without a user block, whose addresses and lengths have 8
  // bytes. It stays the caller's.
  ObjectHeaderIn(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  // Whether the header at `address` is of that kind. What the functions below tell is of the last
  // header for which it was, until the next call.
  bool read(std::uint64_t address);

  // The header without what data sets that are alike differ in: lengths, where the values are, the
  // values of attributes, times.
  const std::string& pattern() const { return pattern_; }
  const Space& space() const { return space_; }
  // Where the values are, ~0: nowhere, and how many bytes.
  std::uint64_t values_offset() const { return values_offset_; }
  std::uint64_t values_length() const { return values_length_; }
  std::size_t attribute_count() const { return attributes_.size(); }
  Attribute attribute(std::size_t number) const;

 private:
  struct Part {
    std::size_t begin = 0, length = 0;  // in bytes_
  };
  struct Message {
    unsigned type = 0;
    Part content;
  };

  bool read_chunk(std::uint64_t offset, std::uint64_t length);
  bool read_version_1(std::uint64_t address);
  bool read_version_2(std::uint64_t address);
  bool has_sum(std::size_t begin) const;
  // Messages of a chunk; adds chunks that go on to next_.
  bool take_messages(Part chunk, std::size_t head, unsigned flags);
  bool take(const Message& message);
  bool take_space(Part content);
  bool take_layout(Part content);
  bool take_attribute(Part content);
  void add_to_pattern(Part part);
  const std::byte* at(std::size_t offset) const { return bytes_.data() + offset; }

  struct Place {
    std::uint64_t offset, length;
  };
  struct AttributeParts {
    Part name, values;
  };

  const int descriptor_;
  const std::uint64_t size_;
  std::vector<std::byte> bytes_;  // of the chunks
  std::vector<Place> next_;       // chunks to be read
  std::size_t messages_ = 0;
  unsigned seen_ = 0;  // messages of which there is one, by bits
  std::string pattern_;
  Space space_;
  std::uint64_t values_offset_ = 0, values_length_ = 0;
  std::vector<AttributeParts> attributes_;
};

}  // namespace nmb::hdf5
