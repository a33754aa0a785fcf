// Rows of values as CDL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dump/cdl_text.h"
#include "dump/extended_text.h"
#include "nmb/metadata.h"

namespace nmb {

class CdlRows {
 public:
  struct Style {
    std::string_view indent;       // in front of each row
    std::size_t first_column = 0;  // where the first row begins
    std::size_t line_length = 0;   // longer rows continue on the next line; 0: never
    bool keep_nuls = false;        // at the end of text, though they are its fill value
  };
  CdlRows(TextOut& out, const Metadata& metadata, VarId variable, const ValueArray& array,
          const Style& style);

  void begin(std::uint64_t row);
  void text(std::string_view bytes) { string_->add(bytes); }
  void value(const std::byte* external);
  void end(std::uint64_t row);
  // Ends what was written where no more can be read; nothing where no row has begun.
  void cut();
  // A value of variable length that could not be read: nothing of it and of what follows is
  // written.
  const Status& status() const { return status_; }

 private:
  TextOut& out_;
  Type type_;
  std::vector<std::byte> fill_;  // external; empty: no value is `_`
  Style style_;
  std::size_t column_ = 0;
  bool first_in_row_ = true, any_ = false;
  std::optional<CdlString> string_;
  std::optional<WholeValues> extended_;  // of a block's own types
  Status status_;
};

}  // namespace nmb
