// What a rank has done (see nmb/writer_report.h).
#include "nmb/writer_report.h"

#include <algorithm>
#include <cstdio>

#include "writer/writer_impl.h"

namespace nmb {

WriterReport WriterReport::highest(const WriterReport& a, const WriterReport& b) {
  WriterReport both = a;
  for (auto phase :
       {&WriterReport::create, &WriterReport::check, &WriterReport::write_values,
        &WriterReport::write_metadata, &WriterReport::write_index, &WriterReport::commit})
    both.*phase = std::max(a.*phase, b.*phase);
  for (auto count : {&WriterReport::messages, &WriterReport::message_bytes,
                     &WriterReport::message_peak, &WriterReport::writes,
                     &WriterReport::bytes_written, &WriterReport::reads, &WriterReport::bytes_read})
    both.*count = std::max(a.*count, b.*count);
  return both;
}

std::string WriterReport::text() const {
  char line[512];
  std::snprintf(
      line, sizeof line,
      "create %.1f ms, check %.1f ms, write values %.1f ms, write metadata %.1f ms, "
      "write index %.1f ms, commit %.1f ms; %llu messages of %llu B, %llu B held; "
      "%llu writes of %llu B, %llu reads of %llu B",
      create * 1e3, check * 1e3, write_values * 1e3, write_metadata * 1e3, write_index * 1e3,
      commit * 1e3, static_cast<unsigned long long>(messages),
      static_cast<unsigned long long>(message_bytes), static_cast<unsigned long long>(message_peak),
      static_cast<unsigned long long>(writes), static_cast<unsigned long long>(bytes_written),
      static_cast<unsigned long long>(reads), static_cast<unsigned long long>(bytes_read));
  return line;
}

WriterReport Writer::Impl::report() const {
  WriterReport out;
  out.create = clock_.seconds(Phase::kCreate);
  out.check = clock_.seconds(Phase::kCheck);
  out.write_values = clock_.seconds(Phase::kValues);
  out.write_metadata = clock_.seconds(Phase::kMetadata);
  out.write_index = clock_.seconds(Phase::kIndex);
  out.commit = clock_.seconds(Phase::kCommit);
  const Traffic& traffic = ranks_.traffic();
  out.messages = traffic.messages - traffic_before_.messages;
  out.message_bytes = traffic.bytes - traffic_before_.bytes;
  out.message_peak = traffic.peak_bytes;
  out.writes = counts_->writes;
  out.bytes_written = counts_->bytes_written;
  out.reads = counts_->reads;
  out.bytes_read = counts_->bytes_read;
  return out;
}

}  // namespace nmb
