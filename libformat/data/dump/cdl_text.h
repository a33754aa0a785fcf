// Writes names, strings and constants by the lexical rules of CDL.
#pragma once

#include <cstdint>
#include <string_view>

#include "dump/dump.h"
#include "dump/text_out.h"
#include "model/utf8_split.h"
#include "wire/kinds.h"

namespace nmb {

// Writes a name with backslashes before characters that have a meaning in CDL. is_dataset: whether
// this is the name after "netcdf", where ncgen does not read an escaped brace.
void put_cdl_name(TextOut& out, std::string_view name, CdlForm form, bool is_dataset = false);

// Writes a string in quotation marks from bytes that arrive in portions.
class CdlString {
 public:
  // line_break: text that closes the quotation marks and opens them again. It is written after each
  // line feed but, with kExact, not at the end. If it is empty, the string stays on one line.
  // keep_nuls: whether to write NULs at the end. With kNcdump, bytes that are not UTF-8 are written
  // unchanged.
  CdlString(TextOut& out, std::string_view line_break, bool keep_nuls,
            CdlForm form = CdlForm::kExact)
      : out_(out), line_break_(line_break), keep_nuls_(keep_nuls), form_(form) {
    out_.put('"');
  }
  void add(std::string_view bytes);
  void close();

 private:
  void put(std::string_view character, bool valid);
  void put_pending();
  void put_line_break();

  TextOut& out_;
  std::string_view line_break_;
  bool keep_nuls_;
  CdlForm form_;
  bool broken_ = false;     // the last character was a line feed
  std::uint64_t nuls_ = 0;  // NULs that were received but not yet written
  Utf8Splitter splitter_;
};

// Writes one value of an attribute as a constant that shows its type ("1b", "2.f").
void put_cdl_constant(TextOut& out, Type type, const std::byte* value,
                      CdlForm form = CdlForm::kExact);

// Writes one value of a compound or a list as ncdump does: only NaN and infinity show the type.
void put_ncdump_part(TextOut& out, Type type, const std::byte* value);

}  // namespace nmb
