// SharedReads: lets rank 0 read a file for all ranks and send them the bytes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "parallel/communicator.h"
#include "wire/bytes.h"

namespace nmb {

// Outside together(), each rank reads the file itself. read_at() is thread-safe. together() must be
// called by one thread at a time.
class SharedReads final : public ByteSource {
 public:
  // `ranks` must outlive the object.
  SharedReads(std::shared_ptr<const ByteSource> file, Communicator& ranks)
      : file_(std::move(file)), ranks_(ranks), number_(ranks.number_file()), size_(file_->size()) {}

  std::uint64_t size() const override { return size_; }
  // Within together(), all ranks get the file size that rank 0 found.
  Result<std::uint64_t> refresh() const override;
  void forget() const override;
  bool has_writer() const override { return file_->has_writer(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return file_->name(); }
  const std::string* path() const override { return file_->path(); }

  // Collective. Calls work() on rank 0, sends the bytes that it read to the other ranks, and then
  // calls work() there. If another rank needs further bytes, it reads them from the file itself.
  // All ranks return the error of the lowest rank that fails.
  Status together(const std::function<Status()>& work) const;

 private:
  std::shared_ptr<const ByteSource> file_;
  Communicator& ranks_;
  const std::uint64_t number_;  // identifies the file; the same number on all ranks
  mutable std::atomic<std::uint64_t> size_;
  mutable std::mutex mutex_;
  mutable bool recording_ = false;
  mutable bool following_ = false;  // whether this rank uses bytes from rank 0
  // The bytes that were read, by their offset in the file. If two reads have the same offset, only
  // the longer read is kept.
  mutable std::map<std::uint64_t, std::vector<std::byte>> reads_;
};

}  // namespace nmb
