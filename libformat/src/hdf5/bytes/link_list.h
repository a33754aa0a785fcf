// LinkList keeps the names and addresses of the objects in an HDF5 group. The objects stay in the
// order in which they were added.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nmb {

class LinkList {
 public:
  void add(std::string_view name, std::uint64_t address) {
    links_.push_back({names_.size(), name.size(), address});
    names_ += name;
  }
  std::size_t size() const { return links_.size(); }
  std::string_view name(std::size_t i) const {
    return std::string_view(names_).substr(links_[i].name, links_[i].length);
  }
  std::uint64_t address(std::size_t i) const { return links_[i].address; }

 private:
  struct Link {
    std::size_t name, length;
    std::uint64_t address;
  };
  std::vector<Link> links_;
  std::string names_;
};

}  // namespace nmb
