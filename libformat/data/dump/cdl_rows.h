// CdlRows writes rows of values as CDL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dump/cdl_text.h"
#include "dump/extended_text.h"
#include "model/metadata.h"

namespace nmb {

class CdlRows {
 public:
  struct Style {
    std::string_view indent;       // text before each row
    std::size_t first_column = 0;  // column at which the first row begins
    std::size_t line_length = 0;   // maximum number of columns in a line; 0 means no limit
    bool keep_nuls = false;  // whether to write NULs at the end of a text although NUL is the fill
                             // value
  };
  CdlRows(TextOut& out, const Metadata& metadata, VarId variable, const ValueArray& array,
          const Style& style);

  void begin(std::uint64_t row);
  void text(std::string_view bytes) { string_->add(bytes); }
  void value(const std::byte* external);
  void end(std::uint64_t row);
  // Completes the text after a value that could not be read. Does nothing if no row was begun.
  void cut();
  // Returns the failure to read a value of variable length. This value and those after it are not
  // written.
  const Status& status() const { return status_; }

 private:
  TextOut& out_;
  Type type_;
  std::vector<std::byte> fill_;  // fill value in external form, written as `_`; empty if not set
  Style style_;
  std::size_t column_ = 0;
  bool first_in_row_ = true, any_ = false;
  std::optional<CdlString> string_;
  std::optional<WholeValues> extended_;  // writes values of types that the block defines
  Status status_;
};

}  // namespace nmb
