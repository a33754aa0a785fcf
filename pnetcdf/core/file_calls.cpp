// Files: create, open, the changes of mode, commits and close.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "calls.h"
#include "open_file.h"
#include "parallel/mpi_plugin.h"

// The network between processes, which is built into this part (libformat/mpi).
extern "C" const nmb::MpiPlugin nmb_mpi_plugin;

namespace nmb::pnetcdf {

Function (*real_lookup)(int number) = nullptr;

namespace {

namespace fs = std::filesystem;

bool is_set(const char* variable, bool otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : *text != '0';
}

// Hints of the program and of PNETCDF_HINTS ("key=value;key=value"), which counts more.
MPI_Info combined_hints(MPI_Info user) {
  MPI_Info all = MPI_INFO_NULL;
  if (user == MPI_INFO_NULL)
    MPI_Info_create(&all);
  else
    MPI_Info_dup(user, &all);
  for_each_hint([&](std::string_view key, std::string_view value) {
    if (!key.empty() && !value.empty() && key.size() < MPI_MAX_INFO_KEY &&
        value.size() < MPI_MAX_INFO_VAL)
      MPI_Info_set(all, std::string(key).c_str(), std::string(value).c_str());
  });
  return all;
}

// The name of the only block of a file that a program creates: the file's name without its ending,
// as nmcat names blocks.
std::string block_name_of(const std::string& path) {
  std::string stem = fs::path(path).stem().string();
  if (stem.empty() || stem == "." || stem == "..") stem = "data";
  return stem;
}

// Makes a file with what create and open have in common. Collective.
std::unique_ptr<OpenFile> make_file(MPI_Comm comm, const std::string& path, int mode,
                                    MPI_Info info) {
  auto file = std::make_unique<OpenFile>();
  file->path = path;
  file->mode = mode;
  MPI_Comm_rank(comm, &file->rank);
  MPI_Comm_size(comm, &file->ranks);
  file->shared = std::make_shared<SharedFile>();
  if (file->ranks > 1) MPI_Comm_dup(comm, &file->shared->comm);
  file->comm = file->shared->comm;
  file->info = combined_hints(info);
  file->safe = is_set("PNETCDF_SAFE_MODE", false);
  file->strict_coords = !is_set("PNETCDF_RELAX_COORD_BOUND", true);
  return file;
}

// Makes the network of the library's ranks. Collective.
int make_network(OpenFile& file) {
  if (file.ranks == 1) {
    file.shared->network = std::make_unique<Communicator>();
    file.network = file.shared->network.get();
    return code::kOk;
  }
  Result<std::unique_ptr<Transport>> transport = nmb_mpi_plugin.open(&file.comm);
  if (!transport.ok()) return file.lowest(file.failed(transport.status(), code::kMpi));
  if (const int all = file.lowest(code::kOk); all != code::kOk) return all;
  file.shared->network = std::make_unique<Communicator>(std::move(*transport));
  file.network = file.shared->network.get();
  return code::kOk;
}

FileWriterOptions options_of(const OpenFile&) {
  FileWriterOptions options;
  options.sync =
      false;  // as PnetCDF, which leaves it to the file system when bytes are on the device
  options.overwrite = true;
  return options;
}

// The target of a creation, as rank 0 finds it. All ranks get it.
struct Creation {
  int mode = 0;
  int failed = code::kOk;
  int format = 0;  // default for files whose mode names none
  int path_length = 0;
};

using DefaultFormat = int (*)(int*);

// Returns the absolute path of the file that a path names, also if that file does not exist yet: a
// program may change its working directory while the file is open. If the path is a symbolic link,
// the file that it names is meant; the link stays.
std::string real_path(const std::string& path) {
  std::error_code error;
  fs::path at = fs::absolute(without_prefix(path.c_str()), error);
  if (error) return without_prefix(path.c_str());
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && fs::is_symlink(at, error); ++i) {
    const fs::path to = fs::read_symlink(at, error);
    if (error) break;
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return at.string();
}

Creation look_at_target(const std::string& path, int mode, std::string* target) {
  Creation found;
  found.mode = mode;
  *target = real_path(path);
  struct stat status {};
  // With NC_NOCLOBBER, a link exists even if the file that it names does not.
  if ((mode & kModeNoClobber) != 0 && ::lstat(without_prefix(path.c_str()), &status) == 0)
    found.failed = code::kExists;
  else if (::lstat(target->c_str(), &status) == 0 &&
           (!S_ISREG(status.st_mode) || ::access(target->c_str(), W_OK) != 0))
    found.failed = code::kFile;  // a file that is protected is not replaced
  else if (::access(fs::path(*target).parent_path().c_str(), W_OK) != 0 && errno == EACCES)
    found.failed = code::kAccess;
  if (const auto get = real_function<DefaultFormat>(kIndex_inq_default_format)) get(&found.format);
  found.path_length = static_cast<int>(target->size());
  return found;
}

int format_of_mode(int mode, int otherwise) {
  if ((mode & kModeData) != 0) return kFormatData;
  if ((mode & kModeOffset) != 0) return kFormatOffset;
  if ((mode & kModeClassic) != 0) return kFormatClassic;
  return otherwise == kFormatData || otherwise == kFormatOffset ? otherwise : kFormatClassic;
}

// Reads the hint nmb_create, which must be the same on all ranks. Collective.
int read_creation_hint(OpenFile& file) {
  char value[MPI_MAX_INFO_VAL + 1];
  int has_hint = 0;
  MPI_Info_get(file.info, "nmb_create", MPI_MAX_INFO_VAL, value, &has_hint);
  const bool independent = has_hint != 0 && std::strcmp(value, "independent") == 0;
  const bool known = has_hint == 0 || independent || std::strcmp(value, "collective") == 0;
  const bool alike = file.highest(independent ? 1 : 0) == file.lowest(independent ? 1 : 0);
  const bool divides = independent && std::getenv("NMB_BLOCKS") != nullptr;
  if (file.lowest(known && alike && !divides ? code::kOk : code::kNotSupported) != code::kOk) {
    if (file.rank == 0)
      std::fprintf(stderr, "nmb-pnetcdf: the hint nmb_create must be %s\n",
                   divides ? "without NMB_BLOCKS, because paths in names divide the file"
                           : "independent or collective, and the same on all processes");
    return code::kNotSupported;
  }
  file.by_path = file.own_ids = independent;
  // Definitions are not compared until enddef(), so a failure is that of one rank.
  if (independent) file.safe = false;
  return code::kOk;
}

int create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id) {
  if (path == nullptr || *path == '\0') return code::kBadFile;
  std::unique_ptr<OpenFile> file = make_file(comm, path, mode, info);
  std::string target;
  Creation creation;
  if (file->rank == 0) creation = look_at_target(file->path, mode, &target);
  file->from_first(&creation, sizeof creation);
  target.resize(static_cast<std::size_t>(creation.path_length));
  file->from_first(target.data(), target.size());
  int status = creation.mode == mode ? code::kOk : code::kDifferCreateMode;
  if (file->safe) status = file->lowest(status);
  file->mode = mode = creation.mode;
  if ((mode & kModeNetcdf4) != 0) return code::kNotBuilt;
  if ((mode & (kModeData | kModeOffset)) == (kModeData | kModeOffset) ||
      (mode & (kModeDiskless | kModeMmap)) != 0)
    return code::kInvalidCreateMode;
  if (creation.failed != code::kOk) return creation.failed;
  if (const int failed = read_creation_hint(*file)) return failed;
  file->format = format_of_mode(mode, creation.format);
  file->block_name = block_name_of(target);
  if (const char* const rule = std::getenv("NMB_BLOCKS")) file->rule = rule;
  if (const int failed = make_network(*file)) return failed;
  Result<std::unique_ptr<FileWriter>> writer =
      FileWriter::create(target, options_of(*file), *file->network);
  if (!writer.ok()) return file->failed(writer.status(), code::kFile);
  file->shared->writer = std::move(*writer);
  file->shared->writer_defines = true;
  file->writer = file->shared->writer.get();
  file->defining = file->is_new = true;
  if (const int failed = add_file(std::move(file), id)) return failed;
  return status;
}

// The path of a file to be opened, as rank 0 reads it. All ranks get it.
struct Opening {
  int mode = 0;
  int failed = code::kOk;
  int path_length = 0, block_length = -1;
};

// Chooses the blocks that an open file shows: the named one, the only one, or all of a divided
// file.
Status choose_blocks(OpenFile& file, const std::string& target, const std::string* name) {
  if (name != nullptr) {
    file.blocks.push_back({.name = *name});
    return {};
  }
  if (file.shared->reader->totals().blocks != 1) {
    NMB_ASSIGN(file.blocks, divided_blocks(*file.shared->reader));
    if (!file.blocks.empty()) return {};
    return Status(Code::kUnsupported, target, kNoOffset, "",
                  "the file has " + std::to_string(file.shared->reader->totals().blocks) +
                      " blocks; open one of them as " + target +
                      "#BLOCK (nminspect ls lists them)");
  }
  NMB_ASSIGN(const std::optional<BlockEntry> entry, file.shared->reader->at(0));
  NMB_ASSIGN(file.blocks, divided_blocks(*file.shared->reader));
  if (file.blocks.empty()) file.blocks.push_back({.name = entry ? entry->name : std::string()});
  return {};
}

// Takes the definitions of the blocks that were loaded.
Status take_blocks(OpenFile& file, const std::string& target,
                   const std::vector<std::shared_ptr<const LoadedBlock>>& loaded) {
  const Kind kind = loaded.front()->kind();
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (loaded[i]->kind() == Kind::kExtended || loaded[i]->kind() != kind)
      return Status(Code::kUnsupported, target, kNoOffset, "",
                    "block " + file.blocks[i].name +
                        " came from HDF5 or netCDF-4, which PnetCDF's interface cannot show");
    file.blocks[i].loaded = loaded[i];
    file.records = std::max(file.records, loaded[i]->records);
  }
  file.format = kind == Kind::kCdf1   ? kFormatClassic
                : kind == Kind::kCdf2 ? kFormatOffset
                                      : kFormatData;
  file.block_name = file.blocks.front().name;
  if (!file.blocks.front().is_divided && loaded.size() == 1) {
    file.header = Header(loaded.front()->metadata);
  } else {
    std::vector<const Metadata*> all;
    for (const auto& one : loaded) all.push_back(&one->metadata);
    NMB_ASSIGN(const Metadata flat, joined(file.blocks, all, &file.places));
    file.header = Header(flat);
    // Without a main block, it is the one that the file would have; its name is not that of a
    // group.
    const auto main = std::ranges::find(file.blocks, false, &FileBlock::is_divided);
    file.block_name = main != file.blocks.end() ? main->name : block_name_of(target);
    while (main == file.blocks.end() &&
           std::ranges::find(file.blocks, file.block_name, &FileBlock::name) != file.blocks.end())
      file.block_name += '_';
    if (const char* const rule = std::getenv("NMB_BLOCKS")) file.rule = rule;
  }
  NMB_ASSIGN(file.layout, file.header.lay_out(kind));
  return {};
}

int open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id) {
  if (path == nullptr || *path == '\0') return code::kBadFile;
  std::unique_ptr<OpenFile> file = make_file(comm, path, mode, info);
  std::string target = without_prefix(path), block;
  Opening opening;
  if (file->rank == 0) {
    opening.mode = mode;
    std::error_code error;
    if (const std::size_t hash = target.find('#');
        hash != std::string::npos && !fs::exists(target, error)) {
      block = target.substr(hash + 1);
      target.resize(hash);
      opening.block_length = static_cast<int>(block.size());
    }
    target = real_path(target);
    if (::access(target.c_str(), (mode & kModeWrite) != 0 ? W_OK : R_OK) != 0 && errno == EACCES)
      opening.failed = code::kAccess;
    opening.path_length = static_cast<int>(target.size());
  }
  file->from_first(&opening, sizeof opening);
  target.resize(static_cast<std::size_t>(opening.path_length));
  file->from_first(target.data(), target.size());
  block.resize(static_cast<std::size_t>(std::max(opening.block_length, 0)));
  file->from_first(block.data(), block.size());
  int status = opening.mode == mode ? code::kOk : code::kDifferOpenMode;
  if (file->safe) status = file->lowest(status);
  file->mode = mode = opening.mode;
  if ((mode & (kModeDiskless | kModeMmap)) != 0) return code::kInvalidOpenMode;
  if (opening.failed != code::kOk) return opening.failed;
  file->read_only = (mode & kModeWrite) == 0;
  if (const int failed = make_network(*file)) return failed;

  Result<std::unique_ptr<FileReader>> reader = FileReader::open(target, {}, *file->network);
  if (!reader.ok()) return file->failed(reader.status(), code::kRead);
  file->shared->reader = std::move(*reader);
  // Refuses a file, with a message of rank 0. Collective.
  const auto refused = [&](const Status& why, int otherwise) {
    if (file->rank == 0) std::fprintf(stderr, "nmb-pnetcdf: %s\n", why.text().c_str());
    return file->failed(why, otherwise);
  };
  const Status chosen = file->network->agree(
      choose_blocks(*file, target, opening.block_length >= 0 ? &block : nullptr));
  if (!chosen.ok()) return refused(chosen, code::kInvalid);
  std::vector<std::string_view> names;
  for (const FileBlock& one : file->blocks) names.push_back(one.name);
  auto loaded = file->shared->reader->open_blocks(names);
  if (!loaded.ok()) return refused(loaded.status(), code::kRead);
  if (const Status taken = file->network->agree(take_blocks(*file, target, *loaded)); !taken.ok())
    return refused(taken, code::kNotSupported);
  if (!file->read_only) {
    Result<std::unique_ptr<FileWriter>> writer =
        FileWriter::open(target, options_of(*file), *file->network);
    if (!writer.ok()) return file->failed(writer.status(), code::kFile);
    file->shared->writer = std::move(*writer);
    file->writer = file->shared->writer.get();
    const auto find = [&]() -> Status {
      for (FileBlock& one : file->blocks) {
        NMB_ASSIGN(one.id, file->writer->find_block(one.name));
        one.is_stored = true;
        one.loaded.reset();
      }
      return {};
    };
    Status begun = file->network->agree(find(), "open");
    if (begun.ok()) begun = file->writer->end_define();
    if (!begun.ok()) {
      file->writer->abandon();
      return file->failed(begun, code::kFile);
    }
  }
  if (const int failed = add_file(std::move(file), id)) return failed;
  return status;
}

// Leaves define mode. Collective.
int end_define(OpenFile& file) {
  if (file.own_ids) {
    if (const int failed = file.lowest(file.header.check_sizes(file.format))) return failed;
  } else {
    if (const int failed = file.adopt_first()) return failed;
    if (const int failed = file.header.check_sizes(file.format)) return failed;
  }
  const bool changed = file.is_new || file.header_dirty || file.header.vars() != file.old_vars ||
                       (file.old && file.header.dims() != file.old->dims());
  if (file.highest(changed ? 1 : 0) != 0)
    if (const int failed = file.define()) return failed;
  file.defining = file.is_new = file.independent = false;
  file.old.reset();
  return code::kOk;
}

// Commits and waits until the bytes are on the device, as ncmpi_sync() does.
int commit(OpenFile& file) {
  if (const int failed = file.flush_header()) return failed;
  const Tally::Span time(&file.tally.commit);
  return file.failed(file.writer->commit(true), code::kWrite);
}

// Lets all ranks see the same number of records and each other's values. Collective.
int meet_records(OpenFile& file) {
  if (file.read_only) return code::kOk;
  file.unseen = true;
  if (file.counts_records())
    file.records =
        static_cast<std::uint64_t>(file.highest(static_cast<std::int64_t>(file.records)));
  return file.meet();
}

int leave_independent(OpenFile& file) {
  if (!file.independent) return code::kOk;
  file.independent = false;
  return meet_records(file);
}

int cancel_pending(OpenFile& file, int id) {
  const auto one = [&](std::size_t pending, const char* what, int which) {
    if (pending == 0) return code::kOk;
    std::printf(
        "PnetCDF warning: %zu nonblocking %s requests still pending on process %d. Cancelling "
        "...\n",
        pending, what, file.rank);
    call_cancel(id, which, nullptr, nullptr);
    return code::kPending;
  };
  const int gets = one(file.requests.gets(), "get", kAllGets);
  const int puts = one(file.requests.puts(), "put", kAllPuts);
  return gets != code::kOk ? gets : puts;
}

void report(OpenFile& file) {
  write_tally(file.path, file.ranks == 1 ? MPI_COMM_NULL : file.comm, file.tally,
              file.writer ? file.writer->report().text() : "");
}

// Makes an ID for a block of a file that is open. Collective.
std::unique_ptr<OpenFile> make_block(const OpenFile& of, const char* name) {
  auto file = std::make_unique<OpenFile>();
  file->path = of.path + "#" + name;
  file->mode = of.mode;
  file->format = of.format;
  file->shared = of.shared;
  file->comm = of.comm;
  file->rank = of.rank;
  file->ranks = of.ranks;
  MPI_Info_dup(of.info, &file->info);
  file->read_only = of.read_only;
  file->safe = of.safe;
  file->strict_coords = of.strict_coords;
  file->network = of.network;
  file->writer = of.writer;
  file->block_name = name;
  return file;
}

// Returns whether an open ID shows a block. Two IDs of a block would not know each other's
// definitions.
bool is_shown(const OpenFile& of, std::string_view block) {
  return std::ranges::any_of(open_files(), [&](int id) {
    const OpenFile& other = *find_file(id);
    return other.shared == of.shared &&
           (other.block_name == block ||
            std::ranges::find(other.blocks, block, &FileBlock::name) != other.blocks.end());
  });
}

}  // namespace

int define_block(int id, const char* name, int* block) {
  return guarded([&] {
    OpenFile* const of = find_file(id);
    if (of == nullptr) return code::kBadId;
    const auto check = [&] {
      if (of->read_only) return code::kReadOnly;
      if (of->by_path) return code::kNotSupported;
      if (name == nullptr || *name == '\0') return code::kBadName;
      return is_shown(*of, name) ? code::kNameInUse : code::kOk;
    };
    if (const int failed = of->lowest(check())) return failed;
    std::unique_ptr<OpenFile> file = make_block(*of, name);
    file->defining = file->is_new = true;
    return add_file(std::move(file), block);
  });
}

int open_block(int id, const char* name, int* block) {
  return guarded([&] {
    OpenFile* const of = find_file(id);
    if (of == nullptr) return code::kBadId;
    const auto check = [&] {
      if (name == nullptr || *name == '\0') return code::kBadName;
      if (!of->shared->reader) return code::kNotSupported;
      return !of->read_only && is_shown(*of, name) ? code::kNotSupported : code::kOk;
    };
    if (const int failed = of->lowest(check())) return failed;
    std::unique_ptr<OpenFile> file = make_block(*of, name);
    file->blocks.push_back({.name = name});
    const std::string_view one = file->block_name;
    auto loaded = of->shared->reader->open_blocks(std::span(&one, 1));
    if (!loaded.ok()) return file->failed(loaded.status(), code::kRead);
    const auto take = [&]() -> Status {
      NMB_TRY(take_blocks(*file, of->path, *loaded));
      file->rule.clear();
      if (!file->writer) return {};
      NMB_ASSIGN(file->blocks[0].id, file->writer->find_block(one));
      file->blocks[0].is_stored = true;
      file->blocks[0].loaded.reset();
      return {};
    };
    if (const Status taken = file->network->agree(take()); !taken.ok())
      return file->failed(taken, code::kNotSupported);
    return add_file(std::move(file), block);
  });
}

int global_ids(int id, int* dims, int* vars) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    const auto check = [&] {
      if (!file->own_ids) return code::kNotSupported;
      if (file->defining) return code::kInDefine;
      if (file->independent) return code::kIndependent;
      return file->requests.puts() + file->requests.gets() != 0 ? code::kPending : code::kOk;
    };
    if (const int failed = file->lowest(check())) return failed;
    const int failed = file->share_definitions(dims, vars);
    if (failed == code::kOk) file->safe = is_set("PNETCDF_SAFE_MODE", false);
    return failed;
  });
}

int count_blocks(int id, MPI_Offset* number) {
  return guarded([&] {
    const OpenFile* const of = find_file(id);
    if (of == nullptr) return code::kBadId;
    if (!of->shared->reader) return code::kNotSupported;
    *number = static_cast<MPI_Offset>(of->shared->reader->totals().blocks);
    return code::kOk;
  });
}

int name_of_block(int id, MPI_Offset position, char* name, std::size_t size) {
  return guarded([&] {
    const OpenFile* const of = find_file(id);
    if (of == nullptr) return code::kBadId;
    if (!of->shared->reader) return code::kNotSupported;
    const auto entry = of->shared->reader->at(static_cast<std::uint64_t>(position));
    if (!entry.ok()) return of->failed(entry.status(), code::kRead);
    if (!*entry || (*entry)->name.size() >= size) return code::kInvalid;
    std::memcpy(name, (*entry)->name.c_str(), (*entry)->name.size() + 1);
    return code::kOk;
  });
}

int call_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
  *file = -1;
  return guarded([&] { return create(comm, path, mode, info, file); });
}

int call_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
  return guarded([&] { return open(comm, path, mode, info, file); });
}

int call_inq_file_format(const char* path, int* format) {
  return guarded([&] {
    if (format == nullptr) return code::kOk;
    const OpenFile none;
    const Result<std::unique_ptr<FileReader>> reader = FileReader::open(without_prefix(path));
    if (!reader.ok()) return none.failed(reader.status(), code::kRead);
    const Result<std::optional<BlockEntry>> entry = (*reader)->at(0);
    if (!entry.ok()) return none.failed(entry.status(), code::kRead);
    const Kind kind = *entry ? static_cast<Kind>((*entry)->kind) : Kind::kCdf5;
    *format = kind == Kind::kCdf1   ? kFormatClassic
              : kind == Kind::kCdf2 ? kFormatOffset
                                    : kFormatData;
    return code::kOk;
  });
}

int call_enddef(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (const int failed = file->agree(file->defining ? code::kOk : code::kNotInDefine))
      return failed;
    return end_define(*file);
  });
}

int call__enddef(int id, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                 MPI_Offset r_align) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    const MPI_Offset all[] = {h_minfree, v_align, v_minfree, r_align};
    int failed = file->defining ? code::kOk : code::kNotInDefine;
    for (const MPI_Offset one : all)
      if (failed == code::kOk && one < 0) failed = code::kInvalid;
    failed = file->agree(failed, {same(all, code::kDifferArguments)});
    return failed != code::kOk ? failed : end_define(*file);
  });
}

int call_redef(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->read_only) return code::kReadOnly;
    if (file->defining) return code::kInDefine;
    if (file->by_path) return code::kNotSupported;
    if (const int failed = leave_independent(*file)) return failed;
    file->old = std::make_unique<Header>(file->header);
    file->old_vars = file->header.vars();
    file->old_dirty = file->header_dirty;
    file->defining = true;
    return code::kOk;
  });
}

int call_begin_indep_data(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->defining) return code::kInDefine;
    if (file->independent) return code::kOk;
    if (const int failed = file->meet()) return failed;
    file->independent = true;
    return code::kOk;
  });
}

int call_end_indep_data(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    return file->defining ? code::kInDefine : leave_independent(*file);
  });
}

int call_sync_numrecs(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->defining) return code::kInDefine;
    if (!file->own_ids && file->header.record_vars() == 0) return code::kOk;
    if (file->read_only) return code::kReadOnly;
    return file->independent ? meet_records(*file) : code::kOk;
  });
}

int call_sync(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->defining) return code::kInDefine;
    if (file->read_only) return code::kOk;
    if (const int failed = meet_records(*file)) return failed;
    return commit(*file);
  });
}

int call_flush(int id) { return find_file(id) == nullptr ? code::kBadId : code::kOk; }

namespace {
// Undoes the definitions since redef(). Changes that were made in data mode stay.
void forget_definitions(OpenFile& file) {
  file.header = *file.old;
  file.header_dirty = file.old_dirty;
  file.defining = false;
  file.old.reset();
}
}  // namespace

int call_close(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    int status = code::kOk;
    const auto note = [&](int one) {
      if (status == code::kOk) status = one;
      return one;
    };
    if (file->defining && note(end_define(*file)) != code::kOk && file->old)
      forget_definitions(*file);
    note(cancel_pending(*file, id));
    if (file->writer) {
      if (file->is_new && file->is_last()) {
        file->writer->abandon();
      } else {
        int closed = file->is_new ? code::kOk : file->flush_header();
        const Tally::Span time(&file->tally.commit);
        if (closed == code::kOk && file->is_last())
          closed = file->failed(file->writer->close(), code::kWrite);
        note(closed);
      }
    }
    report(*file);
    take_file(id);
    return status;
  });
}

int call_abort(int id) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    int status = code::kOk;
    for (const int which : {kAllGets, kAllPuts}) call_cancel(id, which, nullptr, nullptr);
    if (file->writer && file->is_last() && file->is_new) {
      file->writer->abandon();
    } else if (file->writer) {
      if (file->old) forget_definitions(*file);
      status = file->flush_header();
      if (status == code::kOk && file->is_last())
        status = file->failed(file->writer->close(), code::kWrite);
    }
    take_file(id);
    return status;
  });
}

}  // namespace nmb::pnetcdf
