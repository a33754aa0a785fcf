// PhaseClock: measures how long a writer spends in each phase (see writer/file_writer.h).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace nmb {

enum class Phase { kNone, kCreate, kCheck, kValues, kMetadata, kIndex, kCommit };

// Only one phase runs at a time. Not thread-safe.
class PhaseClock {
 public:
  // Measures a phase for the lifetime of the span. When the span ends, the clock measures the
  // previous phase again.
  class Span {
   public:
    Span(PhaseClock& clock, Phase phase) : clock_(clock), before_(clock.change(phase)) {}
    ~Span() { clock_.change(before_); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    PhaseClock& clock_;
    const Phase before_;
  };

  double seconds(Phase phase) const { return seconds_[static_cast<std::size_t>(phase)]; }

 private:
  using Clock = std::chrono::steady_clock;

  Phase change(Phase to) {
    const Clock::time_point now = Clock::now();
    seconds_[static_cast<std::size_t>(phase_)] +=
        std::chrono::duration<double>(now - since_).count();
    since_ = now;
    return std::exchange(phase_, to);
  }

  std::array<double, static_cast<std::size_t>(Phase::kCommit) + 1> seconds_{};
  Phase phase_ = Phase::kNone;
  Clock::time_point since_ = Clock::now();
};

}  // namespace nmb
