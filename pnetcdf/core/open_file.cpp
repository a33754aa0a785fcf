#include "open_file.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <optional>

#include "model/values.h"
#include "wire/hash.h"

namespace nmb::pnetcdf {

namespace {

// The table lives until the process ends, because MPI may be gone when objects are destroyed at
// exit.
struct Files {
  std::mutex mutex;
  std::vector<std::unique_ptr<OpenFile>> all;
};

Files& files() {
  static Files* const made = new Files;
  return *made;
}

OpenFile* file_at(Files& table, int file) {
  if (!is_ours(file)) return nullptr;
  const auto index = static_cast<std::size_t>(file - kFirstFile);
  return index < table.all.size() ? table.all[index].get() : nullptr;
}

}  // namespace

OpenFile* find_file(int file) {
  Files& table = files();
  const std::lock_guard lock(table.mutex);
  return file_at(table, file);
}

int add_file(std::unique_ptr<OpenFile> file, int* id) {
  Files& table = files();
  const std::lock_guard lock(table.mutex);
  auto free = std::ranges::find_if(table.all, [](const auto& one) { return one == nullptr; });
  if (free == table.all.end()) {
    if (table.all.size() == static_cast<std::size_t>(kMostFiles)) return code::kTooManyFiles;
    free = table.all.insert(table.all.end(), nullptr);
  }
  *id = kFirstFile + static_cast<int>(free - table.all.begin());
  *free = std::move(file);
  return code::kOk;
}

std::unique_ptr<OpenFile> take_file(int file) {
  Files& table = files();
  const std::lock_guard lock(table.mutex);
  if (file_at(table, file) == nullptr) return nullptr;
  return std::move(table.all[static_cast<std::size_t>(file - kFirstFile)]);
}

std::vector<int> open_files() {
  Files& table = files();
  const std::lock_guard lock(table.mutex);
  std::vector<int> ids;
  for (std::size_t i = 0; i < table.all.size(); ++i)
    if (table.all[i]) ids.push_back(kFirstFile + static_cast<int>(i));
  return ids;
}

std::string& last_message() {
  static thread_local std::string text;
  return text;
}

OpenFile::~OpenFile() {
  blocks.clear();
  shared.reset();
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

int OpenFile::lowest(int code) const {
  int all = code;
  if (ranks > 1) MPI_Allreduce(&code, &all, 1, MPI_INT, MPI_MIN, comm);
  return all;
}

std::int64_t OpenFile::highest(std::int64_t value) const {
  std::int64_t all = value;
  if (ranks > 1) MPI_Allreduce(&value, &all, 1, MPI_INT64_T, MPI_MAX, comm);
  return all;
}

void OpenFile::from_first(void* bytes, std::size_t size) const {
  if (ranks == 1) return;
  auto* at = static_cast<std::byte*>(bytes);
  for (std::size_t done = 0; done < size;) {
    const auto part = static_cast<int>(std::min<std::size_t>(size - done, INT_MAX));
    MPI_Bcast(at + done, part, MPI_BYTE, 0, comm);
    done += static_cast<std::size_t>(part);
  }
}

int OpenFile::agree(int code, std::initializer_list<Same> arguments) const {
  if (!safe) return code;
  if (const int all = lowest(code); all != code::kOk) return all;
  if (ranks == 1 || arguments.size() == 0) return code;
  std::vector<std::uint64_t> lengths;
  for (const Same& argument : arguments) lengths.push_back(argument.bytes.size());
  std::vector<std::uint64_t> first = lengths;
  from_first(first.data(), first.size() * sizeof first[0]);
  int differs = code::kOk;
  std::size_t i = 0;
  for (const Same& argument : arguments) {
    std::vector<std::byte> bytes(first[i]);
    if (rank == 0) std::ranges::copy(argument.bytes, bytes.begin());
    from_first(bytes.data(), bytes.size());
    if (differs == code::kOk && !std::ranges::equal(bytes, argument.bytes)) differs = argument.code;
    ++i;
  }
  return lowest(differs);
}

int OpenFile::failed(const Status& status, int otherwise) const {
  if (status.ok()) return code::kOk;
  last_message() = status.text();
  switch (status.code()) {
    case Code::kNotFound:
      return code::kNoEntry;
    case Code::kExists:
      return code::kExists;
    case Code::kNoSpace:
      return code::kNoSpace;
    case Code::kBusy:
      return code::kAccess;
    case Code::kDamaged:
    case Code::kUnknownKind:
      return code::kNotNetcdf;
    case Code::kUnsupported:
      return code::kNotSupported;
    case Code::kConflict:
      return code::kDiffer;
    case Code::kLimit:
      return code::kNoMemory;
    case Code::kRange:
      return code::kRange;
    default:
      return otherwise;
  }
}

bool OpenFile::keeps_block(int dim, int variable, std::string_view name) const {
  if (variable >= 0)
    return static_cast<std::size_t>(variable) >= places.size() ||
           blocks[places[static_cast<std::size_t>(variable)].block].has_prefix(name);
  return std::ranges::all_of(blocks, [&](const FileBlock& block) {
    const auto own =
        std::span(block.dims).first(std::min<std::size_t>(block.own_dims, block.dims.size()));
    return std::ranges::find(own, static_cast<DimId>(dim)) == own.end() || block.has_prefix(name);
  });
}

int OpenFile::adopt_first() {
  if (ranks == 1) return code::kOk;
  // The encoding as CDF-5 has all definitions of any format.
  const Result<ClassicLayout> laid_out = header.lay_out(Kind::kCdf5);
  if (const int all = lowest(laid_out.ok() ? code::kOk : code::kVarSize); all != code::kOk)
    return all;
  const int adopted = take_first();
  // The writer may share the definitions, and needs the begins of the file's own format. If that
  // format has no room for these definitions, define() says so.
  if (format != kFormatData) static_cast<void>(header.lay_out(kind_of_format(format)));
  return adopted;
}

int OpenFile::take_first() {
  DigestStream stream;
  const Status hashed =
      encode_classic_header(header.all(), Kind::kCdf5, 0, [&](std::span<const std::byte> part) {
        stream.add(part);
        return Status();
      });
  Digest own = stream.digest(), first = own;
  from_first(&first, sizeof first);
  const bool same = hashed.ok() && own.low == first.low && own.high == first.high;
  if (lowest(same ? 1 : 0) == 1) return code::kOk;
  std::vector<std::byte> bytes;
  int made = code::kOk;
  if (rank == 0) {
    Result<std::vector<std::byte>> encoded = header.encoded(kFormatData);
    if (encoded.ok())
      bytes = std::move(*encoded);
    else
      made = code::kNoMemory;
  }
  if (const int all = lowest(made); all != code::kOk) return all;
  std::uint64_t size = bytes.size();
  from_first(&size, sizeof size);
  bytes.resize(size);
  from_first(bytes.data(), bytes.size());
  return lowest(rank == 0 ? code::kOk : header.decode(bytes));
}

int OpenFile::define() {
  const Tally::Span time(&tally.define);
  const Result<ClassicLayout> laid_out = header.lay_out(kind_of_format(format));
  if (!laid_out.ok()) failed(laid_out.status(), code::kVarSize);
  if (const int fits = laid_out.ok() ? code::kOk : code::kVarSize;
      (own_ids ? lowest(fits) : fits) != code::kOk)
    return code::kVarSize;
  layout = *laid_out;
  const Status status = [&]() -> Status {
    if (!shared->writer_defines) {
      NMB_TRY(keep_fill_values());
      NMB_TRY(writer->redefine());
    }
    shared->writer_defines = true;
    NMB_TRY(network->agree(define_blocks(), "enddef"));
    NMB_TRY(writer->end_define());
    shared->writer_defines = false;
    return {};
  }();
  if (status.ok()) header_dirty = false;
  return failed(status, code::kWrite);
}

Status OpenFile::keep_fill_values() {
  constexpr std::uint64_t kAtOnce = 16 << 20;  // bytes that a rank holds
  const std::size_t known = places.empty() ? header.all().variable_count() : places.size();
  bool any = false;
  for (std::size_t v = 0; v < known && !blocks.empty(); ++v) {
    const VarPlace place = place_of(static_cast<int>(v));
    const FileBlock& of = blocks[place.block];
    if (!of.is_stored) continue;
    NMB_ASSIGN(const Metadata* const before, writer->metadata(of.id));
    if (place.variable >= before->variable_count()) continue;
    const std::vector<std::byte> old_fill = nmb::fill_value(*before, place.variable);
    if (old_fill == nmb::fill_value(header.all(), static_cast<VarId>(v))) continue;
    if (!any) {
      NMB_TRY(writer->flush());
      any = true;
    }
    const Variable var = header.all().variable(static_cast<VarId>(v));
    const std::size_t size = type_size(var.type);
    std::byte missing[8]{};
    convert_from_external(var.type, old_fill.data(), 1, native(var.type), missing);
    std::vector<std::uint64_t> lengths;
    for (const DimId dim : var.dimensions) {
      const Dimension one = header.all().dimension(dim);
      lengths.push_back(one.is_record() ? records : one.length);
    }
    // Each rank takes some of the slowest indexes, in as many steps as all others.
    const std::uint64_t rows = lengths.empty() ? 1 : lengths[0];
    std::uint64_t row = 1;
    for (std::size_t i = 1; i < lengths.size(); ++i) row *= lengths[i];
    const auto all_ranks = static_cast<std::uint64_t>(ranks),
               own = static_cast<std::uint64_t>(rank);
    const std::uint64_t begin = rows * own / all_ranks, end = rows * (own + 1) / all_ranks;
    const std::uint64_t at_once = std::max<std::uint64_t>(1, kAtOnce / (row * size));
    const std::uint64_t most = (rows + all_ranks - 1) / all_ranks;
    std::vector<std::byte> values;
    for (std::uint64_t step = 0; step * at_once < most; ++step) {
      const std::uint64_t first = std::min(begin + step * at_once, end);
      Access access;
      access.variable = static_cast<int>(v);
      access.elements = std::min(at_once, end - first) * row;
      access.slab.start.assign(lengths.size(), 0);
      access.slab.count.assign(lengths.begin(), lengths.end());
      if (!lengths.empty()) {
        access.slab.start[0] = first;
        access.slab.count[0] = access.elements / row;
      }
      values.resize(access.elements * size);
      access.values = values.data();
      int code = access.elements == 0 ? code::kOk : get(access, missing);
      if (lowest(code) == code::kOk)
        code = put_together(std::span(&access, access.elements == 0 ? 0 : 1));
      NMB_TRY(network->agree(code == code::kOk ? Status()
                                               : Status(Code::kIo, "cannot keep the values that " +
                                                                       std::string(var.name) +
                                                                       " has not written")));
    }
  }
  return any ? writer->flush() : Status();
}

// Passes all definitions to the writer, which compares those of the ranks.
Status OpenFile::define_blocks() {
  const Kind kind = kind_of_format(format);
  const auto define_one = [&](FileBlock& to, const Metadata& all) -> Status {
    if (to.is_stored) return writer->redefine_block(to.id, all, kind);
    NMB_ASSIGN(to.id, writer->define_block(to.name, all, 0, kind));
    to.is_stored = true;
    return {};
  };
  const auto tag = [&](const FileBlock& block) -> Status {
    if (!by_path) NMB_TRY(writer->set_tag(block.id, kIdsTag, text_of_ids(block)));
    if (!block.is_divided) return {};
    NMB_TRY(writer->set_tag(block.id, kPrefixTag, block.prefix));
    return writer->set_tag(block.id, kDimsTag, std::int64_t{block.own_dims});
  };
  if (by_path) {
    NMB_ASSIGN(DividedFile divided, divide_by_path(header.all(), rank == 0));
    for (std::size_t i = 0; i < divided.blocks.size(); ++i) {
      NMB_TRY(define_one(divided.blocks[i], divided.definitions[i]));
      NMB_TRY(tag(divided.blocks[i]));
    }
    blocks = std::move(divided.blocks);
    places = std::move(divided.places);
    return {};
  }
  if (rule.empty() && places.empty()) {
    if (blocks.empty()) blocks.push_back({.name = block_name});
    if (!blocks[0].is_stored) {
      NMB_ASSIGN(blocks[0].id, writer->define_block(blocks[0].name));
      blocks[0].is_stored = true;
    }
    return writer->redefine_block(blocks[0].id, header.share(), kind);
  }
  if (rule.empty())
    return Status(
        Code::kUnsupported,
        "the file is divided into blocks; set NMB_BLOCKS as when it was created to define more");
  NMB_ASSIGN(DividedFile divided, divide(header.all(), block_name, rule, blocks));
  for (std::size_t i = 0; i < divided.blocks.size(); ++i) {
    FileBlock& to = divided.blocks[i];
    const bool is_new_block = !to.is_stored;
    NMB_TRY(define_one(to, divided.definitions[i]));
    if (is_new_block) NMB_TRY(tag(to));
  }
  blocks = std::move(divided.blocks);
  places = std::move(divided.places);
  return {};
}

int OpenFile::share_definitions(int* dims, int* vars) {
  // The names of all blocks, each with a NUL at its end.
  std::string own;
  for (const FileBlock& block : blocks) own.append(block.name.c_str(), block.name.size() + 1);
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), begins(sizes.size());
  const std::int64_t most = highest(static_cast<std::int64_t>(own.size()));
  if (most > INT_MAX / ranks) return code::kIntOverflow;
  sizes[0] = static_cast<int>(own.size());
  std::string all = own;
  if (ranks > 1) {
    const int size = static_cast<int>(own.size());
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
    for (std::size_t i = 1; i < sizes.size(); ++i) begins[i] = begins[i - 1] + sizes[i - 1];
    all.resize(static_cast<std::size_t>(begins.back() + sizes.back()));
    MPI_Allgatherv(own.data(), size, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR,
                   comm);
  }
  std::vector<std::string_view> names;
  for (std::string_view rest = all; !rest.empty();) {
    names.push_back(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(names.back().size() + 1);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const Result<std::vector<BlockId>> ids = writer->open_blocks(names);
  if (!ids.ok()) return failed(ids.status(), code::kWrite);
  std::vector<FileBlock> found;
  std::vector<VarPlace> found_places;
  Header flat;
  const auto join = [&]() -> Status {
    std::vector<const Metadata*> definitions;
    for (std::size_t i = 0; i < names.size(); ++i) {
      found.push_back(path_block(names[i]));
      found.back().id = (*ids)[i];
      found.back().is_stored = true;
      NMB_ASSIGN(const Metadata* const one, writer->metadata((*ids)[i]));
      definitions.push_back(one);
    }
    NMB_ASSIGN(const Metadata joined_all, joined(found, definitions, &found_places));
    flat = Header(joined_all);
    return {};
  };
  if (const Status status = network->agree(join()); !status.ok())
    return failed(status, code::kWrite);
  // A rank has its own objects of a block ahead of those of others, so the order of rank 0 counts.
  // Names are sent as the header has them, each with a NUL at its end: dimensions, variables, and
  // the attributes of the file and of each variable, with an empty name at the end of each list.
  std::string order;
  const DimId dim_count = flat.all().dimension_count();
  const VarId var_count = flat.all().variable_count();
  const auto append = [&](std::string_view name) { order.append(name).push_back('\0'); };
  for (DimId d = 0; d < dim_count; ++d) append(flat.all().dimension(d).name);
  for (VarId v = 0; v < var_count; ++v) append(flat.all().variable(v).name);
  const auto append_atts = [&](VarId owner) {
    flat.all().for_each_attribute(owner, [&](const Attribute& att) { append(att.name); });
    append("");
  };
  append_atts(kGlobal);
  for (VarId v = 0; v < var_count; ++v) append_atts(v);
  std::uint64_t size = order.size();
  from_first(&size, sizeof size);
  order.resize(size);
  from_first(order.data(), order.size());
  Header first;
  std::vector<VarPlace> next;
  const auto reorder = [&]() -> Status {
    Metadata to(Metadata::Names::kAsFound);
    to.check_names_at_once();
    std::string_view rest = order;
    const auto take_name = [&] {
      const std::string_view name = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      return name;
    };
    const auto missing = [] {
      return Status(Code::kConflict, "ranks have different definitions of a block");
    };
    std::vector<DimId> new_ids(dim_count);
    for (DimId d = 0; d < dim_count; ++d) {
      const auto from = flat.all().find_dimension(take_name());
      if (!from) return missing();
      const Dimension dim = flat.all().dimension(*from);
      NMB_ASSIGN(new_ids[*from], to.def_dim(dim.name, dim.length));
    }
    std::vector<DimId> own_dims;
    std::vector<VarId> from_vars;
    for (VarId v = 0; v < var_count; ++v) {
      const auto from = flat.all().find_variable(take_name());
      if (!from) return missing();
      const Variable var = flat.all().variable(*from);
      own_dims.clear();
      for (const DimId d : var.dimensions) own_dims.push_back(new_ids[d]);
      NMB_TRY(to.def_var(var.name, var.type, own_dims).status());
      from_vars.push_back(*from);
      next.push_back(found_places[*from]);
    }
    const auto take_atts = [&](VarId from, VarId owner) -> Status {
      std::uint32_t taken = 0;
      for (std::string_view name = take_name(); !name.empty(); name = take_name(), ++taken) {
        const std::optional<Attribute> att = flat.all().find_attribute(from, name);
        if (!att) return missing();
        NMB_TRY(to.put_att(owner, att->name, att->type, att->values));
      }
      return taken == flat.all().attribute_count(from) ? Status() : missing();
    };
    NMB_TRY(take_atts(kGlobal, kGlobal));
    for (VarId v = 0; v < var_count; ++v) NMB_TRY(take_atts(from_vars[v], v));
    if (!rest.empty()) return missing();
    // As after opening a file, all variables are in fill mode.
    first = Header(to);
    return {};
  };
  if (const Status status = network->agree(reorder()); !status.ok())
    return failed(status, code::kDiffer);
  const auto take = [&]() -> int {
    const Metadata& mine = header.all();
    for (DimId d = 0; dims != nullptr && d < mine.dimension_count(); ++d) {
      const auto at = first.find_dim(mine.dimension(d).name);
      if (!at) return code::kDiffer;
      dims[d] = static_cast<int>(*at);
    }
    for (VarId v = 0; vars != nullptr && v < mine.variable_count(); ++v) {
      const auto at = first.find_var(mine.variable(v).name);
      if (!at) return code::kDiffer;
      vars[v] = static_cast<int>(*at);
    }
    const Result<ClassicLayout> laid_out = first.lay_out(kind_of_format(format));
    if (!laid_out.ok()) return code::kVarSize;
    layout = *laid_out;
    return code::kOk;
  };
  if (const int one = lowest(take()); one != code::kOk) return one;
  header = std::move(first);
  blocks = std::move(found);
  places = std::move(next);
  own_ids = false;
  unseen = true;
  records = static_cast<std::uint64_t>(highest(static_cast<std::int64_t>(records)));
  return meet();
}

int OpenFile::flush_header() {
  // A rank may have changed what another one was refused.
  if (is_new || highest(header_dirty ? 1 : 0) == 0) return code::kOk;
  if (const int failed = adopt_first()) return failed;
  return define();
}

int OpenFile::meet() {
  if (!writer || !unseen) return code::kOk;
  unseen = false;
  return failed(writer->flush(), code::kWrite);
}

Result<RequestId> OpenFile::iput(const Access& put, ConstArray values) {
  const VarPlace place = place_of(put.variable);
  const BlockId block = blocks[place.block].id;
  if (put.slabs.empty()) return writer->iput(block, place.variable, put.slab, values);
  const std::vector<std::uint64_t> numbers(put.slabs.begin(), put.slabs.end());
  return writer->iput(block, place.variable, Hyperslabs{numbers}, values);
}

int OpenFile::put_together(std::span<const Access> puts) {
  std::vector<RequestId> ids;
  ids.reserve(puts.size());
  Status status;
  for (const Access& put : puts) {
    const Type type = header.all().variable(static_cast<VarId>(put.variable)).type;
    const std::size_t bytes = put.elements * type_size(type);
    const Result<RequestId> id = iput(put, ConstArray(native(type), std::span(put.values, bytes)));
    if (!id.ok()) {
      status = id.status();
      break;
    }
    ids.push_back(*id);
    put_bytes += static_cast<std::int64_t>(bytes);
    tally.put_bytes += bytes;
  }
  tally.puts += puts.size();
  unseen = true;
  const Status waited = writer->wait_all(ids);
  return failed(status.ok() ? waited : status, code::kWrite);
}

int OpenFile::put(std::span<const Access> puts) {
  std::vector<RequestId> ids;
  for (const Access& put : puts) {
    const Type type = header.all().variable(static_cast<VarId>(put.variable)).type;
    const std::size_t bytes = put.elements * type_size(type);
    const ConstArray values(native(type), std::span(put.values, bytes));
    const VarPlace place = place_of(put.variable);
    if (puts.size() == 1 && put.slabs.empty()) {
      if (const Status status =
              writer->put(blocks[place.block].id, place.variable, put.slab, values);
          !status.ok())
        return failed(status, code::kWrite);
    } else {
      const Result<RequestId> id = iput(put, values);
      if (!id.ok()) return failed(id.status(), code::kWrite);
      ids.push_back(*id);
    }
    put_bytes += static_cast<std::int64_t>(bytes);
    tally.put_bytes += bytes;
  }
  tally.puts += puts.size();
  return ids.empty() ? code::kOk : failed(writer->wait(ids), code::kWrite);
}

Result<std::uint64_t> OpenFile::records_of(const FileBlock& of) const {
  if (writer) return writer->records(of.id);
  return of.loaded->records;
}

int OpenFile::get(const Access& get) {
  std::byte missing[8]{};
  if (header.is_record(get.variable)) header.fill_value(get.variable, missing);
  return this->get(get, missing);
}

int OpenFile::get(const Access& get, const std::byte* missing) {
  const Type type = header.all().variable(static_cast<VarId>(get.variable)).type;
  const std::size_t size = type_size(type), bytes = get.elements * size;
  got_bytes += static_cast<std::int64_t>(bytes);
  tally.got_bytes += bytes;
  ++tally.gets;
  const VarPlace place = place_of(get.variable);
  const FileBlock& of = blocks[place.block];
  Hyperslab slab = get.slab;
  std::uint64_t elements = get.elements;
  if (header.is_record(get.variable)) {
    // Records that other variables have, but this block does not, read as fill values.
    const Result<std::uint64_t> has = records_of(of);
    if (!has.ok()) return failed(has.status(), code::kRead);
    const std::uint64_t stride = slab.stride.empty() ? 1 : slab.stride[0];
    const std::uint64_t first = slab.start[0], count = slab.count[0];
    const std::uint64_t kept = *has <= first ? 0 : std::min(count, (*has - first - 1) / stride + 1);
    if (kept < count) {
      elements = get.elements / count * kept;
      slab.count[0] = kept;
      for (std::size_t at = elements * size; at < bytes; at += size)
        std::memcpy(get.values + at, missing, size);
    }
    if (kept == 0) return code::kOk;
  }
  const MutableArray out(native(type), std::span(get.values, elements * size));
  return failed(writer ? writer->get(of.id, place.variable, slab, out)
                       : of.loaded->read(place.variable, slab, out),
                code::kRead);
}

}  // namespace nmb::pnetcdf
