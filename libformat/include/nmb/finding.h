// Findings: what decoders report about bytes that break a rule. One decoder serves the reader
// (stops at the first finding) and nmverify (wants them all).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "nmb/status.h"

namespace nmb {

enum class Severity : std::uint8_t {
  kWarning,
  kUnsupported,  // legal, but of a version of the format that this one does not know
  kFinding,
};

struct Finding {
  std::string rule;      // id in spec/format.md
  std::uint64_t offset;  // in the file; kNoOffset: none applies
  std::string object;    // block, variable or structure; empty: the offset says it all
  std::string found, expected;
  Severity severity = Severity::kFinding;

  // "at OFFSET: OBJECT: found X, expected Y (RULE)"
  NMB_EXPORT std::string text() const;
  // kUnsupported or kDamaged, by the severity.
  NMB_EXPORT Status status(const std::string& file) const;
};

// Receives findings in the order they are made.
class Findings {
 public:
  virtual ~Findings() = default;
  virtual void report(Finding finding) = 0;
};

// Keeps the first finding that is no warning.
class FirstFinding final : public Findings {
 public:
  void report(Finding finding) override {
    if (finding.severity == Severity::kWarning || found_) return;
    first_ = std::move(finding);
    found_ = true;
  }
  bool found() const { return found_; }
  // The finding as a status; ok if there was none.
  Status status(const std::string& file) const { return found_ ? first_.status(file) : Status(); }

 private:
  Finding first_{};
  bool found_ = false;
};

}  // namespace nmb
