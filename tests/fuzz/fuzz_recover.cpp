// Whatever the bytes, a recovery ends; what it recovers is in the new file, and the new file is
// sound. Every input is run as it is and with its sums made right. Most inputs are only planned,
// because writing a file takes longer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fuzz/fuzz_target.h"
#include "reader/file_reader.h"
#include "recover/recover.h"
#include "support/corpus.h"
#include "support/right_sums.h"
#include "support/vectors.h"
#include "verify/verify.h"

using namespace nmb;

static void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

static void check_output(const std::string& path, const Recovery& recovery) {
  const auto file = FileSource::open(path);
  if (!file.ok()) fail("no file", file.status().text());
  test::FindingList findings;
  const auto summary = verify(**file, {}, findings);
  if (!summary.ok()) fail("not verified", summary.status().text());
  if (summary->findings != 0) fail("not sound", findings.list.front().text());
  if (summary->recorded_blocks != recovery.recovered())
    fail("other blocks", std::to_string(summary->recorded_blocks));
}

static void run(std::span<const std::byte> bytes) {
  const auto file = std::make_shared<MemorySource>(bytes, "input");
  RecoveryOptions options;
  std::uint64_t number = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); i += 509)
    number = number * 31 + std::to_integer<std::uint64_t>(bytes[i]);
  options.partial = number % 2 == 0;
  options.unverified = number % 3 == 0;
  const bool writes = number % 64 == 0;
  static const std::string output =
      (std::filesystem::temp_directory_path() / "nmb_fuzz_recover.").string() +
      std::to_string(std::hash<std::string>()(std::filesystem::current_path().string()));
  if (writes) {
    options.output = output;
    options.writer.overwrite = true;
    options.writer.sync = false;
  }
  const auto recovery = recover(file, options);
  if (!recovery.ok() || !writes) return;
  if (recovery->bytes_out > 0) check_output(output, *recovery);
  std::filesystem::remove(output);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nmb::test::run_with_right_sums_too(data, size, run);
  return 0;
}

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  if (test::vectors().empty()) return seeds;
  for (const char* name : {"growth", "hole_in_a_data_map"})
    seeds.push_back(test::read_file(test::vectors() / (std::string(name) + ".nmb")));
  return seeds;
}
