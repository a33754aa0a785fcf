// ValuePairs: compares values of variables of two files on several threads (compare/compare.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compare/compare.h"
#include "compare/content_blocks.h"
#include "compare/content_values.h"
#include "compare/dataset_content.h"
#include "compare/different_values.h"
#include "compare/element_selection.h"
#include "compare/value_jobs.h"

namespace nmb {

// A variable of a block, which must outlive the object.
struct ContentVariable {
  DatasetContent* block = nullptr;
  std::size_t number = 0;
};

// A box of an array: the first index and the number of indexes of each dimension.
struct ElementBox {
  std::vector<std::uint64_t> first, count;
  bool operator==(const ElementBox&) const = default;
};

// The place in the second variable of elements of the first one.
struct ValuePlace {
  std::vector<IndexRuns> from;  // for each dimension: the selected indexes of the first variable
  ElementBox to;                // in the second variable
};

// Two variables, or a value and a variable.
struct ValuePair {
  ContentVariable first{}, second{};
  // If set, each element of the second variable must have this canonical value. `first` is not
  // used.
  std::optional<std::vector<std::byte>> constant{};
  // If nullopt, the variables have the same shape, and all elements are compared.
  std::optional<ValuePlace> place{};
  // Appends the values that the second variable must have for canonical values of the first one. If
  // unset, these are the same.
  std::function<void(std::span<const std::byte> values, std::vector<std::byte>* out)> convert{};
  std::vector<ElementBox> ignored{};  // boxes of the second variable that are not compared
};

class ValuePairs {
 public:
  // file_size: the number of bytes of the larger file. `options` must outlive the object.
  ValuePairs(std::uint64_t file_size, const ComparisonOptions& options)
      : options_(options), budget_(file_size) {
    renew_caches();
  }

  // Errors: kDamaged, kUnsupported, kLimit. The message names the variable.
  Status add(ValuePair pair);
  std::size_t size() const { return pairs_.size(); }
  const ValuePair& pair(std::size_t number) const { return pairs_[number].pair; }
  // Compares all pairs that were added. Errors: those of ContentValues. The message names the
  // block.
  Status compare();
  // Returns the differences of a pair; indexes are those of the second variable. Call this after
  // compare().
  Result<ComparedVariable> result(std::size_t number) const;
  void clear();

 private:
  struct AddedPair {
    ValuePair pair;
    ContentValues::Extent extent{};
    ValueRule rule{};
    std::optional<ElementSelection> from{}, to{};
    // Opened in advance if several jobs need them.
    std::shared_ptr<const ContentValues> first{}, second{};
    // The number of the first pair whose jobs take turns with those of this one.
    std::size_t group = 0;
    std::optional<DifferentValues> found{};  // set if values differ
  };
  struct Buffers {
    std::vector<std::byte> first, second, unconverted, scratch;
  };

  void renew_caches();
  Status choose_elements(AddedPair* added);
  Status set_rule(AddedPair* added) const;
  Status divide_records(AddedPair* added);
  Status open(AddedPair& added, std::shared_ptr<const ContentValues>* first,
              std::shared_ptr<const ContentValues>* second) const;
  Status compare_windows(const ValueJob& job, AddedPair* added, Buffers* buffers);
  static Status compare_fixed(const AddedPair& added, const ContentValues* first,
                              const ContentValues& second, std::uint64_t begin, std::uint64_t count,
                              Buffers* buffers, DifferentValues* found);
  static Status compare_elements(const AddedPair& added, const ContentValues* first,
                                 const ContentValues& second, std::uint64_t begin,
                                 std::uint64_t count, DifferentValues* found);

  const ComparisonOptions& options_;
  ValueBudget budget_;
  std::deque<AddedPair> pairs_;  // a deque, because DifferentValues refer to the rules
  std::vector<ValueJob> jobs_;
  // The block to which the last pair with records belongs, and the first such pair of this block.
  const DatasetContent* block_with_records_ = nullptr;
  std::size_t first_with_records_ = 0;
  std::shared_ptr<ChunkCache> first_cache_, second_cache_;
  std::mutex found_mutex_;
};

}  // namespace nmb
