// InputOriginals: the originals inside an NMB input (spec/files.md, section 10.3). Each original
// is stored together with the block that was made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "merge/reading/input_links.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb {

class InputOriginals {
 public:
  InputOriginals() = default;  // no originals
  // chosen: for each block whether it is chosen; empty if all blocks are chosen. opens: whether the
  // output stores originals. An original is dropped if some of the blocks at and below its block
  // are not chosen. Errors: kDamaged, kIo.
  // lost: names of blocks whose originals are lost.
  static Result<InputOriginals> find(const FileReader& reader, const std::vector<bool>& chosen,
                                     bool opens, const std::set<std::string>& lost);

  // Returns the originals of a block and removes them. order: BlockEntry::order of the block.
  std::vector<InputOriginal> take(std::uint64_t order);
  // Returns whether an original has a block in the input. An original without a block is dead.
  // number: its file number.
  bool has_block(std::uint32_t number) const { return with_block_.contains(number); }
  // Returns whether the output keeps the original with the file from which a block was made;
  // nullopt if the input has no such original.
  std::optional<bool> keeps_file_of(const BlockEntry& block) const;
  // Returns the file numbers of the originals that have a block and were not dropped.
  const std::set<std::uint32_t>& kept() const { return kept_; }
  // Returns the number of originals whose block is chosen.
  std::uint64_t chosen() const { return chosen_; }
  // Returns the number of dropped originals of which some blocks are chosen.
  std::uint64_t parted() const { return parted_; }

 private:
  std::multimap<std::uint64_t, InputOriginal> originals_;  // by the order of their blocks
  // By the name of their block: the order of the block, and whether the output keeps the originals.
  struct OriginalUse {
    std::uint64_t order = 0;
    bool is_kept = false;
  };
  std::map<std::string, OriginalUse, std::less<>> kept_by_block_;
  std::set<std::uint32_t> with_block_, kept_;
  std::uint64_t chosen_ = 0, parted_ = 0;
};

}  // namespace nmb
