// FileWorkers: threads that each take one file of a list after the other. Files are done side by
// side; a large one gets threads of its own where there are fewer large ones than threads.
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
  // Does a file by this many threads. Called by several threads at once.
  using Work = std::function<ConversionRecord(std::size_t file, unsigned threads)>;
  // A file's place in the list, and what became of it.
  using Finished = std::vector<std::pair<std::size_t, ConversionRecord>>;

  // From so many bytes on a file's values may be moved by several threads: it may well be in work
  // when all others are done, and cores idle.
  static constexpr std::uint64_t kLarge = 64 << 20;

  // lengths: of the files, in bytes. at_a_time: files in work; fewer where the process may not open
  // as many. threads: for the values of large ones together. cancel: once set, no file is begun any
  // more.
  FileWorkers(std::vector<std::uint64_t> lengths, unsigned at_a_time, unsigned threads, Work work,
              const std::atomic<bool>* cancel);
  // Stops, and waits for the files in work.
  ~FileWorkers();
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;

  // Makes the threads, fewer where the system has no more. Once. kLimit: it has none.
  Status start();

  // What was finished since the last call. wait: until something is, or nothing is in work and no
  // file will be begun.
  Finished take_finished(bool wait);
  // All that is to be done is done and was taken.
  bool is_done();
  // No file is begun any more.
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
