// Reads object headers of data sets from the bytes of the file (HDF5 File Format Specification 3.0,
// IV.A). The reader understands only headers of simple data sets: the values are stored as one run,
// unchanged and without filters, and the data set has no named datatype, no comment, and only a few
// attributes. The HDF5 library must read all other headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/file_bytes.h"
#include "decoding/layout_message_in.h"
#include "encoding/object_header.h"
#include "hdf5_types/hdf5_section.h"

namespace nmb::hdf5 {

class ObjectHeaderIn {
 public:
  struct Attribute {
    std::string_view name;
    std::span<const std::byte> values;  // values with padding
  };

  explicit ObjectHeaderIn(const FileBytes& file) : file_(file) {}

  // Reads the header at `address`. Returns true if this class understands the header. The functions
  // below then describe this header until the next call.
  bool read(std::uint64_t address);

  // Returns the layout of a data set in chunks. `address` is the address of any object header.
  // Returns nullopt if the header has no such layout or an unknown form.
  std::optional<LayoutMessage> chunk_layout(std::uint64_t address);

  // Returns the header without the parts in which similar data sets differ. These parts are the
  // lengths, the position of the values, the values of attributes, and the times.
  const std::string& pattern() const { return pattern_; }
  const Space& space() const { return space_; }
  // Return the offset of the values in the file (kUndefinedAddress if the data set has no values),
  // and the number of bytes of the values.
  std::uint64_t values_offset() const { return values_offset_; }
  std::uint64_t values_length() const { return values_length_; }
  std::size_t attribute_count() const { return attributes_.size(); }
  Attribute attribute(std::size_t number) const;

 private:
  struct HeaderRange {
    std::size_t begin = 0, length = 0;  // in bytes_
  };
  struct Message {
    HeaderMessage type{};
    HeaderRange content;
  };

  void clear();
  bool read_messages(std::uint64_t address);
  bool read_chunk(std::uint64_t offset, std::uint64_t length);
  bool read_version_1(std::uint64_t address);
  bool read_version_2(std::uint64_t address);
  bool has_sum(std::size_t begin) const;
  // Reads the messages of a chunk; adds continuation chunks to next_.
  bool take_messages(HeaderRange chunk, std::size_t head, unsigned flags);
  bool take(const Message& message);
  bool take_chunk_layout(HeaderRange content);
  bool take_space(HeaderRange content);
  bool take_layout(HeaderRange content);
  bool take_attribute(HeaderRange content);
  void add_to_pattern(HeaderRange part);
  const std::byte* at(std::size_t offset) const { return bytes_.data() + offset; }

  struct HeaderChunk {
    std::uint64_t offset, length;
  };
  struct AttributeParts {
    HeaderRange name, values;
  };

  const FileBytes file_;
  std::vector<std::byte> bytes_;   // bytes of all chunks of the header
  std::vector<HeaderChunk> next_;  // chunks that have not been read yet
  std::size_t messages_ = 0;
  // Set of the message types that were found; it has a bit for each type that may occur only once.
  unsigned seen_ = 0;
  std::string pattern_;
  Space space_;
  std::uint64_t values_offset_ = 0, values_length_ = 0;
  bool finds_layout_ = false;  // whether only the layout is read, as in chunk_layout()
  std::optional<LayoutMessage> layout_;
  std::vector<AttributeParts> attributes_;
};

}  // namespace nmb::hdf5
