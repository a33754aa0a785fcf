// warm_samples FILE LIMIT: prints the names of the groups whose largest temperature is above LIMIT,
// then the number of their temperatures and the mean.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "nmb/reader.h"

namespace {

void print_warm(const std::string& path, const std::string& limit) {
  const nmb::Reader in(path);
  std::string undecided;
  const auto keep = [&](const std::string& warning) { undecided = warning; };
  // Uses the stored statistics, and reads the values only of blocks that have none.
  const auto warm = in.find("temperature.max > " + limit, {.on_warning = keep});
  if (!undecided.empty()) throw std::runtime_error(undecided);

  for (const nmb::BlockView& block : warm) std::printf("%s\n", block.name().c_str());
  std::uintmax_t count = 0;
  double sum = 0;
  for (const nmb::BlockView& block : warm)
    for (const float value : block.var("temperature").read<float>()) ++count, sum += value;
  std::printf("%ju values, mean %g\n", count, count ? sum / static_cast<double>(count) : NAN);
}

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  if (argc == 3) std::strtod(argv[2], &end);
  if (argc != 3 || end == argv[2] || *end) {
    std::fputs("usage: warm_samples FILE LIMIT\n", stderr);
    return 1;
  }
  const nmb::Status status = nmb::caught([&] { print_warm(argv[1], argv[2]); });
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.in_file(argv[1]).text().c_str());
  return 1;
}
