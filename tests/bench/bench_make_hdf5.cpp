// bench_make_hdf5: an HDF5 file with a group for each block and a contiguous data set for each
// variable of bench_create
// --values, the same values in the machine's byte order.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "description.h"
#include "hdf5_id.h"

namespace nmb::bench {

namespace {

hid_t type_of(Type type) {
  switch (type) {
    case Type::kFloat:
      return H5T_NATIVE_FLOAT;
    case Type::kDouble:
      return H5T_NATIVE_DOUBLE;
    case Type::kInt64:
      return H5T_NATIVE_INT64;
    default:
      return H5T_NATIVE_INT32;
  }
}

void make(const Description& description, const std::string& path, bool newest) {
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (newest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  std::size_t variable = 0, dimension = 0;
  for (const Description::Block& block : description.blocks) {
    const std::string group_name(description.text(block.name));
    const Hdf5Id group(H5Gcreate2(file, group_name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Gclose);
    for (std::uint32_t i = 0; i < block.variables; ++i, ++variable) {
      const Description::Variable& v = description.variables[variable];
      std::vector<hsize_t> lengths;
      std::uint64_t count = 1;
      for (std::uint8_t axis = 0; axis < v.rank; ++axis) {
        lengths.push_back(description.dimensions[dimension++].length);
        count *= lengths.back();
      }
      const Hdf5Id space(H5Screate_simple(v.rank, lengths.data(), nullptr), H5Sclose);
      const std::string name(description.text(v.name));
      const Hdf5Id data_set(H5Dcreate2(group, name.c_str(), type_of(v.type), space, H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT),
                            H5Dclose);
      const std::vector<std::int32_t> values = values_of(variable, count);
      if (H5Dwrite(data_set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        throw std::runtime_error(name + ": cannot be written");
    }
  }
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  using nmb::bench::Shape;
  CLI::App app("Makes an HDF5 file of very many objects.", "bench_make_hdf5");
  std::string path;
  Shape shape = Shape::kSamples;
  std::uint64_t samples = 0;
  bool newest = false;
  app.add_option("FILE", path, "to be written, replaced if there")->required();
  app.add_option("--shape", shape, "samples, one-object")
      ->transform(CLI::CheckedTransformer(nmb::bench::kShapes));
  app.add_option("--samples", samples, "default: as many as make 568,480 variables");
  app.add_flag("--newest", newest, "HDF5's newest format rather than its most portable");
  CLI11_PARSE(app, argc, argv);
  if (samples == 0) samples = nmb::bench::usual_samples(shape);
  nmb::bench::make(describe(shape, nmb::bench::Samples::all(samples), false), path, newest);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_make_hdf5: %s\n", error.what());
  return 2;
}
