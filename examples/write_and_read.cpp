// write_and_read FILE.nmb: writes a file of two blocks, and reads one variable of it. This is the
// smallest complete program with libnmb (nmb/writer.h, nmb/reader.h).
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "nmb/reader.h"
#include "nmb/writer.h"

namespace {

const std::vector<double> kTemperatures = {281.5, 283.25, 286.0, 282.0};

// Writes one block for each station. The name of a block is a path. A block has its own variables.
void write(const char* path) {
  nmb::Writer out(path, {.mode = nmb::WriteOptions::Mode::kReplace});
  std::vector<nmb::Var> variables;
  for (const char* station : {"station/north", "station/south"}) {
    nmb::Block block = out.block(station).samples(1);
    const nmb::Dim time = block.dim("time", nmb::kUnlimited);
    variables.push_back(block.var<float>("temperature", {time}).att("units", "K"));
  }
  for (nmb::Var& temperature : variables) temperature.put(kTemperatures);
  out.close();  // the file appears only after this call
}

void read(const char* path) {
  const nmb::Reader in(path);
  const nmb::Totals& totals = in.totals();
  std::printf("%ju blocks, %ju variables, %ju samples\n", std::uintmax_t{totals.blocks},
              std::uintmax_t{totals.variables}, std::uintmax_t{totals.samples});
  // Reads only the block of the variable, and the index pages that lead to it.
  for (const double value : in.read<double>("station/south/temperature"))
    std::printf("%g\n", value);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_and_read FILE.nmb\n", stderr);
    return 2;
  }
  try {
    write(argv[1]);
    read(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_and_read: %s\n", error.what());
    return 2;
  }
}
