// ReportFile: a report that is also the journal of a run: JSON documents, one a line, each written
// when what it tells of is done, so that a run that was killed can be resumed.
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
  // Makes the file, or goes on with it. A last line that was cut is dropped. kUsage: what is there
  // is no report whose documents begin with `schema`, or no regular file; kBusy: another process
  // has it open; kIo.
  static Result<std::unique_ptr<ReportFile>> open(const std::string& path,
                                                  const std::string& schema);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  // The lines there are, without their ends, oldest first; none longer than kLongestLine.
  Status for_each_line(const std::function<void(std::string_view)>& visit) const;
  // `line` without an end of line. Where it cannot be written whole nothing of it stays. kNoSpace,
  // kIo.
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
