#include "import/group_in.h"

#include <algorithm>
#include <optional>

#include "decoding/chunk_index_in.h"
#include "decoding/object_header_in.h"
#include "export/attributes_out.h"
#include "hdf5_error.h"
#include "hdf5_types/type_header.h"
#include "hdf5_types/virtual_name.h"
#include "import/alike_data_sets.h"
#include "import/creation_in.h"
#include "import/missing_chunks.h"
#include "import/scales_in.h"
#include "import/space_in.h"
#include "import/virtual_sources.h"
#include "model/classic.h"
#include "model/value_begin.h"
#include "resource_limits.h"
#include "slabs.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Maximum bytes of values that are converted at a time.
constexpr std::uint64_t kMostSlab = 1 << 20;

Result<std::string> comment_of(hid_t object, const std::string& text) {
  NMB_ASSIGN(const ssize_t length, read_value(H5Oget_comment(object, nullptr, 0), text));
  std::string comment(static_cast<std::size_t>(length), '\0');
  if (length > 0)
    NMB_TRY(check_read(H5Oget_comment(object, comment.data(), comment.size() + 1), text));
  return comment;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

// Returns whether it is faster to read all chunks than to ask HDF5 for their positions. To find the
// position of a chunk, HDF5 1.10 visits the chunks of a data set one by one; each visit takes about
// as long as copying 64 bytes. Reading a chunk does not need this search.
bool costs_less_to_copy(hid_t data_set, std::uint64_t present) {
  constexpr std::uint64_t kFew = 1024, kBytesAStep = 64;
  return present > kFew && H5Dget_storage_size(data_set) / present / kBytesAStep < present;
}

// Reads the places of the chunks from the bytes of the file. Returns nullopt if the file stores the
// places in an unknown form.
std::optional<std::vector<ChunkPlace>> chunk_places(const FileIn& file, hid_t data_set,
                                                    const ChunkShape& shape,
                                                    std::uint64_t present) {
  if (!file.bytes) return std::nullopt;
  H5O_info_t info;
  if (H5Oget_info2(data_set, &info, H5O_INFO_BASIC) < 0) return std::nullopt;
  const auto layout = ObjectHeaderIn(*file.bytes).chunk_layout(info.addr);
  if (!layout) return std::nullopt;
  return read_chunk_index(*file.bytes, *layout, shape, present);
}

// Returns the filters that HDF5 does not apply to partial chunks, as a filter mask. A partial chunk
// reaches beyond the end of the data set, and its stored filter mask does not show that these
// filters were left out.
Result<std::uint32_t> partial_mask(hid_t plist, std::size_t filters, const std::string& object) {
  unsigned options = 0;
  NMB_TRY(check_read(H5Pget_chunk_opts(plist, &options), object));
  const bool is_filtered = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
  return is_filtered ? 0 : static_cast<std::uint32_t>((std::uint64_t{1} << filters) - 1);
}

// Returns whether a chunk reaches beyond the end of the data set.
bool is_partial(const Space& space, const std::vector<std::uint64_t>& chunk, std::uint64_t number) {
  for (std::size_t i = chunk.size(); i-- > 0;) {
    const std::uint64_t rest = space.lengths[i] % chunk[i];
    const std::uint64_t count = space.lengths[i] / chunk[i] + (rest != 0);
    if (rest != 0 && number % count == count - 1) return true;
    number /= count;
  }
  return false;
}

// Sets the layout of a data set whose values are copied. If a data set may grow, HDF5 requires
// chunks.
void set_layout_of_copy(const Space& space, Creation* creation) {
  creation->layout = Layout::kContiguous;
  creation->allocation = Allocation::kLate;
  if (space.lengths == space.maximum) return;
  creation->layout = Layout::kChunked;
  creation->allocation = Allocation::kIncremental;
  creation->chunk.clear();
  constexpr std::uint64_t kMost = 1024;  // maximum length of a chunk along a dimension
  for (const std::uint64_t n : space.lengths)
    creation->chunk.push_back(std::clamp<std::uint64_t>(n, 1, kMost));
}

// Returns the first filter that the HDF5 library cannot decode, or nullptr. Only values that the
// library must read need all filters; other chunks are copied in their stored form.
const Filter* missing_filter(const std::vector<Filter>& filters) {
  const OpeningAllowed plugins;
  for (const Filter& filter : filters)
    if (H5Zfilter_avail(static_cast<H5Z_filter_t>(filter.id)) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return &filter;
    }
  return nullptr;
}

}  // namespace

GroupIn::GroupIn(FileIn& file, std::string name)
    : file_(file), name_(std::move(name)), types_([&file](hid_t named) -> Result<std::string> {
        NMB_ASSIGN(const std::string path, file.path_of(named));
        return file.placed(path);
      }) {
  // Names must be checked at once, because dimension() looks up names before all of them are added.
  metadata_.check_names_at_once();
}

Property& GroupIn::add_property(Property::Number number, VarId owner, std::uint32_t attribute) {
  Property& p = (owner == kGlobal ? properties_ : variable_properties_).emplace_back();
  p.number = number;
  p.owner = owner;
  p.attribute = attribute;
  return p;
}

// Appends the properties of one owner in the order that the hdf5 section requires.
void GroupIn::append_properties(std::vector<Property> properties, std::vector<std::byte>* section) {
  std::ranges::stable_sort(properties, {}, place_of);
  for (const Property& p : properties) append_property(p, section);
}

Status GroupIn::add_group(hid_t group) {
  const std::string object = "group /" + name_;
  NMB_ASSIGN(const Handle plist, read_handle(H5Gget_create_plist(group), object));
  unsigned links = 0, attribute_order = 0;
  NMB_TRY(check_read(H5Pget_link_creation_order(plist.get(), &links), object));
  NMB_TRY(check_read(H5Pget_attr_creation_order(plist.get(), &attribute_order), object));
  if ((links | attribute_order) != 0)
    add_property(Property::Number::kOrder, kGlobal).order = {links, attribute_order};
  NMB_TRY(add_comment(group, kGlobal, object));
  NMB_ASSIGN(std::vector<AttributeIn> attributes, attributes_in(file_, types_, group, "/" + name_));
  name_lost("group /" + name_);
  return add_attributes(std::move(attributes), kGlobal, &metadata_, true);
}

void GroupIn::name_lost(const std::string& path) {
  LostReferences lost = std::exchange(*file_.lost, {});
  for (const std::string& name : lost.attributes)
    lost_.insert(joined_text("attribute \"", name, "\" of ", path));
  if (lost.count > 0 && lost.attributes.empty()) lost_.insert("values of " + path);
}

Status GroupIn::add_comment(hid_t object, VarId owner, const std::string& text) {
  NMB_ASSIGN(const std::string comment, comment_of(object, text));
  if (!comment.empty()) add_property(Property::Number::kComment, owner).bytes = bytes_of(comment);
  return {};
}

void GroupIn::add_user_block(std::vector<std::byte> bytes) {
  add_property(Property::Number::kUserBlock, kGlobal).bytes = std::move(bytes);
}

Result<Type> GroupIn::add_named_type(hid_t type) {
  const std::string object = "named datatype";
  NMB_ASSIGN(const Type code, types_.code_of(type));
  NMB_ASSIGN(const std::string comment, comment_of(type, object));
  if (!comment.empty()) {
    Property& p = add_property(Property::Number::kTypeComment, kGlobal);
    p.type = code;
    p.bytes = bytes_of(comment);
  }
  NMB_ASSIGN(const std::string path, file_.path_of(type));
  NMB_ASSIGN(std::vector<AttributeIn> found, attributes_in(file_, types_, type, path));
  name_lost("named datatype " + path);
  if (found.empty()) return code;
  Metadata attributes{Metadata::Names::kAsFound};
  NMB_TRY(add_attributes(std::move(found), kGlobal, &attributes, false));
  Property& p = add_property(Property::Number::kTypeAttributes, kGlobal);
  p.type = code;
  NMB_ASSIGN(p.bytes, encode_type_attributes(std::move(attributes), types_.table()));
  return code;
}

Status GroupIn::add_attributes(std::vector<AttributeIn> attributes, VarId owner, Metadata* to,
                               bool keep_properties) {
  std::uint32_t number = 0;
  for (AttributeIn& a : attributes) {
    const std::string object = "attribute " + a.name;
    const Status added = TypeTable::is_extended(a.type)
                             ? to->def_extended_att(owner, a.name, a.type, a.count, a.values)
                             : to->def_att(owner, a.name, a.type, a.values);
    if (!added.ok()) return added.of_object(object);

    const bool is_default = a.count == 1
                                ? a.space.space_class == SpaceClass::kScalar
                                : a.space.lengths.size() == 1 && a.space.maximum == a.space.lengths;
    if (!is_default) {
      if (!keep_properties)
        return unsupported(object + " of a named datatype has a shape that a block cannot hold");
      add_property(Property::Number::kSpace, owner, number).space = std::move(a.space);
    }
    if (a.character_set != usual_character_set(a.name) && keep_properties)
      add_property(Property::Number::kCharacterSet, owner, number).character_set = a.character_set;
    ++number;
  }
  return {};
}

Result<DimId> GroupIn::dimension(const std::string& key, const std::string& name,
                                 std::uint64_t length, bool unlimited) {
  const auto found = dimensions_.find(key);
  if (found != dimensions_.end()) return found->second;
  std::string free_name = name.empty() ? joined_text("phony_dim_", phony_++) : name;
  for (unsigned n = 2; metadata_.find_dimension(free_name); ++n)
    free_name = joined_text(name.empty() ? "phony_dim" : name, "_", n);
  NMB_ASSIGN(const DimId added, metadata_.def_dim(free_name, length));
  if (unlimited) unlimited_.push_back({added, false});
  dimensions_.emplace(key, added);
  return added;
}

Result<std::vector<DimId>> GroupIn::dimensions_of(const std::string& path,
                                                  const std::vector<AttributeIn>& attributes,
                                                  const Space& space) {
  const std::vector<std::string> scales =
      scales_of(file_, path, attributes, types_.table(), space.lengths.size());
  std::vector<DimId> ids;
  for (std::size_t i = 0; i < space.lengths.size(); ++i) {
    if (space.lengths[i] > ~std::uint64_t{0} >> 1)
      return damaged(path, ": found a length of ", space.lengths[i]);
    const bool unlimited = space.maximum[i] == kUnlimitedLength;
    // Data sets with the same scale may differ in length. Each length becomes a separate dimension.
    const std::string key = joined_text(scales[i], "/", space.lengths[i], unlimited ? "+" : "");
    const std::string name = scales[i].substr(scales[i].rfind('/') + 1);
    NMB_ASSIGN(const DimId id, dimension(key, name, space.lengths[i], unlimited));
    ids.push_back(id);
  }
  return ids;
}

std::string GroupIn::path_of(const std::string& name) const {
  return (name_.empty() ? "" : "/" + name_) + "/" + name;
}

Result<bool> GroupIn::add_alike(const std::string& name, std::uint64_t address) {
  if (!file_.alike) return false;
  NMB_ASSIGN(std::optional<DataSetIn> found, file_.alike->read(address, types_));
  if (!found) return false;
  const std::string path = path_of(name), object = "data set " + path;
  name_lost(object);
  NMB_ASSIGN(const VarId variable, declare(name, path, *found));
  NMB_ASSIGN(const std::uint64_t bytes, length_of(*found, object));
  std::uint64_t begin = extent_end_;
  if (bytes > 0) {
    NMB_ASSIGN(begin, add_contiguous(variable, object, found->offset, bytes));
  }
  NMB_TRY(complete(variable, begin, std::move(*found)));
  return true;
}

Status GroupIn::add_variable(const std::string& name, hid_t data_set) {
  const std::string path = path_of(name), object = "data set " + path;
  NMB_ASSIGN(const Handle plist_handle, read_handle(H5Dget_create_plist(data_set), object));
  NMB_ASSIGN(const Handle type_handle, read_handle(H5Dget_type(data_set), object));
  NMB_ASSIGN(const Handle space, read_handle(H5Dget_space(data_set), object));
  const hid_t plist = plist_handle.get(), type = type_handle.get();
  DataSetIn found;
  NMB_ASSIGN(found.space, space_in(space.get(), object));
  NMB_ASSIGN(found.type, types_.code_of(type));
  NMB_TRY(check_read(H5Pget_attr_creation_order(plist, &found.attribute_order), object));
  NMB_ASSIGN(found.attributes, attributes_in(file_, types_, data_set, path));
  name_lost(object);
  NMB_ASSIGN(found.creation, creation_in(file_, types_.table(), plist, type, found.type, object));
  const bool in_one_run = found.creation.layout == Layout::kContiguous &&
                          !types_.table().needs_heap(found.type) &&
                          H5Pget_external_count(plist) == 0;
  // If values were never written, H5Dget_offset() returns HADDR_UNDEF plus the length of the user
  // block.
  if (in_one_run)
    found.offset = H5Dget_storage_size(data_set) == 0 ? HADDR_UNDEF : H5Dget_offset(data_set);
  name_lost(object);
  if (file_.alike) {
    NMB_TRY(file_.alike->learn(data_set, in_one_run ? std::optional(found) : std::nullopt, types_));
    *file_.lost = {};  // learn() has read the same attributes again
  }

  NMB_ASSIGN(const VarId variable, declare(name, path, found));
  NMB_ASSIGN(const std::uint64_t begin,
             add_values(variable, object, data_set, plist, type, &found));
  if (!file_.materialise) {
    if (H5Pget_external_count(plist) > 0) NMB_TRY(add_external(variable, object, plist));
    if (found.creation.layout == Layout::kVirtual) NMB_TRY(add_virtual(variable, object, plist));
  }
  name_lost(object);
  NMB_TRY(add_comment(data_set, variable, object));
  return complete(variable, begin, std::move(found));
}

// Defines the variable with its dimensions.
Result<VarId> GroupIn::declare(const std::string& name, const std::string& path,
                               const DataSetIn& found) {
  const Space& space = found.space;
  NMB_ASSIGN(const std::vector<DimId> ids, dimensions_of(path, found.attributes, space));
  NMB_ASSIGN(const VarId variable, metadata_.def_var(name, found.type, ids));

  bool is_default = true;
  for (std::size_t i = 0; i < space.lengths.size(); ++i)
    is_default = is_default &&
                 (space.maximum[i] == space.lengths[i] || space.maximum[i] == kUnlimitedLength);
  if (space.space_class == SpaceClass::kNull ||
      (space.space_class == SpaceClass::kSimple && space.lengths.empty()))
    is_default = false;
  if (!is_default) add_property(Property::Number::kSpace, variable).space = space;
  return variable;
}

// Completes the definition of a variable, after its values have been added.
Status GroupIn::complete(VarId variable, std::uint64_t begin, DataSetIn found) {
  metadata_.set_begin(variable, begin);
  const bool has_chunks = !storage_.empty() && storage_.back().variable == variable &&
                          storage_.back().kind == StorageKind::kChunked;
  const Allocation usual = has_chunks ? Allocation::kIncremental : Allocation::kLate;
  const Layout layout = has_chunks ? Layout::kChunked : Layout::kContiguous;
  if (found.creation.layout != layout || found.creation.allocation != usual ||
      found.creation.fill_time != FillTime::kIfSet ||
      found.creation.fill_state != FillState::kDefault)
    add_property(Property::Number::kCreation, variable).creation = std::move(found.creation);
  if (found.attribute_order != 0)
    add_property(Property::Number::kOrder, variable).order.attributes = found.attribute_order;
  NMB_TRY(add_attributes(std::move(found.attributes), variable, &metadata_, true));
  append_properties(std::exchange(variable_properties_, {}), &variable_section_);
  return {};
}

// Returns the number of bytes of all values.
Result<std::uint64_t> GroupIn::length_of(const DataSetIn& found, const std::string& object) const {
  NMB_ASSIGN(std::uint64_t bytes, elements_of(found.space, object));
  if (!checked_mul(bytes, types_.table().value_size(found.type), &bytes) ||
      bytes > ~std::uint64_t{0} >> 2)
    return damaged(object + ": found more than 2^62 bytes of values");
  return bytes;
}

std::uint64_t GroupIn::add_nothing(VarId variable) {
  storage_.push_back({variable, StorageKind::kNone, 0, {}, {}});
  return extent_end_;
}

std::uint64_t GroupIn::add_undecoded(VarId variable, const Filter& filter) {
  Property& p = add_property(Property::Number::kUndecoded, variable);
  p.filter = filter.id;
  p.filter_name = filter.name;
  return add_nothing(variable);
}

std::uint64_t GroupIn::append_run(std::uint64_t length, std::uint64_t source, RunSource from) {
  const std::uint64_t begin = extent_end_;
  add_run({begin, length, source, from});
  extent_end_ = begin + length;
  return begin;
}

// Adds values that the file stores as one run of `bytes` bytes at offset `at`.
Result<std::uint64_t> GroupIn::add_contiguous(VarId variable, const std::string& object,
                                              std::uint64_t at, std::uint64_t bytes) {
  if (at == HADDR_UNDEF) return add_nothing(variable);
  if (at > file_.size || bytes > file_.size - at)
    return damaged(object, ": found ", bytes, " bytes of values at ", at,
                   ", which exceed the file's length of ", file_.size);
  return append_run(bytes, at, RunSource::kFile);
}

Result<std::uint64_t> GroupIn::add_values(VarId variable, const std::string& object, hid_t data_set,
                                          hid_t plist, hid_t type, DataSetIn* found) {
  const TypeTable& table = types_.table();
  const Type code = found->type;
  const Space& space = found->space;
  Creation* const creation = &found->creation;
  const H5D_layout_t layout = H5Pget_layout(plist);
  NMB_ASSIGN(const std::uint64_t count, elements_of(space, object));
  NMB_ASSIGN(const std::uint64_t bytes, length_of(*found, object));
  const bool heap = table.needs_heap(code);
  const bool elsewhere = layout == H5D_VIRTUAL || H5Pget_external_count(plist) > 0;
  const bool chunked = layout == H5D_CHUNKED;
  if (chunked && (heap || space.space_class != SpaceClass::kSimple)) {
    std::vector<hsize_t> chunk(H5S_MAX_RANK);
    NMB_ASSIGN(const int rank, read_value(H5Pget_chunk(plist, H5S_MAX_RANK, chunk.data()), object));
    creation->chunk.assign(chunk.begin(), chunk.begin() + rank);
    NMB_ASSIGN(creation->filters, filters_in(plist, object));
  }
  if (space.space_class == SpaceClass::kNull || (elsewhere && !file_.materialise))
    return add_nothing(variable);
  if (elsewhere) {
    NMB_TRY(check_sources(object, file_.file, file_.path, plist));
    set_layout_of_copy(space, creation);
    if (count == 0) return add_nothing(variable);
    Result<std::uint64_t> begin = add_read(variable, object, data_set, type, code, space, nullptr);
    if (begin.status().code() != Code::kNotFound) return begin;
    std::string names;
    NMB_ASSIGN(const std::vector<ExternalFile> files, external_files(object, plist));
    for (const ExternalFile& file : files) names += (names.empty() ? "" : ", ") + file.name;
    return Status(Code::kNotFound,
                  object + ": values cannot be copied from " + names + ", which HDF5 cannot open");
  }
  if (heap) {
    NMB_ASSIGN(const bool stores, has_storage(data_set, object));
    if (count == 0 || !stores) return add_nothing(variable);
    if (const Filter* const missing = missing_filter(creation->filters))
      return add_undecoded(variable, *missing);
    std::optional<MissingChunks> missing;
    if (chunked) {
      NMB_ASSIGN(missing, missing_chunks(data_set, plist, space, *creation, object));
    }
    const std::size_t runs = runs_.size();
    Result<std::uint64_t> begin =
        add_read(variable, object, data_set, type, code, space, missing ? &*missing : nullptr);
    if (begin.status().rule() != "R-XC-1") return begin;
    runs_.resize(runs);
    *file_.lost = {};
    std::string why = begin.status().message();
    if (why.starts_with(object)) why.erase(0, std::min(why.size(), object.size() + 2));
    return add_undecoded(variable, {0, 0, "stored values are damaged (" + why + ")", {}});
  }
  if (chunked) return add_chunks(variable, object, data_set, plist, space);
  if (count == 0) return extent_end_;
  if (layout != H5D_COMPACT) return add_contiguous(variable, object, found->offset, bytes);
  std::vector<std::byte> values(bytes);
  NMB_TRY(
      check_read(H5Dread(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), object));
  NMB_ASSIGN(const std::uint64_t at, file_.spool->append(values, object));
  return append_run(bytes, at, RunSource::kSpool);
}

// Returns the run that has the stored bytes of the chunk at `at`. If the chunk is not stored, the
// length of the run is 0. If `copied` is true, copies the bytes to the spool.
Result<ExtentRun> GroupIn::find_chunk(const std::string& object, hid_t data_set, const hsize_t* at,
                                      bool copied, unsigned* mask) {
  hsize_t length = 0;
  if (copied) {
    // This call fails for missing chunks.
    if (H5Dget_chunk_storage_size(data_set, at, &length) < 0 || length == 0)
      return ExtentRun{0, 0, 0, RunSource::kSpool};
    if (length > file_.size)
      return damaged(object, ": found a chunk of ", length,
                     " bytes, which exceeds the file's length of ", file_.size);
    std::vector<std::byte> bytes(length);
    NMB_TRY(check_read(H5Dread_chunk(data_set, H5P_DEFAULT, at, mask, bytes.data()), object));
    NMB_ASSIGN(const std::uint64_t place, file_.spool->append(bytes, object));
    return ExtentRun{0, length, place, RunSource::kSpool};
  }
  haddr_t place = HADDR_UNDEF;
  NMB_TRY(check_read(H5Dget_chunk_info_by_coord(data_set, at, mask, &place, &length), object));
  if (place == HADDR_UNDEF) return ExtentRun{0, 0, 0, RunSource::kFile};
  place += file_.chunk_base;
  if (place > file_.size || length > file_.size - place)
    return damaged(object, ": found a chunk of ", length, " bytes at ", place,
                   ", which exceeds the file's length of ", file_.size);
  return ExtentRun{0, length, place, RunSource::kFile};
}

// Adds a run. If the new run continues the last run in both the extent and the source, extends the
// last run instead.
void GroupIn::add_run(const ExtentRun& run) {
  if (!runs_.empty()) {
    ExtentRun& last = runs_.back();
    if (last.from == run.from && last.source + last.length == run.source &&
        last.offset + last.length == run.offset) {
      last.length += run.length;
      return;
    }
  }
  runs_.push_back(run);
}

Result<std::uint64_t> GroupIn::add_read(VarId variable, const std::string& object, hid_t data_set,
                                        hid_t type, Type code, const Space& space,
                                        const MissingChunks* missing) {
  const TypeTable& table = types_.table();
  const std::uint64_t size = table.value_size(code), step = H5Tget_size(type);
  NMB_ASSIGN(const std::uint64_t count, elements_of(space, object));
  const bool has_heap = table.needs_heap(code);
  const std::uint64_t array = count * size;
  const std::uint64_t begin = has_heap ? region_begin(extent_end_) : extent_end_;
  NMB_ASSIGN(const std::uint64_t elements_at, file_.spool->reserve(array, object));
  Heap heap(array);
  runs_.push_back({begin, array, elements_at, RunSource::kSpool});
  NMB_ASSIGN(const Handle scalar, read_handle(H5Screate(H5S_SCALAR), object));
  ReadValues fill{std::vector<std::byte>(step), type, -1};
  if (missing) {
    NMB_TRY(check_read(H5Pget_fill_value(missing->plist, type, fill.bytes.data()), object));
    fill.space = scalar.get();
  }

  NMB_ASSIGN(const Handle file_space, read_handle(H5Dget_space(data_set), object));
  const auto read_slab = [&](const Slab& slab) -> Status {
    const hsize_t elements = slab.elements;
    NMB_ASSIGN(const Handle memory_space,
               read_handle(H5Screate_simple(1, &elements, nullptr), object));
    ReadValues read{std::vector<std::byte>(slab.elements * step), type, -1};
    const bool is_scalar = slab.count.empty();
    if (!is_scalar)
      NMB_TRY(check_read(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, slab.start.data(),
                                             nullptr, slab.count.data(), nullptr),
                         object));
    std::vector<bool> is_missing;  // by element of the slab
    {
      const OpeningAllowed filters;
      if (missing)
        NMB_ASSIGN(is_missing,
                   read_stored_chunks(*missing, data_set, type, slab, read.bytes.data(), object));
      else
        NMB_TRY(check_read(
            H5Dread(data_set, type, memory_space.get(), is_scalar ? H5S_ALL : file_space.get(),
                    H5P_DEFAULT, read.bytes.data()),
            object));
    }
    read.space = memory_space.get();
    std::vector<std::byte> values;
    if (!missing)
      NMB_TRY(encode_values(table, code, file_.references, read.bytes.data(), slab.elements,
                            &values, &heap));
    for (std::size_t i = 0; i < is_missing.size(); ++i)
      NMB_TRY(encode_values(table, code, file_.references,
                            is_missing[i] ? fill.bytes.data() : &read.bytes[i * step], 1, &values,
                            &heap));
    NMB_TRY(file_.spool->write_at(elements_at + slab.first * size, values));
    if (const std::vector<std::byte> led_to = heap.take(); !led_to.empty()) {
      NMB_ASSIGN(const std::uint64_t at, file_.spool->append(led_to, object));
      runs_.push_back({begin + heap.end() - led_to.size(), led_to.size(), at, RunSource::kSpool});
    }
    return {};
  };
  NMB_TRY(for_each_slab(space.lengths, std::max<std::uint64_t>(1, kMostSlab / step), 1, read_slab));
  const std::uint64_t region = heap.end();
  if (has_heap) storage_.push_back({variable, StorageKind::kHeap, region, {}, {}});
  extent_end_ = begin + region;
  return begin;
}

Result<std::uint64_t> GroupIn::add_chunks(VarId variable, const std::string& object, hid_t data_set,
                                          hid_t plist, const Space& space) {
  const std::size_t rank = space.lengths.size();
  Storage storage{variable, StorageKind::kChunked, 0, {}, {}};
  NMB_ASSIGN(storage.filters, filters_in(plist, object));
  std::vector<hsize_t> chunk(rank);
  NMB_ASSIGN(const int chunk_rank,
             read_value(H5Pget_chunk(plist, static_cast<int>(rank), chunk.data()), object));
  if (chunk_rank != static_cast<int>(rank))
    return damaged(object + ": chunks do not have as many dimensions as the data set");
  storage.chunk.assign(chunk.begin(), chunk.end());
  std::uint64_t chunks = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (chunk[i] == 0) return damaged(object + ": found a chunk of length 0");
    const std::uint64_t n = space.lengths[i] / chunk[i] + (space.lengths[i] % chunk[i] != 0);
    if (!checked_mul(chunks, n, &chunks) || chunks > kMostChunksOfDataSet)
      return failure(Code::kLimit, object, ": found more than ", kMostChunksOfDataSet, " chunks");
  }
  const std::uint64_t begin = region_begin(extent_end_);
  NMB_ASSIGN(const std::uint64_t table_at,
             file_.spool->reserve(chunks * ChunkRow::kLength, object));
  std::vector<std::byte> table(chunks * ChunkRow::kLength);
  std::uint64_t end = table.size();
  NMB_ASSIGN(const std::uint32_t mask_if_partial,
             partial_mask(plist, storage.filters.size(), object));
  const auto put_row = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t length,
                           std::uint32_t mask) {
    if (mask_if_partial != 0 && is_partial(space, storage.chunk, number)) mask |= mask_if_partial;
    std::byte* row = table.data() + number * ChunkRow::kLength;
    store_le(row, offset);
    store_le(row + 8, length);
    store_le(row + 16, mask);
  };
  std::vector<hsize_t> at(rank, 0);
  std::uint64_t present = 0;
  if (chunks > 0) {
    NMB_ASSIGN(present, chunks_present(data_set, object));
  }
  std::uint64_t found = 0;
  std::optional<std::vector<ChunkPlace>> places;
  if (present > 0)
    places = chunk_places(file_, data_set,
                          {space.lengths, space.maximum, storage.chunk, !storage.filters.empty()},
                          present);
  for (const ChunkPlace& place : places.value_or(std::vector<ChunkPlace>())) {
    put_row(place.number, end, place.length, place.mask);
    add_run({begin + end, place.length, place.offset, RunSource::kFile});
    end += place.length;
    ++found;
  }
  // The HDF5 library finds the chunks if chunk_places() found no places.
  const bool misplaced = has_misplaced_chunks(space);
  const bool copied = misplaced || costs_less_to_copy(data_set, present);
  for (std::uint64_t n = 0; n < chunks && found < present; ++n) {
    unsigned mask = 0;
    NMB_ASSIGN(ExtentRun run, find_chunk(object, data_set, at.data(), copied, &mask));
    if (run.length > 0) {
      ++found;
      run.offset = begin + end;
      put_row(n, end, run.length, mask);
      add_run(run);
      end += run.length;
    }
    for (std::size_t i = rank; i-- > 0;) {
      at[i] += chunk[i];
      if (at[i] < space.lengths[i] || i == 0) break;
      at[i] = 0;
    }
  }
  // HDF5 cannot find some misplaced chunks, and reads fill values in their place.
  if (!misplaced && found < present) return chunks_elsewhere(object, found, present);
  if (!table.empty()) {
    NMB_TRY(file_.spool->write_at(table_at, table));
    runs_.push_back({begin, table.size(), table_at, RunSource::kSpool});
  }
  storage.region_length = end;
  storage_.push_back(std::move(storage));
  extent_end_ = begin + end;
  return begin;
}

Status GroupIn::add_external(VarId variable, const std::string& object, hid_t plist) {
  NMB_ASSIGN(std::vector<ExternalFile> files, external_files(object, plist));
  add_property(Property::Number::kExternalFiles, variable).external_files = std::move(files);
  return {};
}

Result<std::vector<ExternalFile>> GroupIn::external_files(const std::string& object, hid_t plist) {
  std::vector<ExternalFile> files;
  NMB_ASSIGN(const int count, read_value(H5Pget_external_count(plist), object));
  for (int i = 0; i < count; ++i) {
    ExternalFile file;
    char name[4097] = {};
    off_t offset = 0;
    hsize_t size = 0;
    NMB_TRY(check_read(H5Pget_external(plist, static_cast<unsigned>(i), 4096, name, &offset, &size),
                       object));
    file.name = name;
    file.offset = static_cast<std::uint64_t>(offset);
    file.size = size;
    files.push_back(std::move(file));
  }
  return files;
}

Status GroupIn::add_virtual(VarId variable, const std::string& object, hid_t plist) {
  Property& p = add_property(Property::Number::kVirtual, variable);
  std::size_t count = 0;
  NMB_TRY(check_read(H5Pget_virtual_count(plist, &count), object));
  const auto name = [&](ssize_t (*get)(hid_t, std::size_t, char*, std::size_t),
                        std::size_t i) -> Result<std::string> {
    NMB_ASSIGN(const ssize_t length, read_value(get(plist, i, nullptr, 0), object));
    std::string text(static_cast<std::size_t>(length), '\0');
    NMB_TRY(check_read(get(plist, i, text.data(), text.size() + 1), object));
    return text;
  };
  for (std::size_t i = 0; i < count; ++i) {
    VirtualSource source;
    NMB_ASSIGN(source.file, name(H5Pget_virtual_filename, i));
    NMB_ASSIGN(source.data_set, name(H5Pget_virtual_dsetname, i));
    if (source.is_in_own_file())
      source.data_set = *moved_source(source.data_set, [&](const std::string& path) {
        return std::optional(file_.placed(path));
      });
    NMB_ASSIGN(const Handle here, read_handle(H5Pget_virtual_vspace(plist, i), object));
    NMB_ASSIGN(const Handle there, read_handle(H5Pget_virtual_srcspace(plist, i), object));
    NMB_ASSIGN(source.here, encoded_selection(here.get(), object, Extent::kOfVirtual));
    NMB_ASSIGN(source.there, encoded_selection(there.get(), object));
    p.sources.push_back(std::move(source));
  }
  return {};
}

// Returns whether the block needs no property for its links, because readers assume the same links
// without it.
bool GroupIn::has_default_links() const {
  VarId variable = 0;
  const std::string* last_group = nullptr;
  for (const Link& link : links_) {
    if (link.kind == LinkKind::kVariable) {
      if (last_group || link.number != variable++) return false;
      const std::string name(metadata_.variable(link.number).name);
      if (link.character_set != usual_character_set(name)) return false;
    } else if (link.kind == LinkKind::kGroup) {
      if (link.character_set != usual_character_set(link.name)) return false;
      if (last_group && link.name <= *last_group) return false;
      last_group = &link.name;
    } else {
      return false;
    }
  }
  return true;
}

Result<GroupIn::Content> GroupIn::finish() {
  if (!has_default_links())
    add_property(Property::Number::kLinks, kGlobal).links = std::move(links_);
  auto extension = std::make_shared<Extension>();
  extension->types = types_.table();
  extension->unlimited = std::move(unlimited_);
  extension->storage = std::move(storage_);
  append_properties(std::move(properties_), &extension->hdf5);
  extension->hdf5.insert(extension->hdf5.end(), variable_section_.begin(), variable_section_.end());
  variable_section_ = {};
  metadata_.set_extension(std::move(extension));
  Result<std::vector<std::byte>> body = encode_extended_body(metadata_, 0);
  if (!body.ok()) return body.status().of_object("group /" + name_);

  std::sort(runs_.begin(), runs_.end(),
            [](const ExtentRun& a, const ExtentRun& b) { return a.offset < b.offset; });
  return Content{{name_, extent_end_, {lost_.begin(), lost_.end()}, std::move(runs_)},
                 *std::move(body)};
}

}  // namespace nmb::hdf5
