// OldPages reads the pages of a committed index that an update will replace, each identified by its
// path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/index_tree.h"
#include "page/page_sink.h"

namespace nmb {

// The path of an index page: 0, followed by the numbers of the rows on the way from the root to the
// page. The root has the path {0}, and its children have the paths {0, row}. The path {} stands for
// an imaginary node above the root. Within a level, paths have the order of names.
using PagePath = std::vector<std::uint32_t>;

inline PagePath parent_of(PagePath path) {
  if (!path.empty()) path.pop_back();
  return path;
}

// Holds the pages on one path. All functions return kUnsupported if a page on the path must not be
// changed.
class OldPages {
 public:
  explicit OldPages(const IndexTree& tree) : tree_(tree) {}

  // Returns the page with this path, which must not be {}.
  Result<std::shared_ptr<const Page>> at(const PagePath& path) {
    const auto same =
        static_cast<std::size_t>(std::ranges::mismatch(path, path_).in1 - path.begin());
    if (same < path.size()) {
      pages_.resize(same);
      path_.resize(same);
      while (pages_.size() < path.size()) {
        NMB_ASSIGN(
            std::shared_ptr<const Page> page,
            pages_.empty() ? tree_.root() : tree_.child(*pages_.back(), path[pages_.size()]));
        NMB_TRY(check_may_change(*page, tree_.file()));
        path_.push_back(path[pages_.size()]);
        pages_.push_back(std::move(page));
      }
    }
    return pages_[path.size() - 1];
  }

  // Returns the separator that a page has in its parent.
  Result<std::string> separator_of(const PagePath& path) {
    if (path.size() < 2) return std::string();
    NMB_ASSIGN(const std::shared_ptr<const Page> parent, at(parent_of(path)));
    return std::string(parent->name(path.back()));
  }

  // Returns the path of the leaf to which `name` belongs. Reads only nodes. Sets *end to the
  // separator of the next leaf, or to nullopt if there is none.
  Result<PagePath> leaf_of(std::string_view name, std::optional<std::string>* end) {
    PagePath path{0};
    end->reset();
    while (path.size() < tree_.height()) {
      NMB_ASSIGN(const std::shared_ptr<const Page> node, at(path));
      const std::uint32_t row = child_row_for(*node, name);
      if (row + 1 < node->rows() && (!*end || node->name(row + 1) < **end))
        *end = node->name(row + 1);
      path.push_back(row);
    }
    return path;
  }

 private:
  const IndexTree& tree_;
  PagePath path_;
  std::vector<std::shared_ptr<const Page>> pages_;
};

}  // namespace nmb
