// FileWorkers: threads that convert the files of a list, each thread one file after another. If
// there are fewer large files than threads, several threads convert one large file.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class FileWorkers {
 public:
  // Converts a file with `threads` threads. Several threads may call this function at the same
  // time.
  using Work = std::function<ConversionRecord(std::size_t file, unsigned threads)>;
  // Pairs of a file's index in the list and its result.
  using Finished = std::vector<std::pair<std::size_t, ConversionRecord>>;

  // Size in bytes from which several threads may move the values of a file. A single thread might
  // still be busy with a large file when all other files are done, and cores would be idle.
  static constexpr std::uint64_t kLarge = 64 << 20;

  // `lengths` are the lengths of the files in bytes. `at_a_time` is the number of files to convert
  // at a time; fewer are converted if the process may not open as many files. `threads` is the
  // number of threads for the values of all large files together. When *cancel becomes true, no
  // more files are begun.
  FileWorkers(std::vector<std::uint64_t> lengths, unsigned at_a_time, unsigned threads, Work work,
              const std::atomic<bool>* cancel);
  // Calls stop() and waits for the files in work.
  ~FileWorkers();
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;

  // Starts the threads, or fewer of them if the system has no more. Called once. Errors: kLimit if
  // no thread can be started.
  Status start();

  // Returns the files that were finished since the last call. If `wait` is true, first waits until
  // a file is finished, or until no file is in work and none will be begun.
  Finished take_finished(bool wait);
  // Returns whether all files are done and their results were taken.
  bool is_done();
  // After this call no more files are begun.
  void stop();

 private:
  void run();
  bool begin_file(std::size_t* file, unsigned* threads);
  bool all_begun() const;

  const std::vector<std::uint64_t> lengths_;
  const unsigned at_a_time_;
  const unsigned threads_;
  const Work work_;
  const std::atomic<bool>* const cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t large_left_ = 0;  // number of large files that are not finished
  bool stopped_ = false;
  std::size_t in_work_ = 0;
  Finished finished_;
  std::vector<std::thread> workers_;
};

}  // namespace nmb::tools
