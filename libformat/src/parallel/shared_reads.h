// SharedReads: a file of which rank 0 reads what all ranks want, and hands it on.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/communicator.h"

namespace nmb {

// Outside together() each rank reads for itself. read_at() is thread-safe, together() is called by
// one thread at a time.
class SharedReads final : public ByteSource {
 public:
  // `ranks` outlives it.
  SharedReads(std::shared_ptr<const ByteSource> file, Communicator& ranks)
      : file_(std::move(file)), ranks_(ranks), size_(file_->size()) {}

  std::uint64_t size() const override { return size_; }
  // Within together() what rank 0 was told last, and has read last.
  Result<std::uint64_t> refresh() const override;
  void forget() const override;
  bool has_writer() const override { return file_->has_writer(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return file_->name(); }
  const std::string* path() const override { return file_->path(); }

  // Collective. Every rank does `work`; what rank 0 read in it the others need not read. They may
  // read other things: those they read themselves. All get the failure of the lowest rank that has
  // one.
  Status together(const std::function<Status()>& work) const;

 private:
  std::shared_ptr<const ByteSource> file_;
  Communicator& ranks_;
  mutable std::atomic<std::uint64_t> size_;
  mutable std::mutex mutex_;
  mutable bool recording_ = false;
  mutable bool following_ = false;                                 // what rank 0 has read
  mutable std::map<std::uint64_t, std::vector<std::byte>> reads_;  // by offset; the longest of each
};

}  // namespace nmb
