// The lexical rules of JSON as NMB writes it: strings of any bytes, numbers.
#pragma once

#include <string_view>

#include "dump/text_out.h"
#include "model/utf8_split.h"
#include "nmb/types.h"

namespace nmb {

// A string, from bytes that arrive in portions. For bytes that are not UTF-8 see write_json_header.
class JsonString {
 public:
  explicit JsonString(TextOut& out) : out_(out) { out_.put('"'); }
  void add(std::string_view bytes);
  void close();

 private:
  void put(std::string_view character, bool valid);

  TextOut& out_;
  Utf8Splitter splitter_;
};

void put_json_string(TextOut& out, std::string_view text);

// Writes a value that is not text.
void put_json_number(TextOut& out, Type type, const std::byte* value);

}  // namespace nmb
