// The measured creation of many objects, the same for every library: phases (define, end_define,
// close and others), and one line of JSON with their costs. Where several ranks create one file,
// each has a report; the line has the highest of each number and, as NAME_sum, their sum.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "description.h"
#include "process_cost.h"
#include "writer/file_writer.h"

namespace nmb::bench {

inline constexpr std::size_t kMostNumbers = 40;

// The numbers of one report or of several. May be sent as bytes.
struct CreateNumbers {
  std::array<double, kMostNumbers> highest, sums;
  Counts counts;
  int ranks;

  static CreateNumbers of(const CreateNumbers& a, const CreateNumbers& b) {
    CreateNumbers both = a;
    for (std::size_t i = 0; i < a.sums.size(); ++i) {
      both.highest[i] = std::max(a.highest[i], b.highest[i]);
      both.sums[i] += b.sums[i];
    }
    both.counts.blocks += b.counts.blocks;
    both.counts.variables += b.counts.variables;
    both.counts.dimensions += b.counts.dimensions;
    both.ranks += b.ranks;
    return both;
  }
};

class CreateReport {
 public:
  explicit CreateReport(std::function<Time()> clock = now)
      : clock_(std::move(clock)), start_(clock_()), last_(start_) {}

  void phase(const std::string& name) {
    const Time time = clock_(), spent = time - last_;
    last_ = time;
    add(name + "_wall", spent.wall);
    add(name + "_cpu", spent.cpu);
  }
  void add(const std::string& name, double value) {
    values_.at(names_.size()) = value;
    names_.push_back(name);
  }
  // The writer's own report: its phases in seconds, then counts.
  void add(const FileWriterReport& report) {
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, double>>{
             {"writer_create", report.create},
             {"writer_check", report.check},
             {"writer_values", report.write_values},
             {"writer_metadata", report.write_metadata},
             {"writer_index", report.write_index},
             {"writer_commit", report.commit},
             {"messages", static_cast<double>(report.messages)},
             {"sent_mb", static_cast<double>(report.message_bytes) / 1e6},
             {"messages_peak_mb", static_cast<double>(report.message_peak) / 1e6},
             {"written_mb", static_cast<double>(report.bytes_written) / 1e6},
             {"read_mb", static_cast<double>(report.bytes_read) / 1e6}})
      add(name, value);
  }
  // Behind the last phase.
  void finish(double peak_mb) {
    const Time spent = last_ - start_;
    add("wall", spent.wall);
    add("cpu", spent.cpu);
    add("user", spent.user);
    add("peak_mb", peak_mb);
  }

  CreateNumbers numbers(const Counts& counts) const { return {values_, values_, counts, 1}; }
  void print(const std::string& path, const CreateNumbers& numbers) const {
    struct stat file {};
    stat(path.c_str(), &file);
    std::printf("{\"ranks\": %d, ", numbers.ranks);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::printf("\"%s\": %.6f, ", names_[i].c_str(), numbers.highest[i]);
      if (numbers.ranks > 1) std::printf("\"%s_sum\": %.6f, ", names_[i].c_str(), numbers.sums[i]);
    }
    std::printf("\"bytes\": %lld, \"blocks\": %zu, \"variables\": %zu, \"dimensions\": %zu}\n",
                static_cast<long long>(file.st_size), numbers.counts.blocks,
                numbers.counts.variables, numbers.counts.dimensions);
  }

 private:
  std::function<Time()> clock_;
  Time start_, last_;
  std::vector<std::string> names_;
  std::array<double, kMostNumbers> values_{};
};

}  // namespace nmb::bench
