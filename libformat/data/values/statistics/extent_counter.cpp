#include "values/statistics/extent_counter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hdf5_types/netcdf_marks.h"
#include "model/extension.h"
#include "model/values.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Bytes of the extent that the caller passes.
struct Given {
  std::uint64_t offset;
  const std::byte* bytes;
  void copy(const ValueForm&, std::uint64_t, std::uint64_t from, std::size_t length,
            std::byte* to) const {
    std::memcpy(to, bytes + (from - offset), length);
  }
  void count(const ValueForm& form, std::uint64_t from, std::uint64_t elements,
             ValueTally* tally) const {
    count_values(form, bytes + (from - offset), elements, tally);
  }
};

// Bytes in a hole of the extent, whose values are fill values.
struct Hole {
  void copy(const ValueForm& form, std::uint64_t element, std::uint64_t from, std::size_t length,
            std::byte* to) const {
    std::memcpy(to, form.hole.data() + (from - element), length);
  }
  void count(const ValueForm& form, std::uint64_t, std::uint64_t elements,
             ValueTally* tally) const {
    count_holes(form, elements, tally);
  }
};

}  // namespace

PartDivision PartDivision::of_units(std::uint64_t units) {
  PartDivision out;
  if (units < 2) return out;
  const auto parts = [&] { return ((units - 1) >> out.shift_) + 1; };
  while (parts() > PartRanges::kMostParts) ++out.shift_;
  out.parts_ = static_cast<std::size_t>(parts());
  return out;
}

PartDivision PartDivision::of_elements(std::uint64_t elements) {
  return of_units(elements / PartRanges::kUnitValues + (elements % PartRanges::kUnitValues != 0));
}

Result<std::unique_ptr<ExtentCounter>> ExtentCounter::make(const Metadata& metadata,
                                                           const ClassicLayout& layout,
                                                           std::uint64_t records,
                                                           const CountRequest& request) {
  auto made = std::make_unique<ExtentCounter>();
  made->request_ = request;
  made->request_.functions = {};
  made->record_size_ = layout.record_size;
  made->records_ = records;
  made->record_begin_ = layout.record_begin - layout.header_length;
  made->variables_.resize(metadata.variable_count());
  made->totals_.resize(metadata.variable_count());
  made->functions_.resize(metadata.variable_count());
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    made->names_.emplace_back(is_dimension_only(metadata, v) ? "" : metadata.variable(v).name);
  const Extension* const extension = metadata.extension().get();
  std::vector<hdf5::Property> properties;
  if (extension) {
    NMB_ASSIGN(properties, hdf5::decode_properties(extension->hdf5));
  }
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    Slot slot;
    slot.variable = v;
    if (request.only && v != *request.only) continue;
    if (!value_form(metadata, v, properties, &slot.form)) continue;
    if (slot.form.type != Type::kChar)
      made->add_functions(metadata.variable(v).name, slot, request.functions);
    if (const Storage* storage = extension ? extension->storage_of(v) : nullptr) {
      made->take_stored(metadata, *storage, properties, slot);
      continue;
    }
    const bool is_record = metadata.is_record_variable(v);
    const std::uint64_t base = is_record ? layout.record_begin : layout.header_length;
    const std::uint64_t begin = metadata.begin(v);
    const std::optional<std::uint64_t> bytes = metadata.slice_bytes(v);
    std::uint64_t end = 0, all = bytes.value_or(0);
    if (!bytes || (*bytes > 0 && begin < base) ||
        (is_record && !checked_mul(*bytes, records, &all)) ||
        (*bytes > 0 && !checked_add(begin - base, *bytes, &end)))
      return failure(Code::kDamaged, "found variable ", metadata.variable(v).name,
                     " outside of the extent, expected it inside");
    const std::uint64_t elements = all / slot.form.size();
    made->note(&slot, elements, PartDivision::of_elements(elements));
    if (all == 0) continue;
    slot.begin = begin - base;
    slot.end = end;
    if (is_record && *bytes == layout.record_size) {
      // The variable takes the whole record, so its records form one array.
      slot.begin += made->record_begin_;
      slot.end = slot.begin + all;
      made->fixed_.push_back(slot);
    } else {
      slot.is_record = is_record;
      (is_record ? made->record_ : made->fixed_).push_back(slot);
    }
  }
  for (std::vector<Slot>* slots : {&made->fixed_, &made->record_})
    std::sort(slots->begin(), slots->end(),
              [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  if (const std::size_t parts = request.wanted.size();
      parts > 0 && made->totals_[*request.only].parts.size() != parts)
    return failure(Code::kDamaged, "found statistics of ", parts, " parts, expected ",
                   made->totals_[*request.only].parts.size());
  for (std::size_t i = 0; i < made->record_.size(); ++i)
    if (made->record_[i].division.parts() > 0) made->divided_.push_back(i);
  return made;
}

void ExtentCounter::add_functions(std::string_view name, const Slot& slot,
                                  std::span<const ValueFunction> functions) {
  for (const ValueFunction& function : functions) {
    std::unique_ptr<ValueAccumulator> empty = function.make(name, slot.form.type);
    if (!empty) continue;
    variables_[slot.variable].functions.push_back(function.name);
    totals_[slot.variable].functions.push_back(empty->fresh());
    functions_[slot.variable].push_back(std::move(empty));
  }
}

// Notes that the values of a variable will be counted. division: how its values would be divided.
void ExtentCounter::note(Slot* slot, std::uint64_t elements, PartDivision division) {
  const VarId v = slot->variable;
  slot->most_buckets = Histogram::most_buckets(elements);
  Variable& variable = variables_[v];
  variable.computed = true;
  variable.type = slot->form.type;
  variable.nan_is_missing = slot->form.nan_is_missing;
  variable.elements = elements;
  if (slot->form.type == Type::kChar || division.parts() == 0) return;
  const bool is_divided = !request_.wanted.empty() ? true
                          : request_.divided       ? (*request_.divided)[v]
                                                   : request_.level == StatisticsLevel::kParts &&
                                                   division.parts() <= parts_left_;
  if (!is_divided) return;
  if (!request_.divided) parts_left_ -= std::min(parts_left_, division.parts());
  slot->division = division;
  variable.shift = division.shift();
  totals_[v].parts.resize(division.parts());
  if (request_.wanted.empty()) return;
  // Only the elements of the wanted parts will be counted.
  variable.elements = 0;
  for (std::uint64_t at = 0; at < elements;) {
    const std::uint64_t unit = at / PartRanges::kUnitValues;
    const std::uint64_t end =
        std::min(elements, division.next_part(unit) * PartRanges::kUnitValues);
    if (wants(division.part_of(unit))) variable.elements += end - at;
    at = end;
  }
}

void ExtentCounter::begin(const Slot& slot, ValueTally* tally) const {
  tally->counts = ValueCounts();
  tally->functions.clear();
  if (slot.form.type == Type::kChar) {
    tally->histogram.reset();
    tally->sums.reset();
    return;
  }
  for (const auto& empty : functions_[slot.variable]) tally->functions.push_back(empty->fresh());
  if (request_.level >= StatisticsLevel::kHistogram) {
    if (!tally->histogram) tally->histogram.emplace();
    tally->histogram->begin(slot.most_buckets);
  }
  if (request_.with_moments) tally->sums.emplace();
}

void ExtentCounter::keep(const Slot& slot, const ValueTally& tally) {
  std::lock_guard lock(mutex_);
  Total& total = totals_[slot.variable];
  total.counts.add(tally.counts);
  if (tally.sums) {
    if (!total.sums) total.sums = std::make_unique<ExactSums>();
    total.sums->add(*tally.sums);
  }
  for (std::size_t i = 0; i < tally.functions.size(); ++i)
    total.functions[i]->merge(*tally.functions[i]);
  if (!tally.histogram) return;
  if (total.histogram.buckets.empty()) {
    total.histogram = tally.histogram->take();
    return;
  }
  HistogramBuilder all;
  all.begin(slot.most_buckets);
  all.merge(total.histogram);
  all.merge(tally.histogram->take());
  total.histogram = all.take();
}

// Adds bytes [from, to) of an incomplete element that begins at `offset`. Returns the element once
// it is complete.
template <class Bytes>
std::optional<std::array<std::byte, 8>> ExtentCounter::keep_cut(const Slot& slot,
                                                                std::uint64_t offset,
                                                                std::uint64_t from,
                                                                std::uint64_t to,
                                                                const Bytes& bytes) {
  std::lock_guard lock(mutex_);
  const auto cut = cuts_.try_emplace(offset).first;
  Cut& value = cut->second;
  bytes.copy(slot.form, offset, from, to - from, value.bytes.data() + (from - offset));
  for (std::uint64_t at = from - offset; at < to - offset; ++at)
    value.there = static_cast<std::uint8_t>(value.there | 1u << at);
  if (value.there != (1u << slot.form.size()) - 1) return std::nullopt;
  const std::array<std::byte, 8> whole = value.bytes;
  cuts_.erase(cut);
  return whole;
}

// Counts the bytes of [from, to) that lie in the slot. record: 0 for a slot in fixed_.
template <class Bytes>
void ExtentCounter::count_slot(const Slot& slot, std::uint64_t record, std::uint64_t from,
                               std::uint64_t to, const Bytes& bytes, ValueTally* tally) {
  const std::uint64_t size = slot.form.size();
  const std::uint64_t base = slot.is_record ? record_begin_ + record * record_size_ : 0;
  const std::uint64_t begin = base + slot.begin;
  const std::uint64_t first = record * slot.elements();  // number of the element at `begin`
  from = std::max(from, begin);
  to = std::min(to, base + slot.end);
  if (from >= to) return;
  const auto cut = [&](std::uint64_t offset, std::uint64_t end) {
    const auto whole = keep_cut(slot, offset, from, end, bytes);
    const std::uint64_t element = first + (offset - begin) / size;
    if (whole)
      count_elements(slot, element, element + 1, tally, [&](std::uint64_t, std::uint64_t) {
        count_values(slot.form, whole->data(), 1, tally);
      });
    from = end;
  };
  if (const std::uint64_t behind = (from - begin) % size; behind != 0)
    cut(from - behind, std::min(to, from - behind + size));
  const std::uint64_t element = first + (from - begin) / size, elements = (to - from) / size;
  if (elements > 0)
    count_elements(slot, element, element + elements, tally,
                   [&](std::uint64_t at, std::uint64_t n) {
                     bytes.count(slot.form, from + (at - element) * size, n, tally);
                   });
  from += elements * size;
  if (from < to) cut(from, to);
}

template <class Bytes>
void ExtentCounter::count(std::uint64_t from, std::uint64_t to, const Bytes& bytes) {
  ValueTally tally;
  auto slot = std::upper_bound(fixed_.begin(), fixed_.end(), from,
                               [](std::uint64_t at, const Slot& s) { return at < s.end; });
  for (; slot != fixed_.end() && slot->begin < to; ++slot) {
    begin(*slot, &tally);
    count_slot(*slot, 0, from, to, bytes, &tally);
    keep(*slot, tally);
  }
  if (record_.empty() || to <= record_begin_) return;
  const std::uint64_t first = from <= record_begin_ ? 0 : (from - record_begin_) / record_size_;
  const std::uint64_t end = std::min(records_, (to - record_begin_ - 1) / record_size_ + 1);
  if (first >= end) return;
  // Only the first and the last record may be incomplete.
  count_record(first, from, to, bytes);
  if (end - first > 2) count_whole_records(first + 1, end - 1, bytes);
  if (end - first > 1) count_record(end - 1, from, to, bytes);
}

// Counts the bytes of [from, to) that lie in the record.
template <class Bytes>
void ExtentCounter::count_record(std::uint64_t record, std::uint64_t from, std::uint64_t to,
                                 const Bytes& bytes) {
  const std::uint64_t base = record_begin_ + record * record_size_;
  const std::uint64_t low = from > base ? from - base : 0;
  const std::uint64_t high = std::min(to - base, record_size_);
  auto slot = std::upper_bound(record_.begin(), record_.end(), low,
                               [](std::uint64_t at, const Slot& s) { return at < s.end; });
  ValueTally tally;
  const auto count_one = [&](const Slot& each) {
    begin(each, &tally);
    count_slot(each, record, from, to, bytes, &tally);
    keep(each, tally);
  };
  if constexpr (std::is_same_v<Bytes, Hole>) {
    // A block may have many holes and many variables. So values of a variable and record that lie
    // completely in a hole are only noted here (note_hole()), and counted by finish().
    auto last =
        std::partition_point(slot, record_.end(), [&](const Slot& s) { return s.end <= high; });
    if (slot != last && slot->begin < low) count_one(*slot++);
    if (last != record_.end() && last->begin < high) count_one(*last);
    note_hole(static_cast<std::size_t>(slot - record_.begin()),
              static_cast<std::size_t>(last - record_.begin()), {record, record + 1});
  } else {
    for (; slot != record_.end() && slot->begin < high; ++slot) count_one(*slot);
  }
}

template <class Bytes>
void ExtentCounter::count_whole_records(std::uint64_t first, std::uint64_t end,
                                        const Bytes& bytes) {
  if constexpr (std::is_same_v<Bytes, Hole>) return note_hole(0, record_.size(), {first, end});
  ValueTally tally;
  for (const Slot& slot : record_) {
    begin(slot, &tally);
    for (std::uint64_t record = first; record < end; ++record) {
      const std::uint64_t base = record_begin_ + record * record_size_;
      count_slot(slot, record, base, base + record_size_, bytes, &tally);
    }
    keep(slot, tally);
  }
}

// Notes that these records of the variables record_[first] to record_[end - 1] lie completely in
// holes.
void ExtentCounter::note_hole(std::size_t first, std::size_t end, ByteRange records) {
  if (first >= end) return;
  {
    std::lock_guard lock(mutex_);
    if (in_holes_.empty()) in_holes_.resize(record_.size() + 1);
    in_holes_[first] += records.length();
    in_holes_[end] -= records.length();
  }
  ValueTally tally;
  for (auto at = std::ranges::lower_bound(divided_, first); at != divided_.end() && *at < end;
       ++at) {
    const Slot& slot = record_[*at];
    begin(slot, &tally);
    count_elements(slot, records.begin * slot.elements(), records.end * slot.elements(), &tally,
                   [&](std::uint64_t, std::uint64_t n) { count_holes(slot.form, n, &tally); });
    keep(slot, tally);
  }
}

void ExtentCounter::count_holes_noted() {
  std::uint64_t records = 0;
  ValueTally tally;
  for (std::size_t i = 0; i < record_.size() && !in_holes_.empty(); ++i) {
    records += in_holes_[i];
    const Slot& slot = record_[i];
    if (records == 0 || slot.division.parts() > 0) continue;
    begin(slot, &tally);
    count_holes(slot.form, records * slot.elements(), &tally);
    keep(slot, tally);
  }
  in_holes_.clear();
}

std::optional<ByteRange> ExtentCounter::next_range(std::uint64_t offset,
                                                   std::uint64_t length) const {
  if ((fixed_.empty() && record_.empty()) || offset >= length) return std::nullopt;
  if (!request_.only) return ByteRange{offset, length};
  const bool is_record = !record_.empty();
  const Slot& slot = (is_record ? record_ : fixed_).front();
  const std::uint64_t size = slot.form.size(), elements = slot.elements();
  for (std::uint64_t record =
           is_record && offset > record_begin_ ? (offset - record_begin_) / record_size_ : 0;
       record < (is_record ? records_ : 1); ++record) {
    const std::uint64_t begin =
        slot.begin + (is_record ? record_begin_ + record * record_size_ : 0);
    std::uint64_t element = offset > begin ? (offset - begin) / size : 0;
    while (element < elements) {
      if (slot.division.parts() == 0)
        return ByteRange{std::max(offset, begin), begin + elements * size};
      const std::uint64_t unit = (record * elements + element) / PartRanges::kUnitValues;
      const std::uint64_t part_end =
          slot.division.next_part(unit) * PartRanges::kUnitValues - record * elements;
      const std::uint64_t end = std::min(elements, part_end);
      if (wants(slot.division.part_of(unit)))
        return ByteRange{std::max(offset, begin + element * size), begin + end * size};
      element = end;
    }
  }
  return std::nullopt;
}

void ExtentCounter::add(std::uint64_t offset, std::span<const std::byte> bytes) {
  count(offset, offset + bytes.size(), Given{offset, bytes.data()});
}

void ExtentCounter::add_hole(std::uint64_t from, std::uint64_t to) {
  if (from < to) count(from, to, Hole{});
}

BlockStatistics ExtentCounter::none() const {
  BlockStatistics out;
  out.level = request_.level;
  out.variables.resize(variables_.size());
  return out;
}

Result<BlockStatistics> ExtentCounter::finish() {
  count_holes_noted();
  BlockStatistics out = none();
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Variable& variable = variables_[v];
    if (!variable.computed) continue;
    Total& total = totals_[v];
    VariableStatistics& statistics = out.variables[v];
    statistics.computed = true;
    statistics.type = variable.type;
    statistics.elements = total.counts.elements;
    statistics.missing = total.counts.missing;
    statistics.nans = total.counts.nans;
    if (variable.nan_is_missing) statistics.missing += std::exchange(statistics.nans, 0);
    for (std::size_t i = 0; i < total.functions.size(); ++i)
      statistics.functions.push_back({variable.functions[i], total.functions[i]->result()});
    std::ranges::sort(statistics.functions, {}, &FunctionResult::function);
    if (statistics.elements != variable.elements)
      return failure(Code::kDamaged, "found ", statistics.elements, " values of variable ", v,
                     ", expected ", variable.elements);
    if (variable.type == Type::kChar || statistics.ordered() == 0) continue;
    statistics.has_range = true;
    key_value(variable.type, total.counts.least, statistics.minimum.data());
    key_value(variable.type, total.counts.greatest, statistics.maximum.data());
    statistics.histogram = std::move(total.histogram);
    if (total.sums) statistics.moments = total.sums->moments();
    statistics.parts.shift = variable.shift;
    for (const PartCounts& part : total.parts) {
      PartRanges::Part& out_part = statistics.parts.parts.emplace_back();
      out_part.ordered = part.ordered;
      if (part.ordered == 0) continue;
      key_value(variable.type, part.least, out_part.minimum.data());
      key_value(variable.type, part.greatest, out_part.maximum.data());
    }
  }
  return out;
}

}  // namespace nmb
