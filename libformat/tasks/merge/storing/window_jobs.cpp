#include "merge/storing/window_jobs.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "extent/piece_codec.h"
#include "parallel/message_fields.h"
#include "parallel/workers.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, WindowJob& job) {
  all(job.codec, job.level, job.windows, job.values);
}

std::vector<std::byte> message_of(const std::vector<WindowJob>& jobs) {
  FieldsOut out;
  out(jobs);
  return out.take();
}

std::vector<std::optional<CodedChunk>> encode_windows(std::span<const std::byte> message,
                                                      const ReceivedFrom& from,
                                                      const CodingRules& rules) {
  struct OpenWindow {
    const WindowJob* job;
    Source values;
    ByteRange range;
  };
  std::vector<WindowJob> jobs;
  if (!take_fields(message, &jobs).ok()) return {};
  std::map<std::string, std::shared_ptr<SentFile>> files;
  ReceivedFrom shared = from;
  shared.known_files = &files;
  std::vector<OpenWindow> windows;
  for (const WindowJob& job : jobs) {
    Result<Source> values = receive_values(job.values, shared);
    if (!values.ok()) return {};
    for (const ByteRange& range : job.windows) windows.push_back({&job, *values, range});
  }
  std::vector<std::optional<CodedChunk>> results(windows.size());
  std::atomic<std::size_t> next{0};
  // If a thread fails, results are missing.
  static_cast<void>(share_work(std::min<std::size_t>(std::max(rules.threads, 1u), windows.size()),
                               [&](const std::atomic<bool>& stop) -> Status {
                                 std::vector<std::byte> values;
                                 for (std::size_t i; !stop && (i = next++) < windows.size();) {
                                   if (rules.cancel && rules.cancel->load()) return {};
                                   const auto& [job, source, range] = windows[i];
                                   values.resize(range.length());
                                   NMB_TRY(source->read_at(range.begin, values));
                                   results[i] =
                                       CodedChunk{encode_piece(job->codec, job->level, values)};
                                 }
                                 return {};
                               })
                        .ok());
  return results;
}

}  // namespace nmb
