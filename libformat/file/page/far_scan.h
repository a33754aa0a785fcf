// Visits the leaves of a tree of pages on slow storage. Reads all needed nodes of a level together,
// and leaves in large batches.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "files/far_source.h"
#include "page/page.h"

namespace nmb {

// Visits leaves in order. rows(node) returns the range of rows whose children are needed.
// load(node, row) returns the child to which a row refers. visit(leaf) returns false to end the
// scan. Memory: the nodes of one level.
template <class Rows, class Load, class Visit>
Status scan_far(const FarSource& file, const std::shared_ptr<const Page>& root, Rows rows,
                Load load, Visit visit) {
  if (root->level() == 0) return visit(root).status();
  struct Child {
    const Page* node;
    std::uint32_t row;
    ByteRange range() const {
      const std::uint64_t begin = node->value(row, kPosition);
      const std::uint64_t length = node->value(row, kStoredLength);
      return {begin, length > ~begin ? begin : begin + length};
    }
  };
  std::vector<std::shared_ptr<const Page>> nodes{root}, below;
  for (;;) {
    std::vector<Child> children;
    for (const auto& node : nodes) {
      const auto [first, end] = rows(*node);
      for (std::uint32_t row = first; row < end; ++row) children.push_back({node.get(), row});
    }
    const bool leaves = nodes.front()->level() == 1;
    below.clear();
    for (std::size_t i = 0; i < children.size();) {
      std::vector<ByteRange> batch;
      std::uint64_t bytes = 0;
      for (; i + batch.size() < children.size() && bytes < FarSource::kBatch;
           bytes += batch.back().length())
        batch.push_back(children[i + batch.size()].range());
      NMB_TRY(file.fetch(batch));
      for (const std::size_t end = i + batch.size(); i < end; ++i) {
        NMB_ASSIGN(std::shared_ptr<const Page> page, load(*children[i].node, children[i].row));
        if (!leaves) {
          below.push_back(std::move(page));
          continue;
        }
        NMB_ASSIGN(const bool more, visit(page));
        if (!more) return {};
      }
    }
    if (leaves || below.empty()) return {};
    nodes = std::move(below);
  }
}

}  // namespace nmb
