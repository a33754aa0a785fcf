#include "numpy_type.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arrays.h"
#include "text.h"

namespace nmb_python {

namespace {

using nmb::DataClass;
using nmb::DataType;

// Returns the dtype of a type without parts inside, which every block uses.
nb::object simple_dtype(const DataType& type) {
  switch (type.data_class) {
    case DataClass::kInteger:
      return dtype_of(type.is_signed ? 'i' : 'u', type.size);
    case DataClass::kBitfield:
      return dtype_of('u', type.size);
    case DataClass::kFloat:
      return dtype_of('f', type.size);
    default:
      return dtype_of('S', type.size);
  }
}

bool is_simple(const DataType& type) {
  return type.data_class == DataClass::kInteger || type.data_class == DataClass::kBitfield ||
         type.data_class == DataClass::kFloat || type.data_class == DataClass::kText;
}

// The types that were made. Never destroyed: the interpreter may have ended before.
std::vector<std::shared_ptr<const NumpyType>>& made_types() {
  static auto* const made = new std::vector<std::shared_ptr<const NumpyType>>;
  return *made;
}

void store(PyObject* object, std::byte* to) {
  PyObject* before = nullptr;
  std::memcpy(&before, to, sizeof before);
  std::memcpy(to, &object, sizeof object);
  Py_XDECREF(before);
}

}  // namespace

std::shared_ptr<const NumpyType> NumpyType::of(const DataType& type) {
  constexpr std::size_t kMost = 256;
  auto& made = made_types();
  for (auto at = made.begin(); at != made.end(); ++at)
    if ((*at)->type_ == type) {
      if (at != made.begin()) std::iter_swap(at, at - 1);
      return at == made.begin() ? *at : *(at - 1);
    }
  std::shared_ptr<const NumpyType> out(new NumpyType(type));
  if (made.size() == kMost) made.pop_back();
  made.push_back(out);
  return out;
}

NumpyType::NumpyType(const DataType& type) : type_(type), has_objects_(type.has_parts()) {
  size_ = type.size;
  if (is_simple(type)) {
    dtype_ = simple_dtype(type);
    return;
  }
  const nb::module_ types = nb::module_::import_("nmb._types");
  switch (type.data_class) {
    case DataClass::kString:
    case DataClass::kReference:
      size_ = sizeof(PyObject*);
      dtype_ = types.attr("string_dtype")();
      return;
    case DataClass::kOpaque:
      dtype_ = types.attr("opaque_dtype")(type.size, to_text(type.tag));
      return;
    case DataClass::kEnum: {
      inner_.push_back(of(type.base.front()));
      nb::dict names;
      for (const nmb::Enumerator& one : type.enumerators)
        names[to_text(one.name)] = type.base.front().is_signed || type.base.front().size < 8
                                       ? nb::cast(one.value)
                                       : nb::cast(static_cast<std::uint64_t>(one.value));
      dtype_ = types.attr("enum_dtype")(inner_[0]->dtype_, names);
      return;
    }
    case DataClass::kSequence:
      inner_.push_back(of(type.base.front()));
      size_ = sizeof(PyObject*);
      dtype_ = types.attr("sequence_dtype")(inner_[0]->dtype_);
      return;
    case DataClass::kArray: {
      inner_.push_back(of(type.base.front()));
      nb::list lengths;
      size_ = inner_[0]->size_;
      for (const std::uint64_t length : type.lengths) {
        lengths.append(length);
        size_ *= length;
      }
      dtype_ = types.attr("array_dtype")(inner_[0]->dtype_, nb::tuple(lengths));
      return;
    }
    default: {
      nb::list names, dtypes, offsets;
      if (has_objects_) size_ = 0;
      for (const nmb::DataMember& member : type.members) {
        inner_.push_back(of(member.type));
        offsets_.push_back(has_objects_ ? size_ : member.offset);
        if (has_objects_) size_ += inner_.back()->size_;
        names.append(to_text(member.name));
        dtypes.append(inner_.back()->dtype_);
        offsets.append(offsets_.back());
      }
      dtype_ = types.attr("compound_dtype")(names, dtypes, offsets, size_);
    }
  }
}

nb::object NumpyType::part(const std::byte* from, std::span<const std::byte> heap) const {
  const nmb::VariablePart part = nmb::VariablePart::load(from);
  if (type_.data_class != DataClass::kSequence) return to_text(part.text(heap));
  const NumpyType& base = *inner_[0];
  const NewArray made = new_array(base.dtype_, std::vector<std::uint64_t>{part.count});
  const std::byte* const first = heap.data() + part.offset;
  if (!base.has_objects_)
    std::memcpy(made.data, first, part.count * base.type_.size);
  else
    for (std::uint64_t i = 0; i < part.count; ++i)
      base.place(first + i * base.type_.size, heap, made.data + i * base.size_);
  return made.array;
}

void NumpyType::place(const std::byte* from, std::span<const std::byte> heap, std::byte* to) const {
  if (!has_objects_) {
    std::memcpy(to, from, type_.size);
    return;
  }
  switch (type_.data_class) {
    case DataClass::kArray: {
      const NumpyType& base = *inner_[0];
      for (std::uint64_t i = 0; i < size_ / base.size_; ++i)
        base.place(from + i * base.type_.size, heap, to + i * base.size_);
      return;
    }
    case DataClass::kCompound:
      for (std::size_t i = 0; i < inner_.size(); ++i)
        inner_[i]->place(from + type_.members[i].offset, heap, to + offsets_[i]);
      return;
    default:
      store(part(from, heap).release().ptr(), to);
  }
}

void NumpyType::place(const nmb::Elements& elements, std::uint64_t count, std::byte* to) const {
  for (std::uint64_t i = 0; i < count; ++i)
    place(elements.values.data() + i * type_.size, elements.heap, to + i * size_);
}

}  // namespace nmb_python
