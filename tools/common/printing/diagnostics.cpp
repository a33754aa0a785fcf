#include "common/printing/diagnostics.h"

#include <unistd.h>

#include <cerrno>

#include "common/command_line/option_names.h"
#include "common/printing/terminal.h"
#include "model/text.h"

namespace nmb::tools {

void Diagnostics::line(std::string_view kind, std::string_view text) {
  if (silent_) return;
  if (before_writing_) before_writing_();
  std::string out = coloured(tool_ + ":", Colour::kBold, colour_) + " ";
  if (!kind.empty()) out += coloured(kind, Colour::kYellow, colour_) + " ";
  out += printable(with_option_names(std::string(text))) + "\n";
  // Writes a line with one call, so that lines of several processes do not mix. If this fails, the
  // failure cannot be reported anywhere.
  std::string_view rest = out;
  while (!rest.empty()) {
    const ssize_t done = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (done < 0 && errno != EINTR) return;
    if (done > 0) rest.remove_prefix(static_cast<std::size_t>(done));
  }
}

void Diagnostics::error(const Status& status) {
  if (status.ok()) return;
  raise(exit_of(status.code()));
  line("", status.text());
}

void Diagnostics::warning(std::string_view file, std::string_view text) {
  // A warning that a newer generation may be missing.
  warning(file, text, text.ends_with("(R-SB-13)"));
}

void Diagnostics::loss(std::string_view file, std::string_view text) { warning(file, text, true); }

void Diagnostics::warning(std::string_view file, std::string_view text, bool is_shown) {
  if (strict_) raise(Exit::kFindings);
  std::string out(file);
  if (!out.empty()) out += ": ";
  out += text;
  const bool first = ++warnings_ <= kMostWarnings;
  if (is_shown || (first && !quiet_)) line(strict_ ? "" : "warning:", out);
}

void Diagnostics::finish() {
  if (warnings_ > kMostWarnings)
    note(std::to_string(warnings_ - kMostWarnings) + " more warnings are not shown");
}

void Diagnostics::note(std::string_view text, bool asked_for) {
  if (!quiet_ || asked_for) line("", text);
}

}  // namespace nmb::tools
