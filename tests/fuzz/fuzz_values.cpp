// Writes values as text, whatever the bytes. The text of a variable or an attribute cannot be much
// longer than the bytes of its region: values of variable length may share bytes only within
// R-XV-2, and fields of compounds not at all. Each input is run twice: as it is, and with correct
// checksums.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "dump/dump.h"
#include "fuzz/fuzz_target.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/right_sums.h"
#include "support/vectors.h"

using namespace nmb;

// Values read of each variable, and their size: an array may be a hole of any length.
static constexpr std::uint64_t kMostValues = 1 << 10, kLargest = 1 << 10;
// Characters for each stored byte. The longest are names of members of enums.
static constexpr std::uint64_t kMostTimes = 64, kLeast = 1 << 20;

static void run(std::span<const std::byte> bytes) {
  const auto file = std::make_shared<MemorySource>(bytes, "input");
  if (const auto kind = kind_of(*file); !kind.ok() || *kind != FileKind::kNmb) return;
  const auto reader = FileReader::open(file, {});
  if (!reader.ok()) return;
  (void)(*reader)->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const auto block = (*reader)->block(entry);
    if (!block.ok()) return true;
    const DatasetText text{"f", (*block)->metadata, (*block)->kind(), (*block)->records};
    std::uint64_t length = 0;
    const TextSink sink = [&](std::string_view part) {
      length += part.size();
      return Status();
    };
    (void)write_cdl_header(text, sink);
    for (VarId v = 0; v < (*block)->metadata.variable_count(); ++v) {
      const auto shape = (*block)->shape(v);
      if (!shape.ok() || shape->element_size > kLargest) continue;
      Hyperslab slab;
      std::uint64_t values = 1;
      for (const std::uint64_t n : shape->lengths) {
        slab.start.push_back(0);
        slab.count.push_back(std::min(n, kMostValues / std::max<std::uint64_t>(values, 1)));
        values *= slab.count.back();
      }
      (void)write_values(text, (*block)->layout, (*block)->extent, v, slab, ValueFormat::kJson,
                         sink);
    }
    const std::uint64_t most = kLeast + kMostTimes * (bytes.size() + kMostValues * kLargest);
    if (length > most) {
      std::fprintf(stderr, "%zu bytes gave %llu characters\n", bytes.size(),
                   static_cast<unsigned long long>(length));
      std::abort();
    }
    return true;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::run_with_right_sums_too(data, size, run);
  return 0;
}

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  if (test::vectors().empty()) return seeds;
  for (const char* name : {"extended_types", "extended_storage", "extended_values_that_share",
                           "extended_chunks_that_share", "R-XV-2_nested"})
    seeds.push_back(test::read_file(test::vectors() / (std::string(name) + ".nmb")));
  return seeds;
}
