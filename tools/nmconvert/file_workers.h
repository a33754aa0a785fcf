// FileWorkers: threads that each take one file of a list after the other, small ones side by side
// and large ones alone, which then have threads for their values.
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

  // Files from kLarge bytes on are done alone, so that no core is idle when the last of the list is
  // a large one.
  static constexpr std::uint64_t kLarge = 64 << 20;

  // lengths: of the files, in bytes. at_a_time: small files, each on one thread; fewer where the
  // process may not open as many. threads: for a large one. cancel: once set, no file is begun any
  // more.
  FileWorkers(std::vector<std::uint64_t> lengths, unsigned at_a_time, unsigned threads, Work work,
              const std::atomic<bool>* cancel);
  // Stops, and waits for the files in work.
  ~FileWorkers();
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;

  // What was finished since the last call. wait: until something is, or nothing is in work and no
  // file will be begun.
  Finished take_finished(bool wait);
  // All that is to be done is done and was taken.
  bool is_done();
  // No file is begun any more.
  void stop();

 private:
  void run();
  bool begin_file(std::size_t* file, unsigned* places);
  bool all_begun() const;

  const std::vector<std::uint64_t> lengths_;
  const unsigned threads_;
  const Work work_;
  const std::atomic<bool>* const cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  unsigned places_;  // for files in work, all of which a large one takes
  unsigned free_places_;
  bool choosing_ = false;  // a thread waits for the places that the next file takes
  bool stopped_ = false;
  std::size_t in_work_ = 0;
  Finished finished_;
  std::vector<std::thread> workers_;
};

}  // namespace nmb::tools
