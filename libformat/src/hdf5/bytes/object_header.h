// ObjectHeader builds an HDF5 object header of version 2, message by message, in one chunk
// (spec/hdf5_view.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hdf5/bytes/hdf5_bytes.h"
#include "nmb/types.h"

namespace nmb {

// The numbers of header messages in the HDF5 file format.
enum class HeaderMessage : std::uint8_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kFillValue = 0x05,
  kLink = 0x06,
  kLayout = 0x08,
  kGroupInfo = 0x0A,
  kAttribute = 0x0C,
  kSymbolTable = 0x11,
  kTreeRanks = 0x13,
  // A number that HDF5 does not use. HDF5 does not open a file for writing if it does not know this
  // message.
  kReadOnly = 0xE0,
};

class ObjectHeader {
 public:
  ObjectHeader() { start(); }
  // Starts an empty header.
  void start();
  // Begins a message. Append the message's contents to bytes() before end() is called.
  void begin(HeaderMessage type, unsigned flags = 0);
  // Ends a message. Returns false if the message is longer than 65,535 bytes, the most that HDF5
  // allows.
  [[nodiscard]] bool end();
  Hdf5Bytes& bytes() { return bytes_; }
  // Returns the complete header. Call start() before the next header.
  std::span<const std::byte> finish();

 private:
  static constexpr std::size_t kPrefix = 10, kMessagePrefix = 4;
  Hdf5Bytes bytes_;
  std::size_t message_ = 0;
};

// The next functions write parts of messages.
void put_scalar_space(Hdf5Bytes& out);
void put_null_space(Hdf5Bytes& out);
void put_simple_space(Hdf5Bytes& out, std::span<const std::uint64_t> lengths, bool grows = false);
void put_text_type(Hdf5Bytes& out, std::uint64_t bytes);
// Writes the datatype of a number in external form, or of one character.
void put_type(Hdf5Bytes& out, Type type);
void put_int32_type(Hdf5Bytes& out);           // little-endian
void put_reference_list_type(Hdf5Bytes& out);  // sequences of references to objects
// Writes the beginning of an attribute message, before its type, space and values. `type_bytes` and
// `space_bytes` are the lengths of the encoded type and space.
void put_attribute_prefix(Hdf5Bytes& out, std::string_view name, std::size_t type_bytes,
                          std::size_t space_bytes);

// The next functions add whole messages. The functions return false if the message is too long,
// like ObjectHeader::end().
[[nodiscard]] bool add_text_attribute(ObjectHeader& to, std::string_view name,
                                      std::string_view text, std::size_t bytes);
[[nodiscard]] bool add_number_attribute(ObjectHeader& to, std::string_view name, Type type,
                                        std::uint64_t count, std::span<const std::byte> values);
// Returns whether the text is valid UTF-8 but not 7-bit ASCII.
bool is_utf8_beyond_ascii(std::string_view text);

}  // namespace nmb
