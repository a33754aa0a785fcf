// How the library passes failures on: NMB_TRY and NMB_ASSIGN, and the receivers of findings. The
// reader and nmverify use the same decoders: the reader stops at the first finding, and nmverify
// collects all findings.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "nmb/error.h"
#include "nmb/finding.h"
#include "nmb/status.h"

namespace nmb {

#define NMB_CONCAT_(a, b) a##b
#define NMB_CONCAT(a, b) NMB_CONCAT_(a, b)
#define NMB_TRY_(temporary, expression)                                            \
  do {                                                                             \
    if (::nmb::Status temporary = (expression); !temporary.ok()) return temporary; \
  } while (0)
// If the status of `expression` is not ok, returns it from the enclosing function.
#define NMB_TRY(expression) NMB_TRY_(NMB_CONCAT(nmb_status_, __LINE__), expression)

#define NMB_ASSIGN_(temporary, target, expression)  \
  target = __extension__({                          \
    auto temporary = (expression);                  \
    if (!temporary.ok()) return temporary.status(); \
    std::move(temporary).value();                   \
  })
// Assigns the value of a Result to `target`. If the Result has no value, returns its status from
// the enclosing function. This is one statement, so it may follow `if (...)` without braces. It
// uses statement expressions, an extension that g++ and clang have.
#define NMB_ASSIGN(target, expression) \
  NMB_ASSIGN_(NMB_CONCAT(nmb_result_, __COUNTER__), target, expression)

// Runs call() and returns its Status or Result. An exception becomes a failure.
template <class Call>
auto without_exceptions(Call call) -> decltype(call()) {
  std::optional<decltype(call())> out;
  const Status thrown = caught([&] { out.emplace(call()); });
  return thrown.ok() ? *std::move(out) : decltype(call())(thrown);
}

// Receives findings in the order in which decoders report them.
class Findings {
 public:
  virtual ~Findings() = default;
  virtual void report(Finding finding) = 0;
};

// Keeps the first finding that is not a warning.
class FirstFinding final : public Findings {
 public:
  void report(Finding finding) override {
    if (finding.severity == Severity::kWarning || found_) return;
    first_ = std::move(finding);
    found_ = true;
  }
  bool found() const { return found_; }
  // Returns the finding as a Status, or ok if there was no finding.
  Status status(const std::string& file) const { return found_ ? first_.status(file) : Status(); }

 private:
  Finding first_{};
  bool found_ = false;
};

}  // namespace nmb
