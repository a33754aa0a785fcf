// write_and_read FILE: writes the groups of two stations, then prints the mean of each. Uses
// HighFive; the dimensions are HDF5's dimension scales.
#include <hdf5_hl.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <highfive/highfive.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using namespace HighFive;

constexpr std::size_t kRecords = 10, kLevels = 3;

void check(herr_t status) {
  if (status < 0) throw std::runtime_error("cannot make a dimension scale");
}

DataSetCreateProps chunks_of(const std::vector<hsize_t>& shape) {
  DataSetCreateProps properties;
  properties.add(Chunking(shape));
  return properties;
}

void write_station(File& file, const std::string& name, float base) {
  Group group = file.createGroup(name);
  DataSet time = group.createDataSet<double>("time", DataSpace({kRecords}, {DataSpace::UNLIMITED}),
                                             chunks_of({1024}));
  DataSet level = group.createDataSet("level", std::vector{0, 1, 2});
  DataSet temperature = group.createDataSet<float>(
      "temperature", DataSpace({kRecords, kLevels}, {DataSpace::UNLIMITED, kLevels}),
      chunks_of({1024, kLevels}));
  temperature.createAttribute("units", std::string("K"));
  check(H5DSset_scale(time.getId(), "time"));
  check(H5DSset_scale(level.getId(), "level"));
  check(H5DSattach_scale(temperature.getId(), time.getId(), 0));
  check(H5DSattach_scale(temperature.getId(), level.getId(), 1));

  std::vector<double> times;
  std::vector<std::vector<float>> values;
  for (std::size_t record = 0; record < kRecords; ++record) {
    const float first = base + record;
    times.push_back(record);
    values.push_back({first, first + 1, first + 2});
  }
  time.write(times);
  temperature.write(values);
}

void print_station(const File& file, const std::string& name) {
  const auto values =
      file.getDataSet(name + "/temperature").read<std::vector<std::vector<float>>>();
  double sum = 0;
  for (const auto& record : values)
    for (const float value : record) sum += value;
  std::printf("%s: %zu records, mean %g\n", name.c_str(), values.size(),
              sum / (values.size() * kLevels));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_and_read FILE\n", stderr);
    return 2;
  }
  const SilenceHDF5 silence;
  try {
    {
      File file(argv[1], File::Overwrite);
      write_station(file, "station/north", 280);
      write_station(file, "station/south", 290);
      file.flush();  // the destructor cannot report a failure
    }
    const File file(argv[1]);
    print_station(file, "station/north");
    print_station(file, "station/south");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}
