// Writes graph samples for the examples. Each rank creates a block for each of its events. In
// addition, all ranks create one shared block.
#pragma once

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "nmb/ranks.h"
#include "nmb/writer.h"

namespace graph_samples {

// Returns how many hits the detector recorded for an event.
inline std::uint64_t hits_of(std::uint64_t event) { return 20 + event * 7 % 60; }

// Collective. Writes a file of `events` events. Each rank gets a contiguous range of the events.
inline void write(const std::string& path, nmb::Ranks& ranks, std::uint64_t events) {
  nmb::Writer out(path, ranks, {.mode = nmb::WriteOptions::Mode::kReplace});
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t first = rank * events / size, last = (rank + 1) * events / size;

  // All ranks define the shared block. The ranks' definitions must agree; end_define() reports
  // differences. In the file, the blocks of rank 0 come first, then the blocks of rank 1, and so
  // on. The blocks of one rank are in the order of their definition. Every rank defines the shared
  // block first, so it is the first block of the file for any number of ranks.
  nmb::Block run = out.block("run").att("detector", "three planes of wires");
  nmb::Var counts = run.var<int>("hits", {run.dim("event", events)});

  // Each rank defines the blocks of its own events only. A definition sends no message to other
  // ranks.
  struct Event {
    nmb::Var features, label;
  };
  std::vector<Event> own;
  for (std::uint64_t number = first; number < last; ++number) {
    nmb::Block event = out.block("events/" + std::to_string(number)).samples(1);
    const nmb::Dim hits = event.dim("hits", hits_of(number));
    const nmb::Dim features = event.dim("features", 4);
    own.push_back({event.var<float>("x", {hits, features}), event.var<int>("label")});
  }
  out.end_define();

  std::vector<int> hits;
  for (std::uint64_t number = first; number < last; ++number) {
    Event& event = own[number - first];
    std::vector<float> x(hits_of(number) * 4);
    std::iota(x.begin(), x.end(), static_cast<float>(number));
    event.features.put(x);
    event.label.put(static_cast<int>(number % 3));
    hits.push_back(static_cast<int>(hits_of(number)));
  }
  // Each rank writes its part of the shared variable.
  counts.put_all({{first}, {last - first}}, hits);
  out.close();
  // The report shows where the time was spent. Each number is the maximum over the ranks.
  const std::string report = out.report();
  if (ranks.rank() == 0) std::printf("%s\n", report.c_str());
}

}  // namespace graph_samples
