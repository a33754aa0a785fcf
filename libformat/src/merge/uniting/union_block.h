// UnionBlock: the data of a block of an input that a union needs, whichever rank reads the input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "merge/reading/input_reader.h"
#include "merge/reading/reopened_source.h"
#include "merge/uniting/dataset_union.h"
#include "nmb/merge.h"
#include "nmb/netcdf_view.h"
#include "nmb/status.h"

namespace nmb {

// The facts about a block that do not need its classic form.
struct BlockFacts {
  std::optional<std::uint64_t> samples{};  // the samples that an NMB input has recorded
  // For a part of a set of files: how many files the set has, and whether they are of icebergs.
  std::optional<std::int64_t> set_size{};
  bool is_iceberg_set = false;
  // It comes from a process that had no icebergs, so its content does not count.
  bool has_no_icebergs = false;
};

BlockFacts facts_of(const InputBlock& block, const PackOptions& options);

struct UnionBlock {
  DatasetUnion::Member member;
  std::vector<std::uint32_t> levels{};  // by dimension, like those of ClassicForm
  std::vector<Loss> losses{};           // objects, and what is found in them
  std::vector<std::string> lost_fill_values{};
};

// Visits the classic form of a block whose file is open now. *room: how many bytes of its values
// may be kept, as for hold_small(). Errors: kDamaged, kLimit, kIo; the visit's failure.
Status visit_union_block(const InputBlock& block, const PackOptions& options,
                         std::shared_ptr<SourcePool> views, std::uint64_t* room,
                         const std::function<Status(const UnionBlock&)>& visit);

}  // namespace nmb
