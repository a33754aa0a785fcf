// DescribedBlock: the data that a union needs about a block, kept in memory. A DescribedBlock is
// used for inputs that another rank has read and for inputs that are already closed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "merge/uniting/union_block.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "values/array_source.h"

namespace nmb {

class DescribedBlock {
 public:
  struct Parts {
    std::vector<std::uint64_t> begins{};  // this and the next five fields: see DatasetUnion::Member
    std::uint64_t record_size = 0, records = 0;
    Source values{};
    std::optional<bool> has_default_fill{};
    bool is_record_unused = false;
    std::vector<DimId> growing{};          // see DatasetUnion::Member
    std::vector<std::string> empty{};      // see DatasetUnion::Member
    std::vector<std::uint64_t> same_as{};  // result of FirstValues: indexes of inputs
    std::vector<std::uint32_t> levels{};   // see UnionBlock
    std::vector<Loss> losses{};
    std::vector<std::string> lost_fill_values{};
    std::vector<ClassicView::Strings> strings{};  // see DatasetUnion::Member
  };

  DescribedBlock(const BlockFacts& facts, Status failure)
      : facts_(facts), failure_(std::move(failure)) {}
  DescribedBlock(const BlockFacts& facts, std::shared_ptr<const Metadata> metadata, Parts parts)
      : facts_(facts), metadata_(std::move(metadata)), parts_(std::move(parts)) {}

  const BlockFacts& facts() const { return facts_; }
  // Returns the reason why the block cannot be united.
  const Status& failure() const { return failure_; }
  const Metadata& metadata() const { return *metadata_; }
  const Parts& parts() const { return parts_; }
  // The result is valid as long as this object exists.
  UnionBlock block() const {
    UnionBlock block{{*metadata_,
                      parts_.begins,
                      parts_.record_size,
                      parts_.records,
                      parts_.values,
                      {},
                      parts_.has_default_fill,
                      parts_.is_record_unused,
                      parts_.growing,
                      parts_.empty}};
    block.member.strings = parts_.strings;
    block.levels = parts_.levels;
    block.losses = parts_.losses;
    block.lost_fill_values = parts_.lost_fill_values;
    return block;
  }

 private:
  const BlockFacts facts_;
  const Status failure_;
  const std::shared_ptr<const Metadata> metadata_;
  const Parts parts_;
};

}  // namespace nmb
