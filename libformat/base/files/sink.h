// Sink: the writing counterpart of Cursor. Collects bytes and passes them to a function in pieces
// of at most 32 KiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "wire/endian.h"
#include "wire/failure.h"

namespace nmb {

class Sink {
 public:
  static constexpr std::size_t kPiece = 32 * 1024;
  using Emit = std::function<Status(std::span<const std::byte>)>;

  // `emit` must outlive the sink. After `emit` has failed once, it is not called again, and
  // finish() returns its error.
  explicit Sink(const Emit& emit)
      : emit_(emit), piece_(std::make_unique_for_overwrite<std::byte[]>(kPiece)) {}

  template <std::unsigned_integral T>
  void put_be(T value) {
    store_be(claim(sizeof value), value);
  }
  // Returns `count` contiguous bytes (at most kPiece), which the caller must fill.
  std::byte* claim(std::size_t count) {
    if (kPiece - used_ < count) flush();
    std::byte* const room = piece_.get() + used_;
    used_ += count;
    return room;
  }
  void put(const void* bytes, std::size_t count) {
    const auto* from = static_cast<const std::byte*>(bytes);
    while (count > 0) {
      if (used_ == kPiece) flush();
      const std::size_t part = std::min(count, kPiece - used_);
      std::memcpy(piece_.get() + used_, from, part);
      used_ += part;
      from += part;
      count -= part;
    }
  }
  // Emits the last piece.
  Status finish() {
    if (used_ > 0) flush();
    return status_;
  }

 private:
  void flush() {
    if (status_.ok()) status_ = emit_(std::span<const std::byte>(piece_.get(), used_));
    used_ = 0;
  }

  const Emit& emit_;
  // The memory is not cleared, because the headers of small blocks use only little of it.
  std::unique_ptr<std::byte[]> piece_;
  std::size_t used_ = 0;
  Status status_;
};

}  // namespace nmb
