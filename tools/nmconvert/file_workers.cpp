#include "nmconvert/file_workers.h"

#include <sys/resource.h>

#include <algorithm>
#include <system_error>

namespace nmb::tools {

namespace {

// A generous estimate of the number of files that one conversion has open at the same time.
constexpr rlim_t kFilesOfOne = 16;

// Returns a number of threads for which the process has enough file descriptors.
unsigned workers_for(std::size_t files, unsigned at_a_time) {
  rlimit limit;
  const rlim_t may_open = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 256;
  const std::size_t most = std::max<std::size_t>(1, may_open / kFilesOfOne);
  return static_cast<unsigned>(std::min({files, most, std::size_t{at_a_time}}));
}

}  // namespace

FileWorkers::FileWorkers(std::vector<std::uint64_t> lengths, unsigned at_a_time, unsigned threads,
                         Work work, const std::atomic<bool>* cancel)
    : lengths_(std::move(lengths)),
      at_a_time_(at_a_time),
      threads_(threads),
      work_(std::move(work)),
      cancel_(cancel) {
  for (const std::uint64_t length : lengths_) large_left_ += length >= kLarge;
}

Status FileWorkers::start() {
  const unsigned workers = workers_for(lengths_.size(), at_a_time_);
  for (unsigned i = 0; i < workers; ++i) {
    try {
      workers_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      // If at least one thread was started, the started threads do all the work.
      if (!workers_.empty()) break;
      return Status(Code::kLimit, std::string("cannot start a thread: ") + error.what());
    }
  }
  return {};
}

FileWorkers::~FileWorkers() {
  stop();
  for (std::thread& worker : workers_) worker.join();
}

bool FileWorkers::all_begun() const {
  return stopped_ || cancel_->load() || next_ == lengths_.size();
}

bool FileWorkers::begin_file(std::size_t* file, unsigned* threads) {
  const std::lock_guard lock(mutex_);
  if (all_begun()) return false;
  ++in_work_;
  *file = next_++;
  *threads = lengths_[*file] < kLarge || large_left_ >= threads_
                 ? 1
                 : threads_ / static_cast<unsigned>(large_left_);
  return true;
}

void FileWorkers::run() {
  std::size_t file;
  unsigned threads;
  while (begin_file(&file, &threads)) {
    ConversionRecord record = work_(file, threads);
    const std::lock_guard lock(mutex_);
    finished_.emplace_back(file, std::move(record));
    large_left_ -= lengths_[file] >= kLarge;
    --in_work_;
    changed_.notify_all();
  }
  // take_finished() may be waiting for the end of the last thread.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

FileWorkers::Finished FileWorkers::take_finished(bool wait) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [&] { return !wait || !finished_.empty() || (in_work_ == 0 && all_begun()); });
  return std::exchange(finished_, {});
}

bool FileWorkers::is_done() {
  const std::lock_guard lock(mutex_);
  return finished_.empty() && in_work_ == 0 && all_begun();
}

void FileWorkers::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace nmb::tools
