// Walks an HDF5 file group by group (see import.h). Objects are visited in the order of links, all
// objects of a group before those of its groups (spec/hdf5_section.md): the first link to an object
// is its place, and other links refer to it.
#include "import.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "alike_data_sets.h"
#include "block_in.h"
#include "hdf5_id.h"
#include "resource_limits.h"
#include "selection_in.h"
#include "send_message.h"
#include "wire/items.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kMostDepth = 256;  // depth of nested groups
constexpr std::uint64_t kMostUserBlock = 64 << 20;
// The largest number of bytes of the spool: a constant, and a number for each byte of the file,
// because few bytes can describe many missing chunks and many empty values.
constexpr std::uint64_t kMostSpool = 64 << 20, kMostSpoolFactor = 64;

struct FoundLink {
  std::string name;
  H5L_type_t type;
  CharacterSet character_set;
  haddr_t address;     // for a hard link
  std::size_t length;  // of the value, for other links
};

std::vector<FoundLink> links_of(hid_t group, const std::string& path) {
  std::vector<FoundLink> links;
  const Id plist(H5Gget_create_plist(group), H5Pclose, path);
  unsigned order = 0;
  checked(H5Pget_link_creation_order(plist, &order), path);
  const auto take = [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
    FoundLink link{name, info->type, static_cast<CharacterSet>(info->cset), HADDR_UNDEF, 0};
    if (info->type == H5L_TYPE_HARD)
      link.address = info->u.address;
    else
      link.length = info->u.val_size;
    static_cast<std::vector<FoundLink>*>(out)->push_back(std::move(link));
    return 0;
  };
  hsize_t at = 0;
  const bool tracked = (order & H5P_CRT_ORDER_TRACKED) != 0;
  checked(H5Literate(group, tracked ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, &at, take,
                     &links),
          path);
  return links;
}

std::string join(const std::string& path, const std::string& name) {
  return path == "/" ? path + name : path + "/" + name;
}

std::uint64_t address_of(hid_t object, const std::string& path) {
  H5O_info_t info;
  checked(H5Oget_info2(object, &info, H5O_INFO_BASIC), path);
  return info.addr;
}

class Importer {
 public:
  Importer(const std::string& path, int spool, const std::string& place, OtherFiles other_files)
      : spool_(spool) {
    in_.path = path;
    in_.place = place;
    in_.materialise = other_files == OtherFiles::kCopied;
  }

  void run() {
    struct stat about {};
    if (stat(in_.path.c_str(), &about) != 0) throw Failure(Code::kIo, std::strerror(errno));
    file_ = open_file(in_.path);
    in_.descriptor = descriptor_of(file_);
    if (fstat(in_.descriptor, &about) != 0) throw Failure(Code::kIo, std::strerror(errno));
    in_.size = static_cast<std::uint64_t>(about.st_size);
    // The size of this file does not limit the values in other files.
    spool_.set_most(in_.materialise ? ~std::uint64_t{0} : kMostSpool + kMostSpoolFactor * in_.size);
    if (!in_.materialise) refuse_opening();
    in_.file = file_;
    in_.spool = &spool_;
    in_.path_of = [this](hid_t object) { return path_of(object); };
    in_.target_of = [this](const void* reference) { return object_path(reference); };
    in_.references.object = [this](const void* reference) {
      return in_.placed(object_path(reference));
    };
    in_.references.region = [this](const void* reference) { return region(reference); };
    const Id plist(H5Fget_create_plist(file_), H5Pclose, "file");
    hsize_t user_block = 0;
    checked(H5Pget_userblock(plist, &user_block), "file");
    user_block_ = user_block;
    find_chunk_base();
    const Id root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose, "/");
    first_paths_.emplace(address_of(root, "/"), "/");
    if (user_block_ == 0 && has_usual_sizes(plist)) in_.alike = &alike_.emplace(in_);
    import_group(root, "/", 0);
    send(Message::kDone, {});
  }

 private:
  static void send(Message kind, std::initializer_list<std::span<const std::byte>> contents) {
    const Status status = send_message(kind, contents);
    if (!status.ok()) throw Failure(status.code(), status.message());
  }

  void import_group(hid_t group, const std::string& path, std::size_t depth) {
    if (depth > kMostDepth)
      throw Failure(Code::kLimit,
                    "found groups more than " + std::to_string(kMostDepth) + " deep, at " + path);
    BlockIn block(in_, path.substr(1));
    if (alike_) alike_->begin_block();
    if (path == "/" && user_block_ > 0) block.add_user_block(read_user_block());
    block.add_group(group);
    std::vector<std::string> groups;  // groups whose first link is here
    std::vector<FoundLink> links = links_of(group, path);
    for (const FoundLink& found : links)
      if (found.type == H5L_TYPE_HARD)
        first_paths_.try_emplace(found.address, join(path, found.name));
    for (FoundLink& found : links) {
      Link link;
      link.name = std::move(found.name);
      link.character_set = found.character_set;
      if (found.type == H5L_TYPE_HARD)
        import_object(group, found.address, join(path, link.name), &block, &groups, &link);
      else
        describe_link(group, found, path, &link);
      block.add_link(std::move(link));
    }
    const BlockIn::Told told = block.finish();
    send(Message::kBlock, {told.head, told.body, told.runs});
    for (const std::string& name : groups) {
      const std::string child = join(path, name);
      const Id next(H5Gopen2(group, name.c_str(), H5P_DEFAULT), H5Gclose, child);
      import_group(next, child, depth + 1);
    }
  }

  void import_object(hid_t group, haddr_t address, const std::string& path, BlockIn* block,
                     std::vector<std::string>* groups, Link* link) {
    if (const std::string& first = first_paths_.at(address); first != path) {
      link->kind = LinkKind::kHard;
      link->content = in_.placed(first);
      return;
    }
    const VarId number = block->next_variable();
    if (block->add_alike(link->name, address)) {
      link->kind = LinkKind::kVariable;
      link->number = number;
      link->name.clear();
      return;
    }
    // Open by address, which is known from the link: opening by name would look it up again.
    const Id object(H5Oopen_by_addr(group, address), H5Oclose, path);
    switch (H5Iget_type(object)) {
      case H5I_GROUP:
        link->kind = LinkKind::kGroup;
        groups->push_back(link->name);
        return;
      case H5I_DATASET:
        link->kind = LinkKind::kVariable;
        link->number = number;
        block->add_variable(link->name, object);
        link->name.clear();
        return;
      case H5I_DATATYPE:
        link->kind = LinkKind::kType;
        link->number = static_cast<std::uint32_t>(block->add_named_type(object));
        return;
      default:
        fail(path);
    }
  }

  void describe_link(hid_t group, const FoundLink& found, const std::string& path, Link* link) {
    const std::string object = join(path, link->name);
    std::string value(found.length, '\0');
    checked(H5Lget_val(group, link->name.c_str(), value.data(), value.size(), H5P_DEFAULT), object);
    if (found.type == H5L_TYPE_SOFT) {
      link->kind = LinkKind::kSoft;
      link->content = value.c_str();
      // A target that begins at the root must lead to the same object of this file.
      if (link->content.starts_with('/')) link->content = in_.placed(link->content);
    } else if (found.type == H5L_TYPE_EXTERNAL) {
      link->kind = LinkKind::kExternal;
      unsigned flags = 0;
      const char *file = nullptr, *target = nullptr;
      checked(H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &target), object);
      link->number = flags;
      link->content = std::string(file) + '\0' + target;
    } else {
      link->kind = LinkKind::kUserDefined;
      link->number = static_cast<std::uint32_t>(found.type);
      link->content = std::move(value);
    }
  }

  // --- targets of references ---
  // Returns the path of an object; if no link leads to it, // and its number among such objects.
  std::string path_of(hid_t object) {
    const haddr_t address = address_of(object, "object");
    std::string path = path_at(address);
    if (path.empty()) {
      path = "//" + std::to_string(unlinked_++);
      paths_.emplace(address, path);
    }
    return path;
  }
  std::string path_at(haddr_t address) {
    if (const auto found = first_paths_.find(address); found != first_paths_.end())
      return found->second;
    if (paths_.empty()) {
      const Id root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose, "/");
      paths_.emplace(address_of(root, "/"), "/");
      find_paths(root, "/", 0);
    }
    const auto found = paths_.find(address);
    return found == paths_.end() ? std::string() : found->second;
  }
  void find_paths(hid_t group, const std::string& path, std::size_t depth) {
    if (depth > kMostDepth) throw Failure(Code::kLimit, "found groups too deep, at " + path);
    std::vector<std::string> groups;
    for (const FoundLink& link : links_of(group, path)) {
      if (link.type != H5L_TYPE_HARD || paths_.contains(link.address)) continue;
      const std::string target = join(path, link.name);
      H5O_info_t info;
      checked(H5Oget_info_by_name2(group, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT),
              target);
      paths_.emplace(link.address, target);
      if (info.type == H5O_TYPE_GROUP) groups.push_back(link.name);
    }
    for (const std::string& name : groups) {
      const std::string child = join(path, name);
      const Id next(H5Gopen2(group, name.c_str(), H5P_DEFAULT), H5Gclose, child);
      find_paths(next, child, depth + 1);
    }
  }
  std::string object_path(const void* reference) {
    hobj_ref_t address;
    std::memcpy(&address, reference, sizeof address);
    if (address == 0 || address == HADDR_UNDEF) return {};
    if (address >= in_.size)
      throw Failure(Code::kDamaged,
                    "a reference to an object: found it at " + std::to_string(address) +
                        ", expected it within the file's " + std::to_string(in_.size));
    std::string path = path_at(address);
    if (path.empty())
      throw Failure(Code::kUnsupported, "a reference to an object at " + std::to_string(address) +
                                            " that no link leads to");
    return path;
  }
  std::vector<std::byte> region(const void* reference) {
    const auto* bytes = static_cast<const unsigned char*>(reference);
    if (std::all_of(bytes, bytes + sizeof(hdset_reg_ref_t), [](unsigned char b) { return b == 0; }))
      return {};
    const Id object(H5Rdereference2(file_, H5P_DEFAULT, H5R_DATASET_REGION, reference), H5Oclose,
                    "a reference to a region");
    const Id space(H5Rget_region(file_, H5R_DATASET_REGION, reference), H5Sclose,
                   "a reference to a region");
    const std::vector<std::byte> selection = encoded_selection(space, "a reference to a region");
    std::vector<std::byte> out;
    ItemsOut items(&out);
    items.put_text(in_.placed(path_at(address_of(object, "a reference to a region"))));
    items.put(std::span<const std::byte>(selection));
    return out;
  }

  // --- the file's bytes ---
  static Id open_file(const std::string& path) {
    // Slabs of values are smaller than a chunk: a chunk is decompressed only once if it fits this
    // cache.
    constexpr std::size_t kSlots = 521, kCache = 64 << 20;
    constexpr double kPreemption = 0.75;
    const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file");
    checked(H5Pset_cache(access, 0, kSlots, kCache, kPreemption), "file");
    // For object headers, each of which is read once: they take many times more bytes in memory
    // than in the file, and the cache counts the latter.
    constexpr std::size_t kMetadataCache = 1 << 20;
    H5AC_cache_config_t config;
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    checked(H5Pget_mdc_config(access, &config), "file");
    config.set_initial_size = true;
    config.initial_size = config.max_size = kMetadataCache;
    config.min_size = std::min(config.min_size, kMetadataCache);
    checked(H5Pset_mdc_config(access, &config), "file");
    checked(H5Pset_fapl_sec2(access), "file");
    return Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "file");
  }
  // Returns the library's own descriptor, valid as long as the file is open: opening the file again
  // would slow down merges of many small files.
  static int descriptor_of(hid_t file) {
    void* handle = nullptr;
    checked(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), "file");
    return *static_cast<const int*>(handle);
  }
  std::vector<std::byte> read_user_block() const {
    if (user_block_ > std::min(in_.size, kMostUserBlock))
      throw Failure(Code::kLimit,
                    "found a user block of " + std::to_string(user_block_) + " bytes");
    std::vector<std::byte> bytes(user_block_);
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n =
          pread(in_.descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw Failure(Code::kIo, std::string("reading: ") + std::strerror(errno));
      done += static_cast<std::size_t>(n);
    }
    return bytes;
  }
  // HDF5 before 1.10.9 and 1.12.2 reports the places of chunks without the user block.
  void find_chunk_base() {
    unsigned major = 0, minor = 0, release = 0;
    checked(H5get_libversion(&major, &minor, &release), "file");
    const bool without =
        major == 1 && (minor < 10 || (minor == 10 && release < 9) || (minor == 12 && release < 2));
    in_.chunk_base = without ? user_block_ : 0;
  }

  // Returns whether addresses and lengths have 8 bytes in the file.
  static bool has_usual_sizes(hid_t plist) {
    std::size_t address = 0, length = 0;
    checked(H5Pget_sizes(plist, &address, &length), "file");
    return address == 8 && length == 8;
  }

  Id file_;
  FileIn in_;
  std::optional<AlikeDataSets> alike_;
  Spool spool_;
  std::uint64_t user_block_ = 0;
  // The first link to each object to which links of the groups so far lead.
  std::unordered_map<haddr_t, std::string> first_paths_;
  std::unordered_map<haddr_t, std::string> paths_;  // the same for the whole file, computed on
                                                    // demand
  std::uint64_t unlinked_ = 0;                      // number of named datatypes without a link so
                                                    // far
};

}  // namespace

int import_file(const std::string& path, int spool, const std::string& place,
                OtherFiles other_files) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  try {
    // Not destroyed: the process ends soon, and closing HDF5's objects of a file takes a tenth of
    // the time of reading it.
    static Importer* importer;
    importer = new Importer(path, spool, place, other_files);
    importer->run();
    return 0;
  } catch (const Failure& failure) {
    return send_end(Status(failure.code(), failure.what()));
  } catch (const std::bad_alloc&) {
    return send_end(Status(Code::kLimit, "out of memory"));
  }
}

}  // namespace nmb::hdf5
