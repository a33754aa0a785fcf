// Writer: opens and closes files and forwards calls to the parts of the writer (see
// writer/file_writer.h).
#include "writer/file_writer.h"

#include <array>
#include <bit>
#include <cstring>

#include "commit/commit.h"
#include "commit/open_head.h"
#include "define/definitions.h"
#include "define/end_define.h"
#include "define/global_ids.h"
#include "define/open_blocks.h"
#include "define/provenance.h"
#include "define/value_sources.h"
#include "files/dry_output.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "parallel/outbox.h"
#include "parallel/shared_output.h"
#include "put/gets.h"
#include "put/puts.h"
#include "put/puts_together.h"
#include "put/requests.h"
#include "state/stored_blocks.h"
#include "state/writer_core.h"
#include "table/statistics_row.h"
#include "wire/joined_text.h"
#include "writer/writer_report.h"

namespace nmb {

class FileWriter::Impl final : public WriterCore {
 public:
  using WriterCore::WriterCore;
};

FileWriter::FileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileWriter::~FileWriter() { impl_->leave(); }
void FileWriter::abandon() { impl_->abandoned = true; }

namespace {

Status check_options(const std::string& path, const FileWriterOptions& options, bool create,
                     const MpiIo* mpi_io) {
  NMB_TRY(options.arguments);
  if (options.statistics > StatisticsLevel::kParts)
    return Status(Code::kUsage,
                  joined_text("found statistics level ", static_cast<unsigned>(options.statistics),
                              ", expected a StatisticsLevel"));
  if (options.hdf5_view > Hdf5View::kOn)
    return Status(Code::kUsage,
                  joined_text("found HDF5 view ", static_cast<unsigned>(options.hdf5_view),
                              ", expected an Hdf5View"));
  if (path.empty() && !options.dry_run) return Status(Code::kUsage, "the path is empty");
  if (path.find('\0') != path.npos)
    return Status(Code::kUsage, "the path " + in_quotes(path) + " contains a NUL");
  if (options.io == Io::kMpiIo && !mpi_io)
    return Status(Code::kUsage, "MPI-IO needs ranks of MPI; start the program with mpiexec");
  if (options.io != Io::kMpiIo && !options.hints.empty())
    return Status(Code::kUsage, "hint \"" + options.hints[0].first + "\" needs MPI-IO");
  for (const auto& [key, value] : options.hints)
    if (key == "cb_nodes" && value.find_first_not_of('0') == value.npos)
      return Status(Code::kUsage,
                    "found hint cb_nodes=" + value + ", expected a number of ranks of at least 1");
  if (options.compression_level < 1 || options.compression_level > 19)
    return Status(Code::kUsage, joined_text("found compression level ", options.compression_level,
                                            ", expected 1 to 19"));
  if (options.aggregators < 0)
    return Status(Code::kUsage,
                  joined_text("found ", options.aggregators, " aggregators, expected 0 or more"));
  if (options.alignment != 0 && (!std::has_single_bit(options.alignment) ||
                                 options.alignment < 4096 || options.alignment > (1u << 30)))
    return Status(Code::kUsage, joined_text("found alignment ", options.alignment,
                                            ", expected 0 or a power of 2 from 4096 to 2^30"));
  if (options.statistics != StatisticsLevel::kNone && options.dry_run)
    return Status(Code::kUsage, "a dry run cannot have statistics: their length depends on values");
  if (options.statistics == StatisticsLevel::kNone && !options.functions.empty())
    return Status(Code::kUsage, "functions of values need statistics");
  NMB_TRY(check_functions(options.functions));
  if (options.dry_run && options.hdf5_view != Hdf5View::kOff)
    return Status(Code::kUsage,
                  "a dry run cannot have an HDF5 view: it is made from the written file");
  if (!options.resume_key.empty() && (!create || options.dry_run || options.io == Io::kMpiIo))
    return Status(
        Code::kUsage,
        "a resume key is allowed only for a new file, without a dry run and without MPI-IO");
  if (!std::has_single_bit(options.piece_size) || options.piece_size < 65536 ||
      options.piece_size > (1u << 30))
    return Status(Code::kUsage, joined_text("found piece size ", options.piece_size,
                                            ", expected a power of 2 from 65536 to 2^30"));
  if (options.inline_limit > kMaxInline)
    return Status(Code::kUsage, joined_text("found inline limit ", options.inline_limit,
                                            ", expected at most 65536"));
  for (const auto& [rows, what] :
       {std::pair(options.leaf_rows, "leaf rows"), std::pair(options.node_rows, "node rows"),
        std::pair(options.map_rows, "map rows")})
    if (rows < kMinPageRows || rows > kMaxPageRows)
      return Status(Code::kUsage,
                    joined_text("found ", rows, " ", what, ", expected 2 to ", kMaxPageRows));
  return {};
}

std::string text_of(const MpiIo::Hints& hints) {
  std::string text;
  for (const auto& [key, value] : hints) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return in_quotes(text);
}

std::string text_of(const std::vector<ValueFunction>& functions) {
  std::string text;
  for (const ValueFunction& function : functions)
    text += (text.empty() ? "" : ", ") + function.name;
  return in_quotes(text);
}

std::string text_of(std::optional<bool> option) {
  return !option ? "as before" : *option ? "yes" : "no";
}

// The settings that must be equal on all ranks: their names, and their values on this rank.
using Settings = std::vector<std::pair<std::string_view, std::string>>;

Settings settings_of(const std::string& path, const FileWriterOptions& options, bool create) {
  auto number = [](auto value) { return std::to_string(static_cast<std::int64_t>(value)); };
  return {{"mode", !create             ? "append"
                   : options.overwrite ? "replace"
                                       : "create"},
          {"path", in_quotes(path)},
          {"piece size", number(options.piece_size)},
          {"inline limit", number(options.inline_limit)},
          {"leaf rows", number(options.leaf_rows)},
          {"node rows", number(options.node_rows)},
          {"map rows", number(options.map_rows)},
          {"metadata codec", number(options.metadata_codec)},
          {"compression level", number(options.compression_level)},
          {"sync", number(options.sync)},
          {"aggregators", number(options.aggregators)},
          {"alignment", number(options.alignment)},
          {"I/O", options.io == Io::kMpiIo ? "mpiio" : "posix"},
          {"hints", text_of(options.hints)},
          {"dry run", number(options.dry_run)},
          {"HDF5 view", number(static_cast<std::uint64_t>(options.hdf5_view))},
          {"dimensions of the HDF5 view", text_of(options.view_dimensions)},
          {"copies in the HDF5 view", text_of(options.view_copies)},
          {"statistics", number(options.statistics)},
          {"functions of values", text_of(options.functions)},
          {"resume key", in_quotes(options.resume_key)}};
}

Status check_alike(Communicator& ranks, const std::string& path, const FileWriterOptions& options,
                   bool create) {
  const Settings settings = settings_of(path, options, create);
  std::vector<std::string> first;
  for (const auto& [what, text] : settings) first.push_back(text);
  NMB_TRY(broadcast_fields(ranks, 0, &first));
  first.resize(settings.size());
  Status status;
  auto next = first.begin();
  for (const auto& [what, text] : settings) {
    const std::string& expected = *next++;
    if (status.ok() && text != expected)
      status = Status(Code::kUsage, path, kNoOffset, "",
                      joined_text("found ", what, " ", text, " on rank ", ranks.rank(),
                                  ", expected ", expected, " as on rank 0"));
  }
  return ranks.agree(status);
}

// Opens the output file for all ranks. In a dry run, each rank has its own DryOutput.
Result<std::unique_ptr<OutputFile>> open_together(const std::string& path,
                                                  const FileWriterOptions& options, bool create,
                                                  Communicator& ranks) {
  using File = Result<std::unique_ptr<OutputFile>>;
  CreateOptions of_new{.overwrite = options.overwrite,
                       .sync = options.sync,
                       .named = !ranks.shares_memory(),
                       .make = {},
                       .resume_key = options.resume_key,
                       .locking = options.locking,
                       .cancel = options.cancel};
  if (options.dry_run && !create) {
    Result<std::unique_ptr<FileSource>> old = FileSource::open(path);
    NMB_TRY(ranks.agree(old.status()));
    return std::unique_ptr<OutputFile>(
        std::make_unique<DryOutput>(path, std::shared_ptr<const ByteSource>(*std::move(old))));
  }
  if (options.dry_run) {
    if (!path.empty()) NMB_TRY(ranks.first([&] { return check_new_output(path, of_new); }));
    if (!keeps_metadata(options, ranks))
      return std::unique_ptr<OutputFile>(std::make_unique<DryOutput>(path));
    return share_output(
        ranks, path,
        [&]() -> File {
          NMB_ASSIGN(std::shared_ptr<SpoolFile> spool, SpoolFile::create());
          return std::unique_ptr<OutputFile>(std::make_unique<DryOutput>(path, std::move(spool)));
        },
        path, nullptr);
  }
  const MpiIo* const mpi_io = options.io == Io::kMpiIo ? ranks.mpi_io() : nullptr;
  if (mpi_io)
    of_new.make = [&](const std::string& hidden) { return mpi_io->create(hidden, options.hints); };
  // The lambda captures copies, because other ranks call it later, when they first use the file.
  auto by_io = [mpi_io, hints = options.hints, threads = options.threads > 1](
                   File file, const std::string& at) -> File {
    if (!mpi_io || !file.ok()) return file;
    return mpi_io->open(std::move(*file), at, hints, threads);
  };
  const std::string place = !create                      ? path
                            : options.resume_key.empty() ? hidden_name(path)
                                                         : resumable_name(path);
  return share_output(
      ranks, path,
      [&] {
        return by_io(create ? create_output(path, of_new) : open_output(path, options.locking),
                     place);
      },
      place,
      [by_io, path, key = options.resume_key](const std::string& at) {
        return by_io(attach_output(at, path, key), at);
      });
}

// Copies the options that are stored in the superblock of a new file.
void start_new(WriterCore& w) {
  Superblock& superblock = w.committed.superblock;
  superblock.piece_size = w.options.piece_size;
  superblock.inline_limit = w.options.inline_limit;
  superblock.leaf_rows = w.options.leaf_rows;
  superblock.node_rows = w.options.node_rows;
  superblock.map_rows = w.options.map_rows;
}

Status end_define_of(WriterCore& w) {
  const auto check = [&] {
    return w.define_mode ? Status()
                         : Status(Code::kUsage,
                                  "end_define() is not allowed outside define mode; call "
                                  "redefine() first");
  };
  return w.together("end_define()", check, [&] { return EndDefine(w).run(); });
}

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path,
                                                       const FileWriterOptions& options) {
  return make(path, options, true, nullptr);
}
Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path,
                                                       const FileWriterOptions& options,
                                                       Communicator& ranks) {
  return make(path, options, true, &ranks);
}
Result<std::unique_ptr<FileWriter>> FileWriter::open(const std::string& path,
                                                     const FileWriterOptions& options) {
  return make(path, options, false, nullptr);
}
Result<std::unique_ptr<FileWriter>> FileWriter::open(const std::string& path,
                                                     const FileWriterOptions& options,
                                                     Communicator& ranks) {
  return make(path, options, false, &ranks);
}

Result<std::unique_ptr<FileWriter>> FileWriter::make(const std::string& path,
                                                     const FileWriterOptions& options, bool create,
                                                     Communicator* several) {
  Communicator alone;
  Communicator& ranks = several ? *several : alone;
  const auto make = [&]() -> Result<std::unique_ptr<FileWriter>> {
    NMB_TRY(ranks.agree(check_options(path, options, create, ranks.mpi_io())));
    if (ranks.size() > 1) NMB_TRY(check_alike(ranks, path, options, create));
    NMB_ASSIGN(std::unique_ptr<OutputFile> file, open_together(path, options, create, ranks));
    if (options.layer) file = options.layer(std::move(file));
    Aggregation aggregation;
    if (ranks.size() > 1) {
      NMB_ASSIGN(aggregation, agree_on_aggregation(ranks, path, create, options));
    }
    auto impl = std::make_unique<FileWriter::Impl>(std::move(file), options, several, aggregation);
    if (create)
      start_new(*impl);
    else
      NMB_TRY(load_committed(*impl));
    std::unique_ptr<FileWriter> writer(new FileWriter(std::move(impl)));
    NMB_TRY(ranks.agree({}));
    return writer;
  };
  return collective_call(ranks, out_of_memory_on(ranks).in_file(path), make);
}

namespace {

// Checks a type that a program gives.
Status check_type(Type type, std::string_view object, std::string_view name) {
  const auto code = static_cast<std::uint16_t>(type);
  if (is_type(code)) return {};
  return Status(Code::kUsage, joined_text(object, " ", in_quotes(name), ": found type ", code,
                                          ", expected a Type from kByte (1) to kUInt64 (11)"));
}

}  // namespace

Result<BlockId> FileWriter::define_block(std::string_view name) {
  return Definitions(*impl_).define_block(name);
}

Result<BlockId> FileWriter::define_block(std::string_view name, const Metadata& metadata,
                                         std::uint64_t records, Kind kind) {
  if (!is_classic(kind)) return Status(Code::kUsage, "a block must be CDF-1, CDF-2 or CDF-5");
  if (records != 0 && !metadata.record_dimension())
    return Status(Code::kUsage, joined_text("found ", records,
                                            " records, expected 0 without a record dimension"));
  NMB_ASSIGN(BlockId id, Definitions(*impl_).define_block(name, &metadata));
  impl_->blocks[id].next.records = records;
  impl_->blocks[id].next.kind = kind;
  return id;
}

Status FileWriter::redefine_block(BlockId block, const Metadata& next, Kind kind) {
  return Definitions(*impl_).redefine_block(block, next, kind);
}

Status FileWriter::redefine_block(BlockId block, std::shared_ptr<Metadata> next, Kind kind) {
  return Definitions(*impl_).redefine_block(block, std::move(next), kind);
}

namespace {

// A change of the names or attributes of a block's definitions.
struct NameChange {
  std::optional<DimId> dimension{};
  std::optional<VarId> variable{};
  // The attribute `from` of `owner` is renamed, or removed if `to` is empty.
  std::optional<VarId> owner{};
  std::string_view from{}, to{};
};

Status copy_attributes(const Metadata& from, VarId owner, const NameChange& change, Metadata* to) {
  return from.try_each_attribute(owner, [&](const Attribute& attribute) -> Status {
    const bool changes = change.owner == owner && attribute.name == change.from;
    if (changes && change.to.empty()) return {};
    return to->put_att(owner, changes ? change.to : attribute.name, attribute.type,
                       attribute.values);
  });
}

// names: the rule for names that are defined later.
Result<Metadata> changed(const Metadata& from, const NameChange& change, Metadata::Names names) {
  Metadata to(names);
  if (change.dimension || change.variable || !change.to.empty())
    NMB_TRY(check_new_name("object", change.to));
  for (DimId d = 0; d < from.dimension_count(); ++d)
    NMB_TRY(to.def_dim(d == change.dimension ? change.to : from.dimension(d).name,
                       from.dimension(d).length)
                .status());
  NMB_TRY(copy_attributes(from, kGlobal, change, &to));
  for (VarId v = 0; v < from.variable_count(); ++v) {
    const Variable variable = from.variable(v);
    NMB_TRY(to.def_var(v == change.variable ? change.to : variable.name, variable.type,
                       variable.dimensions)
                .status());
    NMB_TRY(copy_attributes(from, v, change, &to));
  }
  NMB_TRY(to.settle_names());
  return to;
}

Status change_names(WriterCore& w, BlockId block, const NameChange& change) {
  NMB_ASSIGN(BlockState * state, Definitions(w).defining(block));
  const Metadata& metadata = *state->metadata;
  if (change.dimension && *change.dimension >= metadata.dimension_count())
    return Status(Code::kUsage, joined_text("invalid dimension ID ", *change.dimension));
  const std::optional<VarId> variable = change.variable ? change.variable : change.owner;
  if (variable && *variable != kGlobal && *variable >= metadata.variable_count())
    return Status(Code::kUsage, joined_text("invalid variable ID ", *variable));
  if (change.owner && !metadata.find_attribute(*change.owner, change.from))
    return Status(Code::kNotFound, "found no attribute " + in_quotes(change.from));
  if (change.owner && !change.to.empty() && change.to != change.from &&
      metadata.find_attribute(*change.owner, change.to))
    return Status(Code::kExists, "attribute " + in_quotes(change.to) + " already exists");
  NMB_ASSIGN(
      const Metadata next,
      changed(metadata, change, state->old ? Metadata::Names::kAsFound : Metadata::Names::kNew));
  return Definitions(w).redefine_block(block, next, state->next.kind);
}

}  // namespace

Status FileWriter::rename_dim(BlockId block, DimId dimension, std::string_view name) {
  return change_names(*impl_, block, {.dimension = dimension, .to = name});
}
Status FileWriter::rename_var(BlockId block, VarId variable, std::string_view name) {
  return change_names(*impl_, block, {.variable = variable, .to = name});
}
Status FileWriter::rename_att(BlockId block, VarId variable, std::string_view from,
                              std::string_view to) {
  NMB_TRY(check_new_name("attribute", to));
  return change_names(*impl_, block, {.owner = variable, .from = from, .to = to});
}
Status FileWriter::remove_att(BlockId block, VarId variable, std::string_view name) {
  return change_names(*impl_, block, {.owner = variable, .from = name});
}

Result<BlockId> FileWriter::find_block(std::string_view name) {
  return nmb::find_block(*impl_, name);
}

Result<std::vector<BlockId>> FileWriter::open_blocks(std::span<const std::string_view> names) {
  std::vector<BlockId> ids;
  NMB_TRY(impl_->together(
      "open_blocks()",
      [&] {
        return impl_->define_mode
                   ? Status(Code::kUsage,
                            "open_blocks() is not allowed in define mode; call end_define() first")
                   : Status();
      },
      [&]() -> Status {
        NMB_ASSIGN(ids, nmb::open_blocks(*impl_, names));
        return {};
      }));
  return ids;
}

Status FileWriter::add_provenance(std::string_view json) {
  return nmb::add_provenance(*impl_, json);
}

Status FileWriter::set_field(BlockId block, std::uint64_t EntryFields::*field,
                             std::uint64_t value) {
  NMB_ASSIGN(BlockState * state, Definitions(*impl_).defining(block));
  if (value > kMostCount)
    return Status(Code::kLimit,
                  joined_text("block ", in_quotes(impl_->blocks.name(block)), ": found ",
                              given_text(value), " samples, expected 0 to 2^63 - 1"));
  state->next.*field = value;
  return {};
}

Status FileWriter::set_tag(BlockId block, std::string_view name, TagValue value) {
  return Definitions(*impl_).set_tag(block, name, std::move(value));
}

Result<DimId> FileWriter::def_dim(BlockId block, std::string_view name, std::uint64_t length) {
  if (length == 0) {
    NMB_TRY(check_id(*impl_, block));
    return Status(Code::kUsage,
                  joined_text("block ", in_quotes(impl_->blocks.name(block)), ": dimension ",
                              in_quotes(name), " has the length 0; the least length is 1"));
  }
  if (BlockState* fresh = Definitions(*impl_).defining_new(block))
    return Definitions(*impl_).def_dim(block, *fresh->metadata, name, length);
  NMB_ASSIGN(BlockState * state, Definitions(*impl_).defining(block));
  if (state->old) NMB_TRY(check_new_name("dimension", name));
  return state->metadata->def_dim(name, length);
}

Result<VarId> FileWriter::def_var(BlockId block, std::string_view name, Type type,
                                  std::span<const DimId> dimensions) {
  NMB_TRY(check_type(type, "variable", name));
  if (BlockState* fresh = Definitions(*impl_).defining_new(block))
    return Definitions(*impl_).def_var(block, *fresh->metadata, name, type, dimensions);
  NMB_ASSIGN(BlockState * state, Definitions(*impl_).defining(block));
  if (state->old) NMB_TRY(check_new_name("variable", name));
  return state->metadata->def_var(name, type, dimensions);
}

Status FileWriter::put_att(BlockId block, VarId variable, std::string_view name, Type type,
                           std::span<const std::byte> values) {
  return Definitions(*impl_).put_att(block, variable, name, type, values);
}

Status FileWriter::put_att_text(BlockId block, VarId variable, std::string_view name,
                                std::string_view text) {
  return Definitions(*impl_).put_att(block, variable, name, Type::kChar,
                                     std::as_bytes(std::span(text.data(), text.size())));
}

namespace {

// Checks the _FillValue that a program gives a variable. Readers use only one value of the
// variable's type, and ignore every other _FillValue.
Status check_fill_value(const Variable& variable, Type type, ConstArray values) {
  const auto wrong = [&](std::string_view found) {
    return Status(Code::kUsage,
                  joined_text("_FillValue of ", in_quotes(variable.name), " must be one ",
                              type_name(variable.type), "; found ", found));
  };
  const bool is_text = values.type() == MemoryType::kText;
  if (is_text != (type == Type::kChar)) return wrong(is_text ? "text" : "numbers");
  if (type != variable.type) return wrong(type_name(type));
  if (values.count() != 1) return wrong(joined_text(values.count(), " values"));
  std::array<std::byte, 8> external, back;
  const std::size_t size = memory_type_size(values.type());
  const bool is_exact =
      convert_to_external(values.type(), values.data(), 1, type, external.data()) == 0 &&
      convert_from_external(type, external.data(), 1, values.type(), back.data()) == 0 &&
      std::memcmp(back.data(), values.data(), size) == 0;
  return is_exact ? Status() : wrong("a number that this type cannot hold exactly");
}

}  // namespace

Status FileWriter::put_att(BlockId block, VarId variable, std::string_view name, Type type,
                           ConstArray values) {
  NMB_TRY(check_type(type, "attribute", name));
  NMB_TRY(check_not_null(values, "attribute", name));
  if (name == "_FillValue" && variable != kGlobal) {
    NMB_ASSIGN(const Metadata* definitions, metadata(block));
    if (variable < definitions->variable_count())
      NMB_TRY(check_fill_value(definitions->variable(variable), type, values));
  }
  if ((type == Type::kChar) != (values.type() == MemoryType::kText))
    return Status(Code::kUsage, "text and numbers cannot be mixed in attribute " + in_quotes(name));
  std::vector<std::byte> external(values.count() * type_size(type));
  if (std::uint64_t bad =
          convert_to_external(values.type(), values.data(), values.count(), type, external.data()))
    return Status(Code::kRange, joined_text("found ", bad, " values of attribute ", in_quotes(name),
                                            " out of the range of ", type_name(type)));
  return Definitions(*impl_).put_att(block, variable, name, type, external);
}

namespace {

Result<BlockId> find_or_define(WriterCore& w, std::string_view name) {
  Result<BlockId> block = find_block(w, name);
  return block.status().code() == Code::kNotFound ? Definitions(w).define_block(name) : block;
}

// Checks the names of the definitions, and returns the definitions. Without this check, each search
// would go through all names that are not checked yet.
Result<Metadata*> searchable(Metadata& metadata) {
  metadata.check_names_at_once();
  NMB_TRY(metadata.settle_names());
  return &metadata;
}

}  // namespace

Result<FileWriter::FullId> FileWriter::def_dim(std::string_view full_name, std::uint64_t length) {
  auto [block_name, name] = split_path(full_name);
  NMB_ASSIGN(const BlockId block, find_or_define(*impl_, block_name));
  NMB_ASSIGN(DimId id, def_dim(block, name, length));
  return FullId{block, id};
}

Result<FileWriter::FullId> FileWriter::def_var(std::string_view full_name, Type type,
                                               std::span<const std::string_view> dimensions) {
  auto [block_name, name] = split_path(full_name);
  NMB_ASSIGN(const BlockId block, find_or_define(*impl_, block_name));
  NMB_ASSIGN(BlockState * state, Definitions(*impl_).defining(block));
  NMB_ASSIGN(const Metadata* metadata, searchable(*state->metadata));
  std::vector<DimId> ids;
  for (std::string_view dimension : dimensions) {
    std::optional<DimId> id = metadata->find_dimension(dimension);
    if (!id)
      return Status(Code::kNotFound, "found no dimension " + in_quotes(dimension) + " in block " +
                                         in_quotes(block_name));
    ids.push_back(*id);
  }
  NMB_ASSIGN(VarId id, def_var(block, name, type, ids));
  return FullId{block, id};
}

Status FileWriter::put_att_text(std::string_view full_name, std::string_view attribute,
                                std::string_view text) {
  auto [block_name, name] = split_path(full_name);
  NMB_ASSIGN(BlockId block, nmb::find_block(*impl_, block_name));
  NMB_ASSIGN(BlockState * state, nmb::readable(*impl_, block));
  NMB_ASSIGN(const Metadata* metadata, searchable(*state->metadata));
  std::optional<VarId> variable = metadata->find_variable(name);
  if (!variable)
    return Status(Code::kNotFound,
                  "found no variable " + in_quotes(name) + " in block " + in_quotes(block_name));
  return put_att_text(block, *variable, attribute, text);
}

Status FileWriter::remove_block(BlockId block) { return Definitions(*impl_).remove_block(block); }
Status FileWriter::rename_block(BlockId block, std::string_view name) {
  return Definitions(*impl_).rename_block(block, name);
}
Result<BlockId> FileWriter::pack_block(PackedBlock block) {
  return nmb::pack_block(*impl_, std::move(block));
}
Status FileWriter::take_values(BlockId block, std::shared_ptr<const ByteSource> source,
                               std::vector<ValueRuns> runs, std::string origin) {
  return nmb::take_values(*impl_, block, std::move(source), std::move(runs), std::move(origin));
}
Status take_pieces(FileWriter& writer, BlockId block, std::vector<StoredPiece> pieces,
                   std::shared_ptr<const ByteSource> stored) {
  return take_pieces(*writer.impl_, block, std::move(pieces), std::move(stored));
}
Result<std::uint32_t> FileWriter::add_original(NewOriginal original) {
  return nmb::add_original(*impl_, std::move(original));
}
Status link_values(FileWriter& writer, BlockId block, LinkedValues values) {
  return link_values(*writer.impl_, block, std::move(values));
}
Status FileWriter::end_define() { return end_define_of(*impl_); }
Status FileWriter::discard() {
  return impl_->together(
      "discard()", [&] { return Definitions(*impl_).check_discard(); },
      [&] {
        Definitions(*impl_).discard();
        return EndDefine(*impl_).run();
      });
}
Status FileWriter::redefine() { return Definitions(*impl_).redefine(); }

Status FileWriter::put(BlockId block, VarId variable, const Hyperslab& slab, ConstArray values) {
  return Puts(*impl_).put(block, variable, slab, values);
}
Status FileWriter::put(BlockId block, VarId variable, ConstArray values) {
  NMB_ASSIGN(const Hyperslab slab, whole(block, variable, values.count()));
  return put(block, variable, slab, values);
}
Status FileWriter::extend(BlockId block, std::uint64_t records) {
  return PutsTogether(*impl_).extend(block, records);
}
Status FileWriter::put_all(BlockId block, VarId variable, const Hyperslab& slab,
                           ConstArray values) {
  return PutsTogether(*impl_).put_all(block, variable, slab, values);
}

Status FileWriter::get(BlockId block, VarId variable, const Hyperslab& slab, MutableArray out) {
  const Get one{block, variable, slab, out};
  return Gets(*impl_).get(std::span(&one, 1), {});
}
Status FileWriter::get(std::span<const Get> gets, std::span<Status> statuses) {
  return Gets(*impl_).get(gets, statuses);
}
Status FileWriter::get_all(std::span<const Get> gets, std::span<Status> statuses,
                           const Status& arguments) {
  return Gets(*impl_).get_all(gets, statuses, arguments);
}
Status FileWriter::flush() { return Gets(*impl_).flush(); }

Result<RequestId> FileWriter::iput(BlockId block, VarId variable, const Hyperslab& slab,
                                   ConstArray values) {
  return Requests(*impl_).iput(block, variable, slab, values);
}
Result<RequestId> FileWriter::iput(BlockId block, VarId variable, ConstArray values) {
  NMB_ASSIGN(const Hyperslab slab, whole(block, variable, values.count()));
  return iput(block, variable, slab, values);
}
Result<RequestId> FileWriter::iput(BlockId block, VarId variable, const Hyperslabs& slabs,
                                   ConstArray values) {
  return Requests(*impl_).iput(block, variable, slabs, values);
}
Status FileWriter::cancel(std::span<const RequestId> requests) {
  return Requests(*impl_).cancel(requests);
}
Status FileWriter::wait(std::span<const RequestId> requests, std::span<Status> statuses) {
  return Requests(*impl_).wait(requests, statuses);
}
Status FileWriter::wait_all(std::span<const RequestId> requests, std::span<Status> statuses) {
  return Requests(*impl_).wait_all(requests, statuses);
}

Status FileWriter::check_not_from_hdf5(BlockId block, std::string_view why) {
  NMB_TRY(impl_->failure);
  NMB_TRY(nmb::check_id(*impl_, block));
  return nmb::check_not_from_hdf5(*impl_, block, why);
}

Result<Hyperslab> FileWriter::whole(BlockId block, VarId variable, std::uint64_t values) {
  NMB_TRY(check_not_from_hdf5(block));
  NMB_ASSIGN(BlockState * state, nmb::readable(*impl_, block));
  if (variable >= state->metadata->variable_count())
    return Status(Code::kUsage, joined_text("invalid variable ID ", variable, ": the block has ",
                                            state->metadata->variable_count(), " variables"));
  NMB_ASSIGN(VariableShape shape,
             shape_of(*state->metadata, state->layout, variable, state->next.records));
  Hyperslab slab;
  slab.start.assign(shape.lengths.size(), 0);
  slab.count = shape.lengths;
  if (shape.record_size != 0) {
    std::uint64_t record = 1;
    for (std::size_t i = 1; i < shape.lengths.size(); ++i) record *= shape.lengths[i];
    if (record == 0 || values % record != 0)
      return Status(Code::kUsage,
                    joined_text("found ", values, " values, expected a multiple of ", record));
    slab.count[0] = values / record;
  }
  return slab;
}

Status FileWriter::sync() { return nmb::commit(*impl_, false); }

Status FileWriter::commit(bool durable) {
  const bool before = std::exchange(impl_->options.sync, durable);
  const Status status = nmb::commit(*impl_, false);
  impl_->options.sync = before;
  return status;
}

Status FileWriter::close() {
  if (impl_->define_mode) NMB_TRY(end_define_of(*impl_));
  NMB_TRY(nmb::commit(*impl_, true));
  impl_->shut();
  return {};
}

Result<const Metadata*> FileWriter::metadata(BlockId block) {
  NMB_ASSIGN(BlockState * state, nmb::readable(*impl_, block));
  return static_cast<const Metadata*>(state->metadata.get());
}
Result<ClassicLayout> FileWriter::layout(BlockId block) {
  NMB_ASSIGN(BlockState * state, nmb::readable(*impl_, block));
  return state->layout;
}
Result<std::uint64_t> FileWriter::records(BlockId block) {
  NMB_TRY(impl_->failure);
  NMB_TRY(nmb::check_id(*impl_, block));
  return impl_->blocks[block].next.records;
}
Result<std::uint64_t> FileWriter::global_id(BlockId block) { return nmb::global_id(*impl_, block); }
std::uint64_t FileWriter::generation() const { return impl_->committed.superblock.generation; }
FileWriterReport FileWriter::report() const { return report_of(*impl_); }
std::uint64_t FileWriter::pending_bytes() const { return nmb::pending_bytes(*impl_); }
std::uint64_t FileWriter::linked_bytes() const { return nmb::linked_bytes(*impl_); }
const std::vector<ExternalFile>& FileWriter::external_files() const { return impl_->next.files; }
std::uint64_t FileWriter::without_statistics() const { return impl_->without_statistics; }
Result<FilePlan> FileWriter::planned() const { return nmb::planned(*impl_); }

}  // namespace nmb
