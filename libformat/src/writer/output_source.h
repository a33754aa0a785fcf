// OutputSource: a file being written as a source, to read what it already contains.
#pragma once

#include <string>

#include "nmb/bytes.h"
#include "nmb/files.h"
#include "wire/joined_text.h"

namespace nmb {

// Has `size` bytes of the file, which must outlive it.
class OutputSource final : public ByteSource {
 public:
  OutputSource(const OutputFile& file, std::uint64_t size) : file_(file), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return Status(
          Code::kDamaged, name(), size_, "R-FL-1",
          joined_text("cut: found ", size_, " bytes, expected ", out.size(), " more at ", offset));
    return file_.read_at(offset, out);
  }
  const std::string& name() const override { return file_.name(); }

 private:
  const OutputFile& file_;
  std::uint64_t size_;
};

}  // namespace nmb
