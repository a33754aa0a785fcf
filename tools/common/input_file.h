// InputFile: a file to read, with its kind. Its first 16 KiB, from which kinds and indexes are
// told, are read once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "nmb/files.h"
#include "nmb/reader.h"

namespace nmb::tools {

// Thread-safe.
class InputFile final : public ByteSource {
 public:
  // kNotFound, kIo. A file of unknown kind is no failure here.
  static Result<std::shared_ptr<const InputFile>> open(const std::string& path);

  FileKind kind() const { return kind_; }
  // Reads of the file itself.
  IoCounts counts() const { return file_->counts(); }
  const FileSource& file() const { return *file_; }

  std::uint64_t size() const override { return file_->size(); }
  Result<std::uint64_t> refresh() const override { return file_->refresh(); }
  void forget() const override { keeps_head_ = false; }
  bool has_writer() const override { return file_->has_writer(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return file_->name(); }
  const std::string* path() const override { return file_->path(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return file_->is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return file_->may_be_sparse(); }

 private:
  explicit InputFile(std::unique_ptr<FileSource> file) : file_(std::move(file)) {}

  std::unique_ptr<FileSource> file_;
  mutable std::atomic<bool> keeps_head_{true};
  std::vector<std::byte> head_;
  FileKind kind_ = FileKind::kUnknown;
};

}  // namespace nmb::tools
