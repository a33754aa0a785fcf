#include "writer_handle.h"

namespace nmb_python {

WriterHandle::WriterHandle(std::string path, nmb::WriteOptions options, nmb::MpiLibrary library,
                           const void* comm)
    : path_(std::move(path)), state_(std::make_unique<State>()) {
  options.on_warning = [state = state_.get()](const std::string& text) {
    state->warnings.push_back(text);
  };
  nb::gil_scoped_release unlocked;
  if (comm) state_->ranks = nmb::Ranks::mpi(library, comm);
  state_->writer = comm ? nmb::Writer(path_, *state_->ranks, options) : nmb::Writer(path_, options);
}

nmb::Status WriterHandle::closed() const {
  return nmb::Status(nmb::Code::kUsage, path_, nmb::kNoOffset, {}, "the writer is closed");
}

void WriterHandle::check_usable() const {
  if (::getpid() != process_)
    need(nmb::Status(nmb::Code::kUsage, path_, nmb::kNoOffset, {},
                     "the writer belongs to the process that opened it; after a fork, another "
                     "process cannot use it"));
}

void WriterHandle::discard(const nmb::Status& why) {
  if (::getpid() != process_) {
    // The file, its hidden name and its lock are the parent's.
    (void)state_.release();
    return;
  }
  nb::gil_scoped_release unlocked;
  const std::scoped_lock lock(mutex_);
  if (!state_) return;
  if (state_->ranks && state_->writer) state_->ranks->fail(why);
  state_->vars.clear();
  state_->blocks.clear();
  state_->writer.reset();
  state_->ranks.reset();
}

std::vector<std::string> WriterHandle::take_warnings() {
  check_usable();
  nb::gil_scoped_release unlocked;
  const std::scoped_lock lock(mutex_);
  return std::exchange(state_->warnings, {});
}

}  // namespace nmb_python
