// Status and Result<T>: failures as values. The functions try_f() return them; the functions f()
// throw them as an Error (nmb/error.h). A message says what is wrong, and names the file, and the
// byte offset or the object.
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
#include <vector>

// Visibility of the library's public symbols.
#define NMB_EXPORT [[gnu::visibility("default")]]

namespace nmb {

enum class Code : std::uint8_t {
  kOk = 0,
  kUsage,        // an argument or the order of the calls is wrong
  kNotFound,     // a file, block, dimension, variable or attribute does not exist
  kExists,       // a name or a target exists already
  kConflict,     // definitions disagree
  kDamaged,      // a file of a known kind breaks a rule of its format
  kUnsupported,  // the input is legal, but this version does not support it
  kUnknownKind,  // the file is not of a known kind
  kIo,           // a system call failed
  kNoSpace,      // no space is left, or a quota or a file-size limit is reached (a
                 // program gets the latter only if it ignores the signal SIGXFSZ)
  kRange,        // a value does not fit in the requested type; all other values were converted
  kLimit,        // a documented limit of memory, number or length is exceeded
  kBusy,         // another writer has locked the file
};

// Returns the name of a code in reports: "ok", "usage", "not_found", ...
constexpr std::string_view code_name(Code code) {
  constexpr std::string_view names[] = {
      "ok",           "usage", "not_found", "exists", "conflict", "damaged", "unsupported",
      "unknown_kind", "io",    "no_space",  "range",  "limit",    "busy"};
  return names[static_cast<std::size_t>(code)];
}

// The offset in a Status if the failure does not concern a position in a file.
inline constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

// The rank in a Status if the failure is not that of one MPI rank.
inline constexpr int kNoRank = -1;

// The result of a call: ok or a failure. Copies are cheap. Threads may share a Status.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : Status(code, {}, kNoOffset, {}, std::move(message)) {}
  // If the file breaks a rule of spec/format.md, `rule` is the id of the rule, for example
  // "R-IX-3". Otherwise `rule` is empty. `rank` is the rank that `message` already shows, if there
  // is one; on_rank() then changes nothing.
  Status(Code code, std::string file, std::uint64_t offset, std::string rule, std::string message,
         int rank = kNoRank)
      : Status(Detail{code, std::move(file), offset, std::move(rule), std::move(message), rank}) {}

  bool ok() const { return !detail_; }
  Code code() const { return detail_ ? detail_->code : Code::kOk; }
  std::uint64_t offset() const { return detail_ ? detail_->offset : kNoOffset; }
  const std::string& file() const { return detail_ ? detail_->file : empty(); }
  const std::string& rule() const { return detail_ ? detail_->rule : empty(); }
  const std::string& message() const { return detail_ ? detail_->message : empty(); }
  // Returns the rank that the message names as the place of the failure, or kNoRank.
  int rank() const { return detail_ ? detail_->rank : kNoRank; }
  // Returns "FILE: at OFFSET: MESSAGE (RULE)". Unknown parts are left out.
  NMB_EXPORT std::string text() const;
  // Returns the same failure; if it names no file, the result names `file`.
  NMB_EXPORT Status in_file(std::string_view file) const;
  // Returns the same failure at another place, for example in a file that the user named instead of
  // in a temporary file.
  NMB_EXPORT Status at(std::string_view file, std::uint64_t offset) const;
  // Returns the same failure with "; MORE" appended to its message. If this status is ok, returns
  // ok.
  NMB_EXPORT Status with(std::string_view more) const;
  // Returns the same failure with "OBJECT: " before its message. If this status is ok, returns ok.
  NMB_EXPORT Status of_object(std::string_view object) const;
  // Returns the same failure with " (on rank RANK)" after its message. If this status is ok or has
  // a rank already, returns this status.
  NMB_EXPORT Status on_rank(int rank) const;
  // Returns whether this status and `other` are copies of one failure. Two separate failures with
  // equal texts are not copies.
  bool is_copy_of(const Status& other) const { return detail_ && detail_ == other.detail_; }

 private:
  struct Detail {
    Code code;
    std::string file;
    std::uint64_t offset;
    std::string rule;
    std::string message;
    int rank = kNoRank;
  };
  explicit Status(Detail detail) : detail_(std::make_shared<const Detail>(std::move(detail))) {}
  // Returns the same failure with another message.
  Status with_message(std::string message) const;
  NMB_EXPORT static const std::string& empty();
  std::shared_ptr<const Detail> detail_;
};

// Throws an Error with `failure`.
[[noreturn]] NMB_EXPORT void throw_error(const Status& failure);

// A value, or the failure that explains why there is no value. Access to a value that is not there
// throws an Error with this failure.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {
    assert(!std::get<1>(state_).ok());
  }
  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  T& value() & { return require(), *std::get_if<0>(&state_); }
  const T& value() const& { return require(), *std::get_if<0>(&state_); }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void require() const {
    if (!ok()) throw_error(std::get<1>(state_));
  }
  std::variant<T, Status> state_;
};

}  // namespace nmb
