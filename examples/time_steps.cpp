// time_steps FILE: each rank writes a tile of the columns of a field, in steps that are durable.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "nmb/ranks.h"
#include "nmb/writer.h"

constexpr int kSteps = 5, kTile = 100;

std::vector<double> solve(int step, int rank) {
  if (step == 3 && rank == 1) throw std::runtime_error("my solver diverged");
  std::vector<double> values;
  for (int i = 0; i < kTile; ++i) values.push_back(step * 1000 + rank * kTile + i);
  return values;
}

void write_steps(const char* path, nmb::Ranks& ranks) {
  nmb::Writer out(path, ranks);
  nmb::Block run = out.block("run");
  const nmb::Dim time = run.dim("time", nmb::kUnlimited);
  const nmb::Dim column = run.dim("column", ranks.size() * kTile);
  nmb::Var pressure = run.var<double>("pressure", {time, column});
  out.end_define();
  for (int step = 0; step < kSteps; ++step) {
    pressure.put_all({{step, ranks.rank() * kTile}, {1, kTile}}, solve(step, ranks.rank()));
    out.sync();  // durable
  }
  out.close();
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: time_steps FILE\n", stderr), 1;
  nmb::Result<nmb::Ranks> ranks = nmb::Ranks::try_mpi();
  const nmb::Status status =
      !ranks.ok() ? ranks.status()
                  : nmb::caught([&] { ranks->run([&] { write_steps(argv[1], *ranks); }); });
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.in_file(argv[1]).text().c_str());
  return 1;  // `ranks` is destroyed only here, so mpiexec kills no rank before it has printed
}
