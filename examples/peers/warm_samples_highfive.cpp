// warm_samples FILE LIMIT: prints the groups with a temperature above LIMIT, and the mean of their
// temperatures. Uses HighFive.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <highfive/highfive.hpp>
#include <string>
#include <vector>

using namespace HighFive;

void print_warm(const char* path, double limit) {
  const File file(path);
  std::size_t total = 0;
  double sum = 0;
  for (const std::string& name : file.listObjectNames()) {
    const DataSet temperature = file.getDataSet(name + "/temperature");
    const auto values = temperature.read<std::vector<float>>();
    if (std::none_of(values.begin(), values.end(), [=](float v) { return v > limit; })) continue;
    std::puts(name.c_str());
    for (const float value : values) sum += value;
    total += values.size();
  }
  std::printf("%zu values, mean %g\n", total, total > 0 ? sum / total : NAN);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: warm_samples FILE LIMIT\n", stderr);
    return 2;
  }
  const SilenceHDF5 silence;
  try {
    print_warm(argv[1], std::stod(argv[2]));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}
