// Reports times and counts of the writer on a rank (see writer/file_writer.h).
#include "writer/writer_report.h"

#include <algorithm>
#include <cstdio>

#include "writer/file_writer.h"

namespace nmb {

FileWriterReport FileWriterReport::highest(const FileWriterReport& a, const FileWriterReport& b) {
  FileWriterReport both = a;
  for (auto phase : {&FileWriterReport::create, &FileWriterReport::check,
                     &FileWriterReport::write_values, &FileWriterReport::write_metadata,
                     &FileWriterReport::write_index, &FileWriterReport::commit})
    both.*phase = std::max(a.*phase, b.*phase);
  for (auto count :
       {&FileWriterReport::messages, &FileWriterReport::message_bytes,
        &FileWriterReport::message_peak, &FileWriterReport::writes,
        &FileWriterReport::bytes_written, &FileWriterReport::reads, &FileWriterReport::bytes_read})
    both.*count = std::max(a.*count, b.*count);
  return both;
}

std::string FileWriterReport::text() const {
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

FileWriterReport report_of(const WriterCore& w) {
  FileWriterReport out;
  out.create = w.clock.seconds(Phase::kCreate);
  out.check = w.clock.seconds(Phase::kCheck);
  out.write_values = w.clock.seconds(Phase::kValues);
  out.write_metadata = w.clock.seconds(Phase::kMetadata);
  out.write_index = w.clock.seconds(Phase::kIndex);
  out.commit = w.clock.seconds(Phase::kCommit);
  const Traffic& traffic = w.ranks.communicator().traffic();
  out.messages = traffic.messages - w.traffic_before.messages;
  out.message_bytes = traffic.bytes - w.traffic_before.bytes;
  out.message_peak = traffic.peak_bytes;
  out.writes = w.counts->writes;
  out.bytes_written = w.counts->bytes_written;
  out.reads = w.counts->reads;
  out.bytes_read = w.counts->bytes_read;
  return out;
}

}  // namespace nmb
