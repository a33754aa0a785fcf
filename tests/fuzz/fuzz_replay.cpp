// Runs a fuzz target without libFuzzer: over its seeds, each seed cut at every length and with
// every byte changed, and over the files named. `--write-seeds FOLDER` stores the seeds for
// libFuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "support/sanitized.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Runs every cut and change of seeds up to this length, and a sample for longer ones. Sanitizers
// take a third of both: a step of 3 meets each byte of the fields of 2, 4 and 8 bytes.
static constexpr std::size_t kEveryByte = 4096;

static std::size_t runs = 0;

static void run(const std::vector<std::byte>& bytes, std::size_t size) {
  // A copy of the exact size, so that sanitizers see reads behind it.
  const std::vector<std::byte> input(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), size);
  ++runs;
}

static void run_near(std::vector<std::byte> bytes) {
  run(bytes, bytes.size());
  const std::size_t step = (1 + bytes.size() / kEveryByte) * (nmb::test::kShare == 1 ? 1 : 7);
  for (std::size_t i = 0; i < bytes.size(); i += step) {
    run(bytes, i);
    const std::byte kept = bytes[i];
    for (const unsigned change : {0x01u, 0x80u, 0xFFu}) {
      bytes[i] = kept ^ static_cast<std::byte>(change);
      run(bytes, bytes.size());
    }
    bytes[i] = kept;
  }
}

int main(int argc, char** argv) {
  const auto seeds = nmb::test::fuzz_seeds();
  if (argc == 3 && std::string_view(argv[1]) == "--write-seeds") {
    std::filesystem::create_directories(argv[2]);
    for (std::size_t i = 0; i < seeds.size(); ++i)
      std::ofstream(std::filesystem::path(argv[2]) / ("seed" + std::to_string(i)), std::ios::binary)
          .write(reinterpret_cast<const char*>(seeds[i].data()),
                 static_cast<std::streamsize>(seeds[i].size()));
    return 0;
  }
  for (const auto& seed : seeds) run_near(seed);
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++runs;
  }
  std::printf("%zu inputs\n", runs);
  return runs > 0 ? 0 : 1;
}
