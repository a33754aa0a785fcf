// Writes names, strings and constants by the lexical rules of CDL.
#pragma once

#include <cstdint>
#include <string_view>

#include "dump/text_out.h"
#include "model/utf8_split.h"
#include "nmb/types.h"

namespace nmb {

// Writes a name with backslashes before characters that have a meaning in CDL. `is_dataset` is set
// for the name after "netcdf", where a brace cannot be escaped.
void put_cdl_name(TextOut& out, std::string_view name, bool is_dataset = false);

// Writes a string in quotation marks from bytes that arrive in portions.
class CdlString {
 public:
  // `line_break` is the text to write after each line feed except one at the end: it closes and
  // reopens the quotation marks. If `line_break` is empty, the string stays on one line. With
  // `keep_nuls`, NULs at the end are written too.
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
  std::uint64_t nuls_ = 0;  // number of NULs received but not written yet
  Utf8Splitter splitter_;
};

// Writes one value of an attribute in a form that shows its type ("1b", "2.f").
void put_cdl_constant(TextOut& out, Type type, const std::byte* value);

}  // namespace nmb
