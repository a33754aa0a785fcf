// JsonRows writes rows of values as nested JSON arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dump/extended_text.h"
#include "dump/json_text.h"
#include "model/metadata.h"
#include "model/values.h"

namespace nmb {

class JsonRows {
 public:
  JsonRows(TextOut& out, const Metadata& metadata, const ValueArray& array, const Hyperslab& slab);

  void begin(std::uint64_t row);
  void text(std::string_view bytes) { string_->add(bytes); }
  void value(const std::byte* external);
  void end(std::uint64_t row);
  // Closes all open arrays, so that the text is valid JSON. Does nothing if no row was begun.
  void cut();
  // Returns the failure to read a value of variable length. This value and those after it are not
  // written.
  const Status& status() const { return status_; }

 private:
  TextOut& out_;
  Type type_;
  bool is_scalar_;
  std::vector<std::uint64_t>
      rows_in_;  // for each dimension except the last one: number of rows in one JSON array
  bool first_in_row_ = true, in_row_ = false;
  std::uint64_t rows_ = 0;  // number of rows that were begun
  std::optional<JsonString> string_;
  std::optional<WholeValues> extended_;  // writes values of types that the block defines
  Status status_;
};

}  // namespace nmb
