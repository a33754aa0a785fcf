#include "nmb-run/cost_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace nmb::tools {

CostReport::CostReport(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    caught_ = true;
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind) || kind != "file") continue;
    File one;
    words >> one.define >> one.put >> one.get >> one.wait >> one.commit >> one.processes >>
        one.puts >> one.gets >> one.bytes_put >> one.bytes_got;
    words.get();
    std::getline(words, one.path, '\t');
    std::getline(words, one.writer);
    files_.push_back(one);
  }
}

std::string CostReport::text() const {
  if (files_.empty()) return "nmb-run: no NMB file was written or read\n";
  std::string text;
  for (const File& file : files_) {
    text += fmt::format("nmb-run: {}\n", file.path);
    text += fmt::format(
        "  definitions {:.3f} s, puts {:.3f} s, gets {:.3f} s, waits {:.3f} s, commits {:.3f} s\n",
        file.define, file.put, file.get, file.wait, file.commit);
    text += fmt::format("  {} puts of {} bytes, {} gets of {} bytes, {} {}\n", file.puts,
                        file.bytes_put, file.gets, file.bytes_got, file.processes,
                        file.processes == 1 ? "process" : "processes");
    if (!file.writer.empty()) text += fmt::format("  writer: {}\n", file.writer);
  }
  return text;
}

}  // namespace nmb::tools
