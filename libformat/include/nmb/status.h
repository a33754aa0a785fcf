// Status and Result<T>: how every function of the library reports failure (no exceptions for
// what a file or a file system may do). A message names the file, the byte offset or the object,
// what was found and what was expected. Findings: what decoders report about bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

// Visibility of the library's public symbols.
#define NMB_EXPORT __attribute__((visibility("default")))

namespace nmb {

enum class Code : std::uint8_t {
  kOk = 0,
  kUsage,        // the caller's arguments or the order of calls
  kNotFound,     // no such file, block, dimension, variable or attribute
  kExists,       // a name or a target that is already there
  kConflict,     // definitions that disagree
  kDamaged,      // a file of a known kind that breaks a rule of its format
  kUnsupported,  // legal, but not something this version does
  kUnknownKind,  // not a file of any known kind
  kIo,           // a system call failed
  kNoSpace,      // no space, quota or file-size limit
  kRange,        // a value does not fit the type asked for (the others are converted)
  kLimit,        // a stated limit of memory, count or length
  kBusy,         // another writer holds the file
};

// The name of a code, as reports have it: "ok", "usage", "not_found", ...
constexpr std::string_view code_name(Code code) {
  constexpr std::string_view names[] = {
      "ok",           "usage", "not_found", "exists", "conflict", "damaged", "unsupported",
      "unknown_kind", "io",    "no_space",  "range",  "limit",    "busy"};
  return names[static_cast<std::size_t>(code)];
}

// No offset in a file applies to this status.
inline constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

// What went wrong, or nothing. Copies are cheap; safe to share between threads.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : Status(code, {}, kNoOffset, {}, std::move(message)) {}
  // rule: an id of spec/format.md ("R-IX-3") when bytes of a file break it.
  Status(Code code, std::string file, std::uint64_t offset, std::string rule, std::string message)
      : detail_(std::make_shared<const Detail>(
            Detail{code, std::move(file), offset, std::move(rule), std::move(message)})) {}

  bool ok() const { return !detail_; }
  Code code() const { return detail_ ? detail_->code : Code::kOk; }
  std::uint64_t offset() const { return detail_ ? detail_->offset : kNoOffset; }
  const std::string& file() const { return detail_ ? detail_->file : empty(); }
  const std::string& rule() const { return detail_ ? detail_->rule : empty(); }
  const std::string& message() const { return detail_ ? detail_->message : empty(); }
  // "FILE: at OFFSET: MESSAGE (RULE)", without the parts that are not known.
  NMB_EXPORT std::string text() const;
  // The same failure with the file's name filled in where it has none.
  NMB_EXPORT Status in_file(std::string_view file) const;
  // The same failure with "; MORE" behind its message; ok stays ok.
  NMB_EXPORT Status with(std::string_view more) const;
  // The same failure with "OBJECT: " ahead of its message; ok stays ok.
  NMB_EXPORT Status of_object(std::string_view object) const;
  // Not only the same text: this failure was copied from `other`, or `other` from it.
  bool is_copy_of(const Status& other) const { return detail_ && detail_ == other.detail_; }

 private:
  struct Detail {
    Code code;
    std::string file;
    std::uint64_t offset;
    std::string rule;
    std::string message;
  };
  NMB_EXPORT static const std::string& empty();
  std::shared_ptr<const Detail> detail_;
};

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {
    assert(!std::get<1>(state_).ok());
  }
  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

#define NMB_CONCAT_(a, b) a##b
#define NMB_CONCAT(a, b) NMB_CONCAT_(a, b)
#define NMB_TRY_(temporary, expression)                                            \
  do {                                                                             \
    if (::nmb::Status temporary = (expression); !temporary.ok()) return temporary; \
  } while (0)
// Leaves the enclosing function with the status of `expression` unless it is ok.
#define NMB_TRY(expression) NMB_TRY_(NMB_CONCAT(nmb_status_, __LINE__), expression)

#define NMB_ASSIGN_(temporary, target, expression) \
  auto temporary = (expression);                   \
  if (!temporary.ok()) return temporary.status();  \
  target = std::move(temporary).value()
// Binds the value of a Result, or leaves the enclosing function with its status.
#define NMB_ASSIGN(target, expression) \
  NMB_ASSIGN_(NMB_CONCAT(nmb_result_, __COUNTER__), target, expression)

// --- findings ---
// What decoders report about bytes that break a rule. One decoder serves the reader, which stops at
// the first finding, and nmverify, which wants them all.

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
