// VerifyJournal: a report file (--resume) from which a check that was stopped can continue. Each
// line is a JSON document about one step of the check, and is written when this step is done.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/printing/json_document.h"
#include "common/printing/report_file.h"
#include "files/files.h"
#include "verify/verify.h"

namespace nmb::tools {

class VerifyJournal {
 public:
  // The results of an earlier run for a file.
  struct Record {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    // Findings and names of damaged blocks, in the order in which they were reported.
    std::vector<std::variant<Finding, std::string>> found{};
    CheckedValues checked{};
    std::optional<VerifySummary> summary{};  // set if the check of the file was finished
  };

  // Creates the report, or continues the report of an earlier run. Errors: those of
  // ReportFile::open(); kUsage if the earlier run had other options.
  static Result<std::unique_ptr<VerifyJournal>> open(const std::string& path,
                                                     const VerifierOptions& options);

  // Begins the check of a file. Returns the results of an earlier run, or nullptr if the file was
  // not checked before or has changed since.
  const Record* begin_file(const std::string& name);
  // The following functions write a line about the current file. The first failure to write is
  // kept in status(), and nothing more is written.
  void found(const Finding& finding);
  void found_damaged_block(const std::string& block);
  void checked(const CheckedValues& values);
  void end_file(const VerifySummary& summary);
  const Status& status() const { return status_; }

 private:
  explicit VerifyJournal(std::unique_ptr<ReportFile> file) : file_(std::move(file)) {}
  Status read(const Json& options);
  void read_line(const Json& line);
  void write(const Json& line);

  std::unique_ptr<ReportFile> file_;
  std::map<std::string, Record> records_;  // by name of the file
  Record* read_ = nullptr;                 // the record to which the next line belongs
  Json options_;                           // the options in the first line
  bool has_gap_ = false;  // whether a line of the current file was too long to be written
  Status status_;
};

}  // namespace nmb::tools
