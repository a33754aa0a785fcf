// ObjectHeader builds an HDF5 object header of version 2, message by message, in one chunk
// (spec/hdf5_view.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "encoding/hdf5_bytes.h"
#include "wire/kinds.h"

namespace nmb {

// The numbers of header messages in the HDF5 file format.
enum class HeaderMessage : std::uint16_t {
  kNil = 0x00,
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kOldFillValue = 0x04,
  kFillValue = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kGroupInfo = 0x0A,
  kFilters = 0x0B,
  kAttribute = 0x0C,
  kComment = 0x0D,
  kOldTime = 0x0E,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kTime = 0x12,
  kTreeRanks = 0x13,
  kAttributeInfo = 0x15,
  kReferenceCount = 0x16,
  // A number that HDF5 does not define. HDF5 opens a file with this unknown message only for
  // reading.
  kReadOnly = 0xE0,
};

class ObjectHeader {
 public:
  ObjectHeader() { start(); }
  // Starts an empty header. In `attribute_order`, bit 0 means that HDF5 tracks the creation order
  // of attributes. Bit 1 means that HDF5 also indexes this order.
  void start(unsigned attribute_order = 0);
  // Begins a message. Append the message's contents to bytes() before end() is called. For an
  // attribute, `number` is its index among the attributes of the object.
  void begin(HeaderMessage type, unsigned flags = 0, std::uint64_t number = 0);
  // Removes the message that was begun last.
  void drop() { bytes_.cut(message_); }
  // Ends a message. Returns false if the message is longer than 65,535 bytes, the most that HDF5
  // allows.
  [[nodiscard]] bool end();
  Hdf5Bytes& bytes() { return bytes_; }
  // Returns the complete header. Call start() before the next header.
  std::span<const std::byte> finish();

 private:
  static constexpr std::size_t kPrefix = 10;
  std::size_t message_prefix() const { return tracks_order_ ? 6 : 4; }
  Hdf5Bytes bytes_;
  bool tracks_order_ = false;
  std::size_t message_ = 0;
};

// The next functions write parts of messages.
void put_scalar_space(Hdf5Bytes& out);
void put_null_space(Hdf5Bytes& out);
void put_simple_space(Hdf5Bytes& out, std::span<const std::uint64_t> lengths, bool grows = false);
// Writes a simple dataspace with lengths and maximum lengths. An unlimited maximum length has all
// bits set.
void put_simple_space(Hdf5Bytes& out, std::span<const std::uint64_t> lengths,
                      std::span<const std::uint64_t> maximum);
// Writes the beginning of a datatype: its version and class, 24 bits whose meaning depends on the
// class, and the size of a value.
void put_datatype_prefix(Hdf5Bytes& out, unsigned version, unsigned type_class, unsigned bits,
                         std::uint64_t size);
void put_text_type(Hdf5Bytes& out, std::uint64_t bytes);
// Writes the datatype of a netCDF classic type: a big-endian number, or one character.
void put_type(Hdf5Bytes& out, Type type);
void put_int32_type(Hdf5Bytes& out);           // little-endian
void put_reference_list_type(Hdf5Bytes& out);  // sequences of references to objects
// Writes the beginning of an attribute message, before its type, space and values. `type_bytes` and
// `space_bytes` are the lengths of the encoded type and space.
void put_attribute_prefix(Hdf5Bytes& out, std::string_view name, std::size_t type_bytes,
                          std::size_t space_bytes);
// Like the function above, but the name may be UTF-8 and the type may be a named datatype.
void put_attribute_prefix(Hdf5Bytes& out, std::string_view name, std::size_t type_bytes,
                          std::size_t space_bytes, bool is_utf8, bool type_is_named);

// Adds the attribute info message. Without it, HDF5 reports that the object has 0 attributes.
// `count` is the number of the object's attributes; the function adds nothing for 0. `order` has
// the same meaning as for ObjectHeader::start().
void add_attribute_info(ObjectHeader& to, std::uint64_t count, unsigned order = 0);

// The next functions add whole messages. Like ObjectHeader::end(), they return false if the message
// is too long.
[[nodiscard]] bool add_text_attribute(ObjectHeader& to, std::string_view name,
                                      std::string_view text, std::size_t bytes);
[[nodiscard]] bool add_number_attribute(ObjectHeader& to, std::string_view name, Type type,
                                        std::uint64_t count, std::span<const std::byte> values);
// Returns whether the text is valid UTF-8 but not 7-bit ASCII.
bool is_utf8_beyond_ascii(std::string_view text);

}  // namespace nmb
