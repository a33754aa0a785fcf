// Writes strings and numbers by the lexical rules of JSON. Strings may contain any bytes.
#pragma once

#include <string_view>

#include "dump/text_out.h"
#include "model/utf8_split.h"
#include "wire/kinds.h"

namespace nmb {

// Writes a string from bytes that arrive in portions. write_json_header() explains the form of
// bytes that are not UTF-8.
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

// Writes a value of a numeric type.
void put_json_number(TextOut& out, Type type, const std::byte* value);

}  // namespace nmb
