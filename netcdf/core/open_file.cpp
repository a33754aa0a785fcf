#include "open_file.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>

#include "codes.h"
#include "dump/group_walk.h"
#include "group_loader.h"
#include "handles/input_file.h"
#include "handles/reader_state.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/group_order.h"

namespace nmb::udf {

namespace {

constexpr int kIdBits = 16;
constexpr std::size_t kMostFiles = std::size_t{1} << kIdBits;
constexpr std::size_t kMostGroups = std::size_t{1} << kIdBits;
constexpr nc_type kFirstType = NC_FIRSTUSERTYPEID;

std::array<std::atomic<OpenFile*>, kMostFiles> open_files;
std::atomic<unsigned> forks{0};

std::size_t place_of(int ncid) { return static_cast<unsigned>(ncid) >> kIdBits; }

void count_forks() {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, [] { ++forks; }); });
}

// What a forked child must not touch, not even to free it.
template <class T>
void forget(T value) {
  new T(std::move(value));  // NOLINT: on purpose
}

}  // namespace

int OpenFile::open(const std::string& path, int mode, int format, int ncid, const void* caller) {
  count_forks();
  if (mode & NC_WRITE) return failed(NC_EPERM, path, "an NMB file can only be read");
  if (mode & (NC_DISKLESS | NC_MMAP))
    return failed(NC_EDISKLESS, path, "an NMB file is not read into memory");
  if (mode & NC_INMEMORY) return failed(NC_EINMEMORY, path, "an NMB file is not read from memory");
  std::unique_ptr<OpenFile> file(new OpenFile(path, mode, format, ncid));
  file->epoch_ = forks;
  // A program can ask for the format with any file; those of other kinds are not read here.
  const auto input = InputFile::open(path);
  if (!input.ok()) return failed(input.status());
  if ((*input)->kind() != FileKind::kNmb) return failed(NC_ENOTNC, path, "this is no NMB file");
  Result<Reader> reader = Reader::try_open(path);
  if (!reader.ok()) return failed(reader.status());
  file->reader_ = *std::move(reader);
  file->caller_ = caller;
  file->groups_.emplace_back();
  OpenFile* none = nullptr;
  if (!open_files[place_of(ncid)].compare_exchange_strong(none, file.get()))
    return failed(NC_ENFILE, path, "another netCDF library of this process uses the ID");
  file.release();
  return NC_NOERR;
}

int OpenFile::close(int ncid) {
  OpenFile* const file = open_files[place_of(ncid)].exchange(nullptr);
  if (!file) return NC_EBADID;
  if (file->epoch_ != forks) return NC_NOERR;  // nothing of it may be touched
  delete file;
  return NC_NOERR;
}

OpenFile* OpenFile::of(int ncid) {
  return ncid < 0 ? nullptr : open_files[place_of(ncid)].load(std::memory_order_acquire);
}

OpenFile::~OpenFile() {
  if (mirrored_groups_ > 0) library_.delete_file(ncid_);
}

int OpenFile::renew() {
  if (epoch_ == forks) return NC_NOERR;
  ReadOptions options;
  options.generation = reader_.generation();
  Result<Reader> reader = Reader::try_open(path_, options);
  if (!reader.ok()) return failed(reader.status());
  if (reader->generation_digest() != reader_.generation_digest())
    return failed(NC_EIO, path_, "the file has changed since it was opened");
  forget(std::move(reader_));
  reader_ = *std::move(reader);
  epoch_ = forks;
  return NC_NOERR;
}

int OpenFile::format(int* out) {
  *out = NC_FORMAT_NETCDF4;
  if (reader_.totals().blocks != 1) return NC_NOERR;
  Group& root = groups_[0];
  NMB_NC_TRY(load(root));
  if (root.sources.empty()) return NC_NOERR;
  std::shared_ptr<const Dataset> only;
  NMB_NC_TRY(dataset(root, nullptr, &only));
  switch (only->kind()) {
    case Kind::kCdf1:
      *out = NC_FORMAT_CLASSIC;
      break;
    case Kind::kCdf2:
      *out = NC_FORMAT_64BIT_OFFSET;
      break;
    case Kind::kCdf5:
      *out = NC_FORMAT_64BIT_DATA;
      break;
    default:
      if (only->metadata.find_attribute(kGlobal, kClassicModel)) *out = NC_FORMAT_NETCDF4_CLASSIC;
      break;
  }
  return NC_NOERR;
}

// --- groups ---

Group* OpenFile::group(int number) {
  const auto place = static_cast<std::size_t>(number);
  return number >= 0 && place < groups_.size() ? &groups_[place] : nullptr;
}

int OpenFile::load(Group& group) {
  std::vector<Group*> waiting;
  for (Group* at = &group; !at->is_loaded; at = &groups_[static_cast<std::size_t>(at->parent)]) {
    waiting.push_back(at);
    if (at->parent < 0) break;
  }
  for (; !waiting.empty(); waiting.pop_back())
    NMB_NC_TRY(GroupLoader(*this, *waiting.back()).load());
  return NC_NOERR;
}

int OpenFile::number_group(Group& parent, std::string name, int* number) {
  const auto known = parent.known.find(name);
  if (known != parent.known.end()) {
    *number = known->second;
    return NC_NOERR;
  }
  if (groups_.size() >= kMostGroups)
    return failed(NC_ENFILE, path_,
                  "netCDF-C has numbers for 65,535 groups in an open file, and all are used; the "
                  "group \"" +
                      joined_path(parent.path, name) + "\" gets none");
  Group& group = groups_.emplace_back();
  group.number = static_cast<int>(groups_.size() - 1);
  group.parent = parent.number;
  group.path = joined_path(parent.path, name);
  parent.known.emplace(name, group.number);
  group.name = std::move(name);
  *number = group.number;
  return mirrored_groups_ > 0 ? mirror_groups() : NC_NOERR;
}

int OpenFile::count_children(const Group& group, std::vector<std::string>* names) const {
  constexpr int kMostSkipped = 32;
  const InspectedFile& file = ReaderState::of(reader_)->file;
  const std::string prefix = group.path.empty() ? "" : group.path + "/";
  std::set<std::string, std::less<>> found;
  std::string from;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    int skipped = 0;
    const Status status = file.for_each_entry(
        prefix,
        [&](const BlockEntry& entry) -> Result<bool> {
          if (entry.name.empty()) return true;  // the root group itself
          if (!is_block_name(entry.name))
            return Status(Code::kDamaged, path_, kNoOffset, "R-NM-1",
                          "found a block with an invalid name");
          std::string_view name = std::string_view(entry.name).substr(prefix.size());
          const std::size_t slash = name.find('/');
          name = name.substr(0, slash);
          if (found.emplace(name).second) skipped = 0;
          // Many blocks below one group are passed over by the index.
          if (slash == std::string_view::npos || ++skipped < kMostSkipped) return true;
          from = prefix;
          from += name;
          from += static_cast<char>('/' + 1);
          is_done = false;
          return false;
        },
        from);
    if (!status.ok()) return failed(status);
  }
  names->assign(found.begin(), found.end());
  return NC_NOERR;
}

int OpenFile::list(Group& group) {
  if (group.is_listed) return NC_NOERR;
  NMB_NC_TRY(load(group));
  std::vector<std::string> names;
  NMB_NC_TRY(count_children(group, &names));
  if (!group.sources.empty() && names.size() > 1) {
    std::shared_ptr<const Dataset> block;
    NMB_NC_TRY(dataset(group, nullptr, &block));
    const Result<hdf5::GroupLinks> links = hdf5::links_to_groups(block->metadata);
    if (!links.ok()) return failed(links.status());
    if (links->is_tracked) {
      std::map<std::string_view, std::size_t> order;
      for (const std::string& name : links->linked) order.emplace(name, order.size());
      const auto place = [&](const std::string& name) {
        const auto found = order.find(name);
        return found == order.end() ? order.size() : found->second;
      };
      std::ranges::stable_sort(names, {}, place);
    }
  }
  std::vector<int> numbers(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    NMB_NC_TRY(number_group(group, std::move(names[i]), &numbers[i]));
  group.children = std::move(numbers);
  group.is_listed = true;
  return NC_NOERR;
}

int OpenFile::find_child(Group& group, std::string_view name, int* number) {
  const auto known = group.known.find(name);
  if (known != group.known.end()) {
    *number = known->second;
    return NC_NOERR;
  }
  if (group.is_listed || name.empty() || name.find('/') != std::string_view::npos) return NC_ENOGRP;
  const InspectedFile& file = ReaderState::of(reader_)->file;
  const std::string path = joined_path(group.path, name);
  const auto entry = file.find(path);
  if (!entry.ok()) return failed(entry.status());
  if (!*entry) {
    const Result<Totals> below = file.totals_of_prefix(path + "/");
    if (!below.ok()) return failed(below.status());
    if (below->blocks == 0) return NC_ENOGRP;
  }
  return number_group(group, std::string(name), number);
}

int OpenFile::find_path(Group& group, std::string_view path, int* number) {
  Group* at = &group;
  bool has_parts = false;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) {
      NMB_NC_TRY(find_child(*at, path.substr(0, end), number));
      at = &groups_[static_cast<std::size_t>(*number)];
      has_parts = true;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (!has_parts && at->parent >= 0) return NC_ENOGRP;
  *number = at->number;
  return NC_NOERR;
}

// --- dimensions ---

const FileDimension* OpenFile::dimension(int id) const {
  const auto place = static_cast<std::size_t>(id);
  return id >= 0 && place < dimensions_.size() ? &dimensions_[place] : nullptr;
}

int OpenFile::find_dimension(Group& group, std::string_view name, int* id) {
  Group* at = &group;
  if (name.starts_with('/')) {
    const auto [parent, last] = split_path(name);
    int number = 0;
    NMB_NC_TRY(find_path(groups_[0], parent, &number));
    at = &groups_[static_cast<std::size_t>(number)];
    NMB_NC_TRY(load(*at));
    const auto found = at->dimension_names.find(at->dimensions, last);
    if (!found) return NC_EBADDIM;
    *id = at->dimensions[*found].id;
    return NC_NOERR;
  }
  NMB_NC_TRY(load(*at));
  for (;; at = &groups_[static_cast<std::size_t>(at->parent)]) {
    if (const auto found = at->dimension_names.find(at->dimensions, name)) {
      *id = at->dimensions[*found].id;
      return NC_NOERR;
    }
    if (at->parent < 0) return NC_EBADDIM;
  }
}

// --- types ---

const UserType* OpenFile::type(nc_type id) const {
  const auto place = static_cast<std::size_t>(id - kFirstType);
  return id >= kFirstType && place < types_.size() ? &types_[place] : nullptr;
}

std::size_t OpenFile::type_size(nc_type id) const {
  const UserType* const user = type(id);
  return user ? user->size : atomic_size(id);
}

int OpenFile::find_type(Group& group, std::string_view name, nc_type* id) {
  Group* at = &group;
  const bool is_path = name.starts_with('/');
  if (is_path) {
    int number = 0;
    NMB_NC_TRY(find_path(groups_[0], split_path(name).parent, &number));
    at = &groups_[static_cast<std::size_t>(number)];
    name = split_path(name).name;
  }
  NMB_NC_TRY(load(*at));
  for (; at; at = is_path ? nullptr : this->group(at->parent))
    for (const nc_type own : at->types)
      if (type(own)->name == name) {
        *id = own;
        return NC_NOERR;
      }
  return NC_EBADTYPE;
}

int OpenFile::type_in_file(const Digest& digest, nc_type* id) {
  const FileBlocks blocks = ReaderState::of(reader_)->file.blocks();
  if (!all_types_) {
    Result<TypeNames> names = names_of_types(blocks);
    if (!names.ok()) return failed(names.status());
    all_types_ = *std::move(names);
  }
  *id = NC_NAT;
  const std::optional<std::string> path = all_types_->find(digest);
  if (!path) return NC_NOERR;
  int number = 0;
  const int code = find_path(groups_[0], split_path(*path).parent, &number);
  if (code == NC_ENOGRP) return NC_NOERR;
  NMB_NC_TRY(code);
  Group& group = groups_[static_cast<std::size_t>(number)];
  // As netCDF-C, a group cannot use types of groups that are read after it.
  for (const Group* at = &group; at; at = this->group(at->parent))
    if (at->is_loading) return NC_NOERR;
  NMB_NC_TRY(load(group));
  const auto found = group.types_by_digest.find(digest);
  if (found != group.types_by_digest.end()) *id = found->second;
  return NC_NOERR;
}

int OpenFile::add_type(UserType type, nc_type* id) {
  type.id = kFirstType + static_cast<nc_type>(types_.size());
  if (mirrored_groups_ == 0) {
    if (library_.find(caller_) != NC_NOERR)
      return failed(NC_ENOTBUILT, path_,
                    "the netCDF library does not export the functions that user types need");
    NMB_NC_TRY(library_.add_file(ncid_, path_.c_str(), NC_NETCDF4, nullptr));
    mirrored_groups_ = 1;
    NMB_NC_TRY(mirror_groups());
  }
  NMB_NC_TRY(mirror_type(type));
  *id = type.id;
  types_.push_back(std::move(type));
  return NC_NOERR;
}

// The library's own copies need no names but those that differ.
int OpenFile::mirror_groups() {
  for (; mirrored_groups_ < groups_.size(); ++mirrored_groups_) {
    int id = 0;
    const std::string name = "g" + std::to_string(mirrored_groups_);
    NMB_NC_TRY(library_.def_group(ncid_, name.c_str(), &id));
    if (id != ncid(static_cast<int>(mirrored_groups_))) return NC_EINTERNAL;
  }
  return NC_NOERR;
}

int OpenFile::mirror_type(const UserType& type) {
  const std::string name = "t" + std::to_string(type.id);
  nc_type id = NC_NAT;
  switch (type.type_class) {
    case NC_COMPOUND:
      NMB_NC_TRY(library_.def_compound(ncid_, type.size, name.c_str(), &id));
      break;
    case NC_VLEN:
      NMB_NC_TRY(library_.def_vlen(ncid_, name.c_str(), type.base, &id));
      break;
    case NC_ENUM:
      NMB_NC_TRY(library_.def_enum(ncid_, type.base, name.c_str(), &id));
      break;
    default:
      NMB_NC_TRY(library_.def_opaque(ncid_, type.size, name.c_str(), &id));
      break;
  }
  if (id != type.id) return NC_EINTERNAL;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const UserType::Field& field = type.fields[i];
    const std::string field_name = "f" + std::to_string(i);
    NMB_NC_TRY(library_.insert_array(ncid_, id, field_name.c_str(), field.offset, field.type,
                                     static_cast<int>(field.lengths.size()), field.lengths.data()));
  }
  return NC_NOERR;
}

// --- datasets ---

int OpenFile::dataset(Group& group, const GroupVariable* variable,
                      std::shared_ptr<const Dataset>* out) {
  NMB_NC_TRY(load(group));
  Group::Source& source = group.sources[variable ? variable->source : 0];
  if (source.epoch != epoch_ || !source.dataset) {
    Result<std::shared_ptr<const Dataset>> again =
        ReaderState::of(reader_)->file.dataset(source.block);
    if (!again.ok()) return failed(again.status());
    if (source.epoch != epoch_) forget(std::move(source.dataset));
    source.dataset = *std::move(again);
    source.epoch = epoch_;
  }
  *out = source.dataset;
  return NC_NOERR;
}

}  // namespace nmb::udf
