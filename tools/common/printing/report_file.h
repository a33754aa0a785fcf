// ReportFile: a report that is also the journal of a run, so that a later run can continue from it
// if the run is killed. Each line is one JSON document about one step of the work, and is written
// when the step is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb::tools {

class ReportFile {
 public:
  // Creates the file or continues an existing one. Removes an incomplete last line. Errors: kUsage
  // if the file is not a regular file, or is not a report of the kind `schema`; kBusy if another
  // process has the report open; kIo.
  static Result<std::unique_ptr<ReportFile>> open(const std::string& path,
                                                  const std::string& schema);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  // Calls `visit` with each existing line, oldest first, without its line end. Skips lines of more
  // than kLongestLine bytes.
  Status for_each_line(const std::function<void(std::string_view)>& visit) const;
  // Appends `line`, which has no line end. If the line cannot be written completely, removes its
  // written part. Errors: kNoSpace, kIo.
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
