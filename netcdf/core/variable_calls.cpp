#include <algorithm>

#include "calls.h"
#include "elements/block_elements.h"
#include "handles/reader_state.h"
#include "values.h"

namespace nmb::udf {

namespace {

// HDF5's numbers of filters.
constexpr unsigned kShuffle = 2, kFletcher32 = 3;

// How a variable is stored.
struct Stored {
  std::vector<std::uint64_t> chunk;
  const std::vector<Filter>* filters = nullptr;
  int storage = NC_CONTIGUOUS;
  bool has_no_fill = false;
  int endian = NC_ENDIAN_NATIVE;
  std::shared_ptr<BlockElements> keep;

  const Filter* filter(unsigned id) const {
    if (!filters) return nullptr;
    const auto found = std::ranges::find(*filters, id, &Filter::id);
    return found == filters->end() ? nullptr : &*found;
  }
};

int endian_of(const Dataset& dataset, const GroupVariable& variable) {
  const Metadata& metadata = dataset.metadata;
  const Type code = metadata.variable(variable.id).type;
  // Programs ask so that they can write the same; the order of a classic file is no choice.
  if (dataset.kind() != Kind::kExtended) return NC_ENDIAN_NATIVE;
  if (variable.type >= NC_STRING || variable.type == NC_CHAR) return NC_ENDIAN_NATIVE;
  if (!TypeTable::is_extended(code)) return NC_ENDIAN_BIG;
  return metadata.extension()->types.at(code).order == ByteOrder::kLittle ? NC_ENDIAN_LITTLE
                                                                          : NC_ENDIAN_BIG;
}

int find_stored(OpenFile& file, Group& group, const GroupVariable& variable, Stored* out) {
  std::shared_ptr<const Dataset> dataset;
  NMB_NC_TRY(file.dataset(group, &variable, &dataset));
  out->endian = endian_of(*dataset, variable);
  const Extension* const extension = dataset->metadata.extension().get();
  if (!extension) return NC_NOERR;
  Result<std::shared_ptr<BlockElements>> elements =
      ReaderState::of(file.reader())->elements(dataset);
  if (!elements.ok()) return failed(elements.status().in_file(file.path()));
  out->keep = *std::move(elements);
  const hdf5::Creation* const creation = out->keep->creation(variable.id);
  if (creation) {
    constexpr int kStorage[] = {NC_COMPACT, NC_CONTIGUOUS, NC_CHUNKED, NC_VIRTUAL};
    out->storage = kStorage[static_cast<std::size_t>(creation->layout)];
    out->chunk = creation->chunk;
    out->filters = &creation->filters;
    out->has_no_fill = creation->fill_state != hdf5::FillState::kUser;
  }
  if (const Storage* const storage = extension->storage_of(variable.id);
      storage && !storage->chunk.empty()) {
    out->storage = NC_CHUNKED;
    out->chunk = storage->chunk;
    out->filters = &storage->filters;
  }
  return NC_NOERR;
}

int give_storage(OpenFile& file, Group& group, const GroupVariable& variable, int* shuffle,
                 int* fletcher32, int* storage, std::size_t* chunk, int* no_fill, void* fill,
                 int* endian) {
  Stored stored;
  NMB_NC_TRY(find_stored(file, group, variable, &stored));
  give(shuffle, stored.filter(kShuffle) ? 1 : 0);
  give(fletcher32, stored.filter(kFletcher32) ? 1 : 0);
  give(storage, stored.storage);
  if (chunk && stored.storage == NC_CHUNKED && stored.chunk.size() == variable.dimensions.size())
    std::ranges::copy(stored.chunk, chunk);
  give(no_fill, stored.has_no_fill ? 1 : 0);
  give(endian, stored.endian);
  if (fill && !stored.has_no_fill) return read_fill(file, group, variable, fill);
  return NC_NOERR;
}

}  // namespace

int inq_varid(int ncid, const char* name, int* id) {
  if (!name) return NC_EINVAL;
  return on_loaded(ncid, [&](OpenFile&, Group& group) -> int {
    const auto found = group.variable_names.find(group.variables, name);
    if (!found) return NC_ENOTVAR;
    give(id, *found);
    return NC_NOERR;
  });
}

int inq_var_all(int ncid, int number, char* name, nc_type* type, int* rank, int* dimensions,
                int* attributes, int* shuffle, int* deflate, int*, int* fletcher32, int* storage,
                std::size_t* chunk, int* no_fill, void* fill, int* endian, unsigned* filter,
                std::size_t*, unsigned*) {
  if (deflate || filter) return NC_EFILTER;  // netCDF-C asks for filters by inq_var_filter_info()
  if (number == NC_GLOBAL && attributes) return inq(ncid, nullptr, nullptr, attributes, nullptr);
  return on_variable(
      ncid, number, [&](OpenFile& file, Group& group, GroupVariable& variable) -> int {
        if (variable.dimensions.size() > NC_MAX_VAR_DIMS)
          return failed(
              NC_EMAXDIMS, file.path(),
              "variable \"" + variable.name + "\" has more dimensions than netCDF-C allows");
        NMB_NC_TRY(give_name(name, variable.name));
        give(type, variable.type);
        give(rank, variable.dimensions.size());
        if (dimensions) std::ranges::copy(variable.dimensions, dimensions);
        give(attributes, variable.attributes.size());
        if (!shuffle && !fletcher32 && !storage && !chunk && !no_fill && !fill && !endian)
          return NC_NOERR;
        return give_storage(file, group, variable, shuffle, fletcher32, storage, chunk, no_fill,
                            fill, endian);
      });
}

int get_vara(int ncid, int variable, const std::size_t* start, const std::size_t* count,
             void* values, nc_type memory) {
  return get_vars(ncid, variable, start, count, nullptr, values, memory);
}

int get_vars(int ncid, int number, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, void* values, nc_type memory) {
  return on_variable(ncid, number, [&](OpenFile& file, Group& group, GroupVariable& variable) {
    return read_values(file, group, variable, {start, count, stride}, memory, values);
  });
}

int get_varm(int ncid, int number, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, const std::ptrdiff_t* map, void* values,
             nc_type memory) {
  return on_variable(ncid, number, [&](OpenFile& file, Group& group, GroupVariable& variable) {
    return read_mapped(file, group, variable, {start, count, stride}, map, memory, values);
  });
}

int inq_var_filter_ids(int ncid, int number, std::size_t* count, unsigned* ids) {
  return on_variable(ncid, number,
                     [&](OpenFile& file, Group& group, GroupVariable& variable) -> int {
                       Stored stored;
                       NMB_NC_TRY(find_stored(file, group, variable, &stored));
                       const std::size_t filters = stored.filters ? stored.filters->size() : 0;
                       give(count, filters);
                       for (std::size_t i = 0; ids && i < filters; ++i)
                         ids[i] = (*stored.filters)[i].id;
                       return NC_NOERR;
                     });
}

int inq_var_filter_info(int ncid, int number, unsigned id, std::size_t* count,
                        unsigned* parameters) {
  return on_variable(ncid, number,
                     [&](OpenFile& file, Group& group, GroupVariable& variable) -> int {
                       Stored stored;
                       NMB_NC_TRY(find_stored(file, group, variable, &stored));
                       const Filter* const filter = stored.filter(id);
                       if (!filter) return NC_ENOFILTER;
                       give(count, filter->parameters.size());
                       if (parameters) std::ranges::copy(filter->parameters, parameters);
                       return NC_NOERR;
                     });
}

int inq_var_quantize(int ncid, int number, int* mode, int* digits) {
  struct Name {
    const char* attribute;
    int mode;
  };
  constexpr Name kNames[] = {{NC_QUANTIZE_BITGROOM_ATT_NAME, NC_QUANTIZE_BITGROOM},
                             {NC_QUANTIZE_GRANULARBR_ATT_NAME, NC_QUANTIZE_GRANULARBR},
                             {NC_QUANTIZE_BITROUND_ATT_NAME, NC_QUANTIZE_BITROUND}};
  return on_variable(
      ncid, number, [&](OpenFile& file, Group& group, GroupVariable& variable) -> int {
        give(mode, NC_NOQUANTIZE);
        give(digits, 0);
        for (const Name& name : kNames) {
          const auto found = variable.attribute_names.find(variable.attributes, name.attribute);
          if (!found || variable.attributes[*found].length != 1) continue;
          int value = 0;
          NMB_NC_TRY(
              read_attribute(file, group, &variable, variable.attributes[*found], NC_INT, &value));
          give(mode, name.mode);
          give(digits, value);
          break;
        }
        return NC_NOERR;
      });
}

}  // namespace nmb::udf
