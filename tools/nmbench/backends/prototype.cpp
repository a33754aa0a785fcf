// The prototype of "Parallel Data Object Creation": a PnetCDF whose files have blocks, so that each
// process defines objects of its own. It is compiled with the header of that build, because its
// functions have an argument more. As in the paper, each process has one block, and names begin
// with their sample's. This adapter creates objects and reads their metadata; it has no values.
#include <pnetcdf.h>

#include <algorithm>

#include "backend.h"

namespace nmb::bench {

namespace {

void check(int status) {
  if (status != NC_NOERR) throw std::runtime_error(ncmpi_strerror(status));
}

class Prototype final : public Backend {
 public:
  Prototype() {
    const std::string version = ncmpi_inq_libvers();
    traits_.library = "prototype of PnetCDF " + version.substr(0, version.find(' '));
    traits_.own_blocks = traits_.flat = traits_.defines_first = true;
    traits_.arrays = traits_.grows = traits_.compresses = false;
  }
  const Traits& traits() const override { return traits_; }

  void create(const std::string& path, const FileOptions& options) override {
    MPI_Info info = hints(options);
    check(ncmpi_create(communicator(options), path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info,
                       &file_));
    MPI_Info_free(&info);
  }
  void open(const std::string& path, const FileOptions& options, bool writes) override {
    MPI_Info info = hints(options);
    check(ncmpi_open(communicator(options), path.c_str(), writes ? NC_WRITE : NC_NOWRITE, info,
                     &file_));
    MPI_Info_free(&info);
  }
  void end_define() override { check(ncmpi_enddef(file_)); }
  void close() override { check(ncmpi_close(file_)); }

  void define(const Description& objects) override {
    int rank = 0, block = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string name = "rank" + std::to_string(rank);
    check(ncmpi_def_block(file_, name.c_str(), &block));
    define_flat(
        objects,
        [&](const char* dimension, std::uint64_t length) {
          int id = 0;
          check(ncmpi_def_dim(file_, block, dimension, static_cast<MPI_Offset>(length), &id));
          return id;
        },
        [&](const Description::Variable& v, const char* variable, const std::vector<int>& dims) {
          int id = 0;
          check(ncmpi_def_var(file_, block, variable, static_cast<nc_type>(v.type), v.rank,
                              dims.data(), &id));
        });
  }
  void list(const std::function<void(std::string_view)>&) override { throw Refused(kNoValues); }
  std::size_t read_variable(const std::string&, const std::string&,
                            std::vector<std::byte>*) override {
    throw Refused(kNoValues);
  }
  MetadataSum read_metadata() override {
    MetadataSum sum;
    int blocks = 0;
    check(ncmpi_inq_nblocks(file_, &blocks));
    char name[NC_MAX_NAME + 1];
    std::vector<std::uint64_t> lengths;
    for (int block = 0; block < blocks; ++block) {
      check(ncmpi_open_block(file_, block));
      int variables = 0;
      check(ncmpi_inq_block(file_, block, nullptr, nullptr, &variables, nullptr));
      for (int v = 0; v < variables; ++v) {
        nc_type type = NC_NAT;
        int rank = 0, dims[64];
        check(ncmpi_inq_var(file_, block, v, name, &type, &rank, dims, nullptr));
        lengths.clear();
        for (int i = 0; i < rank; ++i) {
          MPI_Offset length = 0;
          check(ncmpi_inq_dimlen(file_, block, dims[i], &length));
          lengths.push_back(static_cast<std::uint64_t>(length));
        }
        sum.add("", name, static_cast<Type>(type), lengths);
      }
    }
    return sum;
  }
  std::string notes() const override { return "one block for each process, as in the paper"; }

 private:
  static constexpr const char* kNoValues =
      "the adapter of the prototype creates objects and reads all metadata, nothing else";

  static MPI_Comm communicator(const FileOptions& options) {
    return options.file_per_process ? MPI_COMM_SELF : MPI_COMM_WORLD;
  }
  // Each block has tables of names of its own.
  static MPI_Info hints(const FileOptions& options) {
    MPI_Info info = info_of(options);
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (options.hash_size > 0) {
      const std::string text = std::to_string(
          std::max(std::uint64_t{1}, options.hash_size / static_cast<std::uint64_t>(size)));
      MPI_Info_set(info, "nc_hash_size_dim", text.c_str());
      MPI_Info_set(info, "nc_hash_size_var", text.c_str());
    }
    return info;
  }

  Traits traits_;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& library) {
  if (!library.empty())
    throw std::runtime_error("the prototype is linked: no other library can be named");
  return std::make_unique<Prototype>();
}

}  // namespace nmb::bench
