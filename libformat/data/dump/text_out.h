// TextOut collects text, passes it to a TextSink in large pieces, and keeps the first failure.
#pragma once

#include <string>
#include <string_view>

#include "dump/dump.h"

namespace nmb {

class TextOut {
 public:
  // `sink` must outlive the object.
  explicit TextOut(const TextSink& sink) : sink_(sink) { piece_.reserve(kPiece); }

  void put(char c) {
    if (piece_.size() == kPiece) flush();
    piece_.push_back(c);
  }
  void put(std::string_view text) {
    while (!text.empty()) {
      if (piece_.size() == kPiece) flush();
      const std::string_view part = text.substr(0, kPiece - piece_.size());
      piece_.append(part);
      text.remove_prefix(part.size());
    }
  }
  const Status& status() const { return status_; }
  // Passes on the rest of the text, and returns the first failure.
  Status finish() {
    flush();
    return status_;
  }

 private:
  static constexpr std::size_t kPiece = 64 * 1024;

  void flush() {
    if (status_.ok() && !piece_.empty()) status_ = sink_(piece_);
    piece_.clear();
  }

  const TextSink& sink_;
  std::string piece_;
  Status status_;
};

}  // namespace nmb
