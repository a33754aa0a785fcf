// Layers around an output file: one fails a call, one records all of them. Neither waits for the
// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "files/files.h"

namespace nmb::test {

// The operation that fails, and its failure. Outlives the file.
struct Fault {
  enum class How {
    kOnce,     // that call has no effect, later ones work
    kForEver,  // that call and all later ones have no effect
    kShort,    // half of a write is done; later calls work
    kThrow,    // that call throws std::runtime_error
  };
  std::uint64_t call = ~std::uint64_t{0};  // from 0
  How how = How::kOnce;
  Code code = Code::kIo;
  std::uint64_t calls = 0;               // made so far
  bool reads = false;                    // reads count, and fail, too
  std::uint64_t at = ~std::uint64_t{0};  // the first write that begins there fails as well

  OutputLayer layer();
};

class FaultyOutput final : public OutputFileLayer {
 public:
  FaultyOutput(std::unique_ptr<OutputFile> base, Fault& fault)
      : OutputFileLayer(std::move(base)), fault_(fault) {}
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return fault_.reads && fails() ? failure() : base_->read_at(offset, out);
  }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset == fault_.at) {
      fault_.at = ~std::uint64_t{0};
      return failure();
    }
    if (!fails()) return base_->write_at(offset, bytes);
    if (fault_.how == Fault::How::kShort)
      NMB_TRY(base_->write_at(offset, bytes.first(bytes.size() / 2)));
    return failure();
  }
  Status truncate(std::uint64_t length) override {
    return fails() ? failure() : base_->truncate(length);
  }
  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    return fails() ? failure() : base_->reserve(offset, length);
  }
  Status sync() override { return fails() ? failure() : Status(); }
  Status publish() override { return fails() ? failure() : base_->publish(); }

 private:
  bool fails() const {
    const std::uint64_t call = fault_.calls++;
    if (call == fault_.call && fault_.how == Fault::How::kThrow)
      throw std::runtime_error("made to fail");
    return call == fault_.call || (fault_.how == Fault::How::kForEver && call > fault_.call);
  }
  Status failure() const { return Status(fault_.code, name(), kNoOffset, "", "made to fail"); }
  Fault& fault_;
};

inline OutputLayer Fault::layer() {
  return [this](std::unique_ptr<OutputFile> base) -> std::unique_ptr<OutputFile> {
    return std::make_unique<FaultyOutput>(std::move(base), *this);
  };
}

struct OutputCall {
  enum class What { kWrite, kTruncate, kReserve, kSync, kPublish } what;
  std::uint64_t offset = 0;  // of a write; the length of a truncation; the end of what is reserved
  std::vector<std::byte> bytes;

  // Does to `image` what the call does to a file, for the first `limit` bytes of a write.
  void apply(std::vector<std::byte>* image, std::size_t limit = ~std::size_t{0}) const {
    if (what == What::kTruncate) image->resize(offset);
    if (what == What::kReserve && image->size() < offset) image->resize(offset);
    if (what != What::kWrite) return;
    const std::size_t length = std::min(limit, bytes.size());
    if (image->size() < offset + length) image->resize(offset + length);
    std::copy_n(bytes.begin(), length, image->begin() + static_cast<std::ptrdiff_t>(offset));
  }
};

class RecordedOutput final : public OutputFileLayer {
 public:
  RecordedOutput(std::unique_ptr<OutputFile> base, std::vector<OutputCall>& calls)
      : OutputFileLayer(std::move(base)), calls_(calls) {}
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    calls_.push_back({OutputCall::What::kWrite, offset, {bytes.begin(), bytes.end()}});
    return base_->write_at(offset, bytes);
  }
  Status truncate(std::uint64_t length) override {
    calls_.push_back({OutputCall::What::kTruncate, length, {}});
    return base_->truncate(length);
  }
  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    calls_.push_back({OutputCall::What::kReserve, offset + length, {}});
    return base_->reserve(offset, length);
  }
  Status sync() override {
    calls_.push_back({OutputCall::What::kSync, 0, {}});
    return {};
  }
  Status publish() override {
    calls_.push_back({OutputCall::What::kPublish, 0, {}});
    return base_->publish();
  }

 private:
  std::vector<OutputCall>& calls_;
};

inline OutputLayer recording(std::vector<OutputCall>& calls) {
  return [&calls](std::unique_ptr<OutputFile> base) -> std::unique_ptr<OutputFile> {
    return std::make_unique<RecordedOutput>(std::move(base), calls);
  };
}

}  // namespace nmb::test
