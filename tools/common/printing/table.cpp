#include "common/printing/table.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/printing/terminal.h"
#include "model/text.h"

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
  if (!holding_) {
    shorten_bar(cells.back());
    return put(cells);
  }
  for (std::size_t i = 0; i < cells.size(); ++i)
    widths_[i] = std::max(widths_[i], display_width(cells[i]));
  held_.push_back(std::move(cells));
  return held_.size() < kHeldRows ? Status() : finish();
}

void Table::fit_bars() {
  if (columns_.back().align != Align::kBar) return;
  constexpr std::size_t kShortest = 10;
  std::size_t others = 2 * (columns_.size() - 1);
  for (std::size_t i = 0; i + 1 < columns_.size(); ++i) others += widths_[i];
  const std::size_t screen = terminal_width();
  const std::size_t room = std::max(kShortest, screen - std::min(screen, others));
  std::size_t longest = 1;
  for (const auto& cells : held_) longest = std::max(longest, cells.back().size());
  bar_scale_ = static_cast<double>(room) / static_cast<double>(longest);
}

void Table::shorten_bar(std::string& bar) const {
  if (bar_scale_ < 1)
    bar.resize(static_cast<std::size_t>(std::ceil(bar_scale_ * static_cast<double>(bar.size()))));
}

Status Table::finish() {
  if (!holding_) return {};
  holding_ = false;
  fit_bars();
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& column) { return !column.title.empty(); });
  if (titled && !held_.empty()) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    NMB_TRY(put(titles));
  }
  for (auto& cells : held_) {
    shorten_bar(cells.back());
    NMB_TRY(put(cells));
  }
  held_.clear();
  return {};
}

}  // namespace nmb::tools
