// Rows of values as nested JSON arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dump/extended_text.h"
#include "dump/json_text.h"
#include "nmb/metadata.h"
#include "nmb/values.h"

namespace nmb {

class JsonRows {
 public:
  JsonRows(TextOut& out, const Metadata& metadata, const ValueArray& array, const Hyperslab& slab);

  void begin(std::uint64_t row);
  void text(std::string_view bytes) { string_->add(bytes); }
  void value(const std::byte* external);
  void end(std::uint64_t row);
  // Closes what is open, so that what was written is JSON; nothing where no row has begun.
  void cut();
  // A value of variable length that could not be read: nothing of it and of what follows is
  // written.
  const Status& status() const { return status_; }

 private:
  TextOut& out_;
  Type type_;
  bool is_scalar_;
  std::vector<std::uint64_t> rows_in_;  // rows in one array of each dimension but the last
  bool first_in_row_ = true, in_row_ = false;
  std::uint64_t rows_ = 0;  // begun
  std::optional<JsonString> string_;
  std::optional<WholeValues> extended_;  // of a block's own types
  Status status_;
};

}  // namespace nmb
