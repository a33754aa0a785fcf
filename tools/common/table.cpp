// Tables (see table.h).
#include "common/table.h"

#include <algorithm>
#include <cassert>

#include "common/terminal.h"
#include "nmb/text.h"

namespace nmb::tools {

Table::Table(Output& out, std::vector<Column> columns)
    : out_(out), columns_(std::move(columns)), holding_(out.terminal()) {
  for (const Column& column : columns_) widths_.push_back(display_width(column.title));
}

Status Table::put(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    if (!out_.terminal()) {
      line += cells[i] + (last ? "" : "\t");
      continue;
    }
    const std::size_t width = display_width(cells[i]);
    const std::string padding(widths_[i] > width ? widths_[i] - width : 0, ' ');
    if (columns_[i].align == Align::kRight)
      line += padding + cells[i];
    else
      line += last ? cells[i] : cells[i] + padding;
    if (!last) line += "  ";
  }
  return out_.write(line + "\n");
}

Status Table::row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  if (!holding_) return put(cells);
  for (std::size_t i = 0; i < cells.size(); ++i)
    widths_[i] = std::max(widths_[i], display_width(cells[i]));
  held_.push_back(std::move(cells));
  return held_.size() < kHeldRows ? Status() : finish();
}

Status Table::finish() {
  if (!holding_) return {};
  holding_ = false;
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& column) { return !column.title.empty(); });
  if (titled && !held_.empty()) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    NMB_TRY(put(titles));
  }
  for (const auto& cells : held_) NMB_TRY(put(cells));
  held_.clear();
  return {};
}

}  // namespace nmb::tools
