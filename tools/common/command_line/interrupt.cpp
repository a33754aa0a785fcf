#include "common/command_line/interrupt.h"

#include <signal.h>

#include "files/files.h"

namespace nmb::tools {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free objects");

extern "C" void on_interrupt(int number) {
  signal_number.store(number);
  interrupted.store(true);
  // A launcher of MPI may kill this process before it can clean up.
  unlink_temporary_files();
}

}  // namespace

const std::atomic<bool>* catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  // A second signal has the default action.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // Programs that nohup starts ignore SIGHUP.
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, &action, nullptr);
  return &interrupted;
}

int interrupted_exit() {
  const int number = signal_number.load();
  return number == 0 ? 0 : 128 + number;
}

}  // namespace nmb::tools
