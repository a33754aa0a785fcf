// CostReport: reads the tallies of a preloaded program's files (pnetcdf/core/tally.cpp).
#pragma once

#include <string>
#include <vector>

namespace nmb::tools {

class CostReport {
 public:
  // Reads the file that the processes have written.
  explicit CostReport(const std::string& path);
  // Returns whether any call of PnetCDF was seen.
  bool caught() const { return caught_; }
  // Returns a paragraph for each NMB file, from opening to closing, or a line that says that there
  // was none.
  std::string text() const;

 private:
  struct File {
    std::string path, writer;
    // Seconds: the highest of all processes. Calls and bytes: the sums.
    double define = 0, put = 0, get = 0, wait = 0, commit = 0;
    unsigned long long processes = 0, puts = 0, gets = 0, bytes_put = 0, bytes_got = 0;
  };
  std::vector<File> files_;
  bool caught_ = false;
};

}  // namespace nmb::tools
