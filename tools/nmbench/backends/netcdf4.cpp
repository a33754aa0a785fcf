// netCDF-4 by netCDF-C, serial or parallel: one source, compiled with either library. A serial file
// is written by one process. Each sample is a group.
#include <netcdf.h>
#ifdef NMBENCH_PARALLEL_NETCDF
#include <netcdf_par.h>
#endif

#include <map>

#include "backend.h"

namespace nmb::bench {

namespace {

void check(int status) {
  if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
}

constexpr std::size_t kRecordsOfChunk = 64;  // of arrays that are empty when they are defined

nc_type type_of(Element element) {
  constexpr nc_type types[] = {NC_FLOAT, NC_INT, NC_INT64, NC_DOUBLE};
  return types[static_cast<std::size_t>(element)];
}

class NetCdf4 final : public Backend {
 public:
  NetCdf4() {
    const std::string version = nc_inq_libvers();
    traits_.library = "netCDF-C " + version.substr(0, version.find(' ')) + ", format netCDF-4";
#ifdef NMBENCH_PARALLEL_NETCDF
    traits_.library += ", parallel";
    traits_.collective_definitions = true;
#else
    traits_.shares_file = false;
#endif
  }
  const Traits& traits() const override { return traits_; }

  void create(const std::string& path, const FileOptions& options) override {
    start(options);
#ifdef NMBENCH_PARALLEL_NETCDF
    MPI_Info info = info_of(options);
    check(nc_create_par(path.c_str(), NC_NETCDF4 | NC_CLOBBER, communicator(), info, &file_));
    MPI_Info_free(&info);
#else
    check(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &file_));
#endif
    int old = 0;
    check(nc_set_fill(file_, NC_NOFILL, &old));
  }
  void open(const std::string& path, const FileOptions& options, bool writes) override {
    start(options);
    const int mode = writes ? NC_WRITE : NC_NOWRITE;
#ifdef NMBENCH_PARALLEL_NETCDF
    MPI_Info info = info_of(options);
    check(nc_open_par(path.c_str(), mode, communicator(), info, &file_));
    MPI_Info_free(&info);
#else
    check(nc_open(path.c_str(), mode, &file_));
#endif
  }
  void end_define() override { check(nc_enddef(file_)); }
  void commit() override { check(nc_sync(file_)); }
  void close() override { check(nc_close(file_)); }

  void define(const Description& objects) override {
    std::string name;
    std::size_t variable = 0, dimension = 0;
    std::vector<int> ids;
    for (const Description::Block& block : objects.blocks) {
      const int group = group_of(std::string(objects.text(block.name)));
      for (std::uint32_t i = 0; i < block.variables; ++i) {
        const Description::Variable& v = objects.variables[variable++];
        ids.clear();
        for (std::uint8_t axis = 0; axis < v.rank; ++axis) {
          const Description::Dimension& d = objects.dimensions[dimension++];
          name = objects.text(d.name);
          int id = 0;
          check(nc_def_dim(group, name.c_str(), d.length, &id));
          ids.push_back(id);
        }
        name = objects.text(v.name);
        int id = 0;
        check(
            nc_def_var(group, name.c_str(), static_cast<nc_type>(v.type), v.rank, ids.data(), &id));
        samples_.push_back({group, id});
      }
    }
  }
  void put_sample(const Description&, std::size_t, std::size_t variable,
                  const std::vector<std::byte>& values) override {
    check(nc_put_var(samples_[variable].group, samples_[variable].id, values.data()));
  }
  void list(const std::function<void(std::string_view)>& visit) override {
    char name[NC_MAX_NAME + 1];
    for (const int group : groups_in(file_)) {
      check(nc_inq_grpname(group, name));
      visit(name);
    }
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    char group_name[NC_MAX_NAME + 1], name[NC_MAX_NAME + 1];
    std::vector<std::uint64_t> lengths;
    for (const int group : groups_in(file_)) {
      check(nc_inq_grpname(group, group_name));
      int variables = 0;
      check(nc_inq_nvars(group, &variables));
      for (int v = 0; v < variables; ++v) {  // numbers of a group's variables count from 0
        nc_type type = NC_NAT;
        int rank = 0, dims[NC_MAX_VAR_DIMS];
        check(nc_inq_var(group, v, name, &type, &rank, dims, nullptr));
        lengths.clear();
        for (int i = 0; i < rank; ++i) {
          std::size_t length = 0;
          check(nc_inq_dimlen(group, dims[i], &length));
          lengths.push_back(length);
        }
        sum.add(group_name, name, static_cast<Type>(type), lengths);
      }
    }
    return sum;
  }
  std::size_t read_variable(const std::string& block, const std::string& variable,
                            std::vector<std::byte>* out) override {
    int group = 0;
    check(nc_inq_ncid(file_, block.c_str(), &group));
    read_from(group, variable, out);
    return out->size();
  }
  void read_sample(const std::string& block, const std::vector<std::string>& variables,
                   std::vector<std::vector<std::byte>>* out) override {
    int group = 0;
    check(nc_inq_ncid(file_, block.c_str(), &group));
    out->resize(variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v) read_from(group, variables[v], &(*out)[v]);
  }

  int define_array(const ArrayShape& shape) override {
    const int group = group_of(shape.group);
    std::vector<std::uint64_t> lengths = shape.lengths;
    if (shape.particles) lengths.push_back(kMembers);
    std::vector<int> dims;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const bool grows = shape.unlimited && i == 0;
      const std::size_t length = grows ? NC_UNLIMITED : lengths[i];
      auto found = dims_.find({group, length});
      if (found == dims_.end()) {
        const std::string name = grows ? "records" : "d" + std::to_string(length);
        int id = 0;
        check(nc_def_dim(group, name.c_str(), length, &id));
        found = dims_.emplace(std::make_pair(group, length), id).first;
      }
      dims.push_back(found->second);
    }
    int id = 0;
    check(nc_def_var(group, shape.name.c_str(), type_of(shape.element),
                     static_cast<int>(dims.size()), dims.data(), &id));
    if (!shape.chunk.empty() || shape.unlimited || shape.deflate > 0) {
      std::vector<std::size_t> chunk(shape.chunk.begin(), shape.chunk.end());
      const auto& whole = shape.part.empty() ? shape.lengths : shape.part;
      if (chunk.empty()) chunk.assign(whole.begin(), whole.end());
      if (chunk[0] == 0) chunk[0] = kRecordsOfChunk;
      if (shape.particles) chunk.push_back(kMembers);
      check(nc_def_var_chunking(group, id, NC_CHUNKED, chunk.data()));
    } else {
      check(nc_def_var_chunking(group, id, NC_CONTIGUOUS, nullptr));
    }
    if (shape.deflate > 0) check(nc_def_var_deflate(group, id, 0, 1, shape.deflate));
    add_array(shape, group, id);
    return static_cast<int>(arrays_.size()) - 1;
  }
  int find_array(const ArrayShape& shape) override {
    int group = 0, id = 0;
    check(nc_inq_grp_full_ncid(file_, ("/" + shape.group).c_str(), &group));
    check(nc_inq_varid(group, shape.name.c_str(), &id));
    add_array(shape, group, id);
    return static_cast<int>(arrays_.size()) - 1;
  }
  void extend(const std::vector<int>&, std::uint64_t) override {}  // as values are put
  void put(int number, const Slab& slab, const void* values) override {
    const Array& a = arrays_.at(static_cast<std::size_t>(number));
    const auto* bytes = static_cast<const std::byte*>(values);
    for_each_part(slab, a,
                  [&](const std::size_t* start, const std::size_t* count,
                      const std::ptrdiff_t* stride, std::size_t length) {
                    check(stride ? nc_put_vars(a.group, a.id, start, count, stride, bytes)
                                 : nc_put_vara(a.group, a.id, start, count, bytes));
                    bytes += length;
                  });
  }
  void get(int number, const Slab& slab, void* values) override {
    const Array& a = arrays_.at(static_cast<std::size_t>(number));
    auto* bytes = static_cast<std::byte*>(values);
    for_each_part(slab, a,
                  [&](const std::size_t* start, const std::size_t* count,
                      const std::ptrdiff_t* stride, std::size_t length) {
                    check(stride ? nc_get_vars(a.group, a.id, start, count, stride, bytes)
                                 : nc_get_vara(a.group, a.id, start, count, bytes));
                    bytes += length;
                  });
  }
#ifdef NMBENCH_PARALLEL_NETCDF
  void put_own(const std::vector<Put>& puts) override {
    refuse_own();
    Backend::put_own(puts);
  }
  void put_many(int array, const std::vector<Slab>& slabs, const std::byte* values,
                std::size_t size) override {
    refuse_own();
    Backend::put_many(array, slabs, values, size);
  }
  static void refuse_own() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1) throw Refused("arrays that grow are written by collective calls only");
  }
#endif
  std::string notes() const override {
    return std::string(traits_.shares_file ? "" : "no parallel I/O; ") +
           "an element of 8 members is one more dimension";
  }

 private:
  struct Array {
    int group, id;
  };
  void read_from(int group, const std::string& variable, std::vector<std::byte>* out) const {
    int id = 0, rank = 0, dims[NC_MAX_VAR_DIMS];
    nc_type type = NC_NAT;
    check(nc_inq_varid(group, variable.c_str(), &id));
    check(nc_inq_var(group, id, nullptr, &type, &rank, dims, nullptr));
    std::size_t count = 1, size = 0;
    for (int i = 0; i < rank; ++i) {
      std::size_t length = 0;
      check(nc_inq_dimlen(group, dims[i], &length));
      count *= length;
    }
    check(nc_inq_type(file_, type, nullptr, &size));
    out->resize(count * size);
    check(nc_get_var(group, id, out->data()));
  }
  // netCDF-C writes arrays that grow or are compressed by collective calls only.
  void add_array([[maybe_unused]] const ArrayShape& shape, int group, int id) {
    arrays_.push_back({group, id});
#ifdef NMBENCH_PARALLEL_NETCDF
    const bool all = options_.collective_data || shape.unlimited || shape.deflate > 0;
    check(nc_var_par_access(group, id, all ? NC_COLLECTIVE : NC_INDEPENDENT));
#endif
  }
  MPI_Comm communicator() const {
    return options_.file_per_process ? MPI_COMM_SELF : MPI_COMM_WORLD;
  }
  void start(const FileOptions& options) {
    options_ = options;
    groups_.clear();
    dims_.clear();
    arrays_.clear();
    samples_.clear();
  }
  // The group of this path, made if it is new.
  int group_of(const std::string& path) {
    const auto found = groups_.find(path);
    if (found != groups_.end()) return found->second;
    const std::size_t slash = path.rfind('/');
    const int parent = slash == std::string::npos ? file_ : group_of(path.substr(0, slash));
    int group = 0;
    check(nc_def_grp(parent, path.substr(slash + 1).c_str(), &group));  // npos + 1 is 0
    return groups_[path] = group;
  }
  static std::vector<int> groups_in(int file) {
    int count = 0;
    check(nc_inq_grps(file, &count, nullptr));
    std::vector<int> groups(static_cast<std::size_t>(count));
    check(nc_inq_grps(file, &count, groups.data()));
    return groups;
  }
  // A selection with blocks is a part for each block of the first dimension.
  template <class Visit>
  static void for_each_part(const Slab& slab, const Array& array, Visit visit) {
    nc_type type = NC_NAT;
    std::size_t size = 0;
    check(nc_inq_vartype(array.group, array.id, &type));
    check(nc_inq_type(array.group, type, nullptr, &size));
    std::vector<std::size_t> start(slab.start.begin(), slab.start.end());
    std::vector<std::size_t> count(slab.count.begin(), slab.count.end());
    if (slab.block.empty()) {
      const std::vector<std::ptrdiff_t> stride(slab.stride.begin(), slab.stride.end());
      return visit(start.data(), count.data(), stride.empty() ? nullptr : stride.data(),
                   slab.elements() * size);
    }
    count[0] = slab.block[0];
    std::size_t length = size;
    for (const std::size_t n : count) length *= n;
    for (std::uint64_t n = 0; n < slab.count[0]; ++n) {
      start[0] = slab.start[0] + n * slab.stride[0];
      visit(start.data(), count.data(), nullptr, length);
    }
  }

  Traits traits_;
  FileOptions options_;
  int file_ = -1;
  std::map<std::string, int> groups_;
  std::map<std::pair<int, std::size_t>, int> dims_;
  std::vector<Array> arrays_, samples_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty())
    throw std::runtime_error("netCDF-C is linked: no other library can be named");
  return std::make_unique<NetCdf4>();
}

}  // namespace nmb::bench
