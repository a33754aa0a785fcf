#include "recover/current_index.h"

#include <algorithm>
#include <utility>

#include "index/entry_codec.h"
#include "wire/hash.h"

namespace nmb {

Result<CurrentIndex> CurrentIndex::read(const ByteSource& file, const Evidence& evidence) {
  CurrentIndex index(file, evidence);
  NMB_TRY(index.read_tree());
  NMB_TRY(index.read_other_leaves());
  std::ranges::stable_sort(index.entries_, {}, &BlockEntry::name);
  index.entries_.erase(
      std::unique(index.entries_.begin(), index.entries_.end(),
                  [](const BlockEntry& a, const BlockEntry& b) { return a.name == b.name; }),
      index.entries_.end());
  std::ranges::sort(index.spans_, {}, &Span::first);
  return index;
}

Status CurrentIndex::read_tree() {
  if (!evidence_.current()) return {};
  const Superblock& newest = *evidence_.current();
  is_whole_ = true;
  if (!newest.usable_root()) {
    spans_.push_back({});  // covers all names: there are no blocks
    return {};
  }
  PageExpectation expect =
      newest.expectation(PageUse::kIndex, static_cast<std::uint16_t>(newest.height - 1));
  expect.position = newest.root_position;
  expect.length = newest.root_length;
  return read_below(expect, {});
}

Status CurrentIndex::read_below(const PageExpectation& expect, Span span) {
  const Result<std::shared_ptr<const Page>> read = read_page(file_, expect);
  if (read.status().code() == Code::kIo) return read.status();
  const bool is_root = !expect.sum.has_value();
  if (!read.ok() || (is_root && digest_of((*read)->bytes()) != evidence_.newest->root_digest) ||
      !positions_.insert(expect.position).second) {
    is_whole_ = false;
    return {};
  }
  const Page& page = **read;
  if (page.level() == 0) {
    add_leaf(page, std::move(span));
    return {};
  }
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    Span part{std::max(span.first, std::string(page.name(row))), span.end};
    if (row + 1 < page.rows()) {
      std::string next(page.name(row + 1));
      if (!part.end || next < *part.end) part.end = std::move(next);
    }
    NMB_TRY(read_below(expected_child(*evidence_.newest, page, row), std::move(part)));
  }
  return {};
}

void CurrentIndex::add_leaf(const Page& leaf, Span span) {
  for (std::uint32_t row = 0; row < leaf.rows(); ++row) entries_.push_back(entry_at(leaf, row));
  spans_.push_back(std::move(span));
}

Status CurrentIndex::read_other_leaves() {
  for (const PageHeader* header : evidence_.pages_of(PageUse::kIndex)) {
    if (header->level != 0 || positions_.contains(header->position)) continue;
    if (evidence_.may_be_later || header->origin.generation != evidence_.generation) {
      older_.push_back(header);
      continue;
    }
    const Result<std::shared_ptr<const Page>> page = read_page(file_, header->expectation());
    if (page.status().code() == Code::kIo) return page.status();
    if (!page.ok()) continue;
    const std::string_view last = (*page)->name((*page)->rows() - 1);
    add_leaf(**page, {std::string((*page)->name(0)), std::string(last) + '\0'});
  }
  return {};
}

bool CurrentIndex::covers(std::string_view name) const {
  auto span = std::ranges::upper_bound(spans_, name, {}, &Span::first);
  if (span == spans_.begin()) return false;
  --span;
  return !span->end || name < *span->end;
}

const BlockEntry* CurrentIndex::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &BlockEntry::name);
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

Status CurrentIndex::for_each_older(const std::function<void(const BlockEntry&)>& visit) const {
  for (const PageHeader* header : older_) {
    const Result<std::shared_ptr<const Page>> page = read_page(file_, header->expectation());
    if (page.status().code() == Code::kIo) return page.status();
    if (!page.ok()) continue;
    for (std::uint32_t row = 0; row < (*page)->rows(); ++row) visit(entry_at(**page, row));
  }
  return {};
}

}  // namespace nmb
