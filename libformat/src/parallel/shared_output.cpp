// One output file of all ranks (see parallel/shared_output.h).
#include "parallel/shared_output.h"

#include <map>
#include <mutex>

namespace nmb {

namespace {

// Files that rank 0 shows the other threads, while they take hold of them.
class Showcase {
 public:
  std::uint64_t show(const std::shared_ptr<OutputFile>& file) {
    std::lock_guard lock(mutex_);
    files_[++last_] = file;
    return last_;
  }
  std::shared_ptr<OutputFile> find(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    auto found = files_.find(number);
    return found == files_.end() ? nullptr : found->second.lock();
  }
  void remove(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    files_.erase(number);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<OutputFile>> files_;
  std::uint64_t last_ = 0;
};

Showcase& showcase() {
  static Showcase files;
  return files;
}

Result<std::unique_ptr<OutputFile>> share_with_threads(Communicator& ranks,
                                                       std::unique_ptr<OutputFile> made) {
  std::shared_ptr<OutputFile> file(std::move(made));
  const std::uint64_t mine = file ? showcase().show(file) : 0;
  auto share = [&]() -> Status {
    NMB_ASSIGN(const std::uint64_t number, ranks.broadcast_value(0, mine));
    if (!file) file = showcase().find(number);
    return ranks.agree(file ? Status() : Status(Code::kIo, "found rank 0 gone"));
  };
  const Status status = share();
  if (mine != 0) showcase().remove(mine);
  if (!status.ok()) return status;
  return std::unique_ptr<OutputFile>(std::make_unique<OutputFileLayer>(std::move(file)));
}

}  // namespace

Result<std::unique_ptr<OutputFile>> share_output(
    Communicator& ranks, const std::function<Result<std::unique_ptr<OutputFile>>()>& make,
    const std::string& attach_path,
    const std::function<Result<std::unique_ptr<OutputFile>>(const std::string& path)>& attach) {
  if (ranks.size() == 1) return make();
  std::unique_ptr<OutputFile> file;
  Status status;
  auto take = [&](Result<std::unique_ptr<OutputFile>> result) {
    status = result.status();
    if (result.ok()) file = std::move(*result);
  };
  if (ranks.rank() == 0) take(make());
  NMB_TRY(ranks.agree(status));
  if (ranks.shares_memory()) return share_with_threads(ranks, std::move(file));
  std::vector<std::byte> path;
  if (ranks.rank() == 0) {
    auto bytes = std::as_bytes(std::span(attach_path));
    path.assign(bytes.begin(), bytes.end());
  }
  NMB_TRY(ranks.broadcast(0, &path));
  if (ranks.rank() != 0) take(attach({reinterpret_cast<const char*>(path.data()), path.size()}));
  NMB_TRY(ranks.agree(status));
  return file;
}

}  // namespace nmb
