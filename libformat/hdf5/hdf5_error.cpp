// HDF5's error stack (see hdf5_error.h).
#include "hdf5_error.h"

#include <cerrno>

namespace nmb::hdf5 {

namespace {

// Some messages end with pointers into the library's memory, which differ from run to run:
// "ran off the end of the buffer: current p = 0x5572e06adff8, p_size = 40".
void drop_pointers(std::string* message) {
  const std::size_t pointer = message->find(" = 0x");
  if (pointer == message->npos) return;
  const std::size_t colon = message->rfind(": ", pointer);
  if (colon != message->npos) message->resize(colon);
}

}  // namespace

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

Status hdf5_failure(std::string_view what) {
  std::string innermost;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto* text = static_cast<std::string*>(out);
        if (text->empty() && error->desc) *text = error->desc;
        return 0;
      },
      &innermost);
  H5Eclear2(H5E_DEFAULT);
  const bool full = innermost.find("errno = " + std::to_string(ENOSPC)) != std::string::npos ||
                    innermost.find("errno = " + std::to_string(EDQUOT)) != std::string::npos ||
                    innermost.find("errno = " + std::to_string(EFBIG)) != std::string::npos;
  // What it says of the system's answer: "file write failed: time = .., errno = 28, error message =
  // 'No space left on device', buf = ..".
  constexpr std::string_view kAnswer = "error message = '";
  const std::size_t time = innermost.find(": time = "), answer = innermost.find(kAnswer);
  if (time != innermost.npos && answer != innermost.npos) {
    const std::string words = innermost.substr(answer + kAnswer.size());
    innermost = innermost.substr(0, time) + ": " + words.substr(0, words.find('\''));
  }
  drop_pointers(&innermost);
  return Status(full ? Code::kNoSpace : Code::kUnsupported,
                std::string(what) +
                    ": HDF5: " + (innermost.empty() ? "failed without a message" : innermost));
}

std::string object_text(std::string_view kind, std::string_view name) {
  return std::string(kind) + " \"" + std::string(name) + "\"";
}

Result<std::string> c_text(std::string_view text, std::string_view what) {
  if (text.find('\0') == text.npos) return std::string(text);
  return Status(Code::kUnsupported, std::string(what) + ": found a NUL in " +
                                        object_text("the text", text) + ", which HDF5 cannot hold");
}

Result<std::string> link_name(std::string_view name) {
  if (name.empty() || name == "." || name.find('/') != name.npos)
    return Status(Code::kUnsupported, "found the name \"" + std::string(name) +
                                          "\", expected one that a link of HDF5 can have");
  return c_text(name, "link");
}

}  // namespace nmb::hdf5
