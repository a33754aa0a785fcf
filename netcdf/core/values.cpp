#include "values.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "codes.h"
#include "elements/block_elements.h"
#include "handles/reader_state.h"
#include "model/values.h"
#include "wire/checked.h"
#include "wire/swap_values.h"

namespace nmb::udf {

namespace {

bool is_number(nc_type type) { return type > NC_NAT && type < NC_STRING && type != NC_CHAR; }

MemoryType memory_type(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return MemoryType::kInt8;
    case NC_UBYTE:
      return MemoryType::kUInt8;
    case NC_SHORT:
      return MemoryType::kInt16;
    case NC_USHORT:
      return MemoryType::kUInt16;
    case NC_INT:
      return MemoryType::kInt32;
    case NC_UINT:
      return MemoryType::kUInt32;
    case NC_INT64:
      return MemoryType::kInt64;
    case NC_UINT64:
      return MemoryType::kUInt64;
    case NC_FLOAT:
      return MemoryType::kFloat;
    case NC_DOUBLE:
      return MemoryType::kDouble;
    default:
      return MemoryType::kText;
  }
}

// Converts numbers of this machine, by the library's conversion from external form.
int convert_numbers(nc_type from_type, const std::byte* from, std::uint64_t count, nc_type to_type,
                    Kind kind, void* to) {
  const std::size_t size = atomic_size(from_type);
  std::vector<std::byte> external(static_cast<std::size_t>(count) * size);
  swap_values(from, external.data(), static_cast<std::size_t>(count), size);
  const std::uint64_t out_of_range = convert_from_external(
      static_cast<Type>(from_type), external.data(), count, memory_type(to_type), to, kind);
  return out_of_range > 0 ? NC_ERANGE : NC_NOERR;
}

// A type of values that are read, and how they are converted.
struct Conversion {
  ElementForm form;
  MemoryForm memory;
  nc_type type, to_type;
  Kind kind;

  std::size_t from_size() const { return static_cast<std::size_t>(form.type().size); }
  std::size_t to_size() const { return type == to_type ? memory.size() : atomic_size(to_type); }
  bool is_copy() const { return type == to_type && memory.is_copy(); }
  int convert(const std::byte* from, std::uint64_t count, std::span<const std::byte> heap,
              std::byte* to) const {
    if (type == to_type) {
      memory.convert(from, count, heap, to);
      return NC_NOERR;
    }
    if (memory.is_copy()) return convert_numbers(type, from, count, to_type, kind, to);
    std::vector<std::byte> numbers(static_cast<std::size_t>(count) * memory.size());
    memory.convert(from, count, heap, numbers.data());
    return convert_numbers(type, numbers.data(), count, to_type, kind, to);
  }
};

const TypeTable* types_of(const Dataset& dataset) {
  return dataset.metadata.extension() ? &dataset.metadata.extension()->types : nullptr;
}

int make_conversion(const OpenFile& file, const Dataset& dataset, Type code, nc_type type,
                    nc_type to_type, std::optional<Conversion>* out) {
  Result<ElementForm> form = ElementForm::of(types_of(dataset), code);
  if (!form.ok()) return failed(form.status().in_file(file.path()));
  std::optional<MemoryForm> memory = MemoryForm::of(form->type());
  if (!memory || memory->size() != file.type_size(type)) return NC_EINTERNAL;
  *out = Conversion{*std::move(form), *std::move(memory), type, to_type, dataset.kind()};
  return NC_NOERR;
}

// The elements of a selection: those that the file has, and those of which it has none.
struct Parts {
  Hyperslab slab;                    // what is in the file
  std::vector<std::uint64_t> count;  // of the selection
  std::uint64_t stored = 1, all = 1;

  bool is_whole() const { return stored == all; }
};

int make_parts(const OpenFile& file, const GroupVariable& variable, const Dataset& dataset,
               const Selection& selection, Parts* parts) {
  const std::size_t rank = variable.dimensions.size();
  if (rank > 0 && (!selection.start || !selection.count)) return NC_EINVALCOORDS;
  for (std::size_t d = 0; d < rank; ++d)
    if (selection.stride && selection.stride[d] <= 0) return NC_ESTRIDE;
  const Result<VariableShape> shape = dataset.shape(variable.id);
  if (!shape.ok()) return failed(shape.status().in_file(file.path()));
  if (shape->lengths.size() != rank) return NC_EINTERNAL;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint64_t start = selection.start[d], count = selection.count[d];
    const std::uint64_t stride =
        selection.stride ? static_cast<std::uint64_t>(selection.stride[d]) : 1;
    const FileDimension& dimension = *file.dimension(variable.dimensions[d]);
    const std::uint64_t length =
        dimension.may_grow ? std::max(dimension.length, shape->lengths[d]) : shape->lengths[d];
    if (start > length || (start == length && count > 0)) return NC_EINVALCOORDS;
    if (count > 0 && (count - 1) > (length - 1 - start) / stride) return NC_EEDGE;
    const std::uint64_t stored_length = shape->lengths[d];
    const std::uint64_t stored =
        start >= stored_length ? 0 : std::min(count, (stored_length - 1 - start) / stride + 1);
    parts->slab.start.push_back(start);
    parts->slab.count.push_back(stored);
    parts->slab.stride.push_back(stride);
    parts->count.push_back(count);
    if (!checked_mul(parts->stored, stored, &parts->stored) ||
        !checked_mul(parts->all, count, &parts->all))
      return NC_ENOMEM;
  }
  return NC_NOERR;
}

// Visits the rows of the stored elements: visit(place in the selection, elements before, length).
template <class Visit>
void for_each_row(const Parts& parts, Visit visit) {
  const std::size_t rank = parts.count.size();
  std::vector<std::uint64_t> at(rank);
  const std::uint64_t length = rank > 0 ? parts.slab.count[rank - 1] : 1;
  for (std::uint64_t done = 0; done < parts.stored; done += length) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < rank; ++d) place = place * parts.count[d] + at[d];
    visit(place, done, length);
    for (std::size_t d = rank > 0 ? rank - 1 : 0; d-- > 0;) {
      if (++at[d] < parts.slab.count[d]) break;
      at[d] = 0;
    }
  }
}

// Returns the default fill value of netCDF in the type of the variable.
int default_fill(const OpenFile& file, nc_type type, std::byte* out) {
  const UserType* const user = file.type(type);
  if (user && user->type_class == NC_ENUM)
    type = user->base;
  else if (user) {
    std::memset(out, 0, user->size);
    return NC_NOERR;
  }
  if (type == NC_STRING) {
    char* const empty = static_cast<char*>(std::calloc(1, 1));
    if (!empty) return NC_ENOMEM;
    std::memcpy(out, &empty, sizeof empty);
    return NC_NOERR;
  }
  const std::vector<std::byte> value = default_fill_value(static_cast<Type>(type));
  return read_external(type, value.data(), 1, type, out);
}

// Fill values in the form of the library, or netCDF's default where the file states none.
struct Fill {
  std::optional<Elements> stated;
};

int find_fill(const OpenFile& file, const BlockElements& elements, const Dataset& dataset,
              const GroupVariable& variable, Fill* out) {
  auto found = elements.fill(variable.id);
  if (!found.ok()) return failed(found.status().in_file(file.path()));
  const bool is_stated = found->second != FillOrigin::kDefault || !dataset.metadata.extension();
  if (is_stated) out->stated = std::move(found->first);
  return NC_NOERR;
}

int put_fill(const OpenFile& file, const Fill& fill, const Conversion& conversion, std::byte* out) {
  if (fill.stated && fill.stated->values.size() == conversion.from_size())
    return conversion.convert(fill.stated->values.data(), 1, fill.stated->heap, out);
  if (conversion.type == conversion.to_type) return default_fill(file, conversion.type, out);
  std::byte value[8];
  NMB_NC_TRY(default_fill(file, conversion.type, value));
  return convert_numbers(conversion.type, value, 1, conversion.to_type, conversion.kind, out);
}

class VariableReader {
 public:
  VariableReader(OpenFile& file, Group& group, const GroupVariable& variable)
      : file_(file), group_(group), variable_(variable) {}

  int open(nc_type memory) {
    types_ = check_types(variable_.type, &memory);
    if (types_ == NC_ECHAR) return NC_ECHAR;
    NMB_NC_TRY(file_.dataset(group_, &variable_, &dataset_));
    const Type code = dataset_->metadata.variable(variable_.id).type;
    NMB_NC_TRY(make_conversion(file_, *dataset_, code, variable_.type, memory, &conversion_));
    Result<std::shared_ptr<BlockElements>> elements =
        ReaderState::of(file_.reader())->elements(dataset_);
    if (!elements.ok()) return failed(elements.status().in_file(file_.path()));
    elements_ = *std::move(elements);
    if (elements_->is_null(variable_.id))
      return failed(NC_EHDFERR, file_.path(),
                    "variable \"" + variable_.name + "\" has a null dataspace, and no values");
    return NC_NOERR;
  }

  int read(const Selection& selection, std::byte* out) {
    Parts parts;
    NMB_NC_TRY(make_parts(file_, variable_, *dataset_, selection, &parts));
    NMB_NC_TRY(types_);  // as in netCDF-C, after what is wrong with the selection
    if (parts.all == 0) return NC_NOERR;
    if (parts.is_whole()) return read_stored(parts, out);
    std::uint64_t bytes = 0;
    if (!checked_mul(parts.stored, conversion_->to_size(), &bytes)) return NC_ENOMEM;
    std::vector<std::byte> stored(bytes);
    const int code = parts.stored > 0 ? read_stored(parts, stored.data()) : NC_NOERR;
    if (code != NC_NOERR && code != NC_ERANGE) return code;
    return put_apart(parts, stored, out, code);
  }

  int fill(std::byte* out) {
    Fill fill;
    NMB_NC_TRY(find_fill(file_, *elements_, *dataset_, variable_, &fill));
    return put_fill(file_, fill, *conversion_, out);
  }

  std::size_t element_size() const { return conversion_->to_size(); }

 private:
  int read_stored(const Parts& parts, std::byte* out) {
    const std::size_t from_size = conversion_->from_size();
    std::uint64_t bytes = 0;
    if (!checked_mul(parts.stored, from_size, &bytes)) return NC_ENOMEM;
    std::vector<std::byte> heap;
    if (conversion_->is_copy())
      return check(elements_->read(variable_.id, parts.slab,
                                   std::span(out, static_cast<std::size_t>(bytes)), &heap));
    std::vector<std::byte> stored(bytes);
    NMB_NC_TRY(check(elements_->read(variable_.id, parts.slab, stored, &heap)));
    return conversion_->convert(stored.data(), parts.stored, heap, out);
  }

  int check(const Status& status) const { return failed(status.in_file(file_.path())); }

  // Puts stored elements between fill values.
  int put_apart(const Parts& parts, const std::vector<std::byte>& stored, std::byte* out,
                int code) {
    const std::size_t size = conversion_->to_size();
    std::vector<bool> is_stored(static_cast<std::size_t>(parts.all));
    for_each_row(parts, [&](std::uint64_t place, std::uint64_t before, std::uint64_t length) {
      std::memcpy(out + place * size, stored.data() + before * size, length * size);
      for (std::uint64_t i = 0; i < length; ++i)
        is_stored[static_cast<std::size_t>(place + i)] = true;
    });
    Fill fill;
    NMB_NC_TRY(find_fill(file_, *elements_, *dataset_, variable_, &fill));
    for (std::size_t i = 0; i < is_stored.size(); ++i) {
      if (is_stored[i]) continue;
      const int one = put_fill(file_, fill, *conversion_, out + i * size);
      if (one != NC_NOERR && one != NC_ERANGE) return one;
      if (one == NC_ERANGE) code = one;
    }
    return code;
  }

  OpenFile& file_;
  Group& group_;
  const GroupVariable& variable_;
  int types_ = NC_NOERR;
  std::shared_ptr<const Dataset> dataset_;
  std::optional<Conversion> conversion_;
  std::shared_ptr<BlockElements> elements_;
};

}  // namespace

int check_types(nc_type type, nc_type* memory) {
  if (*memory == NC_NAT) *memory = type;
  if (*memory == type) return NC_NOERR;
  if ((*memory == NC_CHAR) != (type == NC_CHAR)) return NC_ECHAR;
  return is_number(type) && is_number(*memory) ? NC_NOERR : NC_EBADTYPE;
}

int read_external(nc_type type, const std::byte* from, std::size_t count, nc_type memory,
                  void* out) {
  NMB_NC_TRY(check_types(type, &memory));
  const std::uint64_t out_of_range =
      convert_from_external(static_cast<Type>(type), from, count, memory_type(memory), out);
  return out_of_range > 0 ? NC_ERANGE : NC_NOERR;
}

int read_values(OpenFile& file, Group& group, const GroupVariable& variable,
                const Selection& selection, nc_type memory, void* out) {
  VariableReader reader(file, group, variable);
  NMB_NC_TRY(reader.open(memory));
  return reader.read(selection, static_cast<std::byte*>(out));
}

int read_mapped(OpenFile& file, Group& group, const GroupVariable& variable,
                const Selection& selection, const std::ptrdiff_t* map, nc_type memory, void* out) {
  const std::size_t rank = variable.dimensions.size();
  if (!map || rank == 0) return read_values(file, group, variable, selection, memory, out);
  if (variable.type > NC_MAX_ATOMIC_TYPE) return NC_EMAPTYPE;
  if (!selection.start || !selection.count) return NC_EINVALCOORDS;
  VariableReader reader(file, group, variable);
  NMB_NC_TRY(reader.open(memory));
  const std::size_t size = reader.element_size();
  std::uint64_t bytes = size;
  for (std::size_t d = 0; d < rank; ++d)
    if (!checked_mul(bytes, selection.count[d], &bytes)) return NC_ENOMEM;
  std::vector<std::byte> values(bytes);
  const int code = reader.read(selection, values.data());
  if (code != NC_NOERR && code != NC_ERANGE) return code;
  std::vector<std::size_t> at(rank);
  for (std::size_t i = 0; i < values.size() / size; ++i) {
    std::ptrdiff_t place = 0;
    for (std::size_t d = 0; d < rank; ++d) place += map[d] * static_cast<std::ptrdiff_t>(at[d]);
    std::memcpy(static_cast<std::byte*>(out) + place * static_cast<std::ptrdiff_t>(size),
                values.data() + i * size, size);
    for (std::size_t d = rank; d-- > 0;) {
      if (++at[d] < selection.count[d]) break;
      at[d] = 0;
    }
  }
  return code;
}

int read_fill(OpenFile& file, Group& group, const GroupVariable& variable, void* out) {
  VariableReader reader(file, group, variable);
  NMB_NC_TRY(reader.open(NC_NAT));
  return reader.fill(static_cast<std::byte*>(out));
}

int read_attribute(OpenFile& file, Group& group, const GroupVariable* variable,
                   const GroupAttribute& attribute, nc_type memory, void* out) {
  if (attribute.length == 0) return NC_NOERR;
  NMB_NC_TRY(check_types(attribute.type, &memory));
  std::shared_ptr<const Dataset> dataset;
  NMB_NC_TRY(file.dataset(group, variable, &dataset));
  const VarId owner = variable ? variable->id : kGlobal;
  const std::optional<Attribute> stored =
      dataset->metadata.find_attribute(owner, attribute.stored_name);
  if (!stored) return NC_ENOTATT;
  if (attribute.type == NC_CHAR) {
    if (stored->values.size() < attribute.length) return NC_EINTERNAL;
    std::memcpy(out, stored->values.data(), attribute.length);
    return NC_NOERR;
  }
  if (!TypeTable::is_extended(stored->type)) {
    if (stored->values.size() < attribute.length * atomic_size(attribute.type)) return NC_EINTERNAL;
    const std::uint64_t out_of_range =
        convert_from_external(stored->type, stored->values.data(), stored->count,
                              memory_type(memory), out, dataset->kind());
    return out_of_range > 0 ? NC_ERANGE : NC_NOERR;
  }
  std::optional<Conversion> conversion;
  if (attribute.type == NC_STRING) memory = NC_STRING;
  Result<ElementForm> form = ElementForm::of(types_of(*dataset), stored->type);
  if (!form.ok()) return failed(form.status().in_file(file.path()));
  // Several characters of length 1 are strings.
  const bool is_text = form->type().data_class == DataClass::kText && form->type().size == 1;
  Elements elements;
  elements.values.resize(static_cast<std::size_t>(stored->count * form->type().size));
  const Status status =
      nmb::read_attribute(dataset->metadata, *stored, elements.values, &elements.heap);
  if (!status.ok()) return failed(status.in_file(file.path()));
  if (is_text) {
    for (std::size_t i = 0; i < attribute.length; ++i) {
      char* const text = static_cast<char*>(std::calloc(2, 1));
      if (!text) return NC_ENOMEM;
      std::memcpy(text, &elements.values[i], 1);
      std::memcpy(static_cast<std::byte*>(out) + i * sizeof text, &text, sizeof text);
    }
    return NC_NOERR;
  }
  NMB_NC_TRY(make_conversion(file, *dataset, stored->type, attribute.type, memory, &conversion));
  return conversion->convert(elements.values.data(), stored->count, elements.heap,
                             static_cast<std::byte*>(out));
}

}  // namespace nmb::udf
