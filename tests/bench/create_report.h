// The measured creation of many objects, the same for every library: phases define, end_define and
// close.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <string>

#include "description.h"
#include "process_cost.h"

namespace nmb::bench {

// Times phases and prints the line of JSON.
class CreateReport {
 public:
  explicit CreateReport(const Description& description)
      : description_(description), start_(now()), last_(start_) {}
  void phase(const char* name) {
    const Time time = now(), spent = time - last_;
    last_ = time;
    std::printf("%s\"%s_wall\": %.6f, \"%s_cpu\": %.6f", separator_, name, spent.wall, name,
                spent.cpu);
    separator_ = ", ";
  }
  void finish(const std::string& path) {
    const Time spent = last_ - start_;
    struct stat file {};
    stat(path.c_str(), &file);
    const auto objects = static_cast<double>(description_.variables.size());
    std::printf(
        ", \"wall\": %.6f, \"cpu\": %.6f, \"user\": %.6f, \"peak_mb\": %.3f, \"bytes\": %lld, "
        "\"blocks\": %zu, "
        "\"variables\": %zu, "
        "\"dimensions\": %zu, \"objects_per_second\": %.0f}\n",
        spent.wall, spent.cpu, spent.user, memory_.megabytes(),
        static_cast<long long>(file.st_size), description_.blocks.size(),
        description_.variables.size(), description_.dimensions.size(), objects / spent.wall);
  }

 private:
  const Description& description_;
  PeakMemory memory_;
  Time start_, last_;
  const char* separator_ = "{";
};

}  // namespace nmb::bench
