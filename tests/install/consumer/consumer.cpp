// Uses one function of an installed libnmb: what is no NMB file is refused.
#include <nmb/reader.h>

#include <cstdio>

int main(int, char** argv) {
  const auto reader = nmb::Reader::open(argv[0]);
  if (reader.ok() || reader.status().code() != nmb::Code::kUnknownKind) return 1;
  std::puts(reader.status().text().c_str());
  return 0;
}
