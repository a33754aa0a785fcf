// Makes the HDF5 view of a file with any bytes, or fails with a reason. Each input is run twice: as
// it is, and with correct checksums, so that changed blocks of kind 6 are read.
#include <algorithm>
#include <cstdint>

#include "fuzz/fuzz_target.h"
#include "support/corpus.h"
#include "support/right_sums.h"
#include "support/vectors.h"
#include "view/hdf5_view.h"

using namespace nmb;

static void run(std::span<const std::byte> bytes) {
  (void)for_each_left_out(MemorySource(bytes, "input"), [](const LeftOut&) { return Status(); });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::run_with_right_sums_too(data, size, run);
  return 0;
}

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  if (test::vectors().empty()) return seeds;
  for (const char* name : {"extended_types", "extended_storage", "hdf5_view_extended", "originals"})
    seeds.push_back(test::read_file(test::vectors() / (std::string(name) + ".nmb")));
  return seeds;
}
