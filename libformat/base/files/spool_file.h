// SpoolFile: a temporary file without a name, for bytes whose position in the output is not yet
// known.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "wire/bytes.h"

namespace nmb {

// Thread-safe.
class SpoolFile final : public ByteSource {
 public:
  // Creates the file in the folder for temporary files (TMPDIR). Errors: kIo.
  static Result<std::shared_ptr<SpoolFile>> create();
  // Creates the file in `folder`.
  static Result<std::shared_ptr<SpoolFile>> create_in(const std::string& folder);
  ~SpoolFile() override;
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  int descriptor() const { return descriptor_; }
  // Returns the current length, including bytes that another process has written.
  std::uint64_t size() const override;
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  KnownSource known() const override { return this; }
  // Errors: kNoSpace, kIo.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);

 private:
  SpoolFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  const int descriptor_;
  const std::string name_;  // name of the folder
};

}  // namespace nmb
