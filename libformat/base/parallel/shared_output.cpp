#include "parallel/shared_output.h"

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "parallel/outbox.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

// Files that rank 0 offers to the other threads, until every thread has taken its file.
class OfferedFiles {
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

OfferedFiles& offered_files() {
  static OfferedFiles files;
  return files;
}

Result<std::unique_ptr<OutputFile>> share_with_threads(Communicator& ranks,
                                                       std::unique_ptr<OutputFile> made) {
  std::shared_ptr<OutputFile> file(std::move(made));
  const std::uint64_t mine = file ? offered_files().show(file) : 0;
  auto share = [&]() -> Status {
    NMB_ASSIGN(const std::uint64_t number, ranks.broadcast_value(0, mine));
    if (!file) file = offered_files().find(number);
    return ranks.agree(file ? Status() : Status(Code::kIo, "rank 0 has already left"));
  };
  const Status status = share();
  if (mine != 0) offered_files().remove(mine);
  if (!status.ok()) return status;
  return std::unique_ptr<OutputFile>(std::make_unique<OutputFileLayer>(std::move(file)));
}

// Returns a number that identifies the file on all machines that share the file system.
Result<std::uint64_t> file_number(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return system_error(errno, path, "look at");
  return static_cast<std::uint64_t>(info.st_ino);
}

// Opens the file with this number under its current name. names: the hidden name, then the name
// after publication.
Result<std::unique_ptr<OutputFile>> attach_to(
    std::uint64_t number, const std::array<std::string, 2>& names,
    const std::function<Result<std::unique_ptr<OutputFile>>(const std::string&)>& attach) {
  auto is_named = [&](const std::string& name) {
    const Result<std::uint64_t> found = file_number(name);
    return found.ok() && *found == number;
  };
  for (const std::string& name : names) {
    if (!is_named(name)) continue;
    Result<std::unique_ptr<OutputFile>> file = attach(name);
    // Meanwhile, the file may have been renamed and its old name given to another file.
    if (is_named(name)) return file;
  }
  return Status(Code::kIo, names.back(), kNoOffset, "",
                "another file has this name now; write the output again");
}

// A file that another process made, opened by the first call that needs it.
class OpenedWhenUsed final : public OutputFile {
 public:
  using Open = std::function<Result<std::unique_ptr<OutputFile>>()>;
  OpenedWhenUsed(std::string name, Open open) : name_(std::move(name)), open_(std::move(open)) {}

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    NMB_ASSIGN(OutputFile * file, opened());
    unsynced_ = true;
    return file->write_at(offset, bytes);
  }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    NMB_ASSIGN(const OutputFile* file, opened());
    return file->read_at(offset, out);
  }
  Status truncate(std::uint64_t length) override {
    NMB_ASSIGN(OutputFile * file, opened());
    return file->truncate(length);
  }
  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    NMB_ASSIGN(OutputFile * file, opened());
    return file->reserve(offset, length);
  }
  bool recall(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto file = opened();
    return file.ok() && (*file)->recall(offset, out);
  }
  Status sync() override {
    if (!unsynced_.exchange(false)) return {};
    NMB_ASSIGN(OutputFile * file, opened());
    return file->sync();
  }
  Status publish() override {
    NMB_ASSIGN(OutputFile * file, opened());
    return file->publish();
  }
  Result<std::uint64_t> size() const override {
    NMB_ASSIGN(const OutputFile* file, opened());
    return file->size();
  }
  const std::string& name() const override { return name_; }

 private:
  Result<OutputFile*> opened() const {
    std::lock_guard lock(mutex_);
    if (!file_) {
      NMB_ASSIGN(file_, open_());
    }
    return file_.get();
  }

  const std::string name_;
  const Open open_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<OutputFile> file_;
  std::atomic<bool> unsynced_ = false;
};

}  // namespace

Result<std::unique_ptr<OutputFile>> share_output(
    Communicator& ranks, const std::string& name,
    const std::function<Result<std::unique_ptr<OutputFile>>()>& make,
    const std::string& attach_path,
    std::function<Result<std::unique_ptr<OutputFile>>(const std::string& path)> attach) {
  if (ranks.size() == 1) return make();
  std::unique_ptr<OutputFile> file;
  std::pair<std::uint64_t, std::string> place;  // the number of the file, and its hidden name
  auto make_named = [&]() -> Status {
    NMB_ASSIGN(file, make());
    if (ranks.shares_memory()) return {};
    NMB_ASSIGN(place.first, file_number(attach_path));
    place.second = attach_path;
    return {};
  };
  NMB_TRY(ranks.first([&] { return make_named(); }));
  if (ranks.shares_memory()) return share_with_threads(ranks, std::move(file));
  NMB_TRY(broadcast_fields(ranks, 0, &place));
  if (ranks.rank() == 0) return file;
  return std::unique_ptr<OutputFile>(
      std::make_unique<OpenedWhenUsed>(name, [=, attach = std::move(attach)] {
        return attach_to(place.first, {place.second, name}, attach);
      }));
}

}  // namespace nmb
