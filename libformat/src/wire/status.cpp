// Formats a Status (see nmb/status.h).
#include "nmb/status.h"

#include "wire/joined_text.h"

namespace nmb {

const std::string& Status::empty() {
  static const std::string none;
  return none;
}

std::string Status::text() const {
  if (ok()) return "ok";
  std::string out;
  if (!file().empty()) out += file() + ": ";
  if (offset() != kNoOffset) out += joined_text("at ", offset(), ": ");
  out += message();
  if (!rule().empty()) out += " (" + rule() + ")";
  return out;
}

Status Status::in_file(std::string_view file) const {
  if (ok() || !detail_->file.empty()) return *this;
  return Status(detail_->code, std::string(file), detail_->offset, detail_->rule, detail_->message);
}

Status Status::with(std::string_view more) const {
  if (ok()) return *this;
  return Status(code(), file(), offset(), rule(), joined_text(message(), "; ", more));
}

Status Status::of_object(std::string_view object) const {
  if (ok()) return *this;
  return Status(code(), file(), offset(), rule(), joined_text(object, ": ", message()));
}

}  // namespace nmb
