// CDF-5 by PnetCDF. The library is loaded when the program runs, so that any build of it can be
// measured: the functions here have the same signatures in all releases since 1.5. Definitions are
// collective, and a file has neither blocks nor groups: names of objects begin with their sample's.
#include <dlfcn.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include "backend.h"

namespace nmb::bench {

namespace {

// The functions of a library, by name.
class Library {
 public:
  explicit Library(const std::string& path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error(std::string("cannot load PnetCDF: ") + dlerror());
#if defined(OPEN_MPI)
    constexpr const char* kOther = "libmpich.so.12";
#else
    constexpr const char* kOther = "libmpi.so.40";
#endif
    if (dlopen(kOther, RTLD_NOW | RTLD_NOLOAD))
      throw std::runtime_error(path + ": was built with another MPI library than this program");
  }
  template <class F>
  void find(const char* name, F** function) const {
    *function = reinterpret_cast<F*>(dlsym(handle_, name));
    if (!*function) throw std::runtime_error(std::string("this PnetCDF has no function ") + name);
  }

 private:
  void* handle_;  // stays until the process ends
};

// clang-format off
#define NMBENCH_FUNCTIONS(X) \
  X(inq_libvers) X(strerror) X(create) X(open) X(enddef) X(close) X(sync) X(sync_numrecs) \
  X(def_dim) X(def_var) X(inq) X(inq_varname) X(inq_var) X(inq_dimlen) X(inq_varid) \
  X(begin_indep_data) X(end_indep_data) X(put_vara) X(put_vara_all) X(put_vars) \
  X(put_vars_all) X(put_varn) X(put_varn_all) X(get_vara) X(get_vara_all) X(get_vars) \
  X(get_vars_all) X(get_varn) X(get_varn_all) X(iput_vara) X(iput_varn) X(iget_vara) X(wait_all) X(set_fill)
// clang-format on

struct Functions {
#define NMBENCH_MEMBER(name) decltype(&ncmpi_##name) name = nullptr;
  NMBENCH_FUNCTIONS(NMBENCH_MEMBER)
#undef NMBENCH_MEMBER
  explicit Functions(const Library& library) {
#define NMBENCH_FIND(name) library.find("ncmpi_" #name, &name);
    NMBENCH_FUNCTIONS(NMBENCH_FIND)
#undef NMBENCH_FIND
  }
};

MPI_Datatype memory_of(Element element) {
  switch (element) {
    case Element::kFloat:
      return MPI_FLOAT;
    case Element::kInt:
      return MPI_INT;
    case Element::kInt64:
      return MPI_LONG_LONG;
    default:
      return MPI_DOUBLE;
  }
}
nc_type type_of(Element element) {
  constexpr nc_type types[] = {NC_FLOAT, NC_INT, NC_INT64, NC_DOUBLE};
  return types[static_cast<std::size_t>(element)];
}
MPI_Datatype memory_of(nc_type type) {
  switch (type) {
    case NC_FLOAT:
      return MPI_FLOAT;
    case NC_INT:
      return MPI_INT;
    case NC_INT64:
      return MPI_LONG_LONG;
    case NC_DOUBLE:
      return MPI_DOUBLE;
    default:
      throw std::runtime_error("found a type that no kernel writes");
  }
}

class PnetCdf final : public Backend {
 public:
  explicit PnetCdf(const std::string& path) : library_(path), f_(library_) {
    const std::string version = f_.inq_libvers();
    traits_.library = "PnetCDF " + version.substr(0, version.find(' '));
    traits_.collective_definitions = traits_.flat = traits_.defines_first = true;
    traits_.compresses = false;
  }
  const Traits& traits() const override { return traits_; }

  void create(const std::string& path, const FileOptions& options) override {
    start(path, options);
    MPI_Info info = hints();
    check(f_.create(comm(), path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file_));
    MPI_Info_free(&info);
    int old = 0;
    check(f_.set_fill(file_, NC_NOFILL, &old));
  }
  void open(const std::string& path, const FileOptions& options, bool writes) override {
    start(path, options);
    MPI_Info info = hints();
    check(f_.open(comm(), path.c_str(), writes ? NC_WRITE : NC_NOWRITE, info, &file_));
    MPI_Info_free(&info);
    begin_values();
  }
  void end_define() override {
    check(f_.enddef(file_));
    begin_values();
  }
  // Without waiting for the device: the number of records, so that readers see them.
  void commit() override {
    leave_independent();
    check(options_.sync ? f_.sync(file_) : f_.sync_numrecs(file_));
    begin_values();
  }
  void close() override {
    leave_independent();
    check(f_.close(file_));
  }

  void define(const Description& objects) override {
    variables_.clear();
    define_flat(
        objects,
        [&](const char* name, std::uint64_t length) {
          int id = 0;
          check(f_.def_dim(file_, name, static_cast<MPI_Offset>(length), &id));
          return id;
        },
        [&](const Description::Variable& v, const char* name, const std::vector<int>& dims) {
          int id = 0;
          check(f_.def_var(file_, name, static_cast<nc_type>(v.type), v.rank, dims.data(), &id));
          variables_.push_back(id);
        });
  }
  // A request, as in put_own(): its values stay until complete().
  void put_sample(const Description&, std::size_t, std::size_t variable,
                  const std::vector<std::byte>& values) override {
    const Whole whole = whole_of(variables_[variable]);
    kept_.push_back(values);
    check(f_.iput_vara(file_, variables_[variable], whole.start.data(), whole.count.data(),
                       kept_.back().data(), whole.elements, whole.memory, nullptr));
  }
  void get_same(int number, const Slab& slab, void* values) override {
    const Array& array = arrays_.at(static_cast<std::size_t>(number));
    check(f_.iget_vara(file_, array.id, offsets(slab.start).data(), offsets(slab.count).data(),
                       values, static_cast<MPI_Offset>(slab.elements()), memory_of(array.element),
                       nullptr));
  }
  void complete() override {
    leave_independent();
    check(f_.wait_all(file_, NC_REQ_ALL, nullptr, nullptr));
    kept_.clear();
  }
  void list(const std::function<void(std::string_view)>& visit) override {
    int variables = 0;
    check(f_.inq(file_, nullptr, &variables, nullptr, nullptr));
    char name[NC_MAX_NAME + 1];
    std::string last;
    for (int v = 0; v < variables; ++v) {
      check(f_.inq_varname(file_, v, name));
      const std::string_view sample = sample_of(name);
      if (sample == last) continue;
      visit(sample);
      last = sample;
    }
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    int variables = 0;
    check(f_.inq(file_, nullptr, &variables, nullptr, nullptr));
    char name[NC_MAX_NAME + 1];
    int dims[NC_MAX_VAR_DIMS > 64 ? 64 : NC_MAX_VAR_DIMS];
    std::vector<std::uint64_t> lengths;
    for (int v = 0; v < variables; ++v) {
      nc_type type = NC_NAT;
      int rank = 0;
      check(f_.inq_var(file_, v, name, &type, &rank, dims, nullptr));
      lengths.clear();
      for (int i = 0; i < rank; ++i) {
        MPI_Offset length = 0;
        check(f_.inq_dimlen(file_, dims[i], &length));
        lengths.push_back(static_cast<std::uint64_t>(length));
      }
      sum.add("", name, static_cast<Type>(type), lengths);
    }
    return sum;
  }
  std::size_t read_variable(const std::string&, const std::string& variable,
                            std::vector<std::byte>* out) override {
    int id = 0, size = 0;
    check(f_.inq_varid(file_, variable.c_str(), &id));
    const Whole whole = whole_of(id);
    MPI_Type_size(whole.memory, &size);
    out->resize(static_cast<std::size_t>(whole.elements) * static_cast<std::size_t>(size));
    enter_independent();
    check(f_.get_vara(file_, id, whole.start.data(), whole.count.data(), out->data(),
                      whole.elements, whole.memory));
    return out->size();
  }

  // Requests that one call completes.
  void read_sample(const std::string&, const std::vector<std::string>& variables,
                   std::vector<std::vector<std::byte>>* out) override {
    out->resize(variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v) {
      int id = 0, size = 0;
      check(f_.inq_varid(file_, variables[v].c_str(), &id));
      const Whole whole = whole_of(id);
      MPI_Type_size(whole.memory, &size);
      std::vector<std::byte>& values = (*out)[v];
      values.resize(static_cast<std::size_t>(whole.elements) * static_cast<std::size_t>(size));
      check(f_.iget_vara(file_, id, whole.start.data(), whole.count.data(), values.data(),
                         whole.elements, whole.memory, nullptr));
    }
    complete();
  }

  int define_array(const ArrayShape& shape) override {
    if (!shape.chunk.empty()) throw Refused("CDF-5 has no chunks");
    std::vector<std::uint64_t> lengths = shape.lengths;
    if (shape.particles) lengths.push_back(kMembers);
    std::vector<int> dims;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      // A file has one unlimited dimension, which all arrays that grow share.
      const bool grows = shape.unlimited && i == 0;
      const MPI_Offset length = grows ? NC_UNLIMITED : static_cast<MPI_Offset>(lengths[i]);
      auto found = dims_.find(length);
      if (found == dims_.end()) {
        const std::string name = grows ? "records" : "d" + std::to_string(length);
        int id = 0;
        check(f_.def_dim(file_, name.c_str(), length, &id));
        found = dims_.emplace(length, id).first;
      }
      dims.push_back(found->second);
    }
    int id = 0;
    check(f_.def_var(file_, name_of(shape).c_str(), type_of(shape.element),
                     static_cast<int>(dims.size()), dims.data(), &id));
    arrays_.push_back({id, shape.element});
    return static_cast<int>(arrays_.size()) - 1;
  }
  int find_array(const ArrayShape& shape) override {
    int id = 0;
    check(f_.inq_varid(file_, name_of(shape).c_str(), &id));
    arrays_.push_back({id, shape.element});
    return static_cast<int>(arrays_.size()) - 1;
  }
  void extend(const std::vector<int>&, std::uint64_t) override {}  // records come with their values
  void put(int array, const Slab& slab, const void* values) override {
    transfer(array, slab, const_cast<void*>(values), true);
  }
  // Requests that all processes complete together: PnetCDF's fastest way for many small values.
  void put_own(const std::vector<Put>& puts) override {
    for (const Put& one : puts) {
      const Array& array = arrays_.at(static_cast<std::size_t>(one.array));
      check(f_.iput_vara(file_, array.id, offsets(one.slab.start).data(),
                         offsets(one.slab.count).data(), one.values,
                         static_cast<MPI_Offset>(one.slab.elements()), memory_of(array.element),
                         nullptr));
    }
    complete();
  }
  void put_many(int number, const std::vector<Slab>& slabs, const std::byte* values,
                std::size_t) override {
    if (slabs.empty()) return;
    const Array& array = arrays_.at(static_cast<std::size_t>(number));
    const std::size_t rank = slabs[0].start.size();
    std::vector<MPI_Offset> numbers(2 * rank * slabs.size());
    std::vector<MPI_Offset*> starts(slabs.size()), counts(slabs.size());
    MPI_Offset elements = 0;
    for (std::size_t n = 0; n < slabs.size(); ++n) {
      starts[n] = numbers.data() + 2 * rank * n;
      counts[n] = starts[n] + rank;
      std::copy(slabs[n].start.begin(), slabs[n].start.end(), starts[n]);
      std::copy(slabs[n].count.begin(), slabs[n].count.end(), counts[n]);
      elements += static_cast<MPI_Offset>(slabs[n].elements());
    }
    check(f_.iput_varn(file_, array.id, static_cast<int>(slabs.size()), starts.data(),
                       counts.data(), values, elements, memory_of(array.element), nullptr));
  }
  void get(int array, const Slab& slab, void* values) override {
    transfer(array, slab, values, false);
  }
  std::string notes() const override {
    return "a file has one unlimited dimension; what grows is stored record by record; an element "
           "of 8 members is one more dimension";
  }

 private:
  struct Array {
    int id;
    Element element;
  };
  void check(int status) const {
    if (status != NC_NOERR) throw std::runtime_error(f_.strerror(status));
  }
  void start(const std::string& path, const FileOptions& options) {
    (void)path;
    options_ = options;
    // The library reads this when a file is created or opened.
    setenv("PNETCDF_SAFE_MODE", options.checks ? "1" : "0", 1);
    independent_ = false;
    dims_.clear();
    arrays_.clear();
  }
  MPI_Comm comm() const { return options_.file_per_process ? MPI_COMM_SELF : MPI_COMM_WORLD; }
  MPI_Info hints() const {
    char* end = nullptr;
    const long major = std::strtol(f_.inq_libvers(), &end, 10);
    const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
    if (options_.hash_size > 0 && major == 1 && minor < 13)
      throw Refused(
          "before release 1.13, PnetCDF's tables of names have a fixed size, so that its time "
          "grows "
          "with the square of the objects; --pnetcdf names a later one");
    MPI_Info info = info_of(options_);
    if (options_.hash_size > 0) {
      const std::string size = std::to_string(options_.hash_size);
      MPI_Info_set(info, "nc_hash_size_dim", size.c_str());
      MPI_Info_set(info, "nc_hash_size_var", size.c_str());
    }
    return info;
  }
  static std::string name_of(const ArrayShape& shape) {
    std::string name = shape.group + "_" + shape.name;
    std::replace(name.begin(), name.end(), '/', '_');  // not allowed in a name
    return name;
  }
  // All processes change the mode together, also those that put nothing afterwards.
  void begin_values() {
    if (!options_.collective_data) enter_independent();
  }
  void enter_independent() {
    if (!std::exchange(independent_, true)) check(f_.begin_indep_data(file_));
  }
  void leave_independent() {
    if (std::exchange(independent_, false)) check(f_.end_indep_data(file_));
  }
  // All values of a variable.
  struct Whole {
    std::vector<MPI_Offset> start, count;
    MPI_Offset elements = 1;
    MPI_Datatype memory = MPI_DATATYPE_NULL;
  };
  Whole whole_of(int id) const {
    int rank = 0, dims[64];
    nc_type type = NC_NAT;
    check(f_.inq_var(file_, id, nullptr, &type, &rank, dims, nullptr));
    Whole whole;
    whole.memory = memory_of(type);
    whole.start.assign(static_cast<std::size_t>(rank) + 1, 0);
    whole.count.assign(whole.start.size(), 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
      check(f_.inq_dimlen(file_, dims[i], &whole.count[i]));
      whole.elements *= whole.count[i];
    }
    return whole;
  }
  static std::vector<MPI_Offset> offsets(const std::vector<std::uint64_t>& numbers) {
    return {numbers.begin(), numbers.end()};
  }
  void transfer(int number, const Slab& slab, void* values, bool puts) {
    const Array& array = arrays_.at(static_cast<std::size_t>(number));
    MPI_Datatype memory = memory_of(array.element);
    std::vector<MPI_Offset> start = offsets(slab.start), count = offsets(slab.count);
    const bool all = options_.collective_data;
    all ? leave_independent() : enter_independent();
    const auto elements = static_cast<MPI_Offset>(slab.elements());
    if (!slab.block.empty()) {
      // Blocks of the first dimension are the subarrays of one call.
      count[0] = static_cast<MPI_Offset>(slab.block[0]);
      for (std::size_t i = 1; i < slab.block.size(); ++i)
        if (slab.block[i] != 1) throw Refused("blocks of a selection are in the first dimension");
      std::vector<MPI_Offset*> starts(slab.count[0]), counts(starts.size(), count.data());
      std::vector<MPI_Offset> places(starts.size() * start.size());
      for (std::size_t n = 0; n < starts.size(); ++n) {
        starts[n] = places.data() + n * start.size();
        std::copy(start.begin(), start.end(), starts[n]);
        *starts[n] += static_cast<MPI_Offset>(n * slab.stride[0]);
      }
      const auto put = all ? f_.put_varn_all : f_.put_varn;
      const auto get = all ? f_.get_varn_all : f_.get_varn;
      const int parts = static_cast<int>(starts.size());
      check(
          puts ? put(file_, array.id, parts, starts.data(), counts.data(), values, elements, memory)
               : get(file_, array.id, parts, starts.data(), counts.data(), values, elements,
                     memory));
      return;
    }
    if (!slab.stride.empty()) {
      const std::vector<MPI_Offset> stride = offsets(slab.stride);
      const auto put = all ? f_.put_vars_all : f_.put_vars;
      const auto get = all ? f_.get_vars_all : f_.get_vars;
      check(puts ? put(file_, array.id, start.data(), count.data(), stride.data(), values, elements,
                       memory)
                 : get(file_, array.id, start.data(), count.data(), stride.data(), values, elements,
                       memory));
      return;
    }
    const auto put = all ? f_.put_vara_all : f_.put_vara;
    const auto get = all ? f_.get_vara_all : f_.get_vara;
    check(puts ? put(file_, array.id, start.data(), count.data(), values, elements, memory)
               : get(file_, array.id, start.data(), count.data(), values, elements, memory));
  }

  Library library_;
  Functions f_;
  Traits traits_;
  FileOptions options_;
  int file_ = -1;
  bool independent_ = false;
  std::vector<int> variables_;
  std::deque<std::vector<std::byte>> kept_;  // of requests
  std::map<MPI_Offset, int> dims_;           // by length
  std::vector<Array> arrays_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  return std::make_unique<PnetCdf>(library.empty() ? NMBENCH_PNETCDF : library);
}

}  // namespace nmb::bench
