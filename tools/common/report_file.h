// ReportFile: a report that is also the journal of a run. It has one JSON document on each line,
// which is written when the work that it describes is done, so that a run that was killed can be
// resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb::tools {

class ReportFile {
 public:
  // Makes the file or continues an existing one. An incomplete last line is removed. Errors: kUsage
  // if the file is not a report whose documents begin with `schema`, or not a regular file; kBusy
  // if another process has it open; kIo.
  static Result<std::unique_ptr<ReportFile>> open(const std::string& path,
                                                  const std::string& schema);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  // Visits the existing lines, without line ends, oldest first. No line is longer than
  // kLongestLine.
  Status for_each_line(const std::function<void(std::string_view)>& visit) const;
  // Appends `line`, which has no line end. If it cannot be written completely, nothing of it
  // remains. Errors: kNoSpace, kIo.
  Status append(std::string_view line);

  static constexpr std::size_t kLongestLine = 1 << 20;

 private:
  ReportFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status check_schema(const std::string& schema) const;
  Status drop_cut_line();
  Result<std::string> read_some(std::uint64_t offset, std::size_t most) const;

  std::string path_;
  int fd_;
  std::uint64_t length_ = 0;
};

}  // namespace nmb::tools
