// Lets rank 0 read for all ranks (see parallel/shared_reads.h).
#include "parallel/shared_reads.h"

#include <algorithm>
#include <cstring>

#include "parallel/message_codec.h"
#include "parallel/status_bytes.h"

namespace nmb {

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
  std::vector<std::byte> bytes;
  Status status;
  if (ranks_.rank() == 0) {
    set_recording(true);
    status = work();
    set_recording(false);
    MessageWriter out;
    out.put_bytes(status_bytes(status));
    out.put(size_.load());
    for (const auto& [offset, read] : reads_) {
      out.put(offset);
      out.put_bytes(read);
    }
    bytes = out.take();
  }
  NMB_TRY(ranks_.broadcast(0, &bytes));
  if (ranks_.rank() != 0) {
    MessageReader in(bytes);
    status = status_from(in.get_bytes());
    {
      std::lock_guard lock(mutex_);
      size_ = in.get<std::uint64_t>();
      following_ = true;
      while (!in.at_end()) {
        const auto offset = in.get<std::uint64_t>();
        auto read = in.get_bytes();
        reads_[offset].assign(read.begin(), read.end());
      }
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
