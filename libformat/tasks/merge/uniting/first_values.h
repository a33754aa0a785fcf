// FirstValues: each rank compares the values of an input with those of the first input in which it
// read the variable, while the input is open. So rank 0, which unites the inputs, need not
// read the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merge/reporting/merge.h"
#include "merge/uniting/dataset_union.h"
#include "sources/value_source.h"
#include "wire/kinds.h"

namespace nmb {

class FirstValues {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  explicit FirstValues(const PackOptions& options) : options_(options) {}

  // Returns for each variable an earlier input that has the same values, type and shape, or kNone.
  // The result is also kNone if rank 0 needs no comparison or has the values in memory.
  std::vector<std::uint64_t> same_as(const std::string& block, std::size_t input,
                                     const DatasetUnion::Member& member);

 private:
  struct First {
    std::size_t input;
    Type type;
    std::vector<std::pair<std::string, std::uint64_t>> shape;
    Source values;
    std::uint64_t begin, step;
  };

  bool is_compared(const DatasetUnion::Member& member, VarId variable) const;

  const PackOptions& options_;
  std::map<std::pair<std::string, std::string>, First> firsts_;  // first values, by the names of
                                                                 // the block and the variable
};

}  // namespace nmb
