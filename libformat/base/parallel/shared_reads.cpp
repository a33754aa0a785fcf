#include "parallel/shared_reads.h"

#include <algorithm>
#include <cstring>

#include "parallel/outbox.h"

namespace nmb {

namespace {

// The result of the work on rank 0.
struct WorkOfFirst {
  Status status;
  std::uint64_t size = 0;
  std::map<std::uint64_t, std::vector<std::byte>> reads;
};

template <class Fields>
void fields(Fields& all, WorkOfFirst& work) {
  all(work.status, work.size, work.reads);
}

}  // namespace

Status SharedReads::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  {
    std::lock_guard lock(mutex_);
    auto known = reads_.upper_bound(offset);
    if (known != reads_.begin()) {
      --known;
      const std::uint64_t from = offset - known->first;
      if (from <= known->second.size() && out.size() <= known->second.size() - from) {
        if (!out.empty()) std::memcpy(out.data(), known->second.data() + from, out.size());
        return {};
      }
    }
  }
  NMB_TRY(file_->read_at(offset, out));
  std::lock_guard lock(mutex_);
  if (!recording_) return {};
  std::vector<std::byte>& read = reads_[offset];
  if (read.size() < out.size()) read.assign(out.begin(), out.end());
  return {};
}

Result<std::uint64_t> SharedReads::refresh() const {
  {
    std::lock_guard lock(mutex_);
    if (following_) return size_.load();
  }
  NMB_ASSIGN(const std::uint64_t now, file_->refresh());
  size_ = std::max<std::uint64_t>(size_, now);
  return now;
}

void SharedReads::forget() const {
  std::lock_guard lock(mutex_);
  if (!following_) reads_.clear();
}

Status SharedReads::together(const std::function<Status()>& work) const {
  if (ranks_.size() == 1) return work();
  NMB_TRY(ranks_.agree({}, "a call of a reader", number_));
  auto set_recording = [&](bool on) {
    std::lock_guard lock(mutex_);
    recording_ = on;
  };
  WorkOfFirst first;
  if (ranks_.rank() == 0) {
    set_recording(true);
    first.status = work();
    set_recording(false);
    first.size = size_;
    first.reads = std::move(reads_);
  }
  NMB_TRY(broadcast_fields(ranks_, 0, &first));
  Status status = first.status;
  if (ranks_.rank() != 0) {
    {
      std::lock_guard lock(mutex_);
      size_ = first.size;
      following_ = true;
      reads_ = std::move(first.reads);
    }
    if (status.ok()) status = work();
  }
  {
    std::lock_guard lock(mutex_);
    reads_.clear();
    following_ = false;
  }
  return ranks_.agree(status);
}

}  // namespace nmb
