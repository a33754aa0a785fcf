// ExtendedText writes values of block-defined types as text (spec/extended.md, section 15.1).
// Values for which CDL has no form are written as in JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump.h"
#include "dump/text_out.h"
#include "model/extension.h"
#include "wire/bytes.h"

namespace nmb {

class ExtendedText {
 public:
  // region: the bytes to which values of variable length refer; nullptr if there are no such
  // values.
  ExtendedText(TextOut& out, const TypeTable& types, const ByteSource* region, ValueFormat format,
               CdlForm form = CdlForm::kExact)
      : out_(out),
        types_(types),
        region_(region),
        left_(region ? region->size() : 0),
        format_(format),
        form_(form) {}

  // Writes one value. Each value of the region may be written once. Errors: kDamaged (R-XV-1,
  // R-XV-2).
  Status put(Type type, const std::byte* value);

 private:
  bool is_ncdump() const { return format_ == ValueFormat::kCdl && form_ == CdlForm::kNcdump; }
  Status put_list(Type base, const std::byte* values, std::uint64_t count);
  // Writes characters as texts of `length` bytes.
  Status put_texts(std::span<const std::byte> characters, std::uint64_t length);
  void put_number(Type classic, const std::byte* value, bool swapped, std::size_t size);
  void put_text(std::span<const std::byte> text);
  void put_bits(std::span<const std::byte> bytes);
  // Returns the bytes to which a value of variable length refers. size: number of bytes of one
  // element.
  Result<std::vector<std::byte>> content(const std::byte* value, std::uint64_t size,
                                         std::uint64_t* count);

  TextOut& out_;
  const TypeTable& types_;
  const ByteSource* const region_;
  std::uint64_t left_;  // bytes to which the next values may refer (R-XV-2)
  const ValueFormat format_;
  const CdlForm form_;  // of CDL
  int depth_ = 0;       // number of compounds and lists around the value
};

// Formats values like ExtendedText, but gives no text for a value that cannot be read completely.
class WholeValues {
 public:
  WholeValues(const TypeTable& types, const ByteSource* region, ValueFormat format)
      : written_(out_), value_(written_, types, region, format) {}
  WholeValues(const WholeValues&) = delete;
  WholeValues& operator=(const WholeValues&) = delete;

  // Formats one value as ExtendedText::put() does; text() then returns its text.
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

// Writes the values of an attribute whose type the block defines, separated by commas.
Status put_extended_attribute(TextOut& out, const TypeTable& types, const Attribute& attribute,
                              ValueFormat format, CdlForm form = CdlForm::kExact);

}  // namespace nmb
