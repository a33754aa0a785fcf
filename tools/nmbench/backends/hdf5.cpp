// HDF5, serial or parallel: one source, compiled with either library. A serial file is written by
// one process. Each sample is a group; particles that are stored together are a compound type, as
// in h5bench.
#include <hdf5.h>

#include <algorithm>
#include <map>

#include "backend.h"

namespace nmb::bench {

namespace {

std::string problem() {
  std::string text = "HDF5 failed";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        if (error->desc) *static_cast<std::string*>(out) += std::string(": ") + error->desc;
        return -1;  // the innermost is enough
      },
      &text);
  return text;
}
template <class T>
T check(T result) {
  if (result < 0) throw std::runtime_error(problem());
  return result;
}

constexpr std::size_t kMetadataCache = 16 << 20;
constexpr hsize_t kRecordsOfChunk = 64;
constexpr std::size_t kBytesOfChunk = 1 << 20;

// Closes an id when it goes.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(check(id)), close_(close) {}
  ~Id() { close_(id_); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

hid_t type_of(Element element) {
  switch (element) {
    case Element::kFloat:
      return H5T_NATIVE_FLOAT;
    case Element::kInt:
      return H5T_NATIVE_INT;
    case Element::kInt64:
      return H5T_NATIVE_INT64;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}
hid_t type_of(Type type) {
  switch (type) {
    case Type::kFloat:
      return H5T_NATIVE_FLOAT;
    case Type::kInt:
      return H5T_NATIVE_INT32;
    case Type::kInt64:
      return H5T_NATIVE_INT64;
    case Type::kDouble:
      return H5T_NATIVE_DOUBLE;
    default:
      throw std::runtime_error("found a type that no kernel writes");
  }
}
Type type_in_file(hid_t type) {
  const bool is_float = H5Tget_class(type) == H5T_FLOAT;
  return H5Tget_size(type) == 4 ? (is_float ? Type::kFloat : Type::kInt)
                                : (is_float ? Type::kDouble : Type::kInt64);
}
hid_t member_type(std::size_t member) {
  return member == kIntegerMember ? H5T_NATIVE_INT : H5T_NATIVE_FLOAT;
}

std::vector<hsize_t> sizes(const std::vector<std::uint64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

class Hdf5 final : public Backend {
 public:
  Hdf5() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    traits_.library = "HDF5 " + std::to_string(major) + "." + std::to_string(minor) + "." +
                      std::to_string(release);
    traits_.particles = traits_.grows_by_call = true;
#ifdef NMBENCH_PARALLEL_HDF5
    traits_.library += ", parallel";
    traits_.collective_definitions = true;
#else
    traits_.library += ", serial";
    traits_.shares_file = false;
#endif
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    together_ = check(H5Tcreate(H5T_COMPOUND, kMembers * 4));
    for (std::size_t m = 0; m < kMembers; ++m) {
      check(H5Tinsert(together_, kMemberNames[m], m * 4, member_type(m)));
      alone_[m] = check(H5Tcreate(H5T_COMPOUND, 4));
      check(H5Tinsert(alone_[m], kMemberNames[m], 0, member_type(m)));
    }
  }
  ~Hdf5() override {
    if (transfer_ >= 0) H5Pclose(transfer_);
    for (const hid_t type : alone_) H5Tclose(type);
    H5Tclose(together_);
  }
  const Traits& traits() const override { return traits_; }

  void create(const std::string& path, const FileOptions& options) override {
    const Id access(start(options), H5Pclose);
    file_ = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  }
  void open(const std::string& path, const FileOptions& options, bool writes) override {
    const Id access(start(options), H5Pclose);
    file_ = check(H5Fopen(path.c_str(), writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access));
  }
  void commit() override { check(H5Fflush(file_, H5F_SCOPE_GLOBAL)); }
  void close() override {
    for (Array& array : arrays_)
      if (array.id >= 0) check(H5Dclose(std::exchange(array.id, -1)));
    for (auto& [name, group] : groups_) check(H5Gclose(group));
    groups_.clear();
    check(H5Fclose(file_));
    arrays_.clear();
  }

  void define(const Description& objects) override {
    std::string name;
    std::size_t variable = 0, dimension = 0;
    const Id properties(set_properties(), H5Pclose);
    for (const Description::Block& block : objects.blocks) {
      name = objects.text(block.name);
      const Id group(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose);
      for (std::uint32_t i = 0; i < block.variables; ++i) {
        const Description::Variable& v = objects.variables[variable++];
        std::vector<hsize_t> lengths;
        for (std::uint8_t axis = 0; axis < v.rank; ++axis)
          lengths.push_back(objects.dimensions[dimension++].length);
        const Id space(lengths.empty() ? H5Screate(H5S_SCALAR)
                                       : H5Screate_simple(v.rank, lengths.data(), nullptr),
                       H5Sclose);
        name = objects.text(v.name);
        check(H5Dclose(check(H5Dcreate2(group, name.c_str(), type_of(v.type), space, H5P_DEFAULT,
                                        properties, H5P_DEFAULT))));
      }
    }
  }
  void put_sample(const Description& objects, std::size_t block, std::size_t variable,
                  const std::vector<std::byte>& values) override {
    const Description::Variable& v = objects.variables[variable];
    const std::string name = std::string(objects.text(objects.blocks[block].name)) + "/" +
                             std::string(objects.text(v.name));
    const Id set(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
    check(H5Dwrite(set, type_of(v.type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  }
  void list(const std::function<void(std::string_view)>& visit) override {
    for_each_link(file_, visit);
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    for_each_link(file_, [&](const char* block) {
      const Id group(H5Gopen2(file_, block, H5P_DEFAULT), H5Gclose);
      for_each_link(group, [&](const char* name) {
        const Id set(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
        const Id type(H5Dget_type(set), H5Tclose);
        const std::vector<hsize_t> lengths = lengths_of(set);
        sum.add(block, name, type_in_file(type), {lengths.begin(), lengths.end()});
      });
    });
    return sum;
  }
  std::size_t read_variable(const std::string& block, const std::string& variable,
                            std::vector<std::byte>* out) override {
    read_set(file_, block + "/" + variable, out);
    return out->size();
  }
  void read_sample(const std::string& block, const std::vector<std::string>& variables,
                   std::vector<std::vector<std::byte>>* out) override {
    const Id group(H5Gopen2(file_, block.c_str(), H5P_DEFAULT), H5Gclose);
    out->resize(variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v) read_set(group, variables[v], &(*out)[v]);
  }

  int define_array(const ArrayShape& shape) override {
    const hid_t group = group_of(shape.group);
    const std::vector<hsize_t> lengths = sizes(shape.lengths);
    std::vector<hsize_t> most = lengths;
    if (shape.unlimited) most[0] = H5S_UNLIMITED;
    const Id space(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), most.data()),
                   H5Sclose);
    const Id properties(set_properties(), H5Pclose);
    std::vector<hsize_t> chunk = sizes(shape.chunk);
    if (chunk.empty() && (shape.unlimited || shape.deflate > 0)) {
      chunk = shape.part.empty() ? lengths : sizes(shape.part);
      if (chunk[0] == 0) chunk[0] = records_of_chunk(shape);
    }
    if (!chunk.empty())
      check(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()));
    if (shape.deflate > 0) check(H5Pset_deflate(properties, static_cast<unsigned>(shape.deflate)));
    if (options_.compact && chunk.empty()) check(H5Pset_layout(properties, H5D_COMPACT));
    const hid_t type = shape.particles ? together_ : type_of(shape.element);
    const hid_t set = check(
        H5Dcreate2(group, shape.name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    arrays_.push_back({set, shape.particles ? together_ : type_of(shape.element)});
    return static_cast<int>(arrays_.size()) - 1;
  }
  int find_array(const ArrayShape& shape) override {
    const std::string name = shape.group + "/" + shape.name;
    arrays_.push_back({check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT)),
                       shape.particles ? together_ : type_of(shape.element)});
    return static_cast<int>(arrays_.size()) - 1;
  }
  void release(int array) override {
    hid_t& id = arrays_.at(static_cast<std::size_t>(array)).id;
    if (id >= 0) check(H5Dclose(std::exchange(id, -1)));
  }
  void extend(const std::vector<int>& arrays, std::uint64_t length) override {
    for (const int array : arrays) {
      const hid_t set = arrays_.at(static_cast<std::size_t>(array)).id;
      std::vector<hsize_t> lengths = lengths_of(set);
      lengths[0] = length;
      check(H5Dset_extent(set, lengths.data()));
    }
  }
  void put(int array, const Slab& slab, const void* values) override {
    write(array, slab, arrays_.at(static_cast<std::size_t>(array)).memory, values, 1);
  }
  void put_own(const std::vector<Put>& puts) override {
    for (const Put& one : puts)
      write(one.array, one.slab, arrays_.at(static_cast<std::size_t>(one.array)).memory, one.values,
            1, H5P_DEFAULT);
  }
  // The elements as points: a union of very many hyperslabs takes HDF5 much longer.
  void put_many(int array, const std::vector<Slab>& slabs, const std::byte* values,
                std::size_t) override {
    const Array& a = arrays_.at(static_cast<std::size_t>(array));
    std::vector<hsize_t> points;
    for (const Slab& slab : slabs)
      for (std::uint64_t i = 0; i < slab.count.back(); ++i) {
        points.insert(points.end(), slab.start.begin(), slab.start.end());
        points.back() += i;
      }
    const Id file(check(H5Dget_space(a.id)), H5Sclose);
    const hsize_t count = slabs.empty() ? 0 : points.size() / slabs[0].start.size();
    const Id memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
    check(count > 0 ? H5Sselect_elements(file, H5S_SELECT_SET, count, points.data())
                    : H5Sselect_none(file));
    check(H5Dwrite(a.id, a.memory, memory, file, transfer_, values));
  }
  void put_member(int array, const Slab& slab, std::size_t member, const void* values) override {
    write(array, slab, alone_[member], values, 1);
  }
  void put_particles(int array, const Slab& slab, const std::uint32_t* particles) override {
    write(array, slab, together_, particles, 1);
  }
  // Every kMembers-th value of memory: a selection, not a copy.
  void put_from_particles(int array, const Slab& slab, std::size_t member,
                          const std::uint32_t* particles) override {
    write(array, slab, arrays_.at(static_cast<std::size_t>(array)).memory, particles + member,
          kMembers);
  }
  void get(int array, const Slab& slab, void* values) override {
    read(array, slab, arrays_.at(static_cast<std::size_t>(array)).memory, values);
  }
  // A collective read of a whole data set: one process reads, and sends.
  void get_same(int array, const Slab&, void* values) override {
    const Array& a = arrays_.at(static_cast<std::size_t>(array));
    check(H5Dread(a.id, a.memory, H5S_ALL, H5S_ALL, transfer_, values));
  }
  void get_particles(int array, const Slab& slab, std::uint32_t* particles) override {
    read(array, slab, together_, particles);
  }
  // One read of the union of all selections would give the values in the order of the file; the
  // selections keep their order if they are read one by one.
  std::string notes() const override {
    return traits_.shares_file ? "metadata operations are collective" : "no parallel I/O";
  }

 private:
  struct Array {
    hid_t id;
    hid_t memory;  // type of a value; a predefined one or together_
  };

  // Values are written by the program: none are filled in before.
  static hid_t set_properties() {
    const hid_t properties = check(H5Pcreate(H5P_DATASET_CREATE));
    check(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER));
    return properties;
  }
  static void read_set(hid_t place, const std::string& name, std::vector<std::byte>* out) {
    const Id set(H5Dopen2(place, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Id type(H5Dget_type(set), H5Tclose);
    std::size_t count = H5Tget_size(type);
    for (const hsize_t length : lengths_of(set)) count *= length;
    out->resize(count);
    check(H5Dread(set, type_of(type_in_file(type)), H5S_ALL, H5S_ALL, H5P_DEFAULT, out->data()));
  }

  hid_t start(const FileOptions& options) {
    options_ = options;
    arrays_.clear();
    groups_.clear();
    if (transfer_ >= 0) H5Pclose(transfer_);
    transfer_ = check(H5Pcreate(H5P_DATASET_XFER));
    const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS));
    if (options.latest) check(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    if (options.alignment > 0)
      check(H5Pset_alignment(access, options.alignment_threshold, options.alignment));
#ifdef NMBENCH_PARALLEL_HDF5
    MPI_Info info = info_of(options);
    check(
        H5Pset_fapl_mpio(access, options.file_per_process ? MPI_COMM_SELF : MPI_COMM_WORLD, info));
    MPI_Info_free(&info);
    if (!options.file_per_process) {
      check(H5Pset_dxpl_mpio(
          transfer_, options.collective_data ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
      if (options.collective_metadata) {
        check(H5Pset_all_coll_metadata_ops(access, true));
        check(H5Pset_coll_metadata_write(access, true));
      }
      keep_metadata(access);
    }
#endif
    return access;
  }
  // Chooses a chunk of at most 1 MiB for an array that is empty when it is defined.
  static hsize_t records_of_chunk(const ArrayShape& shape) {
    std::size_t record = element_size(shape.element);
    for (std::size_t i = 1; i < shape.lengths.size(); ++i) record *= shape.lengths[i];
    return std::clamp<hsize_t>(kBytesOfChunk / std::max<std::size_t>(record, 1), 1,
                               kRecordsOfChunk);
  }
  // Changed metadata stays in memory until the file is flushed or closed.
  static void keep_metadata(hid_t access) {
    H5AC_cache_config_t cache;
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    check(H5Pget_mdc_config(access, &cache));
    cache.set_initial_size = true;
    cache.initial_size = kMetadataCache;
    cache.evictions_enabled = false;
    cache.incr_mode = H5C_incr__off;
    cache.flash_incr_mode = H5C_flash_incr__off;
    cache.decr_mode = H5C_decr__off;
    check(H5Pset_mdc_config(access, &cache));
  }
  hid_t group_of(const std::string& path) {
    const auto found = groups_.find(path);
    if (found != groups_.end()) return found->second;
    const std::size_t slash = path.rfind('/');
    const hid_t parent = slash == std::string::npos ? file_ : group_of(path.substr(0, slash));
    return groups_[path] = check(H5Gcreate2(parent, path.substr(slash + 1).c_str(), H5P_DEFAULT,
                                            H5P_DEFAULT, H5P_DEFAULT));  // npos + 1 is 0
  }
  static std::vector<hsize_t> lengths_of(hid_t set) {
    const Id space(H5Dget_space(set), H5Sclose);
    std::vector<hsize_t> lengths(
        static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space))));
    check(H5Sget_simple_extent_dims(space, lengths.data(), nullptr));
    return lengths;
  }
  template <class Visit>
  static void for_each_link(hid_t group, const Visit& visit) {
    hsize_t from = 0;
    check(H5Literate(
        group, H5_INDEX_NAME, H5_ITER_NATIVE, &from,
        [](hid_t, const char* name, const H5L_info_t*, void* context) -> herr_t {
          (*static_cast<const Visit*>(context))(name);
          return 0;
        },
        const_cast<Visit*>(&visit)));
  }
  static hid_t selection_in_file(hid_t set, const Slab& slab) {
    const hid_t space = check(H5Dget_space(set));
    const std::vector<hsize_t> begin = sizes(slab.start), count = sizes(slab.count),
                               stride = sizes(slab.stride), block = sizes(slab.block);
    if (slab.elements() == 0) {
      check(H5Sselect_none(space));
    } else if (slab.stride.empty() && slab.block.empty()) {
      // One block in each dimension, as h5bench selects.
      const std::vector<hsize_t> one(count.size(), 1);
      check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, one.data(),
                                count.data()));
    } else {
      check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(),
                                stride.empty() ? nullptr : stride.data(), count.data(),
                                block.empty() ? nullptr : block.data()));
    }
    return space;
  }
  // Memory of the elements of a selection; `apart`: one of so many values is an element.
  static hid_t selection_in_memory(const Slab& slab, std::uint64_t apart) {
    if (apart > 1) {
      const hsize_t all = slab.elements() * apart, begin = 0, stride = apart,
                    count = slab.elements();
      const hid_t space = check(H5Screate_simple(1, &all, nullptr));
      check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, &stride, &count, nullptr));
      return space;
    }
    std::vector<hsize_t> lengths = sizes(slab.count);
    for (std::size_t i = 0; i < slab.block.size(); ++i) lengths[i] *= slab.block[i];
    return check(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr));
  }
  void write(int array, const Slab& slab, hid_t type, const void* values, std::uint64_t apart) {
    write(array, slab, type, values, apart, transfer_);
  }
  void write(int array, const Slab& slab, hid_t type, const void* values, std::uint64_t apart,
             hid_t transfer) {
    const hid_t set = arrays_.at(static_cast<std::size_t>(array)).id;
    const Id file(selection_in_file(set, slab), H5Sclose);
    const Id memory(selection_in_memory(slab, apart), H5Sclose);
    check(H5Dwrite(set, type, memory, file, transfer, values));
  }
  void read(int array, const Slab& slab, hid_t type, void* values) {
    const hid_t set = arrays_.at(static_cast<std::size_t>(array)).id;
    const Id file(selection_in_file(set, slab), H5Sclose);
    const Id memory(selection_in_memory(slab, 1), H5Sclose);
    check(H5Dread(set, type, memory, file, transfer_, values));
  }

  Traits traits_;
  FileOptions options_;
  hid_t file_ = -1, transfer_ = -1, together_ = -1, alone_[kMembers] = {};
  std::map<std::string, hid_t> groups_;
  std::vector<Array> arrays_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty()) throw std::runtime_error("HDF5 is linked: no other library can be named");
  return std::make_unique<Hdf5>();
}

}  // namespace nmb::bench
