// merge_months OUT IN...: joins monthly classic netCDF files along `time` into the NMB file OUT.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "nmb/merge.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: merge_months OUT IN...\n", stderr);
    return 1;
  }
  try {
    nmb::merge({argv + 2, argv + argc}, argv[1], {.mode = nmb::Join{.along = "time"}});
    return 0;
  } catch (const nmb::MergeError& error) {
    const nmb::MergeReport& report = error.report();
    for (const nmb::Conflict& c : report.conflicts)
      std::fprintf(stderr, "%s: %s: found %s, expected %s\n", c.file().c_str(), c.object.c_str(),
                   c.found.c_str(), c.expected.c_str());
    for (const nmb::Status& status : report.unreadable)
      std::fprintf(stderr, "%s\n", status.text().c_str());
    if (report.conflicts.empty() && report.unreadable.empty())
      std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
  }
  return 1;
}
