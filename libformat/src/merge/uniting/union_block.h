// UnionBlock: what a union takes of a block of an input, whichever rank reads the input.
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

// What is known of a block without its classic form.
struct BlockFacts {
  std::optional<std::uint64_t> samples{};  // that an NMB input has recorded
  // Of a part of a set of files: how many files the set has, and whether they are of icebergs.
  std::optional<std::int64_t> set_size{};
  bool is_iceberg_set = false;
  // It is of a process that had no icebergs: what it says of them is of no use.
  bool has_no_icebergs = false;
};

BlockFacts facts_of(const InputBlock& block, const PackOptions& options);

struct UnionBlock {
  DatasetUnion::Member member;
  std::vector<std::uint32_t> levels{};  // by dimension, as ClassicForm has them
  std::vector<Loss> losses{};           // objects, and what is found of them
  std::vector<std::string> lost_fill_values{};
};

// Visits the classic form of a block, whose file is open now. *room: bytes of its values that may
// be held, as for hold_small(). kDamaged, kLimit, kIo; the visit's failure.
Status visit_union_block(const InputBlock& block, const PackOptions& options,
                         std::shared_ptr<SourcePool> views, std::uint64_t* room,
                         const std::function<Status(const UnionBlock&)>& visit);

}  // namespace nmb
