// Reads an HDF5 file, group by group. Objects are visited in the order of links; all objects of a
// group are visited before the objects of its subgroups (spec/hdf5_section.md). The first link to
// an object gives the object's path, and later links to the object refer to this path.
#include "import/hdf5_import.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decoding/global_heap_in.h"
#include "hdf5_error.h"
#include "import/alike_data_sets.h"
#include "import/group_in.h"
#include "import/hdf5_visitor.h"
#include "import/space_in.h"
#include "resource_limits.h"
#include "send_message.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kMostDepth = 256;  // depth of nested groups
constexpr std::uint64_t kMostUserBlock = 64 << 20;
// Maximum size of the spool in bytes: kMostSpool, plus kMostSpoolFactor times the size of the file.
// The factor is large because few bytes can describe many missing chunks and many empty values.
constexpr std::uint64_t kMostSpool = 64 << 20, kMostSpoolFactor = 64;

struct FoundLink {
  std::string name;
  H5L_type_t type;
  CharacterSet character_set;
  haddr_t address;     // address of the object, for a hard link
  std::size_t length;  // length of the link's value, for other links
};

Result<std::vector<FoundLink>> links_of(hid_t group, const std::string& path) {
  NMB_ASSIGN(const Handle plist, read_handle(H5Gget_create_plist(group), path));
  unsigned order = 0;
  NMB_TRY(check_read(H5Pget_link_creation_order(plist.get(), &order), path));
  std::vector<FoundLink> links;
  Hdf5Visitor<hid_t, const char*, const H5L_info_t*> visitor(
      [&](hid_t, const char* name, const H5L_info_t* info) -> Status {
        FoundLink link{name, info->type, static_cast<CharacterSet>(info->cset), HADDR_UNDEF, 0};
        if (info->type == H5L_TYPE_HARD)
          link.address = info->u.address;
        else
          link.length = info->u.val_size;
        links.push_back(std::move(link));
        return {};
      });
  hsize_t at = 0;
  const bool tracked = (order & H5P_CRT_ORDER_TRACKED) != 0;
  const herr_t visited = H5Literate(group, tracked ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                                    H5_ITER_INC, &at, visitor.call, &visitor);
  NMB_TRY(visitor.status());
  NMB_TRY(check_read(visited, path));
  return links;
}

std::string join(const std::string& path, const std::string& name) {
  return path == "/" ? path + name : path + "/" + name;
}

Result<haddr_t> address_of(hid_t object, const std::string& path) {
  H5O_info_t info;
  NMB_TRY(check_read(H5Oget_info2(object, &info, H5O_INFO_BASIC), path));
  return info.addr;
}

class Importer {
 public:
  Importer(const std::string& path, const std::string& place, OtherFiles other_files) {
    in_.path = path;
    in_.place = place;
    in_.materialise = other_files == OtherFiles::kCopied;
  }

  // Sends the blocks.
  Status run(int spool) {
    NMB_TRY(spool_.open(spool));
    struct stat about {};
    if (stat(in_.path.c_str(), &about) != 0) return Status(Code::kIo, std::strerror(errno));
    NMB_ASSIGN(file_, open_file(in_.path));
    in_.file = file_.get();
    NMB_ASSIGN(descriptor_, descriptor_of(in_.file));
    if (fstat(descriptor_, &about) != 0) return Status(Code::kIo, std::strerror(errno));
    in_.size = static_cast<std::uint64_t>(about.st_size);
    // If values in other files are read, the size of this file is no limit for the spool.
    spool_.set_most(in_.materialise ? ~std::uint64_t{0} : kMostSpool + kMostSpoolFactor * in_.size);
    if (!in_.materialise) refuse_opening();
    in_.spool = &spool_;
    in_.lost = &lost_;
    in_.path_of = [this](hid_t object) { return path_of(object); };
    in_.target_of = [this](const void* reference) { return find_target(reference); };
    in_.references.object = [this](const void* reference) -> Result<std::string> {
      NMB_ASSIGN(const std::string path, object_path(reference));
      return in_.placed(path);
    };
    in_.references.region = [this](const void* reference) { return region(reference); };
    NMB_ASSIGN(const Handle plist, read_handle(H5Fget_create_plist(in_.file), "file"));
    NMB_TRY(check_read(H5Pget_userblock(plist.get(), &user_block_), "file"));
    NMB_TRY(find_chunk_base());
    NMB_ASSIGN(const Handle root, read_handle(H5Gopen2(in_.file, "/", H5P_DEFAULT), "/"));
    NMB_ASSIGN(const haddr_t address, address_of(root.get(), "/"));
    first_paths_.emplace(address, "/");
    NMB_ASSIGN(const bool readable, has_readable_metadata(plist.get()));
    if (readable) {
      in_.bytes.emplace(descriptor_, in_.size, user_block_);
      in_.alike = &alike_.emplace(in_, *in_.bytes);
    }
    return import_group(root.get(), "/", 0);
  }

 private:
  Status import_group(hid_t group, const std::string& path, std::size_t depth) {
    if (depth > kMostDepth)
      return failure(Code::kLimit, "found groups more than ", kMostDepth, " deep, at ", path);
    GroupIn block(in_, path.substr(1));
    if (alike_) alike_->begin_block();
    if (path == "/" && user_block_ > 0) {
      NMB_ASSIGN(std::vector<std::byte> user_block, read_user_block());
      block.add_user_block(std::move(user_block));
    }
    NMB_TRY(block.add_group(group));
    std::vector<std::string> groups;  // subgroups whose first link is in this group
    NMB_ASSIGN(std::vector<FoundLink> links, links_of(group, path));
    for (const FoundLink& found : links)
      if (found.type == H5L_TYPE_HARD)
        first_paths_.try_emplace(found.address, join(path, found.name));
    for (FoundLink& found : links) {
      Link link;
      link.name = std::move(found.name);
      link.character_set = found.character_set;
      NMB_TRY(
          found.type == H5L_TYPE_HARD
              ? import_object(group, found.address, join(path, link.name), &block, &groups, &link)
              : describe_link(group, found, path, &link));
      block.add_link(std::move(link));
    }
    NMB_ASSIGN(const GroupIn::Content content, block.finish());
    NMB_TRY(send_message(Message::kBlock, {bytes_of_fields(content.block), content.body}));
    for (const std::string& name : groups) {
      const std::string child = join(path, name);
      NMB_ASSIGN(const Handle next, read_handle(H5Gopen2(group, name.c_str(), H5P_DEFAULT), child));
      NMB_TRY(import_group(next.get(), child, depth + 1));
    }
    return {};
  }

  Status import_object(hid_t group, haddr_t address, const std::string& path, GroupIn* block,
                       std::vector<std::string>* groups, Link* link) {
    if (const std::string& first = first_paths_.at(address); first != path) {
      link->kind = LinkKind::kHard;
      link->content = in_.placed(first);
      return {};
    }
    const VarId number = block->next_variable();
    NMB_ASSIGN(const bool alike, block->add_alike(link->name, address));
    if (alike) {
      link->kind = LinkKind::kVariable;
      link->number = number;
      link->name.clear();
      return {};
    }
    // Open the object by the address in its link, because to open it by name, HDF5 would look up
    // the link again.
    NMB_ASSIGN(const Handle object, read_handle(H5Oopen_by_addr(group, address), path));
    switch (H5Iget_type(object.get())) {
      case H5I_GROUP:
        link->kind = LinkKind::kGroup;
        groups->push_back(link->name);
        return {};
      case H5I_DATASET:
        link->kind = LinkKind::kVariable;
        link->number = number;
        NMB_TRY(block->add_variable(link->name, object.get()));
        link->name.clear();
        return {};
      case H5I_DATATYPE: {
        link->kind = LinkKind::kType;
        NMB_ASSIGN(const Type type, block->add_named_type(object.get()));
        link->number = static_cast<std::uint32_t>(type);
        return {};
      }
      default:
        return hdf5_failure(path, Code::kDamaged);
    }
  }

  Status describe_link(hid_t group, const FoundLink& found, const std::string& path, Link* link) {
    const std::string object = join(path, link->name);
    std::string value(found.length, '\0');
    NMB_TRY(check_read(
        H5Lget_val(group, link->name.c_str(), value.data(), value.size(), H5P_DEFAULT), object));
    if (found.type == H5L_TYPE_SOFT) {
      link->kind = LinkKind::kSoft;
      link->content = value.c_str();  // without the NUL at the end
      // Change an absolute path, so that it leads to the same object below the block `place`.
      if (link->content.starts_with('/')) link->content = in_.placed(link->content);
    } else if (found.type == H5L_TYPE_EXTERNAL) {
      link->kind = LinkKind::kExternal;
      unsigned flags = 0;
      const char *file = nullptr, *target = nullptr;
      NMB_TRY(check_read(H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &target),
                         object));
      link->number = flags;
      link->content = joined_text(file, '\0', target);
    } else {
      link->kind = LinkKind::kUserDefined;
      link->number = static_cast<std::uint32_t>(found.type);
      link->content = std::move(value);
    }
    return {};
  }

  // --- targets of references ---

  // Returns the path of an object. If no link leads to the object, the path is "//" and a number.
  // The number counts the objects to which no link leads, from 0.
  Result<std::string> path_of(hid_t object) {
    NMB_ASSIGN(const haddr_t address, address_of(object, "object"));
    NMB_ASSIGN(std::string path, path_at(address));
    if (path.empty()) {
      path = joined_text("//", unlinked_++);
      paths_.emplace(address, path);
    }
    return path;
  }
  Result<std::string> path_at(haddr_t address) {
    if (const auto found = first_paths_.find(address); found != first_paths_.end())
      return found->second;
    if (paths_.empty()) {
      NMB_ASSIGN(const Handle root, read_handle(H5Gopen2(in_.file, "/", H5P_DEFAULT), "/"));
      NMB_ASSIGN(const haddr_t root_address, address_of(root.get(), "/"));
      paths_.emplace(root_address, "/");
      NMB_TRY(find_paths(root.get(), "/", 0));
    }
    const auto found = paths_.find(address);
    return found == paths_.end() ? std::string() : found->second;
  }
  Status find_paths(hid_t group, const std::string& path, std::size_t depth) {
    if (depth > kMostDepth)
      return Status(Code::kLimit, "found groups that are nested too deep, at " + path);
    std::vector<std::string> groups;
    NMB_ASSIGN(const std::vector<FoundLink> links, links_of(group, path));
    for (const FoundLink& link : links) {
      if (link.type != H5L_TYPE_HARD || paths_.contains(link.address)) continue;
      const std::string target = join(path, link.name);
      H5O_info_t info;
      NMB_TRY(check_read(
          H5Oget_info_by_name2(group, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT),
          target));
      paths_.emplace(link.address, target);
      if (info.type == H5O_TYPE_GROUP) groups.push_back(link.name);
    }
    for (const std::string& name : groups) {
      const std::string child = join(path, name);
      NMB_ASSIGN(const Handle next, read_handle(H5Gopen2(group, name.c_str(), H5P_DEFAULT), child));
      NMB_TRY(find_paths(next.get(), child, depth + 1));
    }
    return {};
  }
  static haddr_t address_in(const void* reference) {
    hobj_ref_t address;
    std::memcpy(&address, reference, sizeof address);
    return address == 0 ? HADDR_UNDEF : address;
  }
  Result<std::optional<std::string>> find_target(const void* reference) {
    const haddr_t address = address_in(reference);
    if (address == HADDR_UNDEF) return std::optional(std::string());
    if (address >= in_.size) return std::optional<std::string>();
    NMB_ASSIGN(std::string path, path_at(address));
    return path.empty() ? std::nullopt : std::optional(std::move(path));
  }
  Result<std::string> object_path(const void* reference) {
    NMB_ASSIGN(std::optional<std::string> path, find_target(reference));
    if (path) return *std::move(path);
    const haddr_t address = address_in(reference);
    if (address >= in_.size)
      return damaged("a reference to an object at ", address,
                     ", which exceeds the file's length of ", in_.size);
    ++lost_.count;
    return std::string();
  }
  // Returns whether a reference to a region leads to an address at which no object is linked. The
  // reference has the address of a collection of the global heap, and the number of an object in
  // it. This object begins with the address.
  Result<bool> leads_to_deleted(const void* reference) {
    if (!in_.bytes) return false;
    const std::span bytes(static_cast<const std::byte*>(reference), sizeof(hdset_reg_ref_t));
    if (!heap_) heap_.emplace(*in_.bytes);
    const auto object =
        heap_->object(load_le_bytes(bytes.first(8)),
                      static_cast<std::uint32_t>(load_le_bytes(bytes.subspan(8, 4))));
    if (!object || object->size() < 8) return false;
    const std::uint64_t address = load_le_bytes(object->first(8));
    if (address >= in_.size) return false;
    NMB_ASSIGN(const std::string path, path_at(address));
    return path.empty();
  }
  Result<std::vector<std::byte>> region(const void* reference) {
    const std::string what = "a reference to a region";
    std::vector<std::byte> out;
    const auto* bytes = static_cast<const unsigned char*>(reference);
    if (std::all_of(bytes, bytes + sizeof(hdset_reg_ref_t), [](unsigned char b) { return b == 0; }))
      return out;
    const Result<Handle> object =
        read_handle(H5Rdereference2(in_.file, H5P_DEFAULT, H5R_DATASET_REGION, reference), what);
    if (!object.ok()) {
      NMB_ASSIGN(const bool is_deleted, leads_to_deleted(reference));
      if (!is_deleted) return object.status();
      ++lost_.count;
      return out;
    }
    NMB_ASSIGN(const Handle space,
               read_handle(H5Rget_region(in_.file, H5R_DATASET_REGION, reference), what));
    NMB_ASSIGN(const std::vector<std::byte> selection, encoded_selection(space.get(), what));
    NMB_ASSIGN(const haddr_t address, address_of(object->get(), what));
    NMB_ASSIGN(const std::string path, path_at(address));
    if (path.empty()) {
      ++lost_.count;
      return out;
    }
    ItemsOut items(&out);
    items.put_text(in_.placed(path));
    items.put(std::span<const std::byte>(selection));
    return out;
  }

  // --- the file's bytes ---
  static Result<Handle> open_file(const std::string& path) {
    // A slab of values may be smaller than a chunk. A chunk that fits in the cache is decompressed
    // only once.
    constexpr std::size_t kSlots = 521, kCache = 64 << 20;
    constexpr double kPreemption = 0.75;
    NMB_ASSIGN(const Handle access, read_handle(file_access(), "file"));
    NMB_TRY(check_read(H5Pset_cache(access.get(), 0, kSlots, kCache, kPreemption), "file"));
    // The cache of object headers is small, because each header is read once. HDF5 limits the cache
    // by the sizes that the headers have in the file. In memory, a header is many times larger.
    constexpr std::size_t kMetadataCache = 1 << 20;
    H5AC_cache_config_t config;
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    NMB_TRY(check_read(H5Pget_mdc_config(access.get(), &config), "file"));
    config.set_initial_size = true;
    config.initial_size = config.max_size = kMetadataCache;
    config.min_size = std::min(config.min_size, kMetadataCache);
    NMB_TRY(check_read(H5Pset_mdc_config(access.get(), &config), "file"));
    NMB_TRY(check_read(H5Pset_fapl_sec2(access.get()), "file"));
    Result<Handle> file = read_handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "file");
    if (!file.ok() && is_one_of_several(path))
      return unsupported(
          "this is one of several files into which HDF5 divided one (driver family, split or "
          "multi); h5repack writes them as one file");
    return file;
  }
  // Returns whether a superblock of version 0 names a driver that divides a file into several
  // files. The names of these drivers begin with NCSAfami and NCSAmult.
  static bool is_one_of_several(const std::string& path) {
    constexpr std::size_t kDriverAddress = 48, kDriverName = 8;
    std::array<char, 4096> bytes{};
    std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
    std::uint64_t driver = 0;
    std::memcpy(&driver, &bytes[kDriverAddress], sizeof driver);
    if (driver > bytes.size() - 2 * kDriverName) return false;
    const std::string_view name(&bytes[driver + kDriverName], kDriverName);
    return name == "NCSAfami" || name == "NCSAmult";
  }
  // Returns HDF5's own file descriptor, which is valid as long as the file is open. Opening the
  // file a second time would make merges of many small files slower.
  static Result<int> descriptor_of(hid_t file) {
    void* handle = nullptr;
    NMB_TRY(check_read(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), "file"));
    return *static_cast<const int*>(handle);
  }
  Result<std::vector<std::byte>> read_user_block() const {
    if (user_block_ > std::min(in_.size, kMostUserBlock))
      return failure(Code::kLimit, "found a user block of ", user_block_, " bytes");
    std::vector<std::byte> bytes(user_block_);
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n =
          pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failure(Code::kIo, "reading: ", std::strerror(errno));
      done += static_cast<std::size_t>(n);
    }
    return bytes;
  }
  // HDF5 before 1.10.9, and HDF5 1.12 before 1.12.2, returns chunk positions that do not include
  // the length of the user block.
  Status find_chunk_base() {
    unsigned major = 0, minor = 0, release = 0;
    NMB_TRY(check_read(H5get_libversion(&major, &minor, &release), "file"));
    const bool without =
        major == 1 && (minor < 10 || (minor == 10 && release < 9) || (minor == 12 && release < 2));
    in_.chunk_base = without ? user_block_ : 0;
    return {};
  }

  // Returns whether metadata can be read without the HDF5 library. The file must store each address
  // and each length in 8 bytes. It must have no image of HDF5's cache, which may have newer
  // metadata than the rest of the file.
  Result<bool> has_readable_metadata(hid_t plist) const {
    std::size_t address = 0, length = 0;
    NMB_TRY(check_read(H5Pget_sizes(plist, &address, &length), "file"));
    haddr_t image = HADDR_UNDEF;
    hsize_t image_length = 0;
    NMB_TRY(check_read(H5Fget_mdc_image_info(in_.file, &image, &image_length), "file"));
    return address == 8 && length == 8 && image == HADDR_UNDEF;
  }

  Handle file_;
  int descriptor_ = -1;  // the same file, for direct reads
  FileIn in_;
  std::optional<AlikeDataSets> alike_;
  Spool spool_;
  LostReferences lost_;
  std::optional<GlobalHeapIn> heap_;  // for leads_to_deleted()
  hsize_t user_block_ = 0;
  // For each object, the path of the first link to it among the links that were found so far.
  std::unordered_map<haddr_t, std::string> first_paths_;
  // Paths of objects in the whole file, computed on demand.
  std::unordered_map<haddr_t, std::string> paths_;
  std::uint64_t unlinked_ = 0;  // number of named datatypes without a link so far
};

}  // namespace

int import_file(const std::string& path, int spool, const std::string& place,
                OtherFiles other_files) {
  silence_hdf5();
  try {
    // The importer is not destroyed, because the process ends soon. Closing HDF5's objects would
    // take a tenth of the time that reading the file takes.
    static Importer* importer;
    importer = new Importer(path, place, other_files);
    return send_end(importer->run(spool));
  } catch (const std::bad_alloc&) {
    return send_end(Status(Code::kLimit, "out of memory"));
  }
}

}  // namespace nmb::hdf5
