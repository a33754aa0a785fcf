#include "nmb/writer.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "handles/handle_parts.h"
#include "handles/json_object.h"
#include "handles/reader_state.h"
#include "view/hdf5_view.h"
#include "wire/checked.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

FileWriterOptions file_options(const WriteOptions& options) {
  FileWriterOptions out;
  if (options.mode > WriteOptions::Mode::kAppend)
    out.arguments =
        Status(Code::kUsage, joined_text("found mode ", static_cast<unsigned>(options.mode),
                                         ", expected a WriteOptions::Mode"));
  out.overwrite = options.mode == WriteOptions::Mode::kReplace;
  out.sync = options.sync;
  out.hdf5_view = options.hdf5_view;
  out.statistics = options.statistics;
  out.functions = options.functions;
  out.piece_size = options.piece_size;
  out.alignment = options.alignment;
  out.aggregators = options.aggregators;
  out.io = options.mpi_io ? Io::kMpiIo : Io::kPosix;
  out.hints = options.hints;
  out.commits_provenance = true;
  if (options.on_warning) {
    out.on_repair = options.on_warning;
    out.on_no_view = [warn = options.on_warning](const std::string& reason) {
      warn("no HDF5 view: " + reason);
      return Status();
    };
    out.on_lost_records = [warn = options.on_warning](const LostRecords& lost) {
      warn(lost.text());
      return Status();
    };
    out.on_left_out = [warn = options.on_warning](const LeftOutList& list) {
      for (const std::string& line : list.lines()) warn(line);
      return Status();
    };
    out.on_view = [warn = options.on_warning](const ViewCost& cost) {
      if (const std::string text = cost.text(); !text.empty()) warn(text);
      return Status();
    };
  }
  return out;
}

Result<std::shared_ptr<WriterState>> open_state(const std::string& path,
                                                const WriteOptions& options, Communicator* ranks) {
  auto state = std::make_shared<WriterState>();
  state->ranks = ranks;
  const FileWriterOptions all = file_options(options);
  if (options.mode == WriteOptions::Mode::kAppend) {
    NMB_ASSIGN(state->file,
               ranks ? FileWriter::open(path, all, *ranks) : FileWriter::open(path, all));
  } else {
    NMB_ASSIGN(state->file,
               ranks ? FileWriter::create(path, all, *ranks) : FileWriter::create(path, all));
  }
  return state;
}

Status closed() { return Status(Code::kUsage, "the writer is closed"); }

// Returns kUsage if the handle of `state` is empty or its writer is closed.
Status check_open(const std::shared_ptr<WriterState>& state) {
  NMB_TRY(check_handle(state));
  return state->file && !state->closed ? Status() : closed();
}

// Runs call(file) on the writer of a handle that is open, is ready for definitions, or is ready for
// values.
template <class Call>
auto inquire(const std::shared_ptr<WriterState>& state, Call call) -> decltype(call(*state->file)) {
  NMB_TRY(check_open(state));
  return call(*state->file);
}
template <class Call>
auto define(const std::shared_ptr<WriterState>& state, Call call) -> decltype(call(*state->file)) {
  NMB_TRY(check_open(state));
  NMB_TRY(state->begin_define());
  return call(*state->file);
}
template <class Call>
auto with_values(const std::shared_ptr<WriterState>& state, Call call)
    -> decltype(call(*state->file)) {
  NMB_TRY(check_open(state));
  NMB_TRY(state->begin_values());
  return call(*state->file);
}

// Returns kUsage unless the handle of a block belongs to the writer.
Status check_block(const std::shared_ptr<WriterState>& of_block,
                   const std::shared_ptr<WriterState>& writer) {
  NMB_TRY(check_handle(of_block));
  NMB_TRY(check_handle(writer));
  return of_block == writer ? Status() : Status(Code::kUsage, "the block is another writer's");
}

Status no_object(const char* kind, std::string_view name) {
  return Status(Code::kNotFound, joined_text("found no ", kind, " \"", name, "\" in the block"));
}

Result<Hyperslab> records_slab(FileWriter& file, BlockId block, VarId id, std::uint64_t first,
                               std::uint64_t values) {
  NMB_TRY(file.check_not_from_hdf5(block));
  NMB_ASSIGN(const Metadata* metadata, file.metadata(block));
  const Variable variable = metadata->variable(id);
  if (variable.dimensions.empty() || !metadata->dimension(variable.dimensions[0]).is_record())
    return Status(Code::kUsage, joined_text("variable \"", variable.name, "\" has no records"));
  Hyperslab slab;
  std::uint64_t per_record = 1;
  for (const DimId id_of_dim : variable.dimensions) {
    slab.start.push_back(0);
    slab.count.push_back(metadata->dimension(id_of_dim).length);
    if (slab.count.size() > 1 && !checked_mul(per_record, slab.count.back(), &per_record))
      return Status(Code::kUsage, "the record is too large");
  }
  if (per_record == 0 || values % per_record != 0)
    return Status(Code::kUsage, joined_text("found ", values, " values for variable \"",
                                            variable.name, "\", expected a multiple of ",
                                            per_record, ", the values of a record"));
  slab.start[0] = first;
  slab.count[0] = values / per_record;
  return slab;
}

// Returns the slab of all values that a variable has now.
Result<Hyperslab> whole_slab(FileWriter& file, BlockId block, VarId id) {
  NMB_TRY(file.check_not_from_hdf5(block, "its values cannot be read before they are committed"));
  NMB_ASSIGN(const Metadata* metadata, file.metadata(block));
  NMB_ASSIGN(const std::uint64_t records, file.records(block));
  Hyperslab slab;
  for (const DimId of_var : metadata->variable(id).dimensions) {
    const Dimension dimension = metadata->dimension(of_var);
    slab.start.push_back(0);
    slab.count.push_back(dimension.is_record() ? records : dimension.length);
  }
  return slab;
}

std::vector<RequestId> ids_of(std::span<const Request> requests) {
  std::vector<RequestId> ids;
  ids.reserve(requests.size());
  for (const Request request : requests) ids.push_back(static_cast<RequestId>(request));
  return ids;
}

}  // namespace

Status WriterState::begin_define() {
  if (defining || !is_alone()) return {};  // the writer refuses definitions at the wrong time
  NMB_TRY(file->redefine());
  defining = true;
  return {};
}

Status WriterState::begin_values() {
  if (!defining || !is_alone()) return {};
  NMB_TRY(file->end_define());
  defining = false;
  return {};
}

// --- variables ---

Status Var::try_att(std::string_view name, ConstArray values) {
  return define(writer_, [&](FileWriter& file) -> Status {
    Type type = type_for(values.type());
    if (name == "_FillValue") {
      NMB_ASSIGN(const Metadata* metadata, file.metadata(block_));
      type = metadata->variable(id_).type;
    }
    return file.put_att(block_, id_, name, type, values);
  });
}
Status Var::try_att(std::string_view name, Type type, ConstArray numbers) {
  return define(writer_,
                [&](FileWriter& file) { return file.put_att(block_, id_, name, type, numbers); });
}
Status Var::try_rename_att(std::string_view from, std::string_view to) {
  return define(writer_, [&](FileWriter& file) { return file.rename_att(block_, id_, from, to); });
}
Status Var::try_remove_att(std::string_view name) {
  return define(writer_, [&](FileWriter& file) { return file.remove_att(block_, id_, name); });
}
Status Var::try_rename(std::string_view name) {
  return define(writer_, [&](FileWriter& file) { return file.rename_var(block_, id_, name); });
}
Status Var::try_put(ConstArray values) {
  return with_values(writer_, [&](FileWriter& file) { return file.put(block_, id_, values); });
}
Status Var::try_put(const Hyperslab& slab, ConstArray values) {
  return with_values(writer_,
                     [&](FileWriter& file) { return file.put(block_, id_, slab, values); });
}
Status Var::try_put_records(DimIndex first, ConstArray values) {
  return with_values(writer_, [&](FileWriter& file) -> Status {
    NMB_ASSIGN(const Hyperslab slab, records_slab(file, block_, id_, first.value, values.count()));
    return file.put(block_, id_, slab, values);
  });
}
Status Var::try_put_strings(std::span<const std::string> strings) {
  return with_values(writer_, [&](FileWriter& file) -> Status {
    NMB_TRY(file.check_not_from_hdf5(block_));
    NMB_ASSIGN(const Metadata* metadata, file.metadata(block_));
    const Variable variable = metadata->variable(id_);
    const std::uint64_t length = variable.type != Type::kChar || variable.dimensions.empty()
                                     ? kUnlimited
                                     : metadata->dimension(variable.dimensions.back()).length;
    if (length == kUnlimited)
      return Status(Code::kUsage, joined_text("variable \"", variable.name,
                                              "\" has no strings: its type must be char, and its "
                                              "last dimension the length of a string"));
    std::string text;
    for (const std::string& string : strings) {
      if (string.size() > length)
        return Status(Code::kUsage,
                      joined_text("found a string of ", string.size(), " bytes for variable \"",
                                  variable.name, "\", expected at most ", length));
      text += string;
      text.append(static_cast<std::size_t>(length) - string.size(), '\0');
    }
    return file.put(block_, id_, text);
  });
}
Status Var::try_put_all(const Hyperslab& slab, ConstArray values) {
  return with_values(writer_,
                     [&](FileWriter& file) { return file.put_all(block_, id_, slab, values); });
}
Status Var::try_put_all() { return try_put_all({{0}, {0}}, ConstArray(MemoryType::kDouble, {})); }
Status Var::try_get(MutableArray out) {
  return with_values(writer_, [&](FileWriter& file) -> Status {
    NMB_ASSIGN(const Hyperslab slab, whole_slab(file, block_, id_));
    return file.get(block_, id_, slab, out);
  });
}
Status Var::try_get(const Hyperslab& slab, MutableArray out) {
  return with_values(writer_, [&](FileWriter& file) { return file.get(block_, id_, slab, out); });
}
Status Var::try_get_all(const Hyperslab& slab, MutableArray out) {
  return with_values(writer_, [&](FileWriter& file) {
    const Get one{block_, id_, slab, out};
    return file.get_all(std::span(&one, 1));
  });
}
Status Var::try_get_all() {
  return with_values(writer_, [](FileWriter& file) { return file.get_all({}); });
}
Result<Request> Var::try_iput(ConstArray values) {
  return with_values(writer_, [&](FileWriter& file) -> Result<Request> {
    NMB_ASSIGN(const RequestId id, file.iput(block_, id_, values));
    return Request{id};
  });
}
Result<Request> Var::try_iput(const Hyperslab& slab, ConstArray values) {
  return with_values(writer_, [&](FileWriter& file) -> Result<Request> {
    NMB_ASSIGN(const RequestId id, file.iput(block_, id_, slab, values));
    return Request{id};
  });
}

// --- blocks ---

Result<Dim> Block::try_dim(std::string_view name, DimIndex length) {
  if (length.value == kUnlimited)
    return Status(Code::kUsage, joined_text("dimension \"", name,
                                            "\" has the length -1; the length of "
                                            "a record dimension is kUnlimited"));
  return define_dim(name, length.value);
}
Result<Dim> Block::define_dim(std::string_view name, std::uint64_t length) {
  return define(writer_, [&](FileWriter& file) -> Result<Dim> {
    NMB_ASSIGN(const DimId id, file.def_dim(id_, name, length));
    return Dim(writer_->number, id_, id);
  });
}
Result<Dim> Block::try_dim(std::string_view name) {
  return inquire(writer_, [&](FileWriter& file) -> Result<Dim> {
    NMB_ASSIGN(const Metadata* metadata, file.metadata(id_));
    const std::optional<DimId> id = metadata->find_dimension(name);
    return id ? Result<Dim>(Dim(writer_->number, id_, *id)) : no_object("dimension", name);
  });
}
Result<Var> Block::try_var(std::string_view name, Type type, std::span<const Dim> dims) {
  return define(writer_, [&](FileWriter& file) -> Result<Var> {
    std::vector<DimId> ids;
    ids.reserve(dims.size());
    for (const Dim& dim : dims) {
      if (dim.writer_ != writer_->number || dim.block_ != id_)
        return Status(Code::kUsage, joined_text("variable \"", name,
                                                "\" has a dimension of another block or writer"));
      ids.push_back(dim.id_);
    }
    NMB_ASSIGN(const VarId id, file.def_var(id_, name, type, ids));
    return Var(writer_, id_, id);
  });
}
Result<Var> Block::try_var(std::string_view name) {
  return inquire(writer_, [&](FileWriter& file) -> Result<Var> {
    NMB_ASSIGN(const Metadata* metadata, file.metadata(id_));
    const std::optional<VarId> id = metadata->find_variable(name);
    return id ? Result<Var>(Var(writer_, id_, *id)) : no_object("variable", name);
  });
}
Status Block::try_att(std::string_view name, Type type, ConstArray numbers) {
  return define(writer_,
                [&](FileWriter& file) { return file.put_att(id_, kGlobal, name, type, numbers); });
}
Status Block::try_rename_att(std::string_view from, std::string_view to) {
  return define(writer_, [&](FileWriter& file) { return file.rename_att(id_, kGlobal, from, to); });
}
Status Block::try_remove_att(std::string_view name) {
  return define(writer_, [&](FileWriter& file) { return file.remove_att(id_, kGlobal, name); });
}
Status Block::try_rename(const Dim& dim, std::string_view name) {
  return define(writer_, [&](FileWriter& file) -> Status {
    if (dim.writer_ != writer_->number || dim.block_ != id_)
      return Status(Code::kUsage, "the dimension is another block's or writer's");
    return file.rename_dim(id_, dim.id_, name);
  });
}
Status Block::try_samples(DimIndex number) {
  return define(writer_, [&](FileWriter& file) {
    return file.set_field(id_, &EntryFields::samples, number.value);
  });
}
Status Block::try_tag(std::string_view name, TagValue value) {
  return define(writer_,
                [&](FileWriter& file) { return file.set_tag(id_, name, std::move(value)); });
}
Result<BlockDefinitions> Block::try_definitions() {
  return inquire(writer_, [&](FileWriter& file) -> Result<BlockDefinitions> {
    NMB_TRY(file.check_not_from_hdf5(id_, "a Reader shows its definitions"));
    NMB_ASSIGN(const Metadata* const metadata, file.metadata(id_));
    const auto dataset = std::make_shared<Dataset>();
    dataset->metadata = *metadata;
    NMB_TRY(dataset->metadata.settle_names());
    NMB_ASSIGN(dataset->records, file.records(id_));
    NMB_ASSIGN(dataset->layout, file.layout(id_));
    const auto atts = [&](VarId owner) {
      std::vector<AttView> all;
      dataset->metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
        all.push_back(ReaderState::view(dataset, owner, attribute, {}));
      });
      return all;
    };
    BlockDefinitions out;
    for (DimId d = 0; d < dataset->metadata.dimension_count(); ++d) {
      const Dimension dim = dataset->metadata.dimension(d);
      out.dims.push_back({std::string(dim.name), dim.is_record() ? dataset->records : dim.length,
                          dim.is_record(), dim.is_record()});
    }
    for (VarId v = 0; v < dataset->metadata.variable_count(); ++v) {
      const Variable var = dataset->metadata.variable(v);
      out.vars.push_back({Var(writer_, id_, v),
                          std::string(var.name),
                          var.type,
                          {var.dimensions.begin(), var.dimensions.end()},
                          atts(v)});
    }
    out.atts = atts(kGlobal);
    return out;
  });
}
Result<std::uint64_t> Block::try_records() {
  return inquire(writer_, [&](FileWriter& file) { return file.records(id_); });
}
Status Block::try_extend(DimIndex records) {
  return with_values(writer_, [&](FileWriter& file) { return file.extend(id_, records.value); });
}

// --- the writer ---

Writer::Writer(std::shared_ptr<WriterState> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&& other) noexcept {
  if (this != &other) {
    if (state_) state_->file.reset();
    state_ = std::move(other.state_);
  }
  return *this;
}
Writer::~Writer() {
  if (state_) state_->file.reset();
}

Result<Writer> Writer::try_open(const std::string& path, const WriteOptions& options) {
  NMB_ASSIGN(std::shared_ptr<WriterState> state, open_state(path, options, nullptr));
  return Writer(std::move(state));
}
Result<Writer> Writer::try_open(const std::string& path, Ranks& ranks,
                                const WriteOptions& options) {
  return without_exceptions([&]() -> Result<Writer> {
    NMB_ASSIGN(std::shared_ptr<WriterState> state, open_state(path, options, &communicator(ranks)));
    return Writer(std::move(state));
  });
}

Result<Block> Writer::try_block(std::string_view name) {
  NMB_TRY(check_open(state_));
  if (!state_->defining) {
    const Result<BlockId> found = state_->file->find_block(name);
    if (found.ok()) return Block(state_, *found);
    if (found.status().code() != Code::kNotFound) return found.status();
  }
  return define(state_, [&](FileWriter& file) -> Result<Block> {
    Result<BlockId> id = file.define_block(name);
    if (id.status().code() == Code::kExists) id = file.find_block(name);
    if (!id.ok()) return id.status();
    return Block(state_, *id);
  });
}
Result<Block> Writer::try_find_block(std::string_view name) {
  return inquire(state_, [&](FileWriter& file) -> Result<Block> {
    NMB_ASSIGN(const BlockId id, file.find_block(name));
    return Block(state_, id);
  });
}
Result<std::vector<Block>> Writer::try_open_blocks(std::span<const std::string_view> names) {
  return with_values(state_, [&](FileWriter& file) -> Result<std::vector<Block>> {
    NMB_ASSIGN(const std::vector<BlockId> ids, file.open_blocks(names));
    std::vector<Block> blocks;
    for (const BlockId id : ids) blocks.push_back(Block(state_, id));
    return blocks;
  });
}
Status Writer::try_remove(const Block& block) {
  NMB_TRY(check_block(block.writer_, state_));
  return define(state_, [&](FileWriter& file) -> Status {
    NMB_TRY(file.check_not_from_hdf5(block.id_,
                                     "other blocks may refer to it, and it cannot be removed; "
                                     "nmcat --exclude copies the other blocks into a new file"));
    return file.remove_block(block.id_);
  });
}
Status Writer::try_rename(const Block& block, std::string_view name) {
  NMB_TRY(check_block(block.writer_, state_));
  return define(state_, [&](FileWriter& file) -> Status {
    NMB_TRY(file.check_not_from_hdf5(block.id_,
                                     "other blocks may refer to it by its name, and it cannot be "
                                     "renamed; nmcat gives blocks other names in a new file"));
    return file.rename_block(block.id_, name);
  });
}
Status Writer::try_add_provenance(std::string_view json) {
  return inquire(state_, [&](FileWriter& file) -> Status {
    NMB_TRY(check_json_object(json).of_object("provenance"));
    return file.add_provenance(json);
  });
}

Status Writer::try_end_define() {
  NMB_TRY(inquire(state_, [](FileWriter& file) { return file.end_define(); }));
  state_->defining = false;
  return {};
}
Status Writer::try_discard() {
  NMB_TRY(inquire(state_, [](FileWriter& file) { return file.discard(); }));
  state_->defining = false;
  return {};
}
Status Writer::try_redefine() {
  NMB_TRY(inquire(state_, [](FileWriter& file) { return file.redefine(); }));
  state_->defining = true;
  return {};
}
Status Writer::try_cancel(std::span<const Request> requests) {
  return inquire(state_, [&](FileWriter& file) { return file.cancel(ids_of(requests)); });
}
Status Writer::try_wait(std::span<const Request> requests, std::span<Status> statuses) {
  return with_values(state_,
                     [&](FileWriter& file) { return file.wait(ids_of(requests), statuses); });
}
Status Writer::try_wait_all(std::span<const Request> requests, std::span<Status> statuses) {
  return with_values(state_,
                     [&](FileWriter& file) { return file.wait_all(ids_of(requests), statuses); });
}
Result<std::vector<Get>> Writer::gets_of(std::span<const GetRequest> requests) const {
  std::vector<Get> gets;
  gets.reserve(requests.size());
  for (const GetRequest& request : requests) {
    NMB_TRY(check_handle(request.var.writer_));
    if (request.var.writer_ != state_)
      return Status(Code::kUsage, "the variable is another writer's");
    gets.push_back({request.var.block_, request.var.id_, request.slab, request.out});
  }
  return gets;
}
Status Writer::try_get(std::span<const GetRequest> requests, std::span<Status> statuses) {
  return with_values(state_, [&](FileWriter& file) -> Status {
    NMB_ASSIGN(const std::vector<Get> gets, gets_of(requests));
    return file.get(gets, statuses);
  });
}
Status Writer::try_get_all(std::span<const GetRequest> requests, std::span<Status> statuses) {
  return with_values(state_, [&](FileWriter& file) {
    const Result<std::vector<Get>> gets = gets_of(requests);
    return gets.ok() ? file.get_all(*gets, statuses) : file.get_all({}, {}, gets.status());
  });
}
Status Writer::try_flush() {
  return with_values(state_, [](FileWriter& file) { return file.flush(); });
}
Status Writer::try_sync() {
  return with_values(state_, [&](FileWriter& file) { return file.sync(); });
}
Status Writer::try_close() {
  NMB_TRY(inquire(state_, [](FileWriter& file) { return file.close(); }));
  state_->closed = true;
  return {};
}

std::uint64_t Writer::generation() const {
  check(check_handle(state_));
  return state_->file ? state_->file->generation() : 0;
}
Result<std::string> Writer::try_report() const {
  NMB_TRY(check_handle(state_));
  if (!state_->file) return closed();
  FileWriterReport report = state_->file->report();
  if (state_->ranks) {
    NMB_ASSIGN(report, state_->ranks->all_reduce(report, FileWriterReport::highest));
  }
  return report.text();
}

}  // namespace nmb
