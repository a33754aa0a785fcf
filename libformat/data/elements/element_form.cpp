#include "elements/element_form.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "elements/data_types.h"
#include "wire/endian.h"
#include "wire/swap_values.h"

namespace nmb {

namespace {

constexpr bool kLittleMachine = std::endian::native == std::endian::little;

bool is_whole(const ExtendedType& t) {
  return t.bit_offset == 0 && t.precision == t.size * 8 && t.order != ByteOrder::kVax;
}

bool is_half(const ExtendedType& t) {
  return t.size == 2 && is_whole(t) && t.normalization == Normalization::kImplied &&
         t.sign_position == 15 && t.exponent_position == 10 && t.exponent_size == 5 &&
         t.mantissa_position == 0 && t.mantissa_size == 10 && t.exponent_bias == 15;
}

// Returns whether values are long doubles of this machine, which must be an x86.
bool is_long_double(const ExtendedType& t) {
  return std::numeric_limits<long double>::digits == 64 && sizeof(long double) == t.size &&
         kLittleMachine && t.order == ByteOrder::kLittle && t.bit_offset == 0 &&
         t.precision == 80 && t.normalization == Normalization::kNone && t.sign_position == 79 &&
         t.exponent_position == 64 && t.exponent_size == 15 && t.exponent_bias == 16383 &&
         t.mantissa_position == 0 && t.mantissa_size == 64;
}

bool is_number_size(std::uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

ElementStep copy_of(std::uint64_t size) {
  ElementStep step;
  step.size = size;
  return step;
}

// The step for a number whose bytes differ at most in their order.
ElementStep ordered(std::uint64_t size, bool little) {
  ElementStep step = copy_of(size);
  if (size > 1 && little != kLittleMachine) step.action = ElementStep::Action::kSwap;
  return step;
}

std::int64_t enumerator_value(const DataType& base, const std::byte* value) {
  std::uint64_t bits = 0;
  std::memcpy(reinterpret_cast<std::byte*>(&bits) + (kLittleMachine ? 0 : 8 - base.size), value,
              base.size);
  if (base.is_signed && base.size < 8 && (bits >> (base.size * 8 - 1) & 1) != 0)
    bits |= ~std::uint64_t{0} << (base.size * 8);
  return static_cast<std::int64_t>(bits);
}

}  // namespace

// Makes the form of a type from the forms of its parts.
class FormMaker {
 public:
  explicit FormMaker(const TypeTable* types) : types_(types) {}

  Result<ElementForm> make(Type type) {
    if (++parts_ > ElementForm::kMostParts)
      return Status(Code::kLimit, "found a type with more than 65536 parts");
    ElementForm form;
    if (!TypeTable::is_extended(type)) {
      form.type_ = classic_data_type(type);
      form.stored_bytes_ = form.type_.size;
      form.steps_.push_back(ordered(form.type_.size, false));
      return form;
    }
    const ExtendedType& t = types_->at(type);
    form.stored_bytes_ = t.size;
    form.type_.size = t.size;
    NMB_TRY(fill(type, t, &form));
    form.type_.name = t.name;
    return form;
  }

 private:
  using Action = ElementStep::Action;

  Status fill(Type type, const ExtendedType& t, ElementForm* form) {
    DataType& out = form->type_;
    const auto bytes = [&](DataClass data_class) {
      out.data_class = data_class;
      form->steps_.push_back(copy_of(t.size));
      return Status();
    };
    const auto part = [&](DataClass data_class, Action action) -> ElementStep& {
      out.data_class = data_class;
      out.size = VariablePart::kSize;
      ElementStep step;
      step.action = action;
      return form->steps_.emplace_back(std::move(step));
    };
    switch (t.type_class) {
      case TypeClass::kInteger:
      case TypeClass::kFloat:
        return number(type, t, form);
      case TypeClass::kBitfield:
        if (!is_number_size(t.size) || t.order == ByteOrder::kVax) return bytes(DataClass::kOpaque);
        out.data_class = DataClass::kBitfield;
        form->steps_.push_back(ordered(t.size, t.order == ByteOrder::kLittle));
        return {};
      case TypeClass::kTime:
        return bytes(DataClass::kOpaque);
      case TypeClass::kOpaque:
        out.tag = t.tag;
        return bytes(DataClass::kOpaque);
      case TypeClass::kString:
        out.is_utf8 = t.character_set == CharacterSet::kUtf8;
        if (t.variable_length) return part(DataClass::kString, Action::kString), Status();
        NMB_TRY(bytes(DataClass::kText));
        if (t.size > 1) form->steps_.back().action = Action::kText;
        form->steps_.back().padding = t.padding;
        return {};
      case TypeClass::kReference:
        out.is_region = t.reference == ReferenceKind::kRegion;
        part(DataClass::kReference, out.is_region ? Action::kRegion : Action::kObject);
        return {};
      case TypeClass::kVlen: {
        NMB_ASSIGN(ElementForm base, make(t.base));
        inside(std::move(base), out, part(DataClass::kSequence, Action::kSequence));
        return {};
      }
      case TypeClass::kArray: {
        NMB_ASSIGN(ElementForm base, make(t.base));
        ElementStep step;
        step.action = Action::kEach;
        step.count = t.size / base.stored_bytes_;
        out.data_class = DataClass::kArray;
        out.lengths = t.lengths;
        out.size = base.type_.size * step.count;
        inside(std::move(base), out, step);
        if (std::optional<ElementStep> same = without_each(step)) step = *std::move(same);
        form->steps_.push_back(std::move(step));
        return {};
      }
      case TypeClass::kEnum:
        return enumeration(t, form);
      case TypeClass::kCompound:
        return compound(t, form);
    }
    return bytes(DataClass::kOpaque);
  }

  Status number(Type type, const ExtendedType& t, ElementForm* form) {
    DataType& out = form->type_;
    if (is_half(t) || is_long_double(t)) {
      out.data_class = DataClass::kFloat;
      form->steps_.push_back(ordered(t.size, t.order == ByteOrder::kLittle));
      return {};
    }
    const std::optional<ClassicType> same = classic_type(*types_, type);
    if (!same) {
      out.data_class = DataClass::kOpaque;
      form->steps_.push_back(copy_of(t.size));
      return {};
    }
    out = classic_data_type(same->type);
    ElementStep step = ordered(out.size, types_->classic(type) && types_->is_swapped(type));
    if (same->is_changed) {
      step.action = Action::kNumber;
      step.number = std::make_shared<const ClassicValues>(*types_, type, *same);
    }
    form->steps_.push_back(std::move(step));
    return {};
  }

  Status enumeration(const ExtendedType& t, ElementForm* form) {
    NMB_ASSIGN(ElementForm base, make(t.base));
    DataType& out = form->type_;
    out.data_class = DataClass::kEnum;
    out.size = base.type_.size;
    std::vector<std::byte> values(t.names.size() * base.type_.size);
    NMB_TRY(base.convert(t.values, values.data(), nullptr));
    for (std::size_t i = 0; i < t.names.size(); ++i)
      out.enumerators.push_back(
          {t.names[i], enumerator_value(base.type_, values.data() + i * base.type_.size)});
    form->steps_ = std::move(base.steps_);
    out.base.push_back(std::move(base.type_));
    return {};
  }

  Status compound(const ExtendedType& t, ElementForm* form) {
    DataType& out = form->type_;
    out.data_class = DataClass::kCompound;
    std::vector<ElementForm> fields;
    std::uint64_t packed = 0;
    bool same_sizes = true;
    for (const ExtendedType::Field& field : t.fields) {
      NMB_ASSIGN(ElementForm one, make(field.type));
      same_sizes = same_sizes && one.type_.size == one.stored_bytes_;
      packed += one.type_.size;
      fields.push_back(std::move(one));
    }
    // Padding keeps its stored form unless a field has another size in memory.
    out.size = same_sizes ? t.size : packed;
    std::vector<std::size_t> order(fields.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return t.fields[i].offset; });
    out.members.resize(fields.size());
    std::uint64_t at = 0;
    for (const std::size_t i : order) {
      const std::uint64_t to = same_sizes ? t.fields[i].offset : at;
      at += fields[i].type_.size;
      for (ElementStep& step : fields[i].steps_) {
        step.from += t.fields[i].offset;
        step.to += to;
        add(std::move(step), &form->steps_);
      }
      out.members[i] = {t.fields[i].name, to, std::move(fields[i].type_)};
    }
    return {};
  }

  // Appends a step, or lengthens the last one.
  static void add(ElementStep step, std::vector<ElementStep>* steps) {
    if (!steps->empty()) {
      ElementStep& last = steps->back();
      if (step.action == Action::kCopy && last.action == Action::kCopy &&
          last.from + last.size == step.from && last.to + last.size == step.to) {
        last.size += step.size;
        return;
      }
      if (step.action == Action::kSwap && last.action == Action::kSwap && last.size == step.size &&
          last.from + last.size * last.count == step.from &&
          last.to + last.size * last.count == step.to) {
        last.count += step.count;
        return;
      }
    }
    steps->push_back(std::move(step));
  }

  static void inside(ElementForm base, DataType& out, ElementStep& step) {
    step.from_bytes = base.stored_bytes_;
    step.to_bytes = base.type_.size;
    step.inner = std::move(base.steps_);
    out.base.push_back(std::move(base.type_));
  }

  // Returns the step that converts all inner elements at once, if there is one.
  static std::optional<ElementStep> without_each(const ElementStep& each) {
    if (each.inner.size() != 1) return std::nullopt;
    ElementStep step = each.inner.front();
    const std::uint64_t bytes = step.size * step.count;
    if (bytes != each.from_bytes || bytes != each.to_bytes || step.from != 0 || step.to != 0)
      return std::nullopt;
    if (step.action == Action::kCopy)
      step.size *= each.count;
    else if (step.action == Action::kSwap)
      step.count *= each.count;
    else
      return std::nullopt;
    return step;
  }

  const TypeTable* types_;
  std::size_t parts_ = 0;
};

Result<ElementForm> ElementForm::of(const TypeTable* types, Type type) {
  return FormMaker(types).make(type);
}

bool ElementForm::is_copy() const {
  return steps_.size() == 1 && steps_.front().action == ElementStep::Action::kCopy &&
         steps_.front().size == stored_bytes_ && type_.size == stored_bytes_;
}

namespace {

using Action = ElementStep::Action;

void convert_text(const ElementStep& step, const std::byte* from, std::byte* to) {
  std::size_t length = step.size;
  if (step.padding == StringPadding::kNullTerminated) {
    length = static_cast<std::size_t>(std::find(from, from + length, std::byte{0}) - from);
  } else if (step.padding == StringPadding::kSpacePadded) {
    while (length > 0 && from[length - 1] == std::byte{' '}) --length;
  }
  std::copy_n(from, length, to);
  std::fill(to + length, to + step.size, std::byte{0});
}

Status convert_steps(std::span<const ElementStep> steps, const std::byte* from, std::byte* to,
                     HeapReader* heap);

// Appends the bytes of a string or of a path to the heap.
Result<VariablePart> convert_characters(const ElementStep& step, const std::byte* from,
                                        HeapReader& heap) {
  const HeapValue value = HeapValue::load(from);
  NMB_ASSIGN(std::span<const std::byte> bytes, heap.read(value, 1));
  if (step.action == Action::kString && bytes.empty() && !value.is_null()) {
    if (heap.out().empty()) heap.out().push_back(std::byte{});
    return VariablePart{0, heap.out().size()};
  }
  if (step.action == Action::kRegion) {
    // The selection follows the path; a reference that is too short for both is null.
    const std::size_t length =
        bytes.size() < 4
            ? 0
            : std::min<std::size_t>(load_le<std::uint32_t>(bytes.data()), bytes.size() - 4);
    bytes = length == 0 ? bytes.first(0) : bytes.subspan(4, length);
  }
  std::vector<std::byte>& out = heap.out();
  const VariablePart part{bytes.size(), bytes.empty() ? 0 : out.size()};
  out.insert(out.end(), bytes.begin(), bytes.end());
  return part;
}

Result<VariablePart> convert_sequence(const ElementStep& step, const std::byte* from,
                                      HeapReader& heap) {
  const HeapValue value = HeapValue::load(from);
  NMB_ASSIGN(const std::span<const std::byte> found, heap.read(value, step.from_bytes));
  const std::uint64_t count = found.size() / step.from_bytes;
  if (count == 0) return VariablePart();
  // Elements with parts of their own read the heap again.
  const std::vector<std::byte> stored(found.begin(), found.end());
  std::vector<std::byte> elements(count * step.to_bytes);
  for (std::uint64_t i = 0; i < count; ++i)
    NMB_TRY(convert_steps(step.inner, stored.data() + i * step.from_bytes,
                          elements.data() + i * step.to_bytes, &heap));
  std::vector<std::byte>& out = heap.out();
  out.resize((out.size() + 7) / 8 * 8);
  const VariablePart part{count, out.size()};
  out.insert(out.end(), elements.begin(), elements.end());
  return part;
}

Status convert_step(const ElementStep& step, const std::byte* from, std::byte* to,
                    HeapReader* heap) {
  switch (step.action) {
    case Action::kCopy:
      std::memcpy(to, from, step.size);
      return {};
    case Action::kSwap:
      if (is_number_size(step.size))
        swap_values(from, to, step.count, step.size);
      else
        for (std::uint64_t i = 0; i < step.count; ++i)
          std::reverse_copy(from + i * step.size, from + (i + 1) * step.size, to + i * step.size);
      return {};
    case Action::kNumber: {
      const std::span<std::byte> out(to, step.size);
      step.number->convert({from, step.number->from_bytes()}, out);
      if (kLittleMachine) std::ranges::reverse(out);
      return {};
    }
    case Action::kText:
      convert_text(step, from, to);
      return {};
    case Action::kEach:
      for (std::uint64_t i = 0; i < step.count; ++i)
        NMB_TRY(
            convert_steps(step.inner, from + i * step.from_bytes, to + i * step.to_bytes, heap));
      return {};
    case Action::kString:
    case Action::kObject:
    case Action::kRegion: {
      NMB_ASSIGN(const VariablePart part, convert_characters(step, from, *heap));
      part.store(to);
      return {};
    }
    case Action::kSequence: {
      NMB_ASSIGN(const VariablePart part, convert_sequence(step, from, *heap));
      part.store(to);
      return {};
    }
  }
  return {};
}

Status convert_steps(std::span<const ElementStep> steps, const std::byte* from, std::byte* to,
                     HeapReader* heap) {
  for (const ElementStep& step : steps)
    NMB_TRY(convert_step(step, from + step.from, to + step.to, heap));
  return {};
}

}  // namespace

Status ElementForm::convert(std::span<const std::byte> stored, std::byte* out,
                            HeapReader* heap) const {
  const std::uint64_t count = stored.size() / stored_bytes_;
  if (count == 0) return {};
  if (steps_.size() == 1) {
    ElementStep all = steps_.front();
    const bool whole = all.size * all.count == stored_bytes_ && type_.size == stored_bytes_;
    if (whole && all.action == Action::kCopy) {
      all.size *= count;
      return convert_step(all, stored.data(), out, heap);
    }
    if (whole && all.action == Action::kSwap) {
      all.count *= count;
      return convert_step(all, stored.data(), out, heap);
    }
  }
  // Bytes between the members of a compound have no value.
  if (type_.data_class == DataClass::kCompound) std::memset(out, 0, count * type_.size);
  for (std::uint64_t i = 0; i < count; ++i)
    NMB_TRY(convert_steps(steps_, stored.data() + i * stored_bytes_, out + i * type_.size, heap));
  return {};
}

}  // namespace nmb
