// The lexical rules of CDL: names, strings, constants.
#pragma once

#include <cstdint>
#include <string_view>

#include "dump/text_out.h"
#include "model/utf8_split.h"
#include "nmb/types.h"

namespace nmb {

// Writes a name, with backslashes before the characters to which CDL gives a meaning. `is_dataset`:
// it is the name after "netcdf", in which a brace cannot be escaped.
void put_cdl_name(TextOut& out, std::string_view name, bool is_dataset = false);

// A string in quotation marks, from bytes that arrive in portions.
class CdlString {
 public:
  // line_break: text to write after a line feed that is not the last byte, which closes and reopens
  // the quotation marks; empty: the string stays on its line. keep_nuls: NULs at the end are
  // written, too.
  CdlString(TextOut& out, std::string_view line_break, bool keep_nuls)
      : out_(out), line_break_(line_break), keep_nuls_(keep_nuls) {
    out_.put('"');
  }
  void add(std::string_view bytes);
  void close();

 private:
  void put(std::string_view character, bool valid);
  void put_pending();

  TextOut& out_;
  std::string_view line_break_;
  bool keep_nuls_;
  bool broken_ = false;     // the last character was a line feed
  std::uint64_t nuls_ = 0;  // NULs that were given but not written yet
  Utf8Splitter splitter_;
};

// Writes the value of an attribute so that the text shows its type ("1b", "2.f").
void put_cdl_constant(TextOut& out, Type type, const std::byte* value);

}  // namespace nmb
