// Compares two files (see compare/compare.h).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <utility>

#include "compare/compare.h"
#include "compare/compare_definitions.h"
#include "compare/content_blocks.h"
#include "compare/value_pairs.h"

namespace nmb {

namespace {

// Two blocks of the same name. The first `done` of the common variables have been visited.
struct ContentPair {
  DatasetContent first, second;
  std::vector<DefinitionDifference> definitions{};
  std::vector<CommonVariable> common{};
  std::size_t done = 0;
};

// Compares pairs of blocks. Reads the values of many variables together.
class ContentComparer {
 public:
  // file_size: the number of bytes of the larger file.
  ContentComparer(std::uint64_t file_size, const ComparisonOptions& options,
                  const ComparisonVisitor& visitor)
      : options_(options), visitor_(visitor), values_(file_size, options) {}

  Status add(DatasetContent first, DatasetContent second) {
    ContentPair& pair = pairs_.emplace_back(ContentPair{std::move(first), std::move(second)});
    Result<std::vector<CommonVariable>> common =
        compare_definitions(pair.first, pair.second, [&](DefinitionDifference difference) {
          pair.definitions.push_back(std::move(difference));
        });
    if (!common.ok()) return of_block(common.status(), pair.first);
    if (options_.values) pair.common = std::move(*common);
    for (const CommonVariable& numbers : pair.common) {
      const Status status =
          values_.add({{&pair.first, numbers.first}, {&pair.second, numbers.second}});
      if (!status.ok()) return of_block(status, pair.first);
      if (values_.size() >= kMostVariablesTogether) NMB_TRY(finish());
    }
    return pairs_.size() >= kMostBlocksTogether ? finish() : Status();
  }
  // Reports a difference after the differences of all pairs that were added.
  Status report(const DefinitionDifference& difference) {
    NMB_TRY(finish());
    is_same_ = false;
    return visitor_.definition(difference);
  }

  // Compares the values of all variables that were added, and visits all differences.
  Status finish() {
    NMB_TRY(values_.compare());
    std::size_t number = 0;
    for (ContentPair& pair : pairs_) {
      for (const DefinitionDifference& difference : pair.definitions) {
        is_same_ = false;
        NMB_TRY(visitor_.definition(difference));
      }
      pair.definitions.clear();
      for (; number < values_.size() && values_.pair(number).first.block == &pair.first; ++number) {
        NMB_ASSIGN(const ComparedVariable compared, values_.result(number));
        is_same_ &= compared.different == 0;
        NMB_TRY(visitor_.variable(compared));
        ++pair.done;
      }
    }
    values_.clear();
    while (!pairs_.empty() && pairs_.front().done == pairs_.front().common.size())
      pairs_.pop_front();
    return {};
  }
  bool is_same() const { return is_same_; }

 private:
  const ComparisonOptions& options_;
  const ComparisonVisitor& visitor_;
  ValuePairs values_;
  std::deque<ContentPair> pairs_;  // pairs whose values are not compared yet
  bool is_same_ = true;
};

}  // namespace

Result<Tolerance> Tolerance::try_parse(std::string_view text) {
  Tolerance out;
  const auto number = [](std::string_view part, double* to) {
    const char* const end = part.data() + part.size();
    const auto [at, error] = std::from_chars(part.data(), end, *to);
    return error == std::errc() && at == end && std::isfinite(*to) && *to >= 0;
  };
  const std::size_t comma = text.find(',');
  if (number(text.substr(0, comma), &out.absolute) &&
      (comma == text.npos || number(text.substr(comma + 1), &out.relative)))
    return out;
  return Status(Code::kUsage, "found \"" + std::string(text) +
                                  "\", expected ABSOLUTE or ABSOLUTE,RELATIVE, for example 1e-6,0");
}

Result<bool> compare_files(const ContentFile& first, const ContentFile& second,
                           const ComparisonOptions& options, const ComparisonVisitor& visitor) {
  NMB_ASSIGN(const DimensionLengths first_lengths, dimension_lengths(first.blocks));
  NMB_ASSIGN(const DimensionLengths second_lengths, dimension_lengths(second.blocks));
  ContentComparer comparer(std::max(first.size, second.size), options, visitor);
  // A block without content is the same as no block.
  NMB_TRY(first.blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(DatasetContent block, content_of(first, entry, first_lengths));
    NMB_ASSIGN(const std::optional<BlockEntry> other, second.blocks.find(entry.name));
    if (other) {
      NMB_ASSIGN(DatasetContent content, content_of(second, *other, second_lengths));
      NMB_TRY(comparer.add(std::move(block), std::move(content)));
    } else if (!block.is_empty()) {
      NMB_TRY(comparer.report({DifferenceKind::kOnlyInFirst, entry.name, {}, {}, {}, {}}));
    }
    return true;
  }));
  NMB_TRY(comparer.finish());
  NMB_TRY(second.blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::optional<BlockEntry> other, first.blocks.find(entry.name));
    if (other) return true;
    NMB_ASSIGN(const DatasetContent block, content_of(second, entry, second_lengths));
    if (!block.is_empty())
      NMB_TRY(comparer.report({DifferenceKind::kOnlyInSecond, entry.name, {}, {}, {}, {}}));
    return true;
  }));
  return comparer.is_same();
}

}  // namespace nmb
