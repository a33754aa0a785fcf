// Writes graph samples for the examples. Each rank creates a block for each of its events. In
// addition, all ranks create one shared block.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace graph_samples {

// Returns how many hits the detector recorded for an event.
inline std::uint64_t hits_of(std::uint64_t event) { return 20 + event * 7 % 60; }

// Collective. Writes a file of `events` events. Each rank gets a contiguous range of the events.
inline nmb::Status write(const std::string& path, nmb::Communicator& ranks, std::uint64_t events) {
  nmb::FileWriterOptions options;
  options.overwrite = true;
  NMB_ASSIGN(std::unique_ptr<nmb::FileWriter> writer,
             nmb::FileWriter::create(path, options, ranks));
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t first = rank * events / size, last = (rank + 1) * events / size;

  // All ranks define the shared block. The ranks' definitions must agree; end_define() reports
  // differences. In the file, the blocks of rank 0 come first, then the blocks of rank 1, and so
  // on. The blocks of one rank are in the order of their definition. Every rank defines the shared
  // block first, so it is the first block of the file for any number of ranks.
  NMB_ASSIGN(const nmb::BlockId run, writer->define_block("run"));
  NMB_ASSIGN(const nmb::DimId of_events, writer->def_dim(run, "event", events));
  NMB_ASSIGN(const nmb::VarId counts,
             writer->def_var(run, "hits", nmb::Type::kInt, std::span(&of_events, 1)));
  NMB_TRY(writer->put_att_text(run, nmb::kGlobal, "detector", "three planes of wires"));

  // Each rank defines the blocks of its own events only. A definition sends no message to other
  // ranks.
  struct Event {
    nmb::BlockId block;
    nmb::VarId features, label;
  };
  std::vector<Event> own;
  for (std::uint64_t number = first; number < last; ++number) {
    Event event{};
    NMB_ASSIGN(event.block, writer->define_block("events/" + std::to_string(number)));
    NMB_ASSIGN(const nmb::DimId hits, writer->def_dim(event.block, "hits", hits_of(number)));
    NMB_ASSIGN(const nmb::DimId features, writer->def_dim(event.block, "features", 4));
    const nmb::DimId shape[] = {hits, features};
    NMB_ASSIGN(event.features, writer->def_var(event.block, "x", nmb::Type::kFloat, shape));
    NMB_ASSIGN(event.label, writer->def_var(event.block, "label", nmb::Type::kInt, {}));
    NMB_TRY(writer->set_samples(event.block, 1));
    own.push_back(event);
  }
  NMB_TRY(writer->end_define());

  for (std::uint64_t number = first; number < last; ++number) {
    const Event& event = own[number - first];
    std::vector<float> x(hits_of(number) * 4);
    std::iota(x.begin(), x.end(), static_cast<float>(number));
    const int label = static_cast<int>(number % 3);
    NMB_TRY(writer->put(event.block, event.features, x));
    NMB_TRY(writer->put(event.block, event.label, std::span(&label, 1)));
  }
  // Each rank writes its part of the shared variable.
  std::vector<int> hits;
  for (std::uint64_t number = first; number < last; ++number)
    hits.push_back(static_cast<int>(hits_of(number)));
  NMB_TRY(writer->put_all(run, counts, {{first}, {last - first}, {}}, hits));
  NMB_TRY(writer->close());
  // The printed report shows where the time was spent. Each number is the maximum over the ranks.
  NMB_ASSIGN(const nmb::FileWriterReport report,
             ranks.all_reduce(writer->report(), nmb::FileWriterReport::highest));
  if (ranks.rank() == 0) std::printf("%s\n", report.text().c_str());
  return {};
}

}  // namespace graph_samples
