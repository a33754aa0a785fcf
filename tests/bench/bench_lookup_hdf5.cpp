// bench_lookup_hdf5: lookups in an HDF5 file that bench_make_hdf5 made.
#include "hdf5_id.h"
#include "lookup.h"

int main(int argc, char** argv) {
  using nmb::bench::Hdf5Id;
  return nmb::bench::run_lookups(
      argc, argv, "bench_lookup_hdf5", [](const std::string& path, const std::string& name) {
        const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
        const Hdf5Id data_set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
        const Hdf5Id space(H5Dget_space(data_set), H5Sclose);
        std::vector<std::int32_t> values(
            static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        if (H5Dread(data_set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
          throw std::runtime_error(name + ": cannot be read");
        return values;
      });
}
