#include "compare/value_pairs.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nmb {

namespace {

using Lengths = std::vector<std::uint64_t>;

Result<Lengths> lengths_of(const ContentVariable& variable) {
  NMB_ASSIGN(const std::vector<AxisContent> axes, variable.block->axes(variable.number));
  Lengths lengths;
  for (const AxisContent& axis : axes) lengths.push_back(axis.length);
  return lengths;
}

// Reads runs of elements, one after the other, as ContentValues::read_bits() does. Reads the
// elements between neighbouring runs too.
Status read_runs(const ContentValues& values, std::span<const ElementRun> runs,
                 std::vector<std::byte>* scratch, std::vector<std::byte>* out) {
  constexpr std::uint64_t kShortGap = 4096, kMostTogether = 1 << 20;
  if (runs.size() == 1) return values.read_bits(runs[0].first, runs[0].count, out);
  const std::uint64_t size = values.element_bytes();
  out->clear();
  for (std::size_t i = 0; i < runs.size();) {
    const std::uint64_t begin = runs[i].first;
    std::size_t next = i + 1;
    while (next < runs.size() && runs[next].first >= runs[next - 1].end() &&
           (runs[next].first - runs[next - 1].end()) * size <= kShortGap &&
           (runs[next].end() - begin) * size <= kMostTogether)
      ++next;
    NMB_TRY(values.read_bits(begin, runs[next - 1].end() - begin, scratch));
    for (; i < next; ++i) {
      const auto from =
          scratch->begin() + static_cast<std::ptrdiff_t>((runs[i].first - begin) * size);
      out->insert(out->end(), from, from + static_cast<std::ptrdiff_t>(runs[i].count * size));
    }
  }
  return {};
}

bool are_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Reads runs of elements of variable length.
Status read_each(const ContentValues& values, std::span<const ElementRun> runs,
                 std::vector<std::vector<std::byte>>* out) {
  out->clear();
  for (const ElementRun& run : runs)
    NMB_TRY(values.each(run.first, run.count, [&](std::span<const std::byte> element) {
      out->emplace_back(element.begin(), element.end());
      return Status();
    }));
  return {};
}

// Returns whether one of the boxes has the element at this position of an array.
bool is_in(std::span<const ElementBox> boxes, const Lengths& lengths, std::uint64_t position) {
  Lengths index(lengths.size());
  for (std::size_t d = lengths.size(); d-- > 0; position /= lengths[d])
    index[d] = position % lengths[d];
  return std::ranges::any_of(boxes, [&](const ElementBox& box) {
    for (std::size_t d = 0; d < index.size(); ++d)
      if (index[d] < box.first[d] || index[d] - box.first[d] >= box.count[d]) return false;
    return true;
  });
}

// Replaces expected values at ignored positions by the values found there.
void ignore(std::span<const ElementBox> boxes, const Lengths& lengths,
            std::span<const ElementRun> runs, std::size_t size, std::span<const std::byte> found,
            std::span<std::byte> expected) {
  std::size_t at = 0;
  for (const ElementRun& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i, at += size)
      if (is_in(boxes, lengths, run.first + i))
        std::ranges::copy(found.subspan(at, size),
                          expected.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

void ValuePairs::renew_caches() {
  first_cache_ = std::make_shared<ChunkCache>(options_.content.chunk_cache);
  second_cache_ = std::make_shared<ChunkCache>(options_.content.chunk_cache);
}

void ValuePairs::clear() {
  pairs_.clear();
  jobs_.clear();
  block_with_records_ = nullptr;
  renew_caches();
}

Status ValuePairs::add(ValuePair pair) {
  AddedPair& added = pairs_.emplace_back(AddedPair{std::move(pair)});
  const ContentVariable &first = added.pair.first, &second = added.pair.second;
  const ContentValues::ReadBudget budget = read_budget(options_.content, 2);
  NMB_ASSIGN(added.extent, ContentValues::extent_of(*second.block, second.number, budget));
  if (!added.pair.constant) {
    NMB_ASSIGN(const ContentValues::Extent other,
               ContentValues::extent_of(*first.block, first.number, budget));
    added.extent.at_once = std::max(added.extent.at_once, other.at_once);
  }
  NMB_TRY(choose_elements(&added));
  NMB_TRY(set_rule(&added));
  NMB_TRY(divide_records(&added));
  const std::size_t item = pairs_.size() - 1;
  if (added.extent.elements > 0 && add_value_jobs(item, added.extent, &jobs_))
    NMB_TRY(open(added, &added.first, &added.second));
  return {};
}

Status ValuePairs::choose_elements(AddedPair* added) {
  const ValuePair& pair = added->pair;
  ContentValues::Extent& extent = added->extent;
  if (!pair.place) {
    added->from = added->to = ElementSelection::all(extent.elements);
    return budget_.take(extent.bytes);
  }
  std::vector<ElementSelection::Axis> from, to;
  NMB_ASSIGN(const Lengths lengths, lengths_of(pair.second));
  for (std::size_t d = 0; d < lengths.size(); ++d)
    to.push_back({{{pair.place->to.first[d], pair.place->to.count[d], 1}}, lengths[d]});
  added->to.emplace(std::move(to));
  if (!pair.constant) {
    NMB_ASSIGN(const Lengths own, lengths_of(pair.first));
    for (std::size_t d = 0; d < own.size(); ++d) from.push_back({pair.place->from[d], own[d]});
    added->from.emplace(std::move(from));
  }
  const std::uint64_t whole = extent.elements;
  extent.elements = whole == 0 ? 0 : added->to->size();
  return budget_.take(whole == 0 ? 0 : extent.bytes / whole * extent.elements);
}

Status ValuePairs::set_rule(AddedPair* added) const {
  const ValuePair& pair = added->pair;
  ValueRule& rule = added->rule;
  rule.tolerance = options_.tolerance;
  const auto fill_of = [](const ContentVariable& variable) {
    return variable.block->fill_value(variable.number);
  };
  NMB_ASSIGN(rule.second_fill, fill_of(pair.second));
  rule.first_fill = rule.second_fill;
  if (!pair.place) NMB_ASSIGN(rule.first_fill, fill_of(pair.first));
  const DatasetContent& block = *pair.second.block;
  const Type type = block.type(pair.second.number);
  const TypeTable* const types = block.types().table();
  rule.type = types ? types->classic(type).value_or(type) : type;
  if (TypeTable::is_extended(rule.type) && types->at(rule.type).type_class == TypeClass::kString)
    rule.text = types->at(rule.type).variable_length ? TextForm::kVariable : TextForm::kFixed;
  return {};
}

// A record has values of all variables that have records. So a job has the values of some records,
// and the variables of a block take turns: what one of them has read is still in the caches when
// the next one needs it.
Status ValuePairs::divide_records(AddedPair* added) {
  constexpr std::uint64_t kBytesTogether = 4 << 20, kMostJobs = 1024;
  const ValuePair& pair = added->pair;
  ContentValues::Extent& extent = added->extent;
  added->group = pairs_.size() - 1;
  if (extent.record_bytes == 0 || extent.elements == 0) return {};
  NMB_ASSIGN(const Lengths lengths, lengths_of(pair.second));
  const std::uint64_t records = pair.place ? pair.place->to.count.front() : lengths.front();
  const std::uint64_t together =
      std::max<std::uint64_t>({1, kBytesTogether / extent.record_bytes, records / kMostJobs + 1});
  extent.window = extent.elements / records * std::min(together, records);
  extent.at_once = std::min(extent.at_once, extent.window);
  extent.job_windows = 1;
  if (std::exchange(block_with_records_, pair.second.block) != pair.second.block)
    first_with_records_ = added->group;
  added->group = first_with_records_;
  return {};
}

Status ValuePairs::open(AddedPair& added, std::shared_ptr<const ContentValues>* first,
                        std::shared_ptr<const ContentValues>* second) const {
  const ValuePair& pair = added.pair;
  if (!pair.constant)
    NMB_ASSIGN(*first, ContentValues::open(*pair.first.block, pair.first.number, first_cache_));
  NMB_ASSIGN(*second, ContentValues::open(*pair.second.block, pair.second.number, second_cache_));
  return {};
}

Status ValuePairs::compare() {
  std::ranges::stable_sort(jobs_, {}, [this](const ValueJob& job) {
    return std::pair(pairs_[job.item].group, job.first);
  });
  return run_value_jobs(
      options_.content.threads, jobs_,
      [&] {
        return [&, buffers = Buffers()](const ValueJob& job) mutable {
          AddedPair& added = pairs_[job.item];
          const ValuePair& pair = added.pair;
          return of_block(compare_windows(job, &added, &buffers),
                          pair.constant ? *pair.second.block : *pair.first.block);
        };
      },
      options_.content.cancel);
}

Status ValuePairs::compare_windows(const ValueJob& job, AddedPair* added, Buffers* buffers) {
  std::shared_ptr<const ContentValues> first = added->first, second = added->second;
  if (!second) NMB_TRY(open(*added, &first, &second));
  const ContentValues::Extent& extent = added->extent;
  DifferentValues found(added->rule, options_.most_first);
  std::uint64_t begin = job.first * extent.window;
  const std::uint64_t end = std::min(begin + job.windows * extent.window, extent.elements);
  for (std::uint64_t count = 0; begin < end; begin += count) {
    count = std::min(extent.at_once, end - begin);
    NMB_TRY(second->element_bytes() > 0
                ? compare_fixed(*added, first.get(), *second, begin, count, buffers, &found)
                : compare_elements(*added, first.get(), *second, begin, count, &found));
  }
  if (!found.any()) return {};
  const std::scoped_lock lock(found_mutex_);
  if (added->found)
    added->found->merge(std::move(found));
  else
    added->found.emplace(std::move(found));
  return {};
}

Status ValuePairs::compare_fixed(const AddedPair& added, const ContentValues* first,
                                 const ContentValues& second, std::uint64_t begin,
                                 std::uint64_t count, Buffers* buffers, DifferentValues* found) {
  const std::size_t size = second.element_bytes();
  const std::vector<ElementRun> runs = added.to->runs(begin, count);
  NMB_TRY(read_runs(second, runs, &buffers->scratch, &buffers->second));
  if (first) {
    std::vector<std::byte>* const values =
        added.pair.convert ? &buffers->unconverted : &buffers->first;
    NMB_TRY(read_runs(*first, added.from->runs(begin, count), &buffers->scratch, values));
    if (!added.pair.convert && are_equal(buffers->first, buffers->second)) return {};
    first->make_canonical(*values);
    if (added.pair.convert) {
      buffers->first.clear();
      added.pair.convert(*values, &buffers->first);
    }
  } else {
    buffers->first.clear();
    for (std::uint64_t i = 0; i < count; ++i)
      buffers->first.insert(buffers->first.end(), added.pair.constant->begin(),
                            added.pair.constant->end());
  }
  second.make_canonical(buffers->second);
  if (buffers->first.size() != buffers->second.size())
    return Status(Code::kUnsupported, "the values have elements of different sizes");
  if (!added.pair.ignored.empty()) {
    NMB_ASSIGN(const Lengths lengths, lengths_of(added.pair.second));
    ignore(added.pair.ignored, lengths, runs, size, buffers->second, buffers->first);
  }
  std::size_t at = 0;
  for (const ElementRun& run : runs) {
    const std::size_t bytes = run.count * size;
    found->compare(run.first, std::span(buffers->first).subspan(at, bytes),
                   std::span(buffers->second).subspan(at, bytes), size);
    at += bytes;
  }
  return {};
}

// Compares elements of variable length, a few at a time.
Status ValuePairs::compare_elements(const AddedPair& added, const ContentValues* first,
                                    const ContentValues& second, std::uint64_t begin,
                                    std::uint64_t count, DifferentValues* found) {
  constexpr std::uint64_t kAtOnce = 256;
  NMB_ASSIGN(const Lengths lengths, lengths_of(added.pair.second));
  std::vector<std::vector<std::byte>> expected, elements;
  for (const std::uint64_t end = begin + count; begin < end; begin += elements.size()) {
    const std::uint64_t here = std::min(kAtOnce, end - begin);
    const std::vector<ElementRun> runs = added.to->runs(begin, here);
    NMB_TRY(read_each(second, runs, &elements));
    if (first)
      NMB_TRY(read_each(*first, added.from->runs(begin, here), &expected));
    else
      expected.assign(elements.size(), *added.pair.constant);
    std::size_t at = 0;
    for (const ElementRun& run : runs)
      for (std::uint64_t i = 0; i < run.count; ++i, ++at)
        if (added.pair.ignored.empty() || !is_in(added.pair.ignored, lengths, run.first + i))
          found->compare_one(run.first + i, expected[at], elements[at]);
  }
  return {};
}

Result<ComparedVariable> ValuePairs::result(std::size_t number) const {
  const AddedPair& added = pairs_[number];
  const ContentVariable& variable = added.pair.second;
  ComparedVariable compared;
  compared.block = variable.block->name();
  compared.variable = variable.block->variable_name(variable.number);
  compared.values = added.extent.elements;
  if (added.found) {
    NMB_ASSIGN(const Lengths lengths, lengths_of(variable));
    added.found->store(lengths, &compared);
  }
  return compared;
}

}  // namespace nmb
