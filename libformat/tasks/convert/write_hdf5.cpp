// Writes an NMB file as HDF5 with nmb-hdf5 (see convert/convert.h).
#include <algorithm>
#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cmip7_layout.h"
#include "client/damaged_chunks.h"
#include "client/decode_group.h"
#include "client/hdf5_file.h"
#include "client/hdf5_form.h"
#include "client/named_blocks.h"
#include "client/netcdf_check.h"
#include "compare/compare_definitions.h"
#include "compare/dataset_content.h"
#include "convert/convert.h"
#include "convert/write_cmip7.h"
#include "convert/write_merged.h"
#include "convert/write_variables.h"
#include "files/files.h"
#include "files/first_difference.h"
#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/netcdf_marks.h"
#include "hdf5_types/type_header.h"
#include "model/classic.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"
#include "parallel/workers.h"
#include "server/hdf5_process.h"
#include "sources/value_source.h"
#include "values/chunk_coding.h"
#include "values/chunk_table.h"
#include "values/rechunked_array.h"
#include "verify/chunk_checker.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

Status check_ranges(const ExtractOptions& options) {
  if (options.deflate < 0 || options.deflate > 9)
    return Status(Code::kUsage,
                  "found deflate level " + std::to_string(options.deflate) + ", expected 0 to 9");
  for (const Compression::ChunkLength& asked : options.chunk)
    if (asked.length == 0)
      return Status(Code::kUsage,
                    "found chunks of length 0 along " + asked.object() + ", expected 1 or more");
  return {};
}

// Returns the arguments that follow the file names in the command `nmb-hdf5 export`.
std::vector<std::string> export_arguments(const ExtractOptions& options) {
  const auto flag = [](bool is_set) { return is_set ? "1" : "0"; };
  std::string chunk;
  for (const Compression::ChunkLength& asked : options.chunk)
    chunk += (chunk.empty() ? "" : ",") + asked.text();
  return {std::to_string(options.deflate), flag(options.shuffle), flag(options.made_up_names),
          chunk, std::to_string(options.threads)};
}

// Runs an nmb-hdf5 command, which writes the file `output`. `path` is the final name of `output`.
Status run_worker(const std::string& command, const std::string& input, const std::string& output,
                  const std::string& path, const std::vector<std::string>& arguments,
                  const ExtractOptions& options) {
  using hdf5::Hdf5Process;
  std::vector<std::string> words{command, input, output};
  words.insert(words.end(), arguments.begin(), arguments.end());
  NMB_ASSIGN(const std::unique_ptr<Hdf5Process> process, Hdf5Process::start(words, -1));
  const Status failure = process->receive({}, options.cancel);
  if (failure.ok()) return {};
  const bool of_output = failure.file() == output || failure.code() == Code::kNoSpace;
  return failure.at(of_output ? path : input, failure.offset());
}

// Numbers the types and dimensions of a block in the order in which the block's definitions use
// them. Leaves out unused types and dimensions. Names dimensions by their numbers, because HDF5
// does not store their names. Variables share only dimensions with a scale, because HDF5 stores
// nothing else about shared dimensions.
class DefinitionsInOrder {
 public:
  explicit DefinitionsInOrder(const LoadedBlock& block) : from_(block.metadata) {}

  Result<Metadata> run() {
    auto extension = std::make_shared<Extension>(*from_.extension());
    NMB_ASSIGN(std::vector<hdf5::Property> properties, hdf5::decode_properties(extension->hdf5));
    extension->hdf5.clear();
    using Number = hdf5::Property::Number;
    for (const hdf5::Property& p : properties)
      if (p.number == Number::kOrder && (p.order.attributes & 1) != 0) tracked_.insert(p.owner);
    for (hdf5::Property& p : properties)
      if (p.attribute != hdf5::kNoAttribute) {
        const std::vector<std::uint32_t>& numbers = new_numbers(p.owner);
        if (p.attribute < numbers.size()) p.attribute = numbers[p.attribute];
      }
    std::ranges::stable_sort(properties, {}, hdf5::place_of);
    for (hdf5::Property& p : properties) {
      if (p.number == Number::kTypeAttributes || p.number == Number::kTypeComment) {
        NMB_ASSIGN(p.type, number(p.type));
      }
      if (p.number == Number::kTypeAttributes) {
        NMB_ASSIGN(p.bytes, type_attributes(p.bytes));
      }
      for (hdf5::Link& link : p.links) {
        if (link.kind != hdf5::LinkKind::kType) continue;
        NMB_ASSIGN(const Type type, number(static_cast<Type>(link.number)));
        link.number = static_cast<std::uint32_t>(type);
      }
      hdf5::append_property(p, &extension->hdf5);
    }
    Metadata to{Metadata::Names::kAsFound};
    // Attributes can be added only after their types exist.
    NMB_TRY(copy_definitions(nullptr));
    extension->types = types_;
    std::map<DimId, Unlimited> before;
    for (const Unlimited& one : extension->unlimited) before.emplace(one.dimension, one);
    extension->unlimited.clear();
    for (const auto& [place, dimension] : dimensions_)
      if (const auto one = before.find(place.dimension); one != before.end())
        extension->unlimited.push_back({dimension, one->second.is_record});
    std::ranges::sort(extension->unlimited, {}, &Unlimited::dimension);
    to.set_extension(std::move(extension));
    NMB_TRY(copy_definitions(&to));
    return to;
  }

 private:
  // Identifies a dimension without a scale by a variable and the position of the dimension in the
  // variable's shape. For a dimension with a scale, these are kGlobal and 0.
  struct DimensionKey {
    DimId dimension = 0;
    VarId variable = kGlobal;
    std::size_t position = 0;
    auto operator<=>(const DimensionKey&) const = default;
  };

  Status copy_definitions(Metadata* to) {
    NMB_TRY(copy_attributes(kGlobal, to));
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      const Variable variable = from_.variable(v);
      NMB_ASSIGN(const Type type, number(variable.type));
      std::vector<DimId> dimensions;
      const std::vector<std::string> scales = scale_paths(from_, v, variable.dimensions.size());
      for (std::size_t i = 0; i < scales.size(); ++i) {
        const DimId d = variable.dimensions[i];
        const auto next = static_cast<DimId>(dimensions_.size());
        const DimensionKey place =
            scales[i].empty() ? DimensionKey{d, v, i} : DimensionKey{d, kGlobal, 0};
        dimensions.push_back(dimensions_.emplace(place, next).first->second);
        if (to && dimensions.back() == to->dimension_count())
          NMB_TRY(to->def_dim("d" + std::to_string(dimensions.back()), from_.dimension(d).length)
                      .status());
      }
      if (to) NMB_TRY(to->def_var(variable.name, type, dimensions).status());
      if (to) to->set_begin(v, variable.begin);
      NMB_TRY(copy_attributes(v, to));
    }
    return {};
  }

  // Returns the new number of each attribute of an object. If HDF5 does not track the order of
  // attributes, they are numbered by name, because their order in a file depends on the gaps that
  // HDF5 finds in object headers.
  const std::vector<std::uint32_t>& new_numbers(std::uint32_t owner) {
    const auto [place, is_new] = attribute_numbers_.try_emplace(owner);
    if (!is_new) return place->second;
    const std::vector<Attribute> attributes = attributes_of(from_, owner);
    std::vector<std::uint32_t> order(attributes.size());
    std::iota(order.begin(), order.end(), 0);
    if (!tracked_.contains(owner))
      std::ranges::sort(order, {}, [&](std::uint32_t i) { return attributes[i].name; });
    place->second.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) place->second[order[i]] = i;
    return place->second;
  }

  static std::vector<Attribute> attributes_of(const Metadata& metadata, VarId owner) {
    std::vector<Attribute> attributes;
    metadata.for_each_attribute(owner, [&](const Attribute& a) { attributes.push_back(a); });
    return attributes;
  }

  Status copy_attributes(VarId owner, Metadata* to) {
    std::vector<Attribute> attributes = attributes_of(from_, owner);
    if (!tracked_.contains(owner)) std::ranges::sort(attributes, {}, &Attribute::name);
    return add_attributes(attributes, owner, to);
  }

  // Returns the attributes of a named datatype by name, with new numbers of their types. HDF5 does
  // not track the order of these attributes.
  Result<std::vector<std::byte>> type_attributes(std::span<const std::byte> header) {
    NMB_ASSIGN(const ClassicHeader was,
               hdf5::decode_type_attributes(header, from_.extension()->types));
    std::vector<Attribute> attributes = attributes_of(was.metadata, kGlobal);
    std::ranges::sort(attributes, {}, &Attribute::name);
    Metadata to{Metadata::Names::kAsFound};
    NMB_TRY(add_attributes(attributes, kGlobal, &to));
    return hdf5::encode_type_attributes(std::move(to), types_);
  }

  Status add_attributes(const std::vector<Attribute>& attributes, VarId owner, Metadata* to) {
    for (const Attribute& a : attributes) {
      NMB_ASSIGN(const Type type, number(a.type));
      if (!to) continue;
      NMB_TRY(TypeTable::is_extended(type)
                  ? to->def_extended_att(owner, a.name, type, a.count, a.values)
                  : to->def_att(owner, a.name, type, a.values));
    }
    return {};
  }

  Result<Type> number(Type type) {
    const TypeTable& types = from_.extension()->types;
    if (!TypeTable::is_extended(type) || !types.has(type)) return type;
    if (const auto known = numbers_.find(type); known != numbers_.end()) return known->second;
    ExtendedType one = types.at(type);
    // A type refers only to earlier types.
    NMB_ASSIGN(one.base, number(one.base));
    for (ExtendedType::Field& field : one.fields) {
      NMB_ASSIGN(field.type, number(field.type));
    }
    NMB_ASSIGN(const Type added, types_.add(std::move(one)));
    numbers_.emplace(type, added);
    return added;
  }

  const Metadata& from_;
  TypeTable types_;
  std::map<Type, Type> numbers_;
  std::map<DimensionKey, DimId> dimensions_;
  std::set<std::uint32_t> tracked_;  // objects whose order of attributes HDF5 tracks
  std::map<std::uint32_t, std::vector<std::uint32_t>> attribute_numbers_;
};

// Returns the definitions without the properties that describe how values are stored: chunks,
// filters, allocation and positions.
Result<Metadata> without_storage(const Metadata& from) {
  Metadata to = from;
  auto extension = std::make_shared<Extension>(*from.extension());
  std::erase_if(extension->storage, [](const Storage& s) { return s.kind != StorageKind::kHeap; });
  NMB_ASSIGN(std::vector<hdf5::Property> properties, hdf5::decode_properties(extension->hdf5));
  extension->hdf5.clear();
  for (hdf5::Property& p : properties) {
    hdf5::Creation& creation = p.creation;
    if (p.number == hdf5::Property::Number::kCreation) {
      creation.layout = hdf5::Layout::kContiguous;
      creation.allocation = hdf5::Allocation::kLate;
      creation.chunk.clear();
      creation.filters.clear();
      if (creation == hdf5::Creation()) continue;
    }
    hdf5::append_property(p, &extension->hdf5);
  }
  to.set_extension(std::move(extension));
  for (VarId v = 0; v < to.variable_count(); ++v) to.set_begin(v, 0);
  return to;
}

// Returns whether HDF5 stores a variable in chunks although the block has no chunks of it, for
// example because its values were copied from other files into a data set that may grow.
Result<bool> gets_chunks(const Metadata& metadata) {
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(metadata.extension()->hdf5));
  return std::ranges::any_of(properties, [&](const hdf5::Property& p) {
    return p.number == hdf5::Property::Number::kCreation && p.owner != kGlobal &&
           p.creation.layout == hdf5::Layout::kChunked &&
           metadata.array_bytes(p.owner).value_or(0) > 0 &&
           !metadata.extension()->storage_of(p.owner);
  });
}

// Compares the values of two variables of the same type and shape. The variables may have different
// chunks.
class ValueCheck {
 public:
  struct CheckedVariable {
    const Dataset& dataset;
    VarId variable;
    Result<std::vector<hdf5::Property>> properties;
    const Storage* storage = nullptr;

    CheckedVariable(const Dataset& of, VarId id)
        : dataset(of), variable(id), properties(std::vector<hdf5::Property>()) {
      const Extension* const extension = of.metadata.extension().get();
      if (!extension) return;
      properties = hdf5::decode_properties(extension->hdf5);
      storage = extension->storage_of(id);
    }
    bool has(StorageKind kind) const { return storage && storage->kind == kind; }
    bool is_little() const {
      const Metadata& metadata = dataset.metadata;
      return metadata.extension() &&
             metadata.extension()->types.is_swapped(metadata.variable(variable).type);
    }
    // Returns the bytes of the variable's region or array.
    Result<Source> bytes() const {
      const std::uint64_t header = dataset.layout.header_length;
      const std::uint64_t begin = dataset.metadata.begin(variable) - header;
      const std::uint64_t length = dataset.metadata.slice_bytes(variable).value_or(0);
      if (begin > dataset.extent->size() || length > dataset.extent->size() - begin)
        return Status(Code::kDamaged, "the values go beyond the end of the extent");
      return run_of(dataset.extent, begin, length);
    }
  };

  ValueCheck(const Dataset& found, VarId found_variable, const Dataset& expected,
             VarId expected_variable, const ExtractOptions& options)
      : found_(found, found_variable), expected_(expected, expected_variable), options_(options) {}

  // Returns whether the values are equal.
  Result<bool> run() {
    NMB_TRY(found_.properties.status());
    NMB_TRY(expected_.properties.status());
    if (found_.is_little() != expected_.is_little()) return false;
    if (found_.has(StorageKind::kNone) && expected_.has(StorageKind::kNone)) return true;
    if (found_.has(StorageKind::kHeap) || expected_.has(StorageKind::kHeap)) return same_bytes();
    const bool has_chunks = found_.has(StorageKind::kChunked);
    if (has_chunks && expected_.has(StorageKind::kChunked) &&
        found_.storage->chunk == expected_.storage->chunk &&
        found_.storage->filters == expected_.storage->filters)
      return same_chunks();
    if (found_.dataset.metadata.variable(found_.variable).dimensions.empty())
      return same_values({});
    if (has_chunks) return same_values(found_.storage->chunk);
    NMB_ASSIGN(const VariableShape shape, found_.dataset.shape(found_.variable));
    return same_values(row_of(shape));
  }

 private:
  // Returns a shape that divides the array into parts of about 1 MiB.
  static std::vector<std::uint64_t> row_of(const VariableShape& shape) {
    constexpr std::uint64_t kPart = 1 << 20;
    std::vector<std::uint64_t> part(shape.lengths.size(), 1);
    std::uint64_t bytes = shape.element_size;
    for (std::size_t i = part.size(); i-- > 0 && bytes < kPart;) {
      part[i] =
          std::clamp<std::uint64_t>(kPart / bytes, 1, std::max<std::uint64_t>(shape.lengths[i], 1));
      bytes *= part[i];
    }
    return part;
  }

  Result<bool> same_bytes() const {
    NMB_ASSIGN(const Source a, found_.bytes());
    NMB_ASSIGN(const Source b, expected_.bytes());
    if (a->size() != b->size()) return false;
    constexpr std::uint64_t kPart = 1 << 20;
    return all_same(chunks_along(a->size(), kPart), [&](std::uint64_t number) -> Result<bool> {
      const std::uint64_t at = number * kPart;
      return same_range(*a, at, *b, at, std::min(kPart, a->size() - at));
    });
  }

  static Result<ChunkTable> table_of(const CheckedVariable& place) {
    NMB_ASSIGN(Source region, place.bytes());
    const Metadata& metadata = place.dataset.metadata;
    return ChunkTable(std::move(region), *place.storage,
                      metadata.value_size(metadata.variable(place.variable).type));
  }

  // Compares the stored bytes of the chunks without decoding them.
  Result<bool> same_chunks() const {
    NMB_ASSIGN(const VariableShape shape, found_.dataset.shape(found_.variable));
    NMB_ASSIGN(const ChunkTable a, table_of(found_));
    NMB_ASSIGN(const ChunkTable b, table_of(expected_));
    NMB_ASSIGN(const Source found, found_.bytes());
    NMB_ASSIGN(const Source wanted, expected_.bytes());
    NMB_ASSIGN(const ChunkGrid grid,
               ChunkGrid::make(shape.lengths, found_.storage->chunk, shape.element_size));
    return all_same(grid.count(), [&](std::uint64_t number) -> Result<bool> {
      NMB_ASSIGN(const std::vector<ChunkRow> one, a.rows(number, 1));
      NMB_ASSIGN(const std::vector<ChunkRow> other, b.rows(number, 1));
      if (one[0].stored_length != other[0].stored_length ||
          one[0].filter_mask != other[0].filter_mask)
        return false;
      NMB_TRY(a.check_place(number, one[0]));
      NMB_TRY(b.check_place(number, other[0]));
      return same_range(*found, one[0].offset, *wanted, other[0].offset, one[0].stored_length);
    });
  }

  static Result<bool> same_range(const ByteSource& a, std::uint64_t a_offset, const ByteSource& b,
                                 std::uint64_t b_offset, std::uint64_t length) {
    NMB_ASSIGN(const auto differ, first_different_byte({&a, a_offset}, {&b, b_offset}, length));
    return !differ;
  }

  // Compares decoded values in parts, which have the shape `chunk`.
  Result<bool> same_values(const std::vector<std::uint64_t>& chunk) const {
    NMB_ASSIGN(const RechunkedArray a,
               RechunkedArray::open(found_.dataset, found_.variable, *found_.properties, chunk,
                                    kCodedAtOnce));
    NMB_ASSIGN(const RechunkedArray b,
               RechunkedArray::open(expected_.dataset, expected_.variable, *expected_.properties,
                                    chunk, kCodedAtOnce));
    if (a.grid().lengths() != b.grid().lengths()) return false;
    return all_same(a.grid().count(), [&](std::uint64_t number) -> Result<bool> {
      NMB_ASSIGN(const std::vector<std::byte> one, a.chunk(number));
      NMB_ASSIGN(const std::vector<std::byte> other, b.chunk(number));
      return one == other;
    });
  }

  // Returns whether is_same(number) is true for all numbers below `count`. Uses several threads.
  template <class IsSame>
  Result<bool> all_same(std::uint64_t count, const IsSame& is_same) const {
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> differs{false};
    NMB_TRY(
        share_work(std::max(options_.threads, 1u), [&](const std::atomic<bool>& stop) -> Status {
          for (std::uint64_t number; !stop && !differs && (number = next++) < count;) {
            if (options_.cancel && options_.cancel->load()) return Status(Code::kIo, "interrupted");
            NMB_ASSIGN(const bool same, is_same(number));
            if (!same) differs = true;
          }
          return {};
        }));
    return !differs;
  }

  const CheckedVariable found_, expected_;
  const ExtractOptions& options_;
};

// Reads the written HDF5 file and compares it with the source.
class ResultCheck {
 public:
  // kKept: the result stores values as the source does. kNew: the result may have different chunks.
  enum class Layout : std::uint8_t { kKept, kNew };

  // `form` and `options` must outlive this object.
  ResultCheck(const hdf5::NamedBlocks& blocks, const hdf5::Hdf5Form& form,
              const ExtractOptions& options, Layout layout)
      : blocks_(blocks), form_(form), options_(options), layout_(layout), netcdf_(blocks, form) {}

  // Checks that the HDF5 file `path` has one group for each block of kind 6, with the same
  // contents. Classic datasets are compared only if the layout is new.
  Status run(const std::string& path) {
    NMB_ASSIGN(const std::shared_ptr<const FileSource> file, FileSource::open(path));
    NMB_TRY(hdf5::read_file(
        file, [&](hdf5::Hdf5Group written) -> Status { return take(std::move(written), path); }));
    std::uint64_t expected = 0;
    NMB_TRY(blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      NMB_ASSIGN(const bool extended, is_extended(entry));
      if (extended) ++expected;
      return true;
    }));
    if (groups_ != expected)
      return Status(Code::kDamaged, "the written file differs from the source: found " +
                                        std::to_string(groups_) + " groups, expected " +
                                        std::to_string(expected));
    return netcdf_.finish();
  }

 private:
  // Returns whether a block is of kind 6 and is not a classic dataset.
  Result<bool> is_extended(const BlockEntry& entry) const {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return false;
    if (entry.dimensions > 0) return !form_.dimensions().is_classic(entry.name);
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks_.block(entry));
    return !is_classic_dataset(block->metadata);
  }
  static Status differs(const std::string& group, const std::string& what) {
    return Status(Code::kDamaged,
                  "the written file differs from the source: block \"" + group + "\": " + what);
  }

  Status take(hdf5::Hdf5Group written, const std::string& path) {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, blocks_.find(written.name));
    if (written.name.empty() && form_.user_block_of() && !form_.user_block_of()->empty())
      NMB_TRY(check_user_block(written, path));
    if (!entry) return {};
    NMB_ASSIGN(const bool extended, is_extended(*entry));
    if (!extended) {
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> source, blocks_.block(*entry));
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> group,
                 hdf5::decode_group(std::move(written), path));
      NMB_TRY(netcdf_.add_classic(*group, *source, options_.made_up_names));
      return layout_ == Layout::kNew ? compare_classic(group, source) : Status();
    }
    ++groups_;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks_.block(*entry));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> expected, form_.written(block));
    netcdf_.add(*expected);
    NMB_ASSIGN(const bool is_relaid, gets_chunks(expected->metadata));
    if (layout_ == Layout::kNew || is_relaid) {
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> group,
                 hdf5::decode_group(std::move(written), path));
      return compare_relaid(*group, *expected);
    }
    bool is_equal = false;
    if (expected == block) {
      NMB_ASSIGN(const std::vector<std::byte> body, encoded(*block));
      is_equal = written.body == body;
    }
    if (!is_equal) {
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> group, hdf5::decode_group(written, path));
      NMB_TRY(compare_definitions(*group, *expected));
    }
    return compare_values(written, *expected);
  }

  Status check_user_block(const hdf5::Hdf5Group& root, const std::string& path) const {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> group, hdf5::decode_group(root, path));
    NMB_ASSIGN(const std::vector<std::byte> found, hdf5::user_block(*group));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block,
               blocks_.block(*form_.user_block_of()));
    NMB_ASSIGN(const std::vector<std::byte> expected, hdf5::user_block(*block));
    return found == expected ? Status() : differs("", "its user block is different");
  }

  // Removes the links to groups without a block of their own. Such groups exist only because blocks
  // lie below them. If the remaining links are the default list, removes the whole list.
  Status leave_out_implied(LoadedBlock* group) const {
    NMB_ASSIGN(std::vector<hdf5::Property> properties,
               hdf5::decode_properties(group->metadata.extension()->hdf5));
    auto extension = std::make_shared<Extension>(*group->metadata.extension());
    extension->hdf5.clear();
    for (hdf5::Property& p : properties) {
      if (p.number == hdf5::Property::Number::kLinks) {
        std::vector<hdf5::Link> links;
        for (hdf5::Link& link : p.links) {
          NMB_ASSIGN(const bool implied, is_implied(*group, link));
          if (!implied) links.push_back(std::move(link));
        }
        p.links = std::move(links);
        if (are_default(group->metadata, p.links)) continue;
      }
      hdf5::append_property(p, &extension->hdf5);
    }
    group->metadata.set_extension(std::move(extension));
    return {};
  }

  Result<bool> is_implied(const LoadedBlock& group, const hdf5::Link& link) const {
    if (link.kind != hdf5::LinkKind::kGroup) return false;
    NMB_ASSIGN(const std::optional<BlockEntry> entry,
               blocks_.find(joined_path(group.name, link.name)));
    return !entry.has_value();
  }

  // Returns whether `links` is the default list: first the variables in the order of their numbers,
  // then the groups in the order of their names.
  static bool are_default(const Metadata& metadata, const std::vector<hdf5::Link>& links) {
    VarId variable = 0;
    const std::string* last_group = nullptr;
    for (const hdf5::Link& link : links) {
      const bool is_variable = link.kind == hdf5::LinkKind::kVariable;
      if (is_variable &&
          (last_group || link.number != variable || variable >= metadata.variable_count()))
        return false;
      if (!is_variable && link.kind != hdf5::LinkKind::kGroup) return false;
      if (!is_variable && last_group && link.name <= *last_group) return false;
      const std::string_view name = is_variable ? metadata.variable(variable++).name : link.name;
      const bool is_ascii = std::ranges::all_of(name, [](char c) { return (c & 0x80) == 0; });
      if (is_ascii != (link.character_set == CharacterSet::kAscii)) return false;
      if (!is_variable) last_group = &link.name;
    }
    return true;
  }

  // A named datatype without a link has a number in place of a path. The source and the written
  // file may use different numbers for a type. Within one file, equal numbers mean the same type.
  Status compare_definitions(const LoadedBlock& written, const LoadedBlock& expected) {
    LoadedBlock group = written, named = expected;
    auto extension = std::make_shared<Extension>(*expected.metadata.extension());
    hdf5::drop_replaced_parameters(extension.get());
    auto written_extension = std::make_shared<Extension>(*group.metadata.extension());
    hdf5::drop_replaced_parameters(written_extension.get());
    group.metadata.set_extension(std::move(written_extension));
    const TypeTable& found = group.metadata.extension()->types;
    TypeTable types;
    for (std::size_t i = 0; i < extension->types.size(); ++i) {
      ExtendedType type = extension->types[i];
      if (i < found.size() && type.name.starts_with("//") && found[i].name.starts_with("//")) {
        const auto [known, is_new] = unlinked_.emplace(found[i].name, type.name);
        if (known->second == type.name) type.name = found[i].name;
      }
      NMB_TRY(types.add(std::move(type)).status());
    }
    extension->types = std::move(types);
    named.metadata.set_extension(std::move(extension));
    NMB_ASSIGN(std::vector<std::byte> found_body, encoded(group));
    NMB_ASSIGN(std::vector<std::byte> expected_body, encoded(named));
    if (found_body == expected_body) return {};
    // If a file was divided, some of its objects are absent here. Ignores links to these objects,
    // and types and dimensions that only these objects used.
    NMB_TRY(leave_out_implied(&group));
    NMB_TRY(leave_out_implied(&named));
    NMB_ASSIGN(group.metadata, DefinitionsInOrder(group).run());
    NMB_ASSIGN(named.metadata, DefinitionsInOrder(named).run());
    NMB_ASSIGN(found_body, encoded(group));
    NMB_ASSIGN(expected_body, encoded(named));
    return found_body == expected_body ? Status()
                                       : differs(written.name, "its definitions are different");
  }

  static Result<std::vector<std::byte>> encoded(const LoadedBlock& block) {
    Metadata metadata = block.metadata;
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      metadata.set_begin(v, metadata.begin(v) - block.layout.header_length);
    return encode_extended_body(metadata, metadata.record_dimension() ? block.records : 0);
  }

  // Compares a written group with its source. Their values may be stored in different chunks.
  Status compare_relaid(const LoadedBlock& written, const LoadedBlock& expected) {
    LoadedBlock group = written, named = expected;
    NMB_ASSIGN(group.metadata, without_storage(group.metadata));
    NMB_ASSIGN(named.metadata, without_storage(named.metadata));
    NMB_TRY(compare_definitions(group, named));
    for (VarId v = 0; v < expected.metadata.variable_count(); ++v)
      NMB_TRY(compare_variable(written, v, expected, v));
    return {};
  }

  // Compares the content of a written group with that of its classic source. NetcdfCheck compares
  // the dimensions.
  Status compare_classic(const std::shared_ptr<const LoadedBlock>& written,
                         const std::shared_ptr<const LoadedBlock>& source) const {
    NMB_ASSIGN(DatasetContent found, DatasetContent::of(written->name, written, {}, {}));
    NMB_ASSIGN(DatasetContent expected,
               DatasetContent::of(source->name, source, {}, {}, PlannedHdf5()));
    Status status;
    NMB_ASSIGN(const std::vector<CommonVariable> common,
               nmb::compare_definitions(found, expected, [&](const DefinitionDifference& one) {
                 if (status.ok() && !one.object.starts_with("dimension "))
                   status = differs(source->name, difference_text(one));
               }));
    NMB_TRY(status);
    for (const auto& [there, here] : common)
      NMB_TRY(compare_variable(*written, found.id(there), *source, expected.id(here)));
    return {};
  }

  static std::string difference_text(const DefinitionDifference& difference) {
    if (difference.kind == DifferenceKind::kOnlyInFirst)
      return difference.object + " is not in the source";
    if (difference.kind == DifferenceKind::kOnlyInSecond) return difference.object + " is missing";
    return joined_text(difference.object, ": found ", difference.property, " ", difference.first,
                       ", expected ", difference.second);
  }

  Status compare_variable(const LoadedBlock& written, VarId found, const LoadedBlock& expected,
                          VarId variable) const {
    const std::string name(expected.metadata.variable(variable).name);
    const Result<bool> same = ValueCheck(written, found, expected, variable, options_).run();
    if (!same.ok()) return same.status().of_object("variable " + name);
    return *same ? Status()
                 : differs(written.name, "values of variable " + name + " are different");
  }

  static Status compare_values(const hdf5::Hdf5Group& written, const LoadedBlock& expected) {
    if (written.extent_length != expected.extent->size())
      return differs(written.name, "found " + std::to_string(written.extent_length) +
                                       " bytes of values, expected " +
                                       std::to_string(expected.extent->size()));
    constexpr std::uint64_t kPart = 1 << 20;
    NMB_ASSIGN(const std::optional<std::uint64_t> differ,
               first_different_byte({written.extent.get()}, {expected.extent.get()},
                                    written.extent_length, 1, kPart));
    if (!differ) return {};
    const std::uint64_t at = *differ / kPart * kPart;
    return differs(written.name, joined_text("its values differ between bytes ", at, " and ",
                                             std::min(at + kPart, written.extent_length)));
  }

  const hdf5::NamedBlocks blocks_;
  const hdf5::Hdf5Form& form_;
  const ExtractOptions& options_;
  const Layout layout_;
  hdf5::NetcdfCheck netcdf_;
  std::map<std::string, std::string>
      unlinked_;  // for named datatypes without a link: maps the found name to the expected name
  std::uint64_t groups_ = 0;
};

Status check_losses(const std::vector<Loss>& losses) {
  const std::size_t count = losses.size();
  if (count == 0) return {};
  return Status(Code::kConflict,
                losses.front().line() +
                    (count > 1 ? ", and " + std::to_string(count - 1) + " more" : std::string()));
}

// Writes the file under the name `hidden` with make(), checks it, and renames it to `path`.
Status make_output(const std::string& path, const ExtractOptions& options, ResultCheck& check,
                   const std::function<Status(const std::string& hidden)>& make) {
  CreateOptions create;
  create.overwrite = options.overwrite;
  create.sync = options.sync;
  create.cancel = options.cancel;
  create.make = [&](const std::string& hidden) -> Status {
    const Status made = make(hidden);
    // A signal from the terminal also ends nmb-hdf5. Report the interruption, not its failure.
    if (options.cancel && options.cancel->load())
      return Status(Code::kIo, path, kNoOffset, "", "interrupted; nothing was written");
    NMB_TRY(made);
    if (options.links_unchanged) NMB_TRY(options.links_unchanged());
    if (!options.check) return {};
    const Status status = check.run(hidden);
    if (status.ok() || (!status.file().empty() && status.file() != hidden)) return status;
    // The message names the final path, because users do not know the hidden name.
    return status.at(path, status.offset());
  };
  NMB_ASSIGN(std::unique_ptr<OutputFile> output, create_output(path, create));
  if (options.layer) output = options.layer(std::move(output));
  if (options.sync) NMB_TRY(output->sync());
  return output->publish();
}

// Finds the variables of which chunks cannot be decoded. Checks the chunks if options.check is set;
// otherwise, only the marks of variables are read. Sets `damaged`, and adds a line to `changes` for
// each filter with which chunks could not be checked.
Status find_damage(const hdf5::NamedBlocks& blocks, const ExtractOptions& options,
                   Hdf5Losses* found) {
  NotDecoded not_decoded;
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks.block(entry));
    const auto object = [&](VarId variable) {
      return "variable " +
             in_quotes("/" + joined_path(block->name, block->metadata.variable(variable).name));
    };
    const auto on_left_out = [&](VarId variable, std::uint64_t chunks) {
      found->damaged.push_back(
          {object(variable),
           joined_text(chunks, chunks == 1 ? " chunk was" : " chunks were",
                       " not checked, because the decoded chunks are too large")});
    };
    NMB_ASSIGN(const std::vector<hdf5::DamagedChunks> damaged,
               options.check
                   ? find_damaged_chunks(*block, options.threads, on_left_out, &not_decoded)
                   : hdf5::marked_chunks(block->metadata));
    for (const hdf5::DamagedChunks& chunks : damaged)
      found->damaged.push_back({object(chunks.variable), chunks.text()});
    return true;
  }));
  for (const std::string& text : not_decoded.texts()) found->changes.push_back({"", text});
  return {};
}

// Makes all checks that come before the HDF5 file is written, and returns the form of the file.
// damage: a result of find_damage().
Result<hdf5::Hdf5Form> checked_form(const FileReader& reader, const std::string& input,
                                    const ExtractOptions& options, Hdf5Losses damage) {
  NMB_TRY(check_ranges(options));
  NMB_ASSIGN(hdf5::Hdf5Form form, hdf5::Hdf5Form::of(reader));
  if (options.on_losses) {
    NMB_ASSIGN(damage.records, lost_records(reader));
    damage.losses = form.losses();
    damage.changes.insert(damage.changes.begin(), form.changes().begin(), form.changes().end());
    NMB_TRY(options.on_losses(reader, damage));
  } else {
    NMB_TRY(check_losses(form.losses()).in_file(input));
    NMB_TRY(check_losses(damage.damaged).in_file(input));
  }
  if (!options.plain) NMB_TRY(hdf5::check_netcdf_names(reader).in_file(input));
  return form;
}

Status write_alone(const FileReader& reader, const std::string& input, const std::string& path,
                   const ExtractOptions& options, Hdf5Losses damage) {
  NMB_ASSIGN(const hdf5::Hdf5Form form, checked_form(reader, input, options, std::move(damage)));
  ResultCheck check(reader, form, options, ResultCheck::Layout::kKept);
  return make_output(path, options, check, [&](const std::string& hidden) {
    std::vector<std::string> arguments = export_arguments(options);
    if (options.links_unchanged) arguments.emplace_back();  // all variables
    return run_worker(options.links_unchanged ? "export-linked" : "export", input, hidden, path,
                      arguments, options);
  });
}

// Adds a line for each variable that cannot get the layout of CMIP7.
Status add_left(const hdf5::NamedBlocks& blocks, std::vector<Loss>* left) {
  return blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks.block(entry));
    NMB_ASSIGN(const hdf5::Cmip7Layout layout, hdf5::Cmip7Layout::of(*block));
    std::vector<hdf5::Property> properties;
    if (block->metadata.extension()) {
      NMB_ASSIGN(properties, hdf5::decode_properties(block->metadata.extension()->hdf5));
    }
    for (VarId v = 0; v < block->metadata.variable_count(); ++v) {
      std::string why;
      (void)layout.chunks(*block, v, properties, &why);
      if (!why.empty())
        left->push_back({"variable " + joined_path(block->name, block->metadata.variable(v).name),
                         why + "; its chunks stay unchanged"});
    }
    return true;
  });
}

Status variables_alone(const FileReader& reader, const std::string& input,
                       std::span<const VarId> variables, const std::string& path,
                       const ExtractOptions& options) {
  NMB_TRY(check_ranges(options));
  NMB_ASSIGN(const hdf5::NamedBlocks blocks, hdf5::NamedBlocks::of_variables(reader, variables));
  NMB_ASSIGN(const hdf5::Hdf5Form form, hdf5::Hdf5Form::of(blocks));
  NMB_TRY(hdf5::check_netcdf_names(blocks).in_file(input));
  ResultCheck check(blocks, form, options, ResultCheck::Layout::kNew);
  std::string numbers;
  for (const VarId v : variables) numbers += (numbers.empty() ? "" : ",") + std::to_string(v);
  std::vector<std::string> arguments = export_arguments(options);
  arguments.push_back(numbers);
  return make_output(path, options, check, [&](const std::string& hidden) {
    return run_worker("export-linked", input, hidden, path, arguments, options);
  });
}

Status relayout_alone(const std::shared_ptr<const FileSource>& file, const std::string& path,
                      const ExtractOptions& options,
                      const std::function<Status(const Hdf5Losses&)>& on_losses) {
  NMB_ASSIGN(const hdf5::NamedBlocks blocks, hdf5::NamedBlocks::open(file));
  NMB_ASSIGN(const hdf5::Hdf5Form form, hdf5::Hdf5Form::of(blocks));
  NMB_TRY(check_losses(form.losses()).in_file(file->name()));
  NMB_TRY(hdf5::check_netcdf_names(blocks).in_file(file->name()));
  Hdf5Losses found;
  NMB_TRY(add_left(blocks, &found.changes).in_file(file->name()));
  NMB_TRY(find_damage(blocks, options, &found));
  NMB_TRY(on_losses(found));
  ResultCheck check(blocks, form, options, ResultCheck::Layout::kNew);
  return make_output(path, options, check, [&](const std::string& hidden) {
    return run_worker("relayout", file->name(), hidden, path, {std::to_string(options.threads)},
                      options);
  });
}

}  // namespace

Status check_hdf5(const FileReader& reader, const std::string& input,
                  const ExtractOptions& options) {
  return checked_form(reader, input, options, {}).status();
}

Status write_hdf5(const FileReader& reader, const std::string& input, const std::string& path,
                  const ExtractOptions& options, Communicator& ranks) {
  return ranks.first([&]() -> Status {
    Hdf5Losses damage;
    NMB_TRY(find_damage(reader, options, &damage));
    return write_alone(reader, input, path, {options}, std::move(damage));
  });
}

Status write_merged(const FileReader& reader, const std::string& input, const std::string& path,
                    const ExtractOptions& options) {
  return write_alone(reader, input, path, options, {});
}

Status write_variables(const FileReader& reader, const std::string& input,
                       std::span<const VarId> variables, const std::string& path,
                       const ExtractOptions& options) {
  return variables_alone(reader, input, variables, path, options);
}

Status write_cmip7(const std::shared_ptr<const FileSource>& file, const std::string& path,
                   const ExtractOptions& options, Communicator& ranks,
                   const std::function<Status(const Hdf5Losses&)>& on_losses) {
  return ranks.first([&] { return relayout_alone(file, path, options, on_losses); });
}

}  // namespace nmb
