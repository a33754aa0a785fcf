#include "export/data_set_out.h"

#include <algorithm>
#include <limits>

#include "export/filters_out.h"
#include "export/space_out.h"
#include "hdf5_error.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Limits of the space that HDF5 allocates when it creates a data set. HDF5 fills this space at
// once, and a malicious file could request very much space. A data set is refused only if its space
// exceeds both kMostFilled and kMostExpansion times the size of its stored values.
constexpr std::uint64_t kMostFilled = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostExpansion = 1024;
constexpr std::uint64_t kMostFillValue = 64 << 20;

// Returns default lengths of chunks. A chunk has at most 1 MiB, and length 1 along an unlimited
// dimension. A chunk that would then have less than 64 KiB gets more records, because each chunk
// has a fixed cost.
std::vector<std::uint64_t> usual_chunk(const Space& space, std::uint64_t value_size) {
  constexpr std::uint64_t kMost = 1 << 20, kLeast = 64 << 10, kEnough = 256 << 10;
  std::vector<std::uint64_t> chunk(space.lengths.size(), 1);
  std::uint64_t bytes = std::max<std::uint64_t>(value_size, 1);
  for (std::size_t i = chunk.size(); i-- > 0 && bytes < kMost;) {
    const bool grows = space.maximum[i] == kUnlimitedLength && i == 0;
    const std::uint64_t length = grows && chunk.size() > 1 ? 1 : space.lengths[i];
    chunk[i] = std::clamp<std::uint64_t>(length, 1, std::max<std::uint64_t>(kMost / bytes, 1));
    bytes *= chunk[i];
  }
  if (chunk.size() == 1 && space.maximum[0] == kUnlimitedLength)
    chunk[0] = std::max<std::uint64_t>(chunk[0], std::min<std::uint64_t>(1024, kMost / bytes + 1));
  if (chunk.size() > 1 && space.maximum[0] == kUnlimitedLength && bytes < kLeast)
    chunk[0] = std::clamp<std::uint64_t>(space.lengths[0], 1, kEnough / bytes);
  return chunk;
}

std::uint64_t value_size(const ExportSource& source, VarId variable) {
  return source.metadata().value_size(source.metadata().variable(variable).type);
}

void set_chunked(std::vector<std::uint64_t> chunk, Creation* creation) {
  creation->layout = Layout::kChunked;
  creation->allocation = Allocation::kIncremental;
  creation->chunk = std::move(chunk);
}

// Sets the requested chunk lengths for an array of a classic block.
void set_classic_chunk(const ExportSource& source, VarId variable, const Space& space,
                       Creation* creation) {
  if (space.space_class != SpaceClass::kSimple) return;
  const Variable v = source.metadata().variable(variable);
  for (std::size_t i = 0; i < v.dimensions.size(); ++i) {
    // A length for a single variable takes precedence over lengths for all variables.
    for (const Compression::ChunkLength& asked : source.style().chunk) {
      if (!asked.is_for(v.name) ||
          asked.dimension != source.metadata().dimension(v.dimensions[i]).name)
        continue;
      if (creation->layout != Layout::kChunked)
        set_chunked(usual_chunk(space, source.metadata().value_size(v.type)), creation);
      creation->chunk[i] = std::min(asked.length, space.maximum[i]);
      break;
    }
  }
}

// Adds compression to an array of a classic block if the array is large or already has chunks.
void add_classic_filters(const ExportSource& source, VarId variable, const Space& space,
                         Creation* creation) {
  constexpr std::uint64_t kSmall = 64 << 10;  // bytes
  constexpr std::uint32_t kOptional = 1;
  const WriteStyle& wanted = source.style();
  if (wanted.deflate == 0 || space.space_class != SpaceClass::kSimple || space.lengths.empty())
    return;
  const std::uint64_t size = value_size(source, variable);
  if (creation->layout != Layout::kChunked) {
    if (source.metadata().array_bytes(variable).value_or(0) <= kSmall) return;
    set_chunked(usual_chunk(space, size), creation);
  }
  if (wanted.shuffle && size > 1)
    creation->filters.push_back(
        {H5Z_FILTER_SHUFFLE, kOptional, "shuffle", {static_cast<std::uint32_t>(size)}});
  creation->filters.push_back(
      {H5Z_FILTER_DEFLATE, kOptional, "deflate", {static_cast<std::uint32_t>(wanted.deflate)}});
}

// Sets the chunks that WriteStyle::relayout requests. HDF5 allocates space when values are written,
// after all metadata.
void set_new_layout(const ExportSource& source, VarId variable, Creation* creation) {
  if (std::optional<ChunkLayout> layout = source.new_chunks(variable)) {
    set_chunked(std::move(layout->chunk), creation);
    creation->filters = std::move(layout->filters);
  }
  if (creation->layout == Layout::kContiguous) creation->allocation = Allocation::kLate;
  if (creation->layout != Layout::kChunked) return;
  creation->allocation = Allocation::kIncremental;
  if (!source.style().is_rehearsal() || !creation->filters.empty()) return;
  // If a data set has no filter, H5Dwrite_chunk accepts only chunks of full length. A data set with
  // values of variable length cannot have a filter.
  const Metadata& metadata = source.metadata();
  const bool is_long = metadata.extension() &&
                       metadata.extension()->types.needs_heap(metadata.variable(variable).type);
  if (is_long)
    creation->allocation = Allocation::kEarly;
  else
    creation->filters.push_back({H5Z_FILTER_DEFLATE, 0, "deflate", {1}});
}

Status set_external(const Property& p, hid_t dcpl) {
  for (const ExternalFile& file : p.external_files) {
    NMB_ASSIGN(const std::string name, c_text(file.name, "external file"));
    if (file.offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
      return damaged("external file ", name, ": found offset ", file.offset,
                     ", expected at most 2^63 - 1");
    NMB_TRY(
        check_hdf5(H5Pset_external(dcpl, name.c_str(), static_cast<off_t>(file.offset), file.size),
                   "external file " + name));
  }
  return {};
}

// Returns the number of elements of a selection. If the selection is unlimited, counts only the
// first block, which corresponds to the first file if a pattern names the source files.
hsize_t elements_of_block(hid_t space) {
  const hssize_t all = H5Sget_select_npoints(space);
  if (static_cast<hsize_t>(all) != H5S_UNLIMITED) return static_cast<hsize_t>(all);
  const auto rank = static_cast<std::size_t>(H5Sget_simple_extent_ndims(space));
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0)
    return 0;
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const hsize_t blocks = count[i] == H5S_UNLIMITED ? 1 : count[i];
    if (!checked_mul(elements, blocks, &elements) || !checked_mul(elements, block[i], &elements))
      return 0;
  }
  return elements;
}

// Sets the dataspace of a source data set that is selected completely. HDF5 does not store this
// dataspace, but requires it to have the right number of elements.
Status set_lengths_of_whole(hid_t here, Handle* there) {
  if (H5Sget_select_type(there->get()) != H5S_SEL_ALL ||
      H5Sget_simple_extent_type(there->get()) != H5S_SCALAR)
    return {};
  const hsize_t elements = elements_of_block(here);
  NMB_ASSIGN(*there, check_handle(H5Screate_simple(1, &elements, nullptr), "a space"));
  return {};
}

Status set_virtual(const Property& p, hid_t dcpl) {
  for (const VirtualSource& source : p.sources) {
    NMB_ASSIGN(const std::string file, c_text(source.file, "virtual data set"));
    NMB_ASSIGN(const std::string data_set, c_text(source.data_set, "virtual data set"));
    NMB_ASSIGN(const Handle here, decode_selection(source.here));
    NMB_ASSIGN(Handle there, decode_selection(source.there));
    NMB_TRY(set_lengths_of_whole(here.get(), &there));
    NMB_TRY(
        check_hdf5(H5Pset_virtual(dcpl, here.get(), file.c_str(), data_set.c_str(), there.get()),
                   "source " + file + " of a virtual data set"));
  }
  return {};
}

Status set_layout(const Creation& creation, const Space& space, hid_t dcpl) {
  constexpr std::string_view kNames[] = {"compact layout", "contiguous layout", "chunked layout",
                                         "virtual layout"};
  const std::string_view name = kNames[static_cast<std::size_t>(creation.layout)];
  if (creation.layout != Layout::kChunked)
    return check_hdf5(H5Pset_layout(dcpl, static_cast<H5D_layout_t>(creation.layout)), name);
  if (space.space_class == SpaceClass::kSimple && creation.chunk.size() != space.lengths.size())
    return damaged("found a chunk of ", creation.chunk.size(), " dimensions, expected ",
                   space.lengths.size());
  const std::vector<hsize_t> chunk(creation.chunk.begin(), creation.chunk.end());
  return check_hdf5(H5Pset_chunk(dcpl, static_cast<int>(chunk.size()), chunk.data()), name);
}

Status set_fill_value(ExportSource& source, VarId variable, const Creation& creation,
                      const FindObject& find_object, hid_t dcpl) {
  if (creation.fill_state == FillState::kDefault) return {};
  const Type type = source.metadata().variable(variable).type;
  NMB_ASSIGN(const hid_t datatype, source.types().plain(type));
  if (creation.fill_state == FillState::kUndefined)
    return check_hdf5(H5Pset_fill_value(dcpl, datatype, nullptr), "fill value");
  const TypeTable& types = source.types().table();
  const std::uint64_t size = types.value_size(type);
  if (types.needs_heap(type) ? creation.fill_value.size() < size
                             : creation.fill_value.size() != size)
    return damaged("found a fill value of ", creation.fill_value.size(), " bytes, expected ", size);
  std::vector<std::byte> memory(source.types().memory_bytes(type));
  const MemorySource region(creation.fill_value);
  HeapOut heap(source.types(), region, find_object);
  NMB_TRY(heap.convert(type, creation.fill_value, 1, kMostFillValue, memory.data()));
  return check_hdf5(H5Pset_fill_value(dcpl, datatype, memory.data()), "fill value");
}

// Checks the size of the space that HDF5 would fill when the data set is made.
Status check_filled(const ExportSource& source, VarId variable, const Creation& creation,
                    const Space& space) {
  if (creation.allocation != Allocation::kEarly || space.space_class != SpaceClass::kSimple)
    return {};
  std::uint64_t bytes = value_size(source, variable);
  bool fits = true;
  for (std::size_t i = 0; i < space.lengths.size(); ++i) {
    std::uint64_t length = space.lengths[i];
    if (creation.layout == Layout::kChunked) {
      const std::uint64_t chunk = std::max<std::uint64_t>(creation.chunk[i], 1);
      fits = fits && checked_mul(length / chunk + (length % chunk != 0), chunk, &length);
    }
    fits = fits && checked_mul(bytes, length, &bytes);
  }
  std::uint64_t stored = source.metadata().slice_bytes(variable).value_or(0);
  if (!checked_mul(stored, kMostExpansion, &stored)) stored = ~std::uint64_t{0};
  if (fits && bytes <= std::max(stored, kMostFilled)) return {};
  return failure(Code::kLimit, "HDF5 would allocate more than 1 GiB at once, for values of ",
                 stored / kMostExpansion, " bytes");
}

Result<Handle> make(ExportSource& source, VarId variable, hid_t file,
                    const FindObject& find_object) {
  NMB_ASSIGN(const Space space, source.space(variable));
  const Creation creation = creation_of(source, variable, space);
  const Storage* const storage = source.storage_of(variable);
  const bool has_chunks = storage && storage->kind == StorageKind::kChunked;
  const bool has_values = !storage || storage->kind != StorageKind::kNone;
  if (has_chunks && creation.layout != Layout::kChunked)
    return damaged("found chunks of a data set whose layout is not chunked");
  if (has_values && space.space_class != SpaceClass::kNull &&
      (source.find(Property::Number::kExternalFiles, variable) ||
       creation.layout == Layout::kVirtual))
    return damaged("found values in the block, although the data set's values are in other files");
  NMB_ASSIGN(const hid_t datatype,
             source.types().stored(source.metadata().variable(variable).type));
  NMB_ASSIGN(const Handle dataspace, make_space(space));
  NMB_ASSIGN(const Handle dcpl, new_object_properties(H5P_DATASET_CREATE, "properties"));
  NMB_TRY(set_layout(creation, space, dcpl.get()));
  NMB_TRY(check_filled(source, variable, creation, space));
  NMB_TRY(
      check_hdf5(H5Pset_alloc_time(dcpl.get(), static_cast<H5D_alloc_time_t>(creation.allocation)),
                 "allocation time"));
  NMB_TRY(check_hdf5(H5Pset_fill_time(dcpl.get(), static_cast<H5D_fill_time_t>(creation.fill_time)),
                     "fill time"));
  NMB_TRY(set_fill_value(source, variable, creation, find_object, dcpl.get()));
  NMB_TRY(add_filters(creation.filters,
                      has_chunks || !has_values ? FilterUse::kKeep : FilterUse::kRun, file,
                      dcpl.get()));
  if (const Property* p = source.find(Property::Number::kExternalFiles, variable))
    NMB_TRY(set_external(*p, dcpl.get()));
  if (const Property* p = source.find(Property::Number::kVirtual, variable))
    NMB_TRY(set_virtual(*p, dcpl.get()));
  NMB_TRY(set_attribute_order(dcpl.get(), source.order(variable).attributes));
  return check_handle(H5Dcreate_anon(file, datatype, dataspace.get(), dcpl.get(), H5P_DEFAULT),
                      "creation");
}

}  // namespace

Creation creation_of(const ExportSource& source, VarId variable, const Space& space) {
  const Storage* const storage = source.storage_of(variable);
  const bool has_chunks = storage && storage->kind == StorageKind::kChunked;
  Creation creation;
  if (const Property* p = source.find(Property::Number::kCreation, variable)) {
    creation = p->creation;
  } else if (has_chunks) {
    set_chunked(storage->chunk, &creation);
  } else if (space.space_class == SpaceClass::kSimple && space.lengths != space.maximum) {
    // If a data set may grow, HDF5 requires chunks.
    set_chunked(usual_chunk(space, value_size(source, variable)), &creation);
  }
  if (source.is_classic() && !has_chunks) {
    if (creation.fill_state == FillState::kDefault &&
        !TypeTable::is_extended(source.metadata().variable(variable).type)) {
      creation.fill_value = fill_value(source.metadata(), variable);
      creation.fill_state = FillState::kUser;
    }
    set_classic_chunk(source, variable, space, &creation);
    add_classic_filters(source, variable, space, &creation);
  }
  if (has_chunks) {
    creation.chunk = storage->chunk;
    creation.filters = storage->filters;
  }
  if (source.style().relayout) set_new_layout(source, variable, &creation);
  return creation;
}

Status set_attribute_order(hid_t list, std::uint32_t flags) {
  if (flags == 0) return {};
  return check_hdf5(H5Pset_attr_creation_order(list, flags), "order of attributes");
}

Result<Handle> make_data_set(ExportSource& source, VarId variable, hid_t file,
                             const FindObject& find_object) {
  Result<Handle> made = make(source, variable, file, find_object);
  if (made.ok()) return made;
  return made.status().of_object(source.text(variable));
}

}  // namespace nmb::hdf5
