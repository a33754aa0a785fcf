// The loops are so simple that the compiler can vectorize them.
#include "values/statistics/value_counter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "hdf5_types/hdf5_section.h"
#include "model/extension.h"
#include "model/values.h"
#include "values/hole_value.h"
#include "values/stored_type.h"
#include "wire/endian.h"

namespace nmb {

namespace {

// Number of values that are swapped, compared and coded together; few enough to stay in the
// first-level cache.
constexpr std::size_t kBatch = 1024;

template <class T>
inline constexpr bool kIsReal = std::is_floating_point_v<T>;

// The type in which ExactSums adds values of type T.
template <class T>
using Summand =
    std::conditional_t<kIsReal<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

// Maps a value to an integer of the same size, so that integers have the order of the values. NaNs
// come before -infinity or after infinity.
template <class T>
struct KeyOf {
  using Key = T;
};
template <>
struct KeyOf<float> {
  using Key = std::int32_t;
};
template <>
struct KeyOf<double> {
  using Key = std::int64_t;
};
template <class T>
using Key = typename KeyOf<T>::Key;

template <class T>
Key<T> key_of(std::make_unsigned_t<Key<T>> bits) {
  using K = Key<T>;
  if constexpr (kIsReal<T>) {
    const K k = static_cast<K>(bits);
    return k ^ ((k >> (8 * sizeof(K) - 1)) & std::numeric_limits<K>::max());
  } else {
    return static_cast<K>(bits);
  }
}
template <class T>
T number_of(Key<T> key) {
  if constexpr (kIsReal<T>) {
    using K = Key<T>;
    return std::bit_cast<T>(key ^ ((key >> (8 * sizeof(K) - 1)) & std::numeric_limits<K>::max()));
  } else {
    return key;
  }
}
template <class T>
constexpr Key<T> infinity_key() {
  return std::bit_cast<Key<T>>(std::numeric_limits<T>::infinity());
}

// Converts the keys of all types to int64, in the same order.
template <class T>
std::int64_t widened(Key<T> key) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return static_cast<std::int64_t>(key ^ (std::uint64_t{1} << 63));
  else
    return static_cast<std::int64_t>(key);
}
template <class T>
Key<T> narrowed(std::int64_t key) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return static_cast<std::uint64_t>(key) ^ (std::uint64_t{1} << 63);
  else
    return static_cast<Key<T>>(key);
}

// Calls visit(T{}) with the C++ type T of the values.
template <class Visit>
auto with_type(Type type, Visit visit) {
  switch (type) {
    case Type::kByte:
      return visit(std::int8_t{});
    case Type::kShort:
      return visit(std::int16_t{});
    case Type::kInt:
      return visit(std::int32_t{});
    case Type::kInt64:
      return visit(std::int64_t{});
    case Type::kFloat:
      return visit(float{});
    case Type::kDouble:
      return visit(double{});
    case Type::kUShort:
      return visit(std::uint16_t{});
    case Type::kUInt:
      return visit(std::uint32_t{});
    case Type::kUInt64:
      return visit(std::uint64_t{});
    case Type::kUByte:
    case Type::kChar:
      break;
  }
  return visit(std::uint8_t{});
}

template <class T>
std::uint32_t code_of(Key<T> key) {
  const T number = number_of<T>(key);
  if constexpr (kIsReal<T> || sizeof(T) < 8)
    return histogram_code(static_cast<double>(number));
  else
    return histogram_code(toward_zero(number));
}

// Comparisons of keys. The result is a mask, all of whose bits are set if the comparison is true.
// Masks and counters are as wide as keys, so that whole vector registers of keys are compared at
// once.
template <class T>
struct Masks {
  using K = Key<T>;
  template <int kMissing>
  static K missing(K key, const std::array<K, 4>& values) {
    K mask = 0;
    for (std::size_t i = 0; i < kMissing; ++i) mask = static_cast<K>(mask | yes(key == values[i]));
    return mask;
  }
  static K nan(K key) {
    if constexpr (kIsReal<T>)
      return yes((key ^ (key >> (8 * sizeof(K) - 1))) > infinity_key<T>());
    else
      return 0;
  }
  static K yes(bool is) { return static_cast<K>(-static_cast<K>(is)); }
};

// Passes numbers to the functions of the tally.
template <class T>
void call_functions(const ValueForm& form, std::span<const T> numbers, std::uint64_t times,
                    const ValueTally& tally) {
  if (numbers.empty()) return;
  for (const auto& function : tally.functions)
    function->add({form.type, std::as_bytes(numbers), times});
}

// Counts at most kBatch keys.
template <class T, int kMissing>
void count_keys(const Key<T>* keys, std::size_t count, const ValueForm& form, ValueTally* tally) {
  using K = Key<T>;
  using Counter = std::conditional_t<sizeof(K) == 1, std::uint32_t, std::make_unsigned_t<K>>;
  constexpr K kMost = std::numeric_limits<K>::max(), kLeast = std::numeric_limits<K>::min();
  std::array<K, 4> missing{};
  for (std::size_t i = 0; i < 4; ++i) missing[i] = narrowed<T>(form.missing[i]);
  K least = kMost, greatest = kLeast;
  Counter missing_here = 0, nans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const K key = keys[i];
    const K is_missing = Masks<T>::template missing<kMissing>(key, missing);
    const K is_nan = Masks<T>::nan(key);
    const K out = static_cast<K>(is_missing | is_nan);
    const K low = static_cast<K>((key & ~out) | (kMost & out));
    const K high = static_cast<K>((key & ~out) | (kLeast & out));
    least = low < least ? low : least;
    greatest = high > greatest ? high : greatest;
    missing_here = static_cast<Counter>(missing_here + (static_cast<Counter>(is_missing) & 1));
    nans = static_cast<Counter>(nans + (static_cast<Counter>(is_nan) & 1));
  }
  ValueCounts& counts = tally->counts;
  counts.elements += count;
  counts.missing += missing_here;
  counts.nans += nans;
  if (std::size_t{missing_here} + nans == count) return;
  counts.least = std::min(counts.least, widened<T>(least));
  counts.greatest = std::max(counts.greatest, widened<T>(greatest));
  if (tally->sums)
    for (std::size_t i = 0; i < count; ++i)
      if ((Masks<T>::template missing<kMissing>(keys[i], missing) | Masks<T>::nan(keys[i])) == 0)
        tally->sums->add(static_cast<Summand<T>>(number_of<T>(keys[i])));
  if (!tally->functions.empty()) {
    std::array<T, kBatch> numbers;
    std::size_t ordered = 0;
    if (missing_here + nans == 0)
      for (; ordered < count; ++ordered) numbers[ordered] = number_of<T>(keys[ordered]);
    for (std::size_t i = ordered; i < count; ++i) {
      numbers[ordered] = number_of<T>(keys[i]);
      ordered +=
          (Masks<T>::template missing<kMissing>(keys[i], missing) | Masks<T>::nan(keys[i])) == 0;
    }
    call_functions<T>(form, std::span(numbers).first(ordered), 1, *tally);
  }
  if (!tally->histogram) return;
  std::array<std::uint32_t, kBatch> codes;
  std::size_t coded = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const K key = keys[i];
    codes[coded] = code_of<T>(key);
    coded += (Masks<T>::template missing<kMissing>(key, missing) | Masks<T>::nan(key)) == 0;
  }
  tally->histogram->add({codes.data(), coded});
}

template <class T>
void count_typed(const ValueForm& form, const std::byte* values, std::size_t count,
                 ValueTally* tally) {
  using Bits = std::make_unsigned_t<Key<T>>;
  std::array<Key<T>, kBatch> keys;
  for (std::size_t at = 0; at < count; at += kBatch) {
    const std::size_t part = std::min(kBatch, count - at);
    const std::byte* from = values + at * sizeof(T);
    if (form.swapped)
      for (std::size_t i = 0; i < part; ++i)
        keys[i] = key_of<T>(load_le<Bits>(from + i * sizeof(T)));
    else
      for (std::size_t i = 0; i < part; ++i)
        keys[i] = key_of<T>(load_be<Bits>(from + i * sizeof(T)));
    if (form.missing_count == 0)
      count_keys<T, 0>(keys.data(), part, form, tally);
    else if (form.missing_count == 1)
      count_keys<T, 1>(keys.data(), part, form, tally);
    else if (form.missing_count == 2)
      count_keys<T, 2>(keys.data(), part, form, tally);
    else
      count_keys<T, 4>(keys.data(), part, form, tally);
  }
}

// Adds a value to the list of missing values. swapped: whether it is little-endian.
void add_missing(std::span<const std::byte> value, bool swapped, ValueForm* form) {
  std::array<std::byte, 8> external{};
  std::ranges::copy(value, external.begin());
  if (swapped) std::reverse(external.begin(), external.begin() + static_cast<long>(value.size()));
  const std::int64_t key = value_key(form->type, external.data());
  const bool is_real = form->type == Type::kFloat || form->type == Type::kDouble;
  if (is_real && is_nan_key(form->type, key)) {
    form->nan_is_missing = true;
    return;
  }
  const auto add = [&](std::int64_t k) {
    const auto end = form->missing.begin() + form->missing_count;
    if (std::find(form->missing.begin(), end, k) == end) form->missing[form->missing_count++] = k;
  };
  add(key);
  // 0 and -0 are equal but have different keys.
  if (is_real && (key == 0 || key == -1)) add(-1 - key);
}

}  // namespace

std::int64_t value_key(Type type, const std::byte* external) {
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    return widened<T>(key_of<T>(load_be<std::make_unsigned_t<Key<T>>>(external)));
  });
}

void key_value(Type type, std::int64_t key, std::byte* external) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    using Bits = std::make_unsigned_t<Key<T>>;
    store_be(external, std::bit_cast<Bits>(number_of<T>(narrowed<T>(key))));
  });
}

double ValueBatch::number(std::size_t i) const {
  return with_type(type, [&](auto t) {
    decltype(t) number;
    std::memcpy(&number, values.data() + i * sizeof number, sizeof number);
    return static_cast<double>(number);
  });
}

namespace {

double number_in(Type type, const std::array<std::byte, 8>& external) {
  double number = 0;
  (void)convert_from_external(type, external.data(), 1, MemoryType::kDouble, &number);
  return number;
}

}  // namespace

double VariableStatistics::minimum_value() const { return number_in(type, minimum); }
double VariableStatistics::maximum_value() const { return number_in(type, maximum); }

bool is_nan_key(Type type, std::int64_t key) {
  const std::int64_t infinity =
      type == Type::kFloat ? infinity_key<float>() : infinity_key<double>();
  return key > infinity || key < -infinity - 1;
}

std::optional<Type> counted_type(const Metadata& metadata, VarId variable) {
  return classic_of(metadata, metadata.variable(variable).type);
}

bool value_form(const Metadata& metadata, VarId variable,
                std::span<const hdf5::Property> properties, ValueForm* form) {
  const Variable v = metadata.variable(variable);
  *form = ValueForm();
  const std::optional<Type> type = counted_type(metadata, variable);
  if (!type) return false;
  form->type = *type;
  form->swapped = is_swapped(metadata, v.type);
  const std::size_t size = form->size();
  std::ranges::copy(hole_value(metadata, variable, properties), form->hole.begin());
  // Returns the attribute if its values have the variable's type, in either byte order.
  const auto stated = [&](std::string_view name) -> std::optional<Attribute> {
    const auto attribute = metadata.find_attribute(variable, name);
    return attribute && classic_of(metadata, attribute->type) == type ? attribute : std::nullopt;
  };
  const auto add = [&](const Attribute& attribute) {
    add_missing(attribute.values.first(size), is_swapped(metadata, attribute.type), form);
  };
  const std::optional<Attribute> fill = stated("_FillValue");
  if (fill && fill->count == 1)
    add(*fill);
  else if (const auto set = hdf5::fill_value_set(properties, variable, size);
           size > 1 && !set.empty())
    add_missing(set, form->swapped, form);
  else if (size > 1)
    add_missing(default_fill_value(*type), false, form);
  const std::optional<Attribute> missing = stated("missing_value");
  if (missing && missing->count > 1) return false;
  if (missing && missing->count == 1) add(*missing);
  // count_values() has code for four missing values but not for three, so the third value is listed
  // twice.
  if (form->missing_count == 3) form->missing[form->missing_count++] = form->missing[2];
  return true;
}

bool has_counted_values(const Storage& storage, VarId variable,
                        std::span<const hdf5::Property> properties) {
  using Number = hdf5::Property::Number;
  return storage.kind != StorageKind::kHeap && hdf5::why_absent(properties, variable).empty() &&
         std::ranges::none_of(properties, [&](const hdf5::Property& p) {
           return p.owner == variable && p.attribute == hdf5::kNoAttribute &&
                  p.number == Number::kSpace && p.space.space_class == hdf5::SpaceClass::kNull;
         });
}

Result<bool> may_be_counted(const Metadata& metadata, VarId variable) {
  const Extension* const extension = metadata.extension().get();
  std::vector<hdf5::Property> properties;
  if (extension) {
    NMB_ASSIGN(properties, hdf5::decode_properties(extension->hdf5));
  }
  ValueForm form;
  if (!value_form(metadata, variable, properties, &form)) return false;
  const Storage* const storage = extension ? extension->storage_of(variable) : nullptr;
  return !storage || has_counted_values(*storage, variable, properties);
}

void ValueCounts::add(const ValueCounts& other) {
  elements += other.elements;
  missing += other.missing;
  nans += other.nans;
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
}

void ValueCounts::repeat(std::uint64_t times) {
  elements *= times;
  missing *= times;
  nans *= times;
}

void count_values(const ValueForm& form, const std::byte* values, std::size_t count,
                  ValueTally* tally) {
  with_type(form.type, [&](auto t) { count_typed<decltype(t)>(form, values, count, tally); });
}

void count_holes(const ValueForm& form, std::uint64_t count, ValueTally* tally) {
  if (count == 0) return;
  ValueTally one;
  if (tally->histogram) one.histogram.emplace().begin(1);
  if (tally->sums) one.sums.emplace();
  count_values(form, form.hole.data(), 1, &one);
  one.counts.repeat(count);
  tally->counts.add(one.counts);
  if (tally->histogram)
    for (const Histogram::Bucket& bucket : one.histogram->take().buckets)
      tally->histogram->add(bucket.code, count);
  if (tally->sums) tally->sums->add_times(*one.sums, count);
  if (one.counts.missing + one.counts.nans > 0) return;
  with_type(form.type, [&](auto t) {
    using T = decltype(t);
    const T number = number_of<T>(narrowed<T>(one.counts.least));
    call_functions<T>(form, {&number, 1}, count, *tally);
  });
}

}  // namespace nmb
