// A program whose last rank ends in the middle, by exit(): the others learn of it. Each rank prints
// its failure; the exit code is 0 if the failure names the rank that ended.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parallel/communicator.h"
#include "writer/file_writer.h"

int main(int, char** argv) {
  const auto library = nmb::launched_by();
  if (!library) return 2;
  auto ranks = nmb::open_mpi_ranks(*library);
  if (!ranks.ok()) return 2;
  const int last = (*ranks)->size() - 1;
  auto writer = nmb::FileWriter::create(argv[1], {}, **ranks);
  if ((*ranks)->rank() == last) std::exit(0);
  const nmb::Status status = writer.ok() ? (*writer)->end_define() : writer.status();
  std::printf("%s\n", status.text().c_str());
  return status.text().find("program of rank " + std::to_string(last)) == std::string::npos;
}
