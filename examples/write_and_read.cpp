// write_and_read FILE: writes the temperatures of two stations, and reads them from the file. The
// smallest complete program with libnmb (nmb/writer.h, nmb/reader.h).
#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "nmb/reader.h"
#include "nmb/writer.h"

void write_station(nmb::Writer& out, const std::string& name, double base) {
  nmb::Block block = out.block(name).samples(1);
  const nmb::Dim time = block.dim("time", nmb::kUnlimited);
  const nmb::Dim level = block.dim("level", 3);
  nmb::Var times = block.var<double>("time", {time});
  nmb::Var temperatures = block.var<float>("temperature", {time, level}).att("units", "K");
  for (int record = 0; record < 10; ++record) {
    times.put_records(record, record);
    temperatures.put_records(record, {base + record, base + record + 1, base + record + 2});
  }
}

void write(const std::string& path) {
  nmb::Writer out(path);
  write_station(out, "station/north", 280);
  write_station(out, "station/south", 290);
  out.close();  // the file appears only now
}

void read(const std::string& path) {
  const nmb::Reader in(path);
  for (const nmb::BlockView& block : in.blocks()) {
    const std::vector<double> values = block.var("temperature").read<double>();
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    std::cout << block.name() << ": " << block.counts().records << " records, mean "
              << sum / static_cast<double>(values.size()) << '\n';
  }
  if (!std::cout.flush()) throw std::runtime_error("standard output: cannot write");
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_and_read FILE\n";
    return 1;
  }
  try {
    write(argv[1]);
    read(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
