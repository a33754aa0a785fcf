// ExtendedText writes, as text, values of types that a block defines (spec/format.md, section
// 15.1). In a CDL text, values for which CDL has no form are written as in JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/text_out.h"
#include "nmb/bytes.h"
#include "nmb/dump.h"
#include "nmb/extension.h"

namespace nmb {

class ExtendedText {
 public:
  // `region` holds the bytes of values of variable length. If there are no such values, `region` is
  // nullptr.
  ExtendedText(TextOut& out, const TypeTable& types, const ByteSource* region, ValueFormat format)
      : out_(out), types_(types), region_(region), format_(format) {}

  // Writes one value. Errors: kDamaged (R-XV-1) if the value refers to bytes outside the region.
  Status put(Type type, const std::byte* value);

 private:
  Status put_list(Type base, const std::byte* values, std::uint64_t count);
  void put_number(Type classic, const std::byte* value, bool swapped, std::size_t size);
  void put_text(std::span<const std::byte> text);
  void put_bits(std::span<const std::byte> bytes);
  // Returns the bytes of a `value` of variable length. `size` is the number of bytes of one
  // element.
  Result<std::vector<std::byte>> content(const std::byte* value, std::uint64_t size,
                                         std::uint64_t* count) const;

  TextOut& out_;
  const TypeTable& types_;
  const ByteSource* const region_;
  const ValueFormat format_;
};

// Formats values like ExtendedText, but gives no text for a value that could not be read
// completely.
class WholeValues {
 public:
  WholeValues(const TypeTable& types, const ByteSource* region, ValueFormat format)
      : written_(out_), value_(written_, types, region, format) {}
  WholeValues(const WholeValues&) = delete;
  WholeValues& operator=(const WholeValues&) = delete;

  // Formats one value like ExtendedText::put(). After this, text() returns the text.
  Status read(Type type, const std::byte* value) {
    text_.clear();
    NMB_TRY(value_.put(type, value));
    return written_.finish();
  }
  std::string_view text() const { return text_; }

 private:
  std::string text_;
  const TextSink out_ = [this](std::string_view part) {
    text_ += part;
    return Status();
  };
  TextOut written_;
  ExtendedText value_;
};

// Writes the values of an attribute, separated by commas. The block defines the attribute's type.
Status put_extended_attribute(TextOut& out, const TypeTable& types, const Attribute& attribute,
                              ValueFormat format);

}  // namespace nmb
