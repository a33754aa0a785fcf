// Compares two files (see compare/compare.h).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <mutex>
#include <utility>

#include "compare/compare.h"
#include "compare/compare_definitions.h"
#include "compare/content_blocks.h"
#include "compare/content_values.h"
#include "compare/different_values.h"
#include "compare/value_jobs.h"

namespace nmb {

namespace {

// Two blocks of the same name. The first `done` of the common variables have been visited.
struct ContentPair {
  DatasetContent first, second;
  std::vector<DefinitionDifference> definitions{};
  std::vector<CommonVariable> common{};
  std::size_t done = 0;
};

struct VariablePair {
  ContentPair* blocks = nullptr;
  CommonVariable numbers;
  ContentValues::Extent extent;
  ValueRule rule;
  // Opened in advance if several jobs need them.
  std::shared_ptr<const ContentValues> first, second;
  std::optional<DifferentValues> found;  // set if values differ
};

// Compares pairs of blocks. Reads the values of many variables together.
class ContentComparer {
 public:
  // file_size: the number of bytes of the larger file.
  ContentComparer(std::uint64_t file_size, const ComparisonOptions& options,
                  const ComparisonVisitor& visitor)
      : options_(options), visitor_(visitor), budget_(file_size) {
    renew_caches();
  }

  Status add(DatasetContent first, DatasetContent second) {
    ContentPair& pair = pairs_.emplace_back(ContentPair{std::move(first), std::move(second)});
    Result<std::vector<CommonVariable>> common =
        compare_definitions(pair.first, pair.second, [&](DefinitionDifference difference) {
          pair.definitions.push_back(std::move(difference));
        });
    if (!common.ok()) return of_block(common.status(), pair.first);
    pair.common = std::move(*common);
    for (const CommonVariable& numbers : pair.common) {
      const Status status = add_variable(pair, numbers);
      if (!status.ok()) return of_block(status, pair.first);
      if (variables_.size() >= kMostVariablesTogether) NMB_TRY(finish());
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
    NMB_TRY(run_value_jobs(options_.content.threads, jobs_, [&] {
      return [&, buffers = Buffers()](const ValueJob& job) mutable {
        VariablePair& variable = variables_[job.item];
        return of_block(compare_windows(job, &variable, &buffers), variable.blocks->first);
      };
    }));
    auto variable = variables_.begin();
    for (ContentPair& pair : pairs_) {
      for (const DefinitionDifference& difference : pair.definitions) {
        is_same_ = false;
        NMB_TRY(visitor_.definition(difference));
      }
      pair.definitions.clear();
      for (; variable != variables_.end() && variable->blocks == &pair; ++variable, ++pair.done)
        NMB_TRY(visit(*variable));
    }
    variables_.clear();
    jobs_.clear();
    renew_caches();
    while (!pairs_.empty() && pairs_.front().done == pairs_.front().common.size())
      pairs_.pop_front();
    return {};
  }
  bool is_same() const { return is_same_; }

 private:
  using Buffers = std::pair<std::vector<std::byte>, std::vector<std::byte>>;

  void renew_caches() {
    first_cache_ = std::make_shared<ChunkCache>(options_.content.chunk_cache);
    second_cache_ = std::make_shared<ChunkCache>(options_.content.chunk_cache);
  }

  Status add_variable(ContentPair& pair, const CommonVariable& numbers) {
    VariablePair& variable = variables_.emplace_back();
    variable.blocks = &pair;
    variable.numbers = numbers;
    const ContentValues::ReadBudget budget = read_budget(options_.content, 2);
    NMB_ASSIGN(variable.extent, ContentValues::extent_of(pair.first, numbers.first, budget));
    NMB_ASSIGN(const ContentValues::Extent other,
               ContentValues::extent_of(pair.second, numbers.second, budget));
    variable.extent.at_once = std::max(variable.extent.at_once, other.at_once);
    NMB_TRY(budget_.take(variable.extent.bytes));
    variable.rule.tolerance = options_.tolerance;
    NMB_ASSIGN(variable.rule.first_fill, pair.first.fill_value(numbers.first));
    NMB_ASSIGN(variable.rule.second_fill, pair.second.fill_value(numbers.second));
    const Type type = pair.first.type(numbers.first);
    const TypeTable* const types = pair.first.types().table();
    variable.rule.type = types ? types->classic(type).value_or(type) : type;
    if (add_value_jobs(variables_.size() - 1, variable.extent, &jobs_))
      NMB_TRY(open(variable, &variable.first, &variable.second));
    return {};
  }

  Status open(const VariablePair& variable, std::shared_ptr<const ContentValues>* first,
              std::shared_ptr<const ContentValues>* second) const {
    const ContentPair& pair = *variable.blocks;
    NMB_ASSIGN(*first, ContentValues::open(pair.first, variable.numbers.first, first_cache_));
    NMB_ASSIGN(*second, ContentValues::open(pair.second, variable.numbers.second, second_cache_));
    return {};
  }

  Status compare_windows(const ValueJob& job, VariablePair* variable, Buffers* buffers) {
    std::shared_ptr<const ContentValues> first = variable->first, second = variable->second;
    if (!first) NMB_TRY(open(*variable, &first, &second));
    const ContentValues::Extent& extent = variable->extent;
    DifferentValues found(variable->rule, options_.most_first);
    std::uint64_t begin = job.first * extent.window;
    const std::uint64_t end = std::min(begin + job.windows * extent.window, extent.elements);
    for (std::uint64_t count = 0; begin < end; begin += count) {
      count = std::min(extent.at_once, end - begin);
      if (const std::uint64_t size = first->element_bytes(); size > 0) {
        NMB_TRY(first->read(begin, count, &buffers->first));
        NMB_TRY(second->read(begin, count, &buffers->second));
        found.compare(begin, buffers->first, buffers->second, size);
      } else {
        NMB_TRY(compare_elements(*first, *second, begin, count, &found));
      }
    }
    if (!found.any()) return {};
    const std::scoped_lock lock(found_mutex_);
    if (variable->found)
      variable->found->merge(std::move(found));
    else
      variable->found.emplace(std::move(found));
    return {};
  }

  // Compares elements of variable length. Holds the elements of the first file in memory, a few at
  // a time.
  static Status compare_elements(const ContentValues& first, const ContentValues& second,
                                 std::uint64_t begin, std::uint64_t count, DifferentValues* found) {
    constexpr std::uint64_t kAtOnce = 256;
    std::vector<std::vector<std::byte>> elements;
    for (const std::uint64_t end = begin + count; begin < end;) {
      const std::uint64_t here = std::min(kAtOnce, end - begin);
      elements.clear();
      NMB_TRY(first.each(begin, here, [&](std::span<const std::byte> element) {
        elements.emplace_back(element.begin(), element.end());
        return Status();
      }));
      std::size_t at = 0;
      NMB_TRY(second.each(begin, here, [&](std::span<const std::byte> element) {
        found->compare_one(begin + at, elements[at], element);
        ++at;
        return Status();
      }));
      begin += here;
    }
    return {};
  }

  Status visit(const VariablePair& variable) {
    const DatasetContent& block = variable.blocks->first;
    ComparedVariable compared;
    compared.block = block.name();
    compared.variable = block.variable_name(variable.numbers.first);
    compared.values = variable.extent.elements;
    if (variable.found) {
      NMB_ASSIGN(const std::vector<AxisContent> axes, block.axes(variable.numbers.first));
      std::vector<std::uint64_t> lengths;
      for (const AxisContent& axis : axes) lengths.push_back(axis.length);
      variable.found->store(lengths, &compared);
      is_same_ = false;
    }
    return visitor_.variable(compared);
  }

  const ComparisonOptions& options_;
  const ComparisonVisitor& visitor_;
  ValueBudget budget_;
  std::deque<ContentPair> pairs_;       // pairs whose values are not compared yet
  std::deque<VariablePair> variables_;  // a deque, because DifferentValues refer to the rules
  std::vector<ValueJob> jobs_;
  std::shared_ptr<ChunkCache> first_cache_, second_cache_;
  std::mutex found_mutex_;
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
