// LinkList keeps the names and targets of the links in an HDF5 group. The links stay in the order
// in which they were added, unless arrange() changes this order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/extension.h"

namespace nmb {

// The numbers that the HDF5 file format gives to the kinds of links. User-defined kinds have the
// numbers 65 to 255.
enum HeaderLink : std::uint8_t { kHardLink = 0, kSoftLink = 1, kExternalLink = 64 };

class LinkList {
 public:
  void add(std::string_view name, std::uint64_t address,
           std::optional<CharacterSet> characters = {}) {
    links_.push_back({names_.size(), name.size(), address, 0, kHardLink, characters});
    names_ += name;
  }
  // Adds a link that is not hard. `content` is the data of the link.
  void add(std::string_view name, std::uint8_t kind, std::string_view content,
           CharacterSet characters) {
    links_.push_back({names_.size(), name.size(), 0, content.size(), kind, characters});
    names_ += name;
    names_ += content;
  }
  struct Name {
    std::string name;
    CharacterSet characters = CharacterSet::kAscii;
  };
  // Moves the links with the given names to the front, in the order of `names`, and sets their
  // character sets. Returns the given names that no link has.
  std::vector<std::string> arrange(const std::vector<Name>& names) {
    std::unordered_map<std::string_view, std::size_t> places;
    std::vector<CharacterSet> characters;
    for (const Name& name : names)
      if (places.emplace(name.name, characters.size()).second)
        characters.push_back(name.characters);
    std::vector<bool> found(places.size());
    const auto place_of = [&](const Link& link) {
      const auto at = places.find(std::string_view(names_).substr(link.name, link.length));
      return at == places.end() ? places.size() : at->second;
    };
    std::ranges::stable_sort(links_, {}, place_of);
    for (Link& link : links_)
      if (const std::size_t place = place_of(link); place < found.size()) {
        found[place] = true;
        link.characters = characters[place];
      }
    std::vector<std::string> missing;
    for (const Name& name : names)
      if (!found[places.at(name.name)]) missing.push_back(name.name);
    return missing;
  }
  // Removes links that are not hard. Returns their names.
  std::vector<std::string> keep_hard() {
    std::vector<std::string> removed;
    std::erase_if(links_, [&](const Link& link) {
      if (link.kind == kHardLink) return false;
      removed.emplace_back(names_.substr(link.name, link.length));
      return true;
    });
    return removed;
  }
  std::size_t size() const { return links_.size(); }
  std::string_view name(std::size_t i) const {
    return std::string_view(names_).substr(links_[i].name, links_[i].length);
  }
  std::uint64_t address(std::size_t i) const { return links_[i].address; }
  std::uint8_t kind(std::size_t i) const { return links_[i].kind; }
  std::string_view content(std::size_t i) const {
    return std::string_view(names_).substr(links_[i].name + links_[i].length, links_[i].content);
  }
  // Returns nullopt if no character set was given. Then the name decides: a name that is valid
  // UTF-8 and not ASCII gets UTF-8.
  std::optional<CharacterSet> characters(std::size_t i) const { return links_[i].characters; }
  bool are_all_hard() const {
    return std::ranges::all_of(links_, [](const Link& link) { return link.kind == kHardLink; });
  }

 private:
  struct Link {
    std::size_t name, length;
    std::uint64_t address;
    std::size_t content;
    std::uint8_t kind;
    std::optional<CharacterSet> characters;
  };
  std::vector<Link> links_;
  std::string names_;  // for each link: its name, then its content
};

}  // namespace nmb
