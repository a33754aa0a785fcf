// OutputSource: makes a file that is being written readable as a ByteSource.
#pragma once

#include <string>

#include "nmb/bytes.h"
#include "nmb/files.h"
#include "wire/joined_text.h"

namespace nmb {

// The source has the first `size` bytes of the file. The file must outlive the source.
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
