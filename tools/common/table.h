// Table: rows as aligned columns on a terminal, separated by tabs elsewhere.
#pragma once

#include <string>
#include <vector>

#include "common/output.h"

namespace nmb::tools {

class Table {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };
  struct Column {
    std::string title;  // shown on a terminal only
    Align align = Align::kLeft;
  };
  // `out` must outlive it.
  Table(Output& out, std::vector<Column> columns);

  // Writes one row, which has a cell for each column; cells are made printable (nmb/text.h). The
  // first rows are kept in memory to determine the widths of the columns.
  Status row(std::vector<std::string> cells);
  // Writes the rows that are still in memory.
  Status finish();

 private:
  static constexpr std::size_t kHeldRows = 1000;
  Status put(const std::vector<std::string>& cells);

  Output& out_;
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> held_;
  bool holding_;
};

}  // namespace nmb::tools
