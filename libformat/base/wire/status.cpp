#include "nmb/error.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

const std::string& Status::empty() {
  static const std::string none;
  return none;
}

void throw_error(const Status& failure) { throw Error(failure); }

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
  return at(file, offset());
}

Status Status::at(std::string_view file, std::uint64_t offset) const {
  if (ok()) return *this;
  Detail placed = *detail_;
  placed.file = file;
  placed.offset = offset;
  return Status(std::move(placed));
}

Status Status::with_message(std::string message) const {
  Detail other = *detail_;
  other.message = std::move(message);
  return Status(std::move(other));
}

Status Status::with(std::string_view more) const {
  if (ok()) return *this;
  return with_message(joined_text(message(), "; ", more));
}

Status Status::of_object(std::string_view object) const {
  if (ok()) return *this;
  return with_message(joined_text(object, ": ", message()));
}

Status Status::on_rank(int rank) const {
  if (ok() || detail_->rank != kNoRank) return *this;
  Detail known = *detail_;
  known.rank = rank;
  known.message += joined_text(" (on rank ", rank, ")");
  return Status(std::move(known));
}

}  // namespace nmb
