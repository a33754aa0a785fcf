// InputFile: a file to read, with its kind. The first 16 KiB of the file show its kind, and contain
// the head of an NMB file. These bytes are kept in memory, so that they are read only once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "files/files.h"
#include "files/read_meter.h"
#include "reader/file_reader.h"

namespace nmb {

// Thread-safe.
class NMB_EXPORT InputFile final : public ByteSourceLayer {
 public:
  // meter: counts the bytes that are read; may be nullptr. Errors: kNotFound, kIo. A file of an
  // unknown kind is not an error here.
  static Result<std::shared_ptr<const InputFile>> open(const std::string& path,
                                                       std::shared_ptr<ReadMeter> meter = nullptr);

  FileKind kind() const { return kind_; }
  IoCounts counts() const { return file_->counts(); }
  const FileSource& file() const { return *file_; }

  void forget() const override { keeps_head_ = false; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  InputFile(std::shared_ptr<const FileSource> file, std::shared_ptr<ReadMeter> meter)
      : ByteSourceLayer(file), file_(std::move(file)), meter_(std::move(meter)) {}
  Status read_file(std::uint64_t offset, std::span<std::byte> out) const;

  const std::shared_ptr<const FileSource> file_;
  const std::shared_ptr<ReadMeter> meter_;
  mutable std::atomic<bool> keeps_head_{true};
  std::vector<std::byte> head_;
  FileKind kind_ = FileKind::kUnknown;
};

}  // namespace nmb
