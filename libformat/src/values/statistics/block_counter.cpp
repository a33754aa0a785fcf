// Counts the values of a block (see values/statistics/block_counter.h).
#include "values/statistics/block_counter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hdf5/model/netcdf_marks.h"
#include "nmb/extension.h"
#include "nmb/values.h"
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

// Bytes in a hole of the extent. The values in a hole are fill values.
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

Result<std::unique_ptr<BlockCounter>> BlockCounter::make(const Metadata& metadata,
                                                         const ClassicLayout& layout,
                                                         std::uint64_t records,
                                                         StatisticsLevel level, bool with_moments) {
  auto made = std::make_unique<BlockCounter>();
  made->level_ = level;
  made->with_moments_ = with_moments;
  made->record_size_ = layout.record_size;
  made->records_ = records;
  made->record_begin_ = layout.record_begin - layout.header_length;
  made->variables_.resize(metadata.variable_count());
  made->totals_.resize(metadata.variable_count());
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    made->names_.emplace_back(is_scale_alone(metadata, v) ? "" : metadata.variable(v).name);
  const Extension* const extension = metadata.extension().get();
  std::vector<hdf5::Property> properties;
  if (extension) {
    NMB_ASSIGN(properties, hdf5::decode_properties(extension->hdf5));
  }
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    Slot slot;
    slot.variable = v;
    if (!value_form(metadata, v, properties, &slot.form)) continue;
    if (const Storage* storage = extension ? extension->storage_of(v) : nullptr) {
      made->variables_[v].computed = made->take_stored(metadata, *storage, properties, slot);
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
    made->note(&slot, all / slot.form.size());
    if (all == 0) continue;
    slot.begin = begin - base;
    slot.end = end;
    if (is_record && *bytes == layout.record_size) {
      // The variable takes the whole record, so its records form one array.
      slot.begin += made->record_begin_;
      slot.end = slot.begin + all;
      made->fixed_.push_back(slot);
    } else {
      (is_record ? made->record_ : made->fixed_).push_back(slot);
    }
  }
  for (std::vector<Slot>* slots : {&made->fixed_, &made->record_})
    std::sort(slots->begin(), slots->end(),
              [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  return made;
}

// Notes that the values of a variable will be counted.
void BlockCounter::note(Slot* slot, std::uint64_t elements) {
  slot->most_buckets = Histogram::most_buckets(elements);
  variables_[slot->variable] = {true, slot->form.type, slot->form.nan_is_missing, elements};
}

void BlockCounter::begin(const Slot& slot, ValueTally* tally) const {
  tally->counts = ValueCounts();
  if (slot.form.type == Type::kChar) {
    tally->histogram.reset();
    tally->sums.reset();
    return;
  }
  if (level_ == StatisticsLevel::kHistogram) {
    if (!tally->histogram) tally->histogram.emplace();
    tally->histogram->begin(slot.most_buckets);
  }
  if (with_moments_) tally->sums.emplace();
}

void BlockCounter::keep(const Slot& slot, const ValueTally& tally) {
  std::lock_guard lock(mutex_);
  Total& total = totals_[slot.variable];
  total.counts.add(tally.counts);
  if (tally.sums) {
    if (!total.sums) total.sums = std::make_unique<ExactSums>();
    total.sums->add(*tally.sums);
  }
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

// Adds bytes [from, to) of an incomplete element that begins at offset `element`. Counts the
// element when it is complete.
template <class Bytes>
void BlockCounter::keep_cut(const Slot& slot, std::uint64_t element, std::uint64_t from,
                            std::uint64_t to, const Bytes& bytes, ValueTally* tally) {
  const std::size_t size = slot.form.size();
  std::lock_guard lock(mutex_);
  const auto cut = cuts_.try_emplace(element).first;
  Cut& value = cut->second;
  bytes.copy(slot.form, element, from, to - from, value.bytes.data() + (from - element));
  for (std::uint64_t at = from - element; at < to - element; ++at)
    value.there = static_cast<std::uint8_t>(value.there | 1u << at);
  if (value.there != (1u << size) - 1) return;
  count_values(slot.form, value.bytes.data(), 1, tally);
  cuts_.erase(cut);
}

// Counts those bytes of [from, to) that lie in the slot. slot.begin and slot.end count from `base`.
template <class Bytes>
void BlockCounter::count_slot(const Slot& slot, std::uint64_t base, std::uint64_t from,
                              std::uint64_t to, const Bytes& bytes, ValueTally* tally) {
  const std::uint64_t size = slot.form.size();
  const std::uint64_t begin = base + slot.begin;
  from = std::max(from, begin);
  to = std::min(to, base + slot.end);
  if (from >= to) return;
  if (const std::uint64_t behind = (from - begin) % size; behind != 0) {
    const std::uint64_t element = from - behind, end = std::min(to, element + size);
    keep_cut(slot, element, from, end, bytes, tally);
    from = end;
  }
  const std::uint64_t elements = (to - from) / size;
  bytes.count(slot.form, from, elements, tally);
  from += elements * size;
  if (from < to) keep_cut(slot, from, from, to, bytes, tally);
}

template <class Bytes>
void BlockCounter::count(std::uint64_t from, std::uint64_t to, const Bytes& bytes) {
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
  // The first and the last record may be incomplete. All records between these two are complete.
  count_record(first, from, to, bytes);
  if (end - first > 2) count_whole_records(first + 1, end - 1, bytes);
  if (end - first > 1) count_record(end - 1, from, to, bytes);
}

// Counts those bytes of [from, to) that lie in the record.
template <class Bytes>
void BlockCounter::count_record(std::uint64_t record, std::uint64_t from, std::uint64_t to,
                                const Bytes& bytes) {
  const std::uint64_t base = record_begin_ + record * record_size_;
  const std::uint64_t low = from > base ? from - base : 0;
  const std::uint64_t high = std::min(to - base, record_size_);
  auto slot = std::upper_bound(record_.begin(), record_.end(), low,
                               [](std::uint64_t at, const Slot& s) { return at < s.end; });
  ValueTally tally;
  const auto count_one = [&](const Slot& each) {
    begin(each, &tally);
    count_slot(each, base, from, to, bytes, &tally);
    keep(each, tally);
  };
  if constexpr (std::is_same_v<Bytes, Hole>) {
    // A block may have many holes and many variables. If a variable's part of the record lies
    // completely in a hole, note_hole() only notes it, and finish() counts it.
    auto last =
        std::partition_point(slot, record_.end(), [&](const Slot& s) { return s.end <= high; });
    if (slot != last && slot->begin < low) count_one(*slot++);
    if (last != record_.end() && last->begin < high) count_one(*last);
    note_hole(slot, last, 1);
  } else {
    for (; slot != record_.end() && slot->begin < high; ++slot) count_one(*slot);
  }
}

template <class Bytes>
void BlockCounter::count_whole_records(std::uint64_t first, std::uint64_t end, const Bytes& bytes) {
  if constexpr (std::is_same_v<Bytes, Hole>)
    return note_hole(record_.begin(), record_.end(), end - first);
  ValueTally tally;
  for (const Slot& slot : record_) {
    begin(slot, &tally);
    for (std::uint64_t record = first; record < end; ++record) {
      const std::uint64_t base = record_begin_ + record * record_size_;
      count_slot(slot, base, base, base + record_size_, bytes, &tally);
    }
    keep(slot, tally);
  }
}

// For each variable from `first` to `end`, notes that `records` of its records lie completely in
// holes.
void BlockCounter::note_hole(std::vector<Slot>::const_iterator first,
                             std::vector<Slot>::const_iterator end, std::uint64_t records) {
  if (first >= end) return;
  std::lock_guard lock(mutex_);
  if (in_holes_.empty()) in_holes_.resize(record_.size() + 1);
  in_holes_[static_cast<std::size_t>(first - record_.begin())] += records;
  in_holes_[static_cast<std::size_t>(end - record_.begin())] -= records;
}

void BlockCounter::count_holes_noted() {
  std::uint64_t records = 0;
  ValueTally tally;
  for (std::size_t i = 0; i < record_.size() && !in_holes_.empty(); ++i) {
    records += in_holes_[i];
    if (records == 0) continue;
    const Slot& slot = record_[i];
    begin(slot, &tally);
    count_holes(slot.form, records * ((slot.end - slot.begin) / slot.form.size()), &tally);
    keep(slot, tally);
  }
  in_holes_.clear();
}

void BlockCounter::add(std::uint64_t offset, std::span<const std::byte> bytes) {
  count(offset, offset + bytes.size(), Given{offset, bytes.data()});
}

void BlockCounter::add_hole(std::uint64_t from, std::uint64_t to) {
  if (from < to) count(from, to, Hole{});
}

BlockStatistics BlockCounter::none() const {
  BlockStatistics out;
  out.level = level_;
  out.variables.resize(variables_.size());
  return out;
}

Result<BlockStatistics> BlockCounter::finish() {
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
    if (statistics.elements != variable.elements)
      return failure(Code::kDamaged, "found ", statistics.elements, " values of variable ", v,
                     ", expected ", variable.elements);
    if (variable.type == Type::kChar || statistics.ordered() == 0) continue;
    statistics.has_range = true;
    key_value(variable.type, total.counts.least, statistics.minimum.data());
    key_value(variable.type, total.counts.greatest, statistics.maximum.data());
    statistics.histogram = std::move(total.histogram);
    if (total.sums) statistics.moments = total.sums->moments();
  }
  return out;
}

}  // namespace nmb
