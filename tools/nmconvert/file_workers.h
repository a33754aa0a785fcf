// FileWorkers: threads that convert the files of a list. Each thread converts one file after
// another. If there are fewer large files than threads, several threads convert one large file.
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

  // If a file has at least this many bytes, several threads may move its values. A single thread
  // might still be busy with it when all other files are done, and the other cores would be idle.
  static constexpr std::uint64_t kLarge = 64 << 20;

  // `lengths` are the lengths of the files in bytes. `at_a_time` files are converted at the same
  // time, or fewer if the process cannot open enough files. `threads` is the number of threads that
  // all large files share for moving their values. When *cancel becomes true, no more files are
  // begun.
  FileWorkers(std::vector<std::uint64_t> lengths, unsigned at_a_time, unsigned threads, Work work,
              const std::atomic<bool>* cancel);
  // Calls stop(), and waits until the conversions that have begun are finished.
  ~FileWorkers();
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;

  // Starts the threads. If the system refuses to start all threads, fewer threads do the work.
  // Called once. Errors: kLimit if no thread can be started.
  Status start();

  // Returns the files that were finished since the last call. If `wait` is true, first waits until
  // a file is finished, unless no conversion is running and none will begin.
  Finished take_finished(bool wait);
  // Returns true if all conversions have ended and take_finished() has returned all results.
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
