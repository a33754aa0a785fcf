// ReadBackOutput: reads the bytes back after every write, while they are still in the processor's
// caches, and compares them with the written bytes (spec/rationale.md, "Checking what was
// written").
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "files/copy_buffer.h"
#include "files/files.h"

namespace nmb {

// write_at() also fails with kIo if the bytes that are read back differ.
class ReadBackOutput final : public OutputFileLayer {
 public:
  using OutputFileLayer::OutputFileLayer;

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    NMB_TRY(base_->write_at(offset, bytes));
    alignas(4096) std::array<std::byte, kPart + kMostCopyShift> room;
    for (std::size_t done = 0; done < bytes.size(); done += kPart) {
      const auto written = bytes.subspan(done, std::min(bytes.size() - done, kPart));
      const auto found = std::span(room).subspan(copy_shift(offset + done, 0), written.size());
      NMB_TRY(base_->read_at(offset + done, found));
      if (std::memcmp(found.data(), written.data(), written.size()) != 0)
        return Status(Code::kIo, base_->name(), offset + done, "",
                      "the bytes read back differ from the bytes written");
    }
    return {};
  }

 private:
  static constexpr std::size_t kPart = 64 << 10;  // fits into the second-level cache
};

}  // namespace nmb
