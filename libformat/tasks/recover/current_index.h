// CurrentIndex: what the undamaged pages of the index say about the blocks of the newest
// generation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "page/page.h"
#include "recover/evidence.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// A page belongs to the newest generation if the newest superblock leads to it through undamaged
// pages, or if the newest generation wrote it.
class CurrentIndex {
 public:
  // Errors: kIo.
  static Result<CurrentIndex> read(const ByteSource& file, const Evidence& evidence);

  // Returns whether an undamaged page covers the name, and so shows whether a block has this name.
  bool covers(std::string_view name) const;
  // Returns the block's entry, or nullptr if no page has one.
  const BlockEntry* find(std::string_view name) const;
  // Returns all entries, sorted by name.
  const std::vector<BlockEntry>& entries() const { return entries_; }
  // Returns whether all pages of the index could be read.
  bool is_whole() const { return is_whole_; }
  // Visits the entries of pages that may not belong to the newest generation. Errors: kIo.
  Status for_each_older(const std::function<void(const BlockEntry&)>& visit) const;

 private:
  // All names from `first` on that are less than `end`; nullopt means no upper bound.
  struct Span {
    std::string first;
    std::optional<std::string> end;
  };
  CurrentIndex(const ByteSource& file, const Evidence& evidence)
      : file_(file), evidence_(evidence) {}
  Status read_tree();
  // Reads a page and everything below it. The page covers `span`.
  Status read_below(const PageExpectation& expect, Span span);
  void add_leaf(const Page& leaf, Span span);
  Status read_other_leaves();

  const ByteSource& file_;
  const Evidence& evidence_;
  std::vector<BlockEntry> entries_;
  std::vector<Span> spans_;                      // sorted by their first names
  std::unordered_set<std::uint64_t> positions_;  // positions of pages that were read
  std::vector<const PageHeader*> older_;
  bool is_whole_ = false;
};

}  // namespace nmb
