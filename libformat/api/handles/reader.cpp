#include "nmb/reader.h"

#include <algorithm>

#include "dump/dump.h"
#include "find/find.h"
#include "handles/handle_parts.h"
#include "handles/link_follower.h"
#include "handles/reader_state.h"
#include "model/heap_value.h"
#include "model/paths.h"
#include "model/text.h"
#include "netcdf/shared_dimensions.h"
#include "values/statistics/count_block.h"
#include "wire/checked.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns the classic type of values, whatever their byte order is.
std::optional<Type> classic_type(const Metadata& metadata, Type type) {
  return TypeTable::is_extended(type) ? metadata.extension()->types.classic(type)
                                      : std::optional(type);
}

Status no_object(const std::string& file, const char* kind, std::string_view name,
                 std::string_view owner) {
  return Status(Code::kNotFound, file, kNoOffset, "",
                joined_text("found no ", kind, " \"", name, "\" in ", owner));
}

std::string in_block(std::string_view name) { return joined_text("block \"", name, "\""); }

Result<AttView> find_att(const ReaderState& file, const std::shared_ptr<const Dataset>& dataset,
                         VarId owner, std::string_view name) {
  const std::optional<Attribute> found = dataset->metadata.find_attribute(owner, name);
  if (found) return ReaderState::view(dataset, owner, *found, ReaderState::shapes(*dataset, owner));
  return no_object(file.path(), "attribute", name,
                   owner == kGlobal
                       ? in_block(dataset->name)
                       : joined_text("variable \"", dataset->metadata.variable(owner).name, "\""));
}

std::vector<AttView> all_atts(const std::shared_ptr<const Dataset>& dataset, VarId owner) {
  std::vector<AttView> out;
  const AttributeShapes shapes = ReaderState::shapes(*dataset, owner);
  dataset->metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
    out.push_back(ReaderState::view(dataset, owner, attribute, shapes));
  });
  return out;
}

std::uint64_t length_of(const Dataset& dataset, const Dimension& dimension) {
  return dimension.is_record() ? dataset.records : dimension.length;
}

// Returns text without the bytes that fill it up to the length of its type.
std::string trimmed(const char* bytes, std::size_t length, const ExtendedType* type) {
  std::string text(bytes, length);
  const StringPadding padding = type ? type->padding : StringPadding::kNullPadded;
  if (padding == StringPadding::kNullTerminated) text.resize(std::min(text.find('\0'), length));
  while (!text.empty() && text.back() == (padding == StringPadding::kSpacePadded ? ' ' : '\0'))
    text.pop_back();
  return text;
}

}  // namespace

BlockView ReaderState::view(const BlockEntry& entry) const {
  BlockView out;
  out.file_ = shared_from_this();
  out.entry_ = std::make_shared<const BlockEntry>(entry);
  return out;
}

VarView ReaderState::view(std::shared_ptr<const Dataset> dataset, VarId id) const {
  VarView out;
  out.file_ = shared_from_this();
  out.dataset_ = std::move(dataset);
  out.id_ = id;
  return out;
}

std::map<VarId, AttributeShapes> ReaderState::shapes(const Dataset& dataset) {
  std::map<VarId, AttributeShapes> out;
  if (!dataset.metadata.extension()) return out;
  using Property = hdf5::Property;
  constexpr Property::Number wanted[] = {Property::Number::kSpace};
  // The shapes of a damaged section are not known.
  const auto properties = hdf5::decode_properties(dataset.metadata.extension()->hdf5, wanted);
  if (!properties.ok()) return out;
  std::map<VarId, std::map<std::uint32_t, std::vector<std::uint64_t>>> by_number;
  for (const Property& p : *properties)
    if (p.attribute != hdf5::kNoAttribute && p.space.space_class == hdf5::SpaceClass::kSimple &&
        (p.owner == kGlobal || p.owner < dataset.metadata.variable_count()))
      by_number[p.owner].emplace(p.attribute, p.space.lengths);
  for (auto& [owner, lengths] : by_number) {
    AttributeShapes& shapes = out[owner];
    std::uint32_t number = 0;
    dataset.metadata.for_each_attribute(owner, [&, &numbered = lengths](const Attribute& one) {
      if (const auto found = numbered.find(number++); found != numbered.end())
        shapes.emplace(one.name, std::move(found->second));
    });
  }
  return out;
}

AttributeShapes ReaderState::shapes(const Dataset& dataset, VarId owner) {
  std::map<VarId, AttributeShapes> all = shapes(dataset);
  const auto found = all.find(owner);
  return found == all.end() ? AttributeShapes() : std::move(found->second);
}

AttView ReaderState::view(std::shared_ptr<const Dataset> dataset, VarId owner,
                          const Attribute& attribute, const AttributeShapes& shapes) {
  AttView out;
  out.owner_ = owner;
  out.name_ = attribute.name;
  out.type_ = classic_type(dataset->metadata, attribute.type);
  out.count_ = attribute.count;
  if (const auto shape = shapes.find(attribute.name); shape != shapes.end())
    out.shape_ = shape->second;
  else if (out.count_ != 1)
    out.shape_ = {out.count_};
  out.dataset_ = std::move(dataset);
  return out;
}

// --- attributes ---

Result<std::string> AttView::try_text() const {
  NMB_TRY(check_handle(dataset_));
  const Metadata& metadata = dataset_->metadata;
  NMB_ASSIGN(std::optional<std::string> text,
             attribute_text(metadata, *metadata.find_attribute(owner_, name_)));
  if (text) return *std::move(text);
  return Status(Code::kUsage,
                joined_text(in_block(dataset_->name), ": attribute \"", name_, "\" is no text"));
}

Status AttView::try_read(MutableArray out) const {
  NMB_TRY(check_handle(dataset_));
  const auto wrong = [&](const std::string& what, Code code = Code::kUsage) {
    return Status(code,
                  joined_text(in_block(dataset_->name), ": attribute \"", name_, "\": ", what));
  };
  if (!type_) return wrong("the values are neither numbers nor text");
  if ((type_ == Type::kChar) != (out.type() == MemoryType::kText))
    return wrong("text and numbers do not convert into each other");
  if (out.count() != count_)
    return wrong(joined_text("found room for ", out.count(), " values, expected ", count_));
  const Metadata& metadata = dataset_->metadata;
  const Attribute attribute = *metadata.find_attribute(owner_, name_);
  std::vector<std::byte> values(attribute.values.begin(), attribute.values.end());
  const std::size_t size = type_size(*type_);
  if (TypeTable::is_extended(attribute.type) &&
      metadata.extension()->types.is_swapped(attribute.type))
    for (std::size_t i = 0; i + size <= values.size(); i += size)
      std::reverse(values.begin() + static_cast<std::ptrdiff_t>(i),
                   values.begin() + static_cast<std::ptrdiff_t>(i + size));
  const std::uint64_t out_of_range = convert_from_external(
      *type_, values.data(), count_, out.type(), out.data(), dataset_->kind());
  if (out_of_range == 0) return {};
  return wrong(joined_text(out_of_range, " of ", count_, " values do not fit the type of memory"),
               Code::kRange);
}

// --- variables ---

std::string VarView::name() const {
  check(check_handle(dataset_));
  return std::string(dataset_->metadata.variable(id_).name);
}

std::optional<Type> VarView::type() const {
  check(check_handle(dataset_));
  return classic_type(dataset_->metadata, dataset_->metadata.variable(id_).type);
}

Result<std::vector<std::uint64_t>> VarView::try_shape() const {
  NMB_TRY(check_handle(dataset_));
  NMB_ASSIGN(VariableShape shape, dataset_->shape(id_));
  return std::move(shape.lengths);
}

std::vector<std::string> VarView::dims() const {
  check(check_handle(dataset_));
  std::vector<std::string> out;
  for (const DimId id : dataset_->metadata.variable(id_).dimensions)
    out.emplace_back(dataset_->metadata.dimension(id).name);
  return out;
}

Result<AttView> VarView::try_att(std::string_view name) const {
  NMB_TRY(check_handle(dataset_));
  return find_att(*file_, dataset_, id_, name);
}
std::vector<AttView> VarView::atts() const {
  check(check_handle(dataset_));
  return all_atts(dataset_, id_);
}

Result<Hyperslab> VarView::try_whole() const {
  NMB_TRY(check_handle(dataset_));
  NMB_ASSIGN(VariableShape shape, dataset_->shape(id_));
  Hyperslab slab;
  slab.start.assign(shape.lengths.size(), 0);
  slab.count = std::move(shape.lengths);
  return slab;
}

Result<std::uint64_t> VarView::try_count(const Hyperslab& slab) const {
  NMB_TRY(check_handle(dataset_));
  NMB_ASSIGN(const VariableShape shape, dataset_->shape(id_));
  NMB_TRY(check_hyperslab(shape, slab));
  return element_count(slab);
}

Status VarView::no_room(std::uint64_t count) const {
  return Status(Code::kLimit, file_->path(), kNoOffset, "",
                joined_text(count, " values of variable \"", name(), "\" do not fit in memory"));
}

Status VarView::try_read(MutableArray out) const {
  NMB_ASSIGN(const Hyperslab slab, try_whole());
  return try_read(slab, out);
}
Status VarView::try_read(const Hyperslab& slab, MutableArray out) const {
  NMB_TRY(check_handle(dataset_));
  return dataset_->read(id_, slab, out).in_file(file_->path());
}
Status VarView::try_read_same(const Hyperslab& slab, MutableArray out) const {
  NMB_TRY(check_handle(dataset_));
  const FileReader* const reader = file_->file.reader();
  return reader ? reader->get_all_same(ReaderState::object(*this), slab, out) : try_read(slab, out);
}

Result<std::vector<std::string>> VarView::try_strings() const {
  NMB_TRY(check_handle(dataset_));
  NMB_TRY(dataset_->check_has_values(id_).in_file(file_->path()));
  const Metadata& metadata = dataset_->metadata;
  NMB_ASSIGN(const ValueArray array,
             value_array(metadata, dataset_->layout, dataset_->records, id_, dataset_->extent));
  const ExtendedType* const type =
      TypeTable::is_extended(array.type) ? &metadata.extension()->types.at(array.type) : nullptr;
  if (type ? type->type_class != TypeClass::kString : array.type != Type::kChar)
    return Status(Code::kUsage, file_->path(), kNoOffset, "",
                  joined_text("variable \"", name(), "\" has no strings"));
  std::uint64_t length = array.shape.element_size, count = 1;  // of a string; of strings
  const std::size_t rank = array.shape.lengths.size();
  for (std::size_t d = 0; d < rank; ++d) {
    std::uint64_t* const product = !type && d + 1 == rank ? &length : &count;
    if (!checked_mul(*product, array.shape.lengths[d], product))
      return Status(Code::kLimit, file_->path(), kNoOffset, "", "the variable is too large");
  }
  std::vector<std::string> out;
  std::uint64_t left = array.region ? array.region->size() : 0;
  std::vector<std::byte> row;
  // The source of a record variable has its records apart; read_array() knows where.
  if (!type) {
    Result<std::vector<char>> text = try_read<char>();
    if (!text.ok()) return text.status();
    for (std::uint64_t i = 0; i < count; ++i)
      out.push_back(trimmed(text->data() + i * length, static_cast<std::size_t>(length), nullptr));
    return out;
  }
  row.resize(static_cast<std::size_t>(length));
  NMB_ASSIGN(const Hyperslab whole, try_whole());
  NMB_TRY(for_each_run(
      array.shape, whole,
      [&](std::uint64_t offset, std::uint64_t, std::uint64_t elements) -> Status {
        for (std::uint64_t i = 0; i < elements; ++i) {
          NMB_TRY(array.source->read_at(offset + i * length, row));
          if (!type->variable_length) {
            out.push_back(trimmed(reinterpret_cast<const char*>(row.data()), row.size(), type));
            continue;
          }
          NMB_ASSIGN(const std::vector<std::byte> bytes,
                     HeapValue::load(row.data()).read(*array.region, 1, &left));
          out.push_back(
              trimmed(reinterpret_cast<const char*>(bytes.data()), bytes.size(), nullptr));
        }
        return {};
      }));
  return out;
}

Result<std::optional<VariableStatistics>> VarView::try_statistics() const {
  NMB_TRY(check_handle(dataset_));
  const FileReader* const reader = file_->file.reader();
  if (!reader) return std::optional<VariableStatistics>();
  NMB_ASSIGN(const std::optional<BlockStatistics> found,
             reader->statistics(*ReaderState::object(*this).block));
  if (!found || id_ >= found->variables.size()) return std::optional<VariableStatistics>();
  const VariableStatistics& mine = found->variables[id_];
  return mine.computed || !mine.functions.empty() ? std::optional(mine)
                                                  : std::optional<VariableStatistics>();
}

Result<VariableStatistics> VarView::try_compute_statistics(StatisticsLevel level,
                                                           unsigned threads) const {
  NMB_TRY(check_handle(dataset_));
  if (level == StatisticsLevel::kNone)
    return Status(Code::kUsage, "no level of statistics is asked for");
  CountRequest request;
  request.level = level;
  request.with_moments = true;
  request.only = id_;
  NMB_ASSIGN(const BlockStatistics found, count_block(*dataset_, {}, request, threads));
  return found.variables[id_];
}

// --- blocks ---

const std::string& BlockView::name() const {
  check(check_handle(entry_));
  return entry_->name;
}
const BlockCounts& BlockView::counts() const {
  check(check_handle(entry_));
  return entry_->counts();
}

Result<VarView> BlockView::try_var(std::string_view name) const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  std::optional<VarId> id = dataset->metadata.find_variable(name);
  if (!id) id = find_netcdf_variable(dataset->metadata, name);
  if (!id && dataset->metadata.extension()) {
    NMB_ASSIGN(const auto target, LinkFollower(file_->file).follow(entry_->name, name));
    if (target && target->variable) {
      id = target->variable;
      NMB_ASSIGN(dataset, file_->file.dataset(target->block));
    }
  }
  if (!id) return no_object(file_->path(), "variable", name, in_block(entry_->name));
  return file_->view(std::move(dataset), *id);
}

Result<std::vector<VarView>> BlockView::try_vars() const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  std::vector<VarView> out;
  for (VarId id = 0; id < dataset->metadata.variable_count(); ++id)
    out.push_back(file_->view(dataset, id));
  return out;
}

Result<std::vector<DimView>> BlockView::try_dims() const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  std::vector<DimView> out;
  for (DimId id = 0; id < dataset->metadata.dimension_count(); ++id) {
    const Dimension dimension = dataset->metadata.dimension(id);
    out.push_back({std::string(dimension.name), length_of(*dataset, dimension),
                   dimension.is_record(),
                   dimension.is_record() || may_grow(dataset->metadata, id)});
  }
  return out;
}

Result<AttView> BlockView::try_att(std::string_view name) const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  return find_att(*file_, dataset, kGlobal, name);
}

Result<std::vector<AttView>> BlockView::try_atts() const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  return all_atts(dataset, kGlobal);
}

Result<std::vector<Tag>> BlockView::try_tags() const {
  NMB_TRY(check_handle(entry_));
  std::vector<Tag> out;
  if (const FileReader* const reader = file_->file.reader())
    NMB_TRY(reader->for_each_tag([&](std::uint64_t order, Tag tag) -> Result<bool> {
      if (order == entry_->order) out.push_back(std::move(tag));
      return true;
    }));
  return out;
}

Result<std::string> BlockView::try_cdl() const {
  NMB_TRY(check_handle(entry_));
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file_->file.dataset(*entry_));
  const std::string_view name =
      entry_->name.empty() ? stem_of(file_->path()) : split_path(entry_->name).name;
  std::string text;
  NMB_TRY(write_cdl_header({name, dataset->metadata, dataset->kind(), dataset->records},
                           [&](std::string_view part) {
                             text += part;
                             return Status();
                           }));
  return text;
}

// --- files ---

Reader::Reader(std::shared_ptr<const ReaderState> state) : state_(std::move(state)) {}

Result<Reader> Reader::try_open(const std::string& path, const ReadOptions& options) {
  NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(path));
  NMB_ASSIGN(InspectedFile file, InspectedFile::open(input, options));
  return Reader(std::make_shared<const ReaderState>(std::move(file), input->kind()));
}

Result<Reader> Reader::try_open(const std::string& path, Ranks& ranks, const ReadOptions& options) {
  return without_exceptions([&]() -> Result<Reader> {
    NMB_ASSIGN(std::unique_ptr<FileReader> reader,
               FileReader::open(path, options, communicator(ranks)));
    return Reader(
        std::make_shared<const ReaderState>(InspectedFile::of(std::move(reader)), FileKind::kNmb));
  });
}

Result<VarView> Reader::try_var(std::string_view full_name) const {
  const auto [block_name, variable] = split_path(full_name);
  NMB_ASSIGN(const BlockView found, try_block(block_name));
  return found.try_var(variable);
}

Result<BlockView> Reader::try_block(std::string_view name) const {
  NMB_TRY(check_handle(state_));
  NMB_ASSIGN(std::optional<BlockEntry> entry, state_->file.find(name));
  if (!entry) {
    NMB_ASSIGN(entry, LinkFollower(state_->file).find_block(name));
  }
  if (entry) return state_->view(*entry);
  return Status(Code::kNotFound, state_->path(), kNoOffset, "",
                joined_text("found no block \"", name, "\""));
}

Result<BlockView> Reader::try_block_at(std::uint64_t position) const {
  NMB_TRY(check_handle(state_));
  NMB_ASSIGN(const std::optional<BlockEntry> entry, state_->file.at(position));
  if (entry) return state_->view(*entry);
  return Status(
      Code::kNotFound, state_->path(), kNoOffset, "",
      joined_text("found no block at position ", position, " of ", state_->file.totals().blocks));
}

Result<std::pair<BlockView, std::uint64_t>> Reader::try_block_with(
    std::uint64_t BlockCounts::*count, std::uint64_t number) const {
  NMB_TRY(check_handle(state_));
  if (count == &BlockCounts::records)
    return Status(Code::kUsage, state_->path(), kNoOffset, "", "block_with() cannot count records");
  NMB_ASSIGN(const std::optional<CountedObject> found, state_->file.counted(count, number));
  if (found) return std::pair(state_->view(found->entry), found->number);
  return Status(Code::kNotFound, state_->path(), kNoOffset, "",
                joined_text("found no object with the number ", number, " of ",
                            state_->file.totals().*count));
}

Status Reader::try_for_each_block(std::string_view glob,
                                  const std::function<Result<bool>(const BlockView&)>& visit,
                                  std::string_view from) const {
  NMB_TRY(check_handle(state_));
  return without_exceptions([&]() -> Status {
    NMB_ASSIGN(const NamePattern pattern, NamePattern::glob(glob));
    return nmb::for_each_block(
        state_->file, pattern, [&](const BlockEntry& entry) { return visit(state_->view(entry)); },
        from);
  });
}

Result<std::vector<BlockView>> Reader::try_blocks(std::string_view glob) const {
  std::vector<BlockView> out;
  NMB_TRY(try_for_each_block(glob, [&](const BlockView& block) -> Result<bool> {
    out.push_back(block);
    return true;
  }));
  return out;
}

Result<std::vector<BlockView>> Reader::try_find(std::string_view text,
                                                const FindOptions& options) const {
  NMB_TRY(check_handle(state_));
  return without_exceptions([&]() -> Result<std::vector<BlockView>> {
    const Result<FindExpression> parsed = FindExpression::parse(text);
    if (!parsed.ok()) return parsed.status().in_file(state_->path());
    const FindExpression& expression = *parsed;
    const InspectedFile& file = state_->file;
    BlockFinder finder(expression, file.reader(), options);
    NMB_TRY(finder.read_tables());
    std::vector<BlockView> out;
    const auto take = [&](const BlockEntry& entry) {
      out.push_back(state_->view(entry));
      return Status();
    };
    if (file.reader()) {
      NMB_TRY(finder.for_each_match([&](const BlockEntry& entry) { return file.dataset(entry); },
                                    take));
    } else {
      NMB_TRY(file.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
        NMB_ASSIGN(const bool holds,
                   finder.holds(entry.order, [&] { return file.dataset(entry); }));
        if (holds) NMB_TRY(take(entry));
        return true;
      }));
    }
    for (std::size_t i = 0; finder.blocks() > 0 && i < finder.found().size(); ++i) {
      const FindName& name = expression.names()[i];
      if (!finder.found()[i])
        return Status(Code::kNotFound, state_->path(), kNoOffset, "",
                      joined_text("no block has ", name.kind_text(), " ", printable(name.text)));
    }
    if (const std::string problem = expression.type_problem(finder.met()); !problem.empty())
      return Status(Code::kUsage, state_->path(), kNoOffset, "", problem);
    if (const std::string note = finder.unlike_note(); !note.empty() && options.on_warning)
      options.on_warning(note);
    for (const std::string& warning : finder.warnings(state_->path())) {
      if (!options.on_warning)
        return Status(Code::kUnsupported, state_->path(), kNoOffset, "", warning);
      options.on_warning(warning);
    }
    return out;
  });
}

Result<std::vector<BlockView>> Reader::try_open_blocks(
    std::span<const std::string_view> names) const {
  NMB_TRY(check_handle(state_));
  std::vector<BlockView> out;
  if (const FileReader* const reader = state_->file.reader()) {
    NMB_ASSIGN(const auto loaded, reader->open_blocks(names));
    for (const std::shared_ptr<const LoadedBlock>& block : loaded)
      out.push_back(state_->view(block->entry));
    return out;
  }
  for (const std::string_view name : names) {
    NMB_ASSIGN(BlockView block, try_block(name));
    out.push_back(std::move(block));
  }
  return out;
}

const Totals& Reader::totals() const {
  check(check_handle(state_));
  return state_->file.totals();
}
Result<Totals> Reader::try_totals(std::string_view prefix) const {
  NMB_TRY(check_handle(state_));
  return state_->file.totals_of_prefix(prefix);
}

Result<std::uint64_t> Reader::try_position(std::string_view block) const {
  NMB_TRY(check_handle(state_));
  if (const FileReader* const reader = state_->file.reader()) return reader->global_id(block);
  std::uint64_t before = 0;
  NMB_TRY(try_block(block).status());
  NMB_TRY(state_->file.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    before += entry.name < block;
    return entry.name < block;
  }));
  return before;
}

FileKind Reader::kind() const {
  check(check_handle(state_));
  return state_->kind;
}
std::uint64_t Reader::file_length() const {
  check(check_handle(state_));
  const FileReader* const reader = state_->file.reader();
  return reader ? reader->file_length() : state_->file.file().size();
}
std::uint64_t Reader::generation() const {
  check(check_handle(state_));
  const FileReader* const reader = state_->file.reader();
  return reader ? reader->generation() : 0;
}
std::array<std::uint64_t, 2> Reader::generation_digest() const {
  check(check_handle(state_));
  const FileReader* const reader = state_->file.reader();
  if (!reader) return {};
  const Digest digest = reader->generation_digest();
  return {digest.low, digest.high};
}
bool Reader::has_hdf5_view() const {
  check(check_handle(state_));
  const FileReader* const reader = state_->file.reader();
  return reader && reader->has_hdf5_view();
}
std::vector<Finding> Reader::warnings() const {
  check(check_handle(state_));
  const FileReader* const reader = state_->file.reader();
  return reader ? reader->warnings() : std::vector<Finding>();
}
Result<std::vector<std::string>> Reader::try_provenance() const {
  NMB_TRY(check_handle(state_));
  const FileReader* const reader = state_->file.reader();
  return reader ? reader->provenance() : std::vector<std::string>();
}

}  // namespace nmb
