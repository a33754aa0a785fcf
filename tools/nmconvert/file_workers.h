// FileWorkers: threads that take one file of a list after another. Files are converted
// concurrently; if there are fewer large files than threads, several threads convert one large
// file.
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
  // Converts a file with this many threads. Several threads may call it at the same time.
  using Work = std::function<ConversionRecord(std::size_t file, unsigned threads)>;
  // The index of a file in the list and its result.
  using Finished = std::vector<std::pair<std::size_t, ConversionRecord>>;

  // Values of files of at least this size may be moved by several threads: such a file may still be
  // in work when all others are done, and cores would be idle.
  static constexpr std::uint64_t kLarge = 64 << 20;

  // lengths: of the files, in bytes. at_a_time: number of files in work; fewer if the process may
  // not open as many. threads: for the values of all large files together. cancel: once it is set,
  // no more files are begun.
  FileWorkers(std::vector<std::uint64_t> lengths, unsigned at_a_time, unsigned threads, Work work,
              const std::atomic<bool>* cancel);
  // Stops, and waits for the files in work.
  ~FileWorkers();
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;

  // Makes the threads, fewer if the system has no more. Call it once. Errors: kLimit if no thread
  // can be made.
  Status start();

  // Returns the files that were finished since the last call. wait: first waits until a file is
  // finished, or none is in work and none will be begun.
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
  std::size_t large_left_ = 0;  // to be begun, or in work
  bool stopped_ = false;
  std::size_t in_work_ = 0;
  Finished finished_;
  std::vector<std::thread> workers_;
};

}  // namespace nmb::tools
