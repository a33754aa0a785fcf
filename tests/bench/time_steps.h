// The measured work of a simulation that commits again and again: blocks that grow by a record a
// step, or new blocks in each step.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "create_report.h"

namespace nmb::bench {

struct TimeSteps {
  std::string path;
  std::uint64_t blocks = 1000, steps = 300;
  std::uint64_t variables = 4, length = 8;  // doubles of a variable and record

  void add_to(CLI::App& app) {
    app.add_option("FILE", path, "to be written, replaced if there")->required();
    app.add_option("--blocks", blocks,
                   "of all ranks; with --new of each rank and step; default 1000")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--steps", steps, "default 300")->check(CLI::Range(20, 1'000'000));
  }
  // The blocks of a rank: from first to behind.
  std::uint64_t first(int rank, int size) const {
    return blocks * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(size);
  }
  std::uint64_t record_values() const { return variables * length; }
  // The values that the rank's blocks get in a step, one after the other.
  static void fill(std::uint64_t step, std::vector<double>* values) {
    for (std::size_t i = 0; i < values->size(); ++i)
      (*values)[i] = static_cast<double>(step * 1000 + i % 1000);
  }
};

// Seconds of each step, of the same part of it.
class StepSeconds {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }
  // NAME_early, NAME_late: medians of ten steps, the 6th to the 15th and the last; NAME_least_early
  // and NAME_least_late: the least of these.
  void add_to(CreateReport& report, const std::string& name) const {
    const auto window = [&](std::size_t begin) {
      std::vector<double> ten(seconds_.begin() + static_cast<std::ptrdiff_t>(begin),
                              seconds_.begin() + static_cast<std::ptrdiff_t>(begin + 10));
      std::sort(ten.begin(), ten.end());
      return ten;
    };
    const std::vector<double> early = window(5), late = window(seconds_.size() - 10);
    report.add(name + "_early", (early[4] + early[5]) / 2);
    report.add(name + "_late", (late[4] + late[5]) / 2);
    report.add(name + "_least_early", early[0]);
    report.add(name + "_least_late", late[0]);
  }

 private:
  std::vector<double> seconds_;
};

}  // namespace nmb::bench
