// Table: writes rows with aligned columns on a terminal, and with columns separated by tabs
// elsewhere.
#pragma once

#include <string>
#include <vector>

#include "common/printing/output.h"

namespace nmb::tools {

class Table {
 public:
  // kBar: the last column may have bars of "#". If the terminal is too narrow for the longest bar,
  // all bars are shortened in proportion.
  enum class Align : std::uint8_t { kLeft, kRight, kBar };
  struct Column {
    std::string title;  // shown on a terminal only
    Align align = Align::kLeft;
  };
  // `out` must outlive the table.
  Table(Output& out, std::vector<Column> columns);

  // Writes one row, which has one cell for each column. Cells are made printable (model/text.h). On
  // a terminal, the first rows are kept in memory to determine the widths of the columns.
  Status row(std::vector<std::string> cells);
  // Writes the rows that are still in memory.
  Status finish();

 private:
  static constexpr std::size_t kHeldRows = 1000;
  Status put(const std::vector<std::string>& cells);
  void fit_bars();
  void shorten_bar(std::string& bar) const;

  Output& out_;
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> held_;
  double bar_scale_ = 1;
  bool holding_;
};

}  // namespace nmb::tools
