// How many requests and bytes of a file that is far away a question takes.
//
//     bench_far FILE VARIABLE PREFIX [REQUEST_BYTES]
//
// VARIABLE: its statistics are asked for in all blocks. PREFIX: of the names of a range; the first
// of these blocks is found by its name, too. REQUEST_BYTES: what a request is worth, 16 MiB
// without.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "files/files.h"
#include "reader/file_reader.h"

namespace {

using nmb::BlockEntry;
using nmb::Result;
using nmb::Status;

class Counted final : public nmb::ByteSource {
 public:
  explicit Counted(const std::string& path) : base_(*nmb::FileSource::open(path)) {}
  std::uint64_t size() const override { return base_->size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    ++requests;
    bytes += out.size();
    return base_->read_at(offset, out);
  }
  const std::string& name() const override { return base_->name(); }
  mutable std::atomic<std::uint64_t> requests{0}, bytes{0};

 private:
  std::unique_ptr<nmb::FileSource> base_;
};

// The first value of the first variable.
Status read_value(const nmb::LoadedBlock& block) {
  if (block.metadata.variable_count() == 0) return {};
  const std::size_t rank = block.metadata.variable(0).dimensions.size();
  double value = 0;
  return block.read(
      0,
      nmb::Hyperslab{std::vector<std::uint64_t>(rank, 0), std::vector<std::uint64_t>(rank, 1), {}},
      std::span(&value, 1));
}

Status select(const nmb::FileReader& reader, const std::string& variable, std::string* told) {
  std::unordered_map<std::uint64_t, std::uint64_t> elements;
  NMB_TRY(reader.for_each_statistics(
      variable, [&](std::uint64_t order, const nmb::VariableStatistics& v) -> Result<bool> {
        elements[order] = v.elements;
        return true;
      }));
  if (elements.empty()) return Status(nmb::Code::kNotFound, "found no statistics of " + variable);
  BlockEntry largest;
  std::uint64_t most = 0;
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const auto found = elements.find(entry.order);
    if (found != elements.end() && found->second >= most) {
      most = found->second;
      largest = entry;
    }
    return true;
  }));
  *told = std::to_string(elements.size()) + " of " + std::to_string(reader.totals().blocks) +
          " blocks, a value of " + largest.name;
  NMB_ASSIGN(const auto block, reader.block(largest));
  return read_value(*block);
}

Status range(const nmb::FileReader& reader, const std::string& prefix, std::string* told) {
  std::uint64_t blocks = 0;
  NMB_TRY(reader.for_each_entry(prefix, [&](const BlockEntry&) -> Result<bool> {
    ++blocks;
    return true;
  }));
  *told = std::to_string(blocks) + " of " + std::to_string(reader.totals().blocks) + " blocks";
  return {};
}

Status by_name(const nmb::FileReader& reader, const std::string& name, std::string* told) {
  *told = name;
  NMB_ASSIGN(const auto block, reader.block(name));
  return read_value(*block);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fputs("usage: bench_far FILE VARIABLE PREFIX [REQUEST_BYTES]\n", stderr);
    return 2;
  }
  const std::string path = arguments[1], variable = arguments[2], prefix = arguments[3];
  nmb::ReadOptions options;
  options.request_bytes = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 16 << 20;
  std::string first;
  const auto find_first = [&](const BlockEntry& entry) -> Result<bool> {
    first = entry.name;
    return false;
  };
  const Status found = (*nmb::FileReader::open(path))->for_each_entry(prefix, find_first);
  const auto ask = [&](const char* question, auto answer) {
    const auto file = std::make_shared<Counted>(path);
    const auto reader = nmb::FileReader::open(file, options);
    std::string told;
    const Status status = reader.ok() ? answer(**reader, &told) : reader.status();
    std::printf("%s (%s): %llu requests, %llu bytes%s%s\n", question, told.c_str(),
                static_cast<unsigned long long>(file->requests),
                static_cast<unsigned long long>(file->bytes), status.ok() ? "" : ": ",
                status.ok() ? "" : status.text().c_str());
    return status.ok();
  };
  const bool selected = ask("by statistics", [&](const nmb::FileReader& reader, std::string* told) {
    return select(reader, variable, told);
  });
  const bool named = ask("by name", [&](const nmb::FileReader& reader, std::string* told) {
    return by_name(reader, first, told);
  });
  const bool ranged = ask("a range", [&](const nmb::FileReader& reader, std::string* told) {
    return range(reader, prefix, told);
  });
  return found.ok() && selected && named && ranged ? 0 : 1;
}
