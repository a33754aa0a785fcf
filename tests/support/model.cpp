// See model.h.
#include "support/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "extent/piece_codec.h"
#include "files/files.h"
#include "hdf5_types/netcdf_marks.h"
#include "origins/stored_values.h"
#include "sources/value_source.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb::test {

namespace {

constexpr double kNotPut = std::numeric_limits<double>::quiet_NaN();

std::string quoted_name(const std::string& name) { return '"' + name + '"'; }

Metadata metadata_of(const ModelBlock& block) {
  Metadata metadata;
  auto texts = [&](VarId owner, const std::map<std::string, std::string>& list) {
    for (const auto& [name, text] : list)
      (void)metadata.put_att(owner, name, Type::kChar, std::as_bytes(std::span(text))).ok();
  };
  for (const auto& [name, length] : block.dimensions) (void)metadata.def_dim(name, length).ok();
  texts(kGlobal, block.texts);
  for (const ModelVariable& variable : block.variables) {
    const VarId id = *metadata.def_var(variable.name, variable.type, variable.dimensions);
    texts(id, variable.texts);
    if (!variable.fill) continue;
    std::vector<std::byte> value(type_size(variable.type));
    const double fill = *variable.fill;
    convert_to_external(MemoryType::kDouble, &fill, 1, variable.type, value.data());
    (void)metadata.put_att(id, "_FillValue", variable.type, value).ok();
  }
  return metadata;
}

std::string attribute_difference(const std::map<std::string, std::string>& texts,
                                 const Metadata& metadata, VarId owner, bool has_fill) {
  if (metadata.attribute_count(owner) != texts.size() + has_fill)
    return std::to_string(metadata.attribute_count(owner)) + " attributes, expected " +
           std::to_string(texts.size() + has_fill);
  for (const auto& [name, text] : texts) {
    const auto found = metadata.find_attribute(owner, name);
    if (!found || found->type != Type::kChar ||
        !std::ranges::equal(found->values, std::as_bytes(std::span(text))))
      return "attribute " + name + " differs";
  }
  return {};
}

std::string variable_difference(const ModelBlock& block, const ModelVariable& expected,
                                const LoadedBlock& found, VarId id) {
  const Variable variable = found.metadata.variable(id);
  if (variable.name != expected.name || variable.type != expected.type ||
      !std::ranges::equal(variable.dimensions, expected.dimensions))
    return "definition differs";
  if (std::string text =
          attribute_difference(expected.texts, found.metadata, id, expected.fill.has_value());
      !text.empty())
    return text;
  std::vector<double> values;
  if (expected.type == Type::kChar) {
    Result<std::vector<char>> read = found.read_all<char>(id);
    if (!read.ok()) return read.status().text();
    for (char c : *read) values.push_back(c);
  } else {
    Result<std::vector<double>> read = found.read_all<double>(id);
    if (!read.ok()) return read.status().text();
    values = std::move(*read);
  }
  const auto shape = block.shape(expected);
  if (values.size() != expected.values.size())
    return std::to_string(values.size()) + " values, expected " +
           std::to_string(expected.values.size());
  const double fill = expected.fill_as_double();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = std::isnan(expected.values[i]) ? fill : expected.values[i];
    if (values[i] != wanted)
      return "value " + std::to_string(i) + " of " + std::to_string(values.size()) + " is " +
             std::to_string(values[i]) + ", expected " + std::to_string(wanted);
  }
  return {};
}

std::string block_difference(const ModelBlock& expected, const LoadedBlock& found) {
  if (found.records != expected.records || found.entry.records != expected.records)
    return std::to_string(found.records) + " records, expected " + std::to_string(expected.records);
  if (found.entry.samples != expected.samples) return "samples differ";
  if (found.metadata.dimension_count() != expected.dimensions.size()) return "dimensions differ";
  for (DimId i = 0; i < found.metadata.dimension_count(); ++i)
    if (found.metadata.dimension(i).name != expected.dimensions[i].first ||
        found.metadata.dimension(i).length != expected.dimensions[i].second)
      return "dimension " + std::to_string(i) + " differs";
  if (std::string text = attribute_difference(expected.texts, found.metadata, kGlobal, false);
      !text.empty())
    return text;
  if (found.metadata.variable_count() != expected.variables.size())
    return std::to_string(found.metadata.variable_count()) + " variables, expected " +
           std::to_string(expected.variables.size());
  for (VarId i = 0; i < found.metadata.variable_count(); ++i)
    if (std::string text = variable_difference(expected, expected.variables[i], found, i);
        !text.empty())
      return "variable " + expected.variables[i].name + " (" +
             std::string(type_name(expected.variables[i].type)) + "): " + text;
  return {};
}

}  // namespace

double ModelVariable::fill_as_double() const {
  if (fill) return *fill;
  const auto bytes = default_fill_value(type);
  if (type == Type::kChar) return static_cast<double>(bytes[0]);
  double value = 0;
  convert_from_external(type, bytes.data(), 1, MemoryType::kDouble, &value);
  return value;
}

bool ModelBlock::is_record_variable(const ModelVariable& variable) const {
  return !variable.dimensions.empty() && dimensions[variable.dimensions[0]].second == kUnlimited;
}

std::vector<std::uint64_t> ModelBlock::shape(const ModelVariable& variable) const {
  std::vector<std::uint64_t> out;
  for (DimId id : variable.dimensions) out.push_back(dimensions[id].second);
  if (is_record_variable(variable)) out[0] = records;
  return out;
}

void ModelBlock::resize_values() {
  for (ModelVariable& variable : variables) {
    std::uint64_t count = 1;
    for (std::uint64_t length : shape(variable)) count *= length;
    variable.values.resize(count, kNotPut);
  }
}

std::string difference(const Model& model, const FileReader& reader) {
  Totals totals;
  std::uint64_t place = 0;
  std::string text;
  auto expected = model.begin();
  const Status status = reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (expected == model.end() || expected->first != entry.name) {
      text = "found block " + quoted_name(entry.name) + ", expected " +
             (expected == model.end() ? "none" : quoted_name(expected->first));
      return false;
    }
    Result<std::shared_ptr<const LoadedBlock>> block = reader.block(entry);
    text = block.ok() ? block_difference(expected->second, **block) : block.status().text();
    Result<std::uint64_t> id = reader.global_id(entry.name);
    if (text.empty() && (!id.ok() || *id != place)) text = "global ID differs";
    if (!text.empty()) text = "block " + quoted_name(entry.name) + ": " + text;
    totals += entry.totals();
    ++expected;
    ++place;
    return text.empty();
  });
  if (!status.ok()) return status.text();
  if (!text.empty()) return text;
  if (expected != model.end()) return "found no block " + quoted_name(expected->first);
  return totals == reader.totals() ? "" : "totals differ";
}

std::string difference(const Model& model, const std::filesystem::path& file) {
  Result<std::unique_ptr<FileReader>> reader = FileReader::open(file.string());
  return reader.ok() ? difference(model, **reader) : reader.status().text();
}

std::string findings_of(const ByteSource& file, const std::vector<std::string>& allowed) {
  FindingList found;
  Result<VerifySummary> summary = verify(file, {}, found);
  if (!summary.ok()) return summary.status().text();
  if (!summary->incomplete.ok()) return summary->incomplete.text();
  std::string text;
  for (const Finding& finding : found.list)
    if (std::ranges::find(allowed, finding.rule) == allowed.end()) text += finding.text() + "\n";
  return text;
}

std::string findings_of(const std::filesystem::path& file,
                        const std::vector<std::string>& allowed) {
  Result<std::unique_ptr<FileSource>> source = FileSource::open(file.string());
  return source.ok() ? findings_of(**source, allowed) : source.status().text();
}

PackedBlock packed_block(const std::string& name, const ModelBlock& block, Kind kind,
                         std::size_t trailing_bytes) {
  Metadata metadata = metadata_of(block);
  const ClassicLayout layout = *layout_classic(metadata, kind);
  std::vector<std::byte> body;
  (void)encode_classic_header(metadata, kind, block.records, [&](std::span<const std::byte> part) {
    body.insert(body.end(), part.begin(), part.end());
    return Status();
  }).ok();
  std::vector<std::byte> extent(layout.end(block.records) - layout.header_length);
  FillPattern(metadata, layout).fill(0, extent);
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    const ModelVariable& variable = block.variables[id];
    const VariableShape shape = *shape_of(metadata, layout, id, block.records);
    const Hyperslab all{std::vector<std::uint64_t>(shape.lengths.size(), 0), shape.lengths, {}};
    (void)for_each_run(shape, all, [&](auto offset, auto index, auto count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const double value = variable.values[index + i];
        if (std::isnan(value)) continue;
        std::byte* to = extent.data() + offset + i * type_size(variable.type);
        if (variable.type == Type::kChar)
          *to = static_cast<std::byte>(value);
        else
          convert_to_external(MemoryType::kDouble, &value, 1, variable.type, to);
      }
      return Status();
    }).ok();
  }
  for (std::size_t i = 0; i < trailing_bytes; ++i) extent.push_back(std::byte{0xEE});
  PackedBlock packed;
  packed.name = name;
  packed.kind = kind;
  count_objects(metadata, &packed);
  packed.records = block.records;
  packed.samples = block.samples;
  packed.extent_length = extent.size();
  packed.body = owned_bytes(std::move(body), "");
  packed.extent = owned_bytes(std::move(extent), "");
  return packed;
}

std::string RandomSession::new_name() {
  static const char* const parts[] = {"a", "b", "ab", "z", "run7", "\xC3\xA9"};
  if (one_in(15)) return "";
  std::string name = parts[below(6)];
  while (one_in(2)) name += std::string("/") + parts[below(6)];
  return name;
}

void RandomSession::add_variable(ModelBlock* block, bool classic_types) {
  ModelVariable variable;
  variable.name = "v" + std::to_string(block->variables.size());
  variable.type = static_cast<Type>(1 + below(classic_types ? 6 : 11));
  bool large = false;
  for (std::uint64_t rank = below(4); rank > 0 && !block->dimensions.empty(); --rank) {
    const auto id = static_cast<DimId>(below(block->dimensions.size()));
    const std::uint64_t length = block->dimensions[id].second;
    if (length == kUnlimited && !variable.dimensions.empty()) continue;
    if (length > 1000 && std::exchange(large, true)) continue;
    variable.dimensions.push_back(id);
  }
  if (one_in(4)) variable.fill = static_cast<int>(below(100));
  if (one_in(3)) variable.texts["units"] = std::string(below(9), 'u');
  block->variables.push_back(std::move(variable));
}

ModelBlock RandomSession::random_block(bool classic_types) {
  ModelBlock block;
  const bool records = one_in(2);
  for (std::uint64_t i = 0, n = below(4); i < n; ++i)
    block.dimensions.push_back(
        {"d" + std::to_string(i), one_in(6) ? 9000 + below(40000) : 1 + below(6)});
  if (records) {
    const auto at =
        block.dimensions.begin() + static_cast<std::ptrdiff_t>(below(block.dimensions.size() + 1));
    block.dimensions.insert(at, {"time", kUnlimited});
  }
  for (std::uint64_t i = 0, n = below(5); i < n; ++i) add_variable(&block, classic_types);
  if (one_in(2)) block.texts["title"] = std::string(below(40), 't');
  block.samples = below(3);
  return block;
}

Status RandomSession::define_block() {
  const std::string name = new_name();
  ModelBlock block = random_block(false);
  const bool has_records =
      std::ranges::any_of(block.dimensions, [](const auto& d) { return d.second == kUnlimited; });
  if (has_records && one_in(3)) block.records = below(5);
  Result<BlockId> id = writer_.define_block(name, metadata_of(block), block.records);
  if (model_.count(name)) {
    if (id.ok() || id.status().code() != Code::kExists)
      return Status(Code::kConflict, "a block could be defined twice");
    return {};
  }
  if (!id.ok()) return id.status();
  NMB_TRY(writer_.set_field(*id, &EntryFields::samples, block.samples));
  block.resize_values();
  model_[name] = std::move(block);
  return {};
}

Status RandomSession::define_growing(int blocks) {
  for (int i = 0; i < blocks; ++i) {
    const std::string name = "growing" + std::to_string(i);
    ModelBlock block;
    block.dimensions = {{"time", kUnlimited}, {"x", 3}};
    for (const Type type : {Type::kInt, Type::kShort}) {
      ModelVariable& variable = block.variables.emplace_back();
      variable.name = type == Type::kInt ? "v" : "w";
      variable.type = type;
      variable.dimensions = {0, 1};
    }
    NMB_ASSIGN(const BlockId id, writer_.define_block(name, metadata_of(block), 0));
    NMB_TRY(writer_.set_field(id, &EntryFields::samples, 0));
    model_[name] = std::move(block);
  }
  return {};
}

Status RandomSession::pack() {
  const std::string name = new_name();
  if (model_.count(name)) return {};
  const Kind kinds[] = {Kind::kCdf1, Kind::kCdf2, Kind::kCdf5};
  const Kind kind = kinds[below(3)];
  ModelBlock block = random_block(kind != Kind::kCdf5);
  if (std::ranges::any_of(block.dimensions, [](const auto& d) { return d.second == kUnlimited; }))
    block.records = below(4);
  block.resize_values();
  for (ModelVariable& variable : block.variables) {
    for (double& value : variable.values) value = static_cast<double>(below(100));
    variable.laid_out = true;
  }
  PackedBlock packed = packed_block(name, block, kind, one_in(2) ? below(20) : 0);
  if (one_in(5)) {  // a hole
    packed.extent.reset();
    for (ModelVariable& variable : block.variables) std::ranges::fill(variable.values, kNotPut);
  }
  const std::shared_ptr<const ByteSource> extent = packed.extent;
  if (extent || packed.extent_length == 0)
    packed.new_digests = static_cast<RecordedDigests>(name.size() % 3);
  NMB_ASSIGN(BlockId id, writer_.pack_block(std::move(packed)));
  if (extent && extent->size() > 0 && one_in(2)) NMB_TRY(give_pieces(id, *extent));
  model_[name] = std::move(block);
  packed_.push_back(name);
  return {};
}

// Values of a packed block as pieces, cut and coded at random.
Status RandomSession::give_pieces(BlockId id, const ByteSource& extent) {
  constexpr std::uint64_t kWindow = 65536;  // the smallest piece size: no piece crosses any
  std::vector<StoredPiece> pieces;
  std::vector<std::byte> all;
  for (std::uint64_t at = 0; at < extent.size();) {
    std::uint64_t end = std::min(extent.size(), (at / kWindow + 1) * kWindow);
    if (one_in(3)) end = at + 1 + below(end - at);
    std::vector<std::byte> bytes(end - at);
    NMB_TRY(extent.read_at(at, bytes));
    PieceCodec codec = kPieceCodecs[below(std::size(kPieceCodecs))].codec;
    if (codec != PieceCodec::kNone) {
      std::vector<std::byte> stored = encode_piece(codec, 1, bytes);
      if (stored.empty())
        codec = PieceCodec::kNone;
      else
        bytes = std::move(stored);
    }
    pieces.push_back({end - at, codec, bytes.size(), all.size()});
    all.insert(all.end(), bytes.begin(), bytes.end());
    at = end;
  }
  return take_pieces(writer_, id, std::move(pieces), owned_bytes(std::move(all), ""));
}

Status RandomSession::add_definitions(Model::iterator at) {
  ModelBlock& block = at->second;
  NMB_ASSIGN(BlockId id, writer_.find_block(at->first));
  switch (below(4)) {
    case 0: {
      const std::string text(below(30), 'x');
      NMB_TRY(writer_.put_att_text(id, kGlobal, "title", text));
      block.texts["title"] = text;
      return {};
    }
    case 1: {
      block.samples = below(1000);
      return writer_.set_field(id, &EntryFields::samples, block.samples);
    }
    case 2: {
      const std::string name = "d" + std::to_string(block.dimensions.size());
      const std::uint64_t length = 1 + below(9);
      Result<DimId> dimension = writer_.def_dim(id, name, length);
      if (!dimension.ok())
        return dimension.status().code() == Code::kExists ? Status() : dimension.status();
      block.dimensions.push_back({name, length});
      return {};
    }
    default: {
      ModelBlock changed = block;
      add_variable(&changed, false);
      ModelVariable& variable = changed.variables.back();
      NMB_ASSIGN(VarId variable_id,
                 writer_.def_var(id, variable.name, variable.type, variable.dimensions));
      for (const auto& [name, text] : variable.texts)
        NMB_TRY(writer_.put_att_text(id, variable_id, name, text));
      if (variable.fill) {
        const double fill = *variable.fill;
        const char letter = static_cast<char>(*variable.fill);
        if (variable.type == Type::kChar)
          NMB_TRY(writer_.put_att(id, variable_id, "_FillValue", variable.type,
                                  std::span<const char>(&letter, 1)));
        else
          NMB_TRY(writer_.put_att(id, variable_id, "_FillValue", variable.type,
                                  std::span<const double>(&fill, 1)));
      }
      changed.resize_values();
      block = std::move(changed);
      return {};
    }
  }
}

Status RandomSession::put_fill_value(Model::iterator at) {
  if (at->second.variables.empty()) return {};
  const auto v = static_cast<VarId>(below(at->second.variables.size()));
  ModelVariable& variable = at->second.variables[v];
  NMB_ASSIGN(BlockId id, writer_.find_block(at->first));
  const int fill = static_cast<int>(below(100));
  std::vector<std::byte> bytes(type_size(variable.type));
  const double value = fill;
  convert_to_external(MemoryType::kDouble, &value, 1, variable.type, bytes.data());
  const Status status = writer_.put_att(id, v, "_FillValue", variable.type, bytes);
  // Committed values that equal the fill value count as holes.
  const bool holes = std::ranges::any_of(
      variable.values, [&](double d) { return std::isnan(d) || d == variable.fill_as_double(); });
  if (!status.ok())
    return status.code() == Code::kUsage && holes && variable.laid_out ? Status() : status;
  // Values filled when their piece was written stay what they are.
  if (variable.laid_out)
    for (double& d : variable.values)
      if (std::isnan(d)) d = variable.fill_as_double();
  variable.fill = fill;
  return {};
}

Model::iterator RandomSession::any_block() {
  auto at = model_.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(below(model_.size())));
  return at;
}

Status RandomSession::define(int calls) {
  for (int i = 0; i < calls; ++i) {
    const std::uint64_t what = below(12);
    if (model_.empty() || what < 3) {
      NMB_TRY(define_block());
      continue;
    }
    if (what == 3) {
      NMB_TRY(pack());
      continue;
    }
    const auto at = any_block();
    if (what == 4) {
      NMB_ASSIGN(BlockId id, writer_.find_block(at->first));
      NMB_TRY(writer_.remove_block(id));
      std::erase(packed_, at->first);
      model_.erase(at);
    } else if (what == 5) {
      NMB_ASSIGN(BlockId id, writer_.find_block(at->first));
      const std::string name = new_name();
      const Status status = writer_.rename_block(id, name);
      if (model_.count(name)) {
        if (name != at->first && status.code() != Code::kExists)
          return Status(Code::kConflict, "a block could take a name that another has");
        continue;
      }
      NMB_TRY(status);
      std::ranges::replace(packed_, at->first, name);
      auto node = model_.extract(at);
      node.key() = name;
      model_.insert(std::move(node));
    } else if (std::ranges::find(packed_, at->first) == packed_.end()) {
      NMB_TRY(what == 6 ? put_fill_value(at) : add_definitions(at));
    }
  }
  return {};
}

Status RandomSession::end_define() {
  NMB_TRY(writer_.end_define());
  for (auto& [name, block] : model_)
    for (ModelVariable& variable : block.variables) variable.laid_out = true;
  return {};
}

Status RandomSession::put_values(Model::iterator at) {
  ModelBlock& block = at->second;
  if (block.variables.empty()) return {};
  const auto v = static_cast<VarId>(below(block.variables.size()));
  const ModelVariable& variable = block.variables[v];
  std::vector<std::uint64_t> shape = block.shape(variable);
  if (block.is_record_variable(variable)) shape[0] += below(4);
  Hyperslab slab;
  std::uint64_t size = 1;
  for (std::uint64_t length : shape) size *= length;
  const bool whole = one_in(3), one_run = few_runs_ && size > 100;
  for (std::uint64_t length : shape) {
    std::uint64_t start = 0, stride = 1, n = length;
    if (!whole && length > 0 && !(one_run && !slab.start.empty())) {
      start = below(length);
      stride = one_run ? 1 : 1 + below(3);
      n = 1 + below((length - start - 1) / stride + 1);
    }
    slab.start.push_back(start);
    slab.stride.push_back(stride);
    slab.count.push_back(n);
  }
  return put_slab(at, v, slab);
}

Status RandomSession::put_slab(Model::iterator at, VarId v, const Hyperslab& slab) {
  ModelBlock& block = at->second;
  ModelVariable& variable = block.variables[v];
  NMB_ASSIGN(const BlockId id, writer_.find_block(at->first));
  std::uint64_t count = 1;
  for (const std::uint64_t n : slab.count) count *= n;
  std::vector<int> values(count);
  for (int& value : values) value = static_cast<int>(below(100));
  if (variable.type == Type::kChar) {
    std::vector<char> letters(values.begin(), values.end());
    NMB_TRY(writer_.put(id, v, slab, std::span<const char>(letters)));
  } else {
    NMB_TRY(writer_.put(id, v, slab, std::span<const int>(values)));
  }
  if (count == 0) return {};
  if (block.is_record_variable(variable))
    block.records =
        std::max(block.records, slab.start[0] + (slab.count[0] - 1) * slab.stride[0] + 1);
  block.resize_values();
  const std::vector<std::uint64_t> shape = block.shape(variable);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i, element = 0, below_it = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      element += (slab.start[d] + rest % slab.count[d] * slab.stride[d]) * below_it;
      rest /= slab.count[d];
      below_it *= shape[d];
    }
    variable.values[element] = values[i];
  }
  return {};
}

Status RandomSession::put(int calls) {
  for (int i = 0; i < calls && !model_.empty(); ++i) {
    const auto at = any_block();
    if (std::ranges::find(packed_, at->first) != packed_.end()) continue;
    NMB_TRY(put_values(at));
  }
  return {};
}

Result<int> RandomSession::add_records(int calls) {
  int added = 0;
  for (int i = 0; i < calls && !model_.empty(); ++i) {
    const auto at = any_block();
    if (std::ranges::find(packed_, at->first) != packed_.end()) continue;
    const ModelBlock& block = at->second;
    const std::uint64_t record = block.records;
    for (VarId v = 0; v < block.variables.size(); ++v) {
      if (!block.is_record_variable(block.variables[v])) continue;
      Hyperslab slab;
      slab.count = block.shape(block.variables[v]);
      slab.start.resize(slab.count.size());
      slab.stride.assign(slab.count.size(), 1);
      slab.start[0] = record;
      slab.count[0] = 1;
      NMB_TRY(put_slab(at, v, slab));
    }
    added += block.records > record;
  }
  return added;
}

}  // namespace nmb::test
