// CountedOutput: counts the reads and writes of an output file, and the bytes that were read and
// written.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "files/files.h"

namespace nmb {

class CountedOutput final : public OutputFileLayer {
 public:
  struct Counts {
    std::atomic<std::uint64_t> writes = 0, bytes_written = 0, reads = 0, bytes_read = 0;
  };
  // counts: receives the numbers of reads, writes and bytes. The counts may outlive the file.
  CountedOutput(std::unique_ptr<OutputFile> base, std::shared_ptr<Counts> counts)
      : OutputFileLayer(std::move(base)), counts_(std::move(counts)) {}

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    ++counts_->writes;
    counts_->bytes_written += bytes.size();
    return base_->write_at(offset, bytes);
  }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    ++counts_->reads;
    counts_->bytes_read += out.size();
    return base_->read_at(offset, out);
  }

 private:
  const std::shared_ptr<Counts> counts_;
};

}  // namespace nmb
