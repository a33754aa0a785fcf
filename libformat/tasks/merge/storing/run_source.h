// RunSource: a source with the same bytes as the extent that a writer would make for a block. The
// values of the block lie in runs of another source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "origins/value_mover.h"
#include "values/array_source.h"

namespace nmb {

// Bytes that no run covers are zero.
class RunSource final : public ByteSource {
 public:
  RunSource(Source source, std::vector<ValueRuns> runs, std::uint64_t length) {
    move_.source = std::move(source);
    move_.runs = std::move(runs);
    move_.length = length;
  }
  std::uint64_t size() const override { return move_.length; }
  const std::string& name() const override { return move_.source->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return read_moved(move_, offset, out);
  }

 private:
  Move move_;
};

}  // namespace nmb
