// WriterHandle: a Writer and its blocks and variables by number. Calls take turns, so that threads
// may share it, and leave the interpreter's lock to other threads.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/ranks.h>
#include <nmb/writer.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "errors.h"

namespace nmb_python {

namespace nb = nanobind;

class WriterHandle {
 public:
  // comm: the address of an MPI communicator of `library`, or nullptr for one rank. Collective.
  // Needs the interpreter's lock, and releases it.
  WriterHandle(std::string path, nmb::WriteOptions options, nmb::MpiLibrary library,
               const void* comm);
  WriterHandle(const WriterHandle&) = delete;
  WriterHandle& operator=(const WriterHandle&) = delete;
  // What is not committed is lost.
  ~WriterHandle() { discard(); }

  // Runs call(writer), which returns a Status or a Result, and raises its failure. object: the full
  // name of what is written, for the exception. Needs the interpreter's lock, and releases it.
  template <class Call>
  auto run(std::string_view object, const Call& call) {
    check_usable();
    auto result = [&] {
      nb::gil_scoped_release unlocked;
      const std::scoped_lock lock(mutex_);
      return state_->writer ? call(*state_) : decltype(call(*state_))(closed());
    }();
    if constexpr (std::is_same_v<decltype(result), nmb::Status>) {
      need(result.in_file(path_), object);
    } else {
      if (!result.ok()) raise(result.status().in_file(path_), object);
      return *std::move(result);
    }
  }

  // Ends the writer without a commit. why: if the exception of this rank is the reason, which the
  // other ranks then get.
  void discard(const nmb::Status& why = {});
  std::vector<std::string> take_warnings();

  struct State {
    std::optional<nmb::Ranks> ranks;
    std::optional<nmb::Writer> writer;
    std::vector<nmb::Block> blocks;
    std::vector<nmb::Var> vars;
    std::vector<std::string> warnings;
  };

 private:
  void check_usable() const;
  nmb::Status closed() const;

  std::string path_;
  std::mutex mutex_;  // protects *state_
  std::unique_ptr<State> state_;
  pid_t process_ = ::getpid();
};

}  // namespace nmb_python
