// Reads object headers of data sets from the bytes of the file (HDF5 File Format Specification 3.0,
// IV.A). It understands only headers of simple data sets, whose values are stored as one run,
// unchanged and without filters, and which have no named datatypes, no comments and not many
// attributes. The HDF5 library must read all other headers.
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
    std::span<const std::byte> values;  // values with padding
  };

  // `descriptor` is a file of `size` bytes without a user block, whose addresses and lengths have 8
  // bytes. The caller keeps the file open and closes it.
  ObjectHeaderIn(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  // Reads the header at `address`, and returns whether it is one that this class understands. If
  // so, the functions below describe this header until the next call.
  bool read(std::uint64_t address);

  // Returns the header without the parts in which similar data sets differ. These are lengths, the
  // position of the values, the values of attributes, and times.
  const std::string& pattern() const { return pattern_; }
  const Space& space() const { return space_; }
  // Return the offset of the values, or ~0 if there are none, and their number of bytes.
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
  // Reads the messages of a chunk; adds continuation chunks to next_.
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
  std::vector<std::byte> bytes_;  // bytes of all chunks of the header
  std::vector<Place> next_;       // chunks that have not been read yet
  std::size_t messages_ = 0;
  unsigned seen_ = 0;  // bits of the message types that were found and may occur only once
  std::string pattern_;
  Space space_;
  std::uint64_t values_offset_ = 0, values_length_ = 0;
  std::vector<AttributeParts> attributes_;
};

}  // namespace nmb::hdf5
