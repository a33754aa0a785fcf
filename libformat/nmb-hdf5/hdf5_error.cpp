#include "hdf5_error.h"

#include <cerrno>
#include <charconv>
#include <optional>

#include "import/hdf5_visitor.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

struct ErrorStack {
  std::string innermost;   // its innermost message
  bool of_filter = false;  // whether a filter failed
  bool of_header = false;  // whether an object's header is damaged
  bool of_memory = false;  // whether there was no memory
};

// Returns the contents of HDF5's error stack, and clears the stack.
Result<ErrorStack> take_stack() {
  ErrorStack stack;
  Hdf5Visitor<unsigned, const H5E_error2_t*> visitor(
      [&](unsigned, const H5E_error2_t* error) -> Status {
        if (stack.innermost.empty() && error->desc) stack.innermost = error->desc;
        stack.of_filter = stack.of_filter || error->maj_num == H5E_PLINE;
        stack.of_header = stack.of_header || error->maj_num == H5E_OHDR;
        stack.of_memory = stack.of_memory || error->maj_num == H5E_RESOURCE;
        return {};
      });
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visitor.call, &visitor);
  H5Eclear2(H5E_DEFAULT);
  NMB_TRY(visitor.status());
  return stack;
}

// Removes the parts of a message that differ from run to run, for example memory addresses.
std::string repeatable(const std::string& message) {
  if (message.empty()) return "failed without a message";
  // "file write failed: time = .., errno = 28, error message = 'No space left on device', buf = .."
  constexpr std::string_view kAnswer = "error message = '";
  const std::size_t time = message.find(": time = "), answer = message.find(kAnswer);
  if (time != message.npos && answer != message.npos) {
    const std::string words = message.substr(answer + kAnswer.size());
    return message.substr(0, time) + ": " + words.substr(0, words.find('\''));
  }
  // "ran off the end of the buffer: current p = 0x5572e06adff8, p_size = 40"
  const std::size_t pointer = message.find(" = 0x");
  const std::size_t colon = pointer == message.npos ? pointer : message.rfind(": ", pointer);
  return message.substr(0, colon);
}

// Returns the number that follows `word` in a message, or 0 if there is none.
std::uint64_t number_after(std::string_view message, std::string_view word) {
  std::uint64_t number = 0;
  if (const std::size_t at = message.find(word); at != message.npos) {
    const std::string_view digits = message.substr(at + word.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
  }
  return number;
}

// Returns the failure for a file that is shorter than its superblock states. Returns nullopt for
// any other message.
std::optional<Status> cut_file(std::string_view message) {
  // "truncated file: eof = 3000, sblock->base_addr = 0, stored_eof = 10432"; eof counts from the
  // base address
  if (!message.starts_with("truncated file: eof = ")) return std::nullopt;
  const std::uint64_t size =
      number_after(message, ": eof = ") + number_after(message, "base_addr = ");
  return Status(
      Code::kDamaged, {}, size, {},
      joined_text("cut: found ", size, " bytes, expected ", number_after(message, "stored_eof = "),
                  "; copy or write the file again"));
}

}  // namespace

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

Status hdf5_failure(std::string_view what, Code code) {
  NMB_ASSIGN(const ErrorStack stack, take_stack());
  const std::string& message = stack.innermost;
  if (std::optional<Status> cut = cut_file(message)) return *std::move(cut);
  const auto has = [&](int error) {
    return message.find(joined_text("errno = ", error)) != message.npos;
  };
  if (message.find("open external raw data file") != message.npos) code = Code::kNotFound;
  if (has(ENOSPC) || has(EDQUOT) || has(EFBIG)) code = Code::kNoSpace;
  const bool is_chunk =
      code == Code::kDamaged && stack.of_filter && !stack.of_header && !stack.of_memory;
  // Later versions of HDF5 write versions of messages that earlier ones do not know.
  const bool may_be_newer = code == Code::kDamaged && message.starts_with("bad version");
  return Status(code, {}, kNoOffset, is_chunk ? "R-XC-1" : "",
                joined_text(what, ": HDF5: ", repeatable(message),
                            may_be_newer ? " (or a newer version of HDF5 wrote it)" : ""));
}

Status within(const std::string& object, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), status.file(), status.offset(), status.rule(),
                object + ", " + status.message());
}

std::string object_text(std::string_view kind, std::string_view name) {
  return joined_text(kind, " \"", name, "\"");
}

Result<std::string> c_text(std::string_view text, std::string_view what) {
  if (text.find('\0') == text.npos) return std::string(text);
  return unsupported(what, ": found a NUL in ", object_text("the text", text),
                     ", which HDF5 cannot hold");
}

Result<std::string> link_name(std::string_view name) {
  if (name.empty() || name == "." || name.find('/') != name.npos)
    return unsupported("found the name \"", name, "\", which an HDF5 link cannot have");
  return c_text(name, "link");
}

}  // namespace nmb::hdf5
